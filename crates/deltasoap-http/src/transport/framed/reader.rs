//! Incoming frames.

use super::{FramesError, HEAD, PREFACE, kind};
use bytes::{Buf, Bytes, BytesMut};
use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncReadExt};

/// Length of a frame's kind and length fields.
const FRAME: usize = 5;
/// Buffer sizes for one read, if few bytes are expected, and if many are.
const SMALL: usize = 8 << 10;
const LARGE: usize = 64 << 10;

/// The reading side of a stream.
#[derive(Debug)]
pub(super) struct Reader<R> {
    stream: R,
    buffer: BytesMut,
    /// Number of remaining bytes of the current data frame.
    left: u32,
    /// Number of remaining bytes of the body, if its head contains the length.
    announced: Option<u64>,
}

impl<R: AsyncRead + Unpin> Reader<R> {
    pub(super) fn new(stream: R) -> Self {
        Reader { stream, buffer: BytesMut::new(), left: 0, announced: None }
    }

    /// Reads the preface of a client. Returns false if the stream ends instead.
    ///
    /// # Errors
    /// Returns an error if the stream begins with something else, or breaks.
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

    /// Reads the next head; `None` if the stream ends before it.
    ///
    /// # Errors
    /// Returns an error if something else arrives, or the stream breaks.
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

    /// Records the length of the next body, if it is known.
    pub(super) fn announce(&mut self, length: Option<u64>) {
        self.announced = length;
    }

    /// Returns the number of remaining bytes of the body, if its head contains the length.
    pub(super) fn announced(&self) -> Option<u64> {
        self.announced
    }

    /// Returns some of the body; `None` after its end.
    ///
    /// # Errors
    /// Returns an error if the body is aborted, or its length differs from the announced one.
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

    /// Moves into the next frame with data, or past the body's end, with nothing left. Returns
    /// false if more bytes are needed.
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

    /// Subtracts bytes from the announced length.
    fn expect(&mut self, bytes: u64) -> Result<(), FramesError> {
        if let Some(announced) = &mut self.announced {
            *announced = announced.checked_sub(bytes).ok_or(FramesError::Length)?;
        }
        Ok(())
    }

    /// Returns the available data of the data frame.
    fn take(&mut self) -> Bytes {
        let len = self.buffer.len().min(self.left as usize);
        self.left -= len as u32;
        self.buffer.split_to(len).freeze()
    }

    /// Returns the kind and length of the current frame.
    fn frame(&self) -> Option<(u8, u32)> {
        let mut frame = self.buffer.get(..FRAME)?;
        Some((frame.get_u8(), frame.get_u32()))
    }

    /// Returns true if nothing has arrived since the last body ended, and the stream is open.
    pub(super) fn is_idle(&mut self, context: &mut Context<'_>) -> bool {
        self.buffer.is_empty() && self.poll_fill(context).is_pending()
    }

    /// Reads some more bytes; none at the end of the stream.
    fn poll_fill(&mut self, context: &mut Context<'_>) -> Poll<std::io::Result<usize>> {
        // The reserved size is bounded, whatever length a frame announces.
        self.buffer.reserve(if self.left as usize > SMALL { LARGE } else { SMALL });
        let reading = pin!(self.stream.read_buf(&mut self.buffer));
        reading.poll(context)
    }
}
