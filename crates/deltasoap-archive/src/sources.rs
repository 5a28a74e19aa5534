//! Where captures are read from.
//!
//! A source is read from its start to its end, one item after the other, so that a position in it is
//! a number. Nothing is read into memory as a whole but single messages, whose size is bounded.

mod container;
mod har;
mod http1;
mod lines;
mod mitm;
#[cfg(feature = "object-store")]
mod objects;
mod pcap;
mod recording;
mod tcp;

pub use lines::JsonColumns;
#[cfg(feature = "object-store")]
pub use objects::ObjectsError;

use crate::capture::{Capture, Item};
use crate::directory::{Skipped, Stream, all_streams};
use crate::error::ArchiveError;
use crate::manifest::SourceState;
use bytes::Bytes;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

/// The name of the file that makes a directory a recording of the proxy.
const RECORDING: &str = "exchanges.jsonl";

/// What bounds the memory for reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of bytes of a message, also after decompression. Larger ones go to the table of errors.
    pub message: u64,
}

impl Default for Limits {
    /// 64 MiB.
    fn default() -> Self {
        Limits { message: 64 << 20 }
    }
}

/// A source of captures.
#[derive(Debug)]
pub struct Source {
    /// The file or directory that it is known by.
    path: PathBuf,
    kind: Kind,
    /// What it is in a store, if it is none of the file system.
    #[cfg(feature = "object-store")]
    objects: Option<objects::Objects>,
}

/// A file, or an object of a store.
#[derive(Clone, Copy)]
struct Input<'i> {
    path: &'i Path,
    #[cfg(feature = "object-store")]
    objects: Option<&'i objects::Objects>,
}

#[derive(Debug)]
enum Kind {
    /// The files of a directory, of one sender.
    Files(Stream),
    /// The same in a store.
    #[cfg(feature = "object-store")]
    Objects,
    /// An archive of such files.
    Zip,
    Tar,
    Har,
    /// Captured packets.
    Pcap,
    /// Flows of mitmproxy.
    Mitm,
    /// A directory that the proxy wrote.
    Recording,
    Lines,
}

/// The sources that were found, in the order in which they are read.
#[derive(Debug, Default)]
pub struct Sources {
    /// The sources.
    pub all: Vec<Source>,
    /// Files that are none.
    pub skipped: Skipped,
}

/// Receives the items of a source. An error ends the reading.
pub(crate) type Visit<'v> = dyn FnMut(Item) -> Result<(), ArchiveError> + 'v;

impl Sources {
    /// Finds the sources of several paths. Directories are searched for message files (`.xml`,
    /// `.txt`, `.http`), archives of them (`.zip`, `.tar`), HAR files, captured packets (`.pcap`,
    /// `.pcapng`, `.cap`), flows of mitmproxy (`.mitm`, `.flow`, `.flows`), recordings of the proxy and JSON lines (`.jsonl`, `.ndjson`); all but zip
    /// archives may also be compressed (`.gz`, `.zst`).
    pub fn find(paths: &[PathBuf]) -> Self {
        let (mut named, mut searched) = (Vec::new(), Vec::new());
        for path in paths {
            match container_kind(path) {
                Some(kind) if path.is_file() => named.push((path.clone(), kind)),
                _ => searched.push(path.clone()),
            }
        }
        let mut others = Skipped::default();
        let streams = all_streams(&searched, &mut others);
        let (mut recordings, mut skipped) = (Vec::new(), Skipped::default());
        for (reason, files) in others.by_reason() {
            for file in files {
                match container_kind(file) {
                    Some(_) if file.ends_with(RECORDING) => recordings.extend(file.parent().map(Path::to_owned)),
                    Some(kind) => named.push((file.clone(), kind)),
                    None => skipped.add(reason.clone(), file),
                }
            }
        }
        recordings.sort();
        let is_recorded = |path: &Path| recordings.iter().any(|recording| path.starts_with(recording));
        let mut all = Vec::new();
        for Stream { mut files } in streams {
            files.retain(|file| !is_recorded(file));
            if let Some(first) = files.first() {
                let path = first.parent().unwrap_or(Path::new("")).to_owned();
                all.push(Source::file(path, Kind::Files(Stream { files })));
            }
        }
        named.retain(|(path, _)| !is_recorded(path));
        named.sort_by(|(one, _), (other, _)| alphanumeric_sort::compare_path(one, other));
        all.extend(named.into_iter().map(|(path, kind)| Source::file(path, kind)));
        all.extend(recordings.into_iter().map(|path| Source::file(path, Kind::Recording)));
        Sources { all, skipped }
    }
}

