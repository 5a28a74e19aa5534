//! Memories across a restart: a file of the messages that they hold.
//!
//! What a memory knows is complicated, and different in each version of this crate; the message that it
//! was made from is neither. So a file holds messages, and a service that loads it reads them as if
//! they arrived, without calling a handler. A message that no longer fits is refused like any other.
//!
//! ```text
//! "deltasoap memories 1\n"
//! for each memory: the sender's principal, its User-Agent, its message,
//!                  each as its length + 1 (0 if there is none) in 8 bytes, little-endian, and its bytes
//! the SHA-256 of all this
//! ```

use sha2::{Digest, Sha256};
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The first line of a file. The number changes with the format.
const MAGIC: &[u8] = b"deltasoap memories 1\n";

/// Length of the checksum in bytes.
const CHECKSUM: usize = 32;

/// A memory in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SavedMemory<'f> {
    pub(crate) principal: Option<&'f str>,
    pub(crate) agent: Option<&'f [u8]>,
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
}

impl fmt::Display for LoadMemoriesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LoadMemoriesError::Io(_) => "the file of memories cannot be read",
            LoadMemoriesError::Format => "the file is not one of memories of this version",
            LoadMemoriesError::Damaged => "the file of memories is damaged",
        })
    }
}

impl std::error::Error for LoadMemoriesError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            LoadMemoriesError::Io(error) => Some(error),
            LoadMemoriesError::Format | LoadMemoriesError::Damaged => None,
        }
    }
}

/// Writes a file, which is there whole or not at all. It replaces an older one.
pub(crate) struct Saving {
    file: BufWriter<File>,
    hash: Sha256,
    from: PathBuf,
    to: PathBuf,
    count: usize,
}

impl Saving {
    /// Begins a file, which only the user of this process may read.
    pub(crate) fn begin(path: &Path) -> io::Result<Self> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".part");
        let from = path.with_file_name(name);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        // What an interrupted process left may be open to others.
        match fs::remove_file(&from) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = BufWriter::new(options.open(&from)?);
        let mut saving = Saving { file, hash: Sha256::new(), from, to: path.to_owned(), count: 0 };
        saving.write(MAGIC)?;
        Ok(saving)
    }

    pub(crate) fn add(&mut self, memory: SavedMemory<'_>) -> io::Result<()> {
        let SavedMemory { principal, agent, message } = memory;
        for part in [principal.map(str::as_bytes), agent, Some(message)] {
            let length = part.map_or(0, |part| part.len() as u64 + 1);
            self.write(&length.to_le_bytes())?;
            self.write(part.unwrap_or_default())?;
        }
        self.count += 1;
        Ok(())
    }

    /// Completes the file, and returns the number of its memories.
    pub(crate) fn finish(mut self) -> io::Result<usize> {
        let checksum = self.hash.finalize();
        self.file.write_all(&checksum)?;
        self.file.into_inner()?.sync_all()?;
        fs::rename(&self.from, &self.to)?;
        Ok(self.count)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.update(bytes);
        self.file.write_all(bytes)
    }
}

/// Returns the memories in the bytes of a file.
pub(crate) fn memories(file: &[u8]) -> Result<Vec<SavedMemory<'_>>, LoadMemoriesError> {
    if !file.starts_with(MAGIC) {
        return Err(LoadMemoriesError::Format);
    }
    let content = file.split_last_chunk::<CHECKSUM>();
    let (content, _) = content
        .filter(|(content, checksum)| Sha256::digest(content)[..] == checksum[..])
        .ok_or(LoadMemoriesError::Damaged)?;
    let (mut rest, mut all) = (&content[MAGIC.len()..], Vec::new());
    while !rest.is_empty() {
        all.push(memory(&mut rest).ok_or(LoadMemoriesError::Damaged)?);
    }
    Ok(all)
}

fn memory<'f>(rest: &mut &'f [u8]) -> Option<SavedMemory<'f>> {
    let principal = part(rest)?.map(std::str::from_utf8).transpose().ok()?;
    Some(SavedMemory { principal, agent: part(rest)?, message: part(rest)?? })
}

fn part<'f>(rest: &mut &'f [u8]) -> Option<Option<&'f [u8]>> {
    let (length, after) = rest.split_first_chunk()?;
    let Some(length) = u64::from_le_bytes(*length).checked_sub(1) else {
        *rest = after;
        return Some(None);
    };
    let (part, after) = after.split_at_checked(usize::try_from(length).ok()?)?;
    *rest = after;
    Some(Some(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SAVED: [SavedMemory<'static>; 3] = [
        SavedMemory { principal: Some("ada"), agent: Some(b"zeep"), message: b"<a/>" },
        SavedMemory { principal: None, agent: None, message: b"" },
        SavedMemory { principal: Some(""), agent: Some(b"\xff"), message: b"<b/>" },
    ];

    fn file() -> Vec<u8> {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("memories");
        for _ in 0..2 {
            let mut saving = Saving::begin(&path).expect("a file");
            SAVED.into_iter().for_each(|memory| saving.add(memory).expect("written"));
            assert_eq!(saving.finish().expect("written"), 3);
        }
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).expect("a file").permissions());
            assert_eq!(mode & 0o777, 0o600);
        }
        assert_eq!(folder.path().read_dir().expect("a directory").count(), 1, "nothing else stays");
        fs::read(&path).expect("a file")
    }

    #[test]
    fn what_is_saved_is_loaded() {
        assert_eq!(memories(&file()).expect("memories"), SAVED);
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
        /// Whatever the content is, if only the checksum holds.
        #[test]
        fn no_content_is_trusted(content in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut file = [MAGIC, &content].concat();
            let checksum = Sha256::digest(&file);
            file.extend_from_slice(&checksum);
            let _ = memories(&file);
        }
    }
}
