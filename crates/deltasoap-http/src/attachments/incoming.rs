//! Received packages: drives a parser from a body, and returns the parts as they arrive.

use super::dime::Records;
use super::error::{AttachmentError, AttachmentErrorKind};
use super::file::FileStream;
use super::headers::{PartHeaders, bare_id};
use super::options::AttachmentLimits;
use super::parser::{Event, Parser};
use super::split::Splitter;
use super::stored::{PartStore, StoreError, StoredPart, Usage};
use super::transfer::TransferDecoder;
use crate::error::BoxError;
use crate::media::MediaType;
use crate::secured::{CheckPart, CheckParts};
use bytes::{Bytes, BytesMut};
use deltasoap_core::lexical::{ByteOrder, PackedNumber};
use deltasoap_core::{Binary, Packed, PartUri};
use futures_util::Stream;
use http_body::Body;
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Sleep;

/// The form of a received message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum MessageForm {
    /// Standalone.
    #[default]
    Plain,
    /// In a MIME multipart.
    Mime,
    /// In a MIME multipart, with binary values in separate parts (MTOM).
    Mtom,
    Dime,
}

/// The parts that came with a message, without the message's own part.
///
/// They may still be arriving while the message is processed: each is a stream that can be read
/// once, as its bytes arrive. [`next`](Self::next) returns them in the order of the package;
/// [`find`](Self::find) and [`bytes`](Self::bytes) return one that the message refers to. Parts
/// that come before the requested one are kept, in memory up to [`AttachmentLimits::memory`] and
/// then in temporary files. If a returned part is not read to its end, the rest is discarded.
/// Nothing outside the package is ever looked up.
///
/// A package is known to be valid only after it was read to its end: when [`next`](Self::next) has
/// returned `None`, or [`keep`](Self::keep) or [`finish`](Self::finish) has succeeded. A service
/// does that itself after a handler, before it reports success; see
/// [`Context::attachments`](crate::Context::attachments).
///
/// If a future of these methods is dropped before it completes, the package remains usable, except
/// for the part that was being kept or read into one piece: that part is lost.
///
/// It is empty for a standalone message.
#[derive(Default)]
pub struct Attachments {
    source: Option<Box<Source>>,
    kept: VecDeque<StoredPart>,
    usage: Usage,
    limits: AttachmentLimits,
    form: MessageForm,
    /// The root's content ID, if the package names it.
    start: Option<String>,
    /// The actions in the root's own media type.
    root_actions: Vec<String>,
    /// The place to which the source is returned when the parts are dropped.
    remainder: Option<Remainder>,
}

