//! Keys, messages, and how both sides use them.

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use deltasoap::Soap;
use deltasoap_core::soap::{Envelope, HeaderBlock, Version};
use deltasoap_core::{Node, QName, Template, Templating};
use deltasoap_security::{Identity, Protection, Requirements, SecurityError, Signer, SigningKey, Trust, Verified};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};

pub const C14N: &str = "http://www.w3.org/2001/10/xml-exc-c14n#";
pub const DS: &str = "http://www.w3.org/2000/09/xmldsig#";
pub const ENVELOPED: &str = "http://www.w3.org/2000/09/xmldsig#enveloped-signature";
pub const HMAC: &str = "http://www.w3.org/2001/04/xmldsig-more#hmac-sha256";
pub const RSA: &str = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256";
pub const WSSE: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd";
pub const WSU: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd";

/// The time at which all messages are sent.
pub fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000)
}

/// An authority, a client and a server with certificates from it, and a stranger.
pub struct Keys {
    pub authority: String,
    pub client: (String, String),
    pub server: (String, String),
    pub stranger: (String, String),
}

pub static KEYS: LazyLock<Keys> = LazyLock::new(|| {
    let authority = issuer("authority");
    let other = issuer("another authority");
    Keys {
        client: issued(&authority, "client, of Ä"),
        server: issued(&authority, "server"),
        stranger: issued(&other, "stranger"),
        authority: authority.pem(),
    }
});

type Issuer = CertifiedIssuer<'static, KeyPair>;

fn issuer(name: &str) -> Issuer {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, name);
    let key = KeyPair::generate().expect("a key");
    CertifiedIssuer::self_signed(params, key).expect("an authority")
}

fn issued(issuer: &Issuer, name: &str) -> (String, String) {
    let key = KeyPair::generate_for(&rcgen::PKCS_RSA_SHA256).expect("a key");
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.use_authority_key_identifier_extension = true;
    let certificate = params.signed_by(&key, issuer).expect("a certificate");
    (certificate.pem(), key.serialize_pem())
}

pub fn client() -> Identity {
    let (certificate, key) = &KEYS.client;
    Identity::from_pem(certificate, key).expect("an identity")
}

pub fn server() -> Identity {
    let (certificate, key) = &KEYS.server;
    Identity::from_pem(certificate, key).expect("an identity")
}

pub fn trust() -> Trust {
    Trust::nobody().authorities(&KEYS.authority).expect("an authority")
}

/// A message body.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:bank", message, qualified)]
pub struct Transfer {
    pub to: String,
    pub amount: f64,
    pub note: Option<String>,
    pub lines: Vec<i32>,
}

pub fn transfer() -> Transfer {
    Transfer { to: "Ada & <Bob>\r\n".to_owned(), amount: 0.1, note: None, lines: (0..20).collect() }
}

pub fn blocks() -> Vec<HeaderBlock> {
    let qname = QName::new("urn:tx", "transaction");
    let mut node = Node::with_text(qname, "7");
    node.bindings = [("t".to_owned(), "urn:types".to_owned())].into();
    node.attributes.push((QName::new("", "kind"), "t:urgent".into()));
    vec![HeaderBlock { node }, HeaderBlock { node: Node::with_text(QName::new("urn:tx", "second"), " x ") }]
}

/// Writes a message with protection.
pub fn send(protection: &Protection, version: Version, blocks: &[HeaderBlock]) -> Vec<u8> {
    let mut template = Template::new(Templating::default());
    send_by(&mut template, &transfer(), protection, version, blocks)
}

pub fn send_by(
    template: &mut Template,
    value: &Transfer,
    protection: &Protection,
    version: Version,
    blocks: &[HeaderBlock],
) -> Vec<u8> {
    let envelope = Envelope::new(value).version(version);
    let envelope = match protection.body_id() {
        Some(id) => envelope.canonical(id),
        None => envelope,
    };
    let message = template.encode(&envelope).expect("a message");
    protection.clone().at(now()).secure(version, blocks, message, &[]).expect("a header").to_vec()
}

