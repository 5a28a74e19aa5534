//! The kinds of sent items: values whose text has the length that a workload needs.
//!
//! A template's work depends only on the length of a value's text. So a [`Shape`] can create an
//! item of any width, and a *sibling* of an item: another value with text of the same length.

use anyhow::{Context, Result, ensure};
use deltasoap::Message;
use deltasoap::engine::Typed;
use deltasoap::types::Tracked;
use deltasoap_streams::arrays::{self, Mio};
use deltasoap_streams::prng::{SEED, SplitMix64};
use deltasoap_streams::similar;

use super::lists::{
    StreamedDoubles, StreamedInts, StreamedMios, StreamedStrings, TrackedDoubles, TrackedInts, TrackedMios,
    TrackedStrings,
};
use crate::messages::{self, SendDoubles, SendInts, SendMios, SendStrings};
use crate::payload::{Payload, Same, decode_alone};

/// A kind of item, and the message that carries an array of it.
pub trait Shape: 'static {
    /// An item.
    type Item: Clone + PartialEq;
    /// The message.
    type Plain: Payload + From<Vec<Self::Item>>;
    /// The message, with a list that tracks which of its items changed.
    type Tracked: Message;

    /// The message, with a list whose items come one by one.
    type Streamed: Message + Default;
    /// An item of the streamed list.
    type Sent: Typed;

    /// Characters of an item's shortest text, all leaves together.
    const SHORTEST: usize;
    /// Characters of an item's longest text; for strings, the longest that is sent.
    const LONGEST: usize;

    /// Returns the items of the other workloads.
    fn ordinary(n: usize) -> Vec<Self::Item>;

    /// Returns the same number of other items.
    fn others(n: usize) -> Vec<Self::Item>;

    /// Returns an item whose leaves have text of `width` characters together, clamped to the type's
    /// limits.
    fn of_width(width: usize, random: &mut SplitMix64) -> Self::Item;

    /// Returns another item with text of the same lengths. In a structure, only the last leaf
    /// differs.
    fn sibling(item: &Self::Item) -> Self::Item;

    /// Returns another item with text of the same lengths, in which every leaf differs.
    fn renewed(item: &Self::Item) -> Self::Item {
        Self::sibling(item)
    }

    /// Replaces an item of a message.
    fn set(message: &mut Self::Plain, place: usize, item: &Self::Item);

    /// Returns the tracked message of these items.
    fn tracked(items: Vec<Self::Item>) -> Self::Tracked;

    /// Replaces an item of a tracked message.
    fn set_tracked(message: &mut Self::Tracked, place: usize, item: &Self::Item);

    /// Converts the item for a streamed list.
    fn sent(item: &Self::Item) -> Self::Sent;

    /// Appends the item's memory.
    fn push_memory(item: &Self::Item, memory: &mut Vec<u8>);
}

/// Returns `n` items drawn with a separate random generator.
fn drawn<E>(n: usize, mut draw: impl FnMut(&mut SplitMix64) -> E) -> Vec<E> {
    let mut random = SplitMix64::stream(SEED, 4);
    (0..n).map(|_| draw(&mut random)).collect()
}

/// Returns `n` items of a width.
pub fn items_of_width<S: Shape>(n: usize, width: usize) -> Vec<S::Item> {
    let mut random = SplitMix64::stream(SEED, width as u64);
    (0..n).map(|_| S::of_width(width, &mut random)).collect()
}

/// Returns the memory of items, as a comparison reads it.
pub fn memory_of<S: Shape>(items: &[S::Item]) -> Vec<u8> {
    let mut memory = Vec::new();
    items.iter().for_each(|item| S::push_memory(item, &mut memory));
    memory
}

/// `xsd:double`
pub struct Doubles;

/// `xsd:int`
pub struct Ints;

/// Mesh interface objects.
pub struct Structs;

/// `xsd:string`
pub struct Strings;

impl Shape for Doubles {
    type Item = f64;
    type Plain = SendDoubles;
    type Tracked = Tracked<TrackedDoubles>;
    type Streamed = StreamedDoubles;
    type Sent = f64;

    const SHORTEST: usize = 1;
    const LONGEST: usize = 24;

    fn ordinary(n: usize) -> Vec<f64> {
        arrays::hard_doubles(n)
    }

    fn others(n: usize) -> Vec<f64> {
        drawn(n, similar::hard_double)
    }

    fn of_width(width: usize, random: &mut SplitMix64) -> f64 {
        let width = width.clamp(Self::SHORTEST, Self::LONGEST);
        loop {
            // The text may not be the shortest of its value.
            let value = double_text(width, random).parse().unwrap_or(0.0);
            if arrays::double(value).len() == width {
                return value;
            }
        }
    }

    fn sibling(item: &f64) -> f64 {
        sibling_of_double(*item)
    }

    fn set(message: &mut SendDoubles, place: usize, item: &f64) {
        message.item[place] = *item;
    }

    fn tracked(items: Vec<f64>) -> Tracked<TrackedDoubles> {
        TrackedDoubles { item: items.into() }.into()
    }

