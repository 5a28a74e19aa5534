//! Document type declarations: finds where one ends, so that it can be skipped.
//!
//! Schemas of the W3C, and schemas derived from them, have one. Its content is not used: references
//! to its entities are still errors of the reader, attributes get no defaults, and the external
//! subset is not read. An HTML page is not accepted.

use std::ops::Range;

/// Returns the document type declaration of a document in UTF-8; `None` if there is none, if it
/// does not end, or if the document is HTML.
pub(super) fn find(document: &[u8]) -> Option<Range<usize>> {
    let start = skip_prolog(document)?;
    let name = document[start..].strip_prefix(b"<!DOCTYPE")?.trim_ascii_start();
    let is_page = name.len() >= 4 && name[..4].eq_ignore_ascii_case(b"html");
    Some(start..end(document, start)?).filter(|_| !is_page)
}

/// Replaces a skipped part by spaces, keeping line breaks.
pub(super) fn blank(bytes: &mut [u8]) {
    bytes.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
}

/// Returns the offset after the XML declaration, white space, comments and processing instructions.
fn skip_prolog(document: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += document[at..].len() - document[at..].trim_ascii_start().len();
        let rest = &document[at..];
        at += match rest {
            [b'<', b'?', ..] => after(rest, b"?>")?,
            [b'<', b'!', b'-', b'-', ..] => after(rest, b"-->")?,
            _ => return Some(at),
        };
    }
}

/// Returns the offset after the declaration that starts at `start`: after the `>` that is in no
/// literal, comment, processing instruction or inner declaration.
fn end(document: &[u8], start: usize) -> Option<usize> {
    let (mut at, mut depth) = (start + 2, 1_usize);
    while depth > 0 {
        let rest = &document[at..];
        at += match rest {
            [b'<', b'?', ..] => after(rest, b"?>")?,
            [b'<', b'!', b'-', b'-', ..] => after(rest, b"-->")?,
            [quote @ (b'"' | b'\''), inner @ ..] => memchr::memchr(*quote, inner)? + 2,
            [byte, ..] => {
                match byte {
                    b'<' => depth += 1,
                    b'>' => depth -= 1,
                    _ => {}
                }
                1
            }
            [] => return None,
        };
    }
    Some(at)
}

/// Returns the length of `text` up to the end of `mark`.
fn after(text: &[u8], mark: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, mark).map(|at| at + mark.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(document: &str) -> Option<&str> {
        find(document.as_bytes()).map(|range| &document[range])
    }

    #[test]
    fn declarations_end_where_xml_says() {
        for doctype in [
            "<!DOCTYPE s>",
            "<!DOCTYPE s PUBLIC \"a>b\" 'c>d'>",
            "<!DOCTYPE s [<!ENTITY e \"]>\"><!-- ' > ]> --><?p \" > ?><!ATTLIST s a CDATA #FIXED 'x'> %p; ] >",
        ] {
            let document = format!("<?xml version='1.0'?>\n<!-- <!DOCTYPE no> -->{doctype}<s>&lt;!DOCTYPE t></s>");
            assert_eq!(found(&document), Some(doctype));
        }
    }

    #[test]
    fn what_does_not_end_or_is_a_page_is_none() {
        for document in
            ["<s/>", "", "<!DOCTYPE s [", "<!DOCTYPE s '>", "<!DOCTYPE HTML><html/>", "<s/><!DOCTYPE s>", "<!--"]
        {
            assert_eq!(found(document), None, "{document}");
        }
    }
}
