//! Which key a signature was made with: `ds:KeyInfo` and `wsse:SecurityTokenReference` (SOAP
//! Message Security 1.1, section 7).

use super::read::decode_base64;
use crate::error::SecurityError;
use crate::keys::Certificate;
use crate::keys::{CertificateId, KeyKind, PublicKey, VerifyingKey};
use crate::ns;
use crate::received::Tree;

/// Maximum number of certificates of a signer; more are not read.
const MAX_CERTIFICATES: usize = 10;

/// What leads to the key of a signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeySource {
    /// A token in the message, by its id.
    Token(String),
    /// A token within the reference itself.
    Embedded(usize),
    /// A certificate that the receiver has, or that is in the message elsewhere.
    Certificate(CertificateId),
    /// A SAML assertion, by its id.
    Assertion(String),
    /// Certificates in DER, the signer's own first.
    Chain(Vec<Vec<u8>>),
    /// The public key itself.
    Key(VerifyingKey),
    /// A name that both sides know.
    Name(String),
}

/// The keys that a signature may have been made with; usually one.
#[derive(Debug, Default)]
pub(crate) struct KeyInfo {
    pub(crate) sources: Vec<KeySource>,
    /// The `SecurityTokenReference` elements.
    pub(crate) references: Vec<usize>,
}

impl KeyInfo {
    /// Reads the `KeyInfo` of an element; empty without one.
    pub(crate) fn read(tree: &Tree, element: usize) -> Result<Self, SecurityError> {
        let mut info = KeyInfo::default();
        let Some(key_info) = tree.find(element, ns::DS, "KeyInfo") else { return Ok(info) };
        for child in tree.children(key_info) {
            let element = tree.get(child);
            if element.is(ns::WSSE, "SecurityTokenReference") {
                info.references.push(child);
                info.sources.push(read_token_reference(tree, child)?);
            } else if element.is(ns::DS, "X509Data") {
                info.sources.push(read_x509_data(tree, child)?);
            } else if element.is(ns::DS, "KeyValue") {
                info.sources.push(KeySource::Key(read_key_value(tree, child)?));
            } else if element.is(ns::DS, "KeyName") {
                info.sources.push(KeySource::Name(element.text().to_owned()));
            }
        }
        Ok(info)
    }
}

/// Reads a `SecurityTokenReference`.
pub(crate) fn read_token_reference(tree: &Tree, index: usize) -> Result<KeySource, SecurityError> {
    let child = tree.children(index).next();
    let child = child.ok_or_else(|| SecurityError::Malformed(format!("{} is empty", tree.path(index))))?;
    let element = tree.get(child);
    match (element.namespace.as_str(), element.local.as_str()) {
        (ns::WSSE, "Reference") => {
            let uri = element.attribute("", "URI").unwrap_or_default();
            // Tokens outside the message are never fetched.
            let id = uri
                .strip_prefix('#')
                .ok_or_else(|| SecurityError::UnknownToken(format!("the token {uri:?} is not in the message")))?;
            Ok(KeySource::Token(id.to_owned()))
        }
        (ns::WSSE, "KeyIdentifier") => read_key_identifier(tree, child),
        (ns::WSSE, "Embedded") => match tree.children(child).next() {
            Some(token) => Ok(KeySource::Embedded(token)),
            None => Err(SecurityError::Malformed(format!("{} is empty", tree.path(child)))),
        },
        (ns::DS, "X509Data") => read_x509_data(tree, child),
        (ns::DS, "KeyName") => Ok(KeySource::Name(element.text().to_owned())),
        _ => Err(SecurityError::Unsupported(format!("the reference {} is not supported", tree.path(child)))),
    }
}

/// Returns the certificates of a `BinarySecurityToken`, the own one first; `read` reads one.
///
/// # Errors
/// Returns an error if the element is no such token, or cannot be read.
pub(crate) fn certificates(
    tree: &Tree,
    token: usize,
    read: impl Fn(Vec<u8>) -> Result<Certificate, SecurityError>,
) -> Result<Vec<Certificate>, SecurityError> {
    let element = tree.get(token);
    let kind = element.attribute("", "ValueType").unwrap_or_default();
    let unsupported = || SecurityError::Unsupported(format!("tokens of the type {kind:?} are not supported"));
    if !element.is(ns::WSSE, "BinarySecurityToken") {
        return Err(unsupported());
    }
    let bytes = decode_base64(tree, token)?;
    match kind {
        ns::X509_V3 => Ok(vec![read(bytes)?]),
        ns::X509_PKI_PATH => Certificate::path_from_der(&bytes),
        _ => Err(unsupported()),
    }
}

