//! Reads a stream in every way.

use super::edits::cut_in_gap;
use bytes::Bytes;
use deltasoap::Error;
use deltasoap::engine::decode::{Cursor, Decoder, ElementRoot, Root, Step};
use deltasoap::engine::{Checkpoints, DecodeOptions, Differential, DifferentialStats, Limits, Memory, Typed};
use deltasoap_checkpoints::{Bases, Matcher, Portions, State};
use deltasoap_test_support::Entropy;
use std::fmt::Debug;

/// Leaf checkpoints for every message.
pub const LEAF: Differential = Differential { checkpoints: Checkpoints::Leaf, ..Differential::OFF };

/// A type, erased to its functions.
pub struct Kind {
    pub document: &'static str,
    pub read: fn(&[Vec<u8>], &[u8]),
    /// Panics if the document cannot be read.
    pub must_be_good: fn(&[u8]),
}

impl Kind {
    /// Creates a type with an initial document.
    pub const fn of<T: Typed + PartialEq + Debug>(document: &'static str) -> Self {
        Kind { document, read: read::<T>, must_be_good: must_be_good::<T> }
    }
}

/// An operation that is the whole document.
struct Operation<T> {
    memory: Memory<T>,
}

/// Inside the root element; state 0 is before it.
const CONTENT: u8 = 1;
/// After the root element.
const BEHIND: u8 = 2;

impl<T: Typed> Root for Operation<T> {
    fn decode(&mut self, cursor: &mut Cursor<'_>) -> Step {
        let (me, _) = cursor.enter();
        if cursor.frame(me).state == 0 {
            cursor.next_tag()?;
            cursor.frame(me).state = CONTENT;
        }
        if cursor.frame(me).state == CONTENT {
            self.memory.decode(cursor, T::view())?;
            cursor.frame(me).state = BEHIND;
        }
        cursor.next_tag()?;
        Ok(())
    }
}

/// # Panics
/// When the document cannot be read.
pub fn must_be_good<T: Typed + PartialEq + Debug>(document: &[u8]) {
    assert_eq!(alone::<T>(document, Limits::default()).map(drop), Ok(()));
}

/// Reads a document alone, with the general routines only, which must give the result of regular
/// mode.
fn alone<T: Typed + PartialEq + Debug>(document: &[u8], limits: Limits) -> Result<T, Error> {
    let options = DecodeOptions { differential: Differential::OFF, limits, ..DecodeOptions::default() };
    let [general, regular] = [Decoder::without_shortcuts(options), Decoder::new(options)].map(|mut decoder| {
        let mut root = ElementRoot::<T>::new(T::view());
        decoder.decode(&mut root, document).map(|()| root.value)
    });
    assert!(general == regular, "{}\nexpected: {general:?}\n   found: {regular:?}", String::from_utf8_lossy(document));
    general
}

/// Reads two documents; returns the statistics.
pub fn read_pair<T: Typed + PartialEq + Debug>(documents: [&str; 2], differential: Differential) -> DifferentialStats {
    let documents = documents.map(|document| document.as_bytes().to_vec());
    let options = DecodeOptions { differential, ..DecodeOptions::default() };
    let expected = documents.each_ref().map(|document| alone::<T>(document, options.limits));
    read_by(&documents, &expected, options, Cuts::Even(usize::MAX))
}

/// Reads a stream by every policy, with small portions and large ones, whole and in chunks.
pub fn read_by_all<T: Typed + PartialEq + Debug>(documents: &[&str]) {
    let documents: Vec<_> = documents.iter().map(|document| document.as_bytes().to_vec()).collect();
    let limits = Limits::default();
    let expected: Vec<_> = documents.iter().map(|document| alone::<T>(document, limits)).collect();
    let papers = State::ALL.into_iter().flat_map(|state| {
        [1, 16, 64, 512].map(|size| {
            let checkpoints = Portions { state, size, ..Portions::default() }.into();
            Differential { checkpoints, ..Differential::OFF }
        })
    });
    for differential in papers.chain([LEAF, Differential::default()]) {
        for chunk in [usize::MAX, 1, 17, 100] {
            read_by(
                &documents,
                &expected,
                DecodeOptions { differential, limits, ..DecodeOptions::default() },
                Cuts::Even(chunk),
            );
        }
    }
}

/// Reads a stream with leaf checkpoints, in chunks of several sizes.
pub fn read_within<T: Typed + PartialEq + Debug>(documents: &[&str], limits: Limits) {
    let documents: Vec<_> = documents.iter().map(|document| document.as_bytes().to_vec()).collect();
    let expected: Vec<_> = documents.iter().map(|document| alone::<T>(document, limits)).collect();
    for chunk in [usize::MAX, 1, 3, 17, 50, 64, 100] {
        read_by(
            &documents,
            &expected,
            DecodeOptions { differential: LEAF, limits, ..DecodeOptions::default() },
            Cuts::Even(chunk),
        );
    }
}

/// Reads a stream with leaf checkpoints and with default options, each message in two chunks, split
/// at the given position.
pub fn read_cut<T: Typed + PartialEq + Debug>(documents: &[(&str, usize)]) {
    let expected: Vec<_> = documents.iter().map(|(it, _)| alone::<T>(it.as_bytes(), Limits::default())).collect();
    let cuts: Vec<_> = documents.iter().map(|&(_, cut)| cut).collect();
    let documents: Vec<_> = documents.iter().map(|(document, _)| document.as_bytes().to_vec()).collect();
    for differential in [LEAF, Differential::default()] {
        let options = DecodeOptions { differential, ..DecodeOptions::default() };
        read_by(&documents, &expected, options, Cuts::At(&mut cuts.iter().copied()));
    }
}

