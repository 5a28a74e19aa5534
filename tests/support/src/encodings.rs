//! Documents in other encodings than UTF-8.

/// Encodes text in UTF-16, with a byte order mark.
pub fn utf16(text: &str, is_big: bool) -> Vec<u8> {
    let unit = |unit: u16| if is_big { unit.to_be_bytes() } else { unit.to_le_bytes() };
    std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(unit).collect()
}

/// Encodes text in ISO-8859-1, with question marks for characters that it lacks.
pub fn latin_1(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_have_their_codes() {
        assert_eq!(utf16("é", true), [0xFE, 0xFF, 0, 0xE9]);
        assert_eq!(utf16("😀", false), [0xFF, 0xFE, 0x3D, 0xD8, 0, 0xDE]);
        assert_eq!(latin_1("aé漢"), b"a\xE9?");
    }
}
