//! Security of messages: what is added before they are sent, and what is checked while they arrive.
//!
//! Clients and servers know these traits alone. The feature `security` implements them with
//! WS-Security; without it, nothing does.
//!
//! ```text
//! sent:      value ── template: body in canonical form ── Protect::secure ── message
//! received:  bytes ── Verifying::push ──┬── sender, once the body begins; verdict at the end
//!                                       └── decoder ── value, which nobody gets before the verdict
//! ```

use crate::attachments::{Attachments, Part};
use crate::body::Body;
use crate::error::BoxError;
use bytes::Bytes;
use deltasoap_core::soap::{Envelope, Fault, HeaderBlock, PolicyDocuments, Version};
use deltasoap_core::{Buffer, Error, Limits, Outgoing};
use deltasoap_xml::Encoding;
use http::Extensions;
use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

/// Adds security to messages before they are sent.
pub(crate) trait Protect: fmt::Debug + Send + Sync {
    /// Returns the id that the body needs, if it is signed.
    fn body_id(&self) -> Option<&str>;

    /// Adds header blocks and security to a message that was written without a header.
    ///
    /// # Errors
    /// Returns an error if the message cannot be secured.
    fn secure(
        &self,
        version: Version,
        blocks: &[HeaderBlock],
        message: Outgoing,
        parts: &[Part],
    ) -> Result<Outgoing, BoxError>;

    /// Returns what secures one request, and what its response is verified against.
    fn requesting(&self) -> (Arc<dyn Protect>, Exchange);

    /// Returns what secures the response to a request, given what is known about that; `None` if
    /// all responses are secured alike.
    fn answering(&self, request: &Extensions) -> Option<Arc<dyn Protect>>;

    /// Returns what secures the fault for a request whose sender is not known, which then may be
    /// read by anyone.
    fn refusing(&self) -> Arc<dyn Protect>;
}

/// The security of a request that was sent, for the verification of its response.
#[derive(Clone)]
pub(crate) struct Exchange(#[cfg_attr(not(feature = "security"), expect(dead_code))] Arc<dyn Any + Send + Sync>);

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange").finish_non_exhaustive()
    }
}

/// Checks received messages.
pub(crate) trait Verify: fmt::Debug + Send + Sync {
    /// Begins to check a request.
    fn begin(&self, limits: Limits) -> Box<dyn Verifying>;

    /// Begins to check a response. `request` is what it is verified against, if anything.
    fn begin_response(&self, limits: Limits, request: Option<Exchange>) -> Box<dyn Verifying>;

    /// Returns true if responses are verified against their requests.
    fn refers_to_requests(&self) -> bool;
}

/// Checks one message as it arrives.
pub(crate) trait Verifying: fmt::Debug + Send {
    /// Sets the encoding that the media type of the message names.
    fn set_encoding(&mut self, encoding: Encoding);

    /// Takes the next bytes. Returns the next ones to be decoded: the same unless something is
    /// encrypted.
    ///
    /// # Errors
    /// Returns an error if the message is not accepted.
    fn push(&mut self, bytes: Bytes) -> Result<Bytes, Insecure>;

    /// Returns true if the bytes to be decoded may be plaintext of what only this side can decrypt.
    /// Errors in it must not quote it before the message is known to be valid.
    fn decrypts(&self) -> bool;

    /// Returns what identifies the sender, once the body begins and if the message proves it.
    fn sender(&self) -> Option<String>;

    /// Ends the message, and attaches what is known about it. Returns what checks the other parts
    /// of its package; `None` if nothing does.
    ///
    /// # Errors
    /// Returns an error if the message is not accepted.
    fn finish(self: Box<Self>, extensions: &mut Extensions) -> Result<Option<Box<dyn CheckParts>>, Insecure>;
}

/// Checks the parts that come with a message.
pub(crate) trait CheckParts: fmt::Debug + Send + Sync {
    /// Begins to check a part; returns `None` if nothing needs to be checked.
    ///
    /// # Errors
    /// Returns an error if the message may have no such part.
    fn begin(&mut self, content_id: &str, media_type: &str) -> Result<Option<Box<dyn CheckPart>>, BoxError>;

    /// Ends the package.
    ///
    /// # Errors
    /// Returns an error if it lacks a part.
    fn finish(&mut self) -> Result<(), BoxError>;
}

/// Checks one part as its content arrives.
pub(crate) trait CheckPart: fmt::Debug + Send + Sync {
    fn push(&mut self, bytes: &[u8]);

    /// Ends the part.
    ///
    /// # Errors
    /// Returns an error if its content is not accepted.
    fn finish(self: Box<Self>) -> Result<(), BoxError>;
}

