//! Zip and tar archives of message files. The directories in them are senders, as those of a file
//! system are.

use super::{Input, Limits, Visit, broken, message_file, read_whole};
use crate::capture::Item;
use crate::directory::is_message_name;
use crate::error::ArchiveError;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Reads a zip archive, in the order of its directory.
pub(super) fn zip(path: &Path, limits: Limits, visit: &mut Visit<'_>) -> Result<(), ArchiveError> {
    let opened = File::open(path).map_err(zip::result::ZipError::from);
    let mut archive = match opened.and_then(|file| zip::ZipArchive::new(BufReader::new(file))) {
        Ok(archive) => archive,
        Err(error) => return broken(path, &error, visit),
    };
    for index in 0..archive.len() {
        let item = match archive.by_index(index).and_then(|entry| Ok((entry.name()?.into_owned(), entry))) {
            Ok((name, entry)) if !entry.is_file() || !is_message_name(&name) => continue,
            Ok((name, entry)) => entry_item(path, &name, read_whole(entry, limits.message)),
            Err(error) => {
                let place = format!("{}!{index}", path.display());
                Item::Unreadable { place, reason: format!("cannot be read: {error}").into() }
            }
        };
        visit(item)?;
    }
    Ok(())
}

/// Reads a tar archive, in the order of its entries.
pub(super) fn tar(input: Input<'_>, limits: Limits, visit: &mut Visit<'_>) -> Result<(), ArchiveError> {
    let reader = match input.open_plain() {
        Ok(reader) => reader,
        Err(error) => return broken(input.path, &error, visit),
    };
    let mut archive = tar::Archive::new(reader);
    let entries = match archive.entries() {
        Ok(entries) => entries,
        Err(error) => return broken(input.path, &error, visit),
    };
    for entry in entries {
        // After an error nothing else can be found.
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => return broken(input.path, &error, visit),
        };
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if entry.header().entry_type().is_file() && is_message_name(&name) {
            visit(entry_item(input.path, &name, read_whole(entry, limits.message)))?;
        }
    }
    Ok(())
}

fn entry_item(archive: &Path, name: &str, content: std::io::Result<bytes::Bytes>) -> Item {
    let place = format!("{}!{name}", archive.display());
    let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
    message_file(place, Some(format!("{}!{folder}", archive.display())), content)
}
