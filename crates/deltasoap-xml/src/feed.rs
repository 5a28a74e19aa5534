//! Chunks in, windows out: carries the unfinished token from one chunk to the next, detects the
//! encoding, transcodes other encodings to UTF-8, and translates positions back to received bytes.
//!
//! A chunk of UTF-8 is not copied: the step function works on it directly, and only what it leaves
//! unread goes to the *carry*. The next chunk is first joined to the carry in small, doubling
//! pieces. As soon as the step function has read past the old carry, it continues in the chunk
//! itself. Other encodings are transcoded into the carry piece by piece.
//!
//! An error that ends a document early (malformed UTF-16, the limit `message`) is held back until
//! the step function has seen everything before it, so that an earlier error wins.

mod carry;
mod detect;
mod transcode;
mod utf16;

pub use detect::{Detected, Encoding};

use crate::chars::unfinished_tail;
use crate::{Limits, Window, XmlError, XmlErrorKind};
use carry::Carry;
use detect::{Detector, Prefix};
use transcode::Transcoder;

/// Number of bytes of a chunk that are joined to the carry first; doubled until the carry is read.
const JOINED: usize = 64;

/// Bytes transcoded at a time.
const TRANSCODED: usize = 16 << 10;

/// The caller's step function.
type Step<'s, E> = dyn FnMut(&mut Window<'_>) -> Result<(), Option<E>> + 's;

/// An error with a position that [`Feed`] can translate.
pub trait Located: From<Box<XmlError>> {
    /// The position in bytes of UTF-8, which [`Feed`] replaces by the position in received bytes.
    fn offset_mut(&mut self) -> &mut u64;
}

impl Located for Box<XmlError> {
    fn offset_mut(&mut self) -> &mut u64 {
        &mut self.offset
    }
}

/// Feeds a step function with windows.
///
/// ```
/// use deltasoap_xml::{Event, Feed, Instructions, Limits, Reader, Stop, Window, XmlError};
///
/// let limits = Limits::default();
/// let (mut feed, mut reader) = (Feed::new(limits), Reader::new(limits, Instructions::Refuse));
/// let mut text = String::new();
/// let mut step = |window: &mut Window<'_>| loop {
///     match reader.next(window) {
///         Ok(Event::Text(piece)) => text.push_str(piece),
///         Ok(Event::Done) => return Ok(()),
///         Ok(_) => {}
///         Err(Stop::Pending) => return Err(None),
///         Err(Stop::Error(error)) => return Err(Some(error)),
///     }
/// };
/// feed.push::<Box<XmlError>>(b"<a>one pie", &mut step)?;
/// feed.push::<Box<XmlError>>(b"ce and another</a>", &mut step)?;
/// feed.finish::<Box<XmlError>>(&mut step)?;
/// assert_eq!(text, "one piece and another");
/// # Ok::<(), Box<XmlError>>(())
/// ```
#[derive(Debug)]
pub struct Feed {
    limits: Limits,
    detector: Detector,
    carry: Carry,
    /// Set for documents that are not in UTF-8.
    transcoder: Option<Transcoder>,
    /// Bytes received.
    received: u64,
    /// Maximum number of bytes that may be received in total.
    allowed: u64,
    /// True if a step wants no more windows.
    halted: bool,
}

impl Feed {
    /// Creates a feed for one document at a time.
    pub fn new(limits: Limits) -> Self {
        Feed {
            limits,
            detector: Detector::default(),
            carry: Carry::default(),
            transcoder: None,
            received: 0,
            allowed: limits.message,
            halted: false,
        }
    }

    /// Sets the encoding of a document that has neither a byte order mark nor an encoding in its
    /// XML declaration, as a `charset` parameter does (RFC 7303, section 3). Call it before the
    /// first chunk; it applies until [`reset`](Self::reset). The default is UTF-8. UTF-16 needs a
    /// mark or a declaration anyway.
    pub fn set_encoding(&mut self, encoding: Encoding) {
        debug_assert!(self.received == 0, "the document has begun");
        self.detector.set_fallback(encoding);
    }

