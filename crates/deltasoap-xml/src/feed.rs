//! Chunks in, windows out: carries the unfinished token from one chunk to the next, detects the encoding,
//! transcodes UTF-16, and translates positions back to received bytes.

use crate::{Limits, Stop, Window, XmlError};

/// The encoding that a document came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, with or without a byte order mark.
    Utf8,
    /// UTF-16, big end first.
    Utf16Be,
    /// UTF-16, little end first.
    Utf16Le,
}

/// An error with a position that [`Feed`] can translate.
pub trait Located: From<Box<XmlError>> {
    /// The position, in bytes of UTF-8; to be replaced by one in received bytes.
    fn offset_mut(&mut self) -> &mut u64;
}

/// Feeds a step function with windows.
#[derive(Debug)]
pub struct Feed {}

impl Feed {
    /// A feed for one document at a time.
    pub fn new(limits: Limits) -> Self {
        let _ = limits;
        todo!()
    }
    /// Makes ready for another document.
    pub fn reset(&mut self) {
        todo!()
    }
    /// Offers one received chunk. `step` is called with windows and advances `pos`; it returns `Ok(())` or
    /// `Err(None)` for "pending: more bytes, please". Whatever it left behind `pos` is offered again with what follows.
    ///
    /// # Errors
    /// The step's own error or a fault of the encoding, its offset translated to received bytes.
    pub fn push<E: Located>(
        &mut self,
        chunk: &[u8],
        step: impl FnMut(&mut Window<'_>) -> Result<(), Option<E>>,
    ) -> Result<(), E> {
        let _ = (chunk, step, Stop::Pending);
        todo!()
    }
    /// Says that no chunk follows; calls `step` with the last window.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn finish<E: Located>(&mut self, step: impl FnMut(&mut Window<'_>) -> Result<(), Option<E>>) -> Result<(), E> {
        let _ = step;
        todo!()
    }
}
