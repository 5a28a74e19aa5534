//! Packages that other toolkits have made, and packages from their own tests: each is read, or
//! refused for a reason.
//!
//! `testdata/multipart/INDEX.tsv` contains the expected result of each file. A file that begins
//! with headers has its media type there; for others the boundary is that of the first boundary
//! line.

use bytes::Bytes;
use deltasoap::attachments::{AttachmentLimits, Attachments};
use deltasoap::engine::decode::{Cursor, DecodeOptions, Decoder, Step};
use deltasoap::engine::{Content, ErrorKind, Typed};
use deltasoap::soap::{EnvelopeReader, Head, Receiver};
use deltasoap::types::{Node, PartUri};
use deltasoap_test_support::files;
use futures_util::stream;
use http_body::Frame;
use http_body_util::StreamBody;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::path::PathBuf;

/// Accepts any message, also with several elements in its body.
#[derive(Default)]
struct Any(Vec<Node>);

impl Receiver for Any {
    fn open_body(&mut self, _: &Head, _: &str, _: &str) -> Result<(), ErrorKind> {
        self.0.push(Node::default());
        Ok(())
    }

    fn takes_several(&self) -> bool {
        true
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        Content::decode(self.0.last_mut().expect("an open element"), cursor, Node::view())
    }
}

fn folder() -> PathBuf {
    files::in_repository("testdata/multipart")
}

/// Splits a file into media type and package.
fn package(file: &[u8]) -> (String, Bytes) {
    let head = String::from_utf8_lossy(&file[..file.len().min(2000)]).replace("\r\n", "\n");
    if head.starts_with("POST ") || head.starts_with("MIME-Version") {
        let unfolded = head.replace("\n ", " ").replace("\n\t", " ");
        let line = unfolded.lines().find_map(|line| line.strip_prefix("Content-Type: ")).expect("a media type");
        let end = ["\r\n\r\n", "\n\n"].map(|end| find(file, end.as_bytes()).map(|at| at + end.len()));
        let start = end.into_iter().flatten().min().expect("an empty line");
        return (line.to_owned(), Bytes::copy_from_slice(&file[start..]));
    }
    let boundary = head.lines().find_map(|line| line.strip_prefix("--")).expect("a boundary");
    (format!("multipart/related; boundary=\"{boundary}\""), Bytes::copy_from_slice(file))
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

/// Returns the result for a package as the index has it: the body's element, whether its references
/// point to parts, the parts.
async fn outcome(media: &str, package: Bytes, size: usize) -> Result<String, String> {
    let chunks: Vec<_> = (0..package.len()).step_by(size).collect();
    let chunks = chunks.into_iter().map(move |at| package.slice(at..package.len().min(at.saturating_add(size))));
    let body = StreamBody::new(stream::iter(chunks.map(|chunk| Ok::<_, Infallible>(Frame::data(chunk)))));
    let opened = Attachments::open(media, body, AttachmentLimits::default());
    let mut attachments = opened.map_err(|error| error.kind().to_string())?;
    let body = read_root(&mut attachments).await?;
    attachments.keep().await.map_err(|error| error.kind().to_string())?;
    let mut references = Vec::new();
    body.iter().for_each(|node| refer(node, &mut references));
    let missing: Vec<_> =
        references.iter().filter(|uri| !attachments.kept().any(|headers| headers.is_at(uri))).collect();
    let result = missing.first().map_or_else(|| references.len().to_string(), |uri| format!("no part {uri}"));
    let mut parts = Vec::new();
    while let Some(part) = attachments.next().await.map_err(|error| error.kind().to_string())? {
        let id = part.content_id().unwrap_or("-").to_owned();
        parts.push(format!("{id}={}", part.bytes().await.map_err(|error| error.kind().to_string())?.len()));
    }
    Ok(format!("{}\t{result}\t{}", body[0].name.local, parts.join(" ")))
}

async fn read_root(attachments: &mut Attachments) -> Result<Vec<Node>, String> {
    let mut root = attachments.root().await.map_err(|error| error.kind().to_string())?;
    let (mut decoder, mut reader) = (Decoder::new(DecodeOptions::default()), EnvelopeReader::new(Any::default()));
    while let Some(chunk) = root.chunk().await.map_err(|error| error.kind().to_string())? {
        decoder.push_bytes(&mut reader, chunk).map_err(|error| error.kind().to_string())?;
    }
    decoder.finish(&mut reader).map_err(|error| error.kind().to_string())?;
    Ok(reader.into_parts().1.0)
}

/// Collects all references: in `href`, and as text (WS-I Attachments Profile 1.0, `swaRef`).
fn refer(node: &Node, references: &mut Vec<PartUri>) {
    references.extend(node.attribute("", "href").map(PartUri::new));
    let text = node.text();
    if text.starts_with("cid:") {
        references.push(PartUri::new(text));
    }
    node.elements().for_each(|child| refer(child, references));
}

#[tokio::test]
async fn every_package_is_read_or_refused_for_a_reason() {
    let index = std::fs::read_to_string(folder().join("INDEX.tsv")).expect("an index");
    let mut unlisted: BTreeSet<_> = files::all_below(&folder()).into_iter().collect();
    unlisted.retain(|path| !["README.md", "INDEX.tsv"].iter().any(|name| path.ends_with(name)));
    let mut wrong = Vec::new();
    for line in index.lines().skip(1) {
        let (name, rest) = line.split_once('\t').expect("a path");
        let (expected, _) = rest.rsplit_once('\t').expect("a remark");
        let path = folder().join(name);
        assert!(unlisted.remove(&path), "{name} is not there, or twice in the index");
        let (media, package) = package(&std::fs::read(&path).expect("a file"));
        for size in [1, 61, 4096, usize::MAX] {
            let found = match outcome(&media, package.clone(), size).await {
                Ok(found) => format!("read\t{found}"),
                Err(reason) => format!("refused\t{reason}\t\t"),
            };
            if found != expected {
                wrong.push(format!("{name}\t{found}"));
                break;
            }
        }
    }
    assert!(unlisted.is_empty(), "not in the index: {unlisted:?}");
    assert!(wrong.is_empty(), "not as the index says:\n{}", wrong.join("\n"));
}
