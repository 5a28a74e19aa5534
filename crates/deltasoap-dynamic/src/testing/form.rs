//! How a message is written: forms of XML that mean the same.
//!
//! The tree of an envelope is written with other prefixes, with CDATA or with character references;
//! a receiver must not notice (XML 1.0; Namespaces in XML 1.0; SOAP 1.1, section 3). Processing
//! instructions and DTDs are not among the forms, because SOAP forbids them.

use deltasoap_core::{Child, Node, ns};
use std::fmt;

/// A form of XML, or of its transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Form {
    /// Prefixes as most toolkits choose them.
    #[default]
    Plain,
    /// Every element in the default namespace, without prefixes.
    DefaultNamespace,
    /// One prefix that means something else in each element.
    Redeclared,
    /// Prefixes with dots, hyphens and letters beyond ASCII.
    OddPrefixes,
    /// Comments between elements.
    Comments,
    /// A comment in the middle of each text.
    CommentsInText,
    /// Text in CDATA sections.
    Cdata,
    /// Every character of text as a reference.
    References,
    /// White space between elements and in tags.
    Indented,
    /// Attributes in single quotes.
    SingleQuotes,
    /// An XML declaration, and empty elements with an end tag.
    Declaration,
    /// A mark of the byte order before the first tag.
    ByteOrderMark,
    /// A body of chunks, without its length.
    Chunked,
    /// UTF-16, low byte first.
    Utf16,
}

impl Form {
    /// The forms that every service has to read.
    pub const COMMON: [Form; 12] = [
        Form::DefaultNamespace,
        Form::Redeclared,
        Form::OddPrefixes,
        Form::Comments,
        Form::CommentsInText,
        Form::Cdata,
        Form::References,
        Form::Indented,
        Form::SingleQuotes,
        Form::Declaration,
        Form::ByteOrderMark,
        Form::Chunked,
    ];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Form::Plain => "plain",
            Form::DefaultNamespace => "default-namespace",
            Form::Redeclared => "redeclared",
            Form::OddPrefixes => "odd-prefixes",
            Form::Comments => "comments",
            Form::CommentsInText => "comments-in-text",
            Form::Cdata => "cdata",
            Form::References => "references",
            Form::Indented => "indented",
            Form::SingleQuotes => "single-quotes",
            Form::Declaration => "declaration",
            Form::ByteOrderMark => "byte-order-mark",
            Form::Chunked => "chunked",
            Form::Utf16 => "utf-16",
        }
    }

    /// Returns the form with a name.
    pub fn named(name: &str) -> Option<Form> {
        Form::COMMON.into_iter().chain([Form::Plain, Form::Utf16]).find(|form| form.name() == name)
    }

    /// Returns the charset that the content type names.
    pub fn charset(self) -> &'static str {
        if self == Form::Utf16 { "utf-16" } else { "utf-8" }
    }

    /// Writes a document in this form.
    pub(super) fn write(self, root: &Node) -> Vec<u8> {
        let mut writer = Writer { form: self, out: String::new(), scope: Vec::new(), made: 0 };
        match self {
            Form::ByteOrderMark => writer.out.push('\u{feff}'),
            Form::Declaration => writer.out.push_str("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"),
            Form::Comments => writer.out.push_str("<!-- a comment -->"),
            _ => {}
        }
        writer.element(root, 0);
        match self {
            Form::Utf16 => {
                let mark = [0xFF, 0xFE];
                mark.into_iter().chain(writer.out.encode_utf16().flat_map(u16::to_le_bytes)).collect()
            }
            _ => writer.out.into_bytes(),
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Form::Plain => "plain",
            Form::DefaultNamespace => "default namespaces instead of prefixes",
            Form::Redeclared => "one prefix for all namespaces",
            Form::OddPrefixes => "unusual prefixes",
            Form::Comments => "comments between elements",
            Form::CommentsInText => "comments within text",
            Form::Cdata => "text in CDATA sections",
            Form::References => "text as character references",
            Form::Indented => "white space between elements",
            Form::SingleQuotes => "attributes in single quotes",
            Form::Declaration => "an XML declaration",
            Form::ByteOrderMark => "a byte order mark",
            Form::Chunked => "chunked transfer",
            Form::Utf16 => "UTF-16",
        })
    }
}

struct Writer {
    form: Form,
    out: String,
    /// The prefixes in scope with their namespaces, innermost last. The prefix of the default
    /// namespace is empty.
    scope: Vec<(String, String)>,
    /// Number of prefixes made.
    made: usize,
}

