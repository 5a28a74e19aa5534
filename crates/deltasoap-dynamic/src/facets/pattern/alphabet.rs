//! Alphabets: the characters of a pattern's classes, in as many groups as the classes distinguish.
//!
//! A class such as `\w` has hundreds of ranges, which an automaton over UTF-8 repeats for each of
//! 255 characters in `\w{0,255}`. Most patterns distinguish only a few groups of characters.
//! Therefore text is translated to one symbol per character, the symbol of its group, and the
//! automaton runs over symbols: a class is then a handful of bytes.

use regex_syntax::hir::ClassUnicode;
use std::ops::RangeInclusive;

/// Maximum number of distinct classes of a pattern, and of their ranges together; patterns with
/// more have no alphabet.
const CLASSES: usize = 512;
const RANGES: usize = 20_000;

/// A mapping from characters to symbols.
#[derive(Debug)]
pub(crate) struct Alphabet {
    /// The first character of each run of characters with one symbol, in order; the first one is 0.
    starts: Vec<u32>,
    symbols: Vec<u8>,
}

impl Alphabet {
    /// Creates an alphabet for these classes; `None` if they distinguish more than 256 groups, or
    /// are too many.
    pub(super) fn new(classes: &[ClassUnicode]) -> Option<Self> {
        let ranges = classes.iter().map(|class| class.ranges().len()).sum::<usize>();
        if classes.len() > CLASSES || ranges > RANGES {
            return None;
        }
        let bounds = classes.iter().flat_map(bounds).flat_map(|range| [*range.start(), *range.end() + 1]);
        let mut starts: Vec<u32> = std::iter::once(0).chain(bounds).collect();
        starts.sort_unstable();
        starts.dedup();
        let mut groups = vec![0_usize; starts.len()];
        let mut count = 1;
        for class in classes {
            count = refine(&mut groups, &members(class, &starts), count);
            if count > 256 {
                return None;
            }
        }
        let symbols = groups.into_iter().map(|group| group as u8).collect();
        Some(Alphabet { starts, symbols })
    }

    /// Returns the symbols of a class that the alphabet was made for, as runs without gaps.
    pub(super) fn symbols(&self, class: &ClassUnicode) -> Vec<RangeInclusive<u8>> {
        let members = members(class, &self.starts);
        let mut symbols: Vec<u8> =
            self.symbols.iter().zip(members).filter(|(_, is_in)| *is_in).map(|(it, _)| *it).collect();
        symbols.sort_unstable();
        symbols.dedup();
        let mut runs: Vec<RangeInclusive<u8>> = Vec::new();
        for symbol in symbols {
            match runs.last_mut() {
                Some(run) if run.end().checked_add(1) == Some(symbol) => *run = *run.start()..=symbol,
                _ => runs.push(symbol..=symbol),
            }
        }
        runs
    }

    /// Translates a text to symbols.
    pub(super) fn translate(&self, text: &str) -> Vec<u8> {
        let symbol = |c: char| self.symbols[self.starts.partition_point(|&start| start <= u32::from(c)) - 1];
        text.chars().map(symbol).collect()
    }
}

fn bounds(class: &ClassUnicode) -> impl Iterator<Item = RangeInclusive<u32>> {
    class.ranges().iter().map(|range| u32::from(range.start())..=u32::from(range.end()))
}

/// Returns, for each run, true if it is in the class: the class's bounds are among the runs'
/// starts.
fn members(class: &ClassUnicode, starts: &[u32]) -> Vec<bool> {
    let mut ranges = bounds(class).peekable();
    let is_in = |&start: &u32| {
        while ranges.next_if(|range| *range.end() < start).is_some() {}
        ranges.peek().is_some_and(|range| range.contains(&start))
    };
    starts.iter().map(is_in).collect()
}

/// Splits each group into its members in a class and the others; returns the number of groups.
fn refine(groups: &mut [usize], is_in: &[bool], count: usize) -> usize {
    let mut next = 0;
    let mut split = vec![[None; 2]; count];
    for (group, is_in) in groups.iter_mut().zip(is_in) {
        let new = &mut split[*group][usize::from(*is_in)];
        *group = *new.get_or_insert_with(|| {
            next += 1;
            next - 1
        });
    }
    next
}