impl Source {
    fn file(path: PathBuf, kind: Kind) -> Self {
        Source {
            path,
            kind,
            #[cfg(feature = "object-store")]
            objects: None,
        }
    }

    /// Returns what its reader opens.
    fn input(&self) -> Input<'_> {
        Input {
            path: &self.path,
            #[cfg(feature = "object-store")]
            objects: self.objects.as_ref(),
        }
    }

    /// Returns its name: the path of its file or directory.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Returns the size of its files in bytes.
    pub fn bytes(&self) -> u64 {
        #[cfg(feature = "object-store")]
        if let Some(objects) = &self.objects {
            return objects.size();
        }
        match &self.kind {
            Kind::Files(stream) => stream.files.iter().map(|file| size(file)).sum(),
            Kind::Recording => size(&self.path.join(RECORDING)),
            _ => size(&self.path),
        }
    }

    /// Returns what it is known by when an archive is continued.
    pub(crate) fn state(&self) -> SourceState {
        #[cfg(feature = "object-store")]
        let objects = self.objects.as_ref().map(objects::Objects::state).unwrap_or_default();
        #[cfg(not(feature = "object-store"))]
        let objects = String::new();
        SourceState { name: self.name(), bytes: self.bytes(), objects }
    }

    /// Passes each item after the first ones to `visit`. What cannot be read is an item as well.
    ///
    /// # Errors
    /// If `visit` returns an error, or if there is no item after the first ones: there was one when they were read.
    pub(crate) fn each_after(
        &self,
        first: u64,
        limits: Limits,
        columns: &JsonColumns,
        visit: &mut Visit<'_>,
    ) -> Result<(), ArchiveError> {
        let skip = self.skipped_unread(first);
        let (mut position, mut end) = (skip as u64, None);
        self.each(skip, limits, columns, &mut |item| {
            // After a failure of the store, an item may be what is left of a message.
            self.check()?;
            position += 1;
            if position > first {
                return visit(item);
            }
            end = match item {
                Item::Unreadable { place, reason } => Some((place, reason)),
                Item::Capture(_) => None,
            };
            Ok(())
        })?;
        self.check()?;
        if first == 0 || position > first {
            return Ok(());
        }
        let (place, reason) = end.unwrap_or_else(|| (self.name(), "nothing more is in it".into()));
        Err(ArchiveError::Shorter { place, reason: reason.into_owned() })
    }

    /// Checks that the store of this source, if it has one, has not failed.
    fn check(&self) -> Result<(), ArchiveError> {
        #[cfg(feature = "object-store")]
        if let Some(objects) = &self.objects {
            return objects.check();
        }
        Ok(())
    }

    /// Returns how many of the first items can be left out without reading them.
    fn skipped_unread(&self, first: u64) -> usize {
        let files = match &self.kind {
            Kind::Files(stream) => stream.files.len(),
            #[cfg(feature = "object-store")]
            Kind::Objects => self.objects.as_ref().map_or(0, objects::Objects::count),
            _ => 0,
        };
        usize::try_from(first).map_or(files, |first| first.min(files))
    }

    /// Passes each item to `visit`, without the first `skip` files of a directory.
    fn each(
        &self,
        skip: usize,
        limits: Limits,
        columns: &JsonColumns,
        visit: &mut Visit<'_>,
    ) -> Result<(), ArchiveError> {
        match &self.kind {
            Kind::Files(stream) => stream.files.iter().skip(skip).try_for_each(|path| {
                let place = path.display().to_string();
                let sender = path.parent().map(|folder| folder.display().to_string());
                let content = File::open(path).and_then(|file| read_whole(file, limits.message));
                visit(message_file(place, sender, content))
            }),
            #[cfg(feature = "object-store")]
            Kind::Objects => self.objects.iter().try_for_each(|objects| {
                objects.each(skip, &mut |place, object| {
                    visit(message_file(place, Some(self.name()), read_whole(object, limits.message)))
                })
            }),
            Kind::Zip => container::zip(&self.path, limits, visit),
            Kind::Tar => container::tar(self.input(), limits, visit),
            Kind::Har => har::read(self.input(), limits, visit),
            Kind::Pcap => pcap::read(self.input(), limits, visit),
            Kind::Mitm => mitm::read(self.input(), limits, visit),
            Kind::Recording => recording::read(&self.path, limits, visit),
            Kind::Lines => lines::read(self.input(), limits, columns, visit),
        }
    }
}

