//! A trial: a stream of messages, the positions at which each is split, and the ways to decode it;
//! and the oracle for all ways.
//!
//! Each message is decoded by a fresh decoder in regular mode that gets the same chunks, by one
//! that gets the message in one piece, and by one without shortcuts. The three must agree. Then
//! each way decodes the whole stream with one decoder and one memory, and must give the same
//! values, heads, and errors at the same positions.

use crate::coverage::Coverage;
use crate::decoder_options::{DecoderOptions, LoweredLimit};
use bytes::Bytes;
use deltasoap::Error;
use deltasoap::engine::decode::{Cursor, Decoder, Step};
use deltasoap::engine::{DecodeOptions, Differential, ErrorKind, Memory, Tolerance};
use deltasoap::soap::{EnvelopeReader, Head, Receiver};
use deltasoap_core::Content;
use deltasoap_core::schema::View;
use std::fmt::Debug;
use std::time::Duration;

/// A stream and how it is decoded.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    pub messages: Vec<Vec<u8>>,
    /// For each message, the ends of its chunks: positions in ascending order.
    pub cuts: Vec<Vec<usize>>,
    /// For each message, true if it breaks off: its last piece is missing, and the next message
    /// follows.
    pub broken_off: Vec<bool>,
    pub ways: Vec<DecoderOptions>,
    pub lowered: Option<LoweredLimit>,
    /// True if the decoder may keep the chunks, false if they are only lent.
    pub is_shared: bool,
    /// The level of [`Tolerance`].
    pub tolerance: usize,
}

impl Trial {
    fn options(&self) -> DecodeOptions {
        let tolerance = tolerance(self.tolerance);
        let limits = LoweredLimit::limits(self.lowered.as_ref());
        DecodeOptions { limits, tolerance, differential: Differential::OFF }
    }
}

/// Returns the tolerance of a level.
pub fn tolerance(level: usize) -> Tolerance {
    [Tolerance::Strict, Tolerance::Unknown, Tolerance::AnyOrder][level % 3]
}

/// A disagreement.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    pub message: usize,
    /// Index of the way, or `None` if the oracles disagree among themselves.
    pub way: Option<usize>,
    pub what: &'static str,
    pub expected: String,
    pub found: String,
}

impl Difference {
    /// Returns what a smaller trial must have in common with this one to show the same failure.
    pub fn class(&self) -> (bool, &'static str, bool, bool) {
        let is_error = |text: &str| text.starts_with("Err");
        (self.way.is_some(), self.what, is_error(&self.expected), is_error(&self.found))
    }
}

/// Decodes an operation of any name.
struct Operation<'v, T> {
    memory: Memory<T>,
    view: View<'v>,
}

impl<T: Content> Receiver for Operation<'_, T> {
    fn open_body(&mut self, _: &Head, _: &str, _: &str) -> Result<(), ErrorKind> {
        Ok(())
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        self.memory.decode(cursor, self.view)
    }
}

/// Returns true if a message can be decoded, in one piece and alone.
pub fn is_good<T: Content>(message: &[u8], view: View<'_>, tolerance: Tolerance) -> bool {
    value::<T>(message, view, tolerance).is_some()
}

/// Returns a message's value, if it can be decoded.
pub fn value<T: Content>(message: &[u8], view: View<'_>, tolerance: Tolerance) -> Option<T> {
    let options = DecodeOptions { differential: Differential::OFF, tolerance, ..DecodeOptions::default() };
    alone(Decoder::new(options), &[Bytes::copy_from_slice(message)], view).ok().map(|(_, value)| value)
}

type Outcome<T> = Result<(Head, T), Error>;

/// Decodes a stream in every way, as values of a type; returns the first difference.
pub fn check<T: Content + Debug + PartialEq>(
    trial: &Trial,
    view: View<'_>,
    coverage: &mut Coverage,
) -> Option<Difference> {
    let mut expected = Vec::with_capacity(trial.messages.len());
    for index in 0..trial.messages.len() {
        match regular::<T>(trial, index, view) {
            Ok(outcome) => expected.push(outcome),
            Err(difference) => return Some(difference),
        }
        coverage.count_oracle(&expected[index]);
    }
    (0..trial.ways.len()).find_map(|way| Stream::new(trial, way, view).read_all(&expected, coverage))
}

/// Decodes a message alone with several fresh decoders.
fn regular<T: Content + Debug + PartialEq>(
    trial: &Trial,
    index: usize,
    view: View<'_>,
) -> Result<Outcome<T>, Difference> {
    let options = trial.options();
    let chunks = chunks(&trial.messages[index], &trial.cuts[index]);
    let whole = [Bytes::copy_from_slice(&trial.messages[index])];
    let expected = alone(Decoder::new(options), &chunks, view);
    let twins = [
        ("regular, in one piece", alone(Decoder::new(options), &whole, view)),
        ("regular, without shortcuts", alone(Decoder::without_shortcuts(options), &whole, view)),
    ];
    for (what, twin) in twins {
        if !is_same(&twin, &expected) {
            let (expected, found) = (shown(&twin), shown(&expected));
            return Err(Difference { message: index, way: None, what, expected, found });
        }
    }
    Ok(expected)
}

