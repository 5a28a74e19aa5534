//! Streams of similar arrays: each message resembles the one before it, to a given degree.
//!
//! As in the papers on differential deserialization, an array is divided into partitions, and the
//! values in the middle of each partition are replaced by random values from message to message.
//! Their number determines how much work a message is, their distribution how often a decoder has
//! to switch. [`Changes`] has both, [`changed`] makes a stream from it, [`one_changed`] and
//! [`inserted`] make the two streams with a single edit.
//!
//! Every stream here is a *ring*: its first message follows its last one like any message follows
//! another, so it can be sent repeatedly. Nothing is optimized: a ring is made before a clock
//! starts.

use std::ops::Range;

use crate::arrays::{self, Mio};
use crate::prng::{SEED, SplitMix64};

/// The values of an array that differ between two messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Changes {
    /// Percentage of the values that differ, at most 100.
    pub percent: u32,
    /// Number of partitions of the array; each has its changed values in its middle, one after the
    /// other.
    pub partitions: usize,
}

impl Changes {
    /// No values.
    pub const NONE: Changes = Changes { percent: 0, partitions: 1 };

    /// Returns the positions in an array of `n` values that change, a range for each partition, in
    /// ascending order.
    ///
    /// Partitions are as equal as whole numbers allow; there are at most `n`. All ranges together
    /// hold exactly `n * percent / 100` positions, rounded down. If a single partition's share is
    /// not a whole number, some ranges have one position more than others.
    ///
    /// ```
    /// use deltasoap_streams::similar::Changes;
    ///
    /// let changes = Changes { percent: 50, partitions: 2 };
    /// assert_eq!(changes.ranges(8).collect::<Vec<_>>(), [1..3, 5..7]);
    /// ```
    pub fn ranges(self, n: usize) -> impl Iterator<Item = Range<usize>> {
        let partitions = self.partitions.clamp(1, n.max(1));
        let border = move |partition: usize| n * partition / partitions;
        (0..partitions).map(move |partition| self.middle(border(partition)..border(partition + 1)))
    }

    /// Returns the number of values among `n` that change.
    #[must_use]
    pub fn count(self, n: usize) -> usize {
        n * self.percent.min(100) as usize / 100
    }

    /// Returns the positions that change in one partition. Counts are differences of counts from
    /// the array's start, so rounding in one partition is compensated in the next.
    fn middle(self, partition: Range<usize>) -> Range<usize> {
        let count = self.count(partition.end) - self.count(partition.start);
        let start = partition.start + (partition.len() - count) / 2;
        start..start + count
    }
}

/// Makes a ring of `messages` arrays (at least one), starting with `first`. Between neighbours,
/// exactly the values at [`Changes::ranges`] differ. `draw` generates new values, and must be able
/// to give three different ones.
///
/// ```
/// use deltasoap_streams::similar::{Changes, changed, int};
///
/// let ring = changed(&[1, 2, 3, 4], Changes { percent: 50, partitions: 1 }, 3, int(4));
/// assert_eq!(ring.len(), 3);
/// assert!(ring.iter().all(|array| array[0] == 1 && array[3] == 4));
/// assert!(ring[2][1] != ring[0][1]);
/// ```
pub fn changed<T: Clone + PartialEq>(
    first: &[T],
    changes: Changes,
    messages: usize,
    mut draw: impl FnMut(&mut SplitMix64) -> T,
) -> Vec<Vec<T>> {
    let mut random = SplitMix64::stream(SEED, 1);
    let mut ring = vec![first.to_vec()];
    for message in 1..messages {
        let previous = &ring[message - 1];
        let mut next = previous.clone();
        for place in changes.ranges(first.len()).flatten() {
            // The last one must also differ from the first, so that the ring closes.
            next[place] =
                draw_until(&mut random, &mut draw, |value| *value != previous[place] && *value != first[place]);
        }
        ring.push(next);
    }
    ring
}

