//! Splits a MIME multipart (RFC 2046, section 5.1) into its parts, as its bytes arrive.
//!
//! A boundary is found by a search over the available bytes. A possible beginning of a boundary, a
//! few bytes at the end of a chunk, waits for the next chunk; all other bytes are returned as
//! slices of the chunk.
//!
//! Lines end in CR LF. Some senders, and files that went through line-based tools, use LF alone.
//! The line of the first boundary determines this for all boundaries. So a part in a multipart of
//! one kind may contain what would be a boundary in the other.

use super::error::AttachmentError;
use super::headers::PartHeaders;
use super::options::AttachmentLimits;
use super::parser::{Event, Input, StepResult};
use bytes::Bytes;
use memchr::memmem::{self, Finder};

/// The parser of one multipart.
#[derive(Debug)]
pub(super) struct Splitter {
    pub(super) input: Input,
    state: State,
    limits: AttachmentLimits,
    /// A line break, `--`, and the boundary; the break is LF until the first boundary was seen.
    delimiter: Vec<u8>,
    finder: Finder<'static>,
    /// Number of available bytes that were searched.
    scanned: usize,
    /// The start of the line whose end is searched.
    line: usize,
    /// Number of available bytes that are the line break after the headers. It may belong to the
    /// boundary of an empty part.
    skip: usize,
    /// True once the first boundary determined the line breaks.
    has_begun: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the first boundary.
    Preamble,
    /// After a boundary, on its line.
    Delimiter,
    Headers,
    Data,
    /// A part has ended.
    Ending,
    /// On the line of the last boundary, after its hyphens.
    Closing,
    /// After that line.
    Epilogue,
}

impl Splitter {
    pub(super) fn new(boundary: &str, limits: AttachmentLimits) -> Self {
        let delimiter = format!("\n--{boundary}").into_bytes();
        Splitter {
            input: Input::default(),
            state: State::Preamble,
            limits,
            finder: Finder::new(&delimiter).into_owned(),
            delimiter,
            scanned: 0,
            line: 0,
            skip: 0,
            has_begun: false,
        }
    }

    /// Returns the next event; `None` if more bytes are needed, or after the last boundary.
    pub(super) fn next(&mut self) -> Result<Option<Event>, AttachmentError> {
        loop {
            let found = match self.state {
                State::Preamble => self.preamble()?,
                State::Delimiter => self.delimiter()?,
                State::Headers => self.headers()?,
                State::Data => self.data()?,
                State::Ending => {
                    self.state = State::Delimiter;
                    return Ok(Some(Event::PartEnd));
                }
                State::Closing => self.closing()?,
                State::Epilogue => {
                    self.input.take(usize::MAX);
                    return Ok(None);
                }
            };
            match found {
                StepResult::Nothing => return Ok(None),
                StepResult::Next => {}
                StepResult::Event(event) => return Ok(Some(event)),
            }
        }
    }

    /// Searches for the first boundary, which needs no line break before it.
    fn preamble(&mut self) -> Result<StepResult, AttachmentError> {
        let dashed = &self.delimiter[1..];
        let rest = &self.input.rest;
        let mut candidates = memmem::find_iter(&rest[self.scanned..], dashed).map(|at| at + self.scanned);
        if let Some(at) = candidates.find(|&at| at.checked_sub(1).is_none_or(|before| rest[before] == b'\n')) {
            let len = at + dashed.len();
            self.check(len)?;
            self.consume(len);
            self.state = State::Delimiter;
            return Ok(StepResult::Next);
        }
        // The searched bytes may still end with the beginning of a boundary.
        self.scanned = rest.len().saturating_sub(dashed.len());
        self.need("the first boundary")
    }

    /// Reads the line of a boundary.
    fn delimiter(&mut self) -> Result<StepResult, AttachmentError> {
        let rest = &self.input.rest;
        if rest.len() < 2 {
            return self.need("the end of a boundary's line");
        }
        if rest.starts_with(b"--") {
            self.consume(2);
            self.state = State::Closing;
            return Ok(StepResult::Next);
        }
        let Some(end) = memchr::memchr(b'\n', &rest[self.scanned..]).map(|at| at + self.scanned) else {
            self.scanned = rest.len();
            return self.need("the end of a boundary's line");
        };
        self.check(end + 1)?;
        let line = &rest[..end];
        let is_crlf = line.ends_with(b"\r");
        if !is_blank(line) {
            return Err(self.input.malformed("unexpected text follows a boundary on its line"));
        }
        if !std::mem::replace(&mut self.has_begun, true) && is_crlf {
            self.delimiter.insert(0, b'\r');
            self.finder = Finder::new(&self.delimiter).into_owned();
        }
        self.consume(end + 1);
        self.state = State::Headers;
        self.input.begin_part(self.limits.parts)?;
        Ok(StepResult::Next)
    }

