//! Bytes that were received and not yet read, and where in the document they lie.
//!
//! Bytes are appended at one end and read at the other; what has been read is dropped in large steps, so that
//! neither end costs more than its own bytes.

use super::detect::{Detected, Encoding};
use crate::Window;

/// Memory above which an empty carry is given back between documents.
const KEPT: usize = 1 << 20;

/// Unread bytes, and for UTF-16 some that were read.
#[derive(Debug, Default)]
pub(super) struct Carry {
    bytes: Vec<u8>,
    /// Bytes read, `read <= bytes.len()`.
    read: usize,
    /// Offset of `bytes[0]` in the document.
    base: u64,
    /// Offset of `bytes[0]` among the received bytes of a UTF-16 document.
    received: u64,
    /// How many read bytes to keep.
    history: usize,
    detected: Detected,
}

impl Carry {
    pub(super) fn reset(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT);
        let bytes = std::mem::take(&mut self.bytes);
        *self = Carry { bytes, ..Carry::default() };
    }

    /// Starts a document behind its byte order mark.
    pub(super) fn begin(&mut self, detected: Detected, history: usize) {
        let mark = detected.mark_len() as u64;
        self.base = if detected.encoding == Encoding::Utf8 { mark } else { 0 };
        self.received = mark;
        self.history = history;
        self.detected = detected;
    }

    /// The bytes not yet read.
    pub(super) fn unread(&self) -> &[u8] {
        &self.bytes[self.read..]
    }

    /// Where bytes are to be appended.
    pub(super) fn end(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// A window on bytes that follow what has been read.
    pub(super) fn window<'a>(&self, bytes: &'a [u8], last: bool) -> Window<'a> {
        Window { bytes, pos: 0, base: self.base + self.read as u64, last, encoding: self.detected }
    }

    /// Counts `n` unread bytes as read.
    pub(super) fn read(&mut self, n: usize) {
        self.read += n;
        let kept = (self.bytes.len() - self.read).max(self.history);
        if self.read > self.history && self.read - self.history >= kept {
            self.forget(self.read - self.history);
        }
    }

    /// Counts `n` bytes as read that were never here; only while nothing is unread.
    pub(super) fn skip(&mut self, n: usize) {
        self.base += n as u64;
    }

    /// Takes back all unread bytes; gives their number.
    pub(super) fn drop_unread(&mut self) -> usize {
        let unread = self.unread().len();
        self.bytes.truncate(self.read);
        self.read(0);
        unread
    }

    /// Where a place in a UTF-16 document lies among the received bytes: each code unit took two of them.
    pub(super) fn received(&self, offset: u64) -> u64 {
        let index = offset.saturating_sub(self.base).min(self.bytes.len() as u64);
        self.received + 2 * units(&self.bytes[..index as usize])
    }

    fn forget(&mut self, n: usize) {
        if self.history > 0 {
            self.received += 2 * units(&self.bytes[..n]);
        }
        self.bytes.drain(..n);
        self.read -= n;
        self.base += n as u64;
    }
}

/// UTF-16 code units of UTF-8: one for each character, one more for those of four bytes.
fn units(bytes: &[u8]) -> u64 {
    bytes.iter().map(|&b| u64::from(b & 0xC0 != 0x80) + u64::from(b >= 0xF0)).sum()
}
