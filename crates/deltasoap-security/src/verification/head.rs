//! The head of a message, which is verified before anything in its body counts.

use crate::encryption::{Encryption, OpenedHead, Opening, Outer, OuterSignature, undecipherable};
use crate::error::SecurityError;
use crate::exchange::Exchange;
use crate::keys::{Certificate, VerifyingKey};
use crate::ns;
use crate::received::{BodyPlan, MessageHead};
use crate::replay::Once;
use crate::requirements::{Blocks, Needs, Requirements};
use crate::signature::{KeyInfo, KeySource, References, Signature, SignedAttachment, SignedBy, certificates};
use crate::token::saml::{self, Assertion, Confirmation};
use crate::token::{binary, username};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use deltasoap_core::QName;
use deltasoap_core::soap::Version;
use deltasoap_xml::Limits;
use std::time::SystemTime;

/// Maximum number of signatures and tokens in a security header.
const MAX_TOKENS: usize = 16;

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
    /// Whom a `BinarySecurityToken` identifies that is no certificate.
    pub token: Option<String>,
    /// The assertions about the sender, or about someone it vouches for.
    pub assertions: Vec<Assertion>,
}

impl Sender {
    /// Returns a text that identifies the sender among senders of all kinds: a user and a
    /// certificate with the same name are different senders. `None` if the message proves nothing.
    pub fn key(&self) -> Option<String> {
        let of_user = self.user.as_ref().map(|user| format!("wsse user {user}"));
        let assertion = self.assertions.first();
        let of_assertion = assertion.map(|it| format!("saml subject {} of {}", it.subject, it.issuer));
        let certificate = self.certificate.as_ref();
        let of_certificate = certificate.map(|it| format!("certificate {}", it.fingerprint()));
        let of_secret = self.secret.as_ref().map(|name| format!("shared secret {name}"));
        let of_token = self.token.as_ref().map(|name| format!("token of {name}"));
        of_user.or(of_token).or(of_assertion).or(of_certificate).or(of_secret)
    }

    /// Returns a name for the sender: that of the user or of the token, the subject of the
    /// assertion, the subject of the certificate, or the name of the secret. `None` if the message
    /// proves nothing.
    pub fn name(&self) -> Option<&str> {
        let assertion =
            self.assertions.first().map(|assertion| assertion.subject.as_str()).filter(|name| !name.is_empty());
        let certificate = self.certificate.as_ref().map(Certificate::subject);
        self.user.as_deref().or(self.token.as_deref()).or(assertion).or(certificate).or(self.secret.as_deref())
    }
}

