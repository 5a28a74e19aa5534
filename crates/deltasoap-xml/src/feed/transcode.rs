//! Transcodes other encodings to UTF-8, piece by piece.

use super::detect::{Detected, Encoding};
use super::utf16::Utf16;

/// A decoder in the middle of a document.
#[derive(Debug)]
pub(super) enum Transcoder {
    Utf16(Utf16),
    Latin1,
    Windows1252,
}

impl Transcoder {
    /// Creates the decoder for a document, after its byte order mark; `None` if it is in UTF-8.
    pub(super) fn new(detected: Detected) -> Option<Self> {
        match detected.encoding {
            Encoding::Utf8 => None,
            Encoding::Utf16Be | Encoding::Utf16Le => Some(Transcoder::Utf16(Utf16::new(detected))),
            Encoding::Latin1 => Some(Transcoder::Latin1),
            Encoding::Windows1252 => Some(Transcoder::Windows1252),
        }
    }

    /// Decodes the next bytes and appends their characters. In a single-byte encoding every byte is
    /// valid.
    ///
    /// # Errors
    /// The offset of the malformed bytes; the characters before them have been appended.
    pub(super) fn decode(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), u64> {
        let text = match self {
            Transcoder::Utf16(utf16) => return utf16.decode(bytes, out),
            Transcoder::Latin1 => encoding_rs::mem::decode_latin1(bytes),
            Transcoder::Windows1252 => encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0,
        };
        out.extend_from_slice(text.as_bytes());
        Ok(())
    }

    /// Returns the offset of an unfinished character.
    pub(super) fn unfinished(&self) -> Option<u64> {
        match self {
            Transcoder::Utf16(utf16) => utf16.unfinished(),
            Transcoder::Latin1 | Transcoder::Windows1252 => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(encoding: Encoding, bytes: &[u8]) -> String {
        let mut out = Vec::new();
        let mut transcoder = Transcoder::new(Detected { encoding, mark: false }).unwrap();
        transcoder.decode(bytes, &mut out).unwrap();
        assert_eq!(transcoder.unfinished(), None);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_byte_is_a_character() {
        let all: Vec<u8> = (0..=255).collect();
        let latin: Vec<char> = all.iter().map(|&byte| char::from(byte)).collect();
        assert_eq!(decoded(Encoding::Latin1, &all).chars().collect::<Vec<_>>(), latin);
        let windows: Vec<char> = decoded(Encoding::Windows1252, &all).chars().collect();
        let different: Vec<usize> = (0..256).filter(|&byte| windows[byte] != latin[byte]).collect();
        let holes = [0x81, 0x8D, 0x8F, 0x90, 0x9D];
        assert_eq!(different, (0x80..0xA0).filter(|byte| !holes.contains(byte)).collect::<Vec<_>>());
        assert_eq!((windows[0x80], windows[0x99], windows[0x9F]), ('€', '™', 'Ÿ'));
    }

    #[test]
    fn lengths_are_those_of_the_received_bytes() {
        let bytes: Vec<u8> = (0..=255).collect();
        for encoding in [Encoding::Latin1, Encoding::Windows1252] {
            assert_eq!(encoding.length_of(decoded(encoding, &bytes).as_bytes()), 256);
        }
        let text = "aé漢😀".as_bytes();
        assert_eq!((Encoding::Utf8.length_of(text), Encoding::Utf16Le.length_of(text)), (10, 10));
    }
}