impl Attachments {
    /// Opens a package from another source: its media type, `multipart/related` or
    /// `application/dime` with parameters, and its bytes. The message is its [root](Self::root).
    ///
    /// # Errors
    /// Returns an error if the media type is not that of a package.
    pub fn open<B>(content_type: &str, body: B, limits: AttachmentLimits) -> Result<Self, AttachmentError>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let media = MediaType::parse(content_type).filter(MediaType::is_package);
        let none = AttachmentErrorKind::Malformed("the media type is not that of a package");
        let media = media.ok_or_else(|| AttachmentError::new(none, 0, 0))?;
        Self::from_body(&media, body.map_err(Into::into), limits, None)
    }

    /// Opens a package with a media type, and a maximum pause of its body.
    ///
    /// # Errors
    /// Returns an error if the media type is not that of a package.
    pub(crate) fn from_body<B>(
        media: &MediaType,
        body: B,
        limits: AttachmentLimits,
        timeout: Option<Duration>,
    ) -> Result<Self, AttachmentError>
    where
        B: Body<Data = Bytes, Error = BoxError> + Send + 'static,
    {
        let (parser, form) = if media.is_dime() {
            (Parser::Dime(Records::new(limits)), MessageForm::Dime)
        } else {
            let boundary = media.parameter("boundary").filter(|boundary| is_boundary(boundary));
            let missing = AttachmentErrorKind::Malformed("the media type has no boundary, or an invalid one");
            let boundary = boundary.ok_or_else(|| AttachmentError::new(missing, 0, 0))?;
            let is_xop = media.parameter("type").is_some_and(is_xop);
            let form = if is_xop { MessageForm::Mtom } else { MessageForm::Mime };
            (Parser::Mime(Box::new(Splitter::new(boundary, limits))), form)
        };
        let start = media.parameter("start").map(|start| bare_id(start).to_owned()).filter(|start| !start.is_empty());
        let source = Some(Box::new(Source::new(body, parser, limits, timeout)));
        let (kept, usage) = (VecDeque::new(), Usage::default());
        Ok(Attachments { source, kept, usage, limits, form, start, root_actions: Vec::new(), remainder: None })
    }

    /// Checks the security of the parts, after the root was read.
    ///
    /// # Errors
    /// Returns an error if parts before the root would have to be checked, or there are none.
    pub(crate) fn check_with(&mut self, mut checks: Box<dyn CheckParts>) -> Result<(), BoxError> {
        let Some(source) = &mut self.source else { return checks.finish() };
        if !self.kept.is_empty() {
            return Err("parts before the message cannot be verified".into());
        }
        source.checks = Some(checks);
        Ok(())
    }

    /// Returns the form of the message.
    pub(crate) fn form(&self) -> MessageForm {
        self.form
    }

    /// Returns the message: the part that the package names as its start, or else the first. It
    /// must be requested before all others.
    ///
    /// # Errors
    /// Returns an error if there is none, or the package is malformed.
    pub async fn root(&mut self) -> Result<Attachment<'_>, AttachmentError> {
        let start = self.start.take();
        let has_start = start.is_some();
        let is_root = |headers: &PartHeaders| start.as_deref().is_none_or(|start| headers.content_id() == Some(start));
        match self.position(is_root).await? {
            Some(found) => Ok(self.take(found)),
            None => {
                let what = if has_start { "the part that the media type names as its start" } else { "a first part" };
                Err(self.error(AttachmentErrorKind::Ended(what)))
            }
        }
    }

    /// Sets the root's own media type.
    pub(crate) fn set_root_type(&mut self, media: &MediaType) {
        if self.form == MessageForm::Mime && is_xop(&media.essence) {
            self.form = MessageForm::Mtom;
        }
        let inside = media.parameter("type").and_then(MediaType::parse);
        self.root_actions = media.action.iter().cloned().chain(inside.and_then(|inside| inside.action)).collect();
    }

    /// Returns the actions in the root's own media type, and in the one that it names as its
    /// `type`.
    pub(crate) fn root_actions(&self) -> &[String] {
        &self.root_actions
    }

    /// Returns the next part in the order of the package, once its headers have arrived; `None` if
    /// there are no more.
    ///
    /// # Errors
    /// Returns an error if the package is malformed.
    pub async fn next(&mut self) -> Result<Option<Attachment<'_>>, AttachmentError> {
        let found = self.position(|_| true).await?;
        Ok(found.map(|found| self.take(found)))
    }

    /// Returns the part that a reference targets, once its headers have arrived; the parts before
    /// it are kept.
    ///
    /// # Errors
    /// Returns an error if there is no such part, or it was already taken, or the package is
    /// malformed.
    pub async fn find(&mut self, uri: &PartUri) -> Result<Attachment<'_>, AttachmentError> {
        match self.position(|headers| headers.is_at(uri)).await? {
            Some(found) => Ok(self.take(found)),
            None => Err(self.error(AttachmentErrorKind::Missing(uri.to_string()))),
        }
    }

    /// Returns a binary value in one piece: the bytes in the message, or the part that it refers
    /// to.
    ///
    /// # Errors
    /// Returns the same errors as [`find`](Self::find) and [`Attachment::bytes`].
    pub async fn bytes(&mut self, binary: &Binary) -> Result<Bytes, AttachmentError> {
        match binary {
            Binary::Bytes(bytes) => Ok(bytes.clone()),
            Binary::Part(uri) => self.find(uri).await?.bytes().await,
        }
    }

    /// Returns packed numbers: those in the message, or those of the part that they are in.
    ///
    /// # Errors
    /// Returns the same errors as [`bytes`](Self::bytes), and an error if the length of a part is
    /// not a multiple of the number's size.
    pub async fn numbers<'p, T: PackedNumber, O: ByteOrder>(
        &mut self,
        packed: &'p Packed<T, O>,
    ) -> Result<Cow<'p, [T]>, AttachmentError> {
        let uri = match packed {
            Packed::Values(text) => return Ok(Cow::Borrowed(&text.values)),
            Packed::Part(uri) => uri,
        };
        let bytes = self.find(uri).await?.bytes().await?;
        let read = Packed::<T, O>::from_bytes(&bytes)
            .map_err(|error| self.error(AttachmentErrorKind::Value { uri: uri.to_string(), error }))?;
        Ok(Cow::Owned(read.into_values().unwrap_or_default()))
    }

    /// Waits for the whole package, and keeps its parts.
    ///
    /// # Errors
    /// Returns an error if the package is malformed.
    pub async fn keep(&mut self) -> Result<(), AttachmentError> {
        self.position(|_| false).await.map(|_| ())
    }

    /// Reads the rest of the package, discards it, and checks it: the limits, that content IDs are
    /// unique, that the package has an end. Kept parts remain.
    ///
    /// # Errors
    /// Returns an error if the package is invalid, or does not arrive in full.
    pub async fn finish(&mut self) -> Result<(), AttachmentError> {
        match &mut self.source {
            Some(source) => source.finish().await,
            None => Ok(()),
        }
    }

    /// Returns the rest of the package when these parts are dropped; `None` for a standalone
    /// message.
    pub(crate) fn remainder(&mut self) -> Option<Remainder> {
        self.source.as_ref()?;
        Some(self.remainder.get_or_insert_default().clone())
    }

    /// Returns the currently kept parts, in the order of the package.
    pub fn kept(&self) -> impl Iterator<Item = &PartHeaders> {
        self.kept.iter().map(|kept| &kept.headers)
    }

    /// Returns the unread rest of the body.
    pub(crate) fn into_rest(mut self) -> Option<UnsyncBoxBody<Bytes, BoxError>> {
        self.source.take().map(|source| source.body.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the position of the first part that matches; the parts before it are kept.
    async fn position(&mut self, matches: impl Fn(&PartHeaders) -> bool) -> Result<Option<NextPart>, AttachmentError> {
        if let Some(index) = self.kept.iter().position(|kept| matches(&kept.headers)) {
            return Ok(Some(NextPart::Kept(index)));
        }
        let Attachments { source: Some(source), kept, usage, limits, .. } = self else { return Ok(None) };
        while let Some(headers) = poll_fn(|context| source.poll_part(context)).await? {
            if matches(&headers) {
                return Ok(Some(NextPart::Arriving(headers)));
            }
            let mut store = PartStore::Memory(Vec::new());
            while let Some(piece) = poll_fn(|context| source.poll_piece(context)).await? {
                let added = store.add(&piece, usage, limits).await;
                added.map_err(|error| source.error(store_error(error, limits)))?;
            }
            store.finish().await.map_err(|error| source.error(AttachmentErrorKind::Io(error)))?;
            kept.push_back(StoredPart { headers, store });
        }
        Ok(None)
    }

    fn take(&mut self, found: NextPart) -> Attachment<'_> {
        let Attachments { source, kept, usage, limits, .. } = self;
        let (headers, content) = match (found, source) {
            (NextPart::Arriving(headers), Some(source)) => (headers, Content::Arriving(source)),
            (NextPart::Arriving(headers), None) => (headers, Content::Memory(Bytes::new())),
            (NextPart::Kept(index), _) => match kept.remove(index) {
                Some(StoredPart { headers, store }) => {
                    store.release(usage);
                    (headers, store.into())
                }
                None => (PartHeaders::default(), Content::Memory(Bytes::new())),
            },
        };
        Attachment { headers, content, whole: limits.whole }
    }

    #[cold]
    fn error(&mut self, kind: AttachmentErrorKind) -> AttachmentError {
        match &mut self.source {
            Some(source) => source.error(kind),
            None => AttachmentError::new(kind, 0, 0),
        }
    }
}

