//! Reads documents from wherever they are, within the importer's rules.

use super::{Fetch, FetchError, Fetched, Location, Request, Shown, names_private_host};
use crate::Limits;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use url::Url;

/// Files below a root, the entries of an archive, the network.
pub(crate) struct Store<'f> {
    pub(crate) fetch: &'f dyn Fetch,
    /// Files are below it; `None` if none may be read.
    pub(crate) root: Option<PathBuf>,
    #[cfg(feature = "archive")]
    pub(crate) archive: Option<Archive>,
    /// Documents from the network may name private addresses.
    pub(crate) allows_private: bool,
    pub(crate) limits: Limits,
    /// Bytes read so far.
    pub(crate) bytes: usize,
}

/// A zip archive in memory.
#[cfg(feature = "archive")]
pub(crate) type Archive = zip::ZipArchive<std::io::Cursor<Vec<u8>>>;

/// The document that names another one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Referrer<'a> {
    pub(crate) location: &'a Location,
    /// It came from an address that is not public.
    pub(crate) is_private: bool,
}

impl Store<'_> {
    /// Reads a document that another one names, or, without a referrer, the caller.
    pub(crate) fn read(&mut self, location: &Location, by: Option<Referrer<'_>>) -> Result<Fetched, FetchError> {
        let most = self.limits.document_bytes.min(self.limits.bytes.saturating_sub(self.bytes));
        let fetched = match location {
            Location::File(path) => self.file(path, most).map(of_bytes),
            Location::Web(url) => self.web(url, by, most),
            Location::Entry(name) => self.entry(name, most).map(of_bytes),
            Location::Text(name) => Err(FetchError::Unavailable(format!("{name} is not a file"))),
        }
        .map_err(|error| self.named(error))?;
        self.bytes += fetched.bytes.len();
        Ok(fetched)
    }

    /// Which of two limits it was.
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
        let Some(root) = self.root.as_ref().filter(|root| real.starts_with(root)) else {
            return Err(FetchError::Forbidden(format!("{} is not below the import's root", path.display())));
        };
        debug_assert!(root.is_absolute());
        if !real.is_file() {
            return Err(FetchError::Unavailable(format!("{} is not a file", path.display())));
        }
        bounded(File::open(real).map_err(unavailable)?, most)
    }

    fn web(&self, url: &Url, by: Option<Referrer<'_>>, most: usize) -> Result<Fetched, FetchError> {
        let public_only = !self.allows_private && by.is_some_and(|by| by.is_from_elsewhere(url));
        if public_only && names_private_host(url) {
            return Err(FetchError::Forbidden(format!(
                "{} is a private address, named by a document from the network",
                Shown(url)
            )));
        }
        let (timeout, most_bytes) = (self.limits.timeout, most);
        let fetched = self.fetch.fetch(&Request { url, public_only, most_bytes, timeout })?;
        if fetched.bytes.len() > most { Err(too_large(most)) } else { Ok(fetched) }
    }

    #[cfg(feature = "archive")]
    fn entry(&mut self, name: &str, most: usize) -> Result<Vec<u8>, FetchError> {
        let unavailable = |error| FetchError::Unavailable(format!("entry {name} of the archive: {error}"));
        let archive = self.archive.as_mut().ok_or(FetchError::Unavailable("no archive".to_owned()))?;
        bounded(archive.by_name(name).map_err(unavailable)?, most)
    }

    #[cfg(not(feature = "archive"))]
    fn entry(&mut self, name: &str, _: usize) -> Result<Vec<u8>, FetchError> {
        Err(FetchError::Unavailable(format!("{name}: built without the feature `archive`")))
    }
}

impl Referrer<'_> {
    /// True if what it names on the network must be public: it came from the network, and not from that very place.
    fn is_from_elsewhere(self, url: &Url) -> bool {
        match self.location {
            Location::Web(own) => !(self.is_private && own.origin() == url.origin()),
            _ => false,
        }
    }
}

fn of_bytes(bytes: Vec<u8>) -> Fetched {
    Fetched { bytes, is_private: false }
}

/// Reads to the end, but no more than `most` bytes.
pub(crate) fn bounded(reader: impl Read, most: usize) -> Result<Vec<u8>, FetchError> {
    let mut bytes = Vec::new();
    let read = reader.take((most as u64).saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| FetchError::Unavailable(error.to_string()))?;
    if bytes.len() > most { Err(too_large(most)) } else { Ok(bytes) }
}

fn too_large(most: usize) -> FetchError {
    FetchError::TooLarge("document_bytes", most as u64)
}
