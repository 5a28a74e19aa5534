//! Prefixes of namespaces, and names that tools accept.

use deltasoap_core::schema::{NamePart, QName};
use deltasoap_core::{lexical, ns};
use std::collections::HashMap;

/// Namespaces whose prefixes are fixed.
const FIXED: [(&str, &str); 3] = [("xsd", ns::XSD), ("xml", ns::XML), ("soapenc", ns::SOAP11_ENCODING)];

/// The prefixes of a document, declared at its root.
#[derive(Debug)]
pub(super) struct Prefixes {
    target: NamePart,
    /// Other namespaces in the order of their first use.
    others: Vec<NamePart>,
    numbers: HashMap<NamePart, usize>,
}

impl Prefixes {
    pub(super) fn new(target: NamePart) -> Self {
        Prefixes { target, others: Vec::new(), numbers: HashMap::new() }
    }

    /// Returns a name with its prefix. Names in no namespace have none: the document declares no
    /// default namespace.
    pub(super) fn qualify(&mut self, name: &QName) -> String {
        let local = &*name.local;
        if name.namespace.is_empty() {
            return local.to_owned();
        }
        if name.namespace == self.target {
            return format!("tns:{local}");
        }
        if let Some((prefix, _)) = FIXED.iter().find(|(_, namespace)| name.namespace == **namespace) {
            return format!("{prefix}:{local}");
        }
        let number = *self.numbers.entry(name.namespace.clone()).or_insert_with(|| {
            self.others.push(name.namespace.clone());
            self.others.len()
        });
        format!("ns{number}:{local}")
    }

    /// Returns the namespace of a prefix that was returned; empty for none.
    pub(super) fn namespace_of(&self, prefix: &str) -> String {
        let declared = self.declarations().into_iter().find(|(declared, _)| declared == prefix);
        declared.map_or_else(|| if prefix == "xml" { ns::XML.to_owned() } else { String::new() }, |(_, found)| found)
    }

    /// Returns the declarations: prefix and namespace.
    pub(super) fn declarations(&self) -> Vec<(String, String)> {
        let fixed = FIXED.iter().filter(|(prefix, _)| *prefix != "xml");
        let fixed = fixed.map(|(prefix, namespace)| ((*prefix).to_owned(), (*namespace).to_owned()));
        let target = ("tns".to_owned(), self.target.to_string());
        let others = (1..).zip(&self.others).map(|(number, other)| (format!("ns{number}"), other.to_string()));
        fixed.chain([target]).chain(others).collect()
    }
}

/// Returns a text as a name without a prefix: words are joined, other characters become `_`.
pub(super) fn ncname(text: &str) -> String {
    let is_name = |text: &str| lexical::QName::expanded("", text).is_some();
    let capitalized = |word: &str| {
        let mut chars = word.chars();
        chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
    };
    if is_name(text) {
        return text.to_owned();
    }
    let joined: String = text.split_whitespace().map(capitalized).collect();
    let fits = |c: char| if is_name(&format!("_{c}")) { c } else { '_' };
    let name: String = joined.chars().map(fits).collect();
    if is_name(&name) { name } else { format!("_{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_becomes_a_name() {
        for (text, name) in
            [("SOAP service", "SOAPService"), ("a", "a"), ("a: b/c", "A_B_c"), ("1st", "_1st"), ("", "_")]
        {
            assert_eq!(ncname(text), name, "{text}");
        }
    }
}