/// Reads a stream with leaf checkpoints, whole and in chunks, and by one policy of the papers.
pub fn read<T: Typed + PartialEq + Debug>(documents: &[Vec<u8>], chunks: &[u8]) {
    let mut entropy = Entropy(chunks);
    let limits = limits(&mut entropy);
    let expected: Vec<_> = documents.iter().map(|document| alone::<T>(document, limits)).collect();
    let papers = of_papers(&mut entropy);
    read_by(
        documents,
        &expected,
        DecodeOptions { differential: LEAF, limits, ..DecodeOptions::default() },
        Cuts::Even(usize::MAX),
    );
    let gap = entropy.below(256);
    for differential in [LEAF, Differential::default(), papers] {
        read_by(
            documents,
            &expected,
            DecodeOptions { differential, limits, ..DecodeOptions::default() },
            Cuts::Random(&mut entropy, gap),
        );
    }
}

/// The way that messages are split into chunks.
enum Cuts<'c, 'e> {
    /// All chunks of one length.
    Even(usize),
    /// Two chunks for each message.
    At(&'c mut dyn Iterator<Item = usize>),
    /// Random chunks; often split in one gap, so that successive messages are split in the same
    /// gap.
    Random(&'c mut Entropy<'e>, usize),
}

impl Cuts<'_, '_> {
    /// Returns the lengths of a document's chunks; chunks after the last one have its length.
    fn lengths(&mut self, document: &[u8]) -> Vec<usize> {
        match self {
            Cuts::Even(length) => vec![*length],
            Cuts::At(cuts) => vec![cuts.next().unwrap_or(usize::MAX), usize::MAX],
            Cuts::Random(entropy, gap) => match entropy.below(6) {
                0 => vec![chunk_size(entropy)],
                1 => (0..8).map(|_| chunk_size(entropy)).collect(),
                2 => {
                    let first = cut_in_gap(document, None, entropy);
                    let rest = document.get(first..).unwrap_or_default();
                    vec![first, cut_in_gap(rest, None, entropy), usize::MAX]
                }
                _ => vec![cut_in_gap(document, Some(*gap), entropy), usize::MAX],
            },
        }
    }
}

/// Returns limits, occasionally some that may be exceeded.
fn limits(entropy: &mut Entropy<'_>) -> Limits {
    let default = Limits::default();
    match entropy.below(16) {
        1 => Limits { depth: 4, ..default },
        2 => Limits { text: 9, ..default },
        3 => Limits { message: 900, ..default },
        4 => Limits { markup: 300, ..default },
        5 => Limits { inherited_bindings: 6, ..default },
        6 => Limits { tree_nodes: 9, ..default },
        _ => default,
    }
}

fn of_papers(entropy: &mut Entropy<'_>) -> Differential {
    let portions = Portions {
        state: State::ALL[entropy.below(State::ALL.len())],
        matcher: Matcher::ALL[entropy.below(Matcher::ALL.len())],
        size: [1, 4, 16, 32, 150][entropy.below(5)],
        probe: entropy.below(2) == 1,
        bases: [Bases::Interrupts, Bases::First][entropy.below(2)],
        audit: true,
        ..Portions::default()
    };
    Differential { checkpoints: portions.into(), ..Differential::OFF }
}

/// Returns a chunk size; the first choice is a single chunk.
fn chunk_size(entropy: &mut Entropy<'_>) -> usize {
    [usize::MAX, 1, 2, 3, 7, 16, 33, 64, 100, 501, 16 << 10, 20_000][entropy.below(12)]
}

fn read_by<T: Typed + PartialEq + Debug>(
    documents: &[Vec<u8>],
    expected: &[Result<T, Error>],
    options: DecodeOptions,
    mut cuts: Cuts<'_, '_>,
) -> DifferentialStats {
    let mut decoder = Decoder::new(options);
    let mut operation = Operation::<T> { memory: Memory::default() };
    for (index, document) in documents.iter().enumerate() {
        let lengths = cuts.lengths(document);
        let result = within(&mut decoder, &mut operation, document, &lengths);
        let (found, alone) = (result.as_ref().map(|()| operation.memory.value()), expected[index].as_ref());
        let shown = || String::from_utf8_lossy(&documents[..=index].join(&b"\n   "[..])).into_owned();
        assert!(
            found == alone,
            "{options:?}, chunks of {lengths:?}\n   {}\nexpected: {alone:?}\n   found: {found:?}",
            shown()
        );
    }
    operation.memory.stats()
}

/// Reads a document in chunks of these lengths; chunks after the last one have its length.
fn within<T: Typed>(
    decoder: &mut Decoder,
    operation: &mut Operation<T>,
    document: &[u8],
    lengths: &[usize],
) -> Result<(), Error> {
    decoder.reset();
    let mut rest = Bytes::copy_from_slice(document);
    let mut lengths = lengths.iter().chain(lengths.last().into_iter().cycle());
    while !rest.is_empty() {
        let length = lengths.next().map_or(usize::MAX, |length| (*length).max(1));
        decoder.push_bytes(operation, rest.split_to(length.min(rest.len())))?;
    }
    decoder.finish(operation)
}
