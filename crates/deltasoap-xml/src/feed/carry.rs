//! Bytes that were received and not yet read, and their positions in the document.
//!
//! Bytes are appended at one end and read at the other. Bytes that have been read are dropped in
//! large steps, so that both operations take linear time.

use super::detect::{Detected, Encoding};
use crate::Window;

/// Memory above which an empty carry is released between documents.
const KEPT: usize = 64 << 10;

/// Unread bytes, after some that were read.
#[derive(Debug, Default)]
pub(super) struct Carry {
    bytes: Vec<u8>,
    /// Number of bytes read, `read <= bytes.len()`.
    read: usize,
    /// Offset of `bytes[0]` in the document.
    base: u64,
    /// Offset of `bytes[0]` among the received bytes of a transcoded document.
    received: u64,
    /// A position in a transcoded document that may be needed after its bytes are gone.
    mark: Option<Mark>,
    detected: Detected,
}

/// A position in a transcoded document.
#[derive(Debug, Clone, Copy)]
struct Mark {
    /// Offset in bytes of UTF-8.
    offset: u64,
    /// Offset in received bytes.
    received: u64,
}

impl Carry {
    pub(super) fn reset(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT);
        let bytes = std::mem::take(&mut self.bytes);
        *self = Carry { bytes, ..Carry::default() };
    }

    /// Starts a document after its byte order mark.
    pub(super) fn begin(&mut self, detected: Detected) {
        let mark = detected.mark_len() as u64;
        self.detected = detected;
        self.base = if self.is_transcoded() { 0 } else { mark };
        self.received = mark;
    }

    /// Returns the bytes not yet read.
    pub(super) fn unread(&self) -> &[u8] {
        &self.bytes[self.read..]
    }

    /// Returns the vector to append received bytes to.
    pub(super) fn end(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Returns a window on bytes that follow the bytes read.
    pub(super) fn window<'a>(&self, bytes: &'a [u8], last: bool) -> Window<'a> {
        let (base, mark) = (self.base + self.read as u64, self.mark.map(|mark| mark.offset));
        Window { bytes, pos: 0, base, last, encoding: self.detected, mark, halted: false }
    }

    /// Counts `n` unread bytes as read.
    pub(super) fn read(&mut self, n: usize) {
        self.read += n;
        if self.read >= self.unread().len() {
            self.forget(self.read);
        }
    }

    /// Counts `n` bytes as read that were never in the carry; only while nothing is unread.
    pub(super) fn skip(&mut self, n: usize) {
        self.base += n as u64;
    }

    /// Drops everything and continues at `offset` in a UTF-8 document.
    pub(super) fn seek(&mut self, offset: u64) {
        self.bytes.clear();
        self.read = 0;
        self.base = offset;
    }

    /// Drops all unread bytes; returns their number.
    pub(super) fn drop_unread(&mut self) -> usize {
        let unread = self.unread().len();
        self.bytes.truncate(self.read);
        self.read(0);
        unread
    }

    /// Records the position among the received bytes of the mark that a step has set. Must be
    /// called before the bytes count as read.
    pub(super) fn keep_mark(&mut self, mark: Option<u64>) {
        if self.is_transcoded() && mark != self.mark.map(|mark| mark.offset) {
            self.mark = mark.map(|offset| Mark { offset, received: self.received(offset) });
        }
    }

    /// Translates an offset in a transcoded document to received bytes.
    pub(super) fn received(&self, offset: u64) -> u64 {
        if let Some(mark) = self.mark.filter(|mark| mark.offset == offset) {
            return mark.received;
        }
        let index = offset.saturating_sub(self.base).min(self.bytes.len() as u64);
        self.received + self.detected.encoding.length_of(&self.bytes[..index as usize])
    }

    fn forget(&mut self, n: usize) {
        if self.is_transcoded() {
            self.received += self.detected.encoding.length_of(&self.bytes[..n]);
        }
        self.bytes.drain(..n);
        self.read -= n;
        self.base += n as u64;
    }

    fn is_transcoded(&self) -> bool {
        self.detected.encoding != Encoding::Utf8
    }
}
