//! Reads documents from all sources, within the importer's rules.

use super::trust::nearest_around;
use super::{Catalog, Fetch, FetchError, Fetched, Location, Reach, Request, Shown, names_private_host};
use crate::Limits;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use url::Url;

/// Files below a root, the entries of an archive, and the network.
pub(crate) struct Store<'f> {
    pub(crate) fetch: &'f dyn Fetch,
    /// Folders that files are read from.
    pub(crate) roots: Vec<PathBuf>,
    /// Maps references to files.
    pub(crate) catalog: &'f Catalog,
    /// The folder that paths in compiled files are relative to.
    pub(crate) base: Option<PathBuf>,
    #[cfg(feature = "archive")]
    pub(crate) archive: Option<Archive>,
    /// True if documents may name private addresses.
    pub(crate) allows_private: bool,
    pub(crate) limits: Limits,
    /// Number of bytes read so far.
    pub(crate) bytes: usize,
}

/// A zip archive in memory.
#[cfg(feature = "archive")]
pub(crate) type Archive = zip::ZipArchive<std::io::Cursor<Vec<u8>>>;

/// The document that names another one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Referrer<'a> {
    pub(crate) location: &'a Location,
    /// True if it came from an address that is not public.
    pub(crate) is_private: bool,
}

impl Store<'_> {
    /// Reads a document that another one names or, without a referrer, the caller.
    pub(crate) fn read(&mut self, location: &Location, by: Option<Referrer<'_>>) -> Result<Fetched, FetchError> {
        let most = self.limits.document_bytes.min(self.limits.bytes.saturating_sub(self.bytes));
        let fetched = match location {
            Location::File(path) => self.file(path, most).map(Fetched::text),
            Location::Web(url) => self.web(url, by, most),
            Location::Entry(name) => self.entry(name, most).map(Fetched::text),
            Location::Text(name) => Err(FetchError::Unavailable(format!("{name} is not a file"))),
        }
        .map_err(|error| self.named(error))?;
        self.bytes += fetched.bytes.len();
        Ok(fetched)
    }

    /// Names the limit that was exceeded: that of one document or that of all.
    fn named(&self, error: FetchError) -> FetchError {
        let is_total = self.limits.bytes.saturating_sub(self.bytes) < self.limits.document_bytes;
        match error {
            FetchError::TooLarge(..) if is_total => FetchError::TooLarge("bytes", self.limits.bytes as u64),
            FetchError::TooLarge(..) => FetchError::TooLarge("document_bytes", self.limits.document_bytes as u64),
            error => error,
        }
    }

    fn file(&self, path: &Path, most: usize) -> Result<Vec<u8>, FetchError> {
        let unavailable = |error: std::io::Error| FetchError::Unavailable(format!("{}: {error}", path.display()));
        let real = path.canonicalize().map_err(unavailable)?;
        self.check_place(path, &real)?;
        if !real.is_file() {
            return Err(FetchError::Unavailable(format!("{} is not a file", path.display())));
        }
        bounded(File::open(real).map_err(unavailable)?, most)
    }

    /// Checks that a file is below a root, wherever links lead.
    fn check_place(&self, path: &Path, real: &Path) -> Result<(), FetchError> {
        let Some(root) = self.roots.first() else {
            return Err(FetchError::Forbidden(format!("{}: this import reads no files", path.display())));
        };
        if self.roots.iter().any(|root| real.starts_with(root)) {
            return Ok(());
        }
        let around = nearest_around(real, root);
        let [real, root, around] = [real, root, &around].map(Path::display);
        Err(FetchError::Forbidden(format!(
            "{real} is outside of {root}, the folder that files are read from; {around} is the nearest folder that contains both"
        )))
    }

    fn web(&self, url: &Url, by: Option<Referrer<'_>>, most: usize) -> Result<Fetched, FetchError> {
        let reach = self.reach(url, by);
        if reach == Reach::Public && names_private_host(url) {
            return Err(FetchError::Forbidden(format!("{} is a private address, named by a document", Shown(url))));
        }
        let (timeout, max_bytes) = (self.limits.timeout, most);
        let fetched = self.fetch.fetch(&Request { url, reach, max_bytes, timeout })?;
        if fetched.bytes.len() > most { Err(too_large(most)) } else { Ok(fetched) }
    }

    /// Returns the addresses that may be connected to. The caller may name any address. A document
    /// may name public addresses and the origin that it came from.
    fn reach(&self, url: &Url, by: Option<Referrer<'_>>) -> Reach {
        match by {
            _ if self.allows_private => Reach::All,
            Some(by) if !by.is_from(url) => Reach::Public,
            _ => Reach::Origin,
        }
    }

    #[cfg(feature = "archive")]
    fn entry(&mut self, name: &str, most: usize) -> Result<Vec<u8>, FetchError> {
        let unavailable = |error| FetchError::Unavailable(format!("entry {name} of the archive: {error}"));
        let archive = self.archive.as_mut().ok_or(FetchError::Unavailable("no archive".to_owned()))?;
        let written = [name.to_owned(), name.replace('/', "\\")];
        let found = written.iter().find(|name| archive.index_for_name(name).is_some()).unwrap_or(&written[0]);
        bounded(archive.by_name(found).map_err(unavailable)?, most)
    }

    #[cfg(not(feature = "archive"))]
    fn entry(&mut self, name: &str, _: usize) -> Result<Vec<u8>, FetchError> {
        Err(FetchError::Unavailable(format!("{name}: built without the feature `archive`")))
    }
}

impl Referrer<'_> {
    /// Returns true if it came from a private address on the same host and port.
    fn is_from(self, url: &Url) -> bool {
        matches!(self.location, Location::Web(own) if self.is_private && own.origin() == url.origin())
    }
}

/// Reads to the end, but at most `most` bytes.
pub(crate) fn bounded(reader: impl Read, most: usize) -> Result<Vec<u8>, FetchError> {
    let mut bytes = Vec::new();
    let read = reader.take((most as u64).saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| FetchError::Unavailable(error.to_string()))?;
    if bytes.len() > most { Err(too_large(most)) } else { Ok(bytes) }
}

pub(super) fn too_large(most: usize) -> FetchError {
    FetchError::TooLarge("document_bytes", most as u64)
}
