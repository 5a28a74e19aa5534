//! Objects are what files are, and a store that fails ends the run.

use super::*;
use crate::capture::{Capture, Item};
use crate::sources::{JsonColumns, Limits};
use crate::{Archive, Direction, Options, Summary};
use deltasoap_dynamic::Contract;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use object_store::memory::InMemory;
use object_store::{
    CopyOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, PutMultipartOptions, PutOptions, PutPayload,
    PutResult,
};
use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

fn wait<T: Send + 'static>(work: impl Future<Output = object_store::Result<T>> + Send + 'static) -> T {
    Thread::new().expect("a thread").wait(work).expect("a thread").expect("an answer")
}

fn put(store: &Arc<dyn ObjectStore>, key: &str, content: &[u8]) {
    let (store, key) = (store.clone(), Key::parse(key).expect("a key"));
    let content = PutPayload::from(content.to_vec());
    wait(async move { store.put(&key, content).await });
}

fn store(objects: &[(&str, Vec<u8>)]) -> Arc<dyn ObjectStore> {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    for (key, content) in objects {
        put(&store, key, content);
    }
    store
}

fn sources(store: &Arc<dyn ObjectStore>, prefix: &str) -> Sources {
    let mut sources = Sources::default();
    sources.add_store("s3://bucket/".to_owned(), store.clone(), &Key::from(prefix)).expect("a store");
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
        items.iter().map(|it| if let Item::Capture(it) = it { it.place.clone() } else { panic!("{it:?}") }).collect()
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
    let mut read = Vec::new();
    objects.open().expect("an object").read_to_end(&mut read).expect("its content");
    assert!(read == content);
    let mut reader = objects.open().expect("an object");
    let mut begin = [0; 100];
    reader.read_exact(&mut begin).expect("its beginning");
    put(&store, "large.xml", b"other");
    assert!(reader.read_to_end(&mut Vec::new()).is_err());
    assert!(reader.read_to_end(&mut Vec::new()).is_err(), "an error is not the end");
    assert!(objects.check().is_ok(), "the store has not failed");
}

/// What a store does at a request.
#[derive(Debug, Clone, Copy)]
enum Failure {
    Refusal,
    Short,
    Empty,
    Endless,
}

/// A store that fails once.
#[derive(Debug)]
struct Failing {
    inner: Arc<dyn ObjectStore>,
    /// Number of requests until then.
    left: AtomicU64,
    failure: Failure,
}

impl std::fmt::Display for Failing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inner.fmt(f)
    }
}

#[async_trait::async_trait]
impl ObjectStore for Failing {
    async fn get_opts(&self, key: &Key, options: GetOptions) -> object_store::Result<GetResult> {
        let result = self.inner.get_opts(key, options).await?;
        if result.meta.size == 0 || self.left.fetch_sub(1, Relaxed) != 1 {
            return Ok(result);
        }
        let part = Bytes::from_static(b"\n");
        let body = match self.failure {
            Failure::Refusal => return Err(generic("503 Slow Down")),
            Failure::Short => stream::iter([Ok(part)]).boxed(),
            Failure::Empty => stream::empty().boxed(),
            Failure::Endless => stream::repeat_with(move || Ok(part.clone())).boxed(),
        };
        Ok(GetResult { payload: GetResultPayload::Stream(body), ..result })
    }

    fn list(&self, prefix: Option<&Key>) -> BoxStream<'static, object_store::Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Key>) -> object_store::Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn put_opts(&self, key: &Key, content: PutPayload, options: PutOptions) -> object_store::Result<PutResult> {
        self.inner.put_opts(key, content, options).await
    }

    async fn put_multipart_opts(
        &self,
        key: &Key,
        options: PutMultipartOptions,
    ) -> object_store::Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(key, options).await
    }

    fn delete_stream(
        &self,
        keys: BoxStream<'static, object_store::Result<Key>>,
    ) -> BoxStream<'static, object_store::Result<Key>> {
        self.inner.delete_stream(keys)
    }

    async fn copy_opts(&self, from: &Key, to: &Key, options: CopyOptions) -> object_store::Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

