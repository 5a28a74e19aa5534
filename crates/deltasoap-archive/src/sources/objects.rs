//! Captures in object stores: S3, Google Cloud Storage, Azure.
//!
//! Objects are read in pieces, each a request of its own: however long it takes to decode a piece, no
//! request waits for it. The next piece is fetched meanwhile, and so are the next objects of a folder. All requests
//! are made on a thread of their own, because the caller may be on one that must not wait for a future.
//!
//! A store that fails says nothing about the captures: the run ends, and is continued later. Only an object that
//! was removed or replaced since it was listed is one that cannot be read.

use super::{Kind, Source, Sources, container_kind, shown_location};
use crate::directory::{ByFolder, Skipped, is_message_name};
use crate::error::ArchiveError;
use bytes::{Bytes, BytesMut};
use futures_util::TryStreamExt as _;
use object_store::path::Path as Key;
use object_store::{
    GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt as _, ObjectStoreScheme, parse_url_opts,
};
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::{Builder, Runtime};
use url::Url;

/// Number of bytes that are fetched at once.
const PIECE: u64 = 8 << 20;
/// Maximum number of objects that are fetched before they are read.
const AHEAD: usize = 16;
/// Maximum number of bytes of them.
const AHEAD_BYTES: u64 = 16 << 20;
/// The schemes of URLs that name a store. Of `https`, only hosts of such stores do.
const SCHEMES: [&str; 9] = ["s3", "s3a", "gs", "az", "adl", "azure", "abfs", "abfss", "https"];
/// The beginnings of the names in the environment that configure stores.
const PREFIXES: [&str; 3] = ["AWS_", "AZURE_", "GOOGLE_"];
/// The other names.
const NAMES: [&str; 2] = ["IDENTITY_ENDPOINT", "SERVICE_ACCOUNT"];

/// Why captures cannot be found in an object store.
///
/// The text of an error has that of its cause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectsError {
    /// The text is no URL.
    #[error("{url} is not a valid URL: {error}")]
    Url {
        /// The text, without what may be secret.
        url: String,
        /// Why.
        error: url::ParseError,
    },
    /// The URL names no store that can be read.
    #[error(
        "{0} is no object store that can be read: s3://bucket/prefix, gs://bucket/prefix, az://container/prefix, \
         abfss://container@account.dfs.core.windows.net/prefix and the https:// URLs of S3, R2 and Azure are"
    )]
    NoStore(String),
    /// The URL has a part that may be a credential, and is not repeated here.
    #[error(
        "the URL of an object store has a user, a password, a query or a fragment: name the prefix alone, with ? and # \
         in keys as %3F and %23; credentials are those of the environment"
    )]
    Credentials,
    /// The store cannot be reached, or refuses.
    #[error("{url}: {error}")]
    Store {
        /// What was asked for.
        url: String,
        /// Why.
        error: object_store::Error,
    },
    /// There is no thread for requests.
    #[error("no thread for requests to object stores: {0}")]
    Thread(io::Error),
}

impl Sources {
    /// Adds the captures below a URL: `s3://bucket/prefix`, `gs://...`, `az://...` and the other forms of these
    /// stores that the crate `object_store` knows. Credentials, region and endpoint are those of the environment
    /// (`AWS_ACCESS_KEY_ID`, `GOOGLE_APPLICATION_CREDENTIALS`, `AZURE_STORAGE_ACCOUNT_NAME` and so on).
    ///
    /// Objects are what files are in a directory, but for zip archives and recordings of the proxy, which
    /// are skipped.
    ///
    /// # Errors
    /// If the store cannot be reached, or refuses.
    pub fn add_objects(&mut self, url: &str) -> Result<(), ObjectsError> {
        let url = store_url(url)?;
        // Without a provider, TLS would panic. An error says that there is one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (store, prefix) = parse_url_opts(&url, std::env::vars_os().filter_map(setting))
            .map_err(|error| ObjectsError::Store { url: url.to_string(), error })?;
        self.add_store(base_of(&url, &prefix), Arc::from(store), &prefix)
    }