    /// Prepares for another document, also after an error.
    pub fn reset(&mut self) {
        self.detector = Detector::default();
        self.carry.reset();
        self.transcoder = None;
        self.received = 0;
        self.allowed = self.limits.message;
        self.halted = false;
    }

    /// Restarts the count for the [message limit](Limits::message): for documents whose content is
    /// not kept while it is read.
    pub fn restart_message_limit(&mut self) {
        self.allowed = self.received.saturating_add(self.limits.message);
    }

    /// Returns true once a step has set [`Window::halted`]. No more windows are offered then,
    /// whatever is pushed, until a [`seek`](Self::seek).
    pub fn is_halted(&self) -> bool {
        self.halted
    }

    /// Continues at `offset` in a UTF-8 document. The bytes from there on must be pushed next,
    /// again or for the first time.
    pub fn seek(&mut self, offset: u64) {
        debug_assert!(self.transcoder.is_none(), "positions in other encodings are not those of the received bytes");
        self.carry.seek(offset);
        self.received = offset;
        self.halted = false;
    }

    /// Returns the encoding of the document, once enough bytes have arrived to detect it.
    pub fn encoding(&self) -> Option<Encoding> {
        self.detector.detected().map(|detected| detected.encoding)
    }

    /// Returns the number of bytes received so far.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Returns the number of bytes that the step function has left unread.
    pub fn unread(&self) -> usize {
        self.carry.unread().len()
    }

