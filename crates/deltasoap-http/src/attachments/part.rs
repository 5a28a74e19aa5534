//! Parts that are sent with a message.

use super::file::FileStream;
use bytes::Bytes;
use deltasoap_core::soap::TakenPart;
use deltasoap_core::{Binary, PartUri};
use futures_util::Stream;
use std::fmt;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::fs::File;

/// A part to be sent with a message: bytes, a file, or a stream of bytes.
///
/// The message may refer to it by [`binary`](Self::binary) in a field of type [`Binary`]. A part
/// that is a file or a stream is read while it is sent, and only once. Clones share it, so the
/// second message with one of them fails while it is sent.
///
/// ```
/// use deltasoap_http::Part;
///
/// let report = Part::new("report@example.org", "text/plain", "all is well");
/// assert_eq!(report.content_id(), "report@example.org");
/// ```
#[derive(Debug, Clone)]
pub struct Part {
    content_id: String,
    content_type: String,
    pub(super) content: Content,
}

/// Returns true for a media type, with or without parameters.
fn is_media_type(text: &str) -> bool {
    let is_token = |it: &str| {
        !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte))
    };
    let (essence, rest) = text.split_once(';').unwrap_or((text, ""));
    let mut names = essence.trim().splitn(2, '/');
    names.next().is_some_and(is_token) && names.next().is_some_and(is_token) && !rest.contains([',', '&'])
}

/// The bytes of a part.
#[derive(Debug, Clone)]
pub(super) enum Content {
    Bytes(Bytes),
    Stream(Once),
}

impl Part {
    /// Creates a part with these bytes. The content ID, without angle brackets, must be unique
    /// among the parts of a message.
    ///
    /// Characters that a header cannot carry are removed from the ID and the media type.
    pub fn new(content_id: impl AsRef<str>, content_type: impl AsRef<str>, bytes: impl Into<Bytes>) -> Self {
        Self::with_content(content_id.as_ref(), content_type.as_ref(), Content::Bytes(bytes.into()))
    }

    /// Creates a part that is read from a stream while it is sent. Its length is not known, so the
    /// message is sent in HTTP/1.1's chunked transfer coding; see [`with_len`](Self::with_len).
    pub fn stream<S>(content_id: impl AsRef<str>, content_type: impl AsRef<str>, stream: S) -> Self
    where
        S: Stream<Item = io::Result<Bytes>> + Send + 'static,
    {
        let content = Content::Stream(Once::new(Box::pin(stream)));
        Self::with_content(content_id.as_ref(), content_type.as_ref(), content)
    }

    /// Creates a part from a file, with its current length.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened.
    pub async fn file(
        content_id: impl AsRef<str>,
        content_type: impl AsRef<str>,
        path: impl AsRef<Path>,
    ) -> io::Result<Self> {
        let file = File::open(path).await?;
        let len = file.metadata().await?.len();
        Ok(Self::stream(content_id, content_type, FileStream::new(file, len)).with_len(len))
    }

    /// Sets the length of the part's stream in bytes, so that the length of the message is known
    /// too. If the stream's length differs, the message is aborted.
    #[must_use]
    pub fn with_len(mut self, len: u64) -> Self {
        if let Content::Stream(stream) = &mut self.content {
            stream.len = Some(len);
        }
        self
    }

    /// Creates a part that was taken out of a message.
    pub(crate) fn taken(taken: TakenPart) -> Self {
        let TakenPart { content_id, media_type, bytes } = taken;
        // The declared media type can be any text.
        let media_type = media_type.filter(|text| is_media_type(text));
        Self::new(content_id, media_type.as_deref().unwrap_or("application/octet-stream"), bytes)
    }

    fn with_content(content_id: &str, content_type: &str, content: Content) -> Self {
        let can_stand = |c: &char| !c.is_control();
        let content_id = content_id.chars().filter(can_stand).filter(|c| !matches!(c, '<' | '>')).collect();
        let content_type = content_type.chars().filter(can_stand).collect();
        Part { content_id, content_type, content }
    }

    /// Returns the content ID, without angle brackets.
    pub fn content_id(&self) -> &str {
        &self.content_id
    }

    /// Returns the media type.
    pub fn content_type(&self) -> &str {
        &self.content_type
    }

    /// Returns the value that refers to the part.
    pub fn binary(&self) -> Binary {
        Binary::part(&self.content_id)
    }

    /// Returns true if a reference in the message targets the part.
    pub(crate) fn is_at(&self, uri: &PartUri) -> bool {
        uri.content_id().as_deref() == Some(&self.content_id)
    }

    /// Returns the bytes, unless they are read while they are sent.
    pub(crate) fn bytes(&self) -> Option<&Bytes> {
        match &self.content {
            Content::Bytes(bytes) => Some(bytes),
            Content::Stream(_) => None,
        }
    }

    /// Returns the number of bytes, if known.
    pub(super) fn len(&self) -> Option<u64> {
        match &self.content {
            Content::Bytes(bytes) => Some(bytes.len() as u64),
            Content::Stream(stream) => stream.len,
        }
    }
}

type BoxStream = Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>;

/// A stream that can be sent once.
#[derive(Clone)]
pub(super) struct Once {
    stream: Arc<Mutex<Option<BoxStream>>>,
    pub(super) len: Option<u64>,
}

impl Once {
    fn new(stream: BoxStream) -> Self {
        Once { stream: Arc::new(Mutex::new(Some(stream))), len: None }
    }

    /// Returns the stream, for the first caller.
    pub(super) fn take(&self) -> Option<Reading> {
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(Reading { stream: Mutex::new(stream), left: self.len })
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").field("len", &self.len).finish_non_exhaustive()
    }
}

/// A stream that is being sent.
pub(super) struct Reading {
    /// The mutex is never locked: it allows sharing a body although streams may not be shared.
    stream: Mutex<BoxStream>,
    /// Number of remaining bytes, if known.
    left: Option<u64>,
}

impl Reading {
    /// Returns the next bytes, at least one; `None` at the end.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Option<Bytes>>> {
        loop {
            let stream = self.stream.get_mut().unwrap_or_else(PoisonError::into_inner);
            let piece = ready!(stream.as_mut().poll_next(context)).transpose()?;
            let Some(piece) = piece else {
                let is_whole = self.left.unwrap_or(0) == 0;
                let short = || io::Error::new(io::ErrorKind::UnexpectedEof, "a part is shorter than announced");
                return Poll::Ready(if is_whole { Ok(None) } else { Err(short()) });
            };
            if let Some(left) = &mut self.left {
                let rest = left.checked_sub(piece.len() as u64);
                *left = rest.ok_or_else(|| io::Error::other("a part is longer than announced"))?;
            }
            if !piece.is_empty() {
                return Poll::Ready(Ok(Some(piece)));
            }
        }
    }
}

impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reading").field("left", &self.left).finish_non_exhaustive()
    }
}
