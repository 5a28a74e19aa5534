//! What one alternative of a policy requires, in this crate's terms.
//!
//! Whatever is not known or not supported is listed in [`Alternative::unsupported`].

use super::normal::is_policy;
use super::suite::Suite;
use crate::ns;
use crate::outgoing::KeyReference;
use deltasoap_core::Node;
use deltasoap_core::soap::PolicyDocuments;
use std::collections::HashSet;

/// What an alternative requires of messages.
#[derive(Debug, Clone, Default)]
pub(super) struct Alternative {
    pub(super) binding: Option<Binding>,
    pub(super) signed: Parts,
    pub(super) encrypted: Parts,
    /// Tokens that requests have in addition to those of the binding.
    pub(super) supporting: Vec<SupportingToken>,
    /// True if responses confirm the signatures of their requests.
    pub(super) confirms_signatures: bool,
    unsupported: Vec<String>,
    /// The kinds of references to certificates that both sides understand.
    understood: Understood,
}

/// How messages are protected.
#[derive(Debug, Clone)]
pub(super) enum Binding {
    /// TLS protects them.
    Transport { token: TransportToken, suite: Option<Suite>, has_timestamp: bool },
    /// Each side signs with its own key, and encrypts with the other's.
    Asymmetric(Box<Asymmetric>),
}

/// What TLS needs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TransportToken {
    pub(super) has_client_certificate: bool,
    pub(super) has_http_authentication: bool,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Asymmetric {
    /// The certificates of clients and servers.
    pub(super) initiator: Option<Token>,
    pub(super) recipient: Option<Token>,
    pub(super) suite: Option<Suite>,
    pub(super) has_timestamp: bool,
    /// True if the signature covers the token of its key.
    pub(super) signs_token: bool,
    pub(super) encrypts_signature: bool,
}

/// Parts of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) body: bool,
    pub(super) attachments: bool,
    /// True for all header blocks.
    pub(super) all_headers: bool,
    /// Namespaces of header blocks, and their local names; `None` for all in the namespace.
    pub(super) headers: Vec<(String, Option<String>)>,
}

impl Parts {
    pub(super) fn has_headers(&self) -> bool {
        self.all_headers || !self.headers.is_empty()
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.body && !self.attachments && !self.has_headers()
    }
}

#[derive(Debug, Clone)]
pub(super) struct SupportingToken {
    pub(super) token: Token,
    pub(super) is_signed: bool,
    pub(super) is_encrypted: bool,
    /// True if the key of the token signs the message's signature or, over TLS, its time.
    pub(super) is_endorsing: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    inclusion: Inclusion,
    /// How messages refer to it if it is not in them.
    reference: Option<KeyReference>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    X509 {
        is_path: bool,
    },
    User(Password),
    /// `None` for SAML 1.1 or 2.0.
    Saml {
        is_saml2: Option<bool>,
    },
    Kerberos {
        is_gss: bool,
    },
}

impl TokenKind {
    /// Returns the type of the token in messages, for Kerberos.
    pub(super) fn kerberos_type(self) -> Option<&'static str> {
        match self {
            TokenKind::Kerberos { is_gss: true } => Some(ns::GSS_KERBEROS),
            TokenKind::Kerberos { is_gss: false } => Some(ns::KERBEROS),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Password {
    Text,
    Digest,
    None,
}

/// Which messages contain a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inclusion {
    Never,
    Requests,
    Responses,
    Always,
}

#[derive(Debug, Clone, Copy, Default)]
struct Understood {
    thumbprint: bool,
    key_identifier: bool,
    issuer_serial: bool,
}

impl Alternative {
    /// Reads the assertions of an alternative.
    pub(super) fn read(assertions: &[Node]) -> Self {
        let mut alternative = Alternative::default();
        let is_of_security = |it: &&Node| PolicyDocuments::is_assertion_namespace(&it.name.namespace);
        assertions.iter().filter(is_of_security).for_each(|it| alternative.assertion(it));
        alternative.check();
        alternative
    }

    /// Returns what is not supported.
    pub(super) fn unsupported(&self) -> Vec<String> {
        self.unsupported.clone()
    }

    /// Returns true if messages are protected in the same way.
    pub(super) fn has_binding_of(&self, other: &Alternative) -> bool {
        match (&self.binding, &other.binding) {
            (Some(one), Some(other)) => std::mem::discriminant(one) == std::mem::discriminant(other),
            (None, None) => true,
            _ => false,
        }
    }

