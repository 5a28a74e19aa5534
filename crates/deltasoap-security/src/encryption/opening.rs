//! Puts plaintext in the place of encrypted data.
//!
//! What is decrypted is read as if the message had arrived so. Signatures over encrypted data are
//! verified over the message as it arrived, all others over the message as it is read.
//!
//! AES-CBC needs more care, since it does not protect content from changes: who sees whether
//! changed content can be read finds it out byte by byte. So such content must be signed, nothing
//! of it leaves before the signature was verified, and everything that can fail fails in the same
//! way.

use super::algorithms::{ContentKey, Plaintext};
use super::read::{DataMethod, KeyMethod, cipher_value};
use super::{Encryption, fragment, undecipherable};
use crate::error::SecurityError;
use crate::keys::Certificate;
use crate::keys::Identity;
use crate::ns;
use crate::received::{EncryptedData, MAX_ENCRYPTED, MAX_HEAD, MessageHead, Tree};
use crate::signature::{KeyInfo, KeySource, References, SignedBy, certificates, decode_base64};
use bytes::{Buf, BytesMut};
use deltasoap_xml::Limits;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of encrypted keys that are decrypted for a message.
const MAX_KEYS: usize = 4;

/// What a receiver decrypts with, and accepts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Decryption {
    pub(crate) identities: Vec<Identity>,
    pub(crate) accepts_cbc: bool,
}

/// What is known of a message as it arrived.
#[derive(Debug, Default)]
pub(crate) struct Outer {
    /// The valid signatures over what is encrypted.
    pub(crate) signatures: Vec<OuterSignature>,
    /// What was encrypted in the head.
    pub(crate) opened: Vec<Opened>,
    /// True if something in the body is encrypted.
    pub(crate) has_encrypted_body: bool,
}

/// A valid signature over the message as it arrived. Elements are given by their places in the
/// opened head.
#[derive(Debug)]
pub(crate) struct OuterSignature {
    pub(crate) place: usize,
    pub(crate) signed_by: SignedBy,
    pub(crate) signed: References,
}

impl Outer {
    /// Returns the valid signature at a place of the opened head.
    pub(crate) fn signature_at(&self, place: usize) -> Option<&OuterSignature> {
        self.signatures.iter().find(|signature| signature.place == place)
    }
}

/// A part of the opened head that was encrypted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opened {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) is_cbc: bool,
    pub(crate) is_valid: bool,
}

/// A head in which everything was decrypted.
#[derive(Debug)]
pub(crate) struct OpenedHead {
    pub(crate) bytes: Vec<u8>,
    pub(crate) opened: Vec<Opened>,
    splices: Vec<Splice>,
    pub(crate) body: BodyKeys,
}

/// The keys of encrypted data in the body.
#[derive(Debug)]
pub(crate) struct BodyKeys {
    keys: Keys,
    /// The ids of the data, and the keys of the lists that they are in.
    listed: BTreeMap<String, Option<usize>>,
    accepts_cbc: bool,
    limits: Limits,
}

/// Plaintext in place of a part of the head.
#[derive(Debug)]
struct Splice {
    start: usize,
    end: usize,
    plaintext: Plaintext,
    is_cbc: bool,
}

/// The keys in a header that were decrypted.
#[derive(Debug, Default)]
struct Keys(Vec<Key>);

#[derive(Debug)]
struct Key {
    element: usize,
    ids: Vec<String>,
    key: ContentKey,
}