    /// Offers one received chunk. `step` is called with windows and advances `pos`. It returns
    /// `Ok(())`, or `Err(None)` if it needs more bytes. The bytes from `pos` on are offered again
    /// together with what follows.
    ///
    /// # Errors
    /// The step's own error or an encoding error, with its offset translated to received bytes.
    /// After an error the feed needs a [`reset`](Self::reset). In a document that is not in UTF-8
    /// the step's error must lie in the current window, or at the [`mark`](Window::mark) that the
    /// step has left: no other earlier position can be translated.
    pub fn push<E: Located>(
        &mut self,
        chunk: &[u8],
        mut step: impl FnMut(&mut Window<'_>) -> Result<(), Option<E>>,
    ) -> Result<(), E> {
        let step: &mut Step<'_, E> = &mut step;
        let room = usize::try_from(self.allowed.saturating_sub(self.received)).unwrap_or(usize::MAX);
        let within = &chunk[..chunk.len().min(room)];
        self.received += within.len() as u64;
        self.accept(within, step)?;
        if within.len() < chunk.len() && !self.halted {
            return self.over_limit(step);
        }
        Ok(())
    }

    /// Signals that no chunk follows; calls `step` with the last window.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub fn finish<E: Located>(
        &mut self,
        mut step: impl FnMut(&mut Window<'_>) -> Result<(), Option<E>>,
    ) -> Result<(), E> {
        self.settle(&mut step)?;
        match self.transcoder.as_ref().and_then(Transcoder::unfinished) {
            Some(at) => self.conclude(at, XmlErrorKind::Encoding, &mut step),
            None => self.offer(true, &mut step),
        }
    }

    fn accept<E: Located>(&mut self, chunk: &[u8], step: &mut Step<'_, E>) -> Result<(), E> {
        if self.detector.detected().is_some() {
            return self.take(chunk, step);
        }
        let Some(Prefix { head, used }) = self.detector.add(chunk) else { return Ok(()) };
        self.begin();
        self.take(&head, step)?;
        self.take(&chunk[used..], step)
    }

    /// Decides on the encoding from the bytes received, since no more will come.
    fn settle<E: Located>(&mut self, step: &mut Step<'_, E>) -> Result<(), E> {
        if self.detector.detected().is_some() {
            return Ok(());
        }
        let Prefix { head, .. } = self.detector.settle();
        self.begin();
        self.take(&head, step)
    }

    /// Starts the document after its byte order mark.
    fn begin(&mut self) {
        let detected = self.detector.detected().unwrap_or_default();
        self.carry.begin(detected);
        self.transcoder = Transcoder::new(detected);
    }

    fn take<E: Located>(&mut self, chunk: &[u8], step: &mut Step<'_, E>) -> Result<(), E> {
        match self.transcoder {
            Some(_) => chunk.chunks(TRANSCODED).try_for_each(|piece| self.take_other(piece, step)),
            None => self.take_utf8(chunk, step),
        }
    }

    fn take_other<E: Located>(&mut self, piece: &[u8], step: &mut Step<'_, E>) -> Result<(), E> {
        let Some(transcoder) = &mut self.transcoder else { return Ok(()) };
        let decoded = transcoder.decode(piece, self.carry.end());
        self.offer(false, step)?;
        decoded.or_else(|at| self.conclude(at, XmlErrorKind::Encoding, step))
    }

    fn take_utf8<E: Located>(&mut self, chunk: &[u8], step: &mut Step<'_, E>) -> Result<(), E> {
        let (mut joined, mut more) = (0, JOINED);
        while !self.halted && !self.carry.unread().is_empty() && joined < chunk.len() {
            let piece = &chunk[joined..chunk.len().min(joined + more)];
            self.carry.end().extend_from_slice(piece);
            (joined, more) = (joined + piece.len(), more * 2);
            self.offer(false, step)?;
            if self.carry.unread().len() <= joined && joined < chunk.len() {
                joined -= self.carry.drop_unread();
            }
        }
        self.direct(&chunk[joined..], step)
    }

    /// Offers a chunk without copying the part that is read.
    fn direct<E: Located>(&mut self, chunk: &[u8], step: &mut Step<'_, E>) -> Result<(), E> {
        if chunk.is_empty() || self.halted {
            return Ok(());
        }
        let mut window = self.carry.window(chunk, false);
        let result = step(&mut window);
        let read = window.pos;
        self.halted = window.halted;
        if self.halted {
            return result.or_else(|error| error.map_or(Ok(()), Err));
        }
        self.carry.skip(read);
        self.carry.end().extend_from_slice(&chunk[read..]);
        result.or_else(|error| error.map_or(Ok(()), Err))
    }

    /// Offers the bytes in the carry.
    fn offer<E: Located>(&mut self, last: bool, step: &mut Step<'_, E>) -> Result<(), E> {
        let mut window = self.carry.window(self.carry.unread(), last);
        let result = step(&mut window);
        let (read, mark) = (window.pos, window.mark);
        self.halted = window.halted;
        let result = result.or_else(|error| error.map_or(Ok(()), |error| Err(self.translated(error))));
        self.carry.keep_mark(mark);
        self.carry.read(read);
        result
    }

    #[cold]
    fn over_limit<E: Located>(&mut self, step: &mut Step<'_, E>) -> Result<(), E> {
        let limit = self.limits.message;
        self.settle(step)?;
        self.conclude(self.allowed, XmlErrorKind::Limit { name: "message", limit }, step)
    }

    /// Ends the document at an error that the feed found: returns the error of the step in the
    /// bytes before it, or else this one. A step error at the very end of those bytes only means
    /// that bytes are missing, and is ignored. If the step wants no more windows, it has not seen
    /// everything, and there is no error yet.
    #[cold]
    fn conclude<E: Located>(&mut self, offset: u64, kind: XmlErrorKind, step: &mut Step<'_, E>) -> Result<(), E> {
        let unread = self.carry.unread();
        let whole = unfinished_tail(unread).unwrap_or(unread.len());
        let mut window = self.carry.window(&unread[..whole], true);
        let end = window.base + whole as u64;
        if let Err(Some(mut error)) = step(&mut window)
            && *error.offset_mut() < end
        {
            return Err(self.translated(error));
        }
        self.halted = window.halted;
        if self.halted { Ok(()) } else { Err(E::from(Box::new(XmlError { kind, offset }))) }
    }

    #[cold]
    fn translated<E: Located>(&self, mut error: E) -> E {
        if self.transcoder.is_some() {
            let offset = error.offset_mut();
            *offset = self.carry.received(*offset);
        }
        error
    }
}