impl fmt::Debug for Attachments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attachments").field("form", &self.form).field("kept", &self.kept.len()).finish_non_exhaustive()
    }
}

impl Drop for Attachments {
    fn drop(&mut self) {
        if let (Some(remainder), Some(source)) = (&self.remainder, self.source.take()) {
            remainder.put(source);
        }
    }
}

/// The rest of a package once nothing reads its parts any more.
#[derive(Clone, Default)]
pub(crate) struct Remainder(Arc<Mutex<Option<Box<Source>>>>);

impl Remainder {
    fn put(&self, source: Box<Source>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(source);
    }

    /// Reads the rest of the package and checks it. Does nothing while the parts are still being
    /// read elsewhere: their reader finds the errors.
    ///
    /// # Errors
    /// Returns the same errors as [`Attachments::finish`].
    pub(crate) async fn finish(&self) -> Result<(), AttachmentError> {
        let source = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        match source {
            Some(mut source) => source.finish().await,
            None => Ok(()),
        }
    }
}

enum NextPart {
    Kept(usize),
    Arriving(PartHeaders),
}

fn store_error(error: StoreError, limits: &AttachmentLimits) -> AttachmentErrorKind {
    match error {
        StoreError::Full => AttachmentErrorKind::Limit { name: "spilled", limit: limits.spilled },
        StoreError::Io(error) => AttachmentErrorKind::Io(error),
    }
}

