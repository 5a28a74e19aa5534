//! Documentation: converts arbitrary text of the WSDL to rustdoc.

use crate::model::Paragraph;
use proc_macro2::TokenStream;
use quote::quote;

/// Maximum length of a line in characters.
const WIDTH: usize = 110;

/// Renders paragraphs as doc comments.
pub(super) fn docs(paragraphs: &[Paragraph]) -> TokenStream {
    let mut lines = Vec::new();
    for paragraph in paragraphs {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        match paragraph {
            Paragraph::Text(text) => lines.extend(wrapped(&plain(text), WIDTH)),
            Paragraph::Rustdoc(text) => lines.extend(wrapped(text, WIDTH)),
        }
    }
    let shown = |line: String| line.replace(|c: char| c.is_control() || reverses(c), "");
    let lines = lines.into_iter().map(|line| if line.is_empty() { line } else { format!(" {}", shown(line)) });
    quote!(#(#[doc = #lines])*)
}

/// Renders a paragraph by the generator as a doc comment.
pub(super) fn rustdoc(text: impl Into<String>) -> TokenStream {
    docs(&[Paragraph::Rustdoc(text.into())])
}

/// Formats a name or a namespace of the WSDL as inline code for a paragraph by the generator. It
/// can neither end the code nor begin a line with a fence.
pub(super) fn code(name: &str) -> String {
    let escape = |c: char| match c {
        '`' | '~' => format!("%{:02X}", c as u32),
        c if c.is_whitespace() || c.is_control() => "%20".to_owned(),
        c => c.to_string(),
    };
    format!("`{}`", name.chars().map(escape).collect::<String>())
}

/// Escapes text of the WSDL so that it has no special meaning in rustdoc. Blank lines stay.
fn plain(text: &str) -> String {
    with_words(text, word)
}

/// Converts the words of a text. White space between them becomes one space, and blank lines stay.
pub(crate) fn with_words(text: &str, convert: impl Fn(&str) -> String) -> String {
    let mut out: Vec<String> = Vec::new();
    for line in text.lines() {
        let line = line.split_whitespace().map(&convert).collect::<Vec<_>>().join(" ");
        if !(line.is_empty() && out.last().is_none_or(String::is_empty)) {
            out.push(line);
        }
    }
    out.join("\n").trim_end().to_owned()
}

/// Escapes a word; URLs become links.
fn word(word: &str) -> String {
    let is_url = ["http://", "https://"].iter().any(|scheme| word.starts_with(scheme));
    if is_url && word.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '<' | '>' | '`')) {
        let end = word.trim_end_matches(['.', ',', ';', ':', ')', '"', '\'']).len();
        return format!("<{}>{}", &word[..end], &word[end..]);
    }
    let mut out = String::with_capacity(word.len());
    for c in word.chars() {
        if matches!(c, '[' | ']' | '<' | '>' | '`' | '*' | '\\' | '~') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Returns true for characters that change the displayed order of the text after them, or end a
/// line in some editors: they can hide code. The compiler refuses most of them in comments.
pub(crate) fn reverses(c: char) -> bool {
    matches!(c, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Breaks lines that are longer than a number of characters.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut out = String::new();
        for word in line.split_whitespace() {
            if !out.is_empty() && out.chars().count() + word.chars().count() >= width {
                lines.push(std::mem::take(&mut out));
            }
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(word);
        }
        lines.push(out);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_only_words() {
        assert_eq!(
            plain("  see [Foo]\n    <b>`x`\n\n\n at http://a.b/c. "),
            "see \\[Foo\\]\n\\<b\\>\\`x\\`\n\nat <http://a.b/c>."
        );
    }

    #[test]
    fn names_stay_within_their_code() {
        assert_eq!(code("urn:x"), "`urn:x`");
        assert_eq!(code("urn:x`.\n\n```\nevil();\n~~~ y"), "`urn:x%60.%20%20%60%60%60%20evil();%20%7E%7E%7E%20y`");
    }

    #[test]
    fn long_lines_are_broken() {
        let lines = wrapped(&"word ".repeat(50), WIDTH);
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().all(|line| line.len() <= WIDTH));
    }
}
