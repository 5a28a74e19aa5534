//! Arrays in which nearly everything changes at once: values that keep their length, values that
//! outgrow their chunk, and stretches of both.

use deltasoap::engine::encode::differential::EncodeStats;
use deltasoap::engine::{Buffer, MatchKind, Template, Templating};
use deltasoap::soap::Envelope;
use deltasoap::types::TrackedVec;
use deltasoap::{Message, Soap};
use deltasoap_streams::prng::SplitMix64;
use proptest::prelude::*;

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(message, namespace = "urn:dense")]
struct Numbers {
    doubles: Vec<f64>,
    ints: Vec<i32>,
    tracked: TrackedVec<f64>,
    pairs: Vec<Pair>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
struct Pair {
    a: i64,
    b: f32,
}

const CHUNK: usize = 4096;

fn options() -> Templating {
    Templating { chunk: CHUNK, split: 2 * CHUNK, adaptive: false, ..Templating::default() }
}

/// Writes a message against the template, and compares it with the message in full; returns the
/// match kind and statistics.
fn send<T: Message>(template: &mut Template, value: &T) -> (MatchKind, EncodeStats, usize) {
    let before = template.stats();
    let sent = template.encode(&Envelope::new(value)).expect("can be written");
    let full = Envelope::new(value).write(Buffer::new()).expect("can be written");
    assert!(sent.to_vec() == full.as_slice(), "the message differs from the one in full");
    let longest = sent.frames().iter().map(bytes::Bytes::len).max().unwrap_or_default();
    (sent.kind(), template.stats() - before, longest)
}

fn numbers(len: usize, double: impl Fn(usize) -> f64, int: impl Fn(usize) -> i64) -> Numbers {
    let doubles: Vec<f64> = (0..len).map(double).collect();
    let ints = (0..len).map(|at| int(at) as i32).collect();
    let pairs = (0..len).map(|at| Pair { a: int(at), b: doubles[at] as f32 }).collect();
    Numbers { tracked: doubles.clone().into(), doubles, ints, pairs }
}

#[test]
fn values_of_the_same_length_are_written_in_place() {
    let mut template = Template::new(options());
    send(&mut template, &numbers(1000, |at| at as f64 + 1000.5, |at| at as i64 + 10_000));
    let (kind, stats, _) = send(&mut template, &numbers(1000, |at| at as f64 + 5000.5, |at| at as i64 + 20_000));
    assert_eq!(kind, MatchKind::PerfectStructural);
    assert_eq!((stats.leaves, stats.moved, stats.shifts), (5000, 0, 0));
}

#[test]
fn values_that_outgrow_their_chunk_get_more_chunks() {
    let mut template = Template::new(options());
    send(&mut template, &numbers(2000, |at| (at % 10) as f64, |at| (at % 10) as i64));
    let long = numbers(2000, |at| -1.234_567_890_123_45e-300 - at as f64 * 1e-306, |at| i64::MIN + at as i64);
    let (kind, stats, longest) = send(&mut template, &long);
    assert_eq!(kind, MatchKind::PartialStructural);
    assert!(stats.splits > 0 && longest <= 2 * CHUNK, "{stats:?}, chunks of up to {longest} bytes");
    let (kind, ..) = send(&mut template, &long.clone());
    assert_eq!(kind, MatchKind::Content);
    send(&mut template, &numbers(2000, |at| (at % 10) as f64, |at| (at % 10) as i64));
}

/// Sets new values for a stretch of items; their kind determines how lengths change.
fn change(numbers: &mut Numbers, random: &mut SplitMix64) {
    let len = numbers.doubles.len();
    let start = random.next_u64() as usize % len;
    let end = len.min(start + random.next_u64() as usize % 300);
    let (every, kind) = (1 + random.next_u64() as usize % 3, random.next_u64() % 4);
    for at in (start..end).step_by(every) {
        let bits = random.next_u64();
        let double = match kind {
            0 => numbers.doubles[at] + 1.0,
            1 => (bits % 10) as f64,
            2 => f64::from_bits(bits),
            _ => f64::from_bits(bits % (1 << 62)) * 1e-3,
        };
        let double = if double.is_nan() { 0.5 } else { double };
        let int = match kind {
            0 => numbers.pairs[at].a ^ 1,
            1 => (bits % 10) as i64,
            _ => bits as i64 >> (bits % 64),
        };
        numbers.doubles[at] = double;
        numbers.tracked.set(at, double);
        numbers.ints[at] = int as i32;
        numbers.pairs[at] = Pair { a: int, b: double as f32 };
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn stretches_of_changes(seed: u64, len in 1..900usize, chunk in 256..CHUNK, messages in 1..12) {
        let mut random = SplitMix64::new(seed);
        let mut value = numbers(len, |at| at as f64 / 4.0, |at| at as i64);
        let mut template = Template::new(Templating { chunk, split: 2 * chunk, ..options() });
        send(&mut template, &value);
        for _ in 0..messages {
            (0..1 + random.next_u64() % 3).for_each(|_| change(&mut value, &mut random));
            send(&mut template, &value);
        }
    }
}
