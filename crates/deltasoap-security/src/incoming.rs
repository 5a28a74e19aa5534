//! What is required of received messages, and what was found out about one.

use crate::keys::VerifyingKey;
use crate::received::{BodyPlan, MessageHead, Walk};
use crate::replay::ReplayCache;
use crate::signature::{KeyInfo, KeySource, References, Signature, SignedAttachment, SignedBy, decode_base64};
use crate::token::saml::{self, Assertion, AssertionRules, Confirmation};
use crate::token::timestamp::Freshness;
use crate::token::username::{self, Users};
use crate::trust::Trust;
use crate::{Certificate, SecurityError, ns};
use deltasoap_core::QName;
use deltasoap_core::soap::Version;
use deltasoap_xml::Limits;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Default maximum difference of the clocks.
const SKEW: Duration = Duration::from_secs(60);
/// Default maximum age of a message.
const AGE: Duration = Duration::from_secs(300);
/// Maximum number of signatures and tokens in a security header.
const MAX_TOKENS: usize = 16;

/// What a side requires of the messages that it receives, and whom it trusts.
///
/// Everything that a message contains is verified, required or not: an invalid signature fails a
/// message even if no signature is required.
///
/// ```no_run
/// use deltasoap_security::{Requirements, Trust};
///
/// # fn main() -> Result<(), deltasoap_security::SecurityError> {
/// let trust = Trust::nobody().authorities(std::fs::read("authorities.pem").expect("a file"))?;
/// let requirements = Requirements::new().trust(trust).signed_body().signed_timestamp();
/// # Ok(())
/// # }
/// ```
pub struct Requirements {
    trust: Trust,
    users: Option<Box<dyn Users>>,
    /// True if user names are skipped.
    ignores_users: bool,
    assertions: Option<AssertionRules>,
    replays: Option<Arc<ReplayCache>>,
    freshness: Freshness,
    /// `None` for the present.
    now: Option<SystemTime>,
    needs: Needs,
}

#[derive(Debug, Default)]
struct Needs {
    user: bool,
    timestamp: bool,
    assertion: bool,
    signed_body: bool,
    signed_timestamp: bool,
    signed_token: bool,
    signed_attachments: bool,
    signed_headers: Vec<QName>,
}

impl Default for Requirements {
    fn default() -> Self {
        Self::new()
    }
}

impl Requirements {
    /// Requires nothing and trusts nobody. Clocks may differ by a minute; messages with a time may be
    /// five minutes old; what was accepted once is not accepted again.
    pub fn new() -> Self {
        Requirements {
            trust: Trust::nobody(),
            users: None,
            ignores_users: false,
            assertions: None,
            replays: Some(Arc::default()),
            freshness: Freshness { skew: SKEW, age: AGE },
            now: None,
            needs: Needs::default(),
        }
    }

    /// Sets whose signatures are accepted.
    #[must_use]
    pub fn trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// Sets who knows the passwords of users, and requires a `UsernameToken` with a password.
    #[must_use]
    pub fn users(mut self, users: impl Users + 'static) -> Self {
        self.users = Some(Box::new(users));
        self.needs.user = true;
        self
    }

    /// Accepts `UsernameToken` without checking the password, for recorded messages. Such a user is
    /// not the [sender](Sender).
    #[must_use]
    pub fn unchecked_users(mut self) -> Self {
        self.ignores_users = true;
        self
    }

    /// Sets which SAML assertions are accepted, and requires one.
    #[must_use]
    pub fn assertions(mut self, rules: AssertionRules) -> Self {
        self.assertions = Some(rules);
        self.needs.assertion = true;
        self
    }

    /// Accepts messages without a `UsernameToken` or an assertion too; what is there is verified.
    #[must_use]
    pub fn optional_tokens(mut self) -> Self {
        (self.needs.user, self.needs.assertion) = (false, false);
        self
    }