fn read_key_identifier(tree: &Tree, index: usize) -> Result<KeySource, SecurityError> {
    let element = tree.get(index);
    let kind = element.attribute("", "ValueType").unwrap_or_default();
    match kind {
        ns::X509_SKI => Ok(KeySource::Certificate(CertificateId::KeyIdentifier(decode_base64(tree, index)?))),
        ns::THUMBPRINT => Ok(KeySource::Certificate(CertificateId::Thumbprint(decode_base64(tree, index)?))),
        ns::X509_V3 => Ok(KeySource::Chain(vec![decode_base64(tree, index)?])),
        ns::SAML11_ID | ns::SAML2_ID => Ok(KeySource::Assertion(element.text().to_owned())),
        _ => Err(SecurityError::Unsupported(format!("key identifiers of the type {kind:?} are not supported"))),
    }
}

fn read_x509_data(tree: &Tree, index: usize) -> Result<KeySource, SecurityError> {
    let certificates: Vec<_> = tree.all(index, ns::DS, "X509Certificate").collect();
    if !certificates.is_empty() {
        let chain = certificates.into_iter().map(|certificate| decode_base64(tree, certificate));
        return Ok(KeySource::Chain(own_first(chain.collect::<Result<_, _>>()?)));
    }
    if let Some(serial) = tree.find(index, ns::DS, "X509IssuerSerial") {
        let text = |local| tree.text_of(serial, ns::DS, local).unwrap_or_default().to_owned();
        let (issuer, serial) = (text("X509IssuerName"), text("X509SerialNumber"));
        return Ok(KeySource::Certificate(CertificateId::IssuerSerial { issuer, serial }));
    }
    if let Some(identifier) = tree.find(index, ns::DS, "X509SKI") {
        return Ok(KeySource::Certificate(CertificateId::KeyIdentifier(decode_base64(tree, identifier)?)));
    }
    Err(SecurityError::Unsupported(format!("{} identifies no certificate in a supported way", tree.path(index))))
}

/// Moves the signer's certificate to the front: the one that issued none of the others. In
/// `X509Data` their order means nothing (XML Signature 1.1, section 4.5.4).
fn own_first(mut chain: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    // Reading them takes time that nobody has earned yet.
    chain.truncate(MAX_CERTIFICATES);
    let read = chain.iter().map(|der| Certificate::from_der(der.as_slice()));
    // What cannot be read is reported by those who use it.
    let Ok(certificates) = read.collect::<Result<Vec<_>, _>>() else { return chain };
    let is_own = |one: &Certificate| !certificates.iter().any(|other| other != one && one.may_have_issued(other));
    if let Some(own) = certificates.iter().position(is_own) {
        chain[..=own].rotate_right(1);
    }
    chain
}

/// Reads a public key (XML Signature 1.1, section 4.5.2).
fn read_key_value(tree: &Tree, index: usize) -> Result<VerifyingKey, SecurityError> {
    if let Some(rsa) = tree.find(index, ns::DS, "RSAKeyValue") {
        let number = |local| match tree.find(rsa, ns::DS, local) {
            Some(number) => decode_base64(tree, number),
            None => Err(SecurityError::Malformed(format!("{} has no {local}", tree.path(rsa)))),
        };
        return Ok(VerifyingKey::Public(PublicKey::rsa(&number("Modulus")?, &number("Exponent")?)?));
    }
    if let Some(ec) = tree.find(index, ns::DSIG11, "ECKeyValue") {
        let curve = tree.find(ec, ns::DSIG11, "NamedCurve").and_then(|curve| tree.get(curve).attribute("", "URI"));
        let point = tree.find(ec, ns::DSIG11, "PublicKey").map(|point| decode_base64(tree, point)).transpose()?;
        match (curve, point) {
            (Some("urn:oid:1.2.840.10045.3.1.7"), Some(point)) => return Ok(public(KeyKind::P256, &point)),
            (Some("urn:oid:1.3.132.0.34"), Some(point)) => return Ok(public(KeyKind::P384, &point)),
            _ => {}
        }
    }
    Err(SecurityError::Unsupported(format!("{} has a key of an unsupported kind", tree.path(index))))
}

fn public(kind: KeyKind, bytes: &[u8]) -> VerifyingKey {
    VerifyingKey::Public(PublicKey::new(kind, bytes))
}