/// Makes a ring of `messages` arrays (at least one) that differ only in their middle value. Its
/// text as an xsd:double has the same length in all of them, or else a different length in each
/// than in the one before it. `first` holds [`arrays::hard_doubles`]: no draw has the length of a
/// double with few digits.
#[must_use]
pub fn one_changed(first: &[f64], messages: usize, is_length_kept: bool) -> Vec<Vec<f64>> {
    let mut random = SplitMix64::stream(SEED, 2);
    let middle = first.len() / 2;
    let mut ring = vec![first.to_vec()];
    for message in 1..if first.is_empty() { 1 } else { messages } {
        let (previous, original) = (ring[message - 1][middle], first[middle]);
        let is_fit = |value: &f64, other: f64| *value != other && (length(*value) == length(other)) == is_length_kept;
        let mut next = first.to_vec();
        next[middle] = draw_until(&mut random, hard_double, |value| is_fit(value, previous) && is_fit(value, original));
        ring.push(next);
    }
    ring
}

/// Makes a ring of `messages` arrays, an even number: alternately `first`, and `first` with one
/// more random value in its middle.
#[must_use]
pub fn inserted(first: &[f64], messages: usize) -> Vec<Vec<f64>> {
    let mut random = SplitMix64::stream(SEED, 3);
    let mut ring = Vec::new();
    while ring.len() < messages {
        let mut longer = first.to_vec();
        longer.insert(first.len() / 2, hard_double(&mut random));
        ring.extend([first.to_vec(), longer]);
    }
    ring
}

/// Draws finite doubles with random bits, as in [`arrays::hard_doubles`].
pub fn hard_double(random: &mut SplitMix64) -> f64 {
    draw_until(random, |random| f64::from_bits(random.next_u64()), |value| value.is_finite())
}

/// Draws ints of `1..=n` (of `1..=9` if `n` is less): as long as those of [`arrays::ints`].
pub fn int(n: usize) -> impl FnMut(&mut SplitMix64) -> i32 {
    let bound = u32::try_from(n).unwrap_or(u32::MAX).clamp(9, i32::MAX as u32);
    move |random| 1 + random.below(bound) as i32
}

/// Draws doubles of `1..=n` without a fraction, as in [`arrays::easy_doubles`].
pub fn easy_double(n: usize) -> impl FnMut(&mut SplitMix64) -> f64 {
    let mut int = int(n);
    move |random| f64::from(int(random))
}

/// Draws strings of [`arrays::STRING_LENGTH`] letters.
pub fn string(random: &mut SplitMix64) -> String {
    (0..arrays::STRING_LENGTH).map(|_| arrays::letter(random)).collect()
}

/// Draws mesh interface objects: two ints of `1..=n`, and the square root of one.
pub fn mio(n: usize) -> impl FnMut(&mut SplitMix64) -> Mio {
    let mut int = int(n);
    move |random| (int(random), int(random), f64::from(int(random)).sqrt())
}

fn length(value: f64) -> usize {
    arrays::double(value).len()
}