impl OpenedHead {
    /// Decrypts what is encrypted in a head.
    ///
    /// # Errors
    /// Returns an error if there is no key, or something cannot be decrypted.
    pub(crate) fn open(
        head: &MessageHead,
        header: usize,
        encryption: &Encryption,
        decryption: &Decryption,
        limits: Limits,
    ) -> Result<Self, SecurityError> {
        let keys = Keys::decrypt(head, header, encryption, &decryption.identities)?;
        let mut body = BodyKeys { keys, listed: BTreeMap::new(), accepts_cbc: decryption.accepts_cbc, limits };
        let mut splices = Vec::new();
        for (id, key) in listed(encryption, &body.keys)? {
            match head.tree.with_id(&id)? {
                Some(element) => splices.push(body.open_in_head(head, element, key)?),
                None => _ = body.listed.insert(id, key),
            }
        }
        splices.sort_by_key(|splice| splice.start);
        if splices.windows(2).any(|pair| pair[1].start < pair[0].end) {
            return Err(SecurityError::Malformed("encrypted data contains encrypted data".to_owned()));
        }
        let (mut bytes, mut opened, mut from) = (Vec::with_capacity(head.bytes.len()), Vec::new(), 0);
        for Splice { start, end, plaintext, is_cbc } in &splices {
            bytes.extend_from_slice(&head.bytes[from..*start]);
            let (start, is_valid) = (bytes.len(), plaintext.is_valid);
            bytes.extend_from_slice(&plaintext.bytes);
            opened.push(Opened { start, end: bytes.len(), is_cbc: *is_cbc, is_valid });
            from = *end;
        }
        bytes.extend_from_slice(&head.bytes[from..]);
        if bytes.len() > MAX_HEAD {
            return Err(SecurityError::Malformed(format!(
                "the message has more than {MAX_HEAD} bytes before its body"
            )));
        }
        Ok(OpenedHead { bytes, opened, splices, body })
    }

    /// Returns the place in the opened head of an element of the head; `None` for elements of what
    /// was decrypted.
    pub(crate) fn place(&self, tree: &Tree, element: usize) -> Option<usize> {
        let start = tree.get(element).start;
        let mut place = start;
        // What is signed as ciphertext is not known to be signed as what it decrypts to.
        for splice in self.splices.iter().take_while(|splice| splice.start <= start) {
            if start < splice.end {
                return None;
            }
            place = place + splice.plaintext.bytes.len() - (splice.end - splice.start);
        }
        Some(place)
    }
}

/// Returns the ids of all encrypted data, each with the key of its list. Of several recipients of
/// the same data, the one counts whose key is known.
fn listed(encryption: &Encryption, keys: &Keys) -> Result<BTreeMap<String, Option<usize>>, SecurityError> {
    let mut listed: BTreeMap<String, Option<usize>> = BTreeMap::new();
    for list in &encryption.lists {
        for id in &list.ids {
            let other = listed.entry(id.clone()).or_insert(list.key);
            if !other.is_some_and(|key| keys.at(key).is_some()) {
                *other = list.key;
            }
        }
    }
    if listed.len() > MAX_ENCRYPTED {
        return Err(SecurityError::Malformed(format!("the message has more than {MAX_ENCRYPTED} encrypted parts")));
    }
    Ok(listed)
}

impl Keys {
    /// Decrypts the keys that are meant for this side.
    fn decrypt(
        head: &MessageHead,
        header: usize,
        encryption: &Encryption,
        identities: &[Identity],
    ) -> Result<Self, SecurityError> {
        let tree = &head.tree;
        let mut keys = Vec::new();
        for &element in &encryption.keys {
            let info = KeyInfo::read(tree, element)?;
            let Some(identity) = recipient(tree, header, &info, identities) else { continue };
            let Some(decrypter) = &identity.decrypter else { continue };
            if keys.len() == MAX_KEYS {
                return Err(SecurityError::Malformed(format!("the message has more than {MAX_KEYS} encrypted keys")));
            }
            let KeyMethod { transport, value } = KeyMethod::read(tree, element)?;
            let key = match decrypter.decrypt(transport, &value) {
                Ok(key) => Some(key),
                Err(error @ SecurityError::Key(_)) => return Err(error),
                Err(_) => None,
            };
            let ids = tree.get(element).ids().map(str::to_owned).collect();
            keys.push(Key { element, ids, key: ContentKey::new(key) });
        }
        Ok(Keys(keys))
    }

    fn at(&self, element: usize) -> Option<&Key> {
        self.0.iter().find(|key| key.element == element)
    }

