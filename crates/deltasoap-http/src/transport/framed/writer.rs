//! Outgoing frames.

use super::{FramesError, PREFACE, kind};
use crate::error::BoxError;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use futures_util::FutureExt;
use http_body::Body;
use http_body_util::BodyExt;
use std::pin::pin;
use tokio::io::{AsyncWrite, AsyncWriteExt};

/// Maximum length of a piece of a body that is copied, to be sent in one write with its framing.
const COPIED: usize = 8 << 10;
/// Maximum number of waiting bytes: more are written immediately.
const WAITING: usize = 16 << 10;

/// The writing side of a stream.
#[derive(Debug)]
pub(super) struct Writer<W> {
    stream: W,
    waiting: BytesMut,
}

impl<W: AsyncWrite + Unpin> Writer<W> {
    pub(super) fn new(stream: W) -> Self {
        Writer { stream, waiting: BytesMut::new() }
    }

    /// Adds the preface of a client, which is sent with its first request.
    pub(super) fn preface(&mut self) {
        self.waiting.put_slice(&PREFACE);
    }

    /// Sends a head and a body. If the body fails, an abort frame notifies the receiver.
    ///
    /// # Errors
    /// Returns an error if the stream breaks, or the body fails.
    pub(super) async fn send<B>(&mut self, head: &[u8], body: B) -> Result<(), FramesError>
    where
        B: Body<Data = Bytes, Error: Into<BoxError>>,
    {
        self.put(kind::HEAD, head.len() as u32);
        self.waiting.put_slice(head);
        let sent = self.send_body(body).await;
        let is_whole = !matches!(sent, Err(FramesError::Body(_)));
        self.put(if is_whole { kind::END } else { kind::ABORT }, 0);
        self.flush().await?;
        sent
    }

    async fn send_body<B>(&mut self, body: B) -> Result<(), FramesError>
    where
        B: Body<Data = Bytes, Error: Into<BoxError>>,
    {
        let mut body = pin!(body.map_err(Into::into));
        loop {
            let frame = match body.frame().now_or_never() {
                Some(frame) => frame,
                None => {
                    // Available bytes are sent while the rest of the body is pending.
                    self.flush().await?;
                    body.frame().await
                }
            };
            match frame.transpose().map_err(FramesError::Body)? {
                Some(frame) => self.data(frame.into_data().unwrap_or_default()).await?,
                None => return Ok(()),
            }
        }
    }

    async fn data(&mut self, mut data: Bytes) -> Result<(), FramesError> {
        while data.len() > COPIED {
            let piece = data.split_to(data.len().min(u32::MAX as usize));
            self.put(kind::DATA, piece.len() as u32);
            self.stream.write_all_buf(&mut self.waiting.split().chain(piece)).await?;
        }
        if !data.is_empty() {
            self.put(kind::DATA, data.len() as u32);
            self.waiting.put_slice(&data);
        }
        if self.waiting.len() > WAITING { self.flush().await } else { Ok(()) }
    }

    fn put(&mut self, kind: u8, len: u32) {
        self.waiting.put_u8(kind);
        self.waiting.put_u32(len);
    }

    async fn flush(&mut self) -> Result<(), FramesError> {
        self.stream.write_all_buf(&mut self.waiting).await?;
        Ok(self.stream.flush().await?)
    }
}