    pub(crate) fn add_store(
        &mut self,
        base: String,
        store: Arc<dyn ObjectStore>,
        prefix: &Key,
    ) -> Result<(), ObjectsError> {
        let thread = Thread::new().map_err(ObjectsError::Thread)?;
        let listed = thread.wait(list(store.clone(), prefix.clone())).map_err(ObjectsError::Thread)?;
        let mut listed = listed
            .map_err(|error| ObjectsError::Store { url: format!("{base}{}", encoded(prefix.as_ref())), error })?;
        listed.sort_unstable_by(|one, other| {
            alphanumeric_sort::compare_str(&one.key, &other.key).then_with(|| one.key.cmp(&other.key))
        });
        let bucket = Arc::new(Bucket { base, store, thread, failure: Mutex::default() });
        let Sorted { folders, containers } = sorted(listed, &bucket, &mut self.skipped);
        let of = |path, kind, all| Source { path, kind, objects: Some(Objects { bucket: bucket.clone(), all }) };
        self.all.extend(folders.into_iter().map(|all| of(bucket.folder(&all), Kind::Objects, all)));
        self.all.extend(containers.into_iter().map(|(object, kind)| of(bucket.path(&object), kind, vec![object])));
        Ok(())
    }
}

/// Returns the URL of a store, which has no part that must not be printed.
fn store_url(text: &str) -> Result<Url, ObjectsError> {
    let url = Url::parse(text).map_err(|error| ObjectsError::Url { url: shown_location(text), error })?;
    // In URLs of Azure the user is a container.
    let has_user = !url.username().is_empty() && !matches!(url.scheme(), "az" | "abfs" | "abfss");
    if has_user || url.password().is_some() || url.query().is_some() || url.fragment().is_some() {
        return Err(ObjectsError::Credentials);
    }
    let is_page = matches!(ObjectStoreScheme::parse(&url), Ok((ObjectStoreScheme::Http, _)));
    match SCHEMES.contains(&url.scheme()) && !is_page {
        true => Ok(url),
        false => Err(ObjectsError::NoStore(shown_location(text))),
    }
}

/// Returns a variable of the environment that configures stores. Names without a prefix, which stores would take,
/// are those of other programs.
fn setting((name, value): (std::ffi::OsString, std::ffi::OsString)) -> Option<(String, String)> {
    let name = name.into_string().ok()?;
    let is_known = PREFIXES.iter().any(|prefix| name.starts_with(prefix)) || NAMES.contains(&name.as_str());
    if is_known { Some((name, value.into_string().ok()?)) } else { None }
}

/// Returns the URL that keys are appended to: in some forms the path begins with a container, which is no part of
/// the keys.
fn base_of(url: &Url, prefix: &Key) -> String {
    let path = Key::from_url_path(url.path()).unwrap_or_default();
    let container = path.as_ref().strip_suffix(prefix.as_ref()).unwrap_or_default().trim_end_matches('/');
    let slash = if container.is_empty() { "" } else { "/" };
    format!("{}://{}/{}{slash}", url.scheme(), url.authority(), encoded(container))
}

/// Returns a key as the path of a URL.
fn encoded(key: &str) -> String {
    let mut path = String::with_capacity(key.len());
    for byte in key.bytes() {
        match byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=:@".contains(&byte) {
            true => path.push(char::from(byte)),
            false => _ = write!(path, "%{byte:02X}"),
        }
    }
    path
}

/// Returns the object with this key, or those below it.
async fn list(store: Arc<dyn ObjectStore>, prefix: Key) -> object_store::Result<Vec<Object>> {
    if prefix.as_ref().is_empty() {
        return store.list(None).map_ok(Object::from).try_collect().await;
    }
    match store.head(&prefix).await {
        Ok(object) => Ok(vec![object.into()]),
        Err(object_store::Error::NotFound { .. }) => store.list(Some(&prefix)).map_ok(Object::from).try_collect().await,
        Err(error) => Err(error),
    }
}

/// Objects by what they hold.
struct Sorted {
    /// Messages, by their folders.
    folders: Vec<Vec<Object>>,
    /// Files of several messages.
    containers: Vec<(Object, Kind)>,
}

