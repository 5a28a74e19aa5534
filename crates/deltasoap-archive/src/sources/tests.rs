//! What each kind of source holds.

use super::*;
use crate::{Direction, message_in};
use deltasoap_test_support::Chance;
use std::io::Write as _;

fn items(path: &Path, limits: Limits) -> Vec<Item> {
    let sources = Sources::find(&[path.to_owned()]);
    let mut items = Vec::new();
    for source in &sources.all {
        let mut visit = |item| {
            items.push(item);
            Ok(())
        };
        source.each_after(0, limits, &JsonColumns::default(), &mut visit).expect("a source");
    }
    items
}

/// Returns what a reader visits: the captures, and the places and reasons of what it cannot read.
pub(super) fn collected(
    read: impl FnOnce(&mut Visit<'_>) -> Result<(), ArchiveError>,
) -> (Vec<Capture>, Vec<(String, String)>) {
    let (mut captures, mut problems) = (Vec::new(), Vec::new());
    let mut visit = |item| {
        match item {
            Item::Capture(capture) => captures.push(capture),
            Item::Unreadable { place, reason } => problems.push((place, reason.into_owned())),
        }
        Ok(())
    };
    read(&mut visit).expect("a source");
    (captures, problems)
}

/// Returns the message of a capture.
pub(super) fn body(capture: &Capture) -> String {
    let message = message_in(capture.content.clone()).expect("a message");
    String::from_utf8(message.bytes.to_vec()).expect("text")
}

fn captures(path: &Path) -> Vec<Capture> {
    let capture = |item| match item {
        Item::Capture(capture) => capture,
        Item::Unreadable { place, reason } => panic!("{place}: {reason}"),
    };
    items(path, Limits::default()).into_iter().map(capture).collect()
}

fn reasons(path: &Path, limits: Limits) -> Vec<String> {
    let reason = |item| match item {
        Item::Unreadable { reason, .. } => Some(reason.into_owned()),
        Item::Capture(_) => None,
    };
    items(path, limits).into_iter().filter_map(reason).collect()
}

/// A tar archive of two senders.
fn tar_of(names: &[&str]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for name in names {
        let content = format!("<x>{name}</x>");
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, content.as_bytes()).expect("an entry");
    }
    builder.into_inner().expect("an archive")
}

#[test]
fn archives_hold_message_files_of_several_senders() {
    let folder = tempfile::tempdir().expect("a directory");
    let names = ["a/1.xml", "a/2.http", "b/1.txt", "b/notes.md"];
    let tar = tar_of(&names);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&tar).expect("gzip");
    let mut zip = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
    for name in names {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).expect("an entry");
        zip.write_all(format!("<x>{name}</x>").as_bytes()).expect("an entry");
    }
    for (name, content) in [
        ("day.tar", tar.clone()),
        ("day.tgz", gzip.finish().expect("gzip")),
        ("day.tar.zst", zstd::encode_all(&tar[..], 1).expect("zstd")),
        ("day.zip", zip.finish().expect("zip").into_inner()),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("a file");
        let captures = captures(&path);
        let places: Vec<_> = captures.iter().map(|it| it.place.rsplit_once('!').expect("an entry").1).collect();
        assert_eq!(places, names[..3], "{name}");
        assert_eq!(captures[2].content, "<x>b/1.txt</x>");
        assert_eq!((captures[0].sender == captures[1].sender, captures[1].sender == captures[2].sender), (true, false));
        // A truncated archive is one error, not the end.
        let content = std::fs::read(&path).expect("a file");
        std::fs::write(&path, &content[..content.len() / 3]).expect("a file");
        assert_eq!(reasons(&path, Limits::default()).len(), 1, "{name}");
    }
}