/// Captures of each kind, all of them valid.
fn captures() -> Arc<dyn ObjectStore> {
    let captures = deltasoap_test_support::files::in_repository("testdata/captures");
    let read = |name: &str| fs::read(captures.join(name)).expect("a capture");
    let item = "<item><code>A-1</code><count>2</count></item>".repeat(2);
    let order = format!(
        "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body><Order xmlns='urn:shop'>\
         <customer>x</customer>{item}</Order></e:Body></e:Envelope>"
    );
    let entry = serde_json::json!({ "request": { "postData": { "text": order } }, "response": {} });
    let mut tar = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(order.len() as u64);
    header.set_mode(0o644);
    for name in ["a.xml", "b.xml"] {
        tar.append_data(&mut header, name, order.as_bytes()).expect("an entry");
    }
    let lines = format!("{}\n", serde_json::json!({ "body": order })).repeat(5);
    let mut objects = vec![
        ("log.jsonl.zst", zstd::encode_all(lines.as_bytes(), 1).expect("zstd")),
        ("log.jsonl", lines.into_bytes()),
        ("day.har", serde_json::json!({ "log": { "entries": [entry, entry] } }).to_string().into_bytes()),
        ("day.tar", tar.into_inner().expect("an archive")),
        ("shop.mitm", read("shop.mitm")),
        ("shop.pcap", read("shop.pcap")),
    ];
    objects.extend(["a/1.xml", "a/2.xml", "b/1.xml", "b/2.xml"].map(|key| (key, order.clone().into_bytes())));
    store(&objects)
}

fn run(sources: Sources, root: &Path) -> Result<Summary, ArchiveError> {
    const SHOP: &str = include_str!("../../../../deltasoap-dynamic/tests/data/shop.wsdl");
    let contract = Contract::from_text(SHOP).expect("a description");
    let options = Options { chunk_messages: 4, ..Options::default() };
    Archive::open(root, &contract, sources, options)?.run(&mut |_| {})
}

/// Returns the files of an archive.
fn content(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = walkdir::WalkDir::new(root).into_iter().map(|entry| entry.expect("an entry").into_path());
    let files = files.filter(|path| path.is_file() && path.extension() != Some("tmp".as_ref()));
    files.map(|path| (path.strip_prefix(root).expect("below").to_owned(), fs::read(&path).expect("a file"))).collect()
}

#[test]
fn a_store_that_fails_ends_the_run_which_can_be_continued() {
    let folder = tempfile::tempdir().expect("a directory");
    let captures = captures();
    let whole = folder.path().join("whole");
    let expected = run(sources(&captures, ""), &whole).expect("an archive").counts;
    assert_eq!((expected.messages > 20, expected.errors), (true, 0));
    let expected = (expected, content(&whole));
    let mut failures = 0;
    for failure in [Failure::Refusal, Failure::Short, Failure::Empty, Failure::Endless] {
        // There is a request for each object.
        for request in 1..=10 {
            let root = folder.path().join("out");
            let left = AtomicU64::new(request);
            let store: Arc<dyn ObjectStore> = Arc::new(Failing { inner: captures.clone(), left, failure });
            let error = run(sources(&store, ""), &root).expect_err("a failure");
            assert!(matches!(error, ArchiveError::Store { .. }), "{failure:?} {request}: {error:?}");
            assert!(error.to_string().contains("s3://bucket/"), "{error}");
            failures += 1;
            let rest = run(sources(&store, ""), &root).expect("the rest");
            assert!(rest.is_continued);
            assert!((rest.counts, content(&root)) == expected, "{failure:?} {request}");
            fs::remove_dir_all(&root).expect("removed");
        }
    }
    assert_eq!(failures, 40);
}

#[test]
fn an_object_that_was_removed_is_one_problem() {
    let folder = tempfile::tempdir().expect("a directory");
    let captures = captures();
    let found = sources(&captures, "");
    wait(async move { captures.delete(&Key::from("a/2.xml")).await });
    let counts = run(found, folder.path()).expect("an archive").counts;
    assert_eq!((counts.messages > 20, counts.errors), (true, 1));
}

