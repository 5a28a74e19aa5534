//! Signed attachments (SOAP Messages with Attachments Profile 1.1): what is hashed is their
//! content, in a canonical form that depends on the media type.
//!
//! XML is canonicalized (exclusively, without comments), the line ends of other text become CRLF,
//! and everything else is hashed as it is (section 5.4).

use crate::algorithms::{DigestAlgorithm, Hasher};
use crate::error::SecurityError;
use crate::signature::SignedAttachment;
use crate::verification::Verified;
use aws_lc_rs::constant_time::verify_slices_are_equal;
use deltasoap_xml::Limits;
use deltasoap_xml::c14n::{Method, canonicalize};

/// Maximum length of an attachment of XML, which is canonicalized as a whole: 16 MiB.
const MAX_XML: usize = 16 << 20;

/// An attachment of a message that is to be secured.
#[derive(Debug, Clone, Copy)]
pub struct AttachmentContent<'a> {
    /// Its content ID, without angle brackets.
    pub content_id: &'a str,
    /// Its media type.
    pub media_type: &'a str,
    /// Its content, without a transfer encoding.
    pub bytes: &'a [u8],
}

impl AttachmentContent<'_> {
    /// Returns the digest of the content.
    ///
    /// # Errors
    /// Returns an error if it is not the XML that its media type names.
    pub(crate) fn digest(&self, algorithm: DigestAlgorithm) -> Result<Vec<u8>, SecurityError> {
        let mut content = Content::new(self.media_type, vec![algorithm.hasher()]);
        content.push(self.bytes);
        let mut digests = content.finish().map_err(|error| {
            SecurityError::Write(format!("the attachment {:?} cannot be signed: {error}", self.content_id))
        })?;
        Ok(digests.pop().unwrap_or_default())
    }
}

/// Checks a signed attachment as its content arrives.
#[derive(Debug)]
pub struct AttachmentCheck {
    content_id: String,
    digests: Vec<Vec<u8>>,
    content: Content,
}

impl Verified {
    /// Returns the content ids of the attachments that are signed.
    pub fn signed_attachments(&self) -> impl Iterator<Item = &str> {
        self.attachments.iter().map(|attachment| attachment.content_id.as_str())
    }

    /// Begins to check an attachment; `None` if it is not signed.
    pub fn begin_attachment(&self, content_id: &str, media_type: &str) -> Option<AttachmentCheck> {
        let signed: Vec<&SignedAttachment> = self.attachments.iter().filter(|it| it.content_id == content_id).collect();
        let hashers = signed.iter().map(|it| it.algorithm.hasher()).collect();
        (!signed.is_empty()).then(|| AttachmentCheck {
            content_id: content_id.to_owned(),
            digests: signed.iter().map(|it| it.digest.clone()).collect(),
            content: Content::new(media_type, hashers),
        })
    }

    /// Checks the content of an attachment that was signed.
    ///
    /// # Errors
    /// Returns an error if the attachment is not signed, or its content is not what was signed.
    pub fn check_attachment(&self, content: &AttachmentContent<'_>) -> Result<(), SecurityError> {
        let AttachmentContent { content_id, media_type, bytes } = content;
        let missing = || SecurityError::Missing(format!("the attachment {content_id:?} is not signed"));
        let mut check = self.begin_attachment(content_id, media_type).ok_or_else(missing)?;
        check.push(bytes);
        check.finish()
    }
}

impl AttachmentCheck {
    /// Takes the next bytes of the content, without a transfer encoding.
    pub fn push(&mut self, bytes: &[u8]) {
        self.content.push(bytes);
    }

    /// Ends the content.
    ///
    /// # Errors
    /// Returns an error if it is not what was signed.
    pub fn finish(self) -> Result<(), SecurityError> {
        let found = self.content.finish()?;
        let is_equal = |(one, other): (&Vec<u8>, &Vec<u8>)| verify_slices_are_equal(one, other).is_ok();
        if found.iter().zip(&self.digests).all(is_equal) {
            Ok(())
        } else {
            let error = format!("the digest of the attachment {:?} does not match", self.content_id);
            Err(SecurityError::Check(error))
        }
    }
}

/// Content that is hashed as it arrives.
#[derive(Debug)]
struct Content {
    form: Form,
    hashers: Vec<Hasher>,
}

#[derive(Debug)]
enum Form {
    Bytes,
    /// True after a carriage return.
    Text(bool),
    /// `None` if there was too much.
    Xml(Option<Vec<u8>>),
}

