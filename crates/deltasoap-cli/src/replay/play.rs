//! Plays streams: every message is decoded both ways, alternating which comes first, and the
//! results are compared.

use super::side::{Decoded, Side};
use super::types::Types;
use crate::files;
use bytes::Bytes;
use deltasoap::Error;
use deltasoap::engine::{Checkpoints, DecodeOptions, Deviation, Differential, DifferentialStats, ErrorKind, Tolerance};
use deltasoap_archive::{Reason, Skipped, Stream, message_in};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How streams are played.
#[derive(Debug, Clone, Copy)]
pub struct PlayOptions {
    /// The options that are compared with regular mode; [`Checkpoints::Off`] for no comparison.
    pub differential: Differential,
    /// What is accepted beyond the schema.
    pub tolerance: Tolerance,
    /// Number of the play: the way that decodes a message first in one play comes second in the
    /// next.
    pub number: u32,
    /// True if similarity is measured too, which takes another decode of every message.
    pub is_similarity_measured: bool,
}

/// The results of one play of all streams.
#[derive(Debug, Default)]
pub struct Play {
    /// Measurements of the messages of each type, by the type's index; no entry for types without
    /// messages.
    pub tallies: BTreeMap<usize, Tally>,
    /// Number of messages of unknown types, by the name of their body's element.
    pub unknown: BTreeMap<String, u64>,
    /// What was accepted beyond the schema, by the text of the [`Deviation`] without its count.
    pub deviations: BTreeMap<String, DeviationCount>,
    /// Messages that both ways refused.
    pub faults: Vec<Fault>,
    /// Messages that the two ways decoded differently.
    pub differences: Vec<Difference>,
    /// Files without a message.
    pub skipped: Skipped,
    /// Number of decoded messages, of any kind.
    decoded: u64,
}

/// Measurements of the accepted messages of one type.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Tally {
    pub streams: u64,
    pub messages: u64,
    /// Total size of the messages.
    pub bytes: u64,
    pub regular: Duration,
    pub differential: Duration,
    /// Counters of the differential way. Memory is the sum of the maxima of all streams.
    pub stats: DifferentialStats,
    /// Counters of a decode that compares every message.
    pub similarity: DifferentialStats,
}

/// A deviation that was accepted beyond the schema.
#[derive(Debug)]
pub struct DeviationCount {
    /// Number of occurrences, and of messages with it.
    pub count: u64,
    pub messages: u64,
    /// Number of the last of these messages.
    last: u64,
    /// File of the first of them.
    pub file: PathBuf,
}

/// A message that was refused.
#[derive(Debug)]
pub struct Fault {
    pub file: PathBuf,
    /// Line, counted from 1; columns are in characters.
    pub line: usize,
    pub column: usize,
    pub error: Error,
}

/// A message that the two ways decoded differently.
#[derive(Debug)]
pub struct Difference {
    pub file: PathBuf,
    pub what: String,
}

impl Play {
    /// Plays one stream. Calls `advance` after every file.
    pub fn stream(&mut self, stream: &Stream, types: &Types, options: PlayOptions, advance: impl Fn()) {
        let mut sides = Sides::new(types, options);
        for path in &stream.files {
            match read(path) {
                Ok(message) => self.message(path, &message, &mut sides),
                Err(reason) => self.skipped.add(reason, path),
            }
            advance();
        }
        self.close(&sides, types);
    }

    /// Plays messages in memory as one stream; each has a name.
    pub fn messages(&mut self, messages: impl Iterator<Item = (PathBuf, Bytes)>, types: &Types, options: PlayOptions) {
        let mut sides = Sides::new(types, options);
        messages.for_each(|(name, message)| self.message(&name, &message, &mut sides));
        self.close(&sides, types);
    }

    /// Returns the sum over the messages of all types. A stream counts once for each type.
    pub fn total(&self) -> Tally {
        self.tallies.values().fold(Tally::default(), Tally::with)
    }

