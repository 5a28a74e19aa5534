//! Verification: the value of a signature, and the digests of what it refers to.

use super::{KeySource, Reference, Signature, Transform, read_token_reference};
use crate::algorithms::DigestAlgorithm;
use crate::error::SecurityError;
use crate::keys::Certificate;
use crate::keys::VerifyingKey;
use crate::received::{BodyPlan, MessageHead, Part, Target, canonical_parts};
use aws_lc_rs::constant_time::verify_slices_are_equal;
use deltasoap_core::PartUri;
use deltasoap_xml::c14n::Method;

/// The key of a valid signature, and how it is trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SignedBy {
    Certificate(Certificate),
    /// A shared secret or a public key with a name.
    Named(String),
    /// The holder of the assertion at this element.
    Holder(usize),
}

/// What the references of signatures lead to.
#[derive(Debug, Default)]
pub(crate) struct References {
    /// Elements of the head whose digests match.
    pub(crate) elements: Vec<usize>,
    /// True if the body is signed, once its digest matches.
    pub(crate) has_body: bool,
    /// Content ids of signed attachments, and what their content must hash to.
    pub(crate) attachments: Vec<SignedAttachment>,
    /// What remains to be found in the body.
    pub(crate) plan: BodyPlan,
    /// The SHA-256 digest of what a signature was computed over.
    pub(crate) signed_info: Vec<u8>,
    /// The value of the signature.
    pub(crate) value: Vec<u8>,
}

/// An attachment that a signature refers to.
#[derive(Debug, Clone)]
pub(crate) struct SignedAttachment {
    pub(crate) content_id: String,
    pub(crate) algorithm: crate::algorithms::DigestAlgorithm,
    pub(crate) digest: Vec<u8>,
}

impl References {
    /// Adds those of another signature.
    pub(crate) fn add(&mut self, mut other: References) {
        self.elements.append(&mut other.elements);
        self.has_body |= other.has_body;
        self.attachments.append(&mut other.attachments);
        self.add_targets(other);
    }

    /// Adds what remains to be found for another signature, which must be valid but does not count.
    pub(crate) fn add_targets(&mut self, other: References) {
        self.plan.targets.extend(other.plan.targets);
        self.plan.taken_ids.extend(other.plan.taken_ids);
    }

    /// Verifies a signature: its value, which covers the digests of its references, then these.
    /// Nothing else is computed for a signature whose value is wrong.
    ///
    /// # Errors
    /// Returns an error if the value or a digest does not match, or a reference leads out of the
    /// message.
    pub(crate) fn verify(
        &mut self,
        head: &MessageHead,
        signature: &Signature,
        key: &VerifyingKey,
    ) -> Result<(), SecurityError> {
        let method = signature.canonicalization.clone();
        let signed_info = canonical_parts(head, &[Part { element: signature.signed_info, method, omitted: None }])?;
        key.verify(signature.algorithm, &signed_info[0], &signature.value)?;
        let mut hasher = DigestAlgorithm::Sha256.hasher();
        hasher.update(&signed_info[0]);
        self.signed_info = hasher.finish();
        self.value.clone_from(&signature.value);
        let (mut parts, mut expected) = (Vec::new(), Vec::new());
        for reference in &signature.references {
            if let Some((part, element)) = self.part_of(head, signature, reference)? {
                parts.push(part);
                expected.push((reference, element));
            }
        }
        for (bytes, (reference, element)) in canonical_parts(head, &parts)?.into_iter().zip(expected) {
            let bytes = match reference.transform {
                Transform::Token(_) => with_default_namespace(bytes),
                _ => bytes,
            };
            let mut hasher = reference.algorithm.hasher();
            hasher.update(&bytes);
            if verify_slices_are_equal(&hasher.finish(), &reference.digest).is_err() {
                return Err(SecurityError::Check(format!(
                    "the digest of the signed element {} does not match",
                    head.tree.path(element)
                )));
            }
            self.elements.push(element);
        }
        Ok(())
    }

