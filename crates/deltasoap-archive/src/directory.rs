//! The streams of a directory: its message files in natural order, with a separate stream for each
//! nested directory.

use crate::Reason;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// The files of one directory, in order: messages of one sender, as they arrived.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Stream {
    /// The files, in natural order.
    pub files: Vec<PathBuf>,
}

/// Files that hold no message, by the reason.
#[derive(Debug, Default)]
pub struct Skipped(BTreeMap<Reason, Vec<PathBuf>>);

impl Skipped {
    /// Adds a file.
    pub fn add(&mut self, reason: impl Into<Reason>, path: &Path) {
        self.0.entry(reason.into()).or_default().push(path.to_owned());
    }

    /// Returns the files of each reason.
    pub fn by_reason(&self) -> impl Iterator<Item = (&Reason, &Vec<PathBuf>)> {
        self.0.iter()
    }

    /// Returns the number of files.
    pub fn files(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }
}

/// Extensions of message files.
const ENDINGS: [&str; 3] = ["xml", "txt", "http"];

/// Finds the streams of several paths: one for each directory, and one for all single files.
pub fn all_streams(paths: &[PathBuf], skipped: &mut Skipped) -> Vec<Stream> {
    let (files, directories): (Vec<_>, Vec<_>) = paths.iter().partition(|path| path.is_file());
    let mut all: Vec<_> = directories.into_iter().flat_map(|directory| streams(directory, skipped)).collect();
    if !files.is_empty() {
        all.push(Stream { files: files.into_iter().cloned().collect() });
    }
    all
}

/// Finds the streams below `root`. Files that are not message files go to `skipped`.
///
/// Names are in natural order: `message-9` comes before `message-10`. Symbolic links are followed.
pub fn streams(root: &Path, skipped: &mut Skipped) -> Vec<Stream> {
    let walk = WalkDir::new(root)
        .follow_links(true)
        .sort_by(|a, b| alphanumeric_sort::compare_os_str(a.file_name(), b.file_name()));
    let mut streams = ByFolder::default();
    for entry in walk {
        match entry {
            Ok(entry) if entry.file_type().is_dir() => {}
            Ok(entry) if !entry.file_type().is_file() => skipped.add("not a file", entry.path()),
            Ok(entry) if !is_message(&entry) => skipped.add("not an .xml, .txt or .http file", entry.path()),
            Ok(entry) => {
                let file = entry.into_path();
                let folder = file.parent().unwrap_or(Path::new("")).to_owned();
                streams.add(&folder, file);
            }
            Err(error) => skipped.add("cannot be reached", error.path().unwrap_or(root)),
        }
    }
    streams.all.into_iter().map(|files| Stream { files }).collect()
}

fn is_message(entry: &DirEntry) -> bool {
    entry.file_name().to_str().is_some_and(is_message_name)
}

/// Returns true for the name of a message file.
pub(crate) fn is_message_name(name: &str) -> bool {
    let ending = Path::new(name).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    ENDINGS.iter().any(|known| known.eq_ignore_ascii_case(ending))
}

/// Files by their folders, which are in the order of their first files. The files of a folder may not be
/// consecutive: its subfolders are sorted among them.
pub(crate) struct ByFolder<F> {
    pub(crate) all: Vec<Vec<F>>,
    positions: HashMap<PathBuf, usize>,
}

impl<F> Default for ByFolder<F> {
    fn default() -> Self {
        ByFolder { all: Vec::new(), positions: HashMap::new() }
    }
}

impl<F> ByFolder<F> {
    pub(crate) fn add(&mut self, folder: &Path, file: F) {
        match self.positions.get(folder) {
            Some(&position) => self.all[position].push(file),
            None => {
                self.positions.insert(folder.to_owned(), self.all.len());
                self.all.push(vec![file]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn names(root: &Path, stream: &Stream) -> Vec<String> {
        let relative = |file: &PathBuf| file.strip_prefix(root).expect("below the root").display().to_string();
        stream.files.iter().map(relative).collect()
    }

    #[test]
    fn directories_are_streams_in_natural_order_and_the_rest_is_skipped() {
        let root = tempfile::tempdir().expect("a directory");
        fs::create_dir_all(root.path().join("m-5/deeper")).expect("directories");
        for name in ["m-10.xml", "m-9.XML", "m-5/b.http", "m-5/a.txt", "m-5/deeper/x.xml", "m-5/notes.md", "plain"] {
            fs::write(root.path().join(name), "<x/>").expect("a file");
        }
        let mut skipped = Skipped::default();
        let streams = streams(root.path(), &mut skipped);
        let streams: Vec<_> = streams.iter().map(|stream| names(root.path(), stream)).collect();
        assert_eq!(streams, [vec!["m-5/a.txt", "m-5/b.http"], vec!["m-5/deeper/x.xml"], vec!["m-9.XML", "m-10.xml"]]);
        assert_eq!(skipped.files(), 2);
    }

    #[test]
    fn a_directory_that_is_not_there_is_skipped() {
        let mut skipped = Skipped::default();
        assert_eq!(streams(Path::new("/no/such/directory"), &mut skipped), []);
        assert_eq!(skipped.files(), 1);
    }
}
