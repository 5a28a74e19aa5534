//! Output for people: standard output, standard error, and errors with their causes.
//!
//! WSDLs, messages and faults are untrusted. Characters in them that would control a terminal (ANSI
//! escapes, a lone carriage return, marks that reverse the direction of text) are shown as
//! `\u001b`, which means the same in JSON. XML has character references for them.

use anyhow::Result;
use serde_json::Value as Json;
use std::borrow::Cow;
use std::error::Error;
use std::fmt::Display;
use std::io::{self, BufWriter, Write};

/// Prints a line. The reader may have closed the pipe, as `head` does: that is an error here, but
/// not a failure of the command.
pub fn print_line(line: impl Display) -> Result<()> {
    Ok(writeln!(stdout(), "{line}")?)
}

/// Prints JSON with indentation, incrementally since it may be large.
pub fn print_json(json: &Json) -> Result<()> {
    let mut out = Screen(BufWriter::new(exact_stdout().lock()));
    serde_json::to_writer_pretty(&mut out, json).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(out.flush()?)
}

/// Prints JSON for programs: one line per value, flushed at once.
pub fn print_json_lines(values: &[Json]) -> Result<()> {
    let mut out = Screen(BufWriter::new(exact_stdout().lock()));
    for value in values {
        serde_json::to_writer(&mut out, value).map_err(io::Error::from)?;
        writeln!(out)?;
    }
    Ok(out.flush()?)
}

/// Prints a message. Characters that would control a terminal become character references; they
/// occur only in values.
pub fn print_xml(xml: &[u8]) -> Result<()> {
    let text = String::from_utf8_lossy(xml);
    Ok(writeln!(exact_stdout(), "{}", escaped(&text, |c| format!("&#x{:X};", c as u32)))?)
}

/// Reports an error or a warning on standard error. Further lines are indented, so that none can
/// pass for another error.
pub fn report(line: impl Display) {
    let text = line.to_string().replace('\n', "\n  ");
    // If standard error is closed, there is nowhere to report it.
    let _ = writeln!(stderr(), "{text}");
}

/// Returns a text as one line.
pub fn one_line(text: &str) -> String {
    text.replace('\n', "\\u000a")
}

/// Returns an error with its causes.
pub fn with_causes(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Returns standard output, for text.
pub fn stdout() -> impl Write {
    Screen(exact_stdout())
}

/// Returns standard error, for text.
pub fn stderr() -> impl Write {
    #[expect(clippy::disallowed_methods, reason = "what is written is escaped")]
    Screen(io::stderr())
}

/// Returns standard output without escaping: nothing written to it is untrusted, or it was escaped
/// before.
#[expect(clippy::disallowed_methods, reason = "the one place")]
pub fn exact_stdout() -> io::Stdout {
    io::stdout()
}

/// A writer that escapes text for terminals.
struct Screen<W>(W);

impl<W: Write> Write for Screen<W> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        // Formatting writes whole characters.
        let shown = escaped(&String::from_utf8_lossy(text), |c| format!("\\u{:04x}", c as u32)).into_owned();
        self.0.write_all(shown.as_bytes())?;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Escapes the characters of a text that would control a terminal.
fn escaped(text: &str, escape: impl Fn(char) -> String) -> Cow<'_, str> {
    if !text.contains(controls) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let ends_line = c == '\r' && rest.peek() == Some(&'\n');
        if controls(c) && !ends_line {
            out.push_str(&escape(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Returns true for characters that control a terminal: it would obey them, or show text in a
/// different order.
fn controls(c: char) -> bool {
    // All characters with the property `Bidi_Control`. The marks U+061C, U+200E and U+200F do not
    // reorder letters, but digits and punctuation next to them.
    let reverses =
        matches!(c, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    let ends_line = matches!(c, '\u{2028}' | '\u{2029}');
    reverses || ends_line || c.is_control() && !matches!(c, '\n' | '\t')
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    #[test]
    fn causes_follow_the_error() {
        let error = anyhow!("no entry").context("no file").context("no WSDL");
        assert_eq!(with_causes(error.as_ref()), "no WSDL: no file: no entry");
    }

    fn screen(text: &str) -> String {
        let mut screen = Screen(Vec::new());
        write!(screen, "{text}").expect("no error");
        String::from_utf8(screen.0).expect("UTF-8")
    }

    #[test]
    fn nothing_controls_the_terminal() {
        assert_eq!(screen("\u{1b}]0;x\u{7}\u{9b}2J\u{7f}"), r"\u001b]0;x\u0007\u009b2J\u007f");
        assert_eq!(screen("one\r\ntwo\rthree\n\tfour"), "one\r\ntwo\\u000dthree\n\tfour");
        assert_eq!(screen("\u{202e}lave\u{2066}"), r"\u202elave\u2066");
        assert_eq!(screen("a\u{2028}b"), r"a\u2028b");
        assert_eq!(screen("1\u{200f}-\u{200e}2\u{61c}"), r"1\u200f-\u200e2\u061c");
        assert_eq!(screen("Größe: 7 \u{5d0}"), "Größe: 7 \u{5d0}");
    }

    #[test]
    fn escaped_json_is_the_same_json() {
        let json = serde_json::json!({ "a\u{9b}": "\u{1b}[2J\u{7f}\u{202e}\r" });
        let shown = screen(&json.to_string());
        assert!(!shown.contains(controls), "{shown}");
        assert_eq!(serde_json::from_str::<Json>(&shown).expect("JSON"), json);
    }
}
