//! Character data: runs that stand for themselves, borrowed from the window; references and line
//! ends one by one; CDATA sections.
//!
//! A run ends before `<`, `&` and carriage returns, and before the first invalid character: valid
//! text is delivered, and the error comes with the next call. At the end of a window that is not
//! the last, anything that could be the start of something else is held back: an unfinished UTF-8
//! sequence, a carriage return, `]` and `]]`.

use super::attribute::line_end;
use super::token_error::{TokenError, fault, over_limit};
use super::{Event, OpenToken, Reader, Window, reference};
use crate::XmlErrorKind;
use crate::chars::{PLAIN_TEXT, floor_boundary, has, valid_prefix};
use crate::scan::text::plain_text;

/// Number of bytes examined one by one before a vectorised search pays off.
const SHORT: usize = 24;

impl Reader {
    /// Reads character data from a window that is not empty and does not start with `<`.
    #[inline]
    pub(super) fn text<'w>(&mut self, window: &mut Window<'w>) -> Result<Event<'w>, TokenError> {
        match window.bytes[window.pos] {
            b'&' => {
                let (c, end) = reference::read(window.bytes, window.pos, self.limits.name)?;
                self.character(window, c, end)
            }
            b'\r' => self.line_end(window),
            _ => self.run(window),
        }
    }

    fn run<'w>(&mut self, window: &mut Window<'w>) -> Result<Event<'w>, TokenError> {
        let rest = &window.bytes[window.pos..];
        let (text, fail) = match short_run(rest) {
            Some(text) => (text, None),
            None => long_run(rest, window.pos, window.last),
        };
        self.deliver(window, text, fail)
    }

    /// Reads inside a CDATA section; `None` at its end.
    pub(super) fn cdata<'w>(&mut self, window: &mut Window<'w>) -> Result<Option<Event<'w>>, TokenError> {
        let rest = &window.bytes[window.pos..];
        match rest {
            [] => return Err(TokenError::Incomplete),
            [b'\r', ..] => return self.line_end(window).map(Some),
            [b']', b']', b'>', ..] => {
                window.pos += 3;
                self.inside = OpenToken::Nothing;
                return Ok(None);
            }
            _ => {}
        }
        let end = memchr::memchr(b'\r', rest).unwrap_or(rest.len());
        let held = if end == rest.len() { end - held_back(rest, window.last) } else { end };
        let run = memchr::memmem::find(&rest[..end], b"]]>").unwrap_or(held);
        let (text, fail) = valid_prefix(&rest[..run], window.pos, run == rest.len());
        self.deliver(window, text, fail).map(Some)
    }

    /// Returns a piece of text, or, if it is empty, the reason why.
    fn deliver<'w>(
        &mut self,
        window: &mut Window<'w>,
        text: &'w str,
        fail: Option<TokenError>,
    ) -> Result<Event<'w>, TokenError> {
        if text.is_empty() {
            return Err(fail.unwrap_or(TokenError::Incomplete));
        }
        let text = self.count(text).ok_or_else(|| over_limit(window.pos, "text", self.limits.text))?;
        window.pos += text.len();
        Ok(Event::Text(text))
    }

    /// Counts character data against the limit; returns the part within the limit, never empty.
    #[inline]
    fn count<'w>(&mut self, text: &'w str) -> Option<&'w str> {
        let open = self.open.last_mut()?;
        let room = self.limits.text - open.text;
        let end = if text.len() <= room { text.len() } else { floor_boundary(text.as_bytes(), room) };
        open.text += end;
        Some(&text[..end]).filter(|text| !text.is_empty())
    }

    fn character<'w>(&mut self, window: &mut Window<'w>, c: char, end: usize) -> Result<Event<'w>, TokenError> {
        if self.count(c.encode_utf8(&mut [0; 4])).is_none() {
            return Err(over_limit(window.pos, "text", self.limits.text));
        }
        window.pos = end;
        Ok(Event::Char(c))
    }

    fn line_end<'w>(&mut self, window: &mut Window<'w>) -> Result<Event<'w>, TokenError> {
        let end = match line_end(window.bytes, window.pos) {
            Err(_) if window.last => window.pos + 1,
            end => end?,
        };
        self.character(window, '\n', end)
    }
}

/// Returns the run that starts `rest`, if it is short and plain and its end is in sight.
#[inline]
fn short_run(rest: &[u8]) -> Option<&str> {
    let end = rest.iter().take(SHORT).position(|&b| !has(b, PLAIN_TEXT))?;
    match rest[end] {
        b'<' | b'&' | b'\r' => std::str::from_utf8(&rest[..end]).ok(),
        _ => None,
    }
}

/// Returns the deliverable part of the run that starts `rest`, and the reason why it ends.
fn long_run(rest: &[u8], at: usize, last: bool) -> (&str, Option<TokenError>) {
    let plain = plain_text(rest);
    if matches!(rest.get(plain.len()), None | Some(b'<' | b'&' | b'\r')) {
        return (plain, None);
    }
    let end = memchr::memchr3(b'<', b'&', b'\r', rest).unwrap_or(rest.len());
    let to_end = end == rest.len();
    let (text, fail) = valid_prefix(&rest[..end], at, to_end);
    if memchr::memchr(b']', text.as_bytes()).is_none() {
        return (text, fail);
    }
    match memchr::memmem::find(text.as_bytes(), b"]]>") {
        Some(end) => (&text[..end], Some(fault(at + end, XmlErrorKind::CdataEnd))),
        None if to_end && text.len() == end => (&text[..end - held_back(rest, last)], None),
        None => (text, fail),
    }
}

/// Returns the number of bytes at the end of the input so far that could be the start of `]]>`.
fn held_back(rest: &[u8], last: bool) -> usize {
    match rest {
        _ if last => 0,
        [.., b']', b']'] => 2,
        [.., b']'] => 1,
        _ => 0,
    }
}
