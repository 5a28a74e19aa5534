//! A package in one piece, byte by byte, and in chunks of another size: the parts, or the refusal,
//! must be the same. The limits are small enough for a fuzzer to reach.
//!
//! The first byte of an input selects DIME or MIME and the chunk length; the rest is the package,
//! with the boundary `b`.

#![no_main]

use bytes::Bytes;
use deltasoap::attachments::{AttachmentErrorKind, AttachmentLimits, Attachments};
use futures_util::FutureExt;
use http_body::Frame;
use http_body_util::StreamBody;
use libfuzzer_sys::fuzz_target;
use std::convert::Infallible;

/// Headers and bytes of each part, and the error after them.
type Outcome = (Vec<(String, Vec<u8>)>, Option<String>);

const LIMITS: AttachmentLimits = AttachmentLimits {
    parts: 5,
    headers: 200,
    part: 2000,
    total: u64::MAX,
    whole: 3000,
    memory: usize::MAX,
    spilled: 0,
};

fuzz_target!(|input: &[u8]| {
    let Some((&control, package)) = input.split_first() else { return };
    let media = if control % 2 == 1 { "application/dime" } else { "multipart/related; boundary=b" };
    let whole = outcome(media, package, usize::MAX);
    assert_eq!(outcome(media, package, 1), whole, "byte by byte");
    assert_eq!(outcome(media, package, 2 + usize::from(control / 2)), whole, "in chunks");
});

fn outcome(media: &str, package: &[u8], size: usize) -> Outcome {
    let chunks: Vec<_> = package.chunks(size).map(|chunk| Ok::<_, Infallible>(frame(chunk))).collect();
    let body = StreamBody::new(futures_util::stream::iter(chunks));
    let mut attachments = Attachments::open(media, body, LIMITS).expect("a package");
    let mut parts = Vec::new();
    // Nothing has to be awaited: all bytes are in memory, and nothing goes to files.
    let refusal = read(&mut attachments, &mut parts).now_or_never().expect("an end");
    (parts, refusal)
}

fn frame(chunk: &[u8]) -> Frame<Bytes> {
    Frame::data(Bytes::copy_from_slice(chunk))
}

/// Reads all parts, and returns the error. The position at which a byte limit takes effect depends
/// on the chunks, so only complete parts are compared.
async fn read(attachments: &mut Attachments, parts: &mut Vec<(String, Vec<u8>)>) -> Option<String> {
    loop {
        let part = match attachments.next().await {
            Ok(Some(part)) => part,
            Ok(None) => return None,
            Err(error) => return Some(comparable(error.kind())),
        };
        let headers = format!("{:?}", part.headers());
        match part.bytes().await {
            Ok(bytes) => {
                assert!(bytes.len() as u64 <= LIMITS.part);
                parts.push((headers, bytes.to_vec()));
            }
            Err(error) => return Some(comparable(error.kind())),
        }
    }
}

/// If one of two errors is a limit, the chunks can decide which is found first.
fn comparable(kind: &AttachmentErrorKind) -> String {
    match kind {
        AttachmentErrorKind::Limit { .. } | AttachmentErrorKind::Ended(_) | AttachmentErrorKind::Malformed(_) => {
            "refused".to_owned()
        }
        other => other.to_string(),
    }
}
