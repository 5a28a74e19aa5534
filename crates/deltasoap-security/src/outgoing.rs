//! What is added to sent messages: tokens, a timestamp, signatures, encryption.

use crate::algorithms::DigestAlgorithm;
use crate::attachment::AttachmentContent;
use crate::encryption::ContentCipher;
use crate::encryption::KeyTransport;
use crate::encryption::Sealer;
use crate::encryption::random;
use crate::error::SecurityError;
use crate::exchange::{Exchange, Request};
use crate::keys::Certificate;
use crate::keys::Identity;
use crate::ns;
use crate::signature::{PartReference, SignedPart, write};
use crate::token::binary::{self, TokenHook, TokenSource};
use crate::token::timestamp;
use crate::token::username::UsernameToken;
use crate::verification::Verified;
use crate::xml::attribute;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use deltasoap_core::soap::{HeaderBlock, Version};
use deltasoap_core::{Outgoing, QName};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The id of a signed body. Messages that are to be signed are written with it
/// ([`Envelope::canonical`](deltasoap_core::soap::Envelope::canonical)).
pub const BODY_ID: &str = "signed-body";
const USER_ID: &str = "user-token";
const TOKEN_ID: &str = "binary-token";
const CERTIFICATE_ID: &str = "certificate-token";
const RECIPIENT_ID: &str = "recipient-token";
const ASSERTION_REFERENCE_ID: &str = "assertion-reference";
/// The beginning of the ids of confirmed signatures.
const CONFIRMATION_ID: &str = "signature-confirmation-";
/// The beginning of the ids of signed header blocks.
const BLOCK_ID: &str = "signed-block-";

/// Security that is added to messages before they are sent.
///
/// ```no_run
/// use deltasoap_security::{Identity, Protection};
/// use std::time::Duration;
///
/// # fn main() -> Result<(), deltasoap_security::SecurityError> {
/// let identity = Identity::from_pem(std::fs::read("client.pem").expect("a file"), std::fs::read("client.key").expect("a file"))?;
/// let protection = Protection::new().timestamp(Duration::from_secs(300)).sign(identity);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "protection does nothing until a client or a server uses it"]
pub struct Protection {
    timestamp: Option<Duration>,
    user: Option<UsernameToken>,
    assertion: Option<AssertionToken>,
    token: Option<TokenHook<dyn TokenSource>>,
    signing: Option<Signing>,
    encryption: Option<Encryption>,
    must_understand: bool,
    /// Added to the time of the clock.
    clock_offset: ClockOffset,
    now: Option<SystemTime>,
    /// True if responses confirm the signatures of their requests.
    confirms_signatures: bool,
    /// Takes the signature of a request.
    exchange: Option<Exchange>,
    /// What the response refers to.
    request: Option<Arc<Request>>,
}

#[derive(Debug, Clone)]
struct Signing {
    identity: Identity,
    reference: KeyReference,
    digest: DigestAlgorithm,
    parts: SignedParts,
}

#[derive(Debug, Clone, Copy)]
struct SignedParts {
    body: bool,
    headers: bool,
    tokens: bool,
    attachments: bool,
}

#[derive(Debug, Clone)]
struct Encryption {
    /// `None` for the signer of the request.
    recipient: Option<Certificate>,
    reference: KeyReference,
    transport: KeyTransport,
    cipher: ContentCipher,
    headers: Vec<QName>,
    /// True if the content of the body is encrypted.
    body: bool,
    /// True if the signature is encrypted.
    signature: bool,
    /// True if the user name is encrypted.
    user: bool,
}

/// A difference of clocks, which may be negative.
#[derive(Debug, Clone, Copy, Default)]
struct ClockOffset {
    ahead: Duration,
    behind: Duration,
}

/// How a signature or an encrypted key refers to the certificate of its key.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyReference {
    /// The certificate is a `BinarySecurityToken` in the message. The default.
    Token,
    /// The certificate and those of its authorities are in the message (`X509PKIPathv1`).
    TokenPath,
    /// By the SHA-1 digest of the certificate, which the receiver must have.
    Thumbprint,
    /// By the subject key identifier of the certificate, which the receiver must have.
    KeyIdentifier,
    /// By the issuer and the serial number of the certificate, which the receiver must have.
    IssuerSerial,
    /// By a name that the receiver knows, for shared secrets.
    Name(String),
    /// By the assertion in the message, which names the key as that of its holder.
    Assertion,
}