fn alone<T: Content>(mut decoder: Decoder, chunks: &[Bytes], view: View<'_>) -> Outcome<T> {
    let mut reader = EnvelopeReader::new(Operation { memory: Memory::new(T::vacant(view)), view });
    chunks.iter().try_for_each(|chunk| decoder.push(&mut reader, chunk))?;
    decoder.finish(&mut reader)?;
    let (head, operation) = reader.into_parts();
    Ok((head, operation.memory.into_value()))
}

/// A decoder and a memory that are kept from message to message.
struct Stream<'t, 'v, T> {
    trial: &'t Trial,
    way: usize,
    view: View<'v>,
    /// The way's own decoder, and its partner's.
    decoders: [Decoder; 2],
    memory: Memory<T>,
}

impl<'t, 'v, T: Content + Debug + PartialEq> Stream<'t, 'v, T> {
    fn new(trial: &'t Trial, way: usize, view: View<'v>) -> Self {
        let decoder =
            |way: &DecoderOptions| Decoder::new(DecodeOptions { differential: way.differential(), ..trial.options() });
        let own = &trial.ways[way];
        let decoders = [decoder(own), decoder(own.partner.as_ref().map_or(own, |partner| &*partner.way))];
        let mut memory = Memory::new(T::vacant(view));
        memory.set_clock(pace);
        Stream { trial, way, view, decoders, memory }
    }

    fn read_all(mut self, expected: &[Outcome<T>], coverage: &mut Coverage) -> Option<Difference> {
        let last = expected.len().saturating_sub(1);
        for (message, expected) in expected.iter().enumerate() {
            let head = self.read(message);
            if self.trial.broken_off[message] {
                continue;
            }
            if let Some((expected, found)) = self.differs(expected, head, message == last) {
                let what = "differential";
                return Some(Difference { message, way: Some(self.way), what, expected, found });
            }
        }
        coverage.count(&self.trial.ways[self.way], self.memory.stats(), expected.len());
        None
    }

    fn read(&mut self, message: usize) -> Result<Head, Error> {
        let memory = std::mem::replace(&mut self.memory, Memory::new(T::vacant(self.view)));
        let mut reader = EnvelopeReader::new(Operation { memory, view: self.view });
        let result = self.push_all(&mut reader, message);
        let (head, operation) = reader.into_parts();
        self.memory = operation.memory;
        result.map(|()| head)
    }

    fn push_all(&mut self, reader: &mut EnvelopeReader<Operation<'v, T>>, message: usize) -> Result<(), Error> {
        let (_, is_partner) = self.trial.ways[self.way].for_message(message);
        let decoder = &mut self.decoders[usize::from(is_partner)];
        decoder.reset();
        let mut chunks = chunks(&self.trial.messages[message], &self.trial.cuts[message]);
        let is_broken_off = self.trial.broken_off[message];
        if is_broken_off && let Some(last) = chunks.last_mut() {
            last.truncate(last.len() / 2);
        }
        for chunk in chunks {
            match self.trial.is_shared {
                true => decoder.push_bytes(reader, chunk)?,
                false => decoder.push(reader, &chunk)?,
            }
        }
        if is_broken_off { Ok(()) } else { decoder.finish(reader) }
    }

    /// Returns both as text, if they differ. Equal values may still differ as text (0 and -0);
    /// comparing texts is slow, so it is done only if `is_strict`.
    fn differs(&self, expected: &Outcome<T>, found: Result<Head, Error>, is_strict: bool) -> Option<(String, String)> {
        let found = found.map(|head| (head, self.memory.value()));
        let is_equal = match (expected, &found) {
            (Ok((head, value)), Ok((found_head, found_value))) => head == found_head && value == *found_value,
            (Err(expected), Err(found)) => expected == found,
            _ => false,
        };
        if is_equal && !is_strict {
            return None;
        }
        let (expected, found) = (shown(expected), format!("{found:?}"));
        (expected != found).then_some((expected, found))
    }
}

/// Simulated time, so that decisions based on time are reproducible: comparing is usually fast, and
/// sometimes slow.
fn pace(bytes: u64, was_compared: bool) -> Duration {
    let nanoseconds = match was_compared {
        true if bytes % 7 < 2 => bytes * 3,
        true => bytes / 4,
        false => bytes,
    };
    Duration::from_nanos(nanoseconds.max(1))
}

/// Returns the pieces of a message between its cuts.
pub fn chunks(message: &[u8], cuts: &[usize]) -> Vec<Bytes> {
    let mut rest = Bytes::copy_from_slice(message);
    let mut chunks = Vec::with_capacity(cuts.len() + 1);
    let mut at = 0;
    for &cut in cuts {
        if cut > at && cut < message.len() {
            chunks.push(rest.split_to(cut - at));
            at = cut;
        }
    }
    chunks.push(rest);
    chunks.retain(|chunk| !chunk.is_empty());
    chunks
}

/// Returns true if two outcomes are equal, or have the same text: so NaN equals itself.
fn is_same<T: PartialEq + Debug>(one: &Outcome<T>, other: &Outcome<T>) -> bool {
    one == other || shown(one) == shown(other)
}

fn shown<T: Debug>(outcome: &Outcome<T>) -> String {
    format!("{outcome:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_end_at_the_cuts() {
        let pieces = |cuts: &[usize]| chunks(b"abcdef", cuts).iter().map(Bytes::len).collect::<Vec<_>>();
        assert_eq!(pieces(&[]), [6]);
        assert_eq!(pieces(&[0, 1, 1, 4, 6, 9]), [1, 3, 2]);
    }
}