    fn set_tracked(message: &mut Tracked<TrackedDoubles>, place: usize, item: &f64) {
        message.item.set(place, *item);
    }

    fn sent(item: &f64) -> f64 {
        *item
    }

    fn push_memory(item: &f64, memory: &mut Vec<u8>) {
        memory.extend(item.to_bits().to_ne_bytes());
    }
}

/// Returns a text of 1 to 24 characters that looks like a double.
fn double_text(width: usize, random: &mut SplitMix64) -> String {
    match width {
        ..=16 => digits(width, random),
        17 => format!("-{}", digits(16, random)),
        18 => format!("0.{}", digits(16, random)),
        19 => format!("-0.{}", digits(16, random)),
        20..=23 => format!("{}.{}e-300", digits(1, random), digits(width - 7, random)),
        _ => format!("-{}", double_text(23, random)),
    }
}

/// Returns digits, of which the first and the last are not zero.
fn digits(count: usize, random: &mut SplitMix64) -> String {
    let mut digit = |place: usize| {
        let is_outer = place == 0 || place + 1 == count;
        let digit = if is_outer { 1 + random.below(9) } else { random.below(10) };
        char::from_digit(digit, 10).unwrap_or('1')
    };
    (0..count).map(&mut digit).collect()
}

/// Returns another double with text of the same length: replaces one digit of the text, from the
/// last to the first, until the value has such a text. A value without digits (`INF`) is its own
/// sibling.
fn sibling_of_double(value: f64) -> f64 {
    let text = arrays::double(value);
    let mantissa = text.find('e').unwrap_or(text.len());
    let is_fit = |other: &f64| *other != value && arrays::double(*other).len() == text.len();
    let mut others = (0..mantissa).rev().flat_map(|place| with_other_digits(&text, place));
    others.find(is_fit).unwrap_or(value)
}

/// Returns the doubles whose text differs in the digit at a place.
fn with_other_digits(text: &str, place: usize) -> Vec<f64> {
    if !text.as_bytes()[place].is_ascii_digit() {
        return vec![];
    }
    let with = |digit: u8| format!("{}{digit}{}", &text[..place], &text[place + 1..]).parse().ok();
    (0..10).filter_map(with).collect()
}

impl Shape for Ints {
    type Item = i32;
    type Plain = SendInts;
    type Tracked = Tracked<TrackedInts>;
    type Streamed = StreamedInts;
    type Sent = i32;

    const SHORTEST: usize = 1;
    const LONGEST: usize = 11;

    fn ordinary(n: usize) -> Vec<i32> {
        arrays::ints(n)
    }

    fn others(n: usize) -> Vec<i32> {
        drawn(n, similar::int(n))
    }

    fn of_width(width: usize, random: &mut SplitMix64) -> i32 {
        let width = width.clamp(Self::SHORTEST, Self::LONGEST);
        let text = match width {
            ..=9 => digits(width, random),
            10 => format!("1{}", digits(9, random)),
            _ => format!("-1{}", digits(9, random)),
        };
        text.parse().unwrap_or(1)
    }

    /// Changes the last digit.
    fn sibling(item: &i32) -> i32 {
        let digit = if (item % 10).abs() == 1 { 2 } else { 1 };
        let tens = item - item % 10;
        if *item < 0 { tens - digit } else { tens + digit }
    }

    fn set(message: &mut SendInts, place: usize, item: &i32) {
        message.item[place] = *item;
    }

    fn tracked(items: Vec<i32>) -> Tracked<TrackedInts> {
        TrackedInts { item: items.into() }.into()
    }

    fn set_tracked(message: &mut Tracked<TrackedInts>, place: usize, item: &i32) {
        message.item.set(place, *item);
    }

    fn sent(item: &i32) -> i32 {
        *item
    }

    fn push_memory(item: &i32, memory: &mut Vec<u8>) {
        memory.extend(item.to_ne_bytes());
    }
}

impl Shape for Structs {
    type Item = Mio;
    type Plain = SendMios;
    type Tracked = Tracked<TrackedMios>;
    type Streamed = StreamedMios;
    type Sent = messages::Mio;

    const SHORTEST: usize = 3;
    const LONGEST: usize = 46;

    fn ordinary(n: usize) -> Vec<Mio> {
        arrays::mios(n)
    }

    fn others(n: usize) -> Vec<Mio> {
        drawn(n, similar::mio(n))
    }

    /// The double gets about half of the width.
    fn of_width(width: usize, random: &mut SplitMix64) -> Mio {
        let width = width.clamp(Self::SHORTEST, Self::LONGEST);
        let x = ((width - 2) / 4).clamp(Ints::SHORTEST, Ints::LONGEST);
        let v = (width - 2 * x).min(Doubles::LONGEST);
        let y = width - x - v;
        (Ints::of_width(x, random), Ints::of_width(y, random), Doubles::of_width(v, random))
    }

    fn sibling(&(x, y, v): &Mio) -> Mio {
        (x, y, Doubles::sibling(&v))
    }