/// An assertion that is sent as it was received from its issuer.
#[derive(Debug, Clone)]
struct AssertionToken {
    xml: Arc<str>,
    id: String,
    is_saml2: bool,
}

impl Default for Protection {
    fn default() -> Self {
        Self::new()
    }
}

impl Protection {
    /// Adds nothing.
    pub fn new() -> Self {
        Protection {
            timestamp: None,
            user: None,
            assertion: None,
            token: None,
            signing: None,
            encryption: None,
            must_understand: true,
            clock_offset: ClockOffset::default(),
            now: None,
            confirms_signatures: false,
            exchange: None,
            request: None,
        }
    }

    /// Adds a `Timestamp`; the message is valid for this time.
    pub fn timestamp(mut self, valid_for: Duration) -> Self {
        self.timestamp = Some(valid_for);
        self
    }

    /// Adds a `UsernameToken`.
    pub fn user(mut self, token: UsernameToken) -> Self {
        self.user = Some(token);
        self
    }

    /// Adds a SAML assertion, as its issuer wrote it.
    ///
    /// # Errors
    /// Returns an error if the text is no assertion, or depends on declarations that are not in it.
    pub fn assertion(mut self, xml: &str) -> Result<Self, SecurityError> {
        self.assertion = Some(AssertionToken::new(xml)?);
        Ok(self)
    }

    /// Adds a `BinarySecurityToken` of this type, which a hook makes for each message: a Kerberos
    /// ticket, for instance, of the type [`GSS_KERBEROS_V5_AP_REQ`](crate::GSS_KERBEROS_V5_AP_REQ).
    pub fn binary_token(mut self, value_type: impl Into<String>, source: impl TokenSource + 'static) -> Self {
        self.token = Some(TokenHook { value_type: value_type.into(), hook: Arc::new(source) });
        self
    }

    /// Signs the body, the timestamp, the tokens and all header blocks.
    pub fn sign(mut self, identity: Identity) -> Self {
        let reference = if identity.signer.algorithm().is_symmetric() {
            KeyReference::Name(String::new())
        } else {
            KeyReference::Token
        };
        let parts = SignedParts { body: true, headers: true, tokens: true, attachments: false };
        self.signing = Some(Signing { identity, reference, digest: DigestAlgorithm::Sha256, parts });
        self
    }

    /// Sets how the signature refers to its key. Default: [`KeyReference::Token`].
    pub fn key_reference(self, reference: KeyReference) -> Self {
        self.signing_with(|signing| signing.reference = reference)
    }

    /// Sets the algorithm of the digests of the signed parts. Default: SHA-256.
    pub fn digest(self, algorithm: DigestAlgorithm) -> Self {
        self.signing_with(|signing| signing.digest = algorithm)
    }

    /// Sets whether the body is signed. Default: true.
    pub fn sign_body(self, on: bool) -> Self {
        self.signing_with(|signing| signing.parts.body = on)
    }

    /// Sets whether header blocks are signed. Default: true.
    pub fn sign_headers(self, on: bool) -> Self {
        self.signing_with(|signing| signing.parts.headers = on)
    }

    /// Sets whether user names, assertions and the signer's certificate are signed. Default: true.
    pub fn sign_tokens(self, on: bool) -> Self {
        self.signing_with(|signing| signing.parts.tokens = on)
    }

    /// Sets whether attachments are signed. Default: false.
    pub fn sign_attachments(self, on: bool) -> Self {
        self.signing_with(|signing| signing.parts.attachments = on)
    }

    fn signing_with(mut self, set: impl FnOnce(&mut Signing)) -> Self {
        if let Some(signing) = &mut self.signing {
            set(signing);
        }
        self
    }

    /// Encrypts the content of the body, after it was signed, and the user name with its password.
    /// Only the owner of the certificate can read it, whose key must be an RSA key.
    ///
    /// Each message has a key of its own, for AES-GCM. Encryption needs a copy of the message, and
    /// does not say who sent it: sign too.
    pub fn encrypt(self, recipient: Certificate) -> Self {
        self.encrypt_to(Some(recipient))
    }

