//! References: decimal, hexadecimal, and the five predefined entities.

use super::tag::scan_name;
use super::token_error::{TokenError, fault, over_limit};
use crate::XmlErrorKind;
use crate::chars::{expected, is_xml_char};

/// Reads the reference whose `&` is at `at`; returns its character and the index after its `;`.
pub(crate) fn read(bytes: &[u8], at: usize, limit: usize) -> Result<(char, usize), TokenError> {
    match bytes.get(at + 1) {
        None => Err(TokenError::Incomplete),
        Some(b'#') => character(bytes, at, limit),
        Some(_) => entity(bytes, at, limit),
    }
}

fn entity(bytes: &[u8], at: usize, limit: usize) -> Result<(char, usize), TokenError> {
    let end = scan_name(bytes, at + 1, limit, "an entity name or `#` after `&`")?;
    let end = semicolon(bytes, end)?;
    match &bytes[at + 1..end - 1] {
        b"lt" => Ok(('<', end)),
        b"gt" => Ok(('>', end)),
        b"amp" => Ok(('&', end)),
        b"quot" => Ok(('"', end)),
        b"apos" => Ok(('\'', end)),
        name => Err(fault(at, XmlErrorKind::UndeclaredEntity { name: String::from_utf8_lossy(name).into_owned() })),
    }
}

fn character(bytes: &[u8], at: usize, limit: usize) -> Result<(char, usize), TokenError> {
    let (radix, digits) = match bytes.get(at + 2) {
        Some(b'x') => (16, at + 3),
        _ => (10, at + 2),
    };
    let end = bytes[digits..].iter().position(|&b| !char::from(b).is_digit(radix));
    let length = end.unwrap_or(bytes.len() - digits) + digits - at - 1;
    if length > limit {
        return Err(over_limit(at + 1 + limit, "name", limit));
    }
    let end = digits + end.ok_or(TokenError::Incomplete)?;
    if end == digits {
        return Err(expected(bytes, end, "a digit in a character reference"));
    }
    let end = semicolon(bytes, end)?;
    let value = number(&bytes[digits..end - 1], radix);
    match char::from_u32(value).filter(|&c| is_xml_char(c)) {
        Some(c) => Ok((c, end)),
        None => Err(bad_character(&bytes[at + 1..end - 1], at)),
    }
}

/// Returns the value of ASCII digits; any value beyond Unicode stays beyond Unicode.
fn number(digits: &[u8], radix: u32) -> u32 {
    let digit = |&b: &u8| char::from(b).to_digit(radix).unwrap_or(0);
    digits.iter().map(digit).fold(0, |value: u32, digit| value.saturating_mul(radix).saturating_add(digit))
}

fn semicolon(bytes: &[u8], at: usize) -> Result<usize, TokenError> {
    match bytes.get(at) {
        Some(b';') => Ok(at + 1),
        None => Err(TokenError::Incomplete),
        Some(_) => Err(expected(bytes, at, "`;` at the end of a reference")),
    }
}

#[cold]
fn bad_character(reference: &[u8], at: usize) -> TokenError {
    let reference = String::from_utf8_lossy(reference).into_owned();
    fault(at, XmlErrorKind::CharacterReference { reference })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> (usize, XmlErrorKind) {
        match read(text.as_bytes(), 0, 20) {
            Err(TokenError::Fault { at, kind }) => (at, *kind),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn references_stand_for_characters() {
        for (text, c) in
            [("&lt;", '<'), ("&apos;", '\''), ("&#65;", 'A'), ("&#x10FFFF;", '\u{10FFFF}'), ("&#0065;", 'A')]
        {
            assert_eq!(read(text.as_bytes(), 0, 20).unwrap(), (c, text.len()), "{text}");
        }
    }

    #[test]
    fn what_is_no_xml_character_is_refused() {
        for text in ["&#0;", "&#x1F;", "&#xD800;", "&#xFFFE;", "&#x110000;", "&#99999999999999999;"] {
            assert_eq!(kind(text), (0, bad(text)), "{text}");
        }
        fn bad(text: &str) -> XmlErrorKind {
            XmlErrorKind::CharacterReference { reference: text[1..text.len() - 1].to_owned() }
        }
    }

    #[test]
    fn faults_lie_where_the_grammar_breaks() {
        assert_eq!(kind("&nbsp;"), (0, XmlErrorKind::UndeclaredEntity { name: "nbsp".into() }));
        for (text, at) in [("& ", 1), ("&lt ", 3), ("&#;", 2), ("&#x;", 3), ("&#X41;", 2), ("&#6a;", 3), ("&;", 1)] {
            assert_eq!(kind(text).0, at, "{text}");
        }
        assert_eq!(kind("&#0000000000000000000065;"), (21, XmlErrorKind::Limit { name: "name", limit: 20 }));
        assert!(matches!(read(b"&#6", 0, 20), Err(TokenError::Incomplete)));
    }
}