    /// Checks that only white space follows the last boundary on its line. The end of the package
    /// ends the line too.
    fn closing(&mut self) -> Result<StepResult, AttachmentError> {
        let rest = &self.input.rest;
        let line_break = memchr::memchr(b'\n', &rest[self.scanned..]).map(|at| at + self.scanned);
        let end = line_break.unwrap_or(rest.len());
        if !is_blank(&rest[self.scanned..end]) {
            return Err(self.input.malformed("unexpected text follows the last boundary on its line"));
        }
        self.check(end)?;
        if line_break.is_none() && !self.input.is_last {
            self.scanned = end;
            return Ok(StepResult::Nothing);
        }
        self.consume(end);
        self.state = State::Epilogue;
        Ok(StepResult::Event(Event::End))
    }

    /// Searches for the empty line after the headers.
    fn headers(&mut self) -> Result<StepResult, AttachmentError> {
        while let Some(end) = memchr::memchr(b'\n', &self.input.rest[self.scanned..]).map(|at| at + self.scanned) {
            let line = &self.input.rest[self.line..end];
            if line.is_empty() || line == b"\r" {
                return self.end_headers(end + 1);
            }
            let dashed = self.delimiter.strip_prefix(b"\r").unwrap_or(&self.delimiter);
            if line.starts_with(&dashed[1..]) {
                return Err(self.input.malformed("a boundary occurs within the headers of a part"));
            }
            (self.line, self.scanned) = (end + 1, end + 1);
        }
        self.scanned = self.input.rest.len();
        self.need("the end of a part's headers")
    }

    fn end_headers(&mut self, end: usize) -> Result<StepResult, AttachmentError> {
        self.check(end)?;
        let (block, skip) = (self.line, end - self.line);
        let headers = PartHeaders::parse(&self.input.rest[..block]).map_err(|what| self.input.malformed(what))?;
        self.consume(block);
        (self.skip, self.state) = (skip, State::Data);
        Ok(StepResult::Event(Event::Part(headers)))
    }

    /// Returns the bytes that belong to no boundary.
    fn data(&mut self) -> Result<StepResult, AttachmentError> {
        let rest = &self.input.rest;
        let (end, used) = match self.finder.find(rest) {
            Some(at) => {
                self.state = State::Ending;
                (at, at + self.delimiter.len())
            }
            None => {
                let end = rest.len() - self.beginning_at_end();
                (end, end)
            }
        };
        let skipped = self.skip.min(end);
        self.skip = if self.state == State::Data { self.skip - skipped } else { 0 };
        let data = rest.slice(skipped..end);
        self.consume(used);
        match (data.is_empty(), self.state) {
            (false, _) => Ok(StepResult::Event(Event::Data(data))),
            (true, State::Ending) => Ok(StepResult::Next),
            (true, _) => self.input.more("the last boundary"),
        }
    }

    /// Returns the number of bytes at the end that may be the beginning of a boundary.
    fn beginning_at_end(&self) -> usize {
        let rest = &self.input.rest;
        let from = rest.len().saturating_sub(self.delimiter.len() - 1);
        let tail = &rest[from..];
        // The first byte of a line break occurs nowhere else in a boundary.
        let begin = memchr::memrchr(self.delimiter[0], tail).map(|at| &tail[at..]);
        begin.filter(|begin| self.delimiter.starts_with(begin)).map_or(0, <[u8]>::len)
    }

    fn consume(&mut self, len: usize) -> Bytes {
        (self.scanned, self.line) = (0, 0);
        self.input.take(len)
    }

    /// Requests more of the data that is held in full.
    fn need(&self, missing: &'static str) -> Result<StepResult, AttachmentError> {
        self.check(self.input.rest.len())?;
        self.input.more(missing)
    }

    /// Bounds the data that is held in full, in the same way whether it arrives at once or byte by
    /// byte.
    fn check(&self, len: usize) -> Result<(), AttachmentError> {
        let limit = self.limits.headers;
        if len > limit { Err(self.input.limit_error("headers", limit as u64)) } else { Ok(()) }
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| b" \t\r".contains(byte))
}

#[cfg(test)]
mod tests;