    /// Returns true if messages need more than TLS.
    pub(super) fn secures_messages(&self) -> bool {
        let is_tls_alone = matches!(self.binding, Some(Binding::Transport { has_timestamp: false, .. }))
            && self.supporting.is_empty()
            && !self.confirms_signatures
            && self.unsupported.is_empty();
        !(is_tls_alone || self.is_empty())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.binding.is_none()
            && self.supporting.is_empty()
            && self.signed.is_empty()
            && self.encrypted.is_empty()
            && !self.confirms_signatures
            && self.unsupported.is_empty()
    }

    /// Returns true if messages have a timestamp.
    pub(super) fn has_timestamp(&self) -> bool {
        match &self.binding {
            Some(Binding::Transport { has_timestamp, .. }) => *has_timestamp,
            Some(Binding::Asymmetric(binding)) => binding.has_timestamp,
            None => false,
        }
    }

    /// Returns how a message refers to a certificate.
    pub(super) fn reference_to(&self, token: &Token, is_request: bool) -> KeyReference {
        let is_included = match token.inclusion {
            Inclusion::Always => true,
            Inclusion::Requests => is_request,
            Inclusion::Responses => !is_request,
            Inclusion::Never => false,
        };
        match token.kind {
            TokenKind::Saml { .. } => KeyReference::Assertion,
            TokenKind::X509 { is_path: true } if is_included => KeyReference::TokenPath,
            _ if is_included => KeyReference::Token,
            _ => self.external_reference(token),
        }
    }

    /// Returns how messages refer to a certificate that is not in them.
    pub(super) fn external_reference(&self, token: &Token) -> KeyReference {
        let Understood { thumbprint, key_identifier, issuer_serial } = self.understood;
        token.reference.clone().unwrap_or(if issuer_serial {
            KeyReference::IssuerSerial
        } else if thumbprint {
            KeyReference::Thumbprint
        } else if key_identifier {
            KeyReference::KeyIdentifier
        } else {
            KeyReference::IssuerSerial
        })
    }

    /// Describes the requirements, in a few words each.
    pub(super) fn describe(&self) -> Vec<String> {
        let mut facts = Vec::new();
        match &self.binding {
            Some(Binding::Transport { token, .. }) => {
                let mut tls = "TLS".to_owned();
                if token.has_client_certificate {
                    tls.push_str(" with a client certificate");
                }
                if token.has_http_authentication {
                    tls.push_str(" and HTTP authentication");
                }
                facts.push(tls);
            }
            Some(Binding::Asymmetric(binding)) => {
                let suite = binding.suite.as_ref().map(|suite| format!(" ({})", suite.name)).unwrap_or_default();
                facts.push(format!("signatures by certificates{suite}"));
            }
            None => {}
        }
        if self.has_timestamp() {
            facts.push("a Timestamp".to_owned());
        }
        let is_over_tls = matches!(self.binding, Some(Binding::Transport { .. }));
        facts.extend(self.supporting.iter().map(|supporting| supporting.token.describe().to_owned()));
        if is_over_tls {
            // TLS protects all parts.
            return facts;
        }
        facts.extend((!self.signed.is_empty()).then(|| format!("signed {}", self.signed.describe())));
        facts.extend(self.confirms_signatures.then(|| "responses that confirm signatures".to_owned()));
        facts.extend((!self.encrypted.is_empty()).then(|| format!("encrypted {}", self.encrypted.describe())));
        facts
    }

    fn assertion(&mut self, assertion: &Node) {
        match &*assertion.name.local {
            "TransportBinding" => {
                let binding = self.transport(assertion);
                self.set_binding(binding);
            }
            "AsymmetricBinding" => {
                let binding = self.asymmetric(assertion);
                self.set_binding(binding);
            }
            "SignedParts" => self.signed.read(assertion, &mut self.unsupported),
            "EncryptedParts" => self.encrypted.read(assertion, &mut self.unsupported),
            local if local.ends_with("SupportingTokens") => self.supporting_tokens(assertion),
            "Wss10" | "Wss11" => self.options(assertion),
            // About tokens that an issuer gives, which have assertions of their own.
            "Trust10" | "Trust13" => {}
            other => self.refuse(unsupported(other)),
        }
    }

