//! The content of a `ds:Signature`.

use super::KeyInfo;
use crate::algorithms::DigestAlgorithm;
use crate::algorithms::SignatureAlgorithm;
use crate::error::SecurityError;
use crate::ns;
use crate::received::Tree;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use deltasoap_xml::c14n::Method;

/// Maximum number of references of a signature.
const MAX_REFERENCES: usize = 64;
/// Maximum number of transforms of a reference.
const MAX_TRANSFORMS: usize = 4;

/// A signature, before it is verified.
#[derive(Debug)]
pub(crate) struct Signature {
    /// Index of the `Signature` element.
    pub(crate) element: usize,
    /// Index of its `SignedInfo`.
    pub(crate) signed_info: usize,
    pub(crate) canonicalization: Method,
    pub(crate) algorithm: SignatureAlgorithm,
    pub(crate) references: Vec<Reference>,
    pub(crate) value: Vec<u8>,
    pub(crate) key_info: KeyInfo,
}

/// What a signature says about one part of the message.
#[derive(Debug)]
pub(crate) struct Reference {
    pub(crate) uri: String,
    pub(crate) transform: Transform,
    pub(crate) algorithm: DigestAlgorithm,
    pub(crate) digest: Vec<u8>,
}

/// How the bytes to be hashed are made from the part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Transform {
    /// The part is canonicalized.
    Canonical(Method),
    /// The signature is left out of the part, then that is canonicalized.
    Enveloped(Method),
    /// The part refers to a token, which is canonicalized in its place.
    Token(Method),
    /// The content of an attachment (SOAP Messages with Attachments Profile 1.1, section 5.2).
    AttachmentContent,
}

impl Signature {
    /// Reads the signature at an element.
    pub(crate) fn read(tree: &Tree, element: usize) -> Result<Self, SecurityError> {
        let signed_info = required(tree, element, "SignedInfo")?;
        let method = required(tree, signed_info, "SignatureMethod")?;
        // A truncated digest can be guessed (CVE-2009-0217).
        if tree.children(method).next().is_some() {
            return Err(SecurityError::Unsupported(format!("{} has parameters", tree.path(method))));
        }
        let canonicalization = required(tree, signed_info, "CanonicalizationMethod")?;
        let value = required(tree, element, "SignatureValue")?;
        let references: Vec<_> = tree.all(signed_info, ns::DS, "Reference").collect();
        if references.is_empty() || references.len() > MAX_REFERENCES {
            return Err(SecurityError::Malformed(format!(
                "{} has {} references; 1 to {MAX_REFERENCES} are allowed",
                tree.path(signed_info),
                references.len()
            )));
        }
        Ok(Signature {
            element,
            signed_info,
            canonicalization: read_method(tree, canonicalization)?,
            algorithm: SignatureAlgorithm::from_uri(algorithm(tree, method)?)?,
            references: references.into_iter().map(|index| Reference::read(tree, index)).collect::<Result<_, _>>()?,
            value: decode_base64(tree, value)?,
            key_info: KeyInfo::read(tree, element)?,
        })
    }
}

impl Reference {
    fn read(tree: &Tree, element: usize) -> Result<Self, SecurityError> {
        let method = required(tree, element, "DigestMethod")?;
        let value = required(tree, element, "DigestValue")?;
        let uri = tree.get(element).attribute("", "URI").unwrap_or_default().to_owned();
        let transforms: Vec<_> = tree
            .find(element, ns::DS, "Transforms")
            .into_iter()
            .flat_map(|list| tree.all(list, ns::DS, "Transform"))
            .collect();
        // What `#id` refers to has no comments, whatever the method (XML Signature 1.1, section
        // 4.4.3.3).
        let transform = match read_transforms(tree, &transforms)? {
            Transform::Canonical(method) => Transform::Canonical(method.without_comments()),
            Transform::Enveloped(method) => Transform::Enveloped(method.without_comments()),
            other => other,
        };
        Ok(Reference {
            transform,
            uri,
            algorithm: DigestAlgorithm::from_uri(algorithm(tree, method)?)?,
            digest: decode_base64(tree, value)?,
        })
    }
}

