//! Text of others in log lines.

use std::borrow::Cow;

/// Maximum length of a name or a path in a log line, in characters.
const LENGTH: usize = 128;

/// Returns a text that others chose, such as a name or a path, as it may be logged: with control
/// characters escaped, so that it cannot imitate another line, and with at most [`LENGTH`]
/// characters.
pub(crate) fn bounded(text: &str) -> Cow<'_, str> {
    bounded_to(text, LENGTH)
}

/// As [`bounded`], with at most `length` characters.
pub(crate) fn bounded_to(text: &str, length: usize) -> Cow<'_, str> {
    let is_plain = |c: char| !c.is_control() && !is_invisible(c);
    if text.len() <= length && text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(length);
    for (count, c) in text.chars().enumerate() {
        if count == length {
            shown.push('…');
            break;
        }
        if is_plain(c) { shown.push(c) } else { shown.extend(c.escape_unicode()) }
    }
    Cow::Owned(shown)
}

/// Returns true for separators of lines and marks that change the direction of text.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_cannot_be_imitated() {
        assert_eq!(bounded("Größe/[x]"), "Größe/[x]");
        assert_eq!(bounded("a\r\nINFO b\u{1b}[31m\u{2028}"), "a\\u{d}\\u{a}INFO b\\u{1b}[31m\\u{2028}");
    }

    #[test]
    fn texts_have_a_greatest_length() {
        let long = "ä".repeat(LENGTH + 1);
        assert_eq!(bounded(&long), format!("{}…", "ä".repeat(LENGTH)));
        assert_eq!(bounded(&long[2..]), &long[2..]);
        let hostile = "\n".repeat(1 << 20);
        assert!(bounded(&hostile).len() < 1000);
    }
}
