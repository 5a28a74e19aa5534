//! Captures in object stores: S3, Google Cloud Storage, Azure.
//!
//! Objects are read in pieces, each a request of its own: however long it takes to decode a piece, no
//! request waits for it. The next piece is fetched meanwhile. All requests are made on a thread of
//! their own, because the caller may be on one that must not wait for a future.

use super::{Kind, Source, Sources, container_kind};
use crate::directory::{Skipped, Stream, is_message_name};
use futures_util::TryStreamExt as _;
use object_store::path::Path as Key;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt as _, parse_url_opts};
use std::collections::HashMap;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use tokio::runtime::{Builder, Runtime};
use url::Url;

/// Number of bytes that are fetched at once.
const PIECE: u64 = 8 << 20;

/// Why captures cannot be found in an object store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectsError {
    /// The text is no URL.
    #[error("{url} is not a valid URL: {error}")]
    Url {
        /// The text.
        url: String,
        /// Why.
        #[source]
        error: url::ParseError,
    },
    /// The store cannot be reached, or refuses.
    #[error("{url}: {error}")]
    Store {
        /// What was asked for.
        url: String,
        /// Why.
        #[source]
        error: object_store::Error,
    },
    /// There is no thread for requests.
    #[error("no thread for requests to object stores: {0}")]
    Thread(#[source] io::Error),
}

/// A store, with the objects that were found in it.
#[derive(Debug)]
pub(super) struct Objects {
    /// The URL of the store, with a slash at its end.
    base: String,
    store: Arc<dyn ObjectStore>,
    found: HashMap<String, ObjectMeta>,
    thread: Thread,
}

impl Sources {
    /// Adds the captures below a URL: `s3://bucket/prefix`, `gs://...`, `az://...` and the other forms
    /// that the crate `object_store` knows. Credentials, region and endpoint are those of the environment
    /// (`AWS_ACCESS_KEY_ID`, `GOOGLE_APPLICATION_CREDENTIALS`, `AZURE_STORAGE_ACCOUNT_NAME` and so on).
    ///
    /// Objects are what files are in a directory, but for zip archives and recordings of the proxy, which
    /// are skipped.
    ///
    /// # Errors
    /// If the store cannot be reached, or refuses.
    pub fn add_objects(&mut self, url: &str) -> Result<(), ObjectsError> {
        let parsed = Url::parse(url).map_err(|error| ObjectsError::Url { url: url.to_owned(), error })?;
        // Without a provider, TLS would panic. An error says that there is one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (store, prefix) = parse_url_opts(&parsed, std::env::vars_os().filter_map(text))
            .map_err(|error| ObjectsError::Store { url: url.to_owned(), error })?;
        let base = format!("{}://{}/", parsed.scheme(), parsed.host_str().unwrap_or_default());
        self.add_store(base, Arc::from(store), prefix)
    }

    pub(crate) fn add_store(
        &mut self,
        base: String,
        store: Arc<dyn ObjectStore>,
        prefix: Key,
    ) -> Result<(), ObjectsError> {
        let thread = Thread::new().map_err(ObjectsError::Thread)?;
        let listed = thread.wait(list(store.clone(), prefix.clone()));
        let mut listed = listed
            .and_then(|listed| listed.map_err(io::Error::other))
            .map_err(|error| generic(&base, &prefix, error))?;
        listed.sort_by(|one, other| alphanumeric_sort::compare_str(one.location.as_ref(), other.location.as_ref()));
        let path = |object: &ObjectMeta| PathBuf::from(format!("{base}{}", object.location));
        let (streams, containers) = sorted(listed.iter().map(path), &mut self.skipped);
        let found = listed.iter().map(|it| (it.location.to_string(), it.clone())).collect();
        let objects = Arc::new(Objects { base, store, found, thread });
        let of = |path, kind| Source { path, kind, objects: Some(objects.clone()) };
        self.all.extend(streams.into_iter().map(|(folder, stream)| of(folder, Kind::Files(stream))));
        self.all.extend(containers.into_iter().map(|(path, kind)| of(path, kind)));
        Ok(())
    }
}