#[test]
fn objects_that_were_replaced_are_other_captures() {
    let folder = tempfile::tempdir().expect("a directory");
    let captures = captures();
    run(sources(&captures, ""), folder.path()).expect("an archive");
    run(sources(&captures, ""), folder.path()).expect("the same");
    let old = wait({
        let captures = captures.clone();
        async move { captures.get(&Key::from("a/2.xml")).await?.bytes().await }
    });
    put(&captures, "a/2.xml", &[b" ", &old[..old.len() - 1]].concat());
    let error = run(sources(&captures, ""), folder.path()).expect_err("another object").to_string();
    assert!(error.contains("was begun with other objects of s3://bucket/a:"), "{error}");
}

#[test]
fn keys_are_urls_that_can_be_used_again() {
    let key = "day/a b#c?d%/ü.xml";
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    put(&store, key, b"<x/>");
    let found = sources(&store, "");
    let place = "s3://bucket/day/a%20b%23c%3Fd%25/%C3%BC.xml";
    assert_eq!(found.all[0].name(), place.rsplit_once('/').expect("a folder").0);
    let Item::Capture(capture) = &items(&found)[0] else { panic!("a message") };
    assert_eq!((capture.place.as_str(), capture.sender.clone()), (place, Some(found.all[0].name())));
    let url = store_url(place).expect("a URL");
    assert_eq!(Key::from_url_path(url.path()).expect("a key").as_ref(), key);
}

#[test]
fn keys_are_appended_to_what_is_not_in_them() {
    for (url, base) in [
        ("s3://bucket", "s3://bucket/"),
        ("s3a://bucket/day/a", "s3a://bucket/"),
        ("gs://bucket/day%2Fa/", "gs://bucket/"),
        ("az://container/day", "az://container/"),
        ("abfss://files@shop.dfs.core.windows.net/day", "abfss://files@shop.dfs.core.windows.net/"),
        ("https://shop.blob.core.windows.net/files/day", "https://shop.blob.core.windows.net/files/"),
        ("https://shop.blob.core.windows.net/files", "https://shop.blob.core.windows.net/files/"),
        ("https://s3.eu-west-1.amazonaws.com/bucket/bucket", "https://s3.eu-west-1.amazonaws.com/bucket/"),
        ("https://bucket.s3.eu-west-1.amazonaws.com/day", "https://bucket.s3.eu-west-1.amazonaws.com/"),
    ] {
        let url = store_url(url).expect("a URL of a store");
        let (_, prefix) = ObjectStoreScheme::parse(&url).expect("a store");
        assert_eq!(base_of(&url, &prefix), base);
    }
}

#[test]
fn urls_of_no_store_are_errors() {
    for (url, reason) in [
        ("s3:bucket", "s3:bucket"),
        ("ftp://host/a", "ftp://host/a is no object store that can be read: s3://bucket/prefix,"),
        ("file:///a", "file:///a is no object store"),
        ("memory:///a", "memory:///a is no object store"),
        ("https://host/a", "https://host/a is no object store"),
        ("://", "not a valid URL"),
    ] {
        let error = Sources::default().add_objects(url).expect_err("no store").to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn credentials_in_urls_are_refused_and_not_repeated() {
    for url in [
        "s3://key:hidden@bucket/day",
        "s3://hidden@bucket/day",
        "az://container:hidden@shop/day",
        "https://shop.blob.core.windows.net/files?sig=hidden",
        "s3://bucket/day#hidden",
        "s3://key:hidden@buc ket/day",
        "://key:hidden@bucket?hidden",
    ] {
        let error = Sources::default().add_objects(url).expect_err("a credential");
        assert!(!format!("{error} {error:?}").contains("hidden"), "{error:?}");
    }
}

/// Stores would also take `TOKEN`, `ENDPOINT` or `TIMEOUT`, which may be anybody's.
#[test]
fn settings_are_those_of_stores() {
    let of = |name: &str| setting((name.into(), "x".into())).is_some();
    assert!(["AWS_REGION", "AZURE_STORAGE_ACCOUNT_NAME", "GOOGLE_BUCKET", "SERVICE_ACCOUNT"].into_iter().all(of));
    assert!(!["TOKEN", "ENDPOINT", "REGION", "TIMEOUT", "SERVICE_ACCOUNT_KEY", "aws_region"].into_iter().any(of));
}
