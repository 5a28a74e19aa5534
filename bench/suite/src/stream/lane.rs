//! A lane: one way of decoding a stream, message by message.
//!
//! Several lanes over the same stream alternate, so that their times are comparable. Each has a
//! decoder, a memory for each sender, and its own position in the ring.

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::rc::Rc;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use deltasoap::Error;
use deltasoap::engine::decode::Decoder;
use deltasoap::engine::{Checkpoints, DecodeOptions, Differential, DifferentialStats, Memory};
use deltasoap::soap::{EnvelopeReader, Receiver};

use super::target::{DecodeTarget, Typed};
use super::{Sent, Stream};
use crate::allocator;
use crate::engine::{Session, timed};
use crate::payload::Same;

/// Smaller messages are not timed individually, but a whole ring together.
const LARGE: usize = 64 << 10;

/// The setup of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// The decoder's options.
    pub differential: Differential,
    /// True if the shortcut for flat arrays is enabled when reading in regular mode.
    pub has_shortcuts: bool,
    /// True if each message is read as if it were the first.
    pub is_forgetful: bool,
    /// Size of the chunks in which messages arrive; `None` for whole messages.
    pub chunk: Option<NonZeroUsize>,
}

impl Setup {
    /// Creates a setup for differential decoding of whole messages.
    pub fn new(differential: Differential) -> Self {
        Setup { differential, has_shortcuts: true, is_forgetful: false, chunk: None }
    }

    fn decoder(&self) -> Decoder {
        let options = DecodeOptions { differential: self.differential, ..DecodeOptions::default() };
        if self.has_shortcuts { Decoder::new(options) } else { Decoder::without_shortcuts(options) }
    }
}

/// A decoder at a position in a stream. `D` is what messages are decoded to.
pub struct Lane<T, D: DecodeTarget<T> = Typed> {
    stream: Rc<Stream<T>>,
    setup: Setup,
    decoder: Decoder,
    /// One per sender; taken out while a message of that sender is decoded.
    memories: Vec<Option<Box<Memory<D::Value>>>>,
    /// The next message to decode.
    next: usize,
    /// The statistics of the timed runs.
    counts: DifferentialStats,
}

impl<T: Same> Lane<T> {
    /// Creates a lane that has decoded nothing, and reads messages as their type.
    pub fn new(stream: Rc<Stream<T>>, setup: Setup) -> Self {
        Lane::open(stream, setup)
    }
}

impl<T: Same, D: DecodeTarget<T>> Lane<T, D> {
    /// Creates a lane that has decoded nothing.
    pub fn open(stream: Rc<Stream<T>>, setup: Setup) -> Self {
        let memories = (0..stream.senders).map(|_| None).collect();
        Lane { decoder: setup.decoder(), stream, setup, memories, next: 0, counts: DifferentialStats::default() }
    }

    /// Decodes the next message, and returns its index in the ring.
    fn step(&mut self) -> Result<usize, Error> {
        let place = self.next;
        let message = &self.stream.messages[place];
        let slot = &mut self.memories[message.sender];
        let memory = slot.take().unwrap_or_else(D::memory);
        *slot = Some(decode::<T, D>(&mut self.decoder, memory, message, self.setup.chunk)?);
        self.next = (place + 1) % self.stream.messages.len();
        Ok(place)
    }

    /// Decodes some messages.
    ///
    /// # Errors
    /// When one cannot be decoded.
    pub fn advance(&mut self, messages: usize) -> Result<()> {
        (0..messages).try_for_each(|_| self.step().map(drop)).context("a message cannot be decoded")
    }

    /// Decodes some messages; returns their total time in nanoseconds.
    ///
    /// # Errors
    /// When one cannot be decoded.
    pub fn timed(&mut self, messages: usize) -> Result<u64> {
        let (ns, result) = timed(|| self.advance(messages));
        result.map(|()| ns)
    }

    /// Returns the number of messages that are timed together.
    fn sweep(&self) -> usize {
        let is_single = self.setup.is_forgetful || self.stream.message_len() >= LARGE;
        if is_single { 1 } else { self.stream.messages.len() }
    }

    /// Returns the total time of these messages in nanoseconds.
    fn timed_sweep(&mut self) -> Result<u64> {
        if self.setup.is_forgetful {
            self.memories.iter_mut().flatten().for_each(|memory| memory.forget());
        }
        self.timed(self.sweep())
    }

    /// Returns the statistics of all senders so far, and the memory held for them.
    pub fn totals(&self) -> DifferentialStats {
        let mut totals = DifferentialStats::default();
        self.memories.iter().flatten().for_each(|memory| totals += memory.stats());
        totals.memory = self.memories.iter().flatten().map(|memory| memory.bytes() as u64).sum();
        totals
    }

