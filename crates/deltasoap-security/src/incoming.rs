//! What is required of received messages, and what was found out about one.

use crate::encryption::{Decryption, Encryption, OpenedHead, Opening, Outer, OuterSignature, undecipherable};
use crate::keys::{Identity, VerifyingKey};
use crate::received::{BodyPlan, MessageHead};
use crate::replay::ReplayCache;
use crate::signature::{KeyInfo, KeySource, References, Signature, SignedAttachment, SignedBy, certificates};
use crate::token::saml::{self, Assertion, AssertionRules, Confirmation};
use crate::token::timestamp::Freshness;
use crate::token::username::{self, Users};
use crate::trust::Trust;
use crate::verification::Verification;
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
    decryption: Decryption,
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
    signed_headers: Vec<QName>,
    encrypted_body: bool,
    encrypted_headers: Vec<QName>,
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
            decryption: Decryption::default(),
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

    /// Decrypts what is encrypted for an identity, whose key must be an RSA key. May be called several
    /// times, for certificates that replace each other. Without it, encrypted messages are refused.
    ///
    /// The head of a message, up to 1 MiB, is then held back until its body begins, and encrypted
    /// data until its end.
    ///
    /// # Errors
    /// Returns an error if the identity has no certificate, or no key that decrypts.
    pub fn decrypt_with(mut self, identity: Identity) -> Result<Self, SecurityError> {
        if identity.decrypter.is_none() || identity.certificate().is_none() {
            return Err(SecurityError::Key("the identity has no certificate or no key that decrypts".to_owned()));
        }
        self.decryption.identities.push(identity);
        Ok(self)
    }

    /// Accepts content in AES-CBC too, for peers that have nothing better. It does not protect content
    /// from changes, so attackers who see how changed messages are answered can find out what is in
    /// them. Therefore such content is only accepted if it is signed, it is held back until its
    /// signature was verified, and all failures look alike; the time that they take differs by as
    /// little as possible, but differs. Default: AES-GCM alone.
    #[must_use]
    pub fn accept_cbc(mut self) -> Self {
        self.decryption.accepts_cbc = true;
        self
    }

    /// Requires that all content of the body is encrypted. Whoever has this side's certificate can
    /// encrypt, so this says nothing about the sender.
    #[must_use]
    pub fn encrypted_body(mut self) -> Self {
        self.needs.encrypted_body = true;
        self
    }

    /// Requires that header blocks with this name are encrypted, if there are any.
    #[must_use]
    pub fn encrypted_header(mut self, name: QName) -> Self {
        self.needs.encrypted_headers.push(name);
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
        Verification::new(Arc::clone(self), limits)
    }

    /// Returns true if encrypted messages can be read.
    pub(crate) fn decrypts(&self) -> bool {
        !self.decryption.identities.is_empty()
    }

    /// Returns true if all content of the body must be encrypted.
    pub(crate) fn needs_encrypted_body(&self) -> bool {
        self.needs.encrypted_body
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
    /// Returns a text that identifies the sender among senders of all kinds: a user and a certificate
    /// with the same name are different senders. `None` if the message proves nothing.
    pub fn key(&self) -> Option<String> {
        let of_user = self.user.as_ref().map(|user| format!("wsse user {user}"));
        let assertion = self.assertions.first();
        let of_assertion = assertion.map(|it| format!("saml subject {} of {}", it.subject, it.issuer));
        let certificate = self.certificate.as_ref();
        let of_certificate = certificate.map(|it| format!("certificate {}", it.fingerprint()));
        let of_secret = self.secret.as_ref().map(|name| format!("shared secret {name}"));
        of_user.or(of_assertion).or(of_certificate).or(of_secret)
    }

    /// Returns a name for the sender: that of the user, the subject of the assertion, the subject of
    /// the certificate, or the name of the secret. `None` if the message proves nothing.
    pub fn name(&self) -> Option<&str> {
        let assertion =
            self.assertions.first().map(|assertion| assertion.subject.as_str()).filter(|name| !name.is_empty());
        let certificate = self.certificate.as_ref().map(Certificate::subject);
        self.user.as_deref().or(assertion).or(certificate).or(self.secret.as_deref())
    }
}

