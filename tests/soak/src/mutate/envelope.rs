//! Changes around the body: headers, declarations, what precedes and follows the envelope.

use crate::markup::Document;
use deltasoap_test_support::Chance;

/// Prefixes used by the changes, each with its namespace.
const PREFIXES: [(&str, &str); 5] = [
    ("xsi", "http://www.w3.org/2001/XMLSchema-instance"),
    ("xsd", "http://www.w3.org/2001/XMLSchema"),
    ("e", "http://schemas.xmlsoap.org/soap/encoding/"),
    ("e12", "http://www.w3.org/2003/05/soap-encoding"),
    ("q", "urn:q"),
];

/// Adds declarations to the message's envelope for all prefixes that changes use, unless they
/// exist.
pub fn with_prefixes(text: &str) -> String {
    let Some(start) = envelope(text) else { return text.to_owned() };
    let end = text[start..].find('>').map_or(text.len(), |end| start + end);
    let name_end = text[start + 1..end].find([' ', '\n', '\t', '\r', '/']).map_or(end, |len| start + 1 + len);
    let tag = &text[start..end];
    let is_missing = |prefix: &str| !tag.contains(&format!("xmlns:{prefix}="));
    let declarations = PREFIXES.iter().filter(|(prefix, _)| is_missing(prefix));
    let declarations: String = declarations.map(|(prefix, uri)| format!(" xmlns:{prefix}='{uri}'")).collect();
    format!("{}{declarations}{}", &text[..name_end], &text[name_end..])
}

/// Returns the position of the root's start tag.
fn envelope(text: &str) -> Option<usize> {
    text.match_indices('<').map(|(at, _)| at).find(|at| text[at + 1..].starts_with(|c: char| c.is_alphabetic()))
}

/// Adds, removes or replaces a header block; inserts something before or after the envelope.
pub fn change(document: &mut Document, chance: &mut Chance) {
    match chance.below(10) {
        8 | 9 => set_encoding(document, chance),
        0..=2 => add_header(document, chance),
        3 => remove_header(document),
        4 => document.0.push_str(chance.word(&["\n", "<!-- end -->", " ", "<?pi?>", "x", "<more/>"])),
        5 if !document.0.starts_with("<?") => document.0.insert_str(0, "<?xml version='1.0' encoding='UTF-8'?>\n"),
        6 if !document.0.starts_with("<?") => document.0.insert_str(0, chance.word(&[" ", "<!-- begin -->", "<?pi?>"])),
        _ => declare(document, chance),
    }
}

fn add_header(document: &mut Document, chance: &mut Chance) {
    let Some(prefix) = prefix(document) else { return };
    let understood = if chance.one_in(4) { format!(" {prefix}mustUnderstand='1'") } else { String::new() };
    let block = format!("<q:h{} at='{}'{understood}>{}</q:h0>", 0, chance.below(20), chance.below(3000));
    match document.0.find(&format!("</{prefix}Header>")) {
        Some(end) => document.0.insert_str(end, &block),
        None => {
            let header = format!("<{prefix}Header>{block}</{prefix}Header>");
            let body = document.0.find(&format!("<{prefix}Body")).unwrap_or(document.0.len());
            document.0.insert_str(body, &header);
        }
    }
}

fn remove_header(document: &mut Document) {
    let Some(prefix) = prefix(document) else { return };
    let close = format!("</{prefix}Header>");
    let (from, to) = (document.0.find(&format!("<{prefix}Header>")), document.0.find(&close));
    if let Some((from, to)) = from.zip(to).filter(|(from, to)| from < to) {
        document.0.replace_range(from..to + close.len(), "");
    }
}

/// Adds a declaration to the envelope.
fn declare(document: &mut Document, chance: &mut Chance) {
    let Some(start) = envelope(&document.0) else { return };
    if let Some(end) = document.0[start..].find([' ', '>']) {
        document.0.insert_str(start + end, &format!(" xmlns:n{}='urn:n'", chance.below(3)));
    }
}

/// Sets or removes SOAP encoding on the envelope or the body.
pub fn set_encoding(document: &mut Document, chance: &mut Chance) {
    const STYLE: &str = "encodingStyle='http://schemas.xmlsoap.org/soap/encoding/'";
    let Some(prefix) = prefix(document) else { return };
    let attribute = format!(" {prefix}{STYLE}");
    if let Some(at) = document.0.find(&attribute) {
        return document.0.replace_range(at..at + attribute.len(), "");
    }
    let name = format!("<{prefix}{}", chance.word(&["Envelope", "Body", "Body"]));
    if let Some(at) = document.0.find(&name) {
        document.0.insert_str(at + name.len(), &attribute);
    }
}

/// Returns the envelope's prefix with its colon.
fn prefix(document: &Document) -> Option<String> {
    let start = envelope(&document.0)?;
    let rest = &document.0[start + 1..];
    rest.find("Envelope").map(|len| rest[..len].to_owned()).filter(|prefix| prefix.is_empty() || prefix.ends_with(':'))
}
