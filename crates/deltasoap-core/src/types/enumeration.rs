//! Enumerated values (XSD 1.0 part 2, 4.3.5): what all enumerations share.

use crate::lexical::LexicalError;

/// Looks a text up as it stands, then with its white space collapsed.
///
/// # Errors
/// When neither is one of the values that `find` knows.
pub fn parse<T>(text: &str, name: &'static str, find: impl Fn(&str) -> Option<T>) -> Result<T, LexicalError> {
    let unknown = LexicalError { expected: name, reason: "not one of the enumerated values" };
    find(text).or_else(|| find(&collapse(text))).ok_or(unknown)
}

/// Looks up the text that ends at the first `<`; `None` if none of the first `longest + 1` bytes is one.
#[inline]
pub fn scan<T>(bytes: &[u8], longest: usize, find: impl Fn(&[u8]) -> Option<T>) -> Option<(T, usize)> {
    let end = bytes.iter().take(longest + 1).position(|&byte| byte == b'<')?;
    Some((find(&bytes[..end])?, end))
}

fn collapse(text: &str) -> String {
    text.split([' ', '\t', '\n', '\r']).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [&str; 4] = ["red", "dark blue", " spaced ", ""];

    fn find(text: &str) -> Option<usize> {
        VALUES.iter().position(|value| *value == text)
    }

    #[test]
    fn values_are_found_as_they_stand_or_collapsed() {
        let texts = [("red", 0), (" red\n", 0), ("dark \t blue", 1), (" spaced ", 2), ("", 3), ("\r\n", 3)];
        for (text, value) in texts {
            assert_eq!(parse(text, "Color", find), Ok(value), "{text:?}");
        }
        for text in ["Red", "redd", "re d", "spaced", "darkblue"] {
            assert_eq!(parse(text, "Color", find).map_err(|error| error.expected), Err("Color"), "{text:?}");
        }
    }

    #[test]
    fn scan_stops_at_the_tag_and_at_the_longest_value() {
        let scan = |bytes: &[u8]| scan(bytes, 3, |text| (text == b"red").then_some(()));
        assert_eq!(scan(b"red</c>"), Some(((), 3)));
        for bytes in [&b"red"[..], b"redd<", b" red<", b"re<", b"<", b""] {
            assert_eq!(scan(bytes), None);
        }
    }
}
