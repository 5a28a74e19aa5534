//! Arrays that templates of different operations share: they are taken over where they are equal,
//! and no message differs because of it.

use crate::sender::{Flight, Sender};
use deltasoap::engine::{EncodeStats, MatchKind, RunPool, Template, Templates, Templating, Width};
use deltasoap::soap::Envelope;
use deltasoap::{Message, Soap, SoapArray};
use proptest::prelude::*;
use std::fmt::Debug;

#[derive(Debug, Clone, PartialEq, Soap)]
struct Reading {
    sensor: u32,
    unit: String,
    value: f64,
}

/// Shared and separate parts of two operations.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(message, namespace = "urn:s")]
struct Store {
    label: String,
    doubles: Vec<f64>,
    readings: Vec<Reading>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(message, namespace = "urn:s")]
struct Check {
    readings: Vec<Reading>,
    number: i64,
    doubles: Vec<f64>,
    more: SoapArray<f64>,
}

/// The same markup around another type.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(message, namespace = "urn:s")]
struct Round {
    doubles: Vec<i64>,
}

fn store(doubles: &[f64], readings: &[Reading]) -> Store {
    Store { label: "a & b".to_owned(), doubles: doubles.to_vec(), readings: readings.to_vec() }
}

fn check(doubles: &[f64], readings: &[Reading]) -> Check {
    Check { readings: readings.to_vec(), number: 7, doubles: doubles.to_vec(), more: doubles.to_vec().into() }
}

fn reading(number: u32) -> Reading {
    Reading { sensor: number, unit: format!("unit <{}>", number % 7), value: f64::from(number) / 3.0 }
}

fn doubles(count: u32) -> Vec<f64> {
    (0..count).map(|number| f64::from(number) / 7.0).collect()
}

fn readings(count: u32) -> Vec<Reading> {
    (0..count).map(reading).collect()
}

const CHUNK: usize = 1 << 10;

fn options(width: Width) -> Templating {
    Templating { chunk: CHUNK, split: 2 * CHUNK, reserve: 64, width, ..Templating::default() }
}

fn widths() -> [Width; 4] {
    [Width::Exact, Width::Learned(0.8), Width::Fixed(12), Width::Maximal]
}

fn sender<T: Message + Debug>(options: Templating, pool: &RunPool) -> Sender<'static, T> {
    let mut sender = Sender::sharing(T::view(), options, pool);
    sender.style.name = T::ELEMENT;
    sender
}

/// Returns the number of chunks that a first message shares.
fn shared_first<T: Message + Debug>(value: &T, options: Templating, pool: &RunPool) -> u64 {
    let mut sender = sender(options, pool);
    assert_eq!(sender.send(value), MatchKind::FirstTime);
    sender.stats().shared
}

#[test]
fn a_second_operation_takes_over_what_the_first_holds() {
    for options in widths().map(options) {
        let (doubles, readings) = (doubles(900), readings(300));
        let pool = RunPool::new();
        let (mut one, mut other) = (sender(options, &pool), sender(options, &pool));
        one.send(&store(&doubles, &readings));
        assert_eq!((one.stats().shared, pool.len()), (0, 2));
        other.send(&check(&doubles, &readings));
        let EncodeStats { shared, written, bytes, .. } = other.stats();
        // The third array has different tags.
        assert!(shared > 30 && written < bytes / 2, "{:?}", other.stats());

        // From here on the two diverge.
        let (mut ours, mut theirs) = (store(&doubles, &readings), check(&doubles, &readings));
        for turn in 0..12 {
            ours.doubles[17 * turn] = turn as f64;
            theirs.readings[5 * turn].unit = "x".repeat(turn);
            one.send_in(&ours, Flight::Held).expect("writable");
            other.send_in(&theirs, Flight::Frames).expect("writable");
        }
        assert!(one.stats().copies > 0 && other.stats().copies > 0);
        one.land();
        other.land();
    }
}

#[test]
fn what_follows_a_difference_is_shared_too() {
    let (mut doubles, pool) = (doubles(2000), RunPool::new());
    let mut one = sender(options(Width::Exact), &pool);
    one.send(&store(&doubles, &[]));
    let all = shared_first(&store(&doubles, &[]), options(Width::Exact), &pool);
    doubles[1000] = 0.1;
    assert_eq!(shared_first(&store(&doubles, &[]), options(Width::Exact), &pool), all - 1);
    doubles.truncate(1500);
    assert!(shared_first(&store(&doubles, &[]), options(Width::Exact), &pool) > all / 2);
    doubles[0] = -0.0;
    assert_eq!(shared_first(&store(&doubles, &[]), options(Width::Exact), &pool), 0);
}

#[test]
fn an_update_is_found_as_what_it_is_now() {
    let (mut doubles, pool) = (doubles(2000), RunPool::new());
    let mut one = sender(options(Width::Exact), &pool);
    for _ in 0..5 {
        one.send(&store(&doubles, &[]));
        let shared = shared_first(&check(&doubles, &[]), options(Width::Exact), &pool);
        assert!(shared > 20, "{shared}");
        doubles.iter_mut().step_by(10).for_each(|double| *double += 1.0);
        doubles.insert(500, 0.5);
    }
    assert_eq!(pool.len(), 1);
}

