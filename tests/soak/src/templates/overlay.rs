//! Lists that are encoded through one chunk, compared with the full encoding.

use super::foreign;
use deltasoap::engine::{EncodeStats, Typed};
use deltasoap::schema::Use;
use deltasoap::soap::{Envelope, Version};
use deltasoap::stream::{Overlay, Streamed, StreamedArray};
use deltasoap::{Message, Soap};
use deltasoap_test_support::Entropy;

#[derive(Debug, Clone, PartialEq, Soap)]
struct Row {
    x: i32,
    v: f64,
    name: String,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:soak", message)]
struct Numbers {
    label: String,
    item: Streamed<f64>,
    times: i32,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:soak", message)]
struct Rows {
    rows: StreamedArray<Row>,
    label: String,
}

/// Encodes lists of several types and lengths; returns their number as a count of messages.
///
/// # Panics
/// Panics if a message differs from the full encoding.
pub fn check(sending: &mut Entropy<'_>, value: &mut Entropy<'_>) -> EncodeStats {
    let mut stats = EncodeStats::default();
    loop {
        let version = [Version::Soap11, Version::Soap12][sending.below(2)];
        let encoding = [Use::Literal, Use::Encoded][sending.below(2)];
        let size = [1, 16, 100, 256, 1000, 4096, 32 << 10][sending.below(7)];
        let (held, count) = (sending.below(3), sending.below(256) * sending.below(8));
        let style = (version, encoding, size);
        stats.bytes += match sending.below(2) {
            0 => numbers(style, held, count, value),
            _ => rows(style, held, count, value),
        };
        stats.messages += 1;
        if sending.0.is_empty() {
            return stats;
        }
    }
}

type Style = (Version, Use, usize);

fn numbers(style: Style, held: usize, count: usize, value: &mut Entropy<'_>) -> u64 {
    let all: Vec<_> = (0..held + count).map(|n| number(value) / [1.0, 3.0, 8.0][n % 3]).collect();
    let body = |items: &[f64]| Numbers { label: "a & b".to_owned(), item: items.to_vec().into(), times: 2 };
    compare(style, &body(&all[..held]), all[held..].to_vec(), &body(&all))
}

fn rows(style: Style, held: usize, count: usize, value: &mut Entropy<'_>) -> u64 {
    let mut row = |n: usize| Row { x: n as i32, v: number(value), name: "<&>".repeat(value.below(9)) };
    let all: Vec<_> = (0..held + count).map(&mut row).collect();
    let body = |items: &[Row]| Rows { rows: items.to_vec().into(), label: "]]>".to_owned() };
    compare(style, &body(&all[..held]), all[held..].to_vec(), &body(&all))
}

fn number(value: &mut Entropy<'_>) -> f64 {
    (value.below(256) * 256 + value.below(256)) as f64
}

/// The chunks of an overlay must equal the full message. Returns its length.
fn compare<B: Message, T: Typed>((version, encoding, size): Style, body: &B, items: Vec<T>, full: &B) -> u64 {
    let mut overlay =
        Overlay::new(&Envelope::new(body).version(version).encoding(encoding), items, size).expect("one list");
    let mut sent = Vec::new();
    while let Some(chunk) = overlay.next_chunk().expect("plain text") {
        assert!(!chunk.is_empty(), "an empty chunk");
        sent.extend_from_slice(chunk);
    }
    let full = Envelope::new(full).version(version).encoding(encoding).to_vec().expect("plain text");
    assert_eq!(String::from_utf8_lossy(&sent), String::from_utf8_lossy(&full));
    foreign::compare(&sent, std::str::from_utf8(&full).expect("UTF-8"));
    sent.len() as u64
}