    fn renewed((x, y, v): &Mio) -> Mio {
        (Ints::renewed(x), Ints::renewed(y), Doubles::renewed(v))
    }

    fn set(message: &mut SendMios, place: usize, item: &Mio) {
        message.item[place] = (*item).into();
    }

    fn tracked(items: Vec<Mio>) -> Tracked<TrackedMios> {
        TrackedMios { item: items.into_iter().map(messages::Mio::from).collect() }.into()
    }

    fn set_tracked(message: &mut Tracked<TrackedMios>, place: usize, item: &Mio) {
        message.item.set(place, (*item).into());
    }

    fn sent(item: &Mio) -> messages::Mio {
        (*item).into()
    }

    fn push_memory(&(x, y, v): &Mio, memory: &mut Vec<u8>) {
        Ints::push_memory(&x, memory);
        Ints::push_memory(&y, memory);
        Doubles::push_memory(&v, memory);
    }
}

impl Shape for Strings {
    type Item = String;
    type Plain = SendStrings;
    type Tracked = Tracked<TrackedStrings>;
    type Streamed = StreamedStrings;
    type Sent = String;

    const SHORTEST: usize = 1;
    const LONGEST: usize = arrays::STRING_LENGTH;

    fn ordinary(n: usize) -> Vec<String> {
        arrays::strings(n)
    }

    fn others(n: usize) -> Vec<String> {
        drawn(n, similar::string)
    }

    fn of_width(width: usize, random: &mut SplitMix64) -> String {
        let letter = |_| char::from(b'a' + (random.below(26) as u8));
        (0..width.clamp(Self::SHORTEST, Self::LONGEST)).map(letter).collect()
    }

    fn sibling(item: &String) -> String {
        item.chars().map(|letter| if letter == 'a' { 'b' } else { 'a' }).collect()
    }

    fn set(message: &mut SendStrings, place: usize, item: &String) {
        message.item[place].clone_from(item);
    }

    fn tracked(items: Vec<String>) -> Tracked<TrackedStrings> {
        TrackedStrings { item: items.into() }.into()
    }

    fn set_tracked(message: &mut Tracked<TrackedStrings>, place: usize, item: &String) {
        message.item[place].clone_from(item);
    }

    fn sent(item: &String) -> String {
        item.clone()
    }

    fn push_memory(item: &String, memory: &mut Vec<u8>) {
        memory.extend(item.as_bytes());
    }
}

/// Checks that a message carries items, and, if it is exact, equals a naive writer's, byte for
/// byte.
pub(super) fn check_message<S: Shape>(message: &[u8], items: Vec<S::Item>, is_exact: bool) -> Result<()> {
    let values = S::Plain::from(items);
    if is_exact {
        ensure!(message == values.naive().as_bytes(), "the message differs from the naive writer's");
    }
    let found: S::Plain = decode_alone(message).context("the written message is invalid")?;
    ensure!(found.is_same(&values), "the message carries other values");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the characters of an item's text, counted in its message.
    fn width<S: Shape>(item: &S::Item) -> usize {
        let len = |items: Vec<S::Item>| S::Plain::from(items).naive().replace(['<', '>', '/'], "").len();
        let markup = ["item", "item"].concat().len();
        let fields = if S::LONGEST == Structs::LONGEST { "xxyyvv".len() } else { 0 };
        len(vec![item.clone()]) - len(vec![]) - markup - fields
    }

    fn check<S: Shape>() {
        for wanted in S::SHORTEST..=S::LONGEST {
            for item in items_of_width::<S>(20, wanted) {
                assert_eq!(width::<S>(&item), wanted);
            }
        }
        let ordinary = S::ordinary(1000);
        let items = (S::SHORTEST..=S::LONGEST).flat_map(|width| items_of_width::<S>(5, width));
        for item in ordinary.into_iter().chain(items) {
            let sibling = S::sibling(&item);
            assert!(sibling != item && width::<S>(&sibling) == width::<S>(&item));
        }
    }

    #[test]
    fn items_have_the_width_asked_for_and_siblings_their_own() {
        check::<Doubles>();
        check::<Ints>();
        check::<Structs>();
        check::<Strings>();
    }

    #[test]
    fn negative_ints_and_small_doubles_have_siblings() {
        for int in [-1, -2_000_000_001, -9, 0, i32::MAX - 6, i32::MIN + 7] {
            let sibling = Ints::sibling(&int);
            assert!(sibling != int && sibling.to_string().len() == int.to_string().len(), "{int}: {sibling}");
        }
        for double in [5e-324, -0.5, 1e22, f64::MAX] {
            let sibling = Doubles::sibling(&double);
            assert!(sibling != double && arrays::double(sibling).len() == arrays::double(double).len(), "{double}");
        }
    }

    #[test]
    fn memory_is_that_of_all_leaves() {
        assert_eq!(memory_of::<Doubles>(&arrays::hard_doubles(3)).len(), 24);
        assert_eq!(memory_of::<Structs>(&arrays::mios(3)).len(), 48);
    }
}
