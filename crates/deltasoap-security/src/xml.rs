//! Texts and attribute values in canonical form.

use deltasoap_xml::{Buffer, Escape};

/// Returns a text with its special characters escaped.
pub(crate) fn text(text: &str) -> String {
    escaped(text, Escape::Text)
}

/// Returns an attribute value with its special characters escaped, without quotes.
pub(crate) fn attribute(value: &str) -> String {
    escaped(value, Escape::Attribute)
}

fn escaped(text: &str, escape: Escape) -> String {
    let mut out = Buffer::new();
    out.push_text(text, escape);
    String::from_utf8(out.into_vec()).unwrap_or_default()
}