/// Returns the message files by their folders, and the files that hold several messages.
#[allow(clippy::type_complexity, reason = "two lists of pairs, which one caller takes apart")]
fn sorted(
    paths: impl Iterator<Item = PathBuf>,
    skipped: &mut Skipped,
) -> (Vec<(PathBuf, Stream)>, Vec<(PathBuf, Kind)>) {
    let (mut streams, mut containers) = (Vec::<(PathBuf, Stream)>::new(), Vec::new());
    for path in paths {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        match container_kind(&path) {
            Some(Kind::Zip) => skipped.add("a zip archive in an object store: copy it to a directory", &path),
            Some(_) if name == super::RECORDING => {
                skipped.add("a recording in an object store: copy it to a directory", &path);
            }
            Some(kind) => containers.push((path, kind)),
            None if is_message_name(name) => {
                let folder = path.parent().unwrap_or(Path::new("")).to_owned();
                match streams.iter_mut().rev().find(|(known, _)| *known == folder) {
                    Some((_, stream)) => stream.files.push(path),
                    None => streams.push((folder, Stream { files: vec![path] })),
                }
            }
            None => skipped.add("not an .xml, .txt or .http file", &path),
        }
    }
    (streams, containers)
}

/// Returns the object with this key, or those below it.
async fn list(store: Arc<dyn ObjectStore>, prefix: Key) -> object_store::Result<Vec<ObjectMeta>> {
    if prefix.as_ref().is_empty() {
        return store.list(None).try_collect().await;
    }
    match store.head(&prefix).await {
        Ok(object) => Ok(vec![object]),
        Err(object_store::Error::NotFound { .. }) => store.list(Some(&prefix)).try_collect().await,
        Err(error) => Err(error),
    }
}

fn text((name, value): (std::ffi::OsString, std::ffi::OsString)) -> Option<(String, String)> {
    Some((name.into_string().ok()?, value.into_string().ok()?))
}

fn generic(base: &str, prefix: &Key, error: io::Error) -> ObjectsError {
    let error = match error.downcast::<object_store::Error>() {
        Ok(error) => error,
        Err(error) => object_store::Error::Generic { store: "thread", source: error.into() },
    };
    ObjectsError::Store { url: format!("{base}{prefix}"), error }
}

impl Objects {
    fn object(&self, path: &Path) -> Option<&ObjectMeta> {
        self.found.get(path.to_str()?.strip_prefix(&self.base)?)
    }

    /// Returns the size of an object in bytes.
    pub(super) fn size(&self, path: &Path) -> u64 {
        self.object(path).map_or(0, |object| object.size)
    }

    /// Opens an object.
    ///
    /// # Errors
    /// If it was not found.
    pub(super) fn open(self: &Arc<Self>, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        let object = self.object(path).ok_or(io::ErrorKind::NotFound)?.clone();
        let mut reader = Reader { objects: self.clone(), object, position: 0, piece: bytes::Bytes::new(), next: None };
        reader.fetch();
        Ok(Box::new(reader))
    }
}

/// Reads an object.
struct Reader {
    objects: Arc<Objects>,
    object: ObjectMeta,
    /// The position after the piece that is fetched.
    position: u64,
    piece: bytes::Bytes,
    next: Option<Receiver<object_store::Result<bytes::Bytes>>>,
}