    /// Requires a `Timestamp`.
    #[must_use]
    pub fn timestamp(mut self) -> Self {
        self.needs.timestamp = true;
        self
    }

    /// Requires a `Timestamp` that is signed. Without one, a signed message can be sent again.
    #[must_use]
    pub fn signed_timestamp(mut self) -> Self {
        (self.needs.timestamp, self.needs.signed_timestamp) = (true, true);
        self
    }

    /// Requires that the body is signed.
    #[must_use]
    pub fn signed_body(mut self) -> Self {
        self.needs.signed_body = true;
        self
    }

    /// Requires that header blocks with this name are signed, if there are any.
    #[must_use]
    pub fn signed_header(mut self, name: QName) -> Self {
        self.needs.signed_headers.push(name);
        self
    }

    /// Requires that `UsernameToken` and assertions are signed with the message.
    #[must_use]
    pub fn signed_tokens(mut self) -> Self {
        self.needs.signed_token = true;
        self
    }

    /// Requires that all attachments are signed.
    #[must_use]
    pub fn signed_attachments(mut self) -> Self {
        self.needs.signed_attachments = true;
        self
    }

    /// Sets the maximum difference of the clocks. Default: one minute.
    #[must_use]
    pub fn clock_skew(mut self, skew: Duration) -> Self {
        self.freshness.skew = skew;
        self
    }

    /// Sets the maximum age of messages that have a time, whatever they say about their validity.
    /// Default: five minutes.
    #[must_use]
    pub fn max_age(mut self, age: Duration) -> Self {
        self.freshness.age = age;
        self
    }

    /// Sets the memory of accepted messages, to be shared by several services; `None` accepts
    /// messages again. Default: one of its own.
    #[must_use]
    pub fn replays(mut self, replays: Option<Arc<ReplayCache>>) -> Self {
        self.replays = replays;
        self
    }

    /// Verifies messages as if it were this time, for recorded ones. They may be verified again.
    #[must_use]
    pub fn at(mut self, time: SystemTime) -> Self {
        (self.now, self.replays) = (Some(time), None);
        self
    }

    /// Begins to verify a message.
    pub fn begin(self: &Arc<Self>, limits: Limits) -> Verification {
        Verification { requirements: Arc::clone(self), walk: Walk::new(limits), found: None }
    }

    fn now(&self) -> SystemTime {
        self.now.unwrap_or_else(SystemTime::now)
    }
}

impl fmt::Debug for Requirements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Requirements").field("trust", &self.trust).field("needs", &self.needs).finish_non_exhaustive()
    }
}

/// Who sent a message, as far as it proves that.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Sender {
    /// The user of a `UsernameToken` whose password is right.
    pub user: Option<String>,
    /// The certificate of the message's signature.
    pub certificate: Option<Certificate>,
    /// The name of the shared secret of the message's signature.
    pub secret: Option<String>,
    /// The assertions about the sender, or about someone it vouches for.
    pub assertions: Vec<Assertion>,
}

impl Sender {
    /// Returns a name for the sender: that of the user, the subject of the assertion, the subject of
    /// the certificate, or the name of the secret. `None` if the message proves nothing.
    pub fn name(&self) -> Option<&str> {
        let assertion =
            self.assertions.first().map(|assertion| assertion.subject.as_str()).filter(|name| !name.is_empty());
        let certificate = self.certificate.as_ref().map(Certificate::subject);
        self.user.as_deref().or(assertion).or(certificate).or(self.secret.as_deref())
    }
}

/// Verifies one message as it arrives.
///
/// [`push`](Self::push) takes the bytes before they are decoded. Once the body begins, the head is
/// verified and the [sender](Self::sender) known. Nothing in the body counts before
/// [`finish`](Self::finish) succeeds.
#[derive(Debug)]
pub struct Verification {
    requirements: Arc<Requirements>,
    walk: Walk,
    /// What the head contains.
    found: Option<Found>,
}

