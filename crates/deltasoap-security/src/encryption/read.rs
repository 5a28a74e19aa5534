//! What the security header says about encryption.

use super::algorithms::RSA_OAEP;
use super::{ContentCipher, KeyTransport};
use crate::error::SecurityError;
use crate::ns;
use crate::received::Tree;
use crate::signature::{KeyInfo, KeySource, decode_base64};

/// The encrypted keys and the lists of encrypted data in a security header.
#[derive(Debug, Default)]
pub(crate) struct Encryption {
    /// Indices of the `EncryptedKey` elements.
    pub(crate) keys: Vec<usize>,
    pub(crate) lists: Vec<List>,
    /// The signatures that come before the lists. They sign what was encrypted before; the others
    /// sign what is encrypted.
    pub(crate) outer_signatures: Vec<usize>,
}

/// A `ReferenceList`.
#[derive(Debug)]
pub(crate) struct List {
    /// The `EncryptedKey` that it is in.
    pub(crate) key: Option<usize>,
    /// The ids of encrypted data.
    pub(crate) ids: Vec<String>,
}

impl Encryption {
    /// Reads a security header. Returns `None` if it lists no encrypted data.
    ///
    /// # Errors
    /// Returns an error if a reference leads out of the message, or the order is not supported.
    pub(crate) fn read(tree: &Tree, header: usize) -> Result<Option<Self>, SecurityError> {
        let mut found = Encryption::default();
        let mut is_signed_after = false;
        for child in tree.children(header) {
            let element = tree.get(child);
            let (key, list) = if element.is(ns::XENC, "EncryptedKey") {
                found.keys.push(child);
                (Some(child), tree.find(child, ns::XENC, "ReferenceList"))
            } else {
                (None, element.is(ns::XENC, "ReferenceList").then_some(child))
            };
            if let Some(list) = list {
                if is_signed_after {
                    return Err(SecurityError::Unsupported(
                        "the message was encrypted, signed, and encrypted again".to_owned(),
                    ));
                }
                found.lists.push(List { key, ids: read_list(tree, list)? });
            } else if element.is(ns::DS, "Signature") {
                if found.lists.is_empty() {
                    found.outer_signatures.push(child);
                } else {
                    is_signed_after = true;
                }
            }
        }
        Ok((!found.lists.is_empty()).then_some(found))
    }
}

fn read_list(tree: &Tree, list: usize) -> Result<Vec<String>, SecurityError> {
    let id = |reference: usize| {
        let element = tree.get(reference);
        let id = element.attribute("", "URI").and_then(|uri| uri.strip_prefix('#')).filter(|id| !id.is_empty());
        match id {
            Some(id) if element.is(ns::XENC, "DataReference") => Ok(id.to_owned()),
            _ => Err(SecurityError::Unsupported(format!("{} is not supported", tree.path(reference)))),
        }
    };
    tree.children(list).map(id).collect()
}

/// How some data is encrypted.
#[derive(Debug)]
pub(super) struct DataMethod {
    pub(super) cipher: ContentCipher,
    /// True if the data replaces an element, false if it replaces the content of one.
    pub(super) is_element: bool,
    /// The id of the key.
    pub(super) key: Option<String>,
}

impl DataMethod {
    /// Reads an `EncryptedData` element.
    ///
    /// # Errors
    /// Returns an error if it is malformed or not supported.
    pub(super) fn read(tree: &Tree, index: usize) -> Result<Self, SecurityError> {
        let element = tree.get(index);
        if !element.is(ns::XENC, "EncryptedData") {
            return Err(SecurityError::Malformed(format!("{} is no encrypted data", tree.path(index))));
        }
        let kind = element.attribute("", "Type").unwrap_or_default();
        let is_element = match kind {
            ns::ENCRYPTED_ELEMENT => true,
            ns::ENCRYPTED_CONTENT => false,
            _ => {
                return Err(SecurityError::Unsupported(format!(
                    "encrypted data of the type {kind:?} is not supported"
                )));
            }
        };
        // Whether there is a value is checked here, its text elsewhere.
        cipher_value(tree, index)?;
        let key = match KeyInfo::read(tree, index)?.sources.into_iter().next() {
            Some(KeySource::Token(id)) => Some(id),
            None => None,
            Some(_) => {
                return Err(SecurityError::Unsupported(format!("{} refers to no encrypted key", tree.path(index))));
            }
        };
        Ok(DataMethod { cipher: ContentCipher::from_uri(method(tree, index)?.1)?, is_element, key })
    }
}

/// An `EncryptedKey`.
#[derive(Debug)]
pub(super) struct KeyMethod {
    pub(super) transport: KeyTransport,
    pub(super) value: Vec<u8>,
}

impl KeyMethod {
    /// Reads an `EncryptedKey` element.
    ///
    /// # Errors
    /// Returns an error if it is malformed or not supported.
    pub(super) fn read(tree: &Tree, index: usize) -> Result<Self, SecurityError> {
        let (method, uri) = method(tree, index)?;
        if tree.find(method, ns::XENC, "OAEPparams").is_some() {
            return Err(SecurityError::Unsupported(format!("{} has OAEP parameters", tree.path(method))));
        }
        let algorithm = |namespace, local| {
            tree.find(method, namespace, local)
                .map(|child| tree.get(child).attribute("", "Algorithm").unwrap_or_default())
        };
        let (digest, mask) = (algorithm(ns::DS, "DigestMethod"), algorithm(ns::XENC11, "MGF"));
        // `rsa-oaep-mgf1p` has one mask, which nothing may change.
        let mask = mask.filter(|_| uri == RSA_OAEP);
        let value = decode_base64(tree, cipher_value(tree, index)?)?;
        Ok(KeyMethod { transport: KeyTransport::from_uris(uri, digest, mask)?, value })
    }
}

/// Returns the `EncryptionMethod` of an element, and its algorithm.
fn method(tree: &Tree, index: usize) -> Result<(usize, &str), SecurityError> {
    let method = tree.find(index, ns::XENC, "EncryptionMethod");
    let uri = method.and_then(|method| tree.get(method).attribute("", "Algorithm"));
    method.zip(uri).ok_or_else(|| SecurityError::Malformed(format!("{} names no algorithm", tree.path(index))))
}

/// Returns the `CipherValue` of an element. What is elsewhere is never fetched.
pub(super) fn cipher_value(tree: &Tree, index: usize) -> Result<usize, SecurityError> {
    let data = tree.find(index, ns::XENC, "CipherData");
    let mut values = data.into_iter().flat_map(|data| tree.children(data));
    match (values.next(), values.next()) {
        (Some(value), None) if tree.get(value).is(ns::XENC, "CipherValue") => Ok(value),
        (Some(value), None) => Err(SecurityError::Unsupported(format!("{} is not supported", tree.path(value)))),
        _ => Err(SecurityError::Malformed(format!("{} has no value", tree.path(index)))),
    }
}
