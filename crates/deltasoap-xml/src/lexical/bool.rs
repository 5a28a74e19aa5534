//! `boolean`: `true`, `false`, `1` and `0`.

use super::{Image, Lexical, LexicalError, WhiteSpace, space};
use crate::{Buffer, Escape};

impl Lexical for bool {
    const XSD_NAME: &'static str = "boolean";
    const WHITE_SPACE: WhiteSpace = WhiteSpace::Collapse;
    const MAX_WIDTH: Option<usize> = Some(5);

    fn vacant() -> Self {
        false
    }

    fn parse(text: &str) -> Result<Self, LexicalError> {
        match space::trim(text) {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(LexicalError::new::<Self>("neither true, false, 1 nor 0")),
        }
    }

    #[inline]
    fn scan(bytes: &[u8]) -> Option<(Self, usize)> {
        match bytes {
            [b't', b'r', b'u', b'e', b'<', ..] => Some((true, 4)),
            [b'f', b'a', b'l', b's', b'e', b'<', ..] => Some((false, 5)),
            [digit @ (b'0' | b'1'), b'<', ..] => Some((*digit == b'1', 1)),
            _ => None,
        }
    }

    #[inline]
    fn format(&self, out: &mut Buffer, _: Escape) {
        if *self { out.push_block(b"true    ", 4) } else { out.push_block(b"false   ", 5) }
    }

    const IMAGE: Image = Image::BOOLEAN;

    #[inline(always)]
    fn image(&self) -> [u8; 8] {
        u64::from(*self).to_le_bytes()
    }

    #[inline(always)]
    fn from_image(image: [u8; 8]) -> Option<Self> {
        Some(image[0] != 0)
    }
}

#[cfg(test)]
mod tests {
    use crate::lexical::testing::{assert_invalid, assert_valid};

    #[test]
    fn forms() {
        assert_valid(&[("true", true), ("1", true), (" true\n", true), ("false", false), ("0", false)]);
        assert_invalid::<bool>(&["", " ", "TRUE", "True", "2", "01", "tru", "truee", "true false", "yes"]);
    }
}
