//! An element of the document, as a small tree.

use super::super::escaped;
use std::borrow::Cow;
use std::fmt::Write;

/// An element with attributes, and either text or child elements.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tag {
    name: &'static str,
    attributes: Vec<(Cow<'static, str>, String)>,
    text: String,
    children: Vec<Tag>,
}

impl Tag {
    pub(super) fn new(name: &'static str) -> Self {
        Tag { name, attributes: Vec::new(), text: String::new(), children: Vec::new() }
    }

    /// Adds an attribute.
    pub(super) fn with(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<String>) -> Self {
        self.attributes.push((name.into(), value.into()));
        self
    }

    /// Adds an attribute if there is a value.
    pub(super) fn with_some(self, name: &'static str, value: Option<impl Into<String>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    pub(super) fn add(mut self, child: Tag) -> Self {
        self.children.push(child);
        self
    }

    pub(super) fn add_all(mut self, children: impl IntoIterator<Item = Tag>) -> Self {
        self.children.extend(children);
        self
    }

    pub(super) fn containing(mut self, text: &str) -> Self {
        text.clone_into(&mut self.text);
        self
    }

    /// Calls a function for the tag and all tags within, at any depth.
    pub(super) fn each(&mut self, change: &mut impl FnMut(&mut Tag)) {
        change(self);
        self.children.iter_mut().for_each(|child| child.each(change));
    }

    /// Returns the form of a local element, if this is one.
    pub(super) fn element_form(&self) -> Option<&str> {
        self.attribute("form").filter(|_| self.is("xsd:element"))
    }

    pub(super) fn is(&self, name: &str) -> bool {
        self.name == name
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn children(&self) -> &[Tag] {
        &self.children
    }

    /// Removes the tag at a path: an index at each depth.
    pub(super) fn remove_at(&mut self, path: &[usize]) {
        match path {
            [] => {}
            [index] => drop(self.children.remove(*index)),
            [index, rest @ ..] => self.children[*index].remove_at(rest),
        }
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.attributes.retain(|(other, _)| other != name);
    }

    /// Returns the element as a document.
    pub(super) fn into_document(self) -> String {
        let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
        self.write(&mut out, 0);
        out
    }

    fn write(&self, out: &mut String, depth: usize) {
        let Tag { name, attributes, text, children } = self;
        let indent = "  ".repeat(depth);
        *out += &format!("{indent}<{name}");
        for (attribute, value) in attributes {
            let _ = write!(out, " {attribute}=\"{}\"", escaped(&without_forbidden(value)));
        }
        if text.is_empty() && children.is_empty() {
            *out += "/>\n";
            return;
        }
        *out += ">";
        *out += &escaped(&without_forbidden(text));
        if !children.is_empty() {
            *out += "\n";
            children.iter().for_each(|child| child.write(out, depth + 1));
            *out += &indent;
        }
        let _ = writeln!(out, "</{name}>");
    }
}

/// Removes the characters that no XML document can contain (XML 1.0, production 2).
fn without_forbidden(text: &str) -> String {
    let is_allowed = |c: &char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{FFFD}' | '\u{10000}'..);
    text.chars().filter(is_allowed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_attributes_are_escaped() {
        let tag = Tag::new("a").with("b", "<\"&\u{1}").add(Tag::new("c").containing("x < y\u{0}"));
        let document = tag.into_document();
        let expected = "<a b=\"&lt;&quot;&amp;\">\n  <c>x &lt; y</c>\n</a>\n";
        assert_eq!(document.split_once('\n').map(|(_, rest)| rest), Some(expected));
    }
}
