//! Bodies of outgoing messages: one piece, or the pieces of a template, sent without copying.
//!
//! A frame is one [`Bytes`], so nothing is copied on the way to the socket: hyper gathers the
//! available frames into one vectored write. The length is known in advance, and announced even if
//! the receiver uses HTTP/1.0. There are two exceptions: messages that are [`overlaid`], which are
//! written while they are sent, so that their length is known only at the end, and long ones that
//! are compressed ([`deflated`]). A body can be [`lent`], to be taken back if it was not sent.

#[cfg(feature = "gzip")]
mod deflated;
mod foreign;
mod lent;
mod overlaid;

use crate::attachments::package::Package;
use crate::coding::{AdaptiveState, Codec, Codings, Compression, ContentCoding};
use crate::error::BoxError;
use bytes::Bytes;
#[cfg(feature = "gzip")]
use deflated::Deflated;
use deltasoap_core::{Buffer, Content, Error, ErrorKind, Feed, Outgoing, Overlay};
use foreign::Foreign;
use futures_util::FutureExt;
use futures_util::TryStreamExt;
use futures_util::stream::{Stream, TryReadyChunksError};
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::BodyExt;
use lent::Lent;
pub(crate) use lent::Slot;
use overlaid::Overlaid;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

/// The body of a request that a [`Client`](crate::Client) sends, and of a response of a
/// [`SoapService`](crate::SoapService).
///
/// While a body from a template, or any of its frames, is held, the template copies the shared data
/// before it changes it. A clone starts where the original is, except for a body whose items come
/// from an iterator, that has parts from files and streams, or that is [passed on](Self::passed_on):
/// those can be sent once, and the clone fails when it is read. So does the clone of a body that is
/// being compressed, once that has begun.
///
/// Other bodies never fail.
#[derive(Debug, Clone, Default)]
pub struct Body {
    pieces: Pieces,
    /// Number of bytes in the remaining frames, if known.
    left: usize,
    /// Receives each frame.
    recorder: Option<Arc<dyn Recorder>>,
    /// Receives the error that ends the body.
    failure: Option<Failure>,
}

/// The error of a body that could not be sent: HTTP/2 only tells that there was one.
pub(crate) type Failure = Arc<OnceLock<Error>>;

#[derive(Debug, Clone)]
enum Pieces {
    One(Bytes),
    Template {
        outgoing: Outgoing,
        /// The next frame.
        next: usize,
    },
    Overlaid(Overlaid),
    Package(Box<Package>),
    #[cfg(feature = "gzip")]
    Coded(Box<Deflated>),
    Lent(Box<Lent>),
    Foreign(Box<Foreign>),
}

/// Returns the error of a body that cannot be sent.
#[cold]
fn failed(what: &str) -> Error {
    Error::at(ErrorKind::Other(what.to_owned()), 0)
}

/// Receives everything that is read from a body.
pub(crate) trait Recorder: fmt::Debug + Send + Sync {
    fn sent(&self, bytes: &[u8]);
}

impl Default for Pieces {
    fn default() -> Self {
        Pieces::One(Bytes::new())
    }
}

impl Pieces {
    fn next(&mut self) -> Bytes {
        match self {
            Pieces::One(bytes) => std::mem::take(bytes),
            Pieces::Template { outgoing, next } => {
                *next += 1;
                outgoing.frames().get(*next - 1).cloned().unwrap_or_default()
            }
            _ => Bytes::new(),
        }
    }
}

/// Maximum number of items that are taken from a stream before they are written.
const READY: usize = 256;

/// Maximum length of a body that is compressed immediately.
#[cfg(feature = "gzip")]
const AT_ONCE: usize = 16 << 10;