    fn message(&mut self, path: &Path, message: &Bytes, sides: &mut Sides<'_>) {
        self.decoded += 1;
        let (regular, differential) = sides.decode(message, sides.is_regular_first(self.decoded));
        if let Some(what) = differential.as_ref().and_then(|differential| sides.difference(&regular, differential)) {
            self.differences.push(Difference { file: path.to_owned(), what });
        }
        match regular.result {
            Err(error) => self.refused(path, message, error),
            Ok(()) => {
                let Some(kind) = regular.kind else { unreachable!("a message without a body is refused") };
                let tally = self.tallies.entry(kind).or_default();
                tally.messages += 1;
                tally.bytes += message.len() as u64;
                tally.regular += regular.time;
                tally.differential += differential.map_or(Duration::ZERO, |differential| differential.time);
                // Only regular mode reports all deviations: fast mode does not report those in what
                // it skips.
                sides.regular.deviations().iter().for_each(|deviation| self.deviating(path, deviation));
            }
        }
    }

    fn deviating(&mut self, path: &Path, deviation: &Deviation) {
        let what = Deviation { count: 1, ..deviation.clone() }.to_string();
        let new = || DeviationCount { count: 0, messages: 0, last: 0, file: path.to_owned() };
        let deviating = self.deviations.entry(what).or_insert_with(new);
        deviating.count += deviation.count;
        // One message may have the deviation several times, in different types.
        deviating.messages += u64::from(deviating.last != self.decoded);
        deviating.last = self.decoded;
    }

    fn refused(&mut self, path: &Path, message: &Bytes, error: Error) {
        if let ErrorKind::UnknownOperation(name) = error.kind() {
            *self.unknown.entry(name.clone()).or_default() += 1;
            return;
        }
        let (line, column) = error.line_and_column(message);
        self.faults.push(Fault { file: path.to_owned(), line, column, error });
    }

    /// Adds the counters of a stream's memories.
    fn close(&mut self, sides: &Sides<'_>, types: &Types) {
        for kind in (0..types.len()).filter(|&kind| sides.regular.has_met(kind)) {
            let Some(tally) = self.tallies.get_mut(&kind) else { continue };
            tally.streams += 1;
            tally.stats = sum(tally.stats, stats(sides.differential.as_ref(), kind));
            tally.similarity = sum(tally.similarity, stats(sides.similarity.as_ref(), kind));
        }
    }
}

impl Tally {
    fn with(self, other: &Tally) -> Tally {
        Tally {
            streams: self.streams + other.streams,
            messages: self.messages + other.messages,
            bytes: self.bytes + other.bytes,
            regular: self.regular + other.regular,
            differential: self.differential + other.differential,
            stats: sum(self.stats, other.stats),
            similarity: sum(self.similarity, other.similarity),
        }
    }
}

/// Adds the counters of two memories that exist at the same time.
fn sum(one: DifferentialStats, other: DifferentialStats) -> DifferentialStats {
    let memory = one.memory + other.memory;
    let mut sum = one;
    sum += other;
    DifferentialStats { memory, ..sum }
}

/// Reads a file's message.
fn read(path: &Path) -> Result<Bytes, Reason> {
    let content = files::read(path).map_err(|_| "cannot be read")?;
    message_in(Bytes::from(content)).map(|message| message.bytes)
}

fn stats(side: Option<&Side<'_>>, kind: usize) -> DifferentialStats {
    side.map(|side| side.stats(kind)).unwrap_or_default()
}

/// All the ways in which a stream is decoded.
struct Sides<'a> {
    regular: Side<'a>,
    differential: Option<Side<'a>>,
    similarity: Option<Side<'a>>,
    /// The play's number.
    number: u32,
}

impl<'a> Sides<'a> {
    fn new(types: &'a Types, options: PlayOptions) -> Self {
        let every = Differential { adaptive: false, ..Differential::default() };
        let is_both = options.differential.checkpoints != Checkpoints::Off;
        let side = |differential| {
            Side::new(types, DecodeOptions { differential, tolerance: options.tolerance, ..DecodeOptions::default() })
        };
        Sides {
            regular: side(Differential::OFF),
            differential: is_both.then(|| side(options.differential)),
            similarity: options.is_similarity_measured.then(|| side(every)),
            number: options.number,
        }
    }

    /// Alternates from message to message and from play to play: for each single message, either
    /// way comes first in half of the plays.
    fn is_regular_first(&self, message: u64) -> bool {
        (message + u64::from(self.number)).is_multiple_of(2)
    }

