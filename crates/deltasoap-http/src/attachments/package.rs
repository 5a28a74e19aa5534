//! Outgoing packages: the message and its parts as one body.
//!
//! A package is a sequence of segments: framing, the message's own body, parts. Its length is known
//! if theirs are. A boundary is a random 128-bit number, generated for each package, so no part can
//! contain it.

use super::dime::{Head, TypeFormat, padding, record};
use super::incoming::MessageForm;
use super::options::{AttachmentOptions, Mtom};
use super::part::{Content, Once, Part, Reading};
use crate::body::Body;
use crate::media;
use bytes::Bytes;
use deltasoap_core::soap::Version;
use deltasoap_core::{Error, ErrorKind, PartUri};
use http::header::{HeaderValue, InvalidHeaderValue};
use http_body::Body as _;
use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The kind of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrapping {
    /// A MIME multipart (SOAP Messages with Attachments).
    Mime,
    /// A MIME multipart with the message in XOP (MTOM).
    Mtom,
    Dime,
}

/// The packaging of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Packing {
    wrapping: Wrapping,
    /// True if messages without parts are packages too.
    is_always: bool,
    /// Minimum size in bytes of a value that becomes a part.
    threshold: usize,
}

impl Packing {
    /// Returns the packaging of a client's requests, with the call's own choice of MTOM.
    pub(crate) fn for_request(options: &AttachmentOptions, mtom: Option<Mtom>) -> Self {
        let mtom = mtom.unwrap_or(options.mtom);
        Self::new(options, options.dime, mtom != Mtom::Off, mtom == Mtom::On)
    }

    /// Returns the packaging of a service's response to a message in this form.
    pub(crate) fn for_response(options: &AttachmentOptions, form: MessageForm) -> Self {
        let is_mtom = match options.mtom {
            Mtom::Off => false,
            Mtom::Auto => form == MessageForm::Mtom,
            Mtom::On => true,
        };
        Self::new(options, form == MessageForm::Dime || options.dime, is_mtom, options.mtom == Mtom::On)
    }

    fn new(options: &AttachmentOptions, is_dime: bool, is_mtom: bool, is_always: bool) -> Self {
        let wrapping = match (is_dime, is_mtom) {
            (true, _) => Wrapping::Dime,
            (false, true) => Wrapping::Mtom,
            (false, false) => Wrapping::Mime,
        };
        Packing { wrapping, is_always: is_always && wrapping == Wrapping::Mtom, threshold: options.threshold }
    }

    /// Returns the minimum length of binary values that become parts, if any do.
    pub(crate) fn threshold(&self) -> Option<usize> {
        (self.wrapping == Wrapping::Mtom).then_some(self.threshold)
    }

    /// Packs a message with its parts. Also returns the media type of the package; `None` if the
    /// message is sent standalone.
    ///
    /// # Errors
    /// Returns an error if two parts have the same content ID, or a header cannot carry the action.
    pub(crate) fn pack(
        &self,
        version: Version,
        action: &str,
        message: Body,
        parts: Vec<Part>,
    ) -> Result<(Option<HeaderValue>, Body), Error> {
        if parts.is_empty() && !self.is_always {
            return Ok((None, message));
        }
        let mut ids = HashSet::new();
        if !parts.iter().all(|part| ids.insert(part.content_id())) {
            return Err(unwritable("two parts have the same content ID"));
        }
        let (content_type, package) = match self.wrapping {
            Wrapping::Dime => (HeaderValue::from_static("application/dime"), dime(version, message, parts)),
            wrapping => multipart(version, action, wrapping == Wrapping::Mtom, message, parts)
                .map_err(|_| unwritable("the action has a character that an HTTP header cannot carry"))?,
        };
        Ok((Some(content_type), package.into()))
    }
}

#[cold]
fn unwritable(what: &'static str) -> Error {
    Error::at(ErrorKind::Unwritable(what), 0)
}

fn multipart(
    version: Version,
    action: &str,
    is_mtom: bool,
    message: Body,
    parts: Vec<Part>,
) -> Result<(HeaderValue, Package), InvalidHeaderValue> {
    let (boundary, root_type) = (random(), media::root_type(version, action, is_mtom)?);
    let start = format!("root.{boundary}@deltasoap");
    let content_type = media::related_type(version, action, is_mtom, &boundary, &start)?;
    let root_type = root_type.to_str().unwrap_or(version.media_type());
    Ok((content_type, related(&boundary, root_type, &start, message, parts)))
}