/// What was found in the head of a message.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) sender: Sender,
    pub(crate) references: References,
    pub(crate) attachments: Vec<SignedAttachment>,
}

/// What is known about a message that was verified to its end.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Verified {
    /// Who sent it.
    pub sender: Sender,
    /// True if its body is signed.
    pub is_body_signed: bool,
    /// True if all content of its body was encrypted.
    pub is_body_encrypted: bool,
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
    /// Decrypts the head of a message, and verifies the signatures over what is encrypted. Returns
    /// `None` if nothing is encrypted.
    ///
    /// # Errors
    /// Returns an error if something cannot be decrypted or verified.
    pub(crate) fn open(
        &self,
        head: &MessageHead,
        limits: Limits,
    ) -> Result<Option<(BodyPlan, Opening)>, SecurityError> {
        let Some(header) = security_header(head)? else { return Ok(None) };
        let Some(encryption) = Encryption::read(&head.tree, header)? else { return Ok(None) };
        let opened = OpenedHead::open(head, header, &encryption, &self.decryption, limits)?;
        let place = |element: usize| opened.place(&head.tree, element);
        let mut check = Check::new(self, head, None);
        check.outer_signatures(header, &encryption.outer_signatures)?;
        let mut plan = References::default();
        let mut signatures = Vec::new();
        for (&signature, (mut signed_by, mut signed)) in encryption.outer_signatures.iter().zip(check.signed) {
            plan.add_targets(References { plan: std::mem::take(&mut signed.plan), ..References::default() });
            if let SignedBy::Holder(assertion) = &mut signed_by {
                let Some(place) = place(*assertion) else { continue };
                *assertion = place;
            }
            signed.elements = signed.elements.into_iter().filter_map(place).collect();
            signatures.extend(place(signature).map(|place| OuterSignature { place, signed_by, signed }));
        }
        let encrypted = opened.body.ids();
        let outer = Outer { signatures, opened: opened.opened.clone(), has_encrypted_body: !encrypted.is_empty() };
        Ok(Some((BodyPlan { encrypted, ..plan.plan }, Opening::new(opened, outer))))
    }

    /// Verifies the head of a message, and notes what it contains. `outer` is what is known of an
    /// encrypted message, which the head was opened of.
    ///
    /// # Errors
    /// Returns an error if the head is not accepted.
    pub(crate) fn check_head(
        &self,
        head: &MessageHead,
        outer: Option<&Outer>,
        found: &mut Option<Found>,
    ) -> Result<BodyPlan, SecurityError> {
        let mut check = Check::new(self, head, outer);
        let mut checked = match security_header(head)? {
            Some(header) => check.header(header),
            None => Ok(()),
        };
        checked = checked.and_then(|()| check.needs()).and_then(|()| check.is_cbc_signed());
        if checked.is_err() && outer.is_some_and(|outer| outer.opened.iter().any(|opened| opened.is_cbc)) {
            return Err(undecipherable());
        }
        checked?;
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
    outer: Option<&'c Outer>,
    now: SystemTime,
    found: Found,
    /// The timestamp, and until when the message may be accepted.
    timestamp: Option<(usize, SystemTime)>,
    /// The valid signatures: who made them, and what they refer to.
    signed: Vec<(SignedBy, References)>,
    /// Who signed the message.
    signer: Option<SignedBy>,
}

impl<'c> Check<'c> {
    fn new(requirements: &'c Requirements, head: &'c MessageHead, outer: Option<&'c Outer>) -> Self {
        Check {
            requirements,
            head,
            outer,
            now: requirements.now(),
            found: Found::default(),
            timestamp: None,
            signed: Vec::new(),
            signer: None,
        }
    }

    /// Verifies the signatures that sign what is encrypted.
    fn outer_signatures(&mut self, header: usize, signatures: &[usize]) -> Result<(), SecurityError> {
        if signatures.is_empty() {
            return Ok(());
        }
        let holders = self.holders(header)?;
        signatures.iter().try_for_each(|&signature| self.check_signature(header, signature, &holders))
    }

