//! Lists of bounded length, compared with the previous message: skipped items count as well.

use super::values::{field, simple};
use crate::any_order::complex;
use crate::streams::Stream;
use deltasoap_core::schema::{Builtin, Compositor, Element, ElementRef, Field, Schema};
use deltasoap_core::{Checkpoints, DecodeOptions, Differential, DifferentialStats, Tolerance, Value};
use proptest::prelude::*;

/// Kinds of items.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Number,
    /// A struct that is read in one loop if its list has no maximum.
    Row,
    /// A struct with an optional field.
    Struct,
    /// One of two elements.
    Choice,
}

const KINDS: [Kind; 4] = [Kind::Number, Kind::Row, Kind::Struct, Kind::Choice];

/// A list between two numbers.
fn root(schema: &mut Schema, kind: Kind, min: u32, max: Option<u32>) -> ElementRef {
    let int = simple(schema, Builtin::Int);
    let item = match kind {
        Kind::Number => int,
        Kind::Row => {
            complex(schema, Compositor::Sequence, vec![field("a", int, 1, Some(1)), field("b", int, 1, Some(1))])
        }
        Kind::Struct => {
            complex(schema, Compositor::Sequence, vec![field("a", int, 1, Some(1)), field("b", int, 0, Some(1))])
        }
        Kind::Choice => {
            complex(schema, Compositor::Choice, vec![field("a", int, 1, Some(1)), field("b", int, 1, Some(1))])
        }
    };
    let list = Field { inline: matches!(kind, Kind::Choice), ..field("x", item, min, max) };
    complex(schema, Compositor::Sequence, vec![field("h", int, 0, Some(1)), list, field("t", int, 0, Some(1))])
}

/// An item with a number; in some kinds, every third looks different.
fn item(kind: Kind, number: u32) -> String {
    match (kind, number % 3) {
        (Kind::Number, _) => format!("<x>{number}</x>"),
        (Kind::Struct, 0) => format!("<x><a>{number}</a></x>"),
        (Kind::Row | Kind::Struct, _) => format!("<x><a>{number}</a><b>7</b></x>"),
        (Kind::Choice, 0) => format!("<b>{number}</b>"),
        (Kind::Choice, _) => format!("<a>{number}</a>"),
    }
}

fn document(kind: Kind, numbers: &[u32], around: u32) -> String {
    let items: String = numbers.iter().map(|&number| item(kind, number)).collect();
    format!("<r><h>{around}</h>{items}<t>{around}</t></r>")
}

/// One change of a list: items are removed or inserted at a place, or a number there changes.
fn change(numbers: &mut Vec<u32>, (kind, at, count): (u8, usize, usize)) {
    let at = at % (numbers.len() + 1);
    let last = (at + count).min(numbers.len());
    match kind {
        0 => drop(numbers.drain(at..last)),
        1 => drop(numbers.splice(at..at, (0..count as u32).map(|it| 90_000 + it))),
        _ => numbers[at..last].iter_mut().for_each(|number| *number += 10),
    }
}

fn check(
    kind: Kind,
    (min, max): (u32, Option<u32>),
    length: usize,
    changes: &[Vec<(u8, usize, usize)>],
    (options, chunk): (DecodeOptions, usize),
) -> DifferentialStats {
    let mut schema = Schema::new();
    let root = root(&mut schema, kind, min, max);
    let mut stream = Stream::<Value>::new(schema.view(root), options);
    let mut numbers: Vec<u32> = (0..length as u32).map(|number| 1000 + number).collect();
    for (round, changes) in changes.iter().enumerate() {
        let before = numbers.clone();
        let is_read = stream.next(document(kind, &numbers, round as u32 / 3).as_bytes(), chunk).is_ok();
        if !is_read {
            numbers = before;
            numbers.truncate(length);
        }
        changes.iter().for_each(|&it| change(&mut numbers, it));
    }
    stream.stats()
}

const LEAF: Differential = Differential { checkpoints: Checkpoints::Leaf, ..Differential::OFF };

#[test]
fn items_that_are_skipped_count() {
    let mut stats = DifferentialStats::default();
    for kind in KINDS {
        for tolerance in [Tolerance::Strict, Tolerance::AnyOrder] {
            let options = DecodeOptions { differential: LEAF, tolerance, ..DecodeOptions::default() };
            // The same list; one more item at its beginning, which is one too many; the first items
            // removed, so that there are too few.
            let changes = [vec![], vec![(1, 0, 1)], vec![(0, 0, 1), (0, 0, 3)], vec![(1, 0, 3)], vec![]];
            stats += check(kind, (18, Some(20)), 20, &changes, (options, usize::MAX));
            stats += check(kind, (18, None), 20, &changes, (options, usize::MAX));
        }
    }
    assert!(stats.shifted > 0 && stats.restarted > 0, "{stats:?}");
}

/// What follows a full list can become an item of the list, once one of its items is removed.
#[test]
fn a_list_that_is_full_no_more_takes_what_followed_it() {
    let items = |numbers: std::ops::Range<u32>| numbers.map(|it| item(Kind::Struct, it)).collect::<String>();
    for overlap in 0..4 {
        let mut schema = Schema::new();
        let int = simple(&mut schema, Builtin::Int);
        let fields = vec![field("a", int, 1, Some(1)), field("b", int, 0, Some(1))];
        let item = complex(&mut schema, Compositor::Sequence, fields);
        let any = schema.add(Element::Any);
        let choice = complex(&mut schema, Compositor::Choice, vec![field("x", item, 1, Some(1))]);
        let list = field("x", item, 0, Some(12));
        let then = match overlap {
            0 => Some(Field { inline: true, ..field("", any, 0, None) }),
            1 => Some(Field { inline: true, ..field("c", choice, 0, None) }),
            2 => Some(field("x", item, 0, None)),
            _ => None,
        };
        let root = complex(&mut schema, Compositor::Sequence, std::iter::once(list).chain(then).collect());
        let mut elements = schema.elements().to_vec();
        if let (3, Some(Element::Complex(root))) = (overlap, elements.last_mut()) {
            root.open = true;
        }
        let schema = Schema::from(elements);
        for tolerance in [Tolerance::Strict, Tolerance::Unknown, Tolerance::AnyOrder] {
            let options = DecodeOptions { differential: LEAF, tolerance, ..DecodeOptions::default() };
            let mut stream = Stream::<Value>::new(schema.view(root), options);
            for message in [items(100..130), items(100..130), items(100..102) + &items(103..130)] {
                drop(stream.next(format!("<r>{message}</r>").as_bytes(), usize::MAX));
            }
        }
    }
}

proptest! {
    #[test]
    fn bounds_hold_in_all_streams(
        kind in prop::sample::select(&KINDS[..]),
        (min, room) in (0u32..24, prop::option::of(0u32..6)),
        slack in 0usize..4,
        changes in prop::collection::vec(prop::collection::vec((0u8..3, 0usize..30, 1usize..5), 0..4), 2..8),
        is_adaptive: bool,
        tolerance in prop::sample::select(&[Tolerance::Strict, Tolerance::Unknown, Tolerance::AnyOrder][..]),
        chunk in prop::sample::select(&[usize::MAX, 1, 7, 60, 300][..]),
    ) {
        let differential = Differential { adaptive: is_adaptive, ..LEAF };
        let options = DecodeOptions { differential, tolerance, ..DecodeOptions::default() };
        let max = room.map(|room| (min + room).max(2));
        check(kind, (min, max), min as usize + slack, &changes, (options, chunk));
    }
}
