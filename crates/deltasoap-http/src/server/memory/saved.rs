//! Memories across a restart: a file of the messages that they hold.
//!
//! What a memory knows is complicated, and different in each version of this crate; the message that it
//! was made from is neither. So a file holds messages, and a service that loads it reads them as if
//! they arrived, without calling a handler. A message that no longer fits is refused like any other.
//!
//! ```text
//! "deltasoap memories 1\n"
//! the seed by which streams are told apart: 8 bytes, little-endian, as are all numbers
//! for each memory: the sender's principal: its length + 1 (0 if there is none) in 8 bytes, and its bytes
//!                  the number of the stream: 8 bytes
//!                  the message: its length in 8 bytes, and its bytes
//! the SHA-256 of all this
//! ```

use sha2::{Digest, Sha256};
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The first line of a file. The number changes with the format.
const MAGIC: &[u8] = b"deltasoap memories 1\n";

/// Length of the checksum in bytes.
const CHECKSUM: usize = 32;

/// A memory in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SavedMemory<'f> {
    pub(crate) principal: Option<&'f str>,
    /// See [`Stream::prologue`](super::Stream).
    pub(crate) prologue: u64,
    pub(crate) message: &'f [u8],
}

/// The number of memories that were loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LoadedMemories {
    /// Memories that messages are compared with from now on.
    pub kept: usize,
    /// Those whose message does not fit the service, whose stream nothing identifies, or where comparing
    /// does not pay.
    pub skipped: usize,
}

/// The reason that no memories were loaded.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadMemoriesError {
    /// The file cannot be read.
    Io(io::Error),
    /// The file is not one of saved memories, or one of another version.
    Format,
    /// The file is damaged.
    Damaged,
    /// Others than the user of this process could have written the file, and say which principal a
    /// message belongs to; or it is no file at all.
    Untrusted,
    /// The file has more bytes than this, to which the service bounds its memories.
    TooLarge(u64),
    /// The service has memories already.
    InUse,
}

impl fmt::Display for LoadMemoriesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LoadMemoriesError::Io(error) => return write!(f, "the file of memories cannot be read: {error}"),
            LoadMemoriesError::Format => "the file is not one of memories of this version",
            LoadMemoriesError::Damaged => "the file of memories is damaged",
            LoadMemoriesError::Untrusted => "the file of memories can be written by others: chmod 600 keeps them out",
            LoadMemoriesError::TooLarge(limit) => {
                return write!(f, "the file of memories is larger than the bound on memories, {limit} bytes");
            }
            LoadMemoriesError::InUse => "memories are loaded before the first request",
        })
    }
}

/// The text contains that of the error inside, so the source is what that error was caused by.
impl std::error::Error for LoadMemoriesError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            LoadMemoriesError::Io(error) => error.source(),
            _ => None,
        }
    }
}

/// Writes a file, which is there whole or not at all. It replaces an older one.
pub(crate) struct Saving {
    file: BufWriter<NamedTempFile>,
    hash: Sha256,
    path: PathBuf,
    count: usize,
}

impl Saving {
    /// Begins a file, which only the user of this process may read (on Unix).
    pub(crate) fn begin(path: &Path, seed: u64) -> io::Result<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = BufWriter::new(NamedTempFile::new_in(folder)?);
        let mut saving = Saving { file, hash: Sha256::new(), path: path.to_owned(), count: 0 };
        saving.write(MAGIC)?;
        saving.write(&seed.to_le_bytes())?;
        Ok(saving)
    }

    pub(crate) fn add(&mut self, memory: SavedMemory<'_>) -> io::Result<()> {
        let SavedMemory { principal, prologue, message } = memory;
        let length = principal.map_or(0, |principal| principal.len() as u64 + 1);
        self.write(&length.to_le_bytes())?;
        self.write(principal.unwrap_or_default().as_bytes())?;
        self.write(&prologue.to_le_bytes())?;
        self.write(&(message.len() as u64).to_le_bytes())?;
        self.write(message)?;
        self.count += 1;
        Ok(())
    }

    /// Completes the file, and returns the number of its memories.
    pub(crate) fn finish(mut self) -> io::Result<usize> {
        let checksum = self.hash.finalize();
        self.file.write_all(&checksum)?;
        let file = self.file.into_inner()?;
        file.as_file().sync_all()?;
        file.persist(&self.path)?;
        Ok(self.count)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.update(bytes);
        self.file.write_all(bytes)
    }
}

/// Reads a file that nobody else can write, up to a number of bytes.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, LoadMemoriesError> {
    let file = File::open(path).map_err(LoadMemoriesError::Io)?;
    let about = file.metadata().map_err(LoadMemoriesError::Io)?;
    #[cfg(unix)]
    let is_open = std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o022 != 0;
    #[cfg(not(unix))]
    let is_open = false;
    if !about.is_file() || is_open {
        return Err(LoadMemoriesError::Untrusted);
    }
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(LoadMemoriesError::Io)?;
    if bytes.len() as u64 > limit { Err(LoadMemoriesError::TooLarge(limit)) } else { Ok(bytes) }
}