/// What was found in the head of a message.
#[derive(Debug, Default)]
struct Found {
    sender: Sender,
    references: References,
    /// Whether each requirement that the head can meet is met.
    attachments: Vec<SignedAttachment>,
}

impl Verification {
    /// Sets the encoding that the media type of the message names.
    pub fn set_encoding(&mut self, encoding: deltasoap_xml::Encoding) {
        self.walk.set_encoding(encoding);
    }

    /// Takes the next bytes of the message.
    ///
    /// # Errors
    /// Returns an error if the head of the message is not accepted. Malformed documents are left to
    /// the decoder.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), SecurityError> {
        let Verification { requirements, walk, found } = self;
        walk.push(bytes, &mut |head| requirements.check_head(head, found))
    }

    /// Returns who sent the message; `None` before the head was verified.
    pub fn sender(&self) -> Option<&Sender> {
        self.found.as_ref().map(|found| &found.sender)
    }

    /// Returns the offset of the body's start tag, in bytes of UTF-8; `None` before it was read. The
    /// body that is decoded must be this one.
    pub fn body_start(&self) -> Option<u64> {
        self.walk.body_start()
    }

    /// Ends the message.
    ///
    /// # Errors
    /// Returns an error if the body is not what was signed, or the message is incomplete.
    pub fn finish(mut self) -> Result<Verified, SecurityError> {
        let Verification { requirements, walk, found } = &mut self;
        walk.finish(&mut |head| requirements.check_head(head, found))?;
        let missing = || SecurityError::Malformed("the message has no body".to_owned());
        let Found { sender, references, attachments } = self.found.ok_or_else(missing)?;
        Ok(Verified { sender, is_body_signed: references.has_body, attachments })
    }
}

/// What is known about a message that was verified to its end.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Verified {
    /// Who sent it.
    pub sender: Sender,
    /// True if its body is signed.
    pub is_body_signed: bool,
    pub(crate) attachments: Vec<SignedAttachment>,
}

impl Verified {
    /// Returns the content ids of the attachments that are signed.
    pub fn signed_attachments(&self) -> impl Iterator<Item = &str> {
        self.attachments.iter().map(|attachment| attachment.content_id.as_str())
    }

    /// Checks the content of an attachment that was signed.
    ///
    /// # Errors
    /// Returns an error if the attachment is not signed, or its content is not what was signed.
    pub fn check_attachment(&self, content_id: &str, content: &[u8]) -> Result<(), SecurityError> {
        let signed: Vec<_> = self.attachments.iter().filter(|it| it.content_id == content_id).collect();
        if signed.is_empty() {
            return Err(SecurityError::Missing(format!("the attachment {content_id:?} is not signed")));
        }
        let is_valid = signed.iter().all(|it| {
            let mut hasher = it.algorithm.hasher();
            hasher.update(content);
            hasher.finish() == it.digest
        });
        if is_valid {
            Ok(())
        } else {
            Err(SecurityError::Check(format!("the digest of the attachment {content_id:?} does not match")))
        }
    }
}

impl Requirements {
    /// Verifies the head of a message, and notes what it contains.
    fn check_head(&self, head: &MessageHead, found: &mut Option<Found>) -> Result<BodyPlan, SecurityError> {
        let mut check = Check { requirements: self, head, now: self.now(), found: Found::default(), timestamp: None };
        if let Some(header) = security_header(head)? {
            check.header(header)?;
        }
        check.needs()?;
        let mut done = check.found;
        done.attachments = std::mem::take(&mut done.references.attachments);
        let plan = std::mem::take(&mut done.references.plan);
        *found = Some(done);
        Ok(plan)
    }
}