/// Has the other parts of a message's package checked as they arrive; `attachments` is `None`
/// without a package.
///
/// # Errors
/// Returns an error if parts are missing, or cannot be checked.
pub(crate) fn check_parts(
    checks: Option<Box<dyn CheckParts>>,
    attachments: Option<&mut Attachments>,
) -> Result<(), Insecure> {
    let checked = match (checks, attachments) {
        (None, _) => Ok(()),
        (Some(checks), Some(attachments)) => attachments.check_with(checks),
        (Some(mut checks), None) => checks.finish(),
    };
    let fault = |_| Fault::sender("the parts of the message are not secured as the service requires");
    checked.map_err(|error| Insecure { error, fault: Box::new(fault) })
}

/// The reason why a received message is not accepted.
pub(crate) struct Insecure {
    /// For whoever operates this side.
    pub(crate) error: BoxError,
    /// For the peer, who learns less.
    pub(crate) fault: Box<dyn Fn(Version) -> Fault + Send>,
}

impl fmt::Debug for Insecure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Insecure").field("error", &self.error).finish_non_exhaustive()
    }
}

/// The reason why a message was not written.
#[derive(Debug)]
pub(crate) enum WriteError {
    Encode(Error),
    /// It cannot be secured.
    Protect(BoxError),
}

impl From<Error> for WriteError {
    fn from(error: Error) -> Self {
        WriteError::Encode(error)
    }
}

/// A message to be written, and what secures it. The header blocks are in one of the two.
pub(crate) struct Securing<'a> {
    pub(crate) envelope: Envelope<'a>,
    protection: Option<(&'a dyn Protect, Version, &'a [HeaderBlock])>,
    /// The parts that are sent with the message.
    parts: &'a [Part],
    /// The message before it was secured, if it is validated: it may be encrypted.
    plain: Option<Cell<Body>>,
}

impl<'a> Securing<'a> {
    /// Adds header blocks and security to an envelope without them.
    pub(crate) fn new(
        envelope: Envelope<'a>,
        version: Version,
        blocks: &'a [HeaderBlock],
        protection: Option<&'a dyn Protect>,
    ) -> Self {
        let Some(protection) = protection else {
            return Securing { envelope: envelope.headers(blocks), protection: None, parts: &[], plain: None };
        };
        let envelope = match protection.body_id() {
            Some(id) => envelope.canonical(id),
            None => envelope,
        };
        Securing { envelope, protection: Some((protection, version, blocks)), parts: &[], plain: None }
    }

    /// Keeps the message as it was before it was secured, if `is_kept`: see [`plain`](Self::plain).
    pub(crate) fn keep_plain(self, is_kept: bool) -> Self {
        let plain = (is_kept && self.is_secured()).then(Cell::default);
        Securing { plain, ..self }
    }

    /// Returns the message as it was before it was secured, if it was kept.
    pub(crate) fn plain(&self) -> Option<Body> {
        self.plain.as_ref().map(Cell::take)
    }

    /// Sets the parts that are sent with the message.
    pub(crate) fn parts(self, parts: &'a [Part]) -> Self {
        Securing { parts, ..self }
    }

    /// Returns true if the message is secured, so that it is sealed after it was written.
    pub(crate) fn is_secured(&self) -> bool {
        self.protection.is_some()
    }

    /// Writes the message without a template. Returns its length too.
    pub(crate) fn write_in_full(&self, buffer: Buffer) -> Result<(Body, usize), WriteError> {
        if self.is_secured() {
            let message = self.seal(self.envelope.write_outgoing(buffer)?)?;
            let len = message.len();
            return Ok((message.into(), len));
        }
        let message = self.envelope.write(buffer)?;
        let len = message.len();
        Ok((message.into(), len))
    }

    /// Secures a message that was written from the envelope.
    pub(crate) fn seal(&self, message: Outgoing) -> Result<Outgoing, WriteError> {
        let Some((protection, version, blocks)) = self.protection else { return Ok(message) };
        if let Some(plain) = &self.plain {
            plain.set(with_blocks(message.clone(), blocks)?.into());
        }
        protection.secure(version, blocks, message, self.parts).map_err(WriteError::Protect)
    }
}

/// Returns a message with header blocks.
fn with_blocks(message: Outgoing, blocks: &[HeaderBlock]) -> Result<Outgoing, Error> {
    if blocks.is_empty() {
        return Ok(message);
    }
    let mut header = String::from("<soap:Header>");
    for block in blocks {
        header.push_str(&String::from_utf8_lossy(&block.to_canonical()?.0));
    }
    header.push_str("</soap:Header>");
    Ok(message.with_header(header))
}