impl Writer {
    fn element(&mut self, node: &Node, depth: usize) {
        let outer = self.scope.len();
        let mut declared = String::new();
        for (prefix, namespace) in node.bindings.iter() {
            let is_known = self.resolved(prefix) == Some(namespace.as_str());
            if !prefix.is_empty() && !is_known && uses(node, prefix) {
                self.declare(prefix.to_string(), namespace, &mut declared);
            }
        }
        let tag = self.tag(node, &mut declared);
        let attributes = node.attributes.iter().map(|(name, value)| {
            let prefix = self.prefix_of_attribute(&name.namespace, &mut declared);
            (if prefix.is_empty() { name.local.to_string() } else { format!("{prefix}:{}", name.local) }, value)
        });
        let attributes: Vec<_> = attributes.collect();
        self.out.push('<');
        self.out.push_str(&tag);
        self.out.push_str(&declared);
        let quote = self.quote();
        for (name, value) in attributes {
            self.out.push_str(if self.form == Form::Indented { "\n  " } else { " " });
            self.out.push_str(&name);
            self.out.push_str(if self.form == Form::Indented { " = " } else { "=" });
            self.out.push(quote);
            self.attribute_text(value);
            self.out.push(quote);
        }
        self.content(node, &tag, depth);
        self.scope.truncate(outer);
    }

    fn content(&mut self, node: &Node, tag: &str, depth: usize) {
        if node.children.is_empty() && self.form != Form::Declaration {
            self.out.push_str("/>");
            return;
        }
        self.out.push('>');
        let is_apart = node.children.iter().all(|child| matches!(child, Child::Element(_)));
        for child in &node.children {
            if is_apart {
                self.between(depth + 1);
            }
            match child {
                Child::Element(child) => self.element(child, depth + 1),
                Child::Text(text) => self.text(text),
            }
        }
        if is_apart && !node.children.is_empty() {
            self.between(depth);
        }
        self.out.push_str("</");
        self.out.push_str(tag);
        self.out.push_str(if self.form == Form::Indented { " >" } else { ">" });
    }

    /// Writes what may stand between elements.
    fn between(&mut self, depth: usize) {
        match self.form {
            Form::Comments => self.out.push_str("<!-- <a> & -->"),
            Form::Indented => {
                self.out.push_str("\r\n");
                self.out.extend(std::iter::repeat_n("\t", depth));
            }
            _ => {}
        }
    }

    /// Returns the name of an element as it is written, and declares its prefix if it is not.
    fn tag(&mut self, node: &Node, declared: &mut String) -> String {
        let (namespace, local) = (&*node.name.namespace, &*node.name.local);
        if namespace.is_empty() || self.form == Form::DefaultNamespace {
            if self.resolved("").unwrap_or_default() != namespace {
                self.declare(String::new(), namespace, declared);
            }
            return local.to_owned();
        }
        if self.form == Form::Redeclared {
            const PREFIX: &str = "same";
            if self.resolved(PREFIX) != Some(namespace) {
                self.declare(PREFIX.to_owned(), namespace, declared);
            }
            return format!("{PREFIX}:{local}");
        }
        format!("{}:{local}", self.prefix(namespace, declared))
    }

    fn prefix_of_attribute(&mut self, namespace: &str, declared: &mut String) -> String {
        match namespace {
            "" => String::new(),
            ns::XML => "xml".to_owned(),
            namespace => self.prefix(namespace, declared),
        }
    }

    /// Returns a prefix of a namespace that is in scope, or declares one.
    fn prefix(&mut self, namespace: &str, declared: &mut String) -> String {
        let is_it = |(prefix, bound): &&(String, String)| {
            bound == namespace && !prefix.is_empty() && self.resolved(prefix) == Some(namespace)
        };
        if let Some((prefix, _)) = self.scope.iter().rev().find(is_it) {
            return prefix.clone();
        }
        let usual = match namespace {
            ns::SOAP11 | ns::SOAP12 => Some("soap"),
            ns::XSI => Some("xsi"),
            ns::XSD => Some("xsd"),
            _ => None,
        };
        let free = usual.filter(|prefix| self.form != Form::OddPrefixes && self.resolved(prefix).is_none());
        let prefix = free.map(ToOwned::to_owned).unwrap_or_else(|| {
            loop {
                self.made += 1;
                let prefix = match self.form {
                    Form::OddPrefixes => format!("_é-{}.x", self.made),
                    _ => format!("n{}", self.made),
                };
                if self.resolved(&prefix).is_none() {
                    break prefix;
                }
            }
        });
        self.declare(prefix.clone(), namespace, declared);
        prefix
    }