fn sorted(listed: Vec<Object>, bucket: &Bucket, skipped: &mut Skipped) -> Sorted {
    let (mut folders, mut containers) = (ByFolder::default(), Vec::new());
    for object in listed {
        let key = Path::new(&*object.key);
        let name = key.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        match container_kind(key) {
            Some(Kind::Zip) => {
                skipped.add("a zip archive in an object store: copy it to a directory", &bucket.path(&object));
            }
            Some(_) if name == super::RECORDING => {
                skipped.add("a recording in an object store: copy it to a directory", &bucket.path(&object));
            }
            Some(kind) => containers.push((object, kind)),
            None if is_message_name(name) => {
                let folder = key.parent().unwrap_or(Path::new("")).to_owned();
                folders.add(&folder, object);
            }
            None => skipped.add("not an .xml, .txt or .http file", &bucket.path(&object)),
        }
    }
    Sorted { folders: folders.all, containers }
}

/// A store.
#[derive(Debug)]
pub(super) struct Bucket {
    /// Its URL, with a slash at its end.
    base: String,
    store: Arc<dyn ObjectStore>,
    thread: Thread,
    /// The first failure, until somebody has taken it.
    failure: Mutex<Option<ArchiveError>>,
}

/// An object, as it was listed. There may be millions, so it has nothing else.
#[derive(Debug)]
pub(super) struct Object {
    key: Box<str>,
    e_tag: Option<Box<str>>,
    size: u64,
}

impl From<ObjectMeta> for Object {
    fn from(listed: ObjectMeta) -> Self {
        let key = String::from(listed.location).into_boxed_str();
        Object { key, e_tag: listed.e_tag.map(String::into_boxed_str), size: listed.size }
    }
}

impl Object {
    /// Returns the number of bytes of its first piece.
    fn first_piece(&self) -> u64 {
        self.size.min(PIECE)
    }
}

/// The objects of a source.
#[derive(Debug)]
pub(super) struct Objects {
    bucket: Arc<Bucket>,
    all: Vec<Object>,
}

/// Receives the URL of an object, and its content.
type Take<'t> = dyn FnMut(String, Box<dyn Read + Send>) -> Result<(), ArchiveError> + 't;

impl Objects {
    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// Returns the size of all objects in bytes.
    pub(super) fn size(&self) -> u64 {
        self.all.iter().map(|object| object.size).sum()
    }

    /// Returns a text that differs if an object was added, removed or replaced.
    pub(super) fn state(&self) -> String {
        let mut state = Sha256::new();
        for Object { key, e_tag, size } in &self.all {
            state.update(format!("{key}\0{size}\0{}\0", e_tag.as_deref().unwrap_or_default()));
        }
        state.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Opens the object of a source that is one.
    ///
    /// # Errors
    /// If it is none.
    pub(super) fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        let object = self.all.first().ok_or(io::ErrorKind::NotFound)?;
        Ok(self.bucket.open(object))
    }

    /// Passes on each object after the first `skip`. The next ones are fetched meanwhile.
    pub(super) fn each(&self, skip: usize, take: &mut Take<'_>) -> Result<(), ArchiveError> {
        let mut rest = self.all.iter().skip(skip).peekable();
        let (mut ahead, mut bytes) = (VecDeque::new(), 0);
        loop {
            while let Some(object) = rest
                .next_if(|next| ahead.is_empty() || (ahead.len() < AHEAD && bytes + next.first_piece() <= AHEAD_BYTES))
            {
                bytes += object.first_piece();
                ahead.push_back((object, self.bucket.open(object)));
            }
            let Some((object, reader)) = ahead.pop_front() else { return Ok(()) };
            bytes -= object.first_piece();
            take(self.bucket.url(&object.key), reader)?;
        }
    }

    /// Checks that the store has not failed: what was made of its objects would be void.
    ///
    /// # Errors
    /// The first failure.
    pub(super) fn check(&self) -> Result<(), ArchiveError> {
        match self.bucket.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }
}

impl Bucket {
    fn url(&self, key: &str) -> String {
        format!("{}{}", self.base, encoded(key))
    }

    fn path(&self, object: &Object) -> PathBuf {
        PathBuf::from(self.url(&object.key))
    }

    /// Returns the URL of the folder of objects.
    fn folder(&self, objects: &[Object]) -> PathBuf {
        let key = objects.first().map_or("", |object| &*object.key);
        let folder = key.rsplit_once('/').map_or("", |(folder, _)| folder);
        PathBuf::from(self.url(folder).trim_end_matches('/'))
    }

