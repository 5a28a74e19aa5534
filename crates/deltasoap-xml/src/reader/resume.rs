//! Progress of the search in an unfinished token, so that feeding it byte by byte does not read it
//! again each time.
//!
//! A token that is cut by the window's end is read again from its start once its end has arrived.
//! Until then each new window is only searched for that end, from where the last search stopped. If
//! several things can end the token, it is also read again whenever twice as many bytes have
//! arrived, which keeps the total work linear.

use super::token_error::TokenError;
use super::{OpenToken, Reader, Window};
use crate::scan::TagScan;

/// Tokens below this length are read again at every window.
const SHORT: usize = 16;

/// An unfinished token that starts with `<` or `&`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resume {
    /// Offset of the token in the document: the hint applies to a window at this position only.
    start: u64,
    /// Number of bytes of the token searched for its end.
    searched: usize,
    /// Length of the token when it was last read, `read <= searched`.
    read: usize,
    scan: TagScan,
}

impl Reader {
    /// Records an unfinished token at the window's position.
    pub(super) fn remember(&mut self, window: &Window<'_>) {
        let token = &window.bytes[window.pos..];
        let start = window.base + window.pos as u64;
        if self.inside != OpenToken::Nothing || !matches!(token, [b'<' | b'&', ..]) || token.len() < SHORT {
            self.resume = None;
        } else if self.resume.is_none_or(|resume| resume.start != start) {
            let mut scan = TagScan::default();
            scan.find(&token[1..]);
            self.resume = Some(Resume { start, searched: token.len(), read: token.len(), scan });
        }
    }

    /// Returns `Incomplete` at once if the token at the window's position cannot have ended yet.
    pub(super) fn check_resume(&mut self, window: &Window<'_>) -> Result<(), TokenError> {
        let Some(resume) = &mut self.resume else { return Ok(()) };
        let token = &window.bytes[window.pos..];
        let fits = resume.start == window.base + window.pos as u64 && token.len() >= resume.searched;
        if fits && !window.last && token.len() <= self.limits.markup && !resume.has_ended(token) {
            return Err(TokenError::Incomplete);
        }
        self.resume = None;
        Ok(())
    }
}

impl Resume {
    /// Searches the new bytes for the end of the token.
    fn has_ended(&mut self, token: &[u8]) -> bool {
        let new = &token[self.searched..];
        self.searched = token.len();
        match token {
            [b'<', b'/' | b'!' | b'?', ..] => memchr::memchr(b'>', new).is_some() || token.len() / 2 >= self.read,
            [b'<', ..] => self.scan.find(new).is_some(),
            _ => memchr::memchr(b';', new).is_some() || token.len() / 2 >= self.read,
        }
    }
}
