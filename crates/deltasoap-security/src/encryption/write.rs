//! Writes encrypted keys and data, in canonical form.

use super::algorithms::random;
use super::{ContentCipher, KeyTransport};
use crate::error::SecurityError;
use crate::keys::Certificate;
use crate::ns;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use deltasoap_core::Outgoing;
use std::fmt::Write;

const KEY_ID: &str = "encrypted-key";
/// The beginning of the ids of encrypted data.
const DATA_ID: &str = "encrypted-part-";

/// Encrypts the parts of one message with a key of its own.
pub(crate) struct Sealer {
    cipher: ContentCipher,
    key: Vec<u8>,
    /// Number of encrypted parts.
    parts: usize,
}

impl Sealer {
    /// Makes a key.
    ///
    /// # Errors
    /// Returns an error if there are no random numbers.
    pub(crate) fn new(cipher: ContentCipher) -> Result<Self, SecurityError> {
        Ok(Sealer { cipher, key: random(cipher.key_len())?, parts: 0 })
    }

    /// Returns the encrypted data that takes the place of an element.
    ///
    /// # Errors
    /// Returns an error if the element cannot be encrypted.
    pub(crate) fn element(&mut self, element: &[u8]) -> Result<String, SecurityError> {
        self.data(ns::ENCRYPTED_ELEMENT, std::iter::once(element))
    }

    /// Returns the body of a message with its content encrypted.
    ///
    /// # Errors
    /// Returns an error if it cannot be encrypted.
    pub(crate) fn body(&mut self, message: &Outgoing) -> Result<Vec<u8>, SecurityError> {
        let malformed = || SecurityError::Write("the body of the message cannot be encrypted".to_owned());
        let body: Vec<u8> = message.body().collect::<Vec<_>>().concat();
        let start = end_of_tag(&body).ok_or_else(malformed)?;
        let name_len = body.iter().position(|byte| b" \t\r\n/>".contains(byte)).ok_or_else(malformed)?;
        let end_tag = [b"</", &body[1..name_len], b">"].concat();
        let (tag, content) = if body[..start].ends_with(b"/>") {
            (&body[..start - 2], &body[..0])
        } else {
            let end = body.len().checked_sub(end_tag.len()).filter(|&end| end >= start).ok_or_else(malformed)?;
            (&body[..start - 1], &body[start..end])
        };
        let data = self.data(ns::ENCRYPTED_CONTENT, std::iter::once(content))?;
        Ok([tag, b">", data.as_bytes(), &end_tag].concat())
    }

    fn data<'p>(&mut self, kind: &str, pieces: impl Iterator<Item = &'p [u8]>) -> Result<String, SecurityError> {
        let cipher = self.cipher.encrypt(&self.key, pieces)?;
        self.parts += 1;
        let mut out = format!(
            "<xenc:EncryptedData xmlns:xenc=\"{xenc}\" Id=\"{DATA_ID}{number}\" Type=\"{kind}\">\
             <xenc:EncryptionMethod Algorithm=\"{algorithm}\"></xenc:EncryptionMethod>\
             <xenc:CipherData><xenc:CipherValue>",
            xenc = ns::XENC,
            number = self.parts,
            algorithm = self.cipher.uri(),
        );
        BASE64_STANDARD.encode_string(cipher, &mut out);
        out.push_str("</xenc:CipherValue></xenc:CipherData></xenc:EncryptedData>");
        Ok(out)
    }

    /// Returns the key, encrypted for a recipient, with the list of what it encrypts. `key_info` is
    /// the content of its `KeyInfo`.
    ///
    /// # Errors
    /// Returns an error if the recipient's key cannot be used.
    pub(crate) fn key(
        &self,
        recipient: &Certificate,
        transport: KeyTransport,
        key_info: &str,
    ) -> Result<String, SecurityError> {
        let (algorithm, digest, mask) = transport.uris();
        let mask = match transport {
            // Its mask has no name.
            KeyTransport::RsaOaepSha1 => String::new(),
            _ => format!("<xenc11:MGF xmlns:xenc11=\"{}\" Algorithm=\"{mask}\"></xenc11:MGF>", ns::XENC11),
        };
        let mut out = format!(
            "<xenc:EncryptedKey xmlns:xenc=\"{xenc}\" Id=\"{KEY_ID}\">\
             <xenc:EncryptionMethod Algorithm=\"{algorithm}\">\
             <ds:DigestMethod xmlns:ds=\"{ds}\" Algorithm=\"{digest}\"></ds:DigestMethod>{mask}</xenc:EncryptionMethod>\
             <ds:KeyInfo xmlns:ds=\"{ds}\">{key_info}</ds:KeyInfo>\
             <xenc:CipherData><xenc:CipherValue>{value}</xenc:CipherValue></xenc:CipherData><xenc:ReferenceList>",
            xenc = ns::XENC,
            ds = ns::DS,
            value = BASE64_STANDARD.encode(recipient.encrypt(transport, &self.key)?),
        );
        for number in 1..=self.parts {
            // Writing into a string cannot fail.
            let _ = write!(out, "<xenc:DataReference URI=\"#{DATA_ID}{number}\"></xenc:DataReference>");
        }
        out.push_str("</xenc:ReferenceList></xenc:EncryptedKey>");
        Ok(out)
    }
}

/// Returns the place after the start tag at the beginning.
fn end_of_tag(element: &[u8]) -> Option<usize> {
    let mut quote = None;
    let end = element.iter().position(|&byte| {
        match (byte, quote) {
            (b'"' | b'\'', None) => quote = Some(byte),
            (byte, Some(open)) if byte == open => quote = None,
            _ => {}
        }
        byte == b'>' && quote.is_none()
    })?;
    Some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_end_outside_of_attributes() {
        for (element, end) in
            [("<a>x", Some(3)), ("<a b='>' c=\">'\">", Some(16)), ("<a/>", Some(4)), ("<a b='>", None)]
        {
            assert_eq!(end_of_tag(element.as_bytes()), end, "{element}");
        }
    }
}