#[test]
fn other_types_and_options_share_nothing() {
    let pool = RunPool::new();
    let mut one = sender(options(Width::Exact), &pool);
    one.send(&Store { label: String::new(), doubles: vec![0.0; 2000], readings: Vec::new() });
    assert_eq!(shared_first(&Round { doubles: vec![0; 2000] }, options(Width::Exact), &pool), 0);
    for other in [options(Width::Maximal), Templating { chunk: 2 * CHUNK, ..options(Width::Exact) }] {
        assert_eq!(shared_first(&check(&vec![0.0; 2000], &[]), other, &pool), 0);
    }
    assert_eq!(shared_first(&check(&vec![0.0; 2000], &[]), options(Width::Exact), &RunPool::new()), 0);
    assert_ne!(shared_first(&check(&vec![0.0; 2000], &[]), options(Width::Exact), &pool), 0);
}

/// A character that XML cannot carry is replaced, but its text does not equal the replaced text.
#[test]
fn what_cannot_be_written_is_not_shared() {
    let replaced = |text: &str| vec![Reading { unit: text.to_owned(), ..reading(1) }; 200];
    let pool = RunPool::new();
    let (mut one, mut other) = (sender(options(Width::Exact), &pool), sender(options(Width::Exact), &pool));
    one.send_in(&store(&[], &replaced("\u{1}")), Flight::Landed).expect_err("a control character");
    assert!(pool.is_empty());
    one.send(&store(&[], &replaced("\u{FFFD}")));
    one.send_in(&store(&[], &replaced("\u{1}")), Flight::Landed).expect_err("a control character");
    one.send(&store(&[], &replaced("\u{FFFD}")));
    other.send_in(&check(&[], &replaced("\u{1}")), Flight::Landed).expect_err("a control character");
    other.send(&check(&[], &replaced("\u{FFFD}")));
    assert!(other.stats().shared > 0);
}

#[test]
fn a_pool_is_bounded_and_keeps_nothing_alive() {
    let pool = RunPool::new();
    let send = |first: u32| {
        let mut templates = Templates::with_pool(options(Width::Exact), pool.clone());
        let doubles: Vec<_> = (first..first + 500).map(f64::from).collect();
        let sent = templates.encode(&Envelope::new(&store(&doubles, &[]))).expect("writable");
        (templates, sent)
    };
    let (templates, sent): (Vec<_>, Vec<_>) = (0..40).map(|first| send(1000 * first)).unzip();
    assert_eq!(pool.len(), 16);
    drop(templates);
    assert_eq!(pool.len(), 16, "still being sent");
    drop(sent);
    assert!(pool.is_empty());
}

#[test]
fn short_arrays_are_not_noted_and_other_pools_not_asked() {
    let pool = RunPool::new();
    let mut template = Template::with_pool(options(Width::Exact), pool.clone());
    let mut send = |count, pool: Option<RunPool>| {
        template.set_pool(pool);
        template.encode(&Envelope::new(&store(&doubles(count), &[]))).expect("writable");
    };
    send(20, Some(pool.clone()));
    send(900, None);
    assert!(pool.is_empty());
    send(901, Some(pool.clone()));
    assert_eq!(pool.len(), 1);
}

/// The source of a message's items, so that messages overlap.
#[derive(Debug, Clone)]
struct Piece {
    source: u32,
    count: u32,
}

/// One more message, of either operation, by one of its templates.
#[derive(Debug, Clone)]
struct Step {
    is_check: bool,
    template: usize,
    forget: bool,
    flight: Flight,
    doubles: Vec<Piece>,
    readings: Vec<Piece>,
}

fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let piece = (0..3_u32, 0..100_u32).prop_map(|(source, count)| Piece { source: 100 * source, count });
    prop::collection::vec(piece, 0..4)
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let flight = prop::sample::select(vec![Flight::Landed, Flight::Held, Flight::Frames]);
    let step = (any::<bool>(), 0..2_usize, prop::bool::weighted(0.3), flight, pieces(), pieces()).prop_map(
        |(is_check, template, forget, flight, doubles, readings)| Step {
            is_check,
            template,
            forget,
            flight,
            doubles,
            readings,
        },
    );
    prop::collection::vec(step, 1..16)
}

fn numbers(pieces: &[Piece]) -> impl Iterator<Item = u32> {
    pieces.iter().flat_map(|piece| piece.source..piece.source + piece.count)
}

/// Returns two templates of an operation.
fn two<T: Message + Debug>(options: Templating, pool: &RunPool) -> [Sender<'static, T>; 2] {
    [sender(options, pool), sender(options, pool)]
}

fn send<T: Message + Debug>(sender: &mut Sender<'static, T>, step: &Step, value: &T, fresh: Sender<'static, T>) {
    if step.forget {
        sender.land();
        *sender = fresh;
    }
    sender.send_in(value, step.flight).expect("writable");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Whatever is shared: each message equals the message written in full.
    #[test]
    fn sharing_changes_no_message(steps in steps(), width in prop::sample::select(widths().to_vec())) {
        let (options, pool) = (Templating { chunk: 256, split: 400, ..options(width) }, RunPool::new());
        let (mut stores, mut checks) = (two(options, &pool), two(options, &pool));
        for step in &steps {
            let doubles: Vec<_> = numbers(&step.doubles).map(|number| f64::from(number) / 7.0).collect();
            let readings: Vec<_> = numbers(&step.readings).map(reading).collect();
            if step.is_check {
                let value = check(&doubles, &readings);
                send(&mut checks[step.template], step, &value, sender(options, &pool));
            } else {
                let value = store(&doubles, &readings);
                send(&mut stores[step.template], step, &value, sender(options, &pool));
            }
        }
        stores.iter_mut().for_each(Sender::land);
        checks.iter_mut().for_each(Sender::land);
        drop((stores, checks));
        prop_assert!(pool.is_empty());
    }
}
