//! Results of handlers: responses with or without header blocks, responses whose list is written
//! while it is sent, and messages that handlers have written themselves.

use crate::attachments::Part;
use crate::body::Body;
use crate::error::BoxError;
use deltasoap_core::soap::{Envelope, HeaderBlock};
use deltasoap_core::{Buffer, Error, Message, Overlay, Typed};
use futures_util::stream::Stream;
use http::StatusCode;
use std::fmt;

/// A response with header blocks and parts.
#[derive(Debug, Clone)]
pub struct Reply<T> {
    /// Header blocks, in the order in which they are written.
    pub headers: Vec<HeaderBlock>,
    /// The body's element.
    pub body: T,
    /// Parts that are sent with the message, in order.
    pub parts: Vec<Part>,
}

impl<T> Reply<T> {
    /// Creates a response without header blocks.
    pub fn new(body: T) -> Self {
        Reply { headers: Vec::new(), body, parts: Vec::new() }
    }

    /// Adds a part.
    #[must_use]
    pub fn with_part(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// Adds a header block.
    #[must_use]
    pub fn with_header(mut self, block: HeaderBlock) -> Self {
        self.headers.push(block);
        self
    }
}

impl<T: Message> Reply<T> {
    /// Returns the response with a list of any length, which is written while it is sent.
    ///
    /// The items come from an iterator, for the response's one
    /// [`Streamed`](deltasoap_core::Streamed) field (or
    /// [`StreamedArray`](deltasoap_core::StreamedArray)), after those that it holds itself. They
    /// are written one chunk at a time, as the connection accepts them, so that the memory needed
    /// does not grow with the message (*Differential Serialization for Optimized SOAP Performance*,
    /// section 3.3). The iterator runs while the connection waits for it: it must not block. The
    /// handler's time limit does not include it. If an item cannot be written, or the iterator
    /// panics, the response is aborted.
    ///
    /// ```
    /// # use deltasoap::{Client, Fault, Lease, Soap, SoapService};
    /// # use deltasoap::server::{Reply, OverlaidReply};
    /// # use deltasoap::stream::Streamed;
    /// # #[derive(Soap)]
    /// # #[soap(namespace = "urn:lab", message, response = Measured)]
    /// # struct Measure {}
    /// #[derive(Soap)]
    /// #[soap(namespace = "urn:lab", message)]
    /// struct Measured {
    ///     level: Streamed<f64>,
    /// }
    ///
    /// async fn measure(_: Lease<Measure>) -> Result<OverlaidReply<Measured>, Fault> {
    ///     Ok(Reply::new(Measured { level: Streamed::default() }).overlaid((0..100_000).map(f64::from)))
    /// }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let client = Client::with_service("http://localhost/", SoapService::builder().operation(measure).build()?)?;
    /// # let measured = client.call(&Measure {}).await?;
    /// # assert_eq!(measured.level.len(), 100_000);
    /// # Ok(())
    /// # }
    /// ```
    pub fn overlaid<I>(self, items: I) -> OverlaidReply<T>
    where
        I: IntoIterator<Item: Typed + Send + 'static, IntoIter: Send + 'static> + Send + 'static,
    {
        let begin = move |reply: &Envelope<'_>, chunk| Ok(Overlay::new(reply, items, chunk)?.into());
        OverlaidReply { reply: self, overlaying: Overlaying(Box::new(begin)) }
    }

    /// As [`overlaid`](Self::overlaid), with items from a stream. Items that are ready are sent at
    /// once, even if the response is compressed. An error of the stream aborts the response.
    pub fn overlaid_stream<Item, S, E>(self, items: S) -> OverlaidReply<T>
    where
        Item: Typed + Send + 'static,
        S: Stream<Item = Result<Item, E>> + Send + 'static,
        E: Into<BoxError> + 'static,
    {
        let begin = move |reply: &Envelope<'_>, chunk| Ok(Body::fed(Overlay::open(reply, chunk)?, items));
        OverlaidReply { reply: self, overlaying: Overlaying(Box::new(begin)) }
    }
}

/// A response whose list is written while it is sent; see [`Reply::overlaid`].
#[derive(Debug)]
pub struct OverlaidReply<T> {
    reply: Reply<T>,
    overlaying: Overlaying,
}

/// Starts writing a response, in chunks of at most this many bytes.
type Begin = dyn FnOnce(&Envelope<'_>, usize) -> Result<Body, Error> + Send;

/// The items of a response, and the function that starts writing it.
pub struct Overlaying(Box<Begin>);

impl Overlaying {
    /// Starts writing a response, in chunks of at most `chunk` bytes.
    ///
    /// # Errors
    /// When the response has no list to stream, or several, or a list of other items; when it
    /// contains text that XML cannot carry.
    pub(crate) fn begin(self, reply: &Envelope<'_>, chunk: usize) -> Result<Body, Error> {
        self.0(reply, chunk)
    }
}

impl fmt::Debug for Overlaying {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Overlaying").finish_non_exhaustive()
    }
}

/// A response of a handler: a message, a [`Reply`] with header blocks around one, or an
/// [`OverlaidReply`].
pub trait IntoReply: Sized {
    /// The type of the body's element.
    type Body: Message;

    /// Returns the response with its header blocks.
    fn into_reply(self) -> Reply<Self::Body>;

    /// Returns the response, and the items that are written while it is sent.
    #[doc(hidden)]
    fn into_parts(self) -> (Reply<Self::Body>, Option<Overlaying>) {
        (self.into_reply(), None)
    }
}

impl<T: Message> IntoReply for OverlaidReply<T> {
    type Body = T;

    /// Returns the response without its items.
    fn into_reply(self) -> Reply<T> {
        self.reply
    }

    fn into_parts(self) -> (Reply<T>, Option<Overlaying>) {
        (self.reply, Some(self.overlaying))
    }
}

impl<T: Message> IntoReply for T {
    type Body = T;

    fn into_reply(self) -> Reply<T> {
        Reply::new(self)
    }
}

impl<T: Message> IntoReply for Reply<T> {
    type Body = T;

    fn into_reply(self) -> Reply<T> {
        self
    }
}

/// A reply that the handler has written itself: a message of any kind, or none.
///
/// For protocols where the type of the response does not follow from the type of the request, for
/// example where the server sends requests of its own in its responses. See
/// [`Operation::new`](crate::Operation::new) and
/// [`SoapServiceBuilder::empty_post`](crate::SoapServiceBuilder::empty_post).
#[derive(Debug, Clone)]
pub struct MessageReply {
    pub(crate) status: StatusCode,
    pub(crate) message: Option<Body>,
    /// True if the reply counts as a fault in statistics.
    pub(crate) is_fault: bool,
}

impl MessageReply {
    /// Creates a message with status 200. It must be of the request's version of SOAP, which
    /// determines the media type.
    pub fn message(message: Buffer) -> Self {
        MessageReply { status: StatusCode::OK, message: Some(message.into()), is_fault: false }
    }

    /// Creates a fault message with status 500 (SOAP 1.1, section 6.2).
    pub fn fault(message: Buffer) -> Self {
        MessageReply { status: StatusCode::INTERNAL_SERVER_ERROR, message: Some(message.into()), is_fault: true }
    }

    /// Creates a reply without a message: only a status, such as 204.
    pub fn status(status: StatusCode) -> Self {
        MessageReply { status, message: None, is_fault: !status.is_success() }
    }

    /// Replaces the status.
    #[must_use]
    pub fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }
}