    /// Returns the key of some data: the one that it refers to, or that of its list, or the only
    /// one.
    fn of(&self, method: &DataMethod, listed: Option<usize>) -> Result<&ContentKey, SecurityError> {
        let key = match (&method.key, listed, &self.0[..]) {
            (Some(id), ..) => self.0.iter().find(|key| key.ids.contains(id)),
            (None, Some(element), _) => self.at(element),
            (None, None, [only]) => Some(only),
            _ => None,
        };
        key.map(|key| &key.key).ok_or_else(|| {
            SecurityError::UnknownToken("the message is encrypted for a key that is not known here".to_owned())
        })
    }
}

/// Returns whom an encrypted key is meant for; the only identity if it does not say.
fn recipient<'i>(tree: &Tree, header: usize, info: &KeyInfo, identities: &'i [Identity]) -> Option<&'i Identity> {
    let with = |fits: &dyn Fn(&Certificate) -> bool| {
        identities.iter().find(|identity| identity.certificate().is_some_and(fits))
    };
    let with_token = |token| {
        let chain = certificates(tree, token, Certificate::from_der).ok()?;
        with(&|own| chain.first() == Some(own))
    };
    match (info.sources.first(), identities) {
        (None, [only]) => Some(only),
        (None, _) => None,
        (Some(KeySource::Token(id)), _) => {
            let token =
                tree.all(header, ns::WSSE, "BinarySecurityToken").find(|&it| tree.get(it).ids().any(|it| it == id));
            with_token(token?)
        }
        (Some(KeySource::Embedded(token)), _) => with_token(*token),
        (Some(KeySource::Certificate(id)), _) => with(&|own| own.is(id)),
        (Some(KeySource::Chain(chain)), _) => with(&|own| chain.first().is_some_and(|der| der == own.der())),
        (Some(KeySource::Key(key)), _) => with(&|own| own.key().is_ok_and(|own| own == key)),
        (Some(KeySource::Assertion(_) | KeySource::Name(_)), _) => None,
    }
}

impl BodyKeys {
    /// Returns the ids of encrypted data in the body.
    pub(crate) fn ids(&self) -> BTreeSet<String> {
        self.listed.keys().cloned().collect()
    }

    fn open_in_head(&self, head: &MessageHead, element: usize, key: Option<usize>) -> Result<Splice, SecurityError> {
        let tree = &head.tree;
        let misplaced = || SecurityError::Malformed(format!("{} is encrypted data out of place", tree.path(element)));
        let context = head.encrypted.iter().find(|(other, _)| *other == element);
        let (_, bindings) = context.ok_or_else(misplaced)?;
        let block = tree.header_blocks().find(|&block| tree.contains(block, element)).ok_or_else(misplaced)?;
        // A whole header block is in an element that its name was replaced by.
        let is_block = tree.get(block).is(ns::WSSE11, "EncryptedHeader");
        if is_block && tree.children(block).collect::<Vec<_>>() != [element] {
            return Err(misplaced());
        }
        let place = tree.get(if is_block { block } else { element });
        let cipher = decode_base64(tree, cipher_value(tree, element)?)?;
        let (plaintext, is_cbc) = self.decrypt(tree, element, key, cipher, bindings)?;
        Ok(Splice { start: place.start, end: place.end, plaintext, is_cbc })
    }

    /// Decrypts data of the body. Returns the plaintext, and whether it was encrypted with AES-CBC.
    ///
    /// # Errors
    /// Returns an error if it cannot be decrypted.
    fn open_in_body(&self, data: EncryptedData) -> Result<(Plaintext, bool), SecurityError> {
        let ids: Vec<_> = data.tree.get(0).ids().collect();
        let key = self.listed.iter().find(|(id, _)| ids.contains(&id.as_str())).and_then(|(_, key)| *key);
        self.decrypt(&data.tree, 0, key, data.cipher, &data.bindings)
    }

