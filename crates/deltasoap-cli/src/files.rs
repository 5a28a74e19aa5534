//! Files that the command reads and writes.
//!
//! A named file may be a device or a pipe, so the number of bytes read is bounded. Writing replaces
//! a file completely or not at all: a full disk does not destroy the previous content.

use anyhow::{Context as _, Result, bail};
use deltasoap_report::Page;
use deltasoap_wsdl::Import;
use deltasoap_wsdl::fetch::Location;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// Maximum number of bytes of a file that is read.
pub const MAX_BYTES: u64 = 1 << 30;

/// Reads a file.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let content = File::open(path).and_then(read_all);
    content.with_context(|| format!("{} cannot be read", path.display()))
}

/// Reads a file of text in UTF-8.
pub fn read_text(path: &Path) -> Result<String> {
    let content = File::open(path).and_then(read_all_text);
    content.with_context(|| format!("{} cannot be read", path.display()))
}

/// Reads UTF-8 text to its end; see [`read_all`].
pub fn read_all_text(from: impl Read) -> io::Result<String> {
    String::from_utf8(read_all(from)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Reads to the end, or to the [maximum](MAX_BYTES).
pub fn read_all(from: impl Read) -> io::Result<Vec<u8>> {
    read_to(MAX_BYTES, from)
}

fn read_to(most: u64, from: impl Read) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    from.take(most + 1).read_to_end(&mut content)?;
    if content.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {most} bytes")));
    }
    Ok(content)
}

/// Writes the output that was made from a WSDL. It replaces an older file, but never one of the
/// WSDL's own documents.
pub fn write_output(path: &Path, content: &[u8], import: &Import) -> Result<()> {
    let files = import.documents().filter_map(|location| match location {
        Location::File(path) => Some(path),
        _ => None,
    });
    if let Some(input) = files.into_iter().find(|input| is_same_file(input, path)) {
        bail!("{} is part of the WSDL; name another file with --output", input.display());
    }
    write(path, content).with_context(|| format!("{} cannot be written", path.display()))
}

/// Writes a file completely, or not at all.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let path = &target(path);
    match path.metadata() {
        // Device or pipe.
        Ok(metadata) if !metadata.is_file() => std::fs::write(path, content),
        Ok(metadata) => replace(path, content, Builder::new().permissions(metadata.permissions())),
        Err(_) => replace(path, content, &mut usual()),
    }
}

/// Writes a page, and creates its directory.
pub fn write_page(path: &Path, page: Page) -> Result<()> {
    let directory = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    let written = directory.and_then(|()| write(path, page.finish().as_bytes()));
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// Writes a file that only its owner can read, completely or not at all. It replaces a file that
/// others may have been able to read.
pub fn write_secret(path: &Path, content: &[u8]) -> io::Result<()> {
    replace(&target(path), content, &mut Builder::new())
}

fn replace(path: &Path, content: &[u8], builder: &mut Builder<'_, '_>) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file: NamedTempFile = builder.tempfile_in(folder)?;
    file.write_all(content)?;
    file.persist(path)?;
    Ok(())
}

/// Returns the target of a link: that is replaced, not the link.
fn target(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// The permissions of a new file, restricted by the process's umask.
#[cfg(unix)]
fn usual() -> Builder<'static, 'static> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut builder = Builder::new();
    builder.permissions(std::fs::Permissions::from_mode(0o666));
    builder
}

#[cfg(not(unix))]
fn usual() -> Builder<'static, 'static> {
    Builder::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_replaced_as_a_whole_and_keep_their_permissions() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("a");
        write(&path, b"one").expect("written");
        let permissions = path.metadata().expect("a file").permissions();
        let usual = folder.path().join("usual");
        std::fs::write(&usual, "").expect("written");
        assert_eq!(permissions, usual.metadata().expect("a file").permissions());
        write_secret(&usual, b"two").expect("written");
        write(&usual, b"three").expect("written");
        #[cfg(unix)]
        {
            use std::os::unix::fs::{PermissionsExt as _, symlink};
            assert_eq!(usual.metadata().expect("a file").permissions().mode() & 0o777, 0o600);
            let link = folder.path().join("link");
            symlink(&path, &link).expect("a link");
            write(&link, b"four").expect("written");
            assert!(link.is_symlink());
            write(Path::new("/dev/null"), b"five").expect("written");
            assert!(!Path::new("/dev/null").is_file());
        }
        #[cfg(unix)]
        assert_eq!(read(&path).expect("read"), b"four");
        assert_eq!(read_text(&usual).expect("read"), "three");
        assert!(write(&folder.path().join("no/such"), b"").is_err());
        assert_eq!(folder.path().read_dir().expect("a directory").count(), 3);
    }

    #[test]
    fn endless_files_are_refused() {
        assert_eq!(read_to(10, io::repeat(b' ')).expect_err("endless").kind(), io::ErrorKind::FileTooLarge);
    }
}