#[test]
fn lines_have_columns_of_any_name_and_moments_of_several_forms() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("log.ndjson");
    let text = concat!(
        r#"{"body": "<x/>", "time": "1970-01-01T00:00:01Z", "sender": "cpe", "direction": "Response", "status": 500}"#,
        "\n\n",
        r#"{"body": "POST / HTTP/1.1\r\n\r\n<x/>", "time": 2.5, "operation": "Order"}"#,
        "\n",
        r#"{"body": "<x/>", "time": 1700000000000}"#,
        "\n[1]\n{\"text\": 1}",
    );
    std::fs::write(&path, text).expect("a file");
    let all = items(&path, Limits::default());
    let [
        Item::Capture(one),
        Item::Capture(two),
        Item::Capture(three),
        Item::Unreadable { place, .. },
        Item::Unreadable { reason, .. },
    ] = &all[..]
    else {
        panic!("{all:?}")
    };
    assert_eq!(
        (one.time, one.sender.as_deref(), one.direction, one.status),
        (Some(1_000_000), Some("cpe"), Some(Direction::Response), Some(500))
    );
    assert_eq!(
        (two.time, two.operation.as_deref(), two.direction),
        (Some(2_500_000), Some("Order"), Some(Direction::Request))
    );
    assert_eq!(three.time, Some(1_700_000_000_000_000));
    assert!(place.ends_with("log.ndjson:5") && reason == "no text in the property body", "{place} {reason}");
}

#[test]
fn har_files_hold_requests_and_their_answers() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("day.har");
    let har = serde_json::json!({ "log": { "version": "1.2", "creator": {}, "entries": [
        { "startedDateTime": "1970-01-01T00:00:01Z", "time": 500,
          "request": { "method": "POST", "url": "https://shop.example/a?b", "postData": { "mimeType": "text/xml", "text": "<x/>" } },
          "response": { "status": 200, "content": { "text": "PHkvPg==", "encoding": "base64" } } },
        { "request": { "url": "https://shop.example/" }, "response": { "status": 304 } },
    ] } });
    std::fs::write(&path, har.to_string()).expect("a file");
    let captures = captures(&path);
    assert_eq!(captures.len(), 2);
    assert_eq!(
        (captures[0].content.as_ref(), captures[0].time, captures[0].is_answer),
        (&b"<x/>"[..], Some(1_000_000), false)
    );
    assert_eq!(
        (captures[1].content.as_ref(), captures[1].time, captures[1].is_answer),
        (&b"<y/>"[..], Some(1_500_000), true)
    );
    assert_eq!((captures[1].sender.as_deref(), captures[1].status), (Some("shop.example"), Some(200)));
    std::fs::write(&path, &har.to_string()[..200]).expect("a file");
    assert_eq!(reasons(&path, Limits::default()).len(), 1);
    std::fs::write(&path, "{}").expect("a file");
    assert!(reasons(&path, Limits::default())[0].contains("no property log"));
}

#[test]
fn recordings_are_read_by_their_exchanges() {
    let folder = tempfile::tempdir().expect("a directory");
    let root = folder.path().join("tape");
    std::fs::create_dir_all(root.join("requests")).expect("a directory");
    std::fs::write(root.join("requests/0001-Order.http"), "POST / HTTP/1.1\r\n\r\n<x/>").expect("a file");
    std::fs::write(root.join("Order-0001.xml"), "<y/>").expect("a file");
    let line = |request: &str, response: &str| {
        serde_json::json!({
            "number": 1, "time": "1970-01-01T00:00:01Z", "ms": 0.5, "operation": "Order", "status": 200,
            "method": "POST", "path": "/", "request": request, "response": response, "headers": [],
        })
    };
    let lines = [
        line("requests/0001-Order.http", "Order-0001.xml").to_string(),
        line("other/0002-GET.request", "other/0002-GET.response").to_string(),
        "{\"number\":".to_owned(),
    ];
    std::fs::write(root.join(RECORDING), lines.join("\n")).expect("a file");
    // The files of a recording are not a directory of messages as well.
    let captures = captures(folder.path());
    assert_eq!(captures.len(), 2);
    assert_eq!((captures[0].direction, captures[0].time), (Some(Direction::Request), Some(1_000_000)));
    assert_eq!((captures[1].status, captures[1].is_answer, captures[1].time), (Some(200), true, Some(1_000_500)));
    assert_eq!(captures[1].operation.as_deref(), Some("Order"));
    let outside = format!("{}\n", line("requests/0001-Order.http", "../secret.xml"));
    std::fs::write(root.join(RECORDING), outside).expect("a file");
    assert_eq!(reasons(folder.path(), Limits::default()), ["a file outside of the recording"]);
}