/// Returns the security header for the ultimate receiver.
///
/// # Errors
/// Returns an error if there are several.
fn security_header(head: &MessageHead) -> Result<Option<usize>, SecurityError> {
    let mut ours = head.tree.header_blocks().filter(|&block| {
        let element = head.tree.get(block);
        let role = match head.version {
            Version::Soap11 => element.attribute(Version::Soap11.namespace(), "actor"),
            Version::Soap12 => element.attribute(Version::Soap12.namespace(), "role"),
        };
        let is_for_us = role.is_none_or(|role| role.trim().is_empty() || role.trim() == ULTIMATE_RECEIVER);
        element.is(ns::WSSE, "Security") && is_for_us
    });
    match (ours.next(), ours.next()) {
        (header, None) => Ok(header),
        _ => Err(SecurityError::Malformed("the message has several security headers for the same role".to_owned())),
    }
}

const ULTIMATE_RECEIVER: &str = "http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver";

/// The verification of one head.
struct Check<'c> {
    requirements: &'c Requirements,
    head: &'c MessageHead,
    now: SystemTime,
    found: Found,
    /// The timestamp, and until when the message may be accepted.
    timestamp: Option<(usize, SystemTime)>,
}

impl Check<'_> {
    fn header(&mut self, header: usize) -> Result<(), SecurityError> {
        let tree = &self.head.tree;
        if tree.children(header).count() > MAX_TOKENS {
            return Err(SecurityError::Malformed(format!("the security header has more than {MAX_TOKENS} children")));
        }
        self.check_timestamp(header)?;
        let mut holders = Vec::new();
        for assertion in tree.children(header).filter(|&child| saml::is_assertion(tree, child)) {
            holders.push((assertion, self.check_assertion(assertion)?));
        }
        for signature in tree.all(header, ns::DS, "Signature") {
            self.check_signature(header, signature, &holders)?;
        }
        for token in tree.all(header, ns::WSSE, "UsernameToken").filter(|_| !self.requirements.ignores_users) {
            self.check_user(token)?;
        }
        self.check_confirmations(&holders)
    }

    fn check_timestamp(&mut self, header: usize) -> Result<(), SecurityError> {
        let mut timestamps = self.head.tree.all(header, ns::WSU, "Timestamp");
        let Some(timestamp) = timestamps.next() else { return Ok(()) };
        if timestamps.next().is_some() {
            return Err(SecurityError::Malformed("the security header has several timestamps".to_owned()));
        }
        let until = self.requirements.freshness.check(&self.head.tree, timestamp, self.now)?;
        self.timestamp = Some((timestamp, until));
        Ok(())
    }

    fn check_user(&mut self, token: usize) -> Result<(), SecurityError> {
        let Requirements { users, freshness, replays, .. } = self.requirements;
        let Some(users) = users else {
            return Err(SecurityError::Unsupported("user names are not accepted here".to_owned()));
        };
        let user = username::check(&self.head.tree, token, &**users, *freshness, replays.as_deref(), self.now)?;
        match self.found.sender.user.replace(user) {
            None => Ok(()),
            Some(_) => Err(SecurityError::Malformed("the message has several user names".to_owned())),
        }
    }

    /// Verifies an assertion, and returns the key of its holder.
    fn check_assertion(&mut self, index: usize) -> Result<Option<VerifyingKey>, SecurityError> {
        let Some(rules) = &self.requirements.assertions else {
            return Err(SecurityError::Unsupported("SAML assertions are not accepted here".to_owned()));
        };
        let verified = saml::verify(self.head, index, rules, self.requirements.freshness, self.now)?;
        self.found.sender.assertions.push(verified.assertion);
        Ok(verified.holder)
    }

    /// Verifies a signature over the message.
    fn check_signature(
        &mut self,
        header: usize,
        index: usize,
        holders: &[(usize, Option<VerifyingKey>)],
    ) -> Result<(), SecurityError> {
        let signature = Signature::read(&self.head.tree, index)?;
        let (key, signed_by) = self.key_of(header, &signature.key_info, holders)?;
        self.found.references.verify(self.head, &signature, &key)?;
        match signed_by {
            SignedBy::Certificate(certificate) => match &self.found.sender.certificate {
                Some(other) if *other != certificate => {
                    return Err(SecurityError::Unsupported("several parties signed the message".to_owned()));
                }
                _ => self.found.sender.certificate = Some(certificate),
            },
            SignedBy::Named(name) => self.found.sender.secret = Some(name),
            SignedBy::Holder => {}
        }
        self.check_replay(&signature)
    }

    /// Refuses a signature that was accepted before, if it signs the time.
    fn check_replay(&self, signature: &Signature) -> Result<(), SecurityError> {
        match (&self.requirements.replays, self.timestamp) {
            (Some(replays), Some((timestamp, until))) if self.found.references.elements.contains(&timestamp) => {
                replays.insert(&[b"signature", &signature.value], until, self.now)
            }
            _ => Ok(()),
        }
    }

    /// Returns the key of a signature, which is trusted.
    fn key_of(
        &self,
        header: usize,
        info: &KeyInfo,
        holders: &[(usize, Option<VerifyingKey>)],
    ) -> Result<(VerifyingKey, SignedBy), SecurityError> {
        let unknown = || SecurityError::UnknownToken("the key of a signature is not known".to_owned());
        let trust = &self.requirements.trust;
        let by = |certificate: &Certificate, intermediates: &[Certificate]| {
            trust.check(certificate, intermediates, self.now)?;
            Ok((certificate.key()?.clone(), SignedBy::Certificate(certificate.clone())))
        };
        match info.sources.first().ok_or_else(unknown)? {
            KeySource::Token(id) => match self.head.tree.with_id(id)?.ok_or_else(unknown)? {
                token if saml::is_assertion(&self.head.tree, token) => self.holder(token, holders),
                token => {
                    let chain = self.certificates(token)?;
                    by(&chain[0], &chain[1..])
                }
            },
            KeySource::Embedded(token) => {
                let chain = self.certificates(*token)?;
                by(&chain[0], &chain[1..])
            }
            KeySource::Chain(chain) => {
                let chain = chain.iter().map(|der| trust.read(der.clone())).collect::<Result<Vec<_>, _>>()?;
                by(chain.first().ok_or_else(unknown)?, &chain[1..])
            }
            KeySource::Certificate(id) => match trust.find(id) {
                Some(certificate) => by(certificate, &[]),
                None => {
                    let tokens = self.head.tree.all(header, ns::WSSE, "BinarySecurityToken");
                    let own = tokens.filter_map(|token| self.certificates(token).ok()).find(|chain| chain[0].is(id));
                    let chain = own.ok_or_else(unknown)?;
                    by(&chain[0], &chain[1..])
                }
            },
            KeySource::Assertion(id) => {
                let assertion = self.head.tree.with_id(id)?.ok_or_else(unknown)?;
                self.holder(assertion, holders)
            }
            KeySource::Key(key) => {
                let certificate = trust.with_key(key).ok_or_else(unknown)?;
                Ok((certificate.key()?.clone(), SignedBy::Certificate(certificate.clone())))
            }
            KeySource::Name(name) => {
                let key = trust.secret_named(name).ok_or_else(unknown)?;
                Ok((key.clone(), SignedBy::Named(name.clone())))
            }
        }
    }

    /// Returns the key of the holder of an assertion that was verified.
    fn holder(
        &self,
        assertion: usize,
        holders: &[(usize, Option<VerifyingKey>)],
    ) -> Result<(VerifyingKey, SignedBy), SecurityError> {
        let key = holders.iter().find(|(other, _)| *other == assertion).and_then(|(_, key)| key.clone());
        let key = key.ok_or_else(|| SecurityError::Token("the assertion names no key of its holder".to_owned()))?;
        Ok((key, SignedBy::Holder))
    }

    /// Returns the certificates of a `BinarySecurityToken`, the own one first.
    fn certificates(&self, token: usize) -> Result<Vec<Certificate>, SecurityError> {
        let tree = &self.head.tree;
        let element = tree.get(token);
        let kind = element.attribute("", "ValueType").unwrap_or_default();
        let unsupported = || SecurityError::Unsupported(format!("tokens of the type {kind:?} are not supported"));
        if !element.is(ns::WSSE, "BinarySecurityToken") {
            return Err(unsupported());
        }
        let bytes = decode_base64(tree, token)?;
        match kind {
            ns::X509_V3 => Ok(vec![self.requirements.trust.read(bytes)?]),
            ns::X509_PKI_PATH => Certificate::path_from_der(&bytes),
            _ => Err(unsupported()),
        }
    }

    /// Checks that the sender is who the assertions say.
    fn check_confirmations(&self, holders: &[(usize, Option<VerifyingKey>)]) -> Result<(), SecurityError> {
        let sender = &self.found.sender;
        for (assertion, (index, _)) in sender.assertions.iter().zip(holders) {
            let is_confirmed = match assertion.confirmation {
                Confirmation::Bearer => true,
                // A signature with its key was verified: it alone leads to a signed body or time.
                Confirmation::HolderOfKey => self.is_signed_with(*index),
                Confirmation::SenderVouches => {
                    sender.certificate.is_some() && self.found.references.elements.contains(index)
                }
            };
            if !is_confirmed {
                return Err(SecurityError::Authentication(
                    "the sender does not prove its relation to the subject of the assertion".to_owned(),
                ));
            }
        }
        Ok(())
    }

    /// Returns true if a signature of the message refers to the key of an assertion, and signs the
    /// body or the time.
    fn is_signed_with(&self, assertion: usize) -> bool {
        let ids: Vec<_> = self.head.tree.get(assertion).ids().collect();
        let header = security_header(self.head).ok().flatten();
        let signatures = header.into_iter().flat_map(|header| self.head.tree.all(header, ns::DS, "Signature"));
        let mut infos = signatures.filter_map(|index| KeyInfo::read(&self.head.tree, index).ok());
        let signs = self.found.references.has_body
            || self.timestamp.is_some_and(|(timestamp, _)| self.found.references.elements.contains(&timestamp));
        signs
            && infos.any(|info| match info.sources.first() {
                Some(KeySource::Token(id) | KeySource::Assertion(id)) => ids.contains(&id.as_str()),
                _ => false,
            })
    }

    /// Checks that the message has what is required.
    fn needs(&self) -> Result<(), SecurityError> {
        let Needs { user, timestamp, assertion, signed_body, signed_timestamp, signed_token, signed_headers, .. } =
            &self.requirements.needs;
        let Found { sender, references, .. } = &self.found;
        let missing = |what: &str| Err(SecurityError::Missing(format!("the message has no {what}")));
        if *user && sender.user.is_none() {
            return missing("user name");
        }
        if *assertion && sender.assertions.is_empty() {
            return missing("SAML assertion");
        }
        if *timestamp && self.timestamp.is_none() {
            return missing("timestamp");
        }
        if *signed_body && !references.has_body {
            return missing("signature over its body");
        }
        let is_signed = |index: usize| references.elements.contains(&index);
        if *signed_timestamp && !self.timestamp.is_some_and(|(timestamp, _)| is_signed(timestamp)) {
            return missing("signature over its timestamp");
        }
        let tree = &self.head.tree;
        for block in tree.header_blocks() {
            let element = tree.get(block);
            let name = |name: &&QName| element.is(&name.namespace, &name.local);
            if signed_headers.iter().any(|required| name(&required)) && !is_signed(block) {
                return Err(SecurityError::Missing(format!("the header block {} is not signed", tree.path(block))));
            }
            let is_token =
                |&child: &usize| tree.get(child).is(ns::WSSE, "UsernameToken") || saml::is_assertion(tree, child);
            if *signed_token && tree.children(block).filter(is_token).any(|token| !is_signed(token)) {
                return missing("signature over its tokens");
            }
        }
        Ok(())
    }
}