/// What a service's policies say about security, and what a side meets them with.
#[derive(Debug, Default)]
pub(crate) struct Policies {
    pub(crate) documents: PolicyDocuments,
    #[cfg(feature = "security")]
    pub(crate) credentials: Option<deltasoap_security::PolicyCredentials>,
}

/// The side of a service that has policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    #[cfg(feature = "client")]
    Client { is_tls: bool, has_http_authentication: bool },
    #[cfg(feature = "server")]
    Server,
}

/// What secures the messages that a side sends, and what checks those that it receives.
pub(crate) type Security = (Option<Arc<dyn Protect>>, Option<Arc<dyn Verify>>);

impl Policies {
    /// Returns the security that a side has by the policies. What it was given stays, and if it was
    /// given something but no credentials, the policies are taken to be met.
    ///
    /// # Errors
    /// Returns the reason why the policies are not met.
    pub(crate) fn meet(self, side: Side, given: Security) -> Result<Security, UnmetPolicies> {
        let (protection, verify) = given;
        let is_given = protection.is_some() || verify.is_some();
        if self.documents.is_empty() || is_given && !self.has_credentials() || self.is_left_to_others(side) {
            return Ok((protection, verify));
        }
        let (own_protection, own_verify) = self.meet_with_security(side)?;
        Ok((protection.or(own_protection), verify.or(own_verify)))
    }

    /// Returns true if TLS meets the policies, which whoever serves a service sees to. Without the
    /// feature `security`, this is all that is known of clients too.
    fn is_left_to_others(&self, side: Side) -> bool {
        let is_met_by_tls = self.documents.is_met_by_tls();
        match side {
            #[cfg(feature = "client")]
            Side::Client { is_tls, .. } => cfg!(not(feature = "security")) && is_tls && is_met_by_tls,
            #[cfg(feature = "server")]
            Side::Server => !self.has_credentials() && is_met_by_tls,
        }
    }

    #[cfg(feature = "security")]
    fn has_credentials(&self) -> bool {
        self.credentials.is_some()
    }

    #[cfg(not(feature = "security"))]
    fn has_credentials(&self) -> bool {
        false
    }

    #[cfg(feature = "security")]
    fn meet_with_security(self, side: Side) -> Result<Security, UnmetPolicies> {
        use deltasoap_security::{PolicyError, SecurityPolicy};

        let Policies { documents, credentials } = self;
        let unmet = |error: PolicyError| UnmetPolicies(error.to_string());
        if documents.request.is_empty() && documents.response.is_empty() {
            return Err(UnmetPolicies::of(&documents, "they differ between operations, or cannot be read"));
        }
        let policy = SecurityPolicy::parse(&documents).map_err(unmet)?;
        let credentials = credentials.unwrap_or_default();
        let secured = match side {
            #[cfg(feature = "client")]
            Side::Client { is_tls, has_http_authentication } => {
                let credentials = if is_tls { credentials.tls(deltasoap_security::Tls::Server) } else { credentials };
                policy.client(&if has_http_authentication { credentials.http_authentication() } else { credentials })
            }
            #[cfg(feature = "server")]
            Side::Server => policy.server(&credentials),
        };
        let secured = secured.map_err(unmet)?;
        let protection = secured.protection.map(|protection| Arc::new(protection) as Arc<dyn Protect>);
        let verify = secured.requirements.map(|requirements| Arc::new(Arc::new(requirements)) as Arc<dyn Verify>);
        Ok((protection, verify))
    }

    #[cfg(not(feature = "security"))]
    fn meet_with_security(self, _: Side) -> Result<Security, UnmetPolicies> {
        Err(UnmetPolicies::of(&self.documents, "the feature `security` meets them"))
    }
}

/// The error for a side that does not meet the policies of its service: the reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnmetPolicies(String);

impl UnmetPolicies {
    fn of(documents: &PolicyDocuments, reason: &str) -> Self {
        UnmetPolicies(format!("the service's policies are not met: {}; {reason}", documents.required))
    }
}

impl fmt::Display for UnmetPolicies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UnmetPolicies {}

/// Returns the error for messages that are written while they are sent, or whose larger values are
/// separate parts: their body is not known when their signature is written.
pub(crate) fn cannot_be_secured() -> BoxError {
    "a message that is written while it is sent, or by MTOM, cannot be secured: its signature comes first".into()
}

#[cfg(feature = "security")]
mod wss {
    use super::{BoxError, CheckPart, CheckParts, Exchange, Insecure, Part, Protect, Verify, Verifying};
    use bytes::Bytes;
    use deltasoap_core::soap::{HeaderBlock, Version};
    use deltasoap_core::{Limits, Outgoing};
    use deltasoap_security::{
        AttachmentCheck, AttachmentContent, Protection, Requirements, SecurityError, Verification, Verified,
    };
    use deltasoap_xml::Encoding;
    use http::Extensions;
    use std::sync::Arc;