fn is_xop(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or("");
    essence.trim().eq_ignore_ascii_case("application/xop+xml")
}

/// Maximum length of a boundary: RFC 2046 allows 70, but some senders use more.
const BOUNDARY: usize = 256;

fn is_boundary(text: &str) -> bool {
    (1..=BOUNDARY).contains(&text.len())
        && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && !text.ends_with(' ')
}

/// A part of a package: headers, and a stream of bytes.
pub struct Attachment<'a> {
    headers: PartHeaders,
    content: Content<'a>,
    /// Maximum number of bytes returned in one piece.
    whole: usize,
}

enum Content<'a> {
    Arriving(&'a mut Source),
    Memory(Bytes),
    File(FileStream),
}

impl From<PartStore> for Content<'_> {
    fn from(store: PartStore) -> Self {
        match store {
            PartStore::Memory(bytes) => Content::Memory(bytes.into()),
            PartStore::File(file) => Content::File(FileStream::new(file, u64::MAX)),
        }
    }
}

impl Attachment<'_> {
    /// Returns the headers: content ID, media type and others.
    pub fn headers(&self) -> &PartHeaders {
        &self.headers
    }

    /// Returns the content ID, without angle brackets.
    pub fn content_id(&self) -> Option<&str> {
        self.headers.content_id()
    }

    /// Returns the media type.
    pub fn content_type(&self) -> Option<&str> {
        self.headers.content_type()
    }

    /// Returns the next bytes, decoded; `None` at the end.
    ///
    /// # Errors
    /// Returns an error if the package is malformed or does not arrive.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, AttachmentError> {
        poll_fn(|context| self.poll_chunk(context)).await
    }

    /// Returns all bytes in one piece.
    ///
    /// # Errors
    /// Returns the same errors as [`chunk`](Self::chunk), and an error if there are more than
    /// [`AttachmentLimits::whole`].
    pub async fn bytes(mut self) -> Result<Bytes, AttachmentError> {
        let Some(first) = self.chunk().await? else { return Ok(Bytes::new()) };
        let mut next = self.chunk().await?;
        let (mut whole, mut len) = (BytesMut::new(), first.len());
        while let Some(chunk) = next {
            if whole.is_empty() {
                whole.extend_from_slice(&first);
            }
            len += chunk.len();
            if len > self.whole {
                break;
            }
            whole.extend_from_slice(&chunk);
            next = self.chunk().await?;
        }
        if len > self.whole {
            return Err(self.error(AttachmentErrorKind::Limit { name: "whole", limit: self.whole as u64 }));
        }
        Ok(if whole.is_empty() { first } else { whole.freeze() })
    }

    /// Returns the media type of a root, if a message can have it and it is accepted.
    ///
    /// # Errors
    /// Returns an error if no message can have it, or it is not accepted.
    pub(crate) fn message_type(&mut self, is_accepted: fn(&MediaType) -> bool) -> Result<MediaType, AttachmentError> {
        let none = "the root of the package is not an XML message, or is in an unsupported encoding";
        let media = MediaType::from_root(self.headers.content_type().unwrap_or("")).filter(is_accepted);
        media.ok_or_else(|| self.error(AttachmentErrorKind::Malformed(none)))
    }

    fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, AttachmentError>> {
        match &mut self.content {
            Content::Arriving(source) => source.poll_piece(context),
            Content::Memory(bytes) => Poll::Ready(Ok(Some(std::mem::take(bytes)).filter(|bytes| !bytes.is_empty()))),
            Content::File(file) => {
                let piece = ready!(Pin::new(file).poll_next(context)).transpose();
                Poll::Ready(piece.map_err(|error| self.error(AttachmentErrorKind::Io(error))))
            }
        }
    }

    #[cold]
    fn error(&mut self, kind: AttachmentErrorKind) -> AttachmentError {
        match &mut self.content {
            Content::Arriving(source) => source.error(kind),
            _ => AttachmentError::new(kind, 0, 0),
        }
    }
}