    /// Encrypts responses like [`encrypt`](Self::encrypt), for whoever signed the request. A
    /// request without a certificate of its signer has no response.
    pub fn encrypt_for_signer(self) -> Self {
        self.encrypt_to(None)
    }

    fn encrypt_to(mut self, recipient: Option<Certificate>) -> Self {
        self.encryption = Some(Encryption {
            recipient,
            reference: KeyReference::Thumbprint,
            transport: KeyTransport::default(),
            cipher: ContentCipher::default(),
            headers: Vec::new(),
            body: true,
            signature: false,
            user: true,
        });
        self
    }

    /// Sets the cipher of encrypted content. Default: AES-GCM with a key of 256 bits. AES-CBC is
    /// only read.
    pub fn cipher(self, cipher: ContentCipher) -> Self {
        self.encryption_with(|encryption| encryption.cipher = cipher)
    }

    /// Sets how the key of the content is encrypted. Default: RSA-OAEP with SHA-256. Older peers
    /// only know [`KeyTransport::RsaOaepSha1`].
    pub fn key_transport(self, transport: KeyTransport) -> Self {
        self.encryption_with(|encryption| encryption.transport = transport)
    }

    /// Sets how the encrypted key refers to the certificate of its recipient. Default:
    /// [`KeyReference::Thumbprint`].
    pub fn recipient_reference(self, reference: KeyReference) -> Self {
        self.encryption_with(|encryption| encryption.reference = reference)
    }

    /// Encrypts header blocks with this name too.
    pub fn encrypt_header(self, name: QName) -> Self {
        self.encryption_with(|encryption| encryption.headers.push(name))
    }

    /// Sets whether the content of the body is encrypted. Default: true.
    pub fn encrypt_body(self, on: bool) -> Self {
        self.encryption_with(|encryption| encryption.body = on)
    }

    /// Sets whether the signature is encrypted, so that nobody can compare its digests with guessed
    /// content. Default: false.
    pub fn encrypt_signature(self, on: bool) -> Self {
        self.encryption_with(|encryption| encryption.signature = on)
    }

    /// Sets whether the user name and its password are encrypted. Default: true.
    pub fn encrypt_user(self, on: bool) -> Self {
        self.encryption_with(|encryption| encryption.user = on)
    }

    fn encryption_with(mut self, set: impl FnOnce(&mut Encryption)) -> Self {
        if let Some(encryption) = &mut self.encryption {
            set(encryption);
        }
        self
    }

    /// Sets whether responses confirm the signatures of their requests (SOAP Message Security 1.1,
    /// section 8.5). Default: false.
    pub fn confirm_signatures(mut self, on: bool) -> Self {
        self.confirms_signatures = on;
        self
    }

    /// Returns true if messages have a SAML assertion of version 2.0.
    pub(crate) fn has_saml2(&self) -> bool {
        self.assertion.as_ref().is_some_and(|assertion| assertion.is_saml2)
    }

    /// Returns the protection of one request, and what its response is verified against.
    pub fn requesting(&self) -> (Self, Exchange) {
        let exchange = Exchange::default();
        (Protection { exchange: Some(exchange.clone()), ..self.clone() }, exchange)
    }

    /// Returns true if responses are secured differently for each request
    /// ([`answering`](Self::answering)).
    pub fn refers_to_requests(&self) -> bool {
        self.confirms_signatures || self.encryption.as_ref().is_some_and(|encryption| encryption.recipient.is_none())
    }

    /// Returns the protection of the response to a request.
    pub fn answering(&self, request: &Verified) -> Self {
        Protection { request: Some(Arc::new(request.request.clone())), ..self.clone() }
    }

    /// Returns the protection of the fault for a request that was not accepted. It is not encrypted
    /// if that were for the signer of the request, who is not known.
    pub fn refusing(&self) -> Self {
        let encryption = self.encryption.clone().filter(|encryption| encryption.recipient.is_some());
        Protection { encryption, ..self.clone() }
    }

    /// Sets whether the receiver must understand the security header. Default: true.
    pub fn must_understand(mut self, on: bool) -> Self {
        self.must_understand = on;
        self
    }

    /// Adds a time to that of the clock, for receivers whose clock is ahead: cameras, for instance.
    pub fn clock_ahead(mut self, by: Duration) -> Self {
        self.clock_offset = ClockOffset { ahead: by, behind: Duration::ZERO };
        self
    }

