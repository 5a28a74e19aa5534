//! The characters of XML: those allowed in documents, and those allowed in names.

use crate::scan::text::legal_run;

/// Returns true for characters that an XML 1.0 document can contain (production 2, `Char`).
#[inline]
pub fn is_xml_char(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | '\u{20}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..='\u{10FFFF}')
}

/// Returns the byte position of the first character that no XML document can contain, literally or
/// as a reference.
///
/// These are the controls below U+0020 other than tab, line feed and carriage return, and U+FFFE
/// and U+FFFF.
pub fn find_illegal(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = legal_run(bytes);
    while let Some(&byte) = bytes.get(at) {
        let illegal = match byte {
            b'\t' | b'\n' | b'\r' => false,
            0..0x20 => true,
            _ => matches!(bytes[at..], [0xEF, 0xBF, 0xBE | 0xBF, ..]),
        };
        if illegal {
            return Some(at);
        }
        at += 1 + legal_run(&bytes[at + 1..]);
    }
    None
}

/// Returns true for a character that can begin a name (XML 1.0 fifth edition, production 4),
/// including the colon.
pub fn is_name_start(character: char) -> bool {
    matches!(character, ':' | 'A'..='Z' | '_' | 'a'..='z')
        || matches!(character,
            '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}' | '\u{370}'..='\u{37D}'
            | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}' | '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}'
            | '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}' | '\u{10000}'..='\u{EFFFF}')
}

/// Returns true for a character that can occur in a name after the first one (XML 1.0 fifth
/// edition, production 4a).
pub fn is_name_char(character: char) -> bool {
    is_name_start(character)
        || matches!(character,
            '-' | '.' | '0'..='9' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}

/// Returns true for an XML `Name`, with colons anywhere.
///
/// XSD 1.0 refers to the second edition of XML 1.0. This function accepts the names of the fifth
/// edition, which include all of those.
pub fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(is_name_start) && characters.all(is_name_char)
}

/// Returns true for a name without a colon (Namespaces in XML, production 4).
pub fn is_ncname(text: &str) -> bool {
    is_name(text) && !text.contains(':')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_borders_of_char() {
        for legal in ['\t', '\n', '\r', ' ', '\u{7F}', '\u{D7FF}', '\u{E000}', '\u{FFFD}', '\u{10000}', '\u{10FFFF}'] {
            assert!(is_xml_char(legal), "{legal:?}");
        }
        for illegal in ['\0', '\u{8}', '\u{B}', '\u{C}', '\u{E}', '\u{1F}', '\u{FFFE}', '\u{FFFF}'] {
            assert!(!is_xml_char(illegal), "{illegal:?}");
        }
    }

    #[test]
    fn names() {
        for name in ["a", "_", ":", "a:b", "a-b.c1", "\u{e9}t\u{e9}", "\u{4e2d}"] {
            assert!(is_name(name), "{name}");
        }
        for other in ["", "1a", "-a", ".a", "a b", "a/b", "\u{b7}"] {
            assert!(!is_name(other), "{other}");
        }
        assert!(is_ncname("a.b") && !is_ncname("a:b") && !is_ncname(""));
    }

    proptest! {
        #[test]
        fn illegal_as_one_character_at_a_time(text in "[ -~\t\n\r]{0,20}.{0,20}[\u{0}-\u{20}\u{ff00}-\u{ffff}]{0,3}.{0,5}") {
            let naive = text.char_indices().find(|&(_, character)| !is_xml_char(character)).map(|(at, _)| at);
            prop_assert_eq!(find_illegal(&text), naive);
        }
    }
}