impl Stream for Attachment<'_> {
    type Item = Result<Bytes, AttachmentError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_chunk(context).map(Result::transpose)
    }
}

impl fmt::Debug for Attachment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attachment").field("headers", &self.headers).finish_non_exhaustive()
    }
}

/// A body and its parser.
struct Source {
    /// The mutex is never locked: it allows sharing a handler's context although bodies may not be
    /// shared.
    body: Mutex<UnsyncBoxBody<Bytes, BoxError>>,
    parser: Parser,
    limits: AttachmentLimits,
    /// Maximum pause of the body.
    timeout: Option<Duration>,
    /// Runs while the body pauses.
    pause: Option<Pin<Box<Sleep>>>,
    /// Bytes received.
    received: u64,
    /// The transfer decoder of the current part, until its end.
    decoder: Option<TransferDecoder>,
    /// Number of decoded bytes of the current part so far.
    len: u64,
    /// Content IDs so far.
    ids: HashSet<String>,
    /// True once the body has ended.
    has_ended: bool,
    /// Checks the security of parts.
    checks: Option<Box<dyn CheckParts>>,
    /// Checks the current part, until its end.
    check: Option<Box<dyn CheckPart>>,
    /// The reason why reading has stopped.
    failure: Option<String>,
}

impl Source {
    fn new<B>(body: B, parser: Parser, limits: AttachmentLimits, timeout: Option<Duration>) -> Self
    where
        B: Body<Data = Bytes, Error = BoxError> + Send + 'static,
    {
        Source {
            body: Mutex::new(body.boxed_unsync()),
            parser,
            limits,
            timeout,
            pause: None,
            received: 0,
            decoder: None,
            len: 0,
            ids: HashSet::new(),
            has_ended: false,
            checks: None,
            check: None,
            failure: None,
        }
    }

    #[cold]
    fn error(&mut self, kind: AttachmentErrorKind) -> AttachmentError {
        self.parser.error(kind)
    }

    /// Records an error after which nothing more is read.
    #[cold]
    fn fail(&mut self, kind: AttachmentErrorKind) -> AttachmentError {
        self.failure = Some(kind.to_string());
        self.error(kind)
    }

    /// Discards the rest, and checks it.
    async fn finish(&mut self) -> Result<(), AttachmentError> {
        while poll_fn(|context| self.poll_part(context)).await?.is_some() {}
        Ok(())
    }

