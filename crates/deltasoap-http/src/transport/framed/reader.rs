//! Frames as they come in.

use super::{FramesError, HEAD, PREFACE, kind};
use bytes::{Buf, Bytes, BytesMut};
use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncReadExt};

/// Bytes of a frame in front of its content.
const FRAME: usize = 5;
/// Room for what is read at one time, where little is expected, and much.
const SMALL: usize = 8 << 10;
const LARGE: usize = 64 << 10;

/// The reading side of a stream.
#[derive(Debug)]
pub(super) struct Reader<R> {
    stream: R,
    buffer: BytesMut,
    /// Bytes to come of the data frame at hand.
    left: u32,
    /// Bytes to come of the body, if its head said.
    announced: Option<u64>,
}

impl<R: AsyncRead + Unpin> Reader<R> {
    pub(super) fn new(stream: R) -> Self {
        Reader { stream, buffer: BytesMut::new(), left: 0, announced: None }
    }

    /// Reads what a client begins with; false if the stream ends instead.
    ///
    /// # Errors
    /// When it begins with something else, or the stream breaks.
    pub(super) async fn preface(&mut self) -> Result<bool, FramesError> {
        loop {
            let known = self.buffer.len().min(PREFACE.len());
            if self.buffer[..known] != PREFACE[..known] {
                return Err(FramesError::Preface);
            }
            if known == PREFACE.len() {
                self.buffer.advance(known);
                return Ok(true);
            }
            if poll_fn(|context| self.poll_fill(context)).await? == 0 {
                return if known == 0 { Ok(false) } else { Err(FramesError::Ended) };
            }
        }
    }

    /// The next head; `None` if the stream ends in front of it.
    ///
    /// # Errors
    /// When something else comes, or the stream breaks.
    pub(super) async fn head(&mut self) -> Result<Option<Bytes>, FramesError> {
        loop {
            if let Some((kind, len)) = self.frame() {
                if kind != kind::HEAD {
                    return Err(FramesError::Frame(kind));
                }
                if len > HEAD {
                    return Err(FramesError::Head);
                }
                if self.buffer.len() - FRAME >= len as usize {
                    self.buffer.advance(FRAME);
                    return Ok(Some(self.buffer.split_to(len as usize).freeze()));
                }
            }
            if poll_fn(|context| self.poll_fill(context)).await? == 0 {
                return if self.buffer.is_empty() { Ok(None) } else { Err(FramesError::Ended) };
            }
        }
    }

    /// Notes how long the body is that follows, if that is known.
    pub(super) fn announce(&mut self, length: Option<u64>) {
        self.announced = length;
    }

    /// Bytes to come of the body, if its head said how many.
    pub(super) fn announced(&self) -> Option<u64> {
        self.announced
    }

    /// Some of the body, `None` behind its end.
    ///
    /// # Errors
    /// When the body breaks off, or is not as long as announced.
    pub(super) fn poll_data(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, FramesError>> {
        loop {
            if self.left == 0 && !self.next_data()? {
                if ready!(self.poll_fill(context))? == 0 {
                    return Poll::Ready(Err(FramesError::Ended));
                }
                continue;
            }
            if self.left == 0 {
                return Poll::Ready(Ok(None));
            }
            if !self.buffer.is_empty() {
                return Poll::Ready(Ok(Some(self.take())));
            }
            if ready!(self.poll_fill(context))? == 0 {
                return Poll::Ready(Err(FramesError::Ended));
            }
        }
    }

    /// Steps into the next frame with data in it, or behind the body's end, with nothing left. False if there is not enough at hand.
    fn next_data(&mut self) -> Result<bool, FramesError> {
        while let Some((kind, len)) = self.frame() {
            self.buffer.advance(FRAME);
            match (kind, len) {
                (kind::DATA, 0) => {}
                (kind::DATA, len) => {
                    self.left = len;
                    return self.expect(u64::from(len)).map(|()| true);
                }
                (kind::END, 0) => {
                    return if self.announced.unwrap_or(0) == 0 { Ok(true) } else { Err(FramesError::Length) };
                }
                (kind::ABORT, 0) => return Err(FramesError::Aborted),
                (kind, _) => return Err(FramesError::Frame(kind)),
            }
        }
        Ok(false)
    }

    /// Counts bytes that were announced.
    fn expect(&mut self, bytes: u64) -> Result<(), FramesError> {
        if let Some(announced) = &mut self.announced {
            *announced = announced.checked_sub(bytes).ok_or(FramesError::Length)?;
        }
        Ok(())
    }

    /// What is at hand of the data frame.
    fn take(&mut self) -> Bytes {
        let len = self.buffer.len().min(self.left as usize);
        self.left -= len as u32;
        self.buffer.split_to(len).freeze()
    }

    /// Kind and length of the frame at hand.
    fn frame(&self) -> Option<(u8, u32)> {
        let mut frame = self.buffer.get(..FRAME)?;
        Some((frame.get_u8(), frame.get_u32()))
    }

    /// True if nothing has come since the last body ended, and the stream is there.
    pub(super) fn is_idle(&mut self, context: &mut Context<'_>) -> bool {
        self.buffer.is_empty() && self.poll_fill(context).is_pending()
    }

    /// Reads some more bytes; none at the stream's end.
    fn poll_fill(&mut self, context: &mut Context<'_>) -> Poll<std::io::Result<usize>> {
        // No more than a constant, whatever a frame announces.
        self.buffer.reserve(if self.left as usize > SMALL { LARGE } else { SMALL });
        let reading = pin!(self.stream.read_buf(&mut self.buffer));
        reading.poll(context)
    }
}