    /// Notes combinations that are not supported.
    fn check(&mut self) {
        let has_timestamp = self.has_timestamp();
        let is_over_tls = matches!(self.binding, Some(Binding::Transport { .. }));
        let is_asymmetric = matches!(self.binding, Some(Binding::Asymmetric(_)));
        let mut reasons = Vec::new();
        for SupportingToken { token, is_signed, is_encrypted, is_endorsing } in &self.supporting {
            let is_certificate = matches!(token.kind, TokenKind::X509 { .. });
            if is_certificate && !(*is_endorsing && is_over_tls && has_timestamp) {
                reasons.push("certificates as supporting tokens are only supported if they sign a Timestamp over TLS");
            }
            if *is_endorsing && !is_certificate {
                reasons.push("only certificates are supported as endorsing tokens");
            }
            if self.binding.is_none() && (*is_signed || *is_encrypted || *is_endorsing) {
                reasons.push("tokens are to be signed or encrypted, but nothing says how");
            }
            if is_asymmetric && *is_encrypted && !matches!(token.kind, TokenKind::User(_)) {
                reasons.push("encrypted SAML assertions and Kerberos tickets are not supported");
            }
        }
        let kinds = self.supporting.iter().map(|supporting| std::mem::discriminant(&supporting.token.kind));
        if kinds.clone().collect::<HashSet<_>>().len() < kinds.count() {
            reasons.push("several supporting tokens of the same kind are not supported");
        }
        let has_parts = !(self.signed.is_empty() && self.encrypted.is_empty());
        if has_parts && self.binding.is_none() {
            reasons.push("parts are to be signed or encrypted, but nothing says how");
        }
        // Such a signature may be one of another message, so it proves nothing.
        let signs_more = !self.signed.is_empty() || self.supporting.iter().any(|supporting| supporting.is_signed);
        if is_asymmetric && signs_more && !self.signed.body && !has_timestamp {
            reasons.push("signed parts and tokens without the body or a Timestamp are not supported");
        }
        reasons.into_iter().for_each(|reason| self.refuse(reason.to_owned()));
    }

    fn refuse(&mut self, reason: String) {
        if !self.unsupported.contains(&reason) {
            self.unsupported.push(reason);
        }
    }

    /// Returns the assertions of the policy inside an assertion, which may have nothing else
    /// inside.
    fn nested(&mut self, assertion: &Node) -> Vec<Node> {
        let mut nested = Vec::new();
        for child in assertion.elements() {
            if is_policy(child) {
                nested.extend(child.elements().cloned());
            } else {
                self.refuse(format!("{} of {} is not supported", child.name.local, assertion.name.local));
            }
        }
        nested
    }

    fn set_binding(&mut self, binding: Binding) {
        if self.binding.replace(binding).is_some() {
            self.refuse("several security bindings at the same time are not supported".to_owned());
        }
    }

    fn transport(&mut self, assertion: &Node) -> Binding {
        let (mut token, mut suite, mut has_timestamp) = (TransportToken::default(), None, false);
        for property in self.nested(assertion) {
            match &*property.name.local {
                "TransportToken" => token = self.transport_token(&property),
                "AlgorithmSuite" => suite = self.suite(&property),
                "IncludeTimestamp" => has_timestamp = true,
                "Layout" => self.layout(&property),
                other => self.refuse(unsupported(other)),
            }
        }
        Binding::Transport { token, suite, has_timestamp }
    }

    fn transport_token(&mut self, property: &Node) -> TransportToken {
        let mut token = TransportToken::default();
        for https in self.nested(property) {
            if &*https.name.local != "HttpsToken" {
                self.refuse(unsupported(&https.name.local));
            }
            // An attribute in version 1.1, nested assertions from 1.2 on.
            token.has_client_certificate |= https
                .attribute("", "RequireClientCertificate")
                .is_some_and(|value| matches!(value.trim(), "true" | "1"));
            for detail in self.nested(&https) {
                match &*detail.name.local {
                    "RequireClientCertificate" => token.has_client_certificate = true,
                    "HttpBasicAuthentication" | "HttpDigestAuthentication" => token.has_http_authentication = true,
                    other => self.refuse(unsupported(other)),
                }
            }
        }
        token
    }