/// Returns an unpredictable string.
fn random() -> String {
    let state = RandomState::new();
    format!("{:016x}{:016x}", state.hash_one(0), state.hash_one(1))
}

/// The body of a package.
#[derive(Debug, Clone, Default)]
pub(crate) struct Package {
    segments: VecDeque<Segment>,
    /// Remaining bytes, if known.
    left: Option<u64>,
}

/// A segment. Segments are sent one after the other.
#[derive(Debug)]
enum Segment {
    Bytes(Bytes),
    /// The message.
    Message(Box<Body>),
    /// A part that is not being read yet.
    Part(Once),
    /// A part that is being read.
    Reading(Box<Reading>),
    /// The DIME records for a part, or a message, of unknown length.
    Records(Box<Records>),
    /// A part whose stream another clone of the body sends.
    Gone,
}

impl Clone for Segment {
    fn clone(&self) -> Self {
        match self {
            Segment::Bytes(bytes) => Segment::Bytes(bytes.clone()),
            Segment::Message(body) => Segment::Message(body.clone()),
            Segment::Part(part) => Segment::Part(part.clone()),
            Segment::Records(records) => Segment::Records(records.clone()),
            Segment::Reading(_) | Segment::Gone => Segment::Gone,
        }
    }
}

impl Package {
    pub(crate) fn size(&self) -> Option<u64> {
        self.left
    }

    pub(crate) fn is_done(&self) -> bool {
        self.segments.is_empty()
    }

    /// Returns the next bytes.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        while let Some(segment) = self.segments.front_mut() {
            match ready!(segment.poll(context)) {
                Ok(Some(bytes)) => {
                    self.left = self.left.map(|left| left.saturating_sub(bytes.len() as u64));
                    return Poll::Ready(Some(Ok(bytes)));
                }
                Ok(None) => _ = self.segments.pop_front(),
                Err(error) => {
                    self.segments.clear();
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
        Poll::Ready(None)
    }

    fn push(&mut self, segment: Segment, len: Option<u64>) {
        self.left = self.left.zip(len).and_then(|(left, len)| left.checked_add(len));
        self.segments.push_back(segment);
    }

    fn push_bytes(&mut self, bytes: impl Into<Bytes>) {
        let bytes = bytes.into();
        let len = bytes.len() as u64;
        self.push(Segment::Bytes(bytes), Some(len));
    }

    fn push_part(&mut self, part: Part) {
        let len = part.len();
        self.push(part.content.into(), len);
    }

    fn push_message(&mut self, message: Body) {
        let len = message.size_hint().exact();
        self.push(Segment::Message(Box::new(message)), len);
    }
}

impl Segment {
    /// Returns the next bytes, at least one; `None` at the end.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Error>> {
        loop {
            match self {
                Segment::Bytes(bytes) => {
                    return Poll::Ready(Ok(Some(std::mem::take(bytes)).filter(|bytes| !bytes.is_empty())));
                }
                Segment::Message(body) => {
                    let Some(frame) = ready!(Pin::new(&mut **body).poll_frame(context)) else {
                        return Poll::Ready(Ok(None));
                    };
                    match frame?.into_data() {
                        Ok(data) if !data.is_empty() => return Poll::Ready(Ok(Some(data))),
                        _ => {}
                    }
                }
                Segment::Part(part) => *self = opened(part)?,
                Segment::Reading(reading) => return reading.poll(context).map_err(|error| unreadable(&error)),
                Segment::Records(records) => return records.poll(context),
                Segment::Gone => return Poll::Ready(Err(unreadable(&sent_before()))),
            }
        }
    }
}

fn opened(part: &Once) -> Result<Segment, Error> {
    let reading = part.take().ok_or_else(|| unreadable(&sent_before()))?;
    Ok(Segment::Reading(Box::new(reading)))
}

fn sent_before() -> io::Error {
    io::Error::other("the part was sent before")
}

#[cold]
fn unreadable(error: &io::Error) -> Error {
    tracing::error!(%error, "a part could not be read while it was sent");
    unwritable("a part could not be read while it was sent")
}