    impl Protect for Protection {
        fn body_id(&self) -> Option<&str> {
            Protection::body_id(self)
        }

        fn secure(
            &self,
            version: Version,
            blocks: &[HeaderBlock],
            message: Outgoing,
            parts: &[Part],
        ) -> Result<Outgoing, BoxError> {
            let mut attachments = Vec::new();
            for part in parts.iter().filter(|_| self.signs_attachments()) {
                let (content_id, media_type) = (part.content_id(), part.content_type());
                let Some(bytes) = part.bytes() else {
                    return Err(format!("the part {content_id:?} cannot be signed: it is read while it is sent").into());
                };
                attachments.push(AttachmentContent { content_id, media_type, bytes });
            }
            Ok(Protection::secure(self, version, blocks, message, &attachments)?)
        }

        fn requesting(&self) -> (Arc<dyn Protect>, Exchange) {
            let (protection, exchange) = Protection::requesting(self);
            (Arc::new(protection), Exchange(Arc::new(exchange)))
        }

        fn answering(&self, request: &Extensions) -> Option<Arc<dyn Protect>> {
            if !self.refers_to_requests() {
                return None;
            }
            Some(Arc::new(match request.get::<Verified>() {
                Some(request) => Protection::answering(self, request),
                None => Protection::refusing(self),
            }))
        }

        fn refusing(&self) -> Arc<dyn Protect> {
            Arc::new(Protection::refusing(self))
        }
    }

    impl Verify for Arc<Requirements> {
        fn begin(&self, limits: Limits) -> Box<dyn Verifying> {
            Box::new(Requirements::begin(self, limits))
        }

        fn begin_response(&self, limits: Limits, request: Option<Exchange>) -> Box<dyn Verifying> {
            let request = request.and_then(|Exchange(request)| request.downcast::<deltasoap_security::Exchange>().ok());
            let request = request.map(|request| (*request).clone()).unwrap_or_default();
            Box::new(Requirements::begin_response(self, limits, request))
        }

        fn refers_to_requests(&self) -> bool {
            Requirements::refers_to_requests(self)
        }
    }

    impl Verifying for Verification {
        fn set_encoding(&mut self, encoding: Encoding) {
            Verification::set_encoding(self, encoding);
        }

        fn push(&mut self, bytes: Bytes) -> Result<Bytes, Insecure> {
            Verification::push(self, bytes).map_err(insecure)
        }

        fn decrypts(&self) -> bool {
            Verification::decrypts(self)
        }

        fn sender(&self) -> Option<String> {
            Verification::sender(self)?.key()
        }

        fn finish(self: Box<Self>, extensions: &mut Extensions) -> Result<Option<Box<dyn CheckParts>>, Insecure> {
            let verified = Verification::finish(*self).map_err(insecure)?;
            let missing: Vec<_> = verified.signed_attachments().map(str::to_owned).collect();
            let are_checked = verified.needs_signed_attachments || !missing.is_empty();
            extensions.insert(verified.clone());
            Ok(are_checked.then(|| Box::new(SignedParts { verified, missing }) as Box<dyn CheckParts>))
        }
    }

    /// The attachments that a message says are signed.
    #[derive(Debug)]
    struct SignedParts {
        verified: Verified,
        /// Those that did not arrive yet.
        missing: Vec<String>,
    }

    impl CheckParts for SignedParts {
        fn begin(&mut self, content_id: &str, media_type: &str) -> Result<Option<Box<dyn CheckPart>>, BoxError> {
            match self.verified.begin_attachment(content_id, media_type) {
                Some(check) => {
                    self.missing.retain(|missing| missing != content_id);
                    Ok(Some(Box::new(check)))
                }
                None if self.verified.needs_signed_attachments => {
                    Err(format!("the part {content_id:?} is not signed").into())
                }
                None => Ok(None),
            }
        }

        fn finish(&mut self) -> Result<(), BoxError> {
            match self.missing.first() {
                Some(missing) => Err(format!("the signed part {missing:?} is not in the package").into()),
                None => Ok(()),
            }
        }
    }

    impl CheckPart for AttachmentCheck {
        fn push(&mut self, bytes: &[u8]) {
            AttachmentCheck::push(self, bytes);
        }

        fn finish(self: Box<Self>) -> Result<(), BoxError> {
            Ok(AttachmentCheck::finish(*self)?)
        }
    }

    fn insecure(error: SecurityError) -> Insecure {
        Insecure { error: error.clone().into(), fault: Box::new(move |version| error.to_fault(version)) }
    }
}
