//! Messages of several alternating kinds.

use crate::edits;
use crate::streams::Stream;
use deltasoap_core::schema::{Builtin, ComplexElement, Compositor, Element, ElementRef, Field, Schema, SimpleElement};
use deltasoap_core::{DecodeOptions, Differential, DifferentialStats, QName, Value};
use std::fmt::Write;

/// A list of strings, and a number; or a tree.
fn schema(is_tree: bool) -> (Schema, ElementRef) {
    let mut schema = Schema::new();
    let simple = SimpleElement {
        name: Builtin::String.name(),
        base: Builtin::String,
        enumeration: Default::default(),
        default: None,
        packed: None,
    };
    let item = schema.add(if is_tree { Element::Any } else { Element::Simple(simple) });
    let field =
        |name, element, max| Field { name: QName::new("", name), element, min: 0, max, nillable: false, inline: false };
    let root = schema.add(Element::Complex(ComplexElement {
        name: QName::new("urn:t", "T"),
        compositor: Compositor::Sequence,
        fields: vec![field("x", item, None), field("y", item, Some(1))].into(),
        attributes: Default::default(),
        text: None,
        open: false,
        any_attribute: false,
        choices: Default::default(),
    }));
    (schema, root)
}

/// The `version`-th message of a kind: one text in 50 differs in each.
fn message(kind: usize, version: usize, len: usize) -> String {
    let mut out = String::from("<r>");
    for item in 0..len {
        let changes = item % 50 == 7;
        let _ = write!(out, "<x>{kind}-{item}-{}</x>", if changes { version } else { 0 });
    }
    out + "<y>end</y></r>"
}

/// Reads messages of these kinds in order. The time that messages take is simulated.
fn read(kinds: impl Iterator<Item = usize>, len: usize, is_tree: bool) -> DifferentialStats {
    read_of(kinds, |_| len, is_tree)
}

/// Like [`read`], with a length for each kind.
fn read_of(kinds: impl Iterator<Item = usize>, len: impl Fn(usize) -> usize, is_tree: bool) -> DifferentialStats {
    let (schema, root) = schema(is_tree);
    let options = DecodeOptions { differential: Differential::default(), ..Default::default() };
    let mut stream = Stream::<Value>::of_messages(schema.view(root), options);
    stream.set_clock(|bytes, was_compared| std::time::Duration::from_nanos(bytes * if was_compared { 1 } else { 10 }));
    for (version, kind) in kinds.enumerate() {
        let chunk = if version % 7 == 6 { 100 } else { usize::MAX };
        let message = edits::enveloped(&message(kind, version, len(kind)), "");
        stream.next(message.as_bytes(), chunk).unwrap();
    }
    stream.stats()
}

fn share(stats: &DifferentialStats) -> f64 {
    stats.fast_bytes as f64 / (stats.fast_bytes + stats.regular_bytes) as f64
}

#[test]
fn each_kind_is_compared_with_its_own() {
    for is_tree in [false, true] {
        for kinds in [2, 3, 4] {
            let stats = read((0..200).map(|message| message % kinds), 400, is_tree);
            assert!(share(&stats) > 0.8, "{kinds} kinds: {stats:?}");
        }
    }
}

#[test]
fn in_no_order() {
    let stats = read((0..200_usize).map(|message| message * message % 7 % 3), 400, false);
    assert!(share(&stats) > 0.8, "{stats:?}");
}

#[test]
fn many_kinds() {
    // Each kind is seen once, and kept when it occurs again.
    let stats = read((0..500).map(|message| message % 50), 400, false);
    assert!(share(&stats) > 0.7, "{stats:?}");
}

/// Whether comparing pays depends on the current message, not on the previous one.
#[test]
fn large_messages_between_small_ones() {
    for is_tree in [false, true] {
        let stats = read_of((0..60).map(|at| at % 2), |kind| if kind == 0 { 400 } else { 3 }, is_tree);
        assert!(share(&stats) > 0.5, "{stats:?}");
    }
}

/// Mending of small messages of dynamic values, successful or not, does not affect the large ones.
#[test]
fn large_messages_between_small_ones_that_are_never_similar() {
    for every in [2, 3] {
        let kinds = (0..3000).map(|at| if at % every == 0 { 0 } else { 1000 + at });
        let stats = read_of(kinds, |kind| if kind == 0 { 1000 } else { 40 }, false);
        assert!(share(&stats) > 0.7, "{every}: {stats:?}");
    }
}

/// The kept messages stay, so that most are found again when their turn comes.
#[test]
fn more_kinds_than_can_be_kept() {
    let (kinds, len) = (60, 2600);
    let stats = read((0..8 * kinds).map(|at| at % kinds), len, false);
    assert!(share(&stats) > 0.4, "{stats:?}");
}

/// A stream without kinds is searched for them from time to time, and found to have some once it
/// does.
#[test]
fn kinds_that_come_late_are_found() {
    let stats = read((0..3000).map(|message| if message < 1000 { message } else { message % 16 }), 400, false);
    assert!(share(&stats) > 0.3, "{stats:?}");
}

#[test]
fn messages_of_no_kind_are_read_plainly() {
    let stats = read(0..700, 1000, false);
    assert!(stats.checkpoints < 40_000, "few are noted: {stats:?}");
    assert!(stats.compared < 20 && stats.memory < 1 << 20, "{stats:?}");
}

#[test]
fn small_messages_are_mended_in_turn() {
    // One in seven arrives in chunks, and is not mended; too many texts differ between kinds.
    let stats = read((0..100).map(|message| message % 2), 25, true);
    assert!(stats.mended > 65, "{stats:?}");
}

/// For two kinds, the memory held is at most five messages' worth. With one kind it depends on
/// whether a buffer waits for the next message.
#[test]
fn one_kind_keeps_one_message() {
    let [one, two] = [1, 2].map(|kinds| read((0..100).map(|message| message % kinds), 400, false).memory);
    assert!(one < 14_500 && two > one && two < 5 * 14_007, "{one} {two}");
}
