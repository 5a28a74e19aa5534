//! The common part of both formats' parsers: bytes in, events out, no I/O.

use super::dime::Records;
use super::error::{AttachmentError, AttachmentErrorKind};
use super::headers::PartHeaders;
use super::split::Splitter;
use bytes::{Bytes, BytesMut};

/// An event of a parser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    /// A part begins.
    Part(PartHeaders),
    /// Some bytes of the part, at least one, still encoded.
    Data(Bytes),
    /// The part ends.
    PartEnd,
    /// There are no more parts.
    End,
}

/// The result of a step.
#[derive(Debug)]
pub(super) enum StepResult {
    /// More bytes are needed.
    Nothing,
    /// Another state.
    Next,
    Event(Event),
}

/// A parser of either format.
#[derive(Debug)]
pub(super) enum Parser {
    Mime(Box<Splitter>),
    Dime(Records),
}

impl Parser {
    /// Takes more bytes.
    pub(super) fn push(&mut self, chunk: Bytes) {
        self.input().push(chunk);
    }

    /// Signals that there are no more bytes.
    pub(super) fn finish(&mut self) {
        self.input().is_last = true;
    }

    /// Returns the next event; `None` if more bytes are needed, or all events were returned.
    pub(super) fn next(&mut self) -> Result<Option<Event>, AttachmentError> {
        match self {
            Parser::Mime(splitter) => splitter.next(),
            Parser::Dime(records) => records.next(),
        }
    }

    /// Creates an error at the current position.
    #[cold]
    pub(super) fn error(&mut self, kind: AttachmentErrorKind) -> AttachmentError {
        self.input().error(kind)
    }

    fn input(&mut self) -> &mut Input {
        match self {
            Parser::Mime(splitter) => &mut splitter.input,
            Parser::Dime(records) => &mut records.input,
        }
    }
}

/// Received bytes that are not consumed yet. A chunk is taken without copying, unless something is
/// left of the previous one.
#[derive(Debug, Default)]
pub(super) struct Input {
    pub(super) rest: Bytes,
    /// Position of `rest` in the package.
    pub(super) offset: u64,
    /// True if no bytes follow.
    pub(super) is_last: bool,
    /// Parts begun so far.
    pub(super) part: usize,
}

impl Input {
    pub(super) fn push(&mut self, chunk: Bytes) {
        if self.rest.is_empty() {
            self.rest = chunk;
            return;
        }
        // The buffer grows by doubling, so input that arrives a few bytes at a time takes linear
        // time too.
        let mut joined = std::mem::take(&mut self.rest).try_into_mut().unwrap_or_else(|rest| BytesMut::from(&rest[..]));
        joined.extend_from_slice(&chunk);
        self.rest = joined.freeze();
    }

    /// Consumes bytes.
    pub(super) fn take(&mut self, len: usize) -> Bytes {
        let taken = self.rest.split_to(len.min(self.rest.len()));
        self.offset += taken.len() as u64;
        taken
    }

    /// Begins a part, up to a limit on their number.
    pub(super) fn begin_part(&mut self, limit: usize) -> Result<(), AttachmentError> {
        if self.part == limit {
            return Err(self.limit_error("parts", limit as u64));
        }
        self.part += 1;
        Ok(())
    }

    #[cold]
    pub(super) fn error(&self, kind: AttachmentErrorKind) -> AttachmentError {
        AttachmentError::new(kind, self.part, self.offset)
    }

    #[cold]
    pub(super) fn malformed(&self, what: &'static str) -> AttachmentError {
        self.error(AttachmentErrorKind::Malformed(what))
    }

    #[cold]
    pub(super) fn limit_error(&self, name: &'static str, limit: u64) -> AttachmentError {
        self.error(AttachmentErrorKind::Limit { name, limit })
    }

    /// Requests more bytes.
    ///
    /// # Errors
    /// Returns an error if no more bytes follow.
    pub(super) fn more(&self, missing: &'static str) -> Result<StepResult, AttachmentError> {
        if self.is_last { Err(self.error(AttachmentErrorKind::Ended(missing))) } else { Ok(StepResult::Nothing) }
    }
}