#[test]
fn messages_that_are_too_large_are_at_fault_wherever_they_are() {
    let folder = tempfile::tempdir().expect("a directory");
    let large = format!("<x>{}</x>", "y".repeat(100));
    std::fs::write(folder.path().join("a.xml"), &large).expect("a file");
    std::fs::write(folder.path().join("a.jsonl"), serde_json::json!({ "body": large }).to_string()).expect("a file");
    let har = serde_json::json!({ "log": { "entries": [
        { "request": { "postData": { "text": large } }, "response": {} },
    ] } });
    std::fs::write(folder.path().join("a.har"), har.to_string()).expect("a file");
    let reasons = reasons(folder.path(), Limits { message: 50 });
    assert_eq!(reasons.len(), 3, "{reasons:?}");
    assert!(reasons.iter().all(|reason| reason.contains("more than 50 bytes")), "{reasons:?}");
}

/// Whatever a file holds, reading it ends, and what is wrong is an item.
#[test]
fn damaged_files_are_read_to_an_end() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut zip = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
    zip.start_file("a.xml", zip::write::SimpleFileOptions::default()).expect("an entry");
    zip.write_all(b"<x/>").expect("an entry");
    let entry =
        r#"{"request": {"postData": {"text": "<x/>"}}, "response": {"status": 1, "content": {"text": "<y/>"}}}"#;
    let har = format!(r#"{{"log": {{"entries": [{entry}, {entry}]}}}}"#);
    let files = [
        ("day.tar", tar_of(&["a.xml", "b.xml"])),
        ("day.tar.zst", zstd::encode_all(&tar_of(&["a.xml"])[..], 1).expect("zstd")),
        ("day.zip", zip.finish().expect("zip").into_inner()),
        ("day.har", har.into_bytes()),
        ("day.jsonl", br#"{"body": "<x/>", "time": 1, "status": "200", "direction": "request"}"#.repeat(3)),
    ];
    let mut chance = Chance::seeded(7);
    for (name, content) in files {
        let path = folder.path().join(name);
        for _ in 0..200 {
            let mut content = content.clone();
            for _ in 0..1 + chance.below(4) {
                let at = chance.below(content.len());
                content[at] = chance.below(256) as u8;
            }
            content.truncate(content.len() - chance.below(content.len() / 4));
            std::fs::write(&path, content).expect("a file");
            assert!(items(&path, Limits { message: 1 << 20 }).len() < 10, "{name}");
        }
    }
}

/// A visitor that has failed may be in any state.
#[test]
fn nothing_is_visited_after_an_error() {
    let folder = tempfile::tempdir().expect("a directory");
    let captures = deltasoap_test_support::files::in_repository("testdata/captures");
    let mut paths = ["shop.pcap", "short.pcap", "shop.mitm"].map(|name| captures.join(name)).to_vec();
    let entry = r#"{"request": {"postData": {"text": "<x/>"}}, "response": {"content": {"text": "<y/>"}}}"#;
    for (name, content) in [
        ("day.har", format!(r#"{{"log": {{"entries": [{entry}, {entry}]}}}}"#).into_bytes()),
        ("day.tar", tar_of(&["a.xml", "b.xml"])),
        ("day.jsonl", b"{\"body\": \"<x/>\"}\n[]\n{}\n".to_vec()),
    ] {
        paths.push(folder.path().join(name));
        std::fs::write(&paths[paths.len() - 1], content).expect("a file");
    }
    for source in &Sources::find(&paths).all {
        let visits = |most: usize| {
            let mut visits = 0;
            let mut visit = |_| {
                visits += 1;
                if visits == most { Err(ArchiveError::Ended) } else { Ok(()) }
            };
            let read = source.each_after(0, Limits::default(), &JsonColumns::default(), &mut visit);
            assert_eq!(read.is_err(), visits >= most && most > 0, "{}", source.name());
            visits
        };
        let all = visits(0);
        assert!(all > 1, "{}", source.name());
        for most in 1..=all {
            assert_eq!(visits(most), most, "{}", source.name());
        }
    }
}
