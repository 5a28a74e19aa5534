//! Keys, messages, and how both sides use them.

use deltasoap::Soap;
use deltasoap_core::soap::{Envelope, HeaderBlock, Version};
use deltasoap_core::{Node, QName, Template, Templating};
use deltasoap_security::{Identity, Protection, Requirements, SecurityError, Trust, Verified};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};

/// The time at which all messages are sent.
pub fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000)
}

/// An authority, a client with a certificate from it, and a stranger.
pub struct Keys {
    pub authority: String,
    pub client: (String, String),
    pub stranger: (String, String),
}

pub static KEYS: LazyLock<Keys> = LazyLock::new(|| {
    let authority = issuer("authority");
    let other = issuer("another authority");
    Keys {
        client: issued(&authority, "client, of Ä"),
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
    let header = protection.clone().at(now()).header(version, blocks, &message, &[]).expect("a header");
    message.with_header(header).to_vec()
}

/// Verifies a message, in pieces of a length.
///
/// # Errors
/// The reason why it is refused.
pub fn verify_in(message: &[u8], len: usize, requirements: &Arc<Requirements>) -> Result<Verified, SecurityError> {
    let mut verification = requirements.begin(deltasoap_xml::Limits::default());
    for piece in message.chunks(len) {
        verification.push(piece)?;
    }
    verification.finish()
}

pub fn verify(message: &[u8], requirements: Requirements) -> Result<Verified, SecurityError> {
    let requirements = Arc::new(requirements.at(now()));
    let whole = verify_in(message, message.len().max(1), &requirements);
    let outcome = |verified: &Result<Verified, SecurityError>| match verified {
        Ok(verified) => Ok(format!("{verified:?}")),
        Err(error) => Err(error.clone()),
    };
    for len in [1, 7, 100] {
        assert_eq!(outcome(&verify_in(message, len, &requirements)), outcome(&whole));
    }
    whole
}

pub fn text(message: &[u8]) -> String {
    String::from_utf8(message.to_vec()).expect("UTF-8")
}