/// Reads the transforms of a reference. Anything that would compute (XPath, XSLT) is refused.
fn read_transforms(tree: &Tree, transforms: &[usize]) -> Result<Transform, SecurityError> {
    if transforms.len() > MAX_TRANSFORMS {
        return Err(SecurityError::Malformed(format!("a signature has more than {MAX_TRANSFORMS} transforms")));
    }
    let uris = transforms.iter().map(|&index| algorithm(tree, index)).collect::<Result<Vec<_>, _>>()?;
    match (&uris[..], transforms) {
        ([], []) => Ok(Transform::Canonical(Method::inclusive())),
        ([ns::STR_TRANSFORM], &[index]) => read_token_transform(tree, index).map(Transform::Token),
        ([ns::ENVELOPED], _) => Ok(Transform::Enveloped(Method::inclusive())),
        ([ns::ENVELOPED, _], &[_, method]) => read_method(tree, method).map(Transform::Enveloped),
        ([ATTACHMENT_CONTENT], _) => Ok(Transform::AttachmentContent),
        ([_], &[method]) => read_method(tree, method).map(Transform::Canonical),
        _ => Err(SecurityError::Unsupported(format!("the transforms {} are not supported", uris.join(", ")))),
    }
}

const ATTACHMENT_CONTENT: &str =
    "http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1#Attachment-Content-Signature-Transform";

fn read_token_transform(tree: &Tree, index: usize) -> Result<Method, SecurityError> {
    let parameters = tree.find(index, ns::WSSE, "TransformationParameters");
    match parameters.and_then(|parameters| tree.find(parameters, ns::DS, "CanonicalizationMethod")) {
        Some(method) => read_method(tree, method),
        None => Err(SecurityError::Malformed(format!("{} names no canonicalization", tree.path(index)))),
    }
}

/// Reads a canonicalization method with its `InclusiveNamespaces`.
fn read_method(tree: &Tree, index: usize) -> Result<Method, SecurityError> {
    let uri = algorithm(tree, index)?;
    let method = Method::from_uri(uri)
        .ok_or_else(|| SecurityError::Unsupported(format!("the canonicalization {uri:?} is not supported")))?;
    let list = tree.find(index, ns::EXC_C14N, "InclusiveNamespaces");
    let prefixes = list.and_then(|list| tree.get(list).attribute("", "PrefixList"));
    Ok(match prefixes.filter(|_| method.is_exclusive()) {
        Some(prefixes) => method.inclusive_prefixes(prefixes.split_ascii_whitespace()),
        None => method,
    })
}

/// Returns the identifier of an algorithm.
pub(super) fn algorithm(tree: &Tree, index: usize) -> Result<&str, SecurityError> {
    let uri = tree.get(index).attribute("", "Algorithm");
    uri.ok_or_else(|| SecurityError::Malformed(format!("{} names no algorithm", tree.path(index))))
}

pub(super) fn required(tree: &Tree, element: usize, local: &str) -> Result<usize, SecurityError> {
    let mut found = tree.all(element, ns::DS, local);
    match (found.next(), found.next()) {
        (Some(index), None) => Ok(index),
        (None, _) => Err(SecurityError::Malformed(format!("{} has no {local}", tree.path(element)))),
        (Some(_), Some(_)) => Err(SecurityError::Malformed(format!("{} has several {local}", tree.path(element)))),
    }
}

/// Returns the bytes of a base64 text, which may contain white space.
pub(crate) fn decode_base64(tree: &Tree, index: usize) -> Result<Vec<u8>, SecurityError> {
    let text: String = tree.get(index).text().split_ascii_whitespace().collect();
    let malformed = |_| SecurityError::Malformed(format!("{} is not base64", tree.path(index)));
    BASE64_STANDARD.decode(text).map_err(malformed)
}