    /// Subtracts a time from that of the clock, for receivers whose clock is behind.
    pub fn clock_behind(mut self, by: Duration) -> Self {
        self.clock_offset = ClockOffset { ahead: Duration::ZERO, behind: by };
        self
    }

    /// Uses this time in place of that of the clock.
    pub fn at(mut self, time: SystemTime) -> Self {
        self.now = Some(time);
        self
    }

    /// Returns the id that the body is to be written with, in canonical form; `None` if it is not
    /// signed.
    pub fn body_id(&self) -> Option<&'static str> {
        self.signing.as_ref().filter(|signing| signing.parts.body).map(|_| BODY_ID)
    }

    /// Returns true if attachments are signed, so that their content must be known.
    pub fn signs_attachments(&self) -> bool {
        self.signing.as_ref().is_some_and(|signing| signing.parts.attachments)
    }

    /// Returns a message with these header blocks and security. It must have been written without
    /// headers, and with [`body_id`](Self::body_id).
    ///
    /// # Errors
    /// Returns an error if a block cannot be written, or a key cannot be used.
    pub fn secure(
        &self,
        version: Version,
        blocks: &[HeaderBlock],
        message: Outgoing,
        attachments: &[AttachmentContent<'_>],
    ) -> Result<Outgoing, SecurityError> {
        let now = self.time();
        let mut parts = Parts::new(self.signing.as_ref());
        let mut sealer = self.encryption.as_ref().map(|encryption| Sealer::new(encryption.cipher)).transpose()?;
        let mut header = String::from("<soap:Header>");
        for (number, block) in blocks.iter().enumerate() {
            let written = parts.block(number, block)?;
            header.push_str(&self.encrypted_block(version, block, written, &mut sealer)?);
        }
        let mut security = Security { out: String::new(), sealer };
        self.tokens(&mut security, &mut parts, now, &message, attachments)?;
        let Security { out: tokens, mut sealer } = security;
        if tokens.is_empty() && sealer.is_none() {
            return Ok(if blocks.is_empty() { message } else { message.with_header(header + "</soap:Header>") });
        }
        let encrypts_body = self.encryption.as_ref().is_some_and(|encryption| encryption.body);
        let body = sealer.as_mut().filter(|_| encrypts_body).map(|sealer| sealer.body(&message)).transpose()?;
        let must_understand = if self.must_understand { " soap:mustUnderstand=\"1\"" } else { "" };
        header.push_str(&format!(
            "<wsse:Security xmlns:soap=\"{}\" xmlns:wsse=\"{}\"{must_understand}>",
            version.namespace(),
            ns::WSSE
        ));
        // A receiver decrypts before it verifies the signature, which signs what is encrypted.
        if let (Some(sealer), Some(encryption)) = (sealer, &self.encryption) {
            header.push_str(&encryption.key(&sealer, self.request.as_deref())?);
        }
        header.push_str(&tokens);
        header.push_str("</wsse:Security></soap:Header>");
        let message = match body {
            Some(body) => message.with_body(body),
            None => message,
        };
        Ok(message.with_header(header))
    }

    /// Returns a header block, encrypted if it has to be.
    fn encrypted_block(
        &self,
        version: Version,
        block: &HeaderBlock,
        written: String,
        sealer: &mut Option<Sealer>,
    ) -> Result<String, SecurityError> {
        let is_listed = |encryption: &Encryption| encryption.headers.contains(&block.node.name);
        let (Some(sealer), true) = (sealer, self.encryption.as_ref().is_some_and(is_listed)) else {
            return Ok(written);
        };
        // Those who cannot read the block still learn whom it is for.
        let mut attributes = String::new();
        for local in ["actor", "role", "mustUnderstand", "relay"] {
            if let Some(value) = block.node.attribute(version.namespace(), local) {
                attributes.push_str(&format!(" soap:{local}=\"{}\"", attribute(value)));
            }
        }
        Ok(format!(
            "<wsse11:EncryptedHeader xmlns:soap=\"{}\" xmlns:wsse11=\"{}\"{attributes}>{}</wsse11:EncryptedHeader>",
            version.namespace(),
            ns::WSSE11,
            sealer.element(written.as_bytes())?
        ))
    }

    fn time(&self) -> SystemTime {
        let now = self.now.unwrap_or_else(SystemTime::now);
        now + self.clock_offset.ahead - self.clock_offset.behind
    }

    /// Writes the content of the `Security` header block. Tokens come before the signature that
    /// refers to them.
    fn tokens(
        &self,
        security: &mut Security,
        parts: &mut Parts<'_>,
        now: SystemTime,
        message: &Outgoing,
        attachments: &[AttachmentContent<'_>],
    ) -> Result<(), SecurityError> {
        if let Some(valid_for) = self.timestamp {
            let id = unique_id("timestamp-")?;
            let timestamp = timestamp::write(&id, now, valid_for)?;
            parts.add(PartReference::Id(id), timestamp.as_bytes(), Vec::new());
            security.out.push_str(&timestamp);
        }
        if let Some(user) = &self.user {
            let token = user.write(USER_ID, now)?;
            parts.add_token(PartReference::Id(USER_ID.to_owned()), token.as_bytes());
            security.push(token, self.encryption.as_ref().is_some_and(|encryption| encryption.user))?;
        }
        if let Some(assertion) = &self.assertion {
            security.out.push_str(&assertion.xml);
        }
        if let Some(TokenHook { value_type, hook }) = &self.token {
            let token = binary::write(TOKEN_ID, value_type, &hook.token()?);
            parts.add_token(PartReference::Id(TOKEN_ID.to_owned()), token.as_bytes());
            security.out.push_str(&token);
        }
        if let Some(request) = self.request.as_ref().filter(|_| self.confirms_signatures) {
            confirmations(request, parts, &mut security.out);
        }
        if let Some(signing) = &self.signing {
            let (signature, value) = self.signature(signing, parts, message, attachments, &mut security.out)?;
            if let Some(exchange) = &self.exchange {
                exchange.note(value);
            }
            security.push(signature, self.encryption.as_ref().is_some_and(|encryption| encryption.signature))?;
        }
        Ok(())
    }

    /// Writes the signer's certificate. Returns the signature, and its value.
    fn signature(
        &self,
        signing: &Signing,
        parts: &mut Parts<'_>,
        message: &Outgoing,
        attachments: &[AttachmentContent<'_>],
        out: &mut String,
    ) -> Result<(String, Vec<u8>), SecurityError> {
        let mut token = String::new();
        let key_info = signing.key_info(self.assertion.as_ref(), &mut token)?;
        if !token.is_empty() {
            parts.add_token(PartReference::Id(CERTIFICATE_ID.to_owned()), token.as_bytes());
            out.push_str(&token);
        }
        if let Some(assertion) = self.assertion.as_ref().filter(|_| signing.parts.tokens) {
            // The reference is not canonicalized, the assertion is in its place.
            out.push_str(&assertion.reference(ASSERTION_REFERENCE_ID));
            let canonical = assertion.canonical()?;
            parts.add_token(PartReference::Token(ASSERTION_REFERENCE_ID.to_owned()), &canonical);
        }
        if signing.parts.body {
            parts.add_pieces(PartReference::Id(BODY_ID.to_owned()), message.body(), message.inclusive_prefixes());
        }
        for content in attachments.iter().filter(|_| signing.parts.attachments) {
            let (reference, digest) =
                (PartReference::Attachment(content.content_id.to_owned()), content.digest(signing.digest)?);
            parts.signed.push(SignedPart { reference, digest, prefixes: Vec::new() });
        }
        if parts.signed.is_empty() {
            return Err(SecurityError::Write("nothing in the message is to be signed".to_owned()));
        }
        write::write_signature(&parts.signed, signing.digest, &*signing.identity.signer, &key_info)
    }
}

/// The content of the `Security` header block.
struct Security {
    out: String,
    sealer: Option<Sealer>,
}

impl Security {
    /// Adds an element, encrypted if it has to be.
    fn push(&mut self, element: String, is_encrypted: bool) -> Result<(), SecurityError> {
        match self.sealer.as_mut().filter(|_| is_encrypted) {
            Some(sealer) => self.out.push_str(&sealer.element(element.as_bytes())?),
            None => self.out.push_str(&element),
        }
        Ok(())
    }
}

impl Encryption {
    /// Returns the encrypted key, after the token that it refers to, if any.
    fn key(&self, sealer: &Sealer, request: Option<&Request>) -> Result<String, SecurityError> {
        let mut out = String::new();
        let signer = || request.and_then(|request| request.signer.as_ref());
        let nobody = || SecurityError::Key("the request has no certificate to encrypt the response for".to_owned());
        let recipient = self.recipient.as_ref().or_else(signer).ok_or_else(nobody)?;
        let chain = std::slice::from_ref(recipient);
        let key_info = certificate_reference(&self.reference, chain, RECIPIENT_ID, &mut out)?;
        let key_info = key_info.ok_or_else(|| {
            SecurityError::Key("an encrypted key must refer to the certificate of its recipient".to_owned())
        })?;
        out.push_str(&sealer.key(recipient, self.transport, &key_info)?);
        Ok(out)
    }
}

impl Signing {
    /// Returns the content of the `KeyInfo`. Writes the token that it refers to, if any.
    fn key_info(&self, assertion: Option<&AssertionToken>, token: &mut String) -> Result<String, SecurityError> {
        if let Some(info) = certificate_reference(&self.reference, &self.identity.chain, CERTIFICATE_ID, token)? {
            return Ok(info);
        }
        if let KeyReference::Name(name) = &self.reference {
            return Ok(format!("<ds:KeyName>{}</ds:KeyName>", crate::xml::text(name)));
        }
        let missing = || SecurityError::Key("there is no assertion that names the key".to_owned());
        let assertion = assertion.ok_or_else(missing)?;
        Ok(write::reference_to_assertion(&assertion.id, assertion.is_saml2))
    }
}

/// Returns an id that no other message has. It is signed, so that receivers do not take two
/// messages with the same content, sent in the same millisecond, for one that was sent twice.
fn unique_id(prefix: &str) -> Result<String, SecurityError> {
    Ok(random(16)?.iter().fold(prefix.to_owned(), |id, byte| format!("{id}{byte:02x}")))
}

/// Returns the content of a `KeyInfo` that refers to a certificate; `None` for references to
/// something else. Writes the token that it refers to, if any.
fn certificate_reference(
    reference: &KeyReference,
    chain: &[Certificate],
    id: &str,
    token: &mut String,
) -> Result<Option<String>, SecurityError> {
    let own = || {
        let missing = || SecurityError::Key("the identity has no certificate for its key".to_owned());
        chain.first().ok_or_else(missing)
    };
    Ok(Some(match reference {
        KeyReference::Token => {
            *token = binary::write(id, ns::X509_V3, own()?.der());
            write::reference_to_token(id, ns::X509_V3)
        }
        KeyReference::TokenPath => {
            *token = binary::write(id, ns::X509_PKI_PATH, &Certificate::path_to_der(chain)?);
            write::reference_to_token(id, ns::X509_PKI_PATH)
        }
        KeyReference::Thumbprint => write::reference_by_identifier(ns::THUMBPRINT, own()?.thumbprint()),
        KeyReference::KeyIdentifier => {
            let missing = || SecurityError::Key("the certificate has no subject key identifier".to_owned());
            write::reference_by_identifier(ns::X509_SKI, own()?.key_identifier().ok_or_else(missing)?)
        }
        KeyReference::IssuerSerial => write::reference_by_serial(own()?.issuer(), &own()?.serial()),
        KeyReference::Name(_) | KeyReference::Assertion => return Ok(None),
    }))
}

/// Writes the signatures that a response confirms; an element without a value if there are none.
fn confirmations(request: &Request, parts: &mut Parts<'_>, out: &mut String) {
    let values = request.signatures.iter().map(|value| format!(" Value=\"{}\"", BASE64_STANDARD.encode(value)));
    let values: Vec<_> = values.collect();
    let none = [String::new()];
    for (number, value) in if values.is_empty() { &none[..] } else { &values[..] }.iter().enumerate() {
        let id = format!("{CONFIRMATION_ID}{number}");
        let confirmation = format!(
            "<wsse11:SignatureConfirmation xmlns:wsse11=\"{wsse11}\" xmlns:wsu=\"{wsu}\"{value} wsu:Id=\"{id}\">\
             </wsse11:SignatureConfirmation>",
            wsse11 = ns::WSSE11,
            wsu = ns::WSU,
        );
        parts.add(PartReference::Id(id), confirmation.as_bytes(), Vec::new());
        out.push_str(&confirmation);
    }
}

/// The parts of a message that are signed.
struct Parts<'p> {
    signing: Option<&'p Signing>,
    signed: Vec<SignedPart>,
}

impl<'p> Parts<'p> {
    fn new(signing: Option<&'p Signing>) -> Self {
        Parts { signing, signed: Vec::new() }
    }

    /// Returns a header block as it is written.
    fn block(&mut self, number: usize, block: &HeaderBlock) -> Result<String, SecurityError> {
        let mut block = block.clone();
        let name = QName::new(ns::WSU, "Id");
        let is_signed = self.signing.is_some_and(|signing| signing.parts.headers);
        let id = match block.node.attribute(ns::WSU, "Id") {
            Some(own) => own.to_owned(),
            None => format!("{BLOCK_ID}{number}"),
        };
        if is_signed && block.node.attribute(ns::WSU, "Id").is_none() {
            block.node.attributes.push((name, id.as_str().into()));
        }
        let unwritable = |error| SecurityError::Write(format!("the header block {}: {error}", block.node.name));
        let (bytes, prefixes) = block.to_canonical().map_err(unwritable)?;
        if is_signed {
            self.add(PartReference::Id(id), &bytes, prefixes);
        }
        String::from_utf8(bytes).map_err(|error| SecurityError::Write(error.to_string()))
    }

    fn add(&mut self, reference: PartReference, bytes: &[u8], prefixes: Vec<String>) {
        self.add_pieces(reference, std::iter::once(bytes), prefixes.iter().map(String::as_str));
    }

    fn add_token(&mut self, reference: PartReference, bytes: &[u8]) {
        if self.signing.is_some_and(|signing| signing.parts.tokens) {
            self.add(reference, bytes, Vec::new());
        }
    }

    fn add_pieces<'b>(
        &mut self,
        reference: PartReference,
        pieces: impl Iterator<Item = &'b [u8]>,
        prefixes: impl Iterator<Item = &'b str>,
    ) {
        let Some(signing) = self.signing else { return };
        let mut hasher = signing.digest.hasher();
        pieces.for_each(|piece| hasher.update(piece));
        let prefixes = prefixes.map(str::to_owned).collect();
        self.signed.push(SignedPart { reference, digest: hasher.finish(), prefixes });
    }
}