    fn decrypt(
        &self,
        tree: &Tree,
        element: usize,
        listed: Option<usize>,
        cipher: Vec<u8>,
        bindings: &[(String, String)],
    ) -> Result<(Plaintext, bool), SecurityError> {
        let method = DataMethod::read(tree, element)?;
        let is_cbc = method.cipher.is_cbc();
        if is_cbc && !self.accepts_cbc {
            return Err(SecurityError::Unsupported(
                "AES-CBC does not protect content from changes; see Requirements::accept_cbc".to_owned(),
            ));
        }
        let plaintext = method.cipher.decrypt(self.keys.of(&method, listed)?, cipher)?;
        let fits = match fragment::shape(&plaintext.bytes, bindings, self.limits) {
            Ok((elements, has_text)) => !method.is_element || (elements == 1 && !has_text),
            Err(_) => false,
        };
        match (fits, is_cbc) {
            (true, _) => Ok((plaintext, is_cbc)),
            (false, false) => Err(undecipherable()),
            // It is refused in the end, after a similar time.
            (false, true) => Ok((Plaintext { bytes: vec![b' '; plaintext.bytes.len()], is_valid: false }, true)),
        }
    }
}

/// A message of which a part is encrypted.
#[derive(Debug)]
pub(crate) struct Opening {
    body: BodyKeys,
    pub(crate) outer: Outer,
    /// The opened head, until it was read.
    head: Vec<u8>,
    /// What arrived and was not used yet, from a place in the message.
    arrived: BytesMut,
    from: u64,
    /// What was encrypted with AES-CBC, and what follows it, until its signature was verified.
    held: Option<Vec<u8>>,
    is_valid: bool,
}

impl Opening {
    pub(crate) fn new(head: OpenedHead, outer: Outer) -> Self {
        Opening {
            body: head.body,
            outer,
            head: head.bytes,
            arrived: BytesMut::new(),
            from: 0,
            held: None,
            is_valid: true,
        }
    }

    /// Takes bytes that arrived.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.arrived.extend_from_slice(bytes);
    }

    /// Returns the opened head once; the head as it arrived is dropped, up to a place.
    pub(crate) fn take_head(&mut self, body_start: u64) -> Vec<u8> {
        if !self.head.is_empty() {
            self.skip_to(body_start);
        }
        std::mem::take(&mut self.head)
    }

    /// Returns what arrived up to a place, once.
    pub(crate) fn take_to(&mut self, place: u64) -> BytesMut {
        let len = self.len_to(place);
        self.from += len as u64;
        self.arrived.split_to(len)
    }

    fn skip_to(&mut self, place: u64) {
        let len = self.len_to(place);
        self.from += len as u64;
        self.arrived.advance(len);
    }

    fn len_to(&self, place: u64) -> usize {
        (place.saturating_sub(self.from) as usize).min(self.arrived.len())
    }

    /// Decrypts data of the body, which is dropped from what arrived.
    ///
    /// # Errors
    /// Returns an error if it cannot be decrypted.
    pub(crate) fn open(&mut self, data: EncryptedData, is_body_signed: bool) -> Result<Vec<u8>, SecurityError> {
        self.skip_to(data.end);
        let (plaintext, is_cbc) = self.body.open_in_body(data)?;
        if is_cbc && !is_body_signed {
            return Err(SecurityError::Missing("content in AES-CBC is only accepted in a signed body".to_owned()));
        }
        if is_cbc {
            self.held.get_or_insert_default();
            self.is_valid &= plaintext.is_valid;
        }
        Ok(plaintext.bytes)
    }

    /// Passes bytes on, or holds them back.
    pub(crate) fn pass(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        self.held.as_mut().unwrap_or(out).extend_from_slice(bytes);
    }

    /// Returns true if bytes are held back until their signature was verified.
    pub(crate) fn is_holding(&self) -> bool {
        self.held.is_some()
    }

    /// Passes on what was held back, after its signature was verified.
    ///
    /// # Errors
    /// Returns an error if it was not decrypted in full.
    pub(crate) fn release(&mut self, out: &mut Vec<u8>) -> Result<(), SecurityError> {
        if !self.is_valid {
            return Err(undecipherable());
        }
        out.extend(self.held.take().into_iter().flatten());
        Ok(())
    }
}