    fn open(self: &Arc<Self>, object: &Object) -> Box<dyn Read + Send> {
        let (key, e_tag) = (object.key.to_string(), object.e_tag.as_deref().map(str::to_owned));
        let (bucket, size) = (self.clone(), object.size);
        let mut reader =
            Reader { bucket, key, e_tag, size, position: 0, piece: Bytes::new(), next: None, failed: false };
        reader.fetch();
        Box::new(reader)
    }

    /// Keeps an error, unless it is one of the object alone.
    fn failed(&self, key: &str, error: &object_store::Error) -> io::Error {
        use object_store::Error::{NotFound, NotModified, Precondition};
        let text = error.to_string();
        if !matches!(error, NotFound { .. } | Precondition { .. } | NotModified { .. }) {
            let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
            // The text has those of its causes.
            failure.get_or_insert_with(|| ArchiveError::Store { url: self.url(key), source: text.clone().into() });
        }
        io::Error::other(text)
    }
}

type Fetched = object_store::Result<Bytes>;

/// Reads an object.
struct Reader {
    bucket: Arc<Bucket>,
    key: String,
    e_tag: Option<String>,
    size: u64,
    /// The position after the piece that is fetched.
    position: u64,
    piece: Bytes,
    next: Option<Receiver<Fetched>>,
    /// True after an error: the end is not reached then.
    failed: bool,
}

impl Reader {
    /// Begins to fetch the next piece, if there is one.
    fn fetch(&mut self) {
        let range = self.position..self.size.min(self.position + PIECE);
        self.position = range.end;
        self.next = (!range.is_empty()).then(|| {
            let (store, key, e_tag) = (self.bucket.store.clone(), self.key.clone(), self.e_tag.clone());
            self.bucket.thread.spawn(async move { fetched(store, &key, e_tag, range).await })
        });
    }

    fn receive(&mut self, next: &Receiver<Fetched>) -> io::Result<()> {
        let received = next.recv().unwrap_or_else(|error| Err(generic(error)));
        self.failed = received.is_err();
        self.piece = received.map_err(|error| self.bucket.failed(&self.key, &error))?;
        self.fetch();
        Ok(())
    }
}

/// Fetches a piece. A body of another length is an error: a shorter one would pass for the end of the object.
async fn fetched(store: Arc<dyn ObjectStore>, key: &str, if_match: Option<String>, bytes: Range<u64>) -> Fetched {
    let (length, range) = ((bytes.end - bytes.start) as usize, Some(GetRange::Bounded(bytes)));
    // An object that is replaced meanwhile is an error, not a mixture.
    let options = GetOptions { range, if_match, ..GetOptions::default() };
    let mut body = store.get_opts(&Key::parse(key)?, options).await?.into_stream();
    let mut piece = BytesMut::with_capacity(length);
    while let Some(part) = body.try_next().await? {
        if part.len() > length - piece.len() {
            return Err(generic(format!("more than the {length} bytes that were asked for")));
        }
        piece.extend_from_slice(&part);
    }
    match piece.len() == length {
        true => Ok(piece.freeze()),
        false => Err(generic(format!("{} of the {length} bytes that were asked for", piece.len()))),
    }
}

fn generic(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> object_store::Error {
    object_store::Error::Generic { store: "object store", source: source.into() }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.failed {
            return Err(io::Error::other("cannot be read further"));
        }
        if self.piece.is_empty()
            && let Some(next) = self.next.take()
        {
            self.receive(&next)?;
        }
        let length = buffer.len().min(self.piece.len());
        buffer[..length].copy_from_slice(&self.piece.split_to(length));
        Ok(length)
    }
}

/// A thread on which requests are made.
#[derive(Debug)]
struct Thread(Option<Runtime>);

impl Thread {
    fn new() -> io::Result<Self> {
        Builder::new_multi_thread().worker_threads(1).enable_all().build().map(|runtime| Thread(Some(runtime)))
    }

    /// Runs a future; what it returns can be waited for anywhere.
    fn spawn<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Receiver<T> {
        let (done, result) = sync_channel(1);
        if let Some(runtime) = &self.0 {
            runtime.spawn(async move {
                // Nobody may be interested any more.
                let _ = done.send(work.await);
            });
        }
        result
    }

    fn wait<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> io::Result<T> {
        self.spawn(work).recv().map_err(io::Error::other)
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        // Dropped as it is, a runtime waits, which is refused within another one.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests;