    fn asymmetric(&mut self, assertion: &Node) -> Binding {
        let mut binding = Asymmetric::default();
        for property in self.nested(assertion) {
            match &*property.name.local {
                // A side may have different certificates to sign and to encrypt; here it has one
                // for both.
                "InitiatorToken" | "InitiatorSignatureToken" => binding.initiator = self.token_of(&property),
                "RecipientToken" | "RecipientSignatureToken" => binding.recipient = self.token_of(&property),
                "InitiatorEncryptionToken" => binding.initiator = binding.initiator.take().or(self.token_of(&property)),
                "RecipientEncryptionToken" => binding.recipient = binding.recipient.take().or(self.token_of(&property)),
                "AlgorithmSuite" => binding.suite = self.suite(&property),
                "IncludeTimestamp" => binding.has_timestamp = true,
                "ProtectTokens" => binding.signs_token = true,
                "EncryptSignature" => binding.encrypts_signature = true,
                // What is signed here are whole header blocks and the body, before it is encrypted.
                "OnlySignEntireHeadersAndBody" | "SignBeforeEncrypting" => {}
                "Layout" => self.layout(&property),
                other => self.refuse(unsupported(other)),
            }
        }
        Binding::Asymmetric(Box::new(binding))
    }

    /// Reads the order of the security header. The timestamp comes first here, and each token
    /// before what refers to it.
    fn layout(&mut self, property: &Node) {
        for layout in self.nested(property) {
            match &*layout.name.local {
                "Strict" | "Lax" | "LaxTsFirst" | "LaxTimestampFirst" => {}
                other => self.refuse(unsupported(other)),
            }
        }
    }

    fn suite(&mut self, property: &Node) -> Option<Suite> {
        let mut suite = None;
        for algorithm in self.nested(property) {
            match &*algorithm.name.local {
                // How XPath filters and references are written, which are supported or not used.
                "STRTransform10" | "XPath10" | "XPathFilter20" | "AbsXPath" => {}
                name => match Suite::named(name) {
                    Some(found) => suite = Some(found),
                    None => self.refuse(unsupported(name)),
                },
            }
        }
        suite
    }

    fn token_of(&mut self, property: &Node) -> Option<Token> {
        let tokens = self.nested(property);
        if tokens.len() != 1 {
            self.refuse(format!("{} has {} tokens in place of one", property.name.local, tokens.len()));
        }
        tokens.iter().filter_map(|token| self.token(token)).next()
    }

    fn token(&mut self, assertion: &Node) -> Option<Token> {
        let mut kind = match &*assertion.name.local {
            "X509Token" => TokenKind::X509 { is_path: false },
            "UsernameToken" => TokenKind::User(Password::Text),
            "SamlToken" => TokenKind::Saml { is_saml2: None },
            "KerberosToken" => TokenKind::Kerberos { is_gss: false },
            other => {
                self.refuse(unsupported(other));
                return None;
            }
        };
        let mut reference = None;
        for detail in self.nested(assertion) {
            match (&*detail.name.local, kind) {
                ("WssX509V3Token10" | "WssX509V3Token11", TokenKind::X509 { .. }) => {}
                ("WssX509PkiPathV1Token10" | "WssX509PkiPathV1Token11", TokenKind::X509 { .. }) => {
                    kind = TokenKind::X509 { is_path: true };
                }
                ("RequireThumbprintReference", _) => reference = Some(KeyReference::Thumbprint),
                ("RequireKeyIdentifierReference", TokenKind::X509 { .. }) => {
                    reference = Some(KeyReference::KeyIdentifier);
                }
                ("RequireIssuerSerialReference", _) => reference = Some(KeyReference::IssuerSerial),
                ("HashPassword", TokenKind::User(_)) => kind = TokenKind::User(Password::Digest),
                ("NoPassword", TokenKind::User(_)) => kind = TokenKind::User(Password::None),
                ("WssKerberosV5ApReqToken11", TokenKind::Kerberos { .. }) => {}
                ("WssGssKerberosV5ApReqToken11", TokenKind::Kerberos { .. }) => {
                    kind = TokenKind::Kerberos { is_gss: true };
                }
                ("WssUsernameToken10" | "WssUsernameToken11", TokenKind::User(_)) => {}
                ("WssSamlV11Token10" | "WssSamlV11Token11", TokenKind::Saml { .. }) => {
                    kind = TokenKind::Saml { is_saml2: Some(false) };
                }
                ("WssSamlV20Token11", TokenKind::Saml { .. }) => kind = TokenKind::Saml { is_saml2: Some(true) },
                ("RequireKeyIdentifierReference", TokenKind::Saml { .. }) => {}
                // Certificates in messages are referred to by their id.
                ("RequireInternalReference" | "RequireEmbeddedTokenReference", TokenKind::X509 { .. }) => {}
                (other, _) => self.refuse(unsupported(other)),
            }
        }
        let inclusion = assertion.attributes.iter().find(|(name, _)| &*name.local == "IncludeToken");
        let inclusion = match inclusion.map(|(_, value)| value.trim().rsplit('/').next().unwrap_or_default()) {
            Some("Never") => Inclusion::Never,
            Some("Once" | "AlwaysToRecipient") => Inclusion::Requests,
            Some("AlwaysToInitiator") => Inclusion::Responses,
            _ => Inclusion::Always,
        };
        Some(Token { kind, inclusion, reference })
    }

