//! Writes signatures. Everything is written in canonical form, so nothing of it is canonicalized.

use crate::algorithms::DigestAlgorithm;
use crate::error::SecurityError;
use crate::keys::Signer;
use crate::ns;
use crate::xml::{attribute, text};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use deltasoap_core::PartUri;
use std::fmt::Write;

/// A part of a message that is signed, in its exclusive canonical form.
#[derive(Debug)]
pub(crate) struct SignedPart {
    /// The id, or the content id of an attachment.
    pub(crate) reference: PartReference,
    pub(crate) digest: Vec<u8>,
    /// Prefixes to treat as in inclusive canonicalization; `""` is the default namespace.
    pub(crate) prefixes: Vec<String>,
}

#[derive(Debug)]
pub(crate) enum PartReference {
    Id(String),
    /// A `SecurityTokenReference` with this id: what is hashed is the token.
    Token(String),
    Attachment(String),
}

/// Returns a `ds:Signature` over some parts, and its value. `key_info` is the content of its
/// `KeyInfo`.
///
/// # Errors
/// Returns the error of the signer.
pub(crate) fn write_signature(
    parts: &[SignedPart],
    algorithm: DigestAlgorithm,
    signer: &dyn Signer,
    key_info: &str,
) -> Result<(String, Vec<u8>), SecurityError> {
    let signed_info = signed_info(parts, algorithm, signer);
    let value = signer.sign(signed_info.as_bytes())?;
    let signature = format!(
        "<ds:Signature xmlns:ds=\"{ds}\">{signed_info}<ds:SignatureValue>{value}</ds:SignatureValue>\
         <ds:KeyInfo>{key_info}</ds:KeyInfo></ds:Signature>",
        ds = ns::DS,
        value = BASE64_STANDARD.encode(&value),
    );
    Ok((signature, value))
}

/// Returns the `SignedInfo`. It declares its prefix again, so that its text is its canonical form.
fn signed_info(parts: &[SignedPart], algorithm: DigestAlgorithm, signer: &dyn Signer) -> String {
    let mut out = format!(
        "<ds:SignedInfo xmlns:ds=\"{ds}\"><ds:CanonicalizationMethod Algorithm=\"{c14n}\"></ds:CanonicalizationMethod>\
         <ds:SignatureMethod Algorithm=\"{signature}\"></ds:SignatureMethod>",
        ds = ns::DS,
        c14n = ns::EXC_C14N,
        signature = signer.algorithm().uri(),
    );
    for part in parts {
        push_reference(&mut out, part, algorithm);
    }
    out.push_str("</ds:SignedInfo>");
    out
}

fn push_reference(out: &mut String, part: &SignedPart, algorithm: DigestAlgorithm) {
    let (uri, transform) = match &part.reference {
        PartReference::Id(id) => (format!("#{id}"), canonical_transform(&part.prefixes)),
        PartReference::Token(id) => (format!("#{id}"), token_transform()),
        PartReference::Attachment(content_id) => {
            (PartUri::from_content_id(content_id).to_string(), ATTACHMENT_TRANSFORM.to_owned())
        }
    };
    // Writing into a string cannot fail.
    let _ = write!(
        out,
        "<ds:Reference URI=\"{uri}\"><ds:Transforms>{transform}</ds:Transforms>\
         <ds:DigestMethod Algorithm=\"{digest}\"></ds:DigestMethod><ds:DigestValue>{value}</ds:DigestValue></ds:Reference>",
        uri = attribute(&uri),
        digest = algorithm.uri(),
        value = BASE64_STANDARD.encode(&part.digest),
    );
}

fn canonical_transform(prefixes: &[String]) -> String {
    let listed: Vec<_> =
        prefixes.iter().map(|prefix| if prefix.is_empty() { "#default" } else { prefix.as_str() }).collect();
    let inclusive = if listed.is_empty() {
        String::new()
    } else {
        format!(
            "<ec:InclusiveNamespaces xmlns:ec=\"{}\" PrefixList=\"{}\"></ec:InclusiveNamespaces>",
            ns::EXC_C14N,
            attribute(&listed.join(" "))
        )
    };
    format!("<ds:Transform Algorithm=\"{}\">{inclusive}</ds:Transform>", ns::EXC_C14N)
}

fn token_transform() -> String {
    format!(
        "<ds:Transform Algorithm=\"{}\"><wsse:TransformationParameters xmlns:wsse=\"{}\">\
         <ds:CanonicalizationMethod Algorithm=\"{}\"></ds:CanonicalizationMethod></wsse:TransformationParameters>\
         </ds:Transform>",
        ns::STR_TRANSFORM,
        ns::WSSE,
        ns::EXC_C14N
    )
}

const ATTACHMENT_TRANSFORM: &str = "<ds:Transform Algorithm=\"http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1\
                                    #Attachment-Content-Signature-Transform\"></ds:Transform>";

/// Returns the content of a `KeyInfo` that refers to a token in the message.
pub(crate) fn reference_to_token(id: &str, kind: &str) -> String {
    format!(
        "<wsse:SecurityTokenReference xmlns:wsse=\"{wsse}\"><wsse:Reference URI=\"#{id}\" ValueType=\"{kind}\">\
         </wsse:Reference></wsse:SecurityTokenReference>",
        wsse = ns::WSSE,
        id = attribute(id),
    )
}

/// Returns the content of a `KeyInfo` with a key identifier.
pub(crate) fn reference_by_identifier(kind: &str, identifier: &[u8]) -> String {
    format!(
        "<wsse:SecurityTokenReference xmlns:wsse=\"{wsse}\"><wsse:KeyIdentifier EncodingType=\"{encoding}\" \
         ValueType=\"{kind}\">{identifier}</wsse:KeyIdentifier></wsse:SecurityTokenReference>",
        wsse = ns::WSSE,
        encoding = ns::BASE64,
        identifier = BASE64_STANDARD.encode(identifier),
    )
}

/// Returns the content of a `KeyInfo` with the issuer and serial number of a certificate.
pub(crate) fn reference_by_serial(issuer: &str, serial: &str) -> String {
    format!(
        "<wsse:SecurityTokenReference xmlns:wsse=\"{wsse}\"><ds:X509Data><ds:X509IssuerSerial>\
         <ds:X509IssuerName>{issuer}</ds:X509IssuerName><ds:X509SerialNumber>{serial}</ds:X509SerialNumber>\
         </ds:X509IssuerSerial></ds:X509Data></wsse:SecurityTokenReference>",
        wsse = ns::WSSE,
        issuer = text(issuer),
    )
}

/// Returns the content of a `KeyInfo` that refers to an assertion in the message.
pub(crate) fn reference_to_assertion(id: &str, is_saml2: bool) -> String {
    let (kind, token) = if is_saml2 {
        (ns::SAML2_ID, "http://docs.oasis-open.org/wss/oasis-wss-saml-token-profile-1.1#SAMLV2.0")
    } else {
        (ns::SAML11_ID, "http://docs.oasis-open.org/wss/oasis-wss-saml-token-profile-1.1#SAMLV1.1")
    };
    format!(
        "<wsse:SecurityTokenReference xmlns:wsse=\"{wsse}\" xmlns:wsse11=\"{wsse11}\" wsse11:TokenType=\"{token}\">\
         <wsse:KeyIdentifier ValueType=\"{kind}\">{id}</wsse:KeyIdentifier></wsse:SecurityTokenReference>",
        wsse = ns::WSSE,
        wsse11 = ns::WSSE11,
        id = text(id),
    )
}