    fn header(&mut self, header: usize) -> Result<(), SecurityError> {
        let tree = &self.head.tree;
        if self.outer.is_none() && Encryption::read(tree, header)?.is_some() {
            return Err(SecurityError::Unsupported("encrypted messages are not accepted here".to_owned()));
        }
        self.check_timestamp(header)?;
        let holders = self.holders(header)?;
        for signature in tree.all(header, ns::DS, "Signature") {
            match self.outer.and_then(|outer| outer.signature_at(tree.get(signature).start)) {
                Some(verified) => self.add_verified(verified)?,
                None => self.check_signature(header, signature, &holders)?,
            }
        }
        self.identify()?;
        for token in tree.all(header, ns::WSSE, "UsernameToken").filter(|_| !self.requirements.ignores_users) {
            self.check_user(token)?;
        }
        self.check_confirmations(&holders)
    }

    /// Verifies the assertions. Returns them with the keys of their holders.
    fn holders(&mut self, header: usize) -> Result<Vec<(usize, Option<VerifyingKey>)>, SecurityError> {
        let tree = &self.head.tree;
        if tree.children(header).count() > MAX_TOKENS {
            return Err(SecurityError::Malformed(format!("the security header has more than {MAX_TOKENS} children")));
        }
        let assertions = tree.children(header).filter(|&child| saml::is_assertion(tree, child));
        assertions.map(|assertion| Ok((assertion, self.check_assertion(assertion)?))).collect()
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
        let mut signed = References::default();
        signed.verify(self.head, &signature, &key)?;
        let (has_time, signed_info) = (self.signs_time(&signed), signed.signed_info.clone());
        self.signed.push((signed_by, signed));
        if has_time { self.check_replay(&signed_info) } else { Ok(()) }
    }

    /// Adds a signature that was verified over the message as it arrived.
    fn add_verified(&mut self, verified: &OuterSignature) -> Result<(), SecurityError> {
        let tree = &self.head.tree;
        let lost = || SecurityError::Malformed("a signature signs what was encrypted in another place".to_owned());
        let signed_by = match &verified.signed_by {
            SignedBy::Holder(place) => SignedBy::Holder(tree.starting_at(*place).ok_or_else(lost)?),
            other => other.clone(),
        };
        let signed = References {
            elements: verified.signed.elements.iter().filter_map(|&place| tree.starting_at(place)).collect(),
            has_body: verified.signed.has_body,
            attachments: verified.signed.attachments.clone(),
            plan: BodyPlan::default(),
            signed_info: verified.signed.signed_info.clone(),
        };
        let (has_time, signed_info) = (self.signs_time(&signed), signed.signed_info.clone());
        self.signed.push((signed_by, signed));
        if has_time { self.check_replay(&signed_info) } else { Ok(()) }
    }

    fn signs_time(&self, signed: &References) -> bool {
        self.timestamp.is_some_and(|(timestamp, _)| signed.elements.contains(&timestamp))
    }

    /// Notes who signed the message: whoever signed the body or, if nobody did, the time. A signature
    /// over something else may be one of an earlier message, so it proves nothing about this one.
    fn identify(&mut self) -> Result<(), SecurityError> {
        let is_body_signed = self.signed.iter().any(|(_, signed)| signed.has_body);
        for (signed_by, signed) in std::mem::take(&mut self.signed) {
            if !(signed.has_body || !is_body_signed && self.signs_time(&signed)) {
                self.found.references.add_targets(signed);
                continue;
            }
            if self.signer.get_or_insert_with(|| signed_by.clone()) != &signed_by {
                return Err(SecurityError::Unsupported("several parties signed the message".to_owned()));
            }
            self.found.references.add(signed);
        }
        match &self.signer {
            Some(SignedBy::Certificate(certificate)) => self.found.sender.certificate = Some(certificate.clone()),
            Some(SignedBy::Named(name)) => self.found.sender.secret = Some(name.clone()),
            Some(SignedBy::Holder(_)) | None => {}
        }
        Ok(())
    }