    /// Returns the part of the head that a reference leads to, and its element. Other places are
    /// noted.
    fn part_of(
        &mut self,
        head: &MessageHead,
        signature: &Signature,
        reference: &Reference,
    ) -> Result<Option<(Part, usize)>, SecurityError> {
        if let Some(content_id) = PartUri::new(&*reference.uri).content_id() {
            return self.note_attachment(&content_id, reference).map(|()| None);
        }
        let outside =
            || SecurityError::Unsupported(format!("the signed reference {:?} is not supported", reference.uri));
        let id = reference.uri.strip_prefix('#').filter(|id| is_plain_id(id)).ok_or_else(outside)?;
        let (element, in_body) = (head.tree.with_id(id)?, head.body_ids.iter().any(|other| other == id));
        match (element, &reference.transform) {
            (Some(_), _) if in_body => Err(SecurityError::Malformed(format!("the signed id {id:?} occurs twice"))),
            (Some(element), transform) => {
                self.plan.taken_ids.insert(id.to_owned());
                self.head_part(head, signature, element, transform).map(Some)
            }
            // No signature is in the body, so there is none to leave out.
            (None, Transform::Canonical(method) | Transform::Enveloped(method)) => {
                self.has_body |= in_body;
                self.plan.targets.push(Target {
                    id: id.to_owned(),
                    method: method.clone(),
                    algorithm: reference.algorithm,
                    digest: reference.digest.clone(),
                });
                Ok(None)
            }
            (None, _) => Err(outside()),
        }
    }

    fn head_part(
        &self,
        head: &MessageHead,
        signature: &Signature,
        element: usize,
        transform: &Transform,
    ) -> Result<(Part, usize), SecurityError> {
        let part = |element, method: &Method, omitted| Part { element, method: method.clone(), omitted };
        match transform {
            Transform::Canonical(method) => Ok((part(element, method, None), element)),
            // A signature that is elsewhere is not left out (XML Signature 1.1, section 6.6.4).
            Transform::Enveloped(method) => {
                let omitted = head.tree.contains(element, signature.element).then_some(signature.element);
                Ok((part(element, method, omitted), element))
            }
            Transform::Token(method) => {
                let token = self.token_of(head, element)?;
                Ok((part(token, method, None), token))
            }
            _ => Err(SecurityError::Unsupported(format!(
                "the transforms for the signed element {} are not supported",
                head.tree.path(element)
            ))),
        }
    }

    /// Returns the token in the message that a `SecurityTokenReference` leads to.
    fn token_of(&self, head: &MessageHead, reference: usize) -> Result<usize, SecurityError> {
        let found = match read_token_reference(&head.tree, reference)? {
            KeySource::Token(id) | KeySource::Assertion(id) => head.tree.with_id(&id)?,
            KeySource::Embedded(token) => Some(token),
            _ => None,
        };
        found.ok_or_else(|| {
            SecurityError::Unsupported("a signed token reference leads to a token outside the message".to_owned())
        })
    }

    fn note_attachment(&mut self, content_id: &str, reference: &Reference) -> Result<(), SecurityError> {
        if reference.transform != Transform::AttachmentContent {
            return Err(SecurityError::Unsupported(format!(
                "the transforms for the signed attachment {content_id:?} are not supported"
            )));
        }
        self.attachments.push(SignedAttachment {
            content_id: content_id.to_owned(),
            algorithm: reference.algorithm,
            digest: reference.digest.clone(),
        });
        Ok(())
    }
}

/// Returns true for an id, and false for a pointer expression.
fn is_plain_id(id: &str) -> bool {
    !id.is_empty() && !id.contains(['(', ')', '/', '#'])
}

/// Adds `xmlns=""` to the start tag of a token, unless it declares a default namespace: the form of
/// a token in place of a reference (SOAP Message Security 1.1, section 8.3).
pub(crate) fn with_default_namespace(token: Vec<u8>) -> Vec<u8> {
    let tag = token.split(|&byte| byte == b'>').next().unwrap_or_default();
    let name = tag.iter().position(|&byte| byte == b' ').unwrap_or(tag.len());
    if tag[name..].starts_with(b" xmlns=") {
        return token;
    }
    [&token[..name], b" xmlns=\"\"", &token[name..]].concat()
}