    fn check_value(&self, place: usize) -> Result<()> {
        let message = &self.stream.messages[place];
        let memory = self.memories[message.sender].as_ref().context("nothing was decoded")?;
        ensure!(D::is_same(memory.value(), message)?, "wrong value of message {place} of the ring");
        Ok(())
    }

    /// Checks the value of the last message.
    ///
    /// # Errors
    /// When it is wrong.
    pub fn check_last(&self) -> Result<()> {
        self.check_value(self.next.checked_sub(1).unwrap_or(self.stream.messages.len() - 1))
    }
}

impl<T: Same, D: DecodeTarget<T>> Session for Lane<T, D> {
    fn bytes(&self) -> usize {
        self.stream.message_len()
    }

    fn messages_per_run(&self) -> usize {
        self.sweep()
    }

    fn run(&mut self, count: usize) -> Result<Vec<u64>> {
        let before = self.totals();
        let times = (0..count).map(|_| self.timed_sweep()).collect::<Result<_>>()?;
        self.counts += self.totals() - before;
        Ok(times)
    }

    /// Decodes as many messages as the ring has, and checks each.
    fn check(&mut self) -> Result<()> {
        for _ in 0..self.stream.messages.len() {
            let place = self.step().context("a message cannot be decoded")?;
            self.check_value(place)?;
        }
        Ok(())
    }

    /// Measures the first two messages of a new decoder, including the memory for the next one.
    fn peak_bytes(&mut self) -> Result<u64> {
        let mut fresh = Lane::<T, D>::open(self.stream.clone(), self.setup);
        let (result, peak) = allocator::peak_of(|| fresh.advance(2));
        result.map(|()| peak)
    }

    fn differential(&self) -> Option<DifferentialStats> {
        (self.setup.differential.checkpoints != Checkpoints::Off).then_some(self.counts)
    }
}

/// Reads a message of a stream as a server does: its value replaces the previous one.
fn decode<T: Same, D: DecodeTarget<T>>(
    decoder: &mut Decoder,
    memory: Box<Memory<D::Value>>,
    message: &Sent<T>,
    chunk: Option<NonZeroUsize>,
) -> Result<Box<Memory<D::Value>>, Error> {
    let mut reader = EnvelopeReader::new(D::receiver(memory));
    match chunk {
        None => decoder.decode_bytes(&mut reader, message.bytes.clone())?,
        Some(size) => decode_chunks(decoder, &mut reader, message.bytes.clone(), size.get())?,
    }
    Ok(D::into_memory(reader.into_parts().1))
}

fn decode_chunks<R: Receiver>(
    decoder: &mut Decoder,
    reader: &mut EnvelopeReader<R>,
    mut message: Bytes,
    size: usize,
) -> Result<(), Error> {
    decoder.reset();
    while !message.is_empty() {
        decoder.push_bytes(reader, message.split_to(size.min(message.len())))?;
    }
    decoder.finish(reader)
}

/// The floor of a stream: as many equal messages as the stream has, each compared with its
/// predecessor without decoding. It uses the stream's message closest to the mean size.
#[derive(Debug)]
pub struct Floor {
    copies: Vec<Vec<u8>>,
    next: usize,
    is_equal: bool,
}

impl Floor {
    /// Creates the floor of `stream`.
    pub fn new<T>(stream: &Stream<T>) -> Self {
        let mean = stream.message_len();
        let typical =
            stream.messages.iter().map(|message| &message.bytes).min_by_key(|bytes| bytes.len().abs_diff(mean));
        let copy = || typical.map_or_else(Vec::new, |bytes| bytes.to_vec());
        Floor { copies: stream.messages.iter().map(|_| copy()).collect(), next: 0, is_equal: true }
    }

    fn step(&mut self) {
        let previous = self.next;
        self.next = (previous + 1) % self.copies.len();
        self.is_equal &= black_box(&self.copies[previous]) == black_box(&self.copies[self.next]);
    }
}

impl Session for Floor {
    fn bytes(&self) -> usize {
        self.copies[0].len()
    }

    fn messages_per_run(&self) -> usize {
        if self.copies[0].len() >= LARGE { 1 } else { self.copies.len() }
    }

    fn run(&mut self, count: usize) -> Result<Vec<u64>> {
        let sweep = self.messages_per_run();
        Ok((0..count).map(|_| timed(|| (0..sweep).for_each(|_| self.step())).0).collect())
    }

    fn check(&mut self) -> Result<()> {
        ensure!(self.is_equal, "equal messages compare as different");
        Ok(())
    }