/// Verifies a message, in pieces of a length. Returns what is to be decoded too.
///
/// # Errors
/// The reason why it is refused.
pub fn open_in(
    message: &[u8],
    len: usize,
    requirements: &Arc<Requirements>,
) -> Result<(Vec<u8>, Verified), SecurityError> {
    let mut verification = requirements.begin(deltasoap_xml::Limits::default());
    let mut decoded = Vec::new();
    for piece in message.chunks(len) {
        decoded.extend(verification.push(Bytes::copy_from_slice(piece))?);
    }
    Ok((decoded, verification.finish()?))
}

/// Like [`open_in`], without what is to be decoded.
///
/// # Errors
/// The reason why it is refused.
pub fn verify_in(message: &[u8], len: usize, requirements: &Arc<Requirements>) -> Result<Verified, SecurityError> {
    open_in(message, len, requirements).map(|(_, verified)| verified)
}

/// Opens a message, in pieces of several lengths.
///
/// # Errors
/// The reason why it is refused.
pub fn open(message: &[u8], requirements: Requirements) -> Result<(Vec<u8>, Verified), SecurityError> {
    let requirements = Arc::new(requirements.at(now()));
    let whole = open_in(message, message.len().max(1), &requirements);
    let outcome = |opened: &Result<(Vec<u8>, Verified), SecurityError>| match opened {
        Ok((decoded, verified)) => Ok((text(decoded), format!("{verified:?}"))),
        Err(error) => Err(error.clone()),
    };
    for len in [1, 7, 100] {
        assert_eq!(outcome(&open_in(message, len, &requirements)), outcome(&whole), "in pieces of {len}");
    }
    whole
}

/// Verifies a message of which nothing is encrypted.
///
/// # Errors
/// The reason why it is refused.
pub fn verify(message: &[u8], requirements: Requirements) -> Result<Verified, SecurityError> {
    let (decoded, verified) = open(message, requirements)?;
    assert!(decoded == message, "nothing was encrypted");
    Ok(verified)
}

pub fn text(message: &[u8]) -> String {
    String::from_utf8(message.to_vec()).expect("UTF-8")
}

/// Returns the text from one place to another, both included.
pub fn between<'t>(text: &'t str, from: &str, to: &str) -> &'t str {
    let start = text.find(from).expect("the start");
    let end = start + text[start..].find(to).expect("the end") + to.len();
    &text[start..end]
}

/// Returns the id of the timestamp of a message.
pub fn timestamp_id(text: &str) -> &str {
    between(text, "<wsu:Timestamp", "\">").rsplit('"').nth(1).expect("an id")
}

/// Returns a reference to an element with an id, whose transforms leave these bytes. All texts are
/// in canonical form.
pub fn reference(id: &str, transforms: &[&str], content: &[u8]) -> String {
    let transforms = transforms.iter().map(|it| format!("<ds:Transform Algorithm=\"{it}\"></ds:Transform>"));
    format!(
        "<ds:Reference URI=\"#{id}\"><ds:Transforms>{}</ds:Transforms>\
         <ds:DigestMethod Algorithm=\"http://www.w3.org/2001/04/xmlenc#sha256\"></ds:DigestMethod>\
         <ds:DigestValue>{}</ds:DigestValue></ds:Reference>",
        transforms.collect::<String>(),
        BASE64_STANDARD.encode(digest(&SHA256, content))
    )
}

/// Returns a signature over references, with a `KeyInfo`.
pub fn signature(key: &SigningKey, algorithm: &str, references: &str, key_info: &str) -> String {
    let info = format!(
        "<ds:SignedInfo xmlns:ds=\"{DS}\">\
         <ds:CanonicalizationMethod Algorithm=\"{C14N}\"></ds:CanonicalizationMethod>\
         <ds:SignatureMethod Algorithm=\"{algorithm}\"></ds:SignatureMethod>{references}</ds:SignedInfo>"
    );
    format!(
        "<ds:Signature xmlns:ds=\"{DS}\">{info}<ds:SignatureValue>{}</ds:SignatureValue>{key_info}</ds:Signature>",
        BASE64_STANDARD.encode(key.sign(info.as_bytes()).expect("a signature"))
    )
}
