//! Signatures that other implementations made, of `testdata/signatures`.

use super::{KeyInfo, KeySource, References, Signature, Transform};
use crate::error::SecurityError;
use crate::keys::Certificate;
use crate::keys::{Secret, VerifyingKey};
use crate::ns;
use crate::received::{MessageHead, Part, canonical_parts};
use deltasoap_xml::{Event, Instructions, Limits, Reader, Window};
use std::path::Path;

/// Reads a whole document as if it were the head of a message.
fn head(document: &[u8]) -> Result<MessageHead, SecurityError> {
    let mut head = MessageHead { bytes: document.to_vec(), ..MessageHead::default() };
    let mut reader = Reader::new(Limits::default(), Instructions::Refuse);
    let (mut window, mut open) = (Window::whole(document), Vec::new());
    loop {
        let event = reader.next(&mut window).map_err(|stop| SecurityError::Malformed(format!("{stop:?}")))?;
        match event {
            Event::Start => {
                let parent = open.last().copied();
                open.push(head.tree.add(&reader, parent, reader.tag_offset() as usize)?);
            }
            Event::End => open.pop().into_iter().for_each(|index| head.tree.end(index, window.pos)),
            Event::Text(text) => open.last().into_iter().for_each(|&index| head.tree.push_text(index, text)),
            Event::Char(c) => {
                let (mut buffer, open) = ([0; 4], open.last());
                open.into_iter().for_each(|&index| head.tree.push_text(index, c.encode_utf8(&mut buffer)));
            }
            Event::Done => return Ok(head),
        }
    }
}

/// Returns the first signature within an element.
fn find_signature(head: &MessageHead, element: usize) -> Option<usize> {
    if head.tree.get(element).is(ns::DS, "Signature") {
        return Some(element);
    }
    head.tree.children(element).find_map(|child| find_signature(head, child))
}

/// What the vectors' documentation says about keys, without their names: certificates and secrets.
struct Keys {
    certificates: Vec<Certificate>,
    secrets: Vec<Vec<u8>>,
}

impl Keys {
    fn load() -> Self {
        let (mut certificates, mut secrets) = (Vec::new(), Vec::new());
        for (name, content) in files("keys") {
            if name.ends_with(".der") {
                certificates.push(Certificate::from_der(content).expect("a certificate"));
            } else {
                secrets.push(content);
            }
        }
        Keys { certificates, secrets }
    }

    /// Returns the keys that a signature may have been made with.
    fn of(&self, info: &KeyInfo) -> Vec<VerifyingKey> {
        let own = |certificate: &Certificate| certificate.key().expect("a supported key").clone();
        match info.sources.first() {
            Some(KeySource::Key(key)) => vec![key.clone()],
            Some(KeySource::Chain(chain)) => vec![own(&Certificate::from_der(chain[0].as_slice()).expect("readable"))],
            Some(KeySource::Certificate(id)) => self.certificates.iter().filter(|it| it.is(id)).map(own).collect(),
            _ => {
                let secrets = self.secrets.iter().cloned().map(Secret::new).map(VerifyingKey::Secret);
                self.certificates.iter().map(own).chain(secrets).collect()
            }
        }
    }
}

/// Verifies the first signature of a document and all its references. Returns the number of
/// references.
fn verify(document: &[u8], keys: &Keys) -> Result<usize, SecurityError> {
    let head = head(document)?;
    let index = find_signature(&head, 0).expect("a signature");
    let mut signature = Signature::read(&head.tree, index)?;
    let count = signature.references.len();
    // Messages never refer to the whole document, so that is no part of `References`.
    for reference in signature.references.extract_if(.., |reference| reference.uri.is_empty()) {
        let Transform::Enveloped(method) = reference.transform else {
            return Err(SecurityError::Unsupported("the transforms of the document".to_owned()));
        };
        let part = Part { element: 0, method, omitted: Some(index) };
        let mut hasher = reference.algorithm.hasher();
        hasher.update(&canonical_parts(&head, &[part])?[0]);
        if hasher.finish() != reference.digest {
            return Err(SecurityError::Check("the digest of the document does not match".to_owned()));
        }
    }
    let with_key = |key| {
        let mut references = References::default();
        references.verify(&head, &signature, &key).map(|()| references)
    };
    let results = keys.of(&signature.key_info).into_iter().map(with_key);
    let unknown = || Err(SecurityError::UnknownToken("the key is not known".to_owned()));
    let references = results.reduce(Result::or).unwrap_or_else(unknown)?;
    match references.plan.targets.first() {
        Some(target) => Err(SecurityError::Check(format!("nothing has the id {:?}", target.id))),
        None => Ok(count),
    }
}