    /// Decodes both ways. The second one finds the message in the processor's cache, so they take
    /// turns.
    fn decode(&mut self, message: &Bytes, is_regular_first: bool) -> (Decoded, Option<Decoded>) {
        let both = if is_regular_first {
            let regular = self.regular.decode(message);
            (regular, self.differential.as_mut().map(|side| side.decode(message)))
        } else {
            let differential = self.differential.as_mut().map(|side| side.decode(message));
            (self.regular.decode(message), differential)
        };
        if let Some(side) = &mut self.similarity {
            // Only its counters are needed; its errors equal those of the others.
            let _ = side.decode(message);
        }
        both
    }

    /// Returns how the two ways differ on the message just decoded.
    fn difference(&self, regular: &Decoded, differential: &Decoded) -> Option<String> {
        match (&regular.result, &differential.result) {
            (Ok(()), Ok(())) if !self.is_same_value(regular.kind?) => Some("the values differ".to_owned()),
            (Ok(()), Ok(())) => None,
            (Err(one), Err(other)) if one == other => None,
            (Err(one), Err(other)) => Some(format!("other errors: {one}; {other}")),
            (Err(error), Ok(())) => Some(format!("refused only in regular mode: {error}")),
            (Ok(()), Err(error)) => Some(format!("accepted only in regular mode: {error}")),
        }
    }

    fn is_same_value(&self, kind: usize) -> bool {
        let differential = self.differential.as_ref().and_then(|side| side.written(kind));
        match (self.regular.written(kind), differential) {
            (Some(Ok(one)), Some(Ok(other))) => one.as_slice() == other.as_slice(),
            (Some(Err(one)), Some(Err(other))) => one == other,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap_streams::arrays;

    /// Describes the difference between `one`, from regular mode, and `other`, decoded
    /// differentially.
    fn difference(one: &str, other: &str) -> Option<String> {
        let types = Types::compiled_in();
        let options = PlayOptions {
            differential: Differential::default(),
            tolerance: Tolerance::Strict,
            number: 0,
            is_similarity_measured: false,
        };
        let mut sides = Sides::new(&types, options);
        let regular = sides.regular.decode(&Bytes::from(one.to_owned()));
        let differential = sides.differential.as_mut().map(|side| side.decode(&Bytes::from(other.to_owned())));
        sides.difference(&regular, &differential.expect("a differential side"))
    }

    #[test]
    fn every_difference_is_seen() {
        let one = arrays::message_doubles(&[1.0, 0.0]);
        let refused = one.replace(">1<", ">x<");
        assert_eq!(difference(&one, &one), None);
        assert_eq!(difference(&refused, &refused), None);
        assert_eq!(difference(&one, &one.replace(">0<", ">-0<")).as_deref(), Some("the values differ"));
        for (one, other, what) in [
            (&refused, &one, "refused only in regular mode"),
            (&one, &refused, "accepted only in regular mode"),
            (&refused, &one.replace(">0<", ">x<"), "other errors"),
        ] {
            assert!(difference(one, other).is_some_and(|found| found.starts_with(what)), "{what}");
        }
    }

    #[test]
    fn each_way_comes_first_in_half_of_the_plays() {
        let types = Types::compiled_in();
        let first = |number, message| {
            let options = PlayOptions {
                differential: Differential::default(),
                tolerance: Tolerance::Strict,
                number,
                is_similarity_measured: false,
            };
            Sides::new(&types, options).is_regular_first(message)
        };
        for message in 1..4 {
            assert_eq!((0..6).filter(|&number| first(number, message)).count(), 3);
        }
        assert_ne!(first(0, 1), first(0, 2));
    }

    #[test]
    fn the_total_is_the_sum_of_all_types_and_their_memory() {
        let tally = |messages, memory| Tally {
            messages,
            stats: DifferentialStats { memory, fast_bytes: 1, ..DifferentialStats::default() },
            ..Tally::default()
        };
        let play = Play { tallies: [(1, tally(2, 10)), (4, tally(3, 20))].into(), ..Play::default() };
        let total = play.total();
        assert_eq!((total.messages, total.stats.memory, total.stats.fast_bytes), (5, 30, 2));
    }
}
