//! Binary values that are taken out of a message while it is written, to be sent as separate parts.

use crate::types::PartUri;
use crate::{QName, ns};
use bytes::Bytes;

/// Values that are taken out of a message while it is written.
#[derive(Debug)]
pub(crate) struct BinaryParts {
    /// Minimum size in bytes of a value that is taken out.
    threshold: usize,
    taken: Vec<TakenPart>,
    /// The media type that the current element declares for its text.
    media_type: Option<String>,
}

/// A value that was taken out of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenPart {
    /// The content ID by which the message refers to the value, without angle brackets.
    pub content_id: String,
    /// The element's `xmime:contentType`, if it has one.
    pub media_type: Option<String>,
    /// The bytes.
    pub bytes: Bytes,
}

/// Returns true for `xmime:contentType`, in either namespace (Describing Media Content of Binary
/// Data in XML, 2.1).
pub(crate) fn is_media_type(attribute: &QName) -> bool {
    attribute.local == "contentType" && [ns::XMIME, ns::XMIME_2004].contains(&&*attribute.namespace)
}

impl BinaryParts {
    pub(crate) fn new(threshold: usize) -> Self {
        BinaryParts { threshold, taken: Vec::new(), media_type: None }
    }

    /// Returns the state before anything was taken out.
    pub(crate) fn emptied(self) -> Self {
        Self::new(self.threshold)
    }

    pub(crate) fn into_taken(self) -> Vec<TakenPart> {
        self.taken
    }

    /// Sets the media type of the current element's text; `None` at the start of an element's
    /// content.
    pub(crate) fn set_media_type(&mut self, media_type: Option<String>) {
        self.media_type = media_type;
    }

    /// Returns true if a value of `len` bytes is taken out.
    pub(crate) fn wants(&self, len: usize) -> bool {
        len >= self.threshold
    }

    /// Takes a value out if it is long enough. Returns the URI to write in its place.
    pub(crate) fn take(&mut self, bytes: &Bytes) -> Option<PartUri> {
        if !self.wants(bytes.len()) {
            return None;
        }
        let content_id = format!("binary-{}@xop.deltasoap", self.taken.len() + 1);
        let uri = PartUri::from_content_id(&content_id);
        self.taken.push(TakenPart { content_id, media_type: self.media_type.take(), bytes: bytes.clone() });
        Some(uri)
    }
}