impl AssertionToken {
    fn new(xml: &str) -> Result<Self, SecurityError> {
        let malformed =
            |error: &dyn std::fmt::Display| SecurityError::Token(format!("the assertion cannot be read: {error}"));
        let xml = xml.trim_start_matches('\u{feff}').trim();
        let xml = match xml.strip_prefix("<?xml") {
            Some(rest) => rest.split_once("?>").map_or(xml, |(_, rest)| rest.trim_start()),
            None => xml,
        };
        let node = deltasoap_core::Node::parse(xml.as_bytes()).map_err(|error| malformed(&error))?;
        let id = match (&*node.name.namespace, &*node.name.local) {
            (ns::SAML2, "Assertion") => node.attribute("", "ID"),
            (ns::SAML1, "Assertion") => node.attribute("", "AssertionID"),
            _ => return Err(malformed(&format!("its root is {}", node.name))),
        };
        let id = id.ok_or_else(|| malformed(&"it has no id"))?.to_owned();
        Ok(AssertionToken { xml: xml.into(), id, is_saml2: *node.name.namespace == *ns::SAML2 })
    }

    /// Returns a reference to the assertion.
    fn reference(&self, id: &str) -> String {
        let reference = write::reference_to_assertion(&self.id, self.is_saml2);
        reference.replacen(
            "<wsse:SecurityTokenReference ",
            &format!("<wsse:SecurityTokenReference wsu:Id=\"{}\" xmlns:wsu=\"{}\" ", attribute(id), ns::WSU),
            1,
        )
    }

    /// Returns the canonical form of the assertion in place of a reference to it.
    fn canonical(&self) -> Result<Vec<u8>, SecurityError> {
        let method = deltasoap_xml::c14n::Method::exclusive();
        let canonical =
            deltasoap_xml::c14n::canonicalize(self.xml.as_bytes(), deltasoap_xml::Limits::default(), &method)
                .map_err(|error| SecurityError::Token(error.to_string()))?;
        Ok(crate::signature::with_default_namespace(canonical))
    }
}