/// Returns the files of a folder in `testdata/signatures`, sorted by name.
fn files(folder: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/signatures").join(folder);
    let entries = folder.read_dir().expect("a folder").map(|entry| entry.expect("an entry").path());
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    let mut files: Vec<_> = entries.map(|path| (name(&path), std::fs::read(&path).expect("a file"))).collect();
    files.sort_unstable();
    files
}

/// Vectors that are refused, and a part of the reason.
const REFUSED: &[(&str, &str)] = &[
    ("enveloping-sha256-hmac-sha256-64.xml", "has parameters"),
    ("merlin-signature-enveloping-hmac-sha1-40.xml", "has parameters"),
    ("xmldsig11-signature-enveloping-hmac-sha1-truncated40.xml", "has parameters"),
    ("phaos-signature-rsa-enveloped-bad-digest-val.xml", "does not match"),
    // Both numbers have a zero before them, which XML Signature does not allow.
    ("enveloping-sha256-ecdsa-sha256_padded.xml", "a signature does not match"),
    // RSA with 1024 bits is accepted with SHA-1 alone.
    ("xmldsig11-signature-enveloping-rsa-sha256.xml", "a signature does not match"),
    // The curve and the digest must have the same size.
    ("xmldsig11-signature-enveloping-p256_sha384.xml", "a key of another kind"),
    ("xmldsig2ed-xpointer-1-SUN.xml", "\"#xpointer(/)\" is not supported"),
    ("xmldsig2ed-xpointer-2-SUN.xml", "\"#xpointer(id('e1ID'))\" is not supported"),
    ("xmldsig2ed-xpointer-5-SUN.xml", "\"#xpointer(id('e1ID'))\" is not supported"),
];

#[test]
fn signatures_of_others_are_verified() {
    let (keys, mut verified, mut failures) = (Keys::load(), 0, Vec::new());
    let uses_sha1 = |document: &[u8]| String::from_utf8_lossy(document).contains("sha1\"");
    for (name, document) in ["xmlsec", "santuario"].into_iter().flat_map(files) {
        if !cfg!(feature = "legacy-sha1") && uses_sha1(&document) {
            assert!(matches!(verify(&document, &keys), Err(SecurityError::Unsupported(_))), "{name}");
            continue;
        }
        let refused = REFUSED.iter().find(|(known, _)| *known == name).map(|(_, reason)| *reason);
        match (verify(&document, &keys), refused) {
            (Ok(_), None) => verified += 1,
            (Err(error), Some(reason)) if error.to_string().contains(reason) => {}
            (result, refused) => failures.push(format!("{name}: {result:?}, expected: {refused:?}")),
        }
        let changed = String::from_utf8_lossy(&document).replacen("<SignedInfo>", "<SignedInfo> ", 1);
        let changed = changed.replacen("SignedInfo><dsig:Can", "SignedInfo> <dsig:Can", 1);
        assert!(changed.as_bytes() == document || verify(changed.as_bytes(), &keys).is_err(), "{name} changed");
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(verified, if cfg!(feature = "legacy-sha1") { VERIFIED } else { VERIFIED_WITHOUT_SHA1 });
}

/// The certificates of `X509Data` have no order.
#[test]
#[cfg(feature = "legacy-sha1")]
fn certificates_in_any_order() {
    let document = files("xmlsec").into_iter().find(|(name, _)| name == "enveloping-rsa-x509chain.xml");
    let document = String::from_utf8(document.expect("the vector").1).expect("UTF-8");
    let document = document.replace("<KeyName>TestKeyName-rsa-2048</KeyName>", "");
    let (before, rest) = document.split_once("<X509Certificate>").expect("a certificate");
    let (certificates, after) = rest.rsplit_once("</X509Certificate>").expect("a certificate");
    let mut certificates: Vec<_> = certificates
        .split("<X509Certificate>")
        .map(|it| it.trim_end().trim_end_matches("</X509Certificate>"))
        .collect();
    assert!(certificates.len() > 1);
    let without = Keys { certificates: Vec::new(), secrets: Vec::new() };
    for _ in 0..certificates.len() {
        let listed = certificates.join("</X509Certificate><X509Certificate>");
        let turned = format!("{before}<X509Certificate>{listed}</X509Certificate>{after}");
        assert_eq!(verify(turned.as_bytes(), &without), Ok(1));
        certificates.rotate_left(1);
    }
}

/// The number of vectors that are verified.
const VERIFIED: usize = 43;
const VERIFIED_WITHOUT_SHA1: usize = 20;
