//! An incoming body.

use super::FramesError;
use super::reader::Reader;
use super::writer::Writer;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http_body::{Body, Frame, SizeHint};
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::oneshot;

pub(super) type ReadHalf = Box<dyn AsyncRead + Send + Unpin>;
pub(super) type WriteHalf = Box<dyn AsyncWrite + Send + Unpin>;

/// An incoming body over [`Frames`](super::Frames), of a request or of a response. It borrows its
/// connection, and returns it at its end. If a body is dropped before, its connection is closed.
pub struct FramesBody {
    /// Present as long as more data is expected.
    reader: Option<Reader<ReadHalf>>,
    end: End,
}

/// The action at the end of a body.
enum End {
    /// The server continues with the connection, whether or not the body was read to its end.
    Request(Option<oneshot::Sender<Returned>>),
    /// The rest of the request is sent while the response is read; then the connection waits for
    /// the next exchange.
    Response { sending: Sending, keep: Option<Keep> },
}

/// The reader of a connection, and whether it is at the end of the body.
pub(super) struct Returned {
    pub(super) reader: Reader<ReadHalf>,
    pub(super) is_at_end: bool,
}

/// Receives a connection whose exchange is over.
pub(super) type Keep = Box<dyn FnOnce(Reader<ReadHalf>, Writer<WriteHalf>) + Send>;

/// A request that is being sent.
pub(super) enum Sending {
    Running(BoxFuture<'static, Result<Writer<WriteHalf>, FramesError>>),
    Sent(Writer<WriteHalf>),
    Failed,
}

impl Sending {
    /// Sends more of the request.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<(), FramesError>> {
        let Sending::Running(sending) = self else { return Poll::Ready(Ok(())) };
        match ready!(sending.as_mut().poll(context)) {
            Ok(writer) => {
                *self = Sending::Sent(writer);
                Poll::Ready(Ok(()))
            }
            Err(error) => {
                *self = Sending::Failed;
                Poll::Ready(Err(error))
            }
        }
    }
}

impl FramesBody {
    /// Creates a request's body, and a receiver that gets its reader back.
    pub(super) fn for_request(reader: Reader<ReadHalf>) -> (Self, oneshot::Receiver<Returned>) {
        let (home, returned) = oneshot::channel();
        (FramesBody { reader: Some(reader), end: End::Request(Some(home)) }, returned)
    }

    pub(super) fn for_response(reader: Reader<ReadHalf>, sending: Sending, keep: Keep) -> Self {
        FramesBody { reader: Some(reader), end: End::Response { sending, keep: Some(keep) } }
    }

    /// Returns the connection after the body's end.
    fn finish(&mut self) {
        let Some(reader) = self.reader.take() else { return };
        match &mut self.end {
            End::Request(home) => give_back(home, reader, true),
            End::Response { sending, keep } => {
                if let (Sending::Sent(writer), Some(keep)) = (std::mem::replace(sending, Sending::Failed), keep.take())
                {
                    keep(reader, writer);
                }
            }
        }
    }
}

fn give_back(home: &mut Option<oneshot::Sender<Returned>>, reader: Reader<ReadHalf>, is_at_end: bool) {
    if let Some(home) = home.take() {
        // The receiver may be gone if the connection broke meanwhile.
        let _ = home.send(Returned { reader, is_at_end });
    }
}

impl Body for FramesBody {
    type Data = Bytes;
    type Error = FramesError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, FramesError>>> {
        if let End::Response { sending, .. } = &mut self.end {
            // A server may answer without reading all of the request: only its answer matters.
            let _ = sending.poll(context);
        }
        let Some(reader) = &mut self.reader else { return Poll::Ready(None) };
        match ready!(reader.poll_data(context)) {
            Ok(Some(data)) => return Poll::Ready(Some(Ok(Frame::data(data)))),
            Ok(None) => self.finish(),
            Err(error) => {
                self.reader = None;
                return Poll::Ready(Some(Err(error)));
            }
        }
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        self.reader.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match &self.reader {
            Some(reader) => reader.announced().map_or_else(SizeHint::default, SizeHint::with_exact),
            None => SizeHint::with_exact(0),
        }
    }
}

impl Drop for FramesBody {
    fn drop(&mut self) {
        if let (Some(reader), End::Request(home)) = (self.reader.take(), &mut self.end) {
            give_back(home, reader, false);
        }
    }
}

impl fmt::Debug for FramesBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FramesBody").finish_non_exhaustive()
    }
}