/// Creates a MIME multipart.
fn related(boundary: &str, root_type: &str, start: &str, message: Body, parts: Vec<Part>) -> Package {
    let mut package = Package { left: Some(0), ..Package::default() };
    let head = |break_: &str, kind: &str, id: &str| {
        let (kind, id) = (header("Content-Type", kind), header("Content-ID", &format!("<{id}>")));
        format!("{break_}--{boundary}\r\n{kind}Content-Transfer-Encoding: binary\r\n{id}\r\n")
    };
    package.push_bytes(head("", root_type, start));
    package.push_message(message);
    for part in parts {
        package.push_bytes(head("\r\n", part.content_type(), part.content_id()));
        package.push_part(part);
    }
    package.push_bytes(format!("\r\n--{boundary}--\r\n"));
    package
}

fn header(name: &str, value: &str) -> String {
    if value.is_empty() { String::new() } else { format!("{name}: {value}\r\n") }
}

/// Creates a DIME message. The root's type is the namespace of its envelope (WS-Attachments,
/// section 3).
fn dime(version: Version, message: Body, parts: Vec<Part>) -> Package {
    let mut package = Package { left: Some(0), ..Package::default() };
    let first = Head { is_first: true, is_last: parts.is_empty(), ..Head::new(TypeFormat::Uri) };
    let len = message.size_hint().exact();
    package.push_records(first, "", version.namespace(), Segment::Message(Box::new(message)), len);
    let count = parts.len();
    for (index, part) in parts.into_iter().enumerate() {
        let (uri, kind, len) =
            (PartUri::from_content_id(part.content_id()), part.content_type().to_owned(), part.len());
        let format = if kind.is_empty() { TypeFormat::Unknown } else { TypeFormat::MediaType };
        let head = Head { is_last: index + 1 == count, ..Head::new(format) };
        package.push_records(head, uri.as_str(), &kind, part.content.into(), len);
    }
    package
}

impl From<Content> for Segment {
    fn from(content: Content) -> Self {
        match content {
            Content::Bytes(bytes) => Segment::Bytes(bytes),
            Content::Stream(stream) => Segment::Part(stream),
        }
    }
}

impl Package {
    /// Adds a part as one record if it is known to fit, otherwise as chunks.
    fn push_records(&mut self, head: Head, id: &str, kind: &str, content: Segment, len: Option<u64>) {
        match len.and_then(|len| u32::try_from(len).ok()) {
            Some(data) => {
                self.push_bytes(record(Head { data, ..head }, id, kind));
                self.push(content, len);
                self.push_bytes(&[0; 3][..padding(u64::from(data))]);
            }
            None => {
                let start = Some((id.to_owned(), kind.to_owned()));
                let records = Records { head, start, content, waiting: VecDeque::new() };
                self.push(Segment::Records(Box::new(records)), None);
            }
        }
    }
}

/// A part in chunks, one for each piece of its content, and an empty one at its end.
#[derive(Debug, Clone)]
struct Records {
    /// The head shared by all chunks, apart from the fields that differ.
    head: Head,
    /// ID and type, for the first chunk.
    start: Option<(String, String)>,
    content: Segment,
    /// The rest of the current chunk.
    waiting: VecDeque<Bytes>,
}

impl Records {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Error>> {
        if let Some(bytes) = self.waiting.pop_front() {
            return Poll::Ready(Ok(Some(bytes)));
        }
        if self.start.is_none() && !self.head.is_chunk {
            return Poll::Ready(Ok(None));
        }
        let piece = ready!(self.content.poll(context))?;
        Poll::Ready(Ok(Some(self.chunk(piece))))
    }

    /// Returns the head of a chunk; the data after it waits.
    fn chunk(&mut self, piece: Option<Bytes>) -> Bytes {
        let is_end = piece.is_none();
        let piece = piece.unwrap_or_default();
        let (is_first, start) = (self.start.is_some(), self.start.take().unwrap_or_default());
        let head = Head {
            is_first: self.head.is_first && is_first,
            is_last: self.head.is_last && is_end,
            is_chunk: !is_end,
            format: if is_first { self.head.format } else { TypeFormat::Unchanged },
            data: piece.len() as u32,
            ..self.head
        };
        self.head.is_chunk = !is_end;
        let padding = &[0; 3][..padding(piece.len() as u64)];
        self.waiting.extend([piece, Bytes::from_static(padding)].into_iter().filter(|bytes| !bytes.is_empty()));
        record(head, &start.0, &start.1).into()
    }
}