/// Returns the seed and the memories in the bytes of a file.
pub(crate) fn memories(file: &[u8]) -> Result<(u64, Vec<SavedMemory<'_>>), LoadMemoriesError> {
    if !file.starts_with(MAGIC) {
        return Err(LoadMemoriesError::Format);
    }
    let content = file.split_last_chunk::<CHECKSUM>();
    let (content, _) = content
        .filter(|(content, checksum)| Sha256::digest(content)[..] == checksum[..])
        .ok_or(LoadMemoriesError::Damaged)?;
    let mut rest = &content[MAGIC.len()..];
    let (seed, mut all) = (number(&mut rest).ok_or(LoadMemoriesError::Damaged)?, Vec::new());
    while !rest.is_empty() {
        all.push(memory(&mut rest).ok_or(LoadMemoriesError::Damaged)?);
    }
    Ok((seed, all))
}

fn memory<'f>(rest: &mut &'f [u8]) -> Option<SavedMemory<'f>> {
    let principal = match number(rest)?.checked_sub(1) {
        Some(length) => Some(std::str::from_utf8(part(rest, length)?).ok()?),
        None => None,
    };
    let (prologue, length) = (number(rest)?, number(rest)?);
    Some(SavedMemory { principal, prologue, message: part(rest, length)? })
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    let (number, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(u64::from_le_bytes(*number))
}

fn part<'f>(rest: &mut &'f [u8], length: u64) -> Option<&'f [u8]> {
    let (part, after) = rest.split_at_checked(usize::try_from(length).ok()?)?;
    *rest = after;
    Some(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SAVED: [SavedMemory<'static>; 3] = [
        SavedMemory { principal: Some("ada"), prologue: 1, message: b"<a/>" },
        SavedMemory { principal: None, prologue: u64::MAX, message: b"" },
        SavedMemory { principal: Some(""), prologue: 2, message: b"<b/>" },
    ];

    fn file() -> Vec<u8> {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("memories");
        for _ in 0..2 {
            let mut saving = Saving::begin(&path, 7).expect("a file");
            // One that is given up leaves nothing.
            drop(Saving::begin(&path, 8).expect("another file"));
            SAVED.into_iter().for_each(|memory| saving.add(memory).expect("written"));
            assert_eq!(saving.finish().expect("written"), 3);
        }
        #[cfg(unix)]
        {
            let mode =
                std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).expect("a file").permissions());
            assert_eq!(mode & 0o777, 0o600);
        }
        assert_eq!(folder.path().read_dir().expect("a directory").count(), 1, "nothing else stays");
        let bytes = read(&path, 10_000).expect("a file");
        assert!(matches!(read(&path, bytes.len() as u64 - 1), Err(LoadMemoriesError::TooLarge(_))));
        bytes
    }

    #[test]
    fn what_is_saved_is_loaded() {
        assert_eq!(memories(&file()).expect("memories"), (7, SAVED.to_vec()));
    }

    #[cfg(unix)]
    #[test]
    fn files_of_others_are_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("memories");
        std::fs::write(&path, file()).expect("written");
        for (mode, is_refused) in [(0o620, true), (0o602, true), (0o644, false)] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("set");
            assert_eq!(matches!(read(&path, 10_000), Err(LoadMemoriesError::Untrusted)), is_refused, "{mode:o}");
        }
        assert!(matches!(read(Path::new("/dev/null"), 10_000), Err(LoadMemoriesError::Untrusted)));
    }

    #[test]
    fn other_files_are_refused() {
        let file = file();
        let refused = |bytes: &[u8]| memories(bytes).expect_err("refused");
        assert!(matches!(refused(b""), LoadMemoriesError::Format));
        assert!(matches!(refused(b"deltasoap memories 2\n"), LoadMemoriesError::Format));
        assert!(matches!(refused(MAGIC), LoadMemoriesError::Damaged));
        for end in MAGIC.len()..file.len() {
            assert!(matches!(refused(&file[..end]), LoadMemoriesError::Damaged));
        }
        for index in MAGIC.len()..file.len() {
            let mut changed = file.clone();
            changed[index] ^= 1;
            assert!(matches!(refused(&changed), LoadMemoriesError::Damaged));
        }
    }

    proptest! {
        /// Whatever the content is, if only the checksum holds: what is read is in the file.
        #[test]
        fn no_number_is_trusted(changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4)) {
            let mut content = file();
            content.truncate(content.len() - CHECKSUM);
            for (index, byte) in changes {
                let place = MAGIC.len() + index.index(content.len() - MAGIC.len());
                content[place] = byte;
            }
            let checksum = Sha256::digest(&content);
            content.extend_from_slice(&checksum);
            match memories(&content) {
                Ok((_, all)) => {
                    let bytes = |memory: &SavedMemory<'_>| memory.message.len() + memory.principal.map_or(0, str::len) + 24;
                    prop_assert_eq!(MAGIC.len() + 8 + all.iter().map(bytes).sum::<usize>() + CHECKSUM, content.len());
                }
                Err(error) => prop_assert!(matches!(error, LoadMemoriesError::Damaged)),
            }
        }
    }
}
