//! Differential decoding never changes a result: streams of messages, read with a memory and one by
//! one.

use crate::streams::{self, Sources, Stream};
use deltasoap_checkpoints::{Bases, Matcher, Portions, State};
use deltasoap_core::Packed;
use deltasoap_core::lexical::{Base64, Hex};
use deltasoap_core::schema::View;
use deltasoap_core::{Content, DecodeOptions, Differential, DifferentialStats, SoapArray, Typed};
use proptest::prelude::*;
use std::fmt::Debug;

/// The policies that every test must pass: the default, and those of the papers with small and
/// large portions.
fn everything() -> impl Iterator<Item = Differential> {
    let papers = [1, 7, 32, 200].into_iter().flat_map(streams::all);
    let first = [7, 32].into_iter().flat_map(first_bases);
    let refined = streams::all(16).map(|options| Differential {
        adaptive: true,
        ..streams::changed(options, |it| Portions { probe: true, tune: true, ..it })
    });
    std::iter::once(Differential::default()).chain(papers).chain(first).chain(refined)
}

/// Lightweight checkpoints with bases at the first place.
fn first_bases(portion: u32) -> impl Iterator<Item = Differential> {
    let all =
        streams::all(portion).map(|options| streams::changed(options, |it| Portions { bases: Bases::First, ..it }));
    all.filter(|options| {
        Portions::from_checkpoints(options.checkpoints).is_some_and(|it| it.state == State::Lightweight)
    })
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

/// Arrays in which a value changes, gets longer or shorter, items are inserted and removed, and
/// some of which are invalid.
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

/// Returns the counters of a stream read with the papers' policies, which must add up.
fn counted(documents: &[&str], options: Differential) -> DifferentialStats {
    let stats = read_all::<SoapArray<f64>>(SoapArray::<f64>::view(), documents, options, usize::MAX);
    let content = |document: &&str| (document.len() - document.find('>').map_or(0, |tag| tag + 1)) as u64;
    let bytes: u64 = documents.iter().map(content).sum();
    assert_eq!(stats.fast_bytes + stats.regular_bytes, bytes, "{options:?}");
    stats
}

#[test]
fn equal_messages_are_skipped_as_a_whole() {
    let document = many(40, |_| None);
    for options in streams::all(32) {
        let stats = counted(&[&document, &document, &document], options);
        assert_eq!((stats.compared, stats.to_regular, stats.to_fast), (2, 0, 0), "{options:?}");
        assert!(stats.fast_bytes == 2 * stats.regular_bytes && stats.checkpoints >= 20, "{options:?} {stats:?}");
        assert!(stats.memory > 0, "{options:?}");
    }
}

#[test]
fn one_changed_value_costs_a_few_portions() {
    let (one, other) = (many(100, |_| None), many(100, |i| (i == 50).then_some("3.5")));
    for options in streams::all(32) {
        let stats = counted(&[&one, &one, &other, &other], options);
        assert_eq!((stats.compared, stats.to_regular, stats.to_fast), (3, 1, 1), "{options:?}");
        assert!(stats.regular_bytes < one.len() as u64 + 250, "{options:?} {stats:?}");
    }
}

/// Before the array is entered, the compared state contains nothing of it.
#[test]
fn a_changed_first_value_costs_a_few_portions() {
    let (one, other) = (many(100, |_| None), many(100, |i| (i == 0).then_some("3.5")));
    for options in streams::all(32) {
        let stats = counted(&[&one, &one, &other, &other], options);
        assert_eq!((stats.compared, stats.to_fast), (3, 1), "{options:?}");
        assert!(stats.regular_bytes < one.len() as u64 + 250, "{options:?} {stats:?}");
    }
}

/// An array of doubles of about 23 characters.
fn hard_doubles(count: usize) -> String {
    let value = |i: usize| format!("{:e}", (i as f64 + 0.1).sin() * 1e-100);
    let values: Vec<String> = (0..count).map(value).collect();
    doubles(&values.iter().map(String::as_str).collect::<Vec<_>>())
}

/// A lightweight checkpoint takes 3 % of the memory of a full one in *Lightweight Checkpointing*,
/// section 5.4, and 10 % of that of a differential one.
#[test]
fn checkpoints_are_small() {
    let document = hard_doubles(20_000);
    let most = [(State::Lightweight, 11), (State::Differential, 128), (State::Full, 300)];
    let [lightweight, differential, full] = most.map(|(state, most)| {
        let portions = Portions { state, matcher: Matcher::Crc32, size: 32, ..Portions::default() };
        let options = Differential { checkpoints: portions.into(), adaptive: false };
        let mut stream = Stream::<SoapArray<f64>>::new(
            SoapArray::<f64>::view(),
            DecodeOptions { differential: options, ..DecodeOptions::default() },
        );
        let _ = stream.next(document.as_bytes(), usize::MAX);
        let stats = stream.stats();
        let each = stats.memory as f64 / stats.checkpoints as f64;
        println!("{state:?}: {each} bytes each of {}", stats.checkpoints);
        // In addition to the checkpoints there are the machine, a base, and spare capacity.
        assert!(each < f64::from(most) + 0.5, "{state:?}: {each} bytes each of {}", stats.checkpoints);
        stats.memory as f64
    });
    assert!(lightweight < 0.045 * full && lightweight < 0.15 * differential, "{lightweight} {differential} {full}");
}

/// Hard doubles of which a quarter, in twenty places, has new values in each message, none of which
/// occurred before.
fn fresh(message: usize) -> String {
    const COUNT: usize = 4000;
    const PLACE: usize = 200;
    let value = |i: usize| {
        let is_changed = (i % PLACE) * 8 / PLACE == 3 || (i % PLACE) * 8 / PLACE == 4;
        let seed = if is_changed { message * COUNT + i } else { i };
        format!("{:e}", (seed as f64 + 0.1).sin() * 1e-100)
    };
    let values: Vec<String> = (0..COUNT).map(value).collect();
    doubles(&values.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn checkpoints_and_switches_stay_level_over_a_hundred_messages() {
    for state in State::ALL {
        let portions = Portions { state, matcher: Matcher::Crc32, size: 512, ..Portions::default() };
        let options = Differential { checkpoints: portions.into(), adaptive: false };
        let options = DecodeOptions { differential: options, ..DecodeOptions::default() };
        let mut stream = Stream::<SoapArray<f64>>::new(SoapArray::<f64>::view(), options);
        let messages: Vec<DifferentialStats> = (0..100)
            .map(|message| {
                let before = stream.stats();
                let _ = stream.next(fresh(message).as_bytes(), 10_000);
                stream.stats() - before
            })
            .collect();
        let first = messages[0];
        for (index, message) in messages.iter().enumerate().skip(1) {
            assert!(
                message.memory.abs_diff(first.memory) <= first.memory / 20,
                "{state:?} {index}: {message:?}, {first:?}"
            );
            assert_eq!((message.to_regular, message.to_fast), (20, 20), "{state:?} {index}: {message:?}");
        }
        let futile = |messages: &[DifferentialStats]| messages.iter().map(|message| message.futile).sum::<u64>();
        let (start, end) = (futile(&messages[1..21]), futile(&messages[80..]));
        assert!(
            start > 0 && end * 10 <= start * 11,
            "{state:?}: failed attempts, {start} at the start and {end} at the end"
        );
    }
}

#[test]
fn memory_stays_level_where_all_values_change() {
    let all = |message: usize| {
        let value = |i: usize| format!("{:e}", ((message * 500 + i) as f64 + 0.1).sin() * 1e-100);
        doubles(&(0..500).map(value).collect::<Vec<_>>().iter().map(String::as_str).collect::<Vec<_>>())
    };
    let documents: Vec<String> = (0..10).map(all).collect();
    let cases = (32..=128).step_by(4).flat_map(|size| State::ALL.map(|state| (size, state)));
    for ((size, state), bases) in cases.flat_map(|case| [Bases::First, Bases::Interrupts].map(|bases| (case, bases))) {
        let portions = Portions { state, matcher: Matcher::Crc32, size, bases, ..Portions::default() };
        let options = Differential { checkpoints: portions.into(), adaptive: false };
        let options = DecodeOptions { differential: options, ..DecodeOptions::default() };
        let mut stream = Stream::<SoapArray<f64>>::new(SoapArray::<f64>::view(), options);
        let memory: Vec<u64> = documents
            .iter()
            .map(|document| {
                let _ = stream.next(document.as_bytes(), usize::MAX);
                stream.stats().memory
            })
            .collect();
        // A message may add a group; portions of about an item's length eventually begin at every
        // item.
        let is_level = memory[9] <= memory[1] + memory[1] / 10 + 400 && memory[9] <= memory[0] + memory[0] / 4 + 400;
        assert!(is_level, "{state:?} every {size} bytes, {bases:?}: {memory:?}");
    }
}

#[test]
fn arrays_that_grow_and_shrink_are_met_again() {
    let (short, long) = (many(100, |_| None), many(120, |_| None));
    let (short, long) = (short.replace("100", "1"), long.replace("120", "1"));
    for options in streams::all(32) {
        let stats = counted(&[&short, &long, &short], options);
        assert!(stats.fast_bytes as usize > 3 * short.len() / 2, "{options:?} {stats:?}");
    }
}

#[test]
fn behind_a_bad_message_regular_mode_is_forced() {
    let (good, bad) = (many(100, |_| None), many(100, |i| (i == 50).then_some("x")));
    for options in streams::all(32) {
        let mut stream = Stream::<SoapArray<f64>>::new(
            SoapArray::<f64>::view(),
            DecodeOptions { differential: options, ..DecodeOptions::default() },
        );
        let results = [&good, &bad, &good, &good].map(|document| stream.next(document.as_bytes(), 100).is_ok());
        assert_eq!(results, [true, false, true, true]);
        let (stats, half) = (stream.stats(), good.len() as u64 / 2);
        assert_eq!((stats.to_regular, stats.to_fast), (2, 0), "{options:?}");
        assert!(
            stats.fast_bytes > 3 * half + half / 2 && stats.fast_bytes < 4 * half + half / 2,
            "{options:?} {stats:?}"
        );
    }
}

/// Text that is longer than any portion: checkpoints are inside it, and the value provides what
/// came before.
#[test]
fn long_texts_are_taken_up_in_the_middle() {
    let text = |at: usize, c: char| {
        let text: String = (0..4000).map(|i| if i == at { c } else { char::from(b'A' + (i % 25) as u8) }).collect();
        format!("<r><item>QUJDREVG</item><item>{text}</item><item>QUJDREVG</item></r>")
    };
    let documents =
        [text(4000, ' '), text(4000, ' '), text(3000, 'Z'), text(3000, 'Z'), text(3001, '?'), text(10, 'x')];
    let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
    for options in [3, 32, 300].into_iter().flat_map(streams::all) {
        for chunk in [usize::MAX, 1000, 7] {
            let stats = read_all::<SoapArray<Base64>>(SoapArray::<Base64>::view(), &documents, options, chunk);
            read_all::<SoapArray<String>>(SoapArray::<String>::view(), &documents, options, chunk);
            let packed =
                read_all::<SoapArray<Packed<i16>>>(SoapArray::<Packed<i16>>::view(), &documents, options, chunk);
            read_all::<SoapArray<Hex>>(SoapArray::<Hex>::view(), &documents, options, chunk);
            for stats in [stats, packed] {
                assert!(stats.fast_bytes > 4000 + 2600 + 4000 + 2600, "{options:?} {stats:?}");
            }
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

/// As many cases as `PROPTEST_CASES` specifies, or few: each one is read in sixteen ways.
fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    let is_set = std::env::var_os("PROPTEST_CASES").is_some();
    ProptestConfig { cases: if is_set { default.cases } else { 64 }, ..default }
}

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..most)
}

proptest! {
    #![proptest_config(config())]

    /// Few different values, so that items equal others by chance.
    #[test]
    fn random_arrays(
        arrays in prop::collection::vec(prop::collection::vec(0_u8..12, 0..40), 2..8),
        chunk in prop::sample::select(vec![usize::MAX, 1, 10, 61]),
    ) {
        let document = |array: &Vec<u8>| {
            let items: String = array.iter().map(|value| format!("<item>{value}</item>")).collect();
            format!("<r>{items}</r>")
        };
        let documents: Vec<String> = arrays.iter().map(document).collect();
        let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
        read_all::<SoapArray<f64>>(SoapArray::<f64>::view(), &documents, exact(), chunk);
    }

    #[test]
    fn random_streams_by_portions(
        schema in bytes(60),
        value in bytes(400),
        edits in bytes(80),
        wording in bytes(200),
        chunks in bytes(24),
        portion in 1_u32..100,
        refinements in bytes(16),
    ) {
        let sources = Sources { schema: &schema, value: &value, edits: &edits, wording: &wording, chunks: &chunks };
        streams::check(&sources, streams::refined(portion, &refinements));
    }

    #[test]
    fn random_streams_by_leaves(
        schema in bytes(60),
        value in bytes(400),
        edits in bytes(80),
        wording in bytes(200),
        chunks in bytes(24),
    ) {
        let sources = Sources { schema: &schema, value: &value, edits: &edits, wording: &wording, chunks: &chunks };
        streams::check(&sources, [exact(), Differential::default()].into_iter());
    }
}

fn exact() -> Differential {
    Differential { adaptive: false, ..Differential::default() }
}

/// Items that are all different, so that old ones are found again slightly earlier or later.
#[test]
fn items_that_moved_by_chance() {
    let streams = [
        ["1 5 8 8 7 10 10 7 2 10 11", "1 10 2 3 11 8 4 5 10 10 11", "1 1 6 9 1 3 3 11 1 10 11"],
        ["2 0 0 1 6 1 1 1 3 0 1", "2 1 1 2 0 2 2 2 0 0 0", "2 0 0 0 0 0 0 0 0 0 1"],
    ];
    for (arrays, chunk) in streams.iter().flat_map(|arrays| [usize::MAX, 1, 10, 61].map(|chunk| (arrays, chunk))) {
        let documents = arrays.map(|array| doubles(&array.split(' ').collect::<Vec<_>>()));
        let documents = documents.each_ref().map(String::as_str);
        read_all::<SoapArray<f64>>(SoapArray::<f64>::view(), &documents, exact(), chunk);
    }
}