    fn declare(&mut self, prefix: String, namespace: &str, declared: &mut String) {
        let quote = self.quote();
        let colon = if prefix.is_empty() { "" } else { ":" };
        declared.push_str(&format!(" xmlns{colon}{prefix}={quote}"));
        let mut value = Writer { out: String::new(), scope: Vec::new(), ..*self };
        value.attribute_text(namespace);
        declared.push_str(&value.out);
        declared.push(quote);
        self.scope.push((prefix, namespace.to_owned()));
    }

    fn resolved(&self, prefix: &str) -> Option<&str> {
        self.scope.iter().rev().find(|(known, _)| known == prefix).map(|(_, namespace)| namespace.as_str())
    }

    fn quote(&self) -> char {
        if self.form == Form::SingleQuotes { '\'' } else { '"' }
    }

    fn attribute_text(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '"' => self.out.push_str("&quot;"),
                '\'' => self.out.push_str("&apos;"),
                '\t' | '\n' | '\r' => self.reference(c),
                c => self.out.push(c),
            }
        }
    }

    fn text(&mut self, text: &str) {
        match self.form {
            Form::Cdata if !text.contains('\r') => {
                self.out.push_str("<![CDATA[");
                self.out.push_str(&text.replace("]]>", "]]]]><![CDATA[>"));
                self.out.push_str("]]>");
            }
            Form::References => text.chars().for_each(|c| self.reference(c)),
            Form::CommentsInText => {
                let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
                self.escaped(&text[..middle]);
                self.out.push_str("<!-- & -->");
                self.escaped(&text[middle..]);
            }
            _ => self.escaped(text),
        }
    }

    fn escaped(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                // `]]>` must not appear in text (XML 1.0, section 2.4).
                '>' => self.out.push_str("&gt;"),
                '\r' => self.reference(c),
                c => self.out.push(c),
            }
        }
    }

    fn reference(&mut self, c: char) {
        self.out.push_str(&format!("&#x{:X};", c as u32));
    }
}

/// Returns true if a value within an element may use a prefix.
fn uses(node: &Node, prefix: &str) -> bool {
    let has = |text: &str| {
        text.split_ascii_whitespace().any(|word| word.split_once(':').is_some_and(|(before, _)| before == prefix))
    };
    node.attributes.iter().any(|(_, value)| has(value))
        || node.children.iter().any(|child| match child {
            Child::Text(text) => has(text),
            Child::Element(child) => uses(child, prefix),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap_core::QName;

    fn sample() -> Node {
        let text = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' \
            xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'><s:Body><o:Op xmlns:o='urn:o' xmlns:t='urn:t'>\
            <a xsi:type='t:T' q='&lt;&quot;&#9;'>x &lt; ]]&gt; 😀 e\u{301} &#13;</a><o:b/><m>x<n/>y</m></o:Op></s:Body></s:Envelope>";
        Node::parse(text.as_bytes()).expect("a document")
    }

    /// A tree without the prefixes that do not matter.
    fn bare(node: &Node) -> Node {
        let name = |text: &str| node.resolve(text).map(|name: QName| name.to_string()).unwrap_or_default();
        let attributes = node.attributes.iter().map(|(key, value)| match &*key.local {
            "type" => (key.clone(), name(value).into()),
            _ => (key.clone(), value.clone()),
        });
        let children = node.children.iter().filter_map(|child| match child {
            Child::Element(child) => Some(Child::Element(bare(child))),
            Child::Text(text) if text.trim().is_empty() => None,
            Child::Text(text) => Some(Child::Text(text.clone())),
        });
        Node {
            name: node.name.clone(),
            attributes: attributes.collect(),
            children: children.collect(),
            ..Node::default()
        }
    }

    #[test]
    fn all_forms_mean_the_same_and_differ() {
        let mut seen = std::collections::HashSet::new();
        for form in Form::COMMON.into_iter().chain([Form::Plain, Form::Utf16]) {
            let written = form.write(&sample());
            let read = Node::parse(&written).unwrap_or_else(|error| panic!("{form}: {error}"));
            let inner = |root: &Node| root.element(ns::SOAP11, "Body").expect("a body").elements().next().cloned();
            let [read, expected] = [read, sample()].map(|root| bare(&inner(&root).expect("an operation")));
            let types = |node: &Node| node.elements().map(Node::text).collect::<Vec<_>>();
            assert_eq!(types(&read), types(&expected), "{form}");
            assert_eq!(read.elements().count(), expected.elements().count(), "{form}");
            assert!(seen.insert(written) || form == Form::Plain || form == Form::Chunked, "{form}");
        }
    }
}