impl Content {
    fn new(media_type: &str, hashers: Vec<Hasher>) -> Self {
        let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let form = match &*essence {
            "text/xml" | "application/xml" => Form::Xml(Some(Vec::new())),
            other if other.ends_with("+xml") => Form::Xml(Some(Vec::new())),
            other if other.starts_with("text/") => Form::Text(false),
            _ => Form::Bytes,
        };
        Content { form, hashers }
    }

    fn push(&mut self, bytes: &[u8]) {
        let Content { form, hashers } = self;
        match form {
            Form::Bytes => hash(hashers, bytes),
            Form::Text(is_after_return) => push_text(bytes, is_after_return, hashers),
            Form::Xml(Some(document)) if document.len() + bytes.len() <= MAX_XML => document.extend_from_slice(bytes),
            Form::Xml(document) => *document = None,
        }
    }

    fn finish(mut self) -> Result<Vec<Vec<u8>>, SecurityError> {
        match self.form {
            Form::Bytes => {}
            Form::Text(is_after_return) => {
                if is_after_return {
                    hash(&mut self.hashers, b"\n");
                }
            }
            Form::Xml(document) => {
                let long = || SecurityError::Unsupported(format!("attachments of XML have at most {MAX_XML} bytes"));
                let document = document.ok_or_else(long)?;
                let canonical = canonicalize(&document, Limits::default(), &Method::exclusive());
                let canonical = canonical.map_err(|error| {
                    SecurityError::Check(format!("an attachment of XML cannot be canonicalized: {error}"))
                })?;
                hash(&mut self.hashers, &canonical);
            }
        }
        Ok(self.hashers.into_iter().map(Hasher::finish).collect())
    }
}

fn hash(hashers: &mut [Hasher], bytes: &[u8]) {
    hashers.iter_mut().for_each(|hasher| hasher.update(bytes));
}

/// Hashes text with CRLF for each end of a line, which may be CR, LF or CRLF.
fn push_text(mut bytes: &[u8], is_after_return: &mut bool, hashers: &mut [Hasher]) {
    if bytes.is_empty() {
        return;
    }
    if std::mem::take(is_after_return) {
        hash(hashers, b"\n");
        bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
    }
    while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n')) {
        hash(hashers, &bytes[..end]);
        let is_return = bytes[end] == b'\r';
        bytes = &bytes[end + 1..];
        match (is_return, bytes.first()) {
            (true, None) => {
                hash(hashers, b"\r");
                *is_after_return = true;
            }
            (true, Some(b'\n')) => {
                hash(hashers, b"\r\n");
                bytes = &bytes[1..];
            }
            _ => hash(hashers, b"\r\n"),
        }
    }
    hash(hashers, bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest_in(media_type: &str, bytes: &[u8], len: usize) -> Vec<u8> {
        let mut content = Content::new(media_type, vec![DigestAlgorithm::Sha256.hasher()]);
        bytes.chunks(len).for_each(|piece| content.push(piece));
        content.finish().expect("content").remove(0)
    }

    #[test]
    fn line_ends_of_text_do_not_matter() {
        let expected = digest_in("application/octet-stream", b"a\r\n\r\nb\r\n\r\nc\r\n", 100);
        for text in [&b"a\n\nb\n\nc\n"[..], b"a\r\rb\r\rc\r", b"a\r\n\r\nb\r\n\r\nc\r\n", b"a\r\n\nb\n\rc\r"] {
            for len in 1..=text.len() {
                assert_eq!(digest_in("Text/Plain; charset=utf-8", text, len), expected, "{text:?} in pieces of {len}");
            }
        }
        assert_ne!(digest_in("text/plain", b"a\n\n", 9), digest_in("text/plain", b"a\n", 9));
        assert_ne!(digest_in("image/png", b"a\n", 9), digest_in("image/png", b"a\r\n", 9));
    }

    #[test]
    fn markup_of_xml_does_not_matter() {
        let expected = digest_in("text/plain", b"<a b=\"1\"></a>", 100);
        for media_type in ["text/xml", "application/xml", "application/soap+xml; charset=utf-8", "image/svg+xml"] {
            assert_eq!(digest_in(media_type, b"<?xml version='1.0'?><!-- x --><a   b='1'/>", 3), expected);
        }
        let content = AttachmentContent { content_id: "x", media_type: "text/xml", bytes: b"<a>" };
        assert!(content.digest(DigestAlgorithm::Sha256).is_err());
    }
}