    fn supporting_tokens(&mut self, assertion: &Node) {
        let local = &*assertion.name.local;
        let mut rest = local;
        let mut has = |part: &str| {
            let shorter = rest.strip_prefix(part);
            rest = shorter.unwrap_or(rest);
            shorter.is_some()
        };
        let (is_signed, is_endorsing, is_encrypted) = (has("Signed"), has("Endorsing"), has("Encrypted"));
        if rest != "SupportingTokens" {
            return self.refuse(unsupported(local));
        }
        let all = self.nested(assertion);
        if all.is_empty() {
            self.refuse(format!("{local} without a token is not supported"));
        }
        for inner in &all {
            // Algorithms and parts of their own are refused, as unknown tokens are.
            let token = self.token(inner);
            let supporting = |token| SupportingToken { token, is_signed, is_encrypted, is_endorsing };
            self.supporting.extend(token.map(supporting));
        }
    }

    fn options(&mut self, assertion: &Node) {
        for option in self.nested(assertion) {
            match &*option.name.local {
                "MustSupportRefThumbprint" => self.understood.thumbprint = true,
                "MustSupportRefKeyIdentifier" => self.understood.key_identifier = true,
                "MustSupportRefIssuerSerial" => self.understood.issuer_serial = true,
                "RequireSignatureConfirmation" => self.confirms_signatures = true,
                // References that a side can send; the messages of this one have none.
                "MustSupportRefEncryptedKey" | "MustSupportRefEmbeddedToken" | "MustSupportRefExternalURI" => {}
                other => self.refuse(unsupported(other)),
            }
        }
    }
}

impl Parts {
    /// Adds the parts that an assertion lists. One without a list means the body and all header
    /// blocks, in requirements to sign, and the body in requirements to encrypt.
    fn read(&mut self, assertion: &Node, unsupported_parts: &mut Vec<String>) {
        let is_signed = &*assertion.name.local == "SignedParts";
        let mut parts = assertion.elements().peekable();
        if parts.peek().is_none() {
            self.body = true;
            self.all_headers |= is_signed;
        }
        for part in parts {
            match &*part.name.local {
                "Body" => self.body = true,
                "Attachments" if is_signed => self.attachments(part, unsupported_parts),
                "Header" => {
                    let namespace = part.attribute("", "Namespace").unwrap_or_default().to_owned();
                    let local = part.attribute("", "Name").filter(|name| !name.is_empty()).map(str::to_owned);
                    if !is_signed && local.is_none() {
                        unsupported_parts
                            .push(format!("encryption of all header blocks in {namespace:?} is not supported"));
                    }
                    let header = (namespace, local);
                    if !self.headers.contains(&header) {
                        self.headers.push(header);
                    }
                }
                other => unsupported_parts.push(format!("{other} in {} is not supported", assertion.name.local)),
            }
        }
    }

    /// Reads how attachments are signed: by their content, or with their headers.
    fn attachments(&mut self, assertion: &Node, unsupported_parts: &mut Vec<String>) {
        self.attachments = true;
        let transforms = assertion.elements().map(|transform| &*transform.name.local);
        for transform in transforms.filter(|transform| *transform != "ContentSignatureTransform") {
            unsupported_parts.push(unsupported(transform));
        }
    }

    fn describe(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(self.body.then_some("body"));
        parts.extend(self.has_headers().then_some("header blocks"));
        parts.extend(self.attachments.then_some("attachments"));
        parts.join(" and ")
    }
}

impl Token {
    fn describe(&self) -> &'static str {
        match self.kind {
            TokenKind::X509 { .. } => "a signature by a certificate",
            TokenKind::User(Password::Text) => "a user name with a password",
            TokenKind::User(Password::Digest) => "a user name with the digest of a password",
            TokenKind::User(Password::None) => "a user name",
            TokenKind::Saml { .. } => "a SAML assertion",
            TokenKind::Kerberos { .. } => "a Kerberos ticket",
        }
    }
}

fn unsupported(assertion: &str) -> String {
    format!("{assertion} is not supported")
}