    /// Refuses what was signed with the time and accepted before. The value of the signature does not
    /// tell: ECDSA has two for the same.
    fn check_replay(&self, signed_info: &[u8]) -> Result<(), SecurityError> {
        match (&self.requirements.replays, self.timestamp) {
            (Some(replays), Some((_, until))) => replays.insert(&[b"signature", signed_info], until, self.now),
            _ => Ok(()),
        }
    }

    /// Returns the key of a signature, which is trusted: the first that its `KeyInfo` leads to.
    fn key_of(
        &self,
        header: usize,
        info: &KeyInfo,
        holders: &[(usize, Option<VerifyingKey>)],
    ) -> Result<(VerifyingKey, SignedBy), SecurityError> {
        let mut failure = None;
        for source in &info.sources {
            match self.key_from(header, source, holders) {
                Ok(found) => return Ok(found),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        Err(failure.unwrap_or_else(|| SecurityError::UnknownToken("a signature names no key".to_owned())))
    }

    fn key_from(
        &self,
        header: usize,
        source: &KeySource,
        holders: &[(usize, Option<VerifyingKey>)],
    ) -> Result<(VerifyingKey, SignedBy), SecurityError> {
        let unknown = || SecurityError::UnknownToken("the key of a signature is not known".to_owned());
        let trust = &self.requirements.trust;
        let by = |certificate: &Certificate, intermediates: &[Certificate]| {
            trust.check(certificate, intermediates, self.now)?;
            Ok((certificate.key()?.clone(), SignedBy::Certificate(certificate.clone())))
        };
        match source {
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
        Ok((key, SignedBy::Holder(assertion)))
    }

    /// Returns the certificates of a `BinarySecurityToken`, the own one first.
    fn certificates(&self, token: usize) -> Result<Vec<Certificate>, SecurityError> {
        certificates(&self.head.tree, token, |der| self.requirements.trust.read(der))
    }

    /// Checks that the sender is who the assertions say.
    fn check_confirmations(&self, holders: &[(usize, Option<VerifyingKey>)]) -> Result<(), SecurityError> {
        let sender = &self.found.sender;
        for (assertion, (index, _)) in sender.assertions.iter().zip(holders) {
            let is_confirmed = match assertion.confirmation {
                Confirmation::Bearer => true,
                Confirmation::HolderOfKey => self.signer == Some(SignedBy::Holder(*index)),
                Confirmation::SenderVouches => {
                    self.signer.as_ref().is_some_and(|signer| !matches!(signer, SignedBy::Holder(_)))
                        && self.found.references.elements.contains(index)
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

    /// Checks that what AES-CBC encrypted in the head is a signature, or is signed.
    fn is_cbc_signed(&self) -> Result<(), SecurityError> {
        let tree = &self.head.tree;
        let opened = self.outer.iter().flat_map(|outer| &outer.opened);
        for opened in opened.filter(|opened| opened.is_cbc) {
            let element = tree.around(opened.start, opened.end).ok_or_else(undecipherable)?;
            let is_signed = self.found.references.elements.iter().any(|&signed| tree.contains(signed, element));
            if !opened.is_valid || !(is_signed || tree.get(element).is(ns::DS, "Signature")) {
                return Err(undecipherable());
            }
        }
        Ok(())
    }

    /// Returns true if a header block was encrypted.
    fn was_encrypted(&self, block: usize) -> bool {
        let element = self.head.tree.get(block);
        let mut opened = self.outer.iter().flat_map(|outer| &outer.opened);
        opened.any(|opened| opened.start <= element.start && element.end <= opened.end)
    }

    /// Checks that the message has what is required.
    fn needs(&self) -> Result<(), SecurityError> {
        let Needs {
            user,
            timestamp,
            assertion,
            signed_body,
            signed_timestamp,
            signed_token,
            signed_headers,
            encrypted_body,
            encrypted_headers,
            ..
        } = &self.requirements.needs;
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
        if *encrypted_body && !self.outer.is_some_and(|outer| outer.has_encrypted_body) {
            return missing("encrypted body");
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
            if encrypted_headers.iter().any(|required| name(&required)) && !self.was_encrypted(block) {
                return Err(SecurityError::Missing(format!("the header block {} is not encrypted", tree.path(block))));
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
