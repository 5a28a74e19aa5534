//! Binary values that are taken out of a message while it is written, to be sent as parts of their
//! own.

use crate::types::PartUri;
use crate::{QName, ns};
use bytes::Bytes;

/// Values that are taken out of a message while it is written.
#[derive(Debug)]
pub(crate) struct BinaryParts {
    /// Fewest bytes of a value that is taken.
    threshold: usize,
    taken: Vec<TakenPart>,
    /// The media type that the element at hand says its text is of.
    media_type: Option<String>,
}

/// A value that was taken out of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenPart {
    /// The content ID by which the message refers to it, without angle brackets.
    pub content_id: String,
    /// What the element's `xmime:contentType` says, if it has one.
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

    /// Returns the same without anything taken.
    pub(crate) fn emptied(self) -> Self {
        Self::new(self.threshold)
    }

    pub(crate) fn into_taken(self) -> Vec<TakenPart> {
        self.taken
    }

    /// Notes what the text of the element at hand is; `None` where its content begins.
    pub(crate) fn set_media_type(&mut self, media_type: Option<String>) {
        self.media_type = media_type;
    }

    /// Returns true if a value of so many bytes is taken.
    pub(crate) fn wants(&self, len: usize) -> bool {
        len >= self.threshold
    }

    /// Takes a value, if it is long enough; returns what to write in its place.
    pub(crate) fn take(&mut self, bytes: &Bytes) -> Option<PartUri> {
        if !self.wants(bytes.len()) {
            return None;
        }
        let content_id = format!("binary-{}@xop.deltasoap", self.taken.len() + 1);
        let uri = PartUri::of_content_id(&content_id);
        self.taken.push(TakenPart { content_id, media_type: self.media_type.take(), bytes: bytes.clone() });
        Some(uri)
    }
}