impl Reader {
    /// Begins to fetch the next piece, if there is one.
    fn fetch(&mut self) {
        let Range { start, end } = self.position..self.object.size.min(self.position + PIECE);
        self.next = (start < end).then(|| {
            let (store, key) = (self.objects.store.clone(), self.object.location.clone());
            let (range, if_match) = (Some(GetRange::Bounded(start..end)), self.object.e_tag.clone());
            // An object that is replaced meanwhile is an error, not a mixture.
            let options = GetOptions { range, if_match, ..GetOptions::default() };
            self.objects.thread.spawn(async move { store.get_opts(&key, options).await?.bytes().await })
        });
        self.position = end;
    }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.piece.is_empty()
            && let Some(next) = self.next.take()
        {
            self.piece = next.recv().map_err(io::Error::other)?.map_err(io::Error::other)?;
            self.fetch();
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
mod tests {
    use super::*;
    use crate::Direction;
    use crate::capture::{Capture, Item};
    use crate::sources::{JsonColumns, Limits};
    use object_store::PutPayload;
    use object_store::memory::InMemory;
    use std::fs;

    fn store(objects: &[(&str, Vec<u8>)]) -> Arc<dyn ObjectStore> {
        let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        let thread = Thread::new().expect("a thread");
        for (key, content) in objects {
            let (store, key, content) = (store.clone(), Key::from(*key), PutPayload::from(content.clone()));
            thread.wait(async move { store.put(&key, content).await.map(drop) }).expect("a thread").expect("an object");
        }
        store
    }

    fn sources(store: &Arc<dyn ObjectStore>, prefix: &str) -> Sources {
        let mut sources = Sources::default();
        sources.add_store("s3://bucket/".to_owned(), store.clone(), Key::from(prefix)).expect("a store");
        sources
    }

    fn items(sources: &Sources) -> Vec<Item> {
        let mut items = Vec::new();
        for source in &sources.all {
            let mut visit = |item| {
                items.push(item);
                Ok(())
            };
            source.each_after(0, Limits::default(), &JsonColumns::default(), &mut visit).expect("a source");
        }
        items
    }

    fn known(capture: &Capture) -> (Option<i64>, Option<Direction>, Option<u16>, bool, bytes::Bytes) {
        (capture.time, capture.direction, capture.status, capture.is_answer, capture.content.clone())
    }

    #[test]
    fn objects_are_what_files_are() {
        let captures = deltasoap_test_support::files::in_repository("testdata/captures");
        let read = |name: &str| fs::read(captures.join(name)).expect("a capture");
        let zstd = |name: &str| zstd::encode_all(&read(name)[..], 1).expect("zstd");
        let store = store(&[
            ("day/a/10.xml", b"<x>10</x>".to_vec()),
            ("day/a/9.xml", b"<x>9</x>".to_vec()),
            ("day/a/old.zip", b"PK".to_vec()),
            ("day/log.jsonl", br#"{"body": "<x>line</x>"}"#.to_vec()),
            ("day/shop.mitm", read("shop.mitm")),
            ("day/shop.pcap.zst", zstd("shop.pcap")),
            ("day/tape/exchanges.jsonl", b"{}".to_vec()),
            ("other/1.xml", b"<x>other</x>".to_vec()),
        ]);
        let found = sources(&store, "day");
        let names: Vec<_> = found.all.iter().map(Source::name).collect();
        let expected = ["a", "log.jsonl", "shop.mitm", "shop.pcap.zst"].map(|name| format!("s3://bucket/day/{name}"));
        assert_eq!(names, expected);
        assert_eq!(found.skipped.files(), 2);
        assert_eq!(found.all[0].bytes(), 17);
        let places = |items: &[Item]| -> Vec<_> {
            items
                .iter()
                .map(|it| if let Item::Capture(it) = it { it.place.clone() } else { panic!("{it:?}") })
                .collect()
        };
        let all = items(&found);
        assert_eq!(places(&all)[..2], ["s3://bucket/day/a/9.xml", "s3://bucket/day/a/10.xml"]);
        // The same captures as files.
        let folder = tempfile::tempdir().expect("a directory");
        fs::copy(captures.join("shop.mitm"), folder.path().join("shop.mitm")).expect("a file");
        fs::write(folder.path().join("shop.pcap.zst"), zstd("shop.pcap")).expect("a file");
        let of_files = items(&Sources::find(&[folder.path().to_owned()]));
        let of = |items: &[Item]| -> Vec<_> {
            items.iter().map(|it| if let Item::Capture(it) = it { known(it) } else { panic!("{it:?}") }).collect()
        };
        assert_eq!(of(&all[3..]), of(&of_files));
        // One object, and none.
        assert_eq!(places(&items(&sources(&store, "day/a/9.xml"))), ["s3://bucket/day/a/9.xml"]);
        assert_eq!((sources(&store, "").all.len(), sources(&store, "nothing").all.len()), (5, 0));
    }

    #[test]
    fn large_objects_are_read_in_pieces_and_replaced_ones_are_errors() {
        let content: Vec<u8> = (0..2 * PIECE + 12_345).map(|index| (index % 251) as u8).collect();
        let store = store(&[("large.xml", content.clone())]);
        let found = sources(&store, "large.xml");
        let objects = found.all[0].objects.as_ref().expect("a store");
        let path = Path::new("s3://bucket/large.xml");
        let mut read = Vec::new();
        objects.open(path).expect("an object").read_to_end(&mut read).expect("its content");
        assert!(read == content);
        let mut reader = objects.open(path).expect("an object");
        let mut begin = [0; 100];
        reader.read_exact(&mut begin).expect("its beginning");
        let (changed, key) = (store.clone(), Key::from("large.xml"));
        objects
            .thread
            .wait(async move { changed.put(&key, PutPayload::from_static(b"other")).await.map(drop) })
            .expect("a thread")
            .expect("an object");
        assert!(reader.read_to_end(&mut Vec::new()).is_err());
        assert!(objects.open(Path::new("s3://bucket/none.xml")).is_err());
    }

    #[test]
    fn urls_of_no_store_are_errors() {
        for (url, reason) in [("s3:bucket", "s3:bucket"), ("ftp://host/a", "ftp://host/a"), ("://", "not a valid URL")]
        {
            let error = Sources::default().add_objects(url).expect_err("no store").to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