/// What was found in the head of a message.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) sender: Sender,
    pub(crate) references: References,
    pub(crate) attachments: Vec<SignedAttachment>,
    /// The values of all signatures.
    pub(crate) signatures: Vec<Vec<u8>>,
    /// What a response confirms.
    pub(crate) confirmed: Vec<Vec<u8>>,
    /// What is accepted once, and noted when the whole message is accepted.
    pub(crate) once: Vec<Once>,
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
        exchange: Option<&Exchange>,
        found: &mut Option<Found>,
    ) -> Result<BodyPlan, SecurityError> {
        let mut check = Check { exchange, ..Check::new(self, head, outer) };
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
    /// What is known of the request, for a response.
    exchange: Option<&'c Exchange>,
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
            exchange: None,
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
        self.check_tokens(header)?;
        self.read_confirmations(header)?;
        self.check_confirmations(&holders)
    }

    /// Notes the signatures of the request that a response confirms (SOAP Message Security 1.1,
    /// section 8.5). A confirmation counts only if it is signed like the body.
    fn read_confirmations(&mut self, header: usize) -> Result<(), SecurityError> {
        let tree = &self.head.tree;
        for confirmation in tree.all(header, ns::WSSE11, "SignatureConfirmation") {
            let Some(value) = tree.get(confirmation).attribute("", "Value") else { continue };
            let malformed = |_| SecurityError::Malformed("a confirmed signature is not in base64".to_owned());
            let value = BASE64_STANDARD.decode(value.trim()).map_err(malformed)?;
            if self.found.references.elements.contains(&confirmation) || self.signer.is_none() {
                self.found.confirmed.push(value);
            }
        }
        Ok(())
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
        let Requirements { users, freshness, .. } = self.requirements;
        let Some(users) = users else {
            return Err(SecurityError::Unsupported("user names are not accepted here".to_owned()));
        };
        let (user, nonce) = username::check(&self.head.tree, token, &**users, *freshness, self.now)?;
        nonce.map_or(Ok(()), |nonce| self.accept_once(nonce))?;
        match self.found.sender.user.replace(user) {
            None => Ok(()),
            Some(_) => Err(SecurityError::Malformed("the message has several user names".to_owned())),
        }
    }

    /// Verifies the tokens of the types that are accepted.
    fn check_tokens(&mut self, header: usize) -> Result<(), SecurityError> {
        let tree = &self.head.tree;
        for token in tree.all(header, ns::WSSE, "BinarySecurityToken") {
            let value_type = tree.get(token).attribute("", "ValueType").unwrap_or_default();
            let Some(verifier) = self.requirements.tokens.iter().find(|it| it.value_type == value_type) else {
                continue;
            };
            let name = binary::verify(tree, token, &*verifier.hook)?;
            if self.found.sender.token.replace(name).is_some() {
                return Err(SecurityError::Malformed("the message has several tokens of its sender".to_owned()));
            }
        }
        Ok(())
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
        self.accept(signed_by, signed)
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
            value: verified.signed.value.clone(),
        };
        self.accept(signed_by, signed)
    }

    /// Notes a valid signature. One over the time is accepted once. Its value does not identify it:
    /// ECDSA has two for the same.
    fn accept(&mut self, signed_by: SignedBy, signed: References) -> Result<(), SecurityError> {
        if let Some((timestamp, until)) = self.timestamp
            && self.signs_time(&signed)
            && !self.may_be_repeated(timestamp)
        {
            self.accept_once(Once::new(&[b"signature", &signed.signed_info], until))?;
        }
        self.found.signatures.push(signed.value.clone());
        self.signed.push((signed_by, signed));
        Ok(())
    }

    /// Returns true for responses whose time is in whole seconds. A service may send equal ones
    /// within a second, which are the same message then: RSA signs the same always.
    fn may_be_repeated(&self, timestamp: usize) -> bool {
        let created = self.head.tree.text_of(timestamp, ns::WSU, "Created");
        self.exchange.is_some() && created.is_some_and(|created| !created.contains('.'))
    }

    /// Refuses what was accepted before. It is not noted yet: if the rest of the message is lost or
    /// invalid, the sender may send it again.
    fn accept_once(&mut self, once: Once) -> Result<(), SecurityError> {
        let replays = self.requirements.replays.as_ref();
        replays.map_or(Ok(()), |replays| replays.check(&once, self.now))?;
        self.found.once.push(once);
        Ok(())
    }

    fn signs_time(&self, signed: &References) -> bool {
        self.timestamp.is_some_and(|(timestamp, _)| signed.elements.contains(&timestamp))
    }

    /// Notes who signed the message: whoever signed the body or, if nobody did, the time. A
    /// signature over something else may be one of an earlier message, so it proves nothing about
    /// this one.
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
            KeySource::Certificate(id) => {
                match trust.find(id).or(self.requirements.peer.as_ref().filter(|it| it.is(id))) {
                    Some(certificate) => by(certificate, &[]),
                    None => {
                        let tokens = self.head.tree.all(header, ns::WSSE, "BinarySecurityToken");
                        let own =
                            tokens.filter_map(|token| self.certificates(token).ok()).find(|chain| chain[0].is(id));
                        let chain = own.ok_or_else(unknown)?;
                        by(&chain[0], &chain[1..])
                    }
                }
            }
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

    /// Returns true for a `BinarySecurityToken` of a type that is verified.
    fn is_verified_token(&self, element: usize) -> bool {
        let element = self.head.tree.get(element);
        let value_type = element.attribute("", "ValueType").unwrap_or_default();
        element.is(ns::WSSE, "BinarySecurityToken")
            && self.requirements.tokens.iter().any(|verifier| verifier.value_type == value_type)
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
            token,
            signed_body,
            signed_timestamp,
            signed_token,
            signed_headers,
            encrypted_body,
            encrypted_headers,
            confirmation,
            digest_password,
            saml2,
            encrypted_user,
            signed_certificates,
            encrypted_signatures,
            signed_attachments: _,
        } = &self.requirements.needs;
        let Found { sender, references, .. } = &self.found;
        let missing = |what: &str| Err(SecurityError::Missing(format!("the message has no {what}")));
        if *user && sender.user.is_none() {
            return missing("user name");
        }
        if *assertion && sender.assertions.is_empty() {
            return missing("SAML assertion");
        }
        if *token && sender.token.is_none() {
            return missing("token of its sender");
        }
        if *timestamp && self.timestamp.is_none() {
            return missing("timestamp");
        }
        if *confirmation && !self.exchange.is_some_and(|it| it.is_confirmed_by(self.found.confirmed.clone())) {
            return missing("confirmation of the request's signature");
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
            let is_listed = |blocks: &Blocks| match blocks {
                Blocks::Named(required) => name(&required),
                Blocks::In(namespace) => element.namespace == *namespace,
                Blocks::All => !element.is(ns::WSSE, "Security"),
            };
            if signed_headers.iter().any(is_listed) && !is_signed(block) {
                return Err(SecurityError::Missing(format!("the header block {} is not signed", tree.path(block))));
            }
            if encrypted_headers.iter().any(|required| name(&required)) && !self.was_encrypted(block) {
                return Err(SecurityError::Missing(format!("the header block {} is not encrypted", tree.path(block))));
            }
            for child in tree.children(block).filter(|_| element.is(ns::WSSE, "Security")) {
                let token = tree.get(child);
                let is_user = token.is(ns::WSSE, "UsernameToken");
                if is_user && *digest_password && !username::has_digest(tree, child) {
                    return missing("digest of a password");
                }
                if is_user && *encrypted_user && !self.was_encrypted(child) {
                    return missing("encrypted user name");
                }
                if saml::is_assertion(tree, child)
                    && saml2.is_some_and(|saml2| token.is(ns::SAML2, "Assertion") != saml2)
                {
                    return missing("SAML assertion of the version that is accepted");
                }
                let is_certificate = token.is(ns::WSSE, "BinarySecurityToken") && !self.is_verified_token(child);
                if is_certificate && *signed_certificates && !is_signed(child) {
                    return missing("signature over its certificate");
                }
                if token.is(ns::DS, "Signature") && *encrypted_signatures && !self.was_encrypted(child) {
                    return missing("encrypted signature");
                }
            }
            let is_token = |&child: &usize| {
                tree.get(child).is(ns::WSSE, "UsernameToken")
                    || saml::is_assertion(tree, child)
                    || self.is_verified_token(child)
            };
            if *signed_token && tree.children(block).filter(is_token).any(|token| !is_signed(token)) {
                return missing("signature over its tokens");
            }
        }
        Ok(())
    }
}
