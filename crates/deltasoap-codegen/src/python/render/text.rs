//! Text of the WSDL in Python: documentation and strings.
//!
//! Nothing of a WSDL reaches the output except as part of an identifier, in a string, or in a
//! comment.

use crate::render::docs::{reverses, with_words, wrapped};

/// Maximum length of a line of documentation in characters.
const WIDTH: usize = 96;

/// A piece of the module under construction.
#[derive(Default)]
pub(super) struct Lines(String);

impl Lines {
    pub(super) fn add(&mut self, indent: usize, line: impl AsRef<str>) {
        self.0.push_str(&"    ".repeat(indent));
        self.0.push_str(line.as_ref());
        self.0.push('\n');
    }

    pub(super) fn blank(&mut self) {
        self.0.push('\n');
    }

    /// Adds a docstring, if there are paragraphs.
    pub(super) fn docstring(&mut self, indent: usize, docs: &[String]) {
        let lines = lines(docs, WIDTH - 4 * indent);
        match &lines[..] {
            [] => {}
            [line] => self.add(indent, format!("\"\"\"{}\"\"\"", closed(line))),
            [first, others @ ..] => {
                self.add(indent, format!("\"\"\"{first}"));
                others.iter().for_each(|line| if line.is_empty() { self.blank() } else { self.add(indent, line) });
                self.add(indent, "\"\"\"");
            }
        }
    }

    /// Adds comments, if there are paragraphs.
    pub(super) fn comment(&mut self, indent: usize, docs: &[String]) {
        lines(docs, WIDTH - 4 * indent).iter().for_each(|line| self.add(indent, format!("# {line}").trim_end()));
    }

    pub(super) fn text(self) -> String {
        self.0
    }
}

/// Returns the lines of a docstring, escaped.
fn lines(docs: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in docs {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(wrapped(&with_words(paragraph, escaped), width));
    }
    let start = lines.iter().take_while(|line| line.is_empty()).count();
    lines.drain(..start);
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// Escapes a word of a docstring.
fn escaped(word: &str) -> String {
    let word: String = word.chars().filter(|&c| !c.is_control() && !reverses(c)).collect();
    word.replace('\\', "\\\\").replace("\"\"\"", "\\\"\\\"\\\"")
}

/// Escapes a quotation mark that would be one of those at the end.
fn closed(line: &str) -> String {
    let Some(rest) = line.strip_suffix('"') else { return line.to_owned() };
    let backslashes = rest.len() - rest.trim_end_matches('\\').len();
    if backslashes % 2 == 0 { format!("{rest}\\\"") } else { line.to_owned() }
}

/// Returns a string literal.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || reverses(c) || (c.is_whitespace() && c != ' ') => {
                out.push_str(&format!("\\u{:04x}", c as u32));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn docstring(text: &str) -> String {
        let mut lines = Lines::default();
        lines.docstring(0, &[text.to_owned()]);
        lines.text()
    }

    #[test]
    fn documentation_cannot_end_its_docstring() {
        assert_eq!(docstring("say \"x\""), "\"\"\"say \"x\\\"\"\"\"\n");
        assert_eq!(docstring("a\"\"\"b \\"), "\"\"\"a\\\"\\\"\\\"b \\\\\"\"\"\n");
        assert_eq!(docstring("\\\""), "\"\"\"\\\\\\\"\"\"\"\n");
        assert_eq!(docstring("a\n\n b\u{202E}c "), "\"\"\"a\n\nbc\n\"\"\"\n");
        assert_eq!(docstring("\u{202E}"), "");
    }

    #[test]
    fn strings_are_one_literal() {
        assert_eq!(quoted("a\"\\\n\u{202E}\u{1}é"), "\"a\\\"\\\\\\n\\u202e\\u0001é\"");
    }
}