    fn peak_bytes(&mut self) -> Result<u64> {
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::{Bound, Kind, Recipe, Visitor, with_stream};
    use deltasoap_checkpoints::{Matcher, Portions, State};

    /// Runs a lane, checks it, and returns its statistics.
    struct Run(Setup);

    impl Visitor for Run {
        type Output = (DifferentialStats, usize);

        fn visit<T: Same>(self, stream: Stream<T>) -> Result<Self::Output> {
            let mut lane = Lane::new(Rc::new(stream), self.0);
            lane.check()?;
            assert_eq!(lane.run(3)?.len(), 3);
            lane.check()?;
            // Other tests allocate and release memory concurrently, so the number has no meaning
            // here.
            lane.peak_bytes()?;
            Ok((lane.counts, 3 * lane.sweep()))
        }
    }

    fn run(kind: Kind, setup: Setup) {
        let recipe = Recipe { kind, n: 50, percent: 20, partitions: 3 };
        let (counts, messages) = with_stream(recipe, Bound::SMALL, Run(setup)).unwrap();
        assert_eq!(counts.messages, messages as u64);
    }

    fn all_policies() -> impl Iterator<Item = Differential> {
        let papers = State::ALL.into_iter().flat_map(|state| {
            [Matcher::Compare, Matcher::Crc32]
                .map(|matcher| Portions { state, matcher, size: 64, ..Portions::default() }.into())
        });
        let checkpoints = papers.chain([Checkpoints::Off, Checkpoints::Leaf]);
        checkpoints.map(|checkpoints| Differential { checkpoints, adaptive: false })
    }

    #[test]
    fn every_stream_is_decoded_right_by_every_policy() {
        let arrays = [Kind::Ints, Kind::Easy, Kind::Hard, Kind::Strings, Kind::Structs, Kind::UnreadHard];
        let edits = [Kind::One, Kind::OneLonger, Kind::Insert, Kind::Inform, Kind::Fetch];
        for differential in all_policies() {
            for kind in arrays.into_iter().chain(edits) {
                run(kind, Setup::new(differential));
            }
        }
    }

    /// Lengths change randomly, and are equal more often than not.
    #[test]
    fn small_arrays_are_decoded_right_whatever_changes() {
        for n in 1..25 {
            for percent in [10, 30, 50, 75, 100] {
                let recipe = Recipe { kind: Kind::Ints, n, percent, partitions: 1 };
                let setup = Setup::new(Differential { adaptive: false, ..Differential::default() });
                let run = with_stream(recipe, Bound::LARGE, Run(setup));
                run.unwrap_or_else(|error| panic!("{recipe:?}: {error:#}"));
            }
        }
    }

    #[test]
    fn a_stream_is_decoded_right_in_chunks_without_shortcuts_and_without_a_past() {
        for differential in all_policies() {
            let setup = Setup::new(differential);
            run(Kind::Structs, Setup { chunk: NonZeroUsize::new(7), ..setup });
            run(Kind::Structs, Setup { has_shortcuts: false, ..setup });
            let (counts, _) =
                with_stream(Recipe::identical(Kind::Hard, 9), Bound::SMALL, Run(Setup { is_forgetful: true, ..setup }))
                    .unwrap();
            assert_eq!((counts.messages, counts.compared, counts.fast_bytes), (3, 0, 0));
        }
    }

    #[test]
    fn a_wrong_value_is_found() {
        struct Spoil;
        impl Visitor for Spoil {
            type Output = ();
            fn visit<T: Same>(self, mut stream: Stream<T>) -> Result<()> {
                stream.messages.swap(0, 1);
                let bytes = stream.messages[0].bytes.clone();
                stream.messages[1].bytes = bytes;
                Lane::new(Rc::new(stream), Setup::new(Differential::OFF)).check()
            }
        }
        let recipe = Recipe { kind: Kind::Hard, n: 10, percent: 10, partitions: 1 };
        assert!(with_stream(recipe, Bound::SMALL, Spoil).unwrap_err().to_string().contains("wrong value of message 1"));
    }

    #[test]
    fn the_floor_compares_every_message() {
        struct Compare;
        impl Visitor for Compare {
            type Output = ();
            fn visit<T: Same>(self, stream: Stream<T>) -> Result<()> {
                let mut floor = Floor::new(&stream);
                floor.run(2)?;
                floor.check()?;
                floor.copies[3][0] ^= 1;
                floor.run(1)?;
                floor.check()
            }
        }
        let found = with_stream(Recipe::identical(Kind::Hard, 10), Bound::SMALL, Compare);
        assert!(found.unwrap_err().to_string().contains("different"));
    }
}