impl Body {
    /// Creates a body that is passed on as it arrives from elsewhere: for proxies. Its trailers are
    /// left out, and its errors end the exchange.
    pub fn passed_on<B>(body: B) -> Self
    where
        B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        Body::from_pieces(Pieces::Foreign(Box::new(Foreign::new(body))))
    }

    /// Creates a body from pieces that know their own length.
    fn from_pieces(pieces: Pieces) -> Self {
        Body { pieces, left: 0, recorder: None, failure: None }
    }

    /// Lends the body, which can be taken back until it is read.
    pub(crate) fn lend(self) -> (Body, Slot) {
        let (lent, slot) = Lent::new(self);
        (Body::from_pieces(Pieces::Lent(Box::new(lent))), slot)
    }

    /// Passes everything that is read from the body to a recorder.
    #[cfg(feature = "client")]
    pub(crate) fn recorded(self, recorder: Arc<dyn Recorder>) -> Body {
        Body { recorder: Some(recorder), ..self }
    }

    /// Returns where the error of a body that can fail will be.
    #[cfg(feature = "client")]
    pub(crate) fn failure(&mut self) -> Option<Failure> {
        (!self.is_repeatable()).then(|| Arc::clone(self.failure.get_or_insert_default()))
    }

    /// Returns the body in one of the codings, and that coding, if it is to be compressed.
    ///
    /// # Errors
    /// Returns the body unchanged if it is not.
    pub(crate) fn compressed(
        self,
        compression: Compression,
        accepted: Codings,
        adaptive: AdaptiveState,
    ) -> Result<(Body, ContentCoding), Body> {
        if self.is_end_stream() || self.is_package() || cfg!(not(feature = "gzip")) {
            return Err(self);
        }
        match compression.codec(self.size_hint().exact(), accepted, adaptive) {
            Some((codec, adaptive)) => Ok((self.coded(codec, adaptive), codec.coding)),
            None => Err(self),
        }
    }

    /// Compresses the body while it is sent; a short one immediately, so that its length can be
    /// announced.
    #[cfg(feature = "gzip")]
    pub(crate) fn coded(self, codec: Codec, adaptive: AdaptiveState) -> Body {
        let is_short = matches!(self.pieces, Pieces::One(_) | Pieces::Template { .. }) && self.left <= AT_ONCE;
        let deflated = Body::from_pieces(Pieces::Coded(Box::new(Deflated::new(self, codec, adaptive))));
        let whole = is_short.then(|| deflated.clone().collect().now_or_never()).flatten();
        match whole {
            Some(Ok(whole)) => whole.to_bytes().into(),
            _ => deflated,
        }
    }

    /// Returns the body unchanged, without the feature `gzip`.
    #[cfg(not(feature = "gzip"))]
    fn coded(self, _: Codec, _: AdaptiveState) -> Body {
        self
    }

    /// Returns true if the body is a message with other parts.
    pub(crate) fn is_package(&self) -> bool {
        matches!(self.pieces, Pieces::Package(_))
    }

    /// Returns true if a clone can be read as well as the original.
    pub(crate) fn is_repeatable(&self) -> bool {
        match &self.pieces {
            Pieces::One(_) | Pieces::Template { .. } => true,
            #[cfg(feature = "gzip")]
            Pieces::Coded(deflated) => deflated.is_repeatable(),
            Pieces::Lent(lent) => lent.is_repeatable,
            _ => false,
        }
    }

    /// Returns the whole message; `None` if it is written while it is sent, or is a package.
    pub(crate) fn whole(&self) -> Option<Bytes> {
        match &self.pieces {
            Pieces::One(bytes) => Some(bytes.clone()),
            Pieces::Template { outgoing, .. } => Some(outgoing.frames().concat().into()),
            Pieces::Lent(lent) => lent.whole(),
            _ => None,
        }
    }

    fn poll_pieces(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        match &mut self.pieces {
            Pieces::Overlaid(overlaid) => return overlaid.poll(context),
            Pieces::Package(package) => return package.poll(context),
            Pieces::Foreign(foreign) => return foreign.poll(context),
            #[cfg(feature = "gzip")]
            Pieces::Coded(deflated) => return deflated.poll(context),
            Pieces::Lent(lent) => {
                let body = lent.take()?;
                *self = Body { recorder: self.recorder.take(), failure: self.failure.take(), ..body };
                return self.poll_pieces(context);
            }
            Pieces::One(_) | Pieces::Template { .. } => {}
        }
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let frame = self.pieces.next();
        self.left = if frame.is_empty() { 0 } else { self.left.saturating_sub(frame.len()) };
        if self.left == 0 {
            // From here on, the template waits only for the frames.
            self.pieces = Pieces::default();
        }
        Poll::Ready(Some(Ok(frame)))
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let polled = self.poll_pieces(context);
        if let (Some(recorder), Poll::Ready(Some(Ok(bytes)))) = (&self.recorder, &polled) {
            recorder.sent(bytes);
        }
        if let (Some(failure), Poll::Ready(Some(Err(error)))) = (&self.failure, &polled) {
            let _ = failure.set(error.clone());
        }
        polled.map(|bytes| bytes.map(|bytes| bytes.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        match &self.pieces {
            Pieces::Overlaid(overlaid) => overlaid.is_done(),
            Pieces::Package(package) => package.is_done(),
            Pieces::Foreign(foreign) => foreign.is_done(),
            #[cfg(feature = "gzip")]
            Pieces::Coded(deflated) => deflated.is_done(),
            Pieces::Lent(lent) => lent.is_end,
            _ => self.left == 0,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.pieces {
            Pieces::Overlaid(_) => SizeHint::default(),
            #[cfg(feature = "gzip")]
            Pieces::Coded(_) => SizeHint::default(),
            Pieces::Package(package) => package.size().map_or_else(SizeHint::default, SizeHint::with_exact),
            Pieces::Lent(lent) => lent.size,
            Pieces::Foreign(foreign) => foreign.size(),
            _ => SizeHint::with_exact(self.left as u64),
        }
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Body { left: bytes.len(), ..Body::from_pieces(Pieces::One(bytes)) }
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::from(bytes).into()
    }
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        text.into_bytes().into()
    }
}

/// Creates the body of a message in one piece. Its bytes are copied only if their buffer is far too
/// large for them.
impl From<Buffer> for Body {
    fn from(message: Buffer) -> Self {
        trimmed(message.into_vec()).into()
    }
}

impl From<Outgoing> for Body {
    fn from(outgoing: Outgoing) -> Self {
        Body { left: outgoing.len(), ..Body::from_pieces(Pieces::Template { outgoing, next: 0 }) }
    }
}

/// Creates the body of a message with parts, which are read while they are sent.
impl From<Package> for Body {
    fn from(package: Package) -> Self {
        Body::from_pieces(Pieces::Package(Box::new(package)))
    }
}

impl Body {
    /// Creates a body that is written while it is sent, with items from a stream: those that are
    /// ready, up to some number, are written together. An error of the stream ends the exchange.
    pub(crate) fn fed<T, S, E>(overlay: Overlay<Feed<T>>, items: S) -> Self
    where
        T: Content + Send + 'static,
        S: Stream<Item = Result<T, E>> + Send + 'static,
        E: Into<BoxError> + 'static,
    {
        let batches = items.try_ready_chunks(READY).map_err(|TryReadyChunksError(_, error)| error);
        Body::fed_batches(overlay, batches)
    }

    /// Like [`fed`](Self::fed), with items in batches. Each is written before the next one is taken.
    pub(crate) fn fed_batches<T, S, E>(overlay: Overlay<Feed<T>>, batches: S) -> Self
    where
        T: Content + Send + 'static,
        S: Stream<Item = Result<Vec<T>, E>> + Send + 'static,
        E: Into<BoxError> + 'static,
    {
        Body::from_pieces(Pieces::Overlaid(Overlaid::fed(overlay, batches)))
    }
}

/// Creates a body that is written while it is sent.
impl<T, I> From<Overlay<I>> for Body
where
    T: Content + Send + 'static,
    I: Iterator<Item = T> + Send + 'static,
{
    fn from(overlay: Overlay<I>) -> Self {
        Body::from_pieces(Pieces::Overlaid(Overlaid::new(overlay)))
    }
}

/// Maximum unused memory in bytes that a message keeps while it is sent.
const UNUSED: usize = 64 << 10;

/// Drops unused capacity, if that is most of the memory: a slow reader would hold on to it. A
/// buffer that grew to the message is less than twice as large, so the copied part is always small.
fn trimmed(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.capacity() > UNUSED && bytes.capacity() / 2 > bytes.len() {
        bytes.shrink_to_fit();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap::Soap;
    use deltasoap::engine::{Templates, Templating};
    use deltasoap::soap::Envelope;
    use http::Response;
    use http_body_util::BodyExt;
    use hyper::server::conn::http1;
    use hyper::service::service_fn;
    use std::convert::Infallible;
    use std::io::{self, IoSlice};
    use std::sync::{Arc, Mutex};

    #[derive(Soap)]
    #[soap(message, namespace = "urn:t")]
    struct Numbers {
        item: Vec<f64>,
    }

    fn outgoing(items: usize) -> Outgoing {
        let options = Templating { chunk: 256, split: 512, reserve: 16, ..Templating::default() };
        let numbers = Numbers { item: (0..items).map(|item| item as f64).collect() };
        Templates::new(options).encode(&Envelope::new(&numbers)).expect("a message")
    }

    #[tokio::test]
    async fn frames_come_as_they_are_and_the_length_is_what_is_left() {
        let outgoing = outgoing(500);
        let (mut body, mut left) = (Body::from(outgoing.clone()), outgoing.len());
        for expected in outgoing.frames() {
            assert_eq!(body.size_hint().exact(), Some(left as u64));
            assert!(!body.is_end_stream());
            let frame = body.frame().await.expect("a frame").expect("no error").into_data().expect("data");
            assert_eq!((frame.as_ptr(), frame.len()), (expected.as_ptr(), expected.len()), "not copied");
            left -= frame.len();
        }
        assert!(left == 0 && body.is_end_stream() && body.frame().await.is_none());
    }

    /// A connection with a waiting request that records how many slices each write gathers.
    struct Wire {
        request: &'static [u8],
        slices: Arc<Mutex<Vec<usize>>>,
    }

    impl hyper::rt::Read for Wire {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            mut cursor: hyper::rt::ReadBufCursor<'_>,
        ) -> Poll<io::Result<()>> {
            if self.request.is_empty() {
                return Poll::Pending;
            }
            cursor.put_slice(std::mem::take(&mut self.request));
            Poll::Ready(Ok(()))
        }
    }

    impl hyper::rt::Write for Wire {
        fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            self.poll_write_vectored(context, &[IoSlice::new(bytes)])
        }

        fn poll_write_vectored(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            slices: &[IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            self.slices.lock().expect("not poisoned").push(slices.len());
            Poll::Ready(Ok(slices.iter().map(|slice| slice.len()).sum()))
        }

        fn is_write_vectored(&self) -> bool {
            true
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[tokio::test]
    async fn frames_are_gathered_into_few_writes() {
        let (outgoing, slices) = (outgoing(500), Arc::<Mutex<Vec<usize>>>::default());
        let frames = outgoing.frames().len();
        let respond = move |_| std::future::ready(Ok::<_, Infallible>(Response::new(Body::from(outgoing.clone()))));
        let wire = Wire { request: b"GET / HTTP/1.0\r\n\r\n", slices: Arc::clone(&slices) };
        http1::Builder::new().serve_connection(wire, service_fn(respond)).await.expect("no error");
        let slices = slices.lock().expect("not poisoned");
        assert_eq!(slices.iter().sum::<usize>(), frames + 1, "each frame by itself, and the head");
        assert!(slices.len() <= frames.div_ceil(15), "{slices:?}");
    }

    #[test]
    fn memory_that_is_mostly_unused_is_given_back() {
        let with = |capacity, len| {
            let mut bytes = Vec::with_capacity(capacity);
            bytes.resize(len, b'x');
            bytes
        };
        let small = trimmed(with(1 << 20, 100));
        assert!(small.capacity() < UNUSED && small == with(100, 100));
        for (capacity, len) in [(1 << 20, 600 << 10), (UNUSED, 100)] {
            assert!(trimmed(with(capacity, len)).capacity() >= capacity, "not copied");
        }
    }

    #[tokio::test]
    async fn one_piece_is_one_frame() {
        let body = Body::from("some text".to_owned());
        assert_eq!(body.size_hint().exact(), Some(9));
        assert_eq!(body.clone().collect().await.expect("no error").to_bytes(), "some text");
        assert!(Body::default().is_end_stream() && Body::from(Bytes::new()).frame().await.is_none());
    }
}