/// Returns a path or the URL of an object store for messages: without credentials, a query, and a fragment.
pub fn shown_location(location: &str) -> String {
    let shown = deltasoap_wsdl::fetch::shown(location);
    if shown.contains("://") { shown.split(['?', '#']).next().unwrap_or_default().to_owned() } else { shown }
}

/// Returns the size of a file in bytes.
fn size(path: &Path) -> u64 {
    path.metadata().map_or(0, |metadata| metadata.len())
}

/// Returns the kind of a file that holds several messages, by its name.
fn container_kind(path: &Path) -> Option<Kind> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let plain = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    match plain.rsplit_once('.')?.1 {
        "zip" if plain == name => Some(Kind::Zip),
        "tar" | "tgz" | "tzst" => Some(Kind::Tar),
        "har" => Some(Kind::Har),
        "pcap" | "pcapng" | "cap" => Some(Kind::Pcap),
        "mitm" | "flow" | "flows" => Some(Kind::Mitm),
        "jsonl" | "ndjson" => Some(Kind::Lines),
        _ => None,
    }
}

/// Returns the item of a message file.
fn message_file(place: String, sender: Option<String>, content: io::Result<Bytes>) -> Item {
    match content {
        Ok(content) => Item::Capture(Capture { place, sender, content, ..Capture::default() }.with_head()),
        Err(error) => Item::Unreadable { place, reason: format!("cannot be read: {error}").into() },
    }
}

/// Reads to the end.
///
/// # Errors
/// If there are more bytes than the maximum.
fn read_whole(from: impl Read, most: u64) -> io::Result<Bytes> {
    let mut content = Vec::new();
    from.take(most.saturating_add(1)).read_to_end(&mut content)?;
    match content.len() as u64 > most {
        true => Err(io::Error::other(too_large(most))),
        false => Ok(Bytes::from(content)),
    }
}

fn too_large(most: u64) -> String {
    format!("more than {most} bytes; a higher limit for messages takes it")
}

#[cfg(test)]
impl<'i> From<&'i Path> for Input<'i> {
    fn from(path: &'i Path) -> Self {
        Input {
            path,
            #[cfg(feature = "object-store")]
            objects: None,
        }
    }
}

impl Input<'_> {
    fn display(&self) -> std::path::Display<'_> {
        self.path.display()
    }

    /// Opens it.
    ///
    /// # Errors
    /// If it cannot be opened.
    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        #[cfg(feature = "object-store")]
        if let Some(objects) = self.objects {
            return objects.open();
        }
        Ok(Box::new(File::open(self.path)?))
    }

    /// Opens it, and decompresses it if its name says that it is compressed.
    ///
    /// # Errors
    /// If it cannot be opened.
    fn open_plain(&self) -> io::Result<Box<dyn Read + Send>> {
        let file = BufReader::new(self.open()?);
        let name = self.path.to_string_lossy().to_ascii_lowercase();
        let is = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        Ok(match () {
            () if is(&[".gz", ".tgz"]) => Box::new(flate2::bufread::MultiGzDecoder::new(file)),
            () if is(&[".zst", ".tzst"]) => Box::new(zstd::stream::read::Decoder::with_buffer(file)?),
            () => Box::new(file),
        })
    }
}

/// Reports a source that cannot be read, or not to its end, as an item.
fn broken(path: &Path, error: &dyn std::fmt::Display, visit: &mut Visit<'_>) -> Result<(), ArchiveError> {
    let place = path.display().to_string();
    visit(Item::Unreadable { place, reason: format!("cannot be read: {error}").into() })
}

#[cfg(test)]
mod tests;