    /// Returns the next part's headers; `None` if there are no more parts, and the body has ended.
    /// The rest of the current part is discarded.
    fn poll_part(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<PartHeaders>, AttachmentError>> {
        while self.decoder.is_some() {
            ready!(self.poll_piece(context))?;
        }
        while let Some(event) = ready!(self.poll_event(context))? {
            if let Event::Part(headers) = event {
                return Poll::Ready(self.begin(headers).map(Some));
            }
        }
        if let Some(mut checks) = self.checks.take() {
            checks.finish().map_err(|error| self.fail(AttachmentErrorKind::Insecure(error)))?;
        }
        Poll::Ready(Ok(None))
    }

    fn begin(&mut self, headers: PartHeaders) -> Result<PartHeaders, AttachmentError> {
        if let Some(id) = headers.identity()
            && !self.ids.insert(id.to_owned())
        {
            let kind = AttachmentErrorKind::Duplicate(id.to_owned());
            return Err(self.fail(kind));
        }
        let Some(encoding) = headers.transfer() else {
            let name = headers.get("content-transfer-encoding").unwrap_or_default().to_owned();
            return Err(self.fail(AttachmentErrorKind::UnknownEncoding(name)));
        };
        (self.decoder, self.len) = (Some(encoding.decoder()), 0);
        if let Some(checks) = &mut self.checks {
            let begun =
                checks.begin(headers.content_id().unwrap_or_default(), headers.content_type().unwrap_or("text/plain"));
            self.check = begun.map_err(|error| self.fail(AttachmentErrorKind::Insecure(error)))?;
        }
        Ok(headers)
    }

    /// Returns the next bytes of the current part; `None` at its end.
    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, AttachmentError>> {
        while let Some(mut decoder) = self.decoder.take() {
            let Poll::Ready(event) = self.poll_event(context) else {
                self.decoder = Some(decoder);
                return Poll::Pending;
            };
            let decoded = match event? {
                Some(Event::Data(data)) => {
                    let decoded = decoder.push(data);
                    self.decoder = Some(decoder);
                    decoded
                }
                _ => decoder.finish(),
            };
            let piece = decoded.map_err(|what| self.fail(AttachmentErrorKind::Malformed(what)))?;
            self.check(&piece)?;
            self.len += piece.len() as u64;
            if self.len > self.limits.part {
                let limit = self.limits.part;
                return Poll::Ready(Err(self.fail(AttachmentErrorKind::Limit { name: "part", limit })));
            }
            if !piece.is_empty() {
                return Poll::Ready(Ok(Some(piece)));
            }
        }
        Poll::Ready(Ok(None))
    }

    /// Checks the next bytes of the current part, and the part at its end.
    fn check(&mut self, piece: &[u8]) -> Result<(), AttachmentError> {
        let Some(mut check) = self.check.take() else { return Ok(()) };
        check.push(piece);
        if self.decoder.is_some() {
            self.check = Some(check);
            return Ok(());
        }
        check.finish().map_err(|error| self.fail(AttachmentErrorKind::Insecure(error)))
    }

    /// Returns the parser's next event; `None` after the last, once the body has ended too.
    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Event>, AttachmentError>> {
        loop {
            if let Some(why) = &self.failure {
                let kind = AttachmentErrorKind::Refused(why.clone());
                return Poll::Ready(Err(self.error(kind)));
            }
            if let Some(event) =
                self.parser.next().inspect_err(|error| self.failure = Some(error.kind().to_string()))?
            {
                return Poll::Ready(Ok(Some(event)));
            }
            if self.has_ended {
                return Poll::Ready(Ok(None));
            }
            match ready!(self.poll_body(context)) {
                Ok(Some(chunk)) => self.parser.push(chunk),
                Ok(None) => {
                    self.has_ended = true;
                    self.parser.finish();
                }
                Err(kind) => return Poll::Ready(Err(self.fail(kind))),
            }
        }
    }

    /// Returns the body's next bytes; `None` at its end.
    fn poll_body(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, AttachmentErrorKind>> {
        loop {
            let body = self.body.get_mut().unwrap_or_else(PoisonError::into_inner);
            let Poll::Ready(frame) = Pin::new(body).poll_frame(context) else { return self.poll_pause(context) };
            self.pause = None;
            let Some(frame) = frame else { return Poll::Ready(Ok(None)) };
            match frame.map(http_body::Frame::into_data) {
                Ok(Ok(data)) if data.is_empty() => {}
                Ok(Ok(data)) => return Poll::Ready(self.count(data).map(Some)),
                // Trailers are ignored.
                Ok(Err(_)) => {}
                Err(error) => return Poll::Ready(Err(error.into())),
            }
        }
    }

    fn count(&mut self, data: Bytes) -> Result<Bytes, AttachmentErrorKind> {
        self.received += data.len() as u64;
        let limit = self.limits.total;
        if self.received > limit { Err(AttachmentErrorKind::Limit { name: "total", limit }) } else { Ok(data) }
    }

    fn poll_pause<T>(&mut self, context: &mut Context<'_>) -> Poll<Result<T, AttachmentErrorKind>> {
        let Some(timeout) = self.timeout else { return Poll::Pending };
        let pause = self.pause.get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
        pause.as_mut().poll(context).map(|()| Err(AttachmentErrorKind::Timeout))
    }
}
