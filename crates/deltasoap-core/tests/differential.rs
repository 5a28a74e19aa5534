//! Differential decoding never changes a result: streams of messages, read with a memory and one by one.

#[path = "support/edits.rs"]
mod edits;
#[path = "support/generate.rs"]
mod generate;
#[path = "support/laws.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod laws;
#[path = "support/streams.rs"]
mod streams;

use deltasoap_core::schema::View;
use deltasoap_core::{Content, DecodeOptions, Differential, DifferentialStats, SoapArray, Typed};
use proptest::prelude::*;
use std::fmt::Debug;
use streams::{Sources, Stream};

/// What every policy must get right: the default, and those of the papers with small and large portions.
fn everything() -> impl Iterator<Item = Differential> {
    let papers = [1, 7, 32, 200].into_iter().flat_map(streams::all);
    let refined = streams::all(16).map(|options| Differential { probe: true, tune: true, adaptive: true, ..options });
    std::iter::once(Differential::default()).chain(papers).chain(refined)
}

fn read_all<T: Content + Debug>(
    view: View<'_>,
    documents: &[&str],
    options: Differential,
    chunk: usize,
) -> DifferentialStats {
    let mut stream = Stream::<T>::new(view, DecodeOptions { differential: options, ..DecodeOptions::default() });
    for document in documents {
        let _ = stream.next(document.as_bytes(), chunk);
    }
    stream.stats()
}

fn doubles(values: &[&str]) -> String {
    let items: String = values.iter().map(|value| format!("<item>{value}</item>")).collect();
    format!("<r xmlns:e='http://schemas.xmlsoap.org/soap/encoding/' e:arrayType='d[{}]'>{items}</r>", values.len())
}

fn many(count: usize, changed: impl Fn(usize) -> Option<&'static str>) -> String {
    let values: Vec<String> = (0..count).map(|i| changed(i).map_or(format!("{}.25", i * 37), str::to_owned)).collect();
    doubles(&values.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Arrays in which a value changes, gets longer, shorter, in which items come and go, and which are bad now and then.
fn arrays() -> Vec<String> {
    vec![
        many(40, |_| None),
        many(40, |_| None),
        many(40, |i| (i == 20).then_some("1.5")),
        many(40, |i| (i == 20).then_some("1.5555555555555")),
        many(40, |i| (i == 39).then_some("7")),
        many(41, |_| None),
        many(35, |_| None),
        many(0, |_| None),
        many(40, |_| None),
        many(40, |i| (i == 30).then_some("no number")),
        many(40, |i| (i == 31).then_some("2")),
        many(40, |i| (i == 5).then_some("<!-- a comment -->6.5")),
        many(40, |i| (i == 6).then_some("&#x31;")),
        many(40, |i| (i == 6).then_some("&#x31;")),
        many(40, |_| None).replace("<item>", "<p:item xmlns:p='urn:p'>").replace("</item>", "</p:item>"),
        many(40, |_| None).replace("</r>", ""),
        many(40, |i| (i % 3 == 0).then_some("0.1")),
        many(40, |_| None),
    ]
}

#[test]
fn arrays_of_doubles() {
    let documents = arrays();
    let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
    for options in everything() {
        for chunk in [usize::MAX, 1, 10, 61] {
            read_all::<SoapArray<f64>>(SoapArray::<f64>::view(), &documents, options, chunk);
        }
    }
}

#[test]
fn strings_of_all_lengths() {
    let text = |n: usize| "abc d\u{e9}f&amp;".repeat(n);
    let array = |lengths: &[usize]| {
        let items: String = lengths.iter().map(|&n| format!("<item>{}</item>", text(n))).collect();
        format!("<r>{items}</r>")
    };
    let documents = [
        array(&[1, 2, 3]),
        array(&[1, 2, 3]),
        array(&[1, 200, 3]),
        array(&[1, 200, 3]),
        array(&[2, 200, 3]),
        array(&[2, 200, 4]),
        array(&[2, 201, 4]),
        array(&[2, 201, 4, 0, 0]).replace("<item></item>", "<item/>"),
        array(&[]),
        array(&[500]),
        array(&[500]).replacen("abc", "abd", 1),
        array(&[500]).replacen("abc d", "abd", 400),
    ];
    let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
    for options in everything() {
        for chunk in [usize::MAX, 1, 100] {
            read_all::<SoapArray<String>>(SoapArray::<String>::view(), &documents, options, chunk);
        }
    }
}

#[test]
fn every_portion_size() {
    let documents = [many(12, |_| None), many(12, |i| (i == 6).then_some("9")), many(13, |_| None), many(12, |_| None)];
    let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
    for options in (1..=64).flat_map(streams::all) {
        read_all::<SoapArray<f64>>(SoapArray::<f64>::view(), &documents, options, usize::MAX);
    }
}

#[test]
fn every_cut() {
    let (one, other) = (many(6, |_| None), many(6, |i| (i == 3).then_some("1234567.5")));
    for options in streams::all(20) {
        for cut in 1..one.len() {
            read_all::<SoapArray<f64>>(SoapArray::<f64>::view(), &[&one, &one, &other, &one], options, cut);
        }
    }
}

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..most)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_streams(
        schema in bytes(60),
        value in bytes(400),
        edits in bytes(80),
        wording in bytes(200),
        chunks in bytes(6),
        portion in 1_u32..100,
    ) {
        let sources = Sources { schema: &schema, value: &value, edits: &edits, wording: &wording, chunks: &chunks };
        let default = std::iter::once(Differential { adaptive: false, ..Differential::default() });
        streams::check(&sources, default.chain(streams::all(portion)));
    }
}