fn draw_until<T>(
    random: &mut SplitMix64,
    mut draw: impl FnMut(&mut SplitMix64) -> T,
    is_fit: impl Fn(&T) -> bool,
) -> T {
    loop {
        let value = draw(random);
        if is_fit(&value) {
            return value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the positions at which neighbours in the ring differ.
    fn differences<T: PartialEq>(ring: &[Vec<T>]) -> Vec<Vec<usize>> {
        let next = ring.iter().cycle().skip(1);
        let differ = |(one, other): (&Vec<T>, &Vec<T>)| {
            assert_eq!(one.len(), other.len());
            (0..one.len()).filter(|&place| one[place] != other[place]).collect()
        };
        ring.iter().zip(next).map(differ).collect()
    }

    fn every() -> impl Iterator<Item = (usize, Changes)> {
        let shares = [0, 1, 25, 50, 75, 99, 100].into_iter();
        let shapes = shares.flat_map(|percent| [1, 2, 3, 7, 100].map(|partitions| Changes { percent, partitions }));
        shapes.flat_map(|changes| [0, 1, 2, 10, 99, 1000].map(|n| (n, changes)))
    }

    #[test]
    fn the_share_is_exact_and_the_ranges_ascend() {
        for (n, changes) in every() {
            let places: Vec<usize> = changes.ranges(n).flatten().collect();
            assert_eq!(places.len(), n * changes.percent as usize / 100, "{n} {changes:?}");
            assert!(places.is_sorted_by(|one, next| one < next) && places.iter().all(|&place| place < n));
        }
    }

    #[test]
    fn changed_values_stand_in_the_middle_of_equal_partitions() {
        let changes = Changes { percent: 25, partitions: 100 };
        for (partition, range) in changes.ranges(10_000).enumerate() {
            assert_eq!(range, partition * 100 + 37..partition * 100 + 62);
        }
        for (n, changes) in every() {
            let partitions = changes.partitions.min(n);
            for (partition, range) in changes.ranges(n).enumerate().filter(|_| n > 0) {
                let (start, end) = (n * partition / partitions, n * (partition + 1) / partitions);
                let (before, after) = (range.start - start, end - range.end);
                assert!(after == before || after == before + 1, "{n} {changes:?}: {range:?} of {start}..{end}");
            }
        }
    }

    #[test]
    fn a_share_that_is_no_whole_number_is_made_up_for_in_the_next_partition() {
        let lengths = |n, percent, partitions| -> Vec<usize> {
            Changes { percent, partitions }.ranges(n).map(|range| range.len()).collect()
        };
        assert_eq!(lengths(8, 25, 4), [0, 1, 0, 1]);
        assert_eq!(lengths(4, 100, 4), [1, 1, 1, 1]);
        assert_eq!(lengths(2, 50, 5), [0, 1]);
    }

    #[test]
    fn neighbours_differ_in_the_ranges_and_nowhere_else_all_round_the_ring() {
        for (n, changes) in every() {
            let ring = changed(&arrays::ints(n), changes, 4, int(n));
            assert_eq!((ring.len(), &ring[0]), (4, &arrays::ints(n)));
            let places: Vec<usize> = changes.ranges(n).flatten().collect();
            assert!(differences(&ring).iter().all(|differences| *differences == places), "{n} {changes:?}");
        }
    }

    #[test]
    fn every_type_has_fresh_values_of_its_kind() {
        let (n, all) = (50, Changes { percent: 100, partitions: 1 });
        let places: Vec<usize> = (0..n).collect();
        let is_all = |differences: Vec<Vec<usize>>| differences.iter().all(|found| *found == places);
        let doubles = changed(&arrays::hard_doubles(n), all, 3, hard_double);
        assert!(doubles[2].iter().all(|value| value.is_finite()) && is_all(differences(&doubles)));
        let easy = changed(&arrays::easy_doubles(n), all, 3, easy_double(n));
        assert!(easy[2].iter().all(|value| value.fract() == 0.0 && *value <= 50.0) && is_all(differences(&easy)));
        let strings = changed(&arrays::strings(n), all, 3, string);
        assert!(strings[2].iter().all(|value| value.len() == arrays::STRING_LENGTH) && is_all(differences(&strings)));
        let mios = changed(&arrays::mios(n), all, 3, mio(n));
        assert!(mios[2].iter().all(|value| value.0 <= 50) && is_all(differences(&mios)));
    }

    #[test]
    fn one_value_changes_with_or_without_its_length() {
        let first = arrays::hard_doubles(9);
        for is_length_kept in [true, false] {
            let ring = one_changed(&first, 6, is_length_kept);
            assert_eq!(differences(&ring), vec![vec![4]; 6]);
            let lengths: Vec<usize> = ring.iter().map(|array| length(array[4])).collect();
            let next = lengths.iter().cycle().skip(1);
            assert!(lengths.iter().zip(next).all(|(one, next)| (one == next) == is_length_kept), "{lengths:?}");
        }
        assert_eq!(one_changed(&[], 6, true), [Vec::<f64>::new()]);
    }

    #[test]
    fn an_element_comes_and_goes() {
        let first = arrays::hard_doubles(4);
        let ring = inserted(&first, 4);
        assert_eq!(ring.iter().map(Vec::len).collect::<Vec<_>>(), [4, 5, 4, 5]);
        for mut longer in [ring[1].clone(), ring[3].clone()] {
            longer.remove(2);
            assert_eq!(longer, first);
        }
        assert_ne!(ring[1][2], ring[3][2]);
    }

    #[test]
    fn the_same_arguments_give_the_same_stream() {
        let make = || changed(&arrays::ints(100), Changes { percent: 30, partitions: 4 }, 5, int(100));
        assert_eq!(make(), make());
        assert_ne!(make()[1], make()[2]);
    }
}
