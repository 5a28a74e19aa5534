//! Well-formed documents for canonicalization: few prefixes that are declared again and again, the
//! attributes of XML's own namespace, comments and instructions everywhere, and every character
//! that canonical forms escape. A document depends only on the run's seed and its number.

use fastrand::Rng;

const PREFIXES: &[&str] = &["", "p", "q", "a", "é"];
/// Prefixes may stand for the same namespace.
const NAMESPACES: &[&str] = &["urn:a", "urn:b", "urn:c", "http://c/?x='2'#%20"];
/// Relative URIs and what is none, which libxml2 refuses; and one with a special character.
const ODD_NAMESPACES: &[&str] =
    &["urn:a?b&amp;c", "relative", "a/b:c", "urn:&#xe9;", "urn:b ", "a:&#9;b", "urn:&lt;&quot;>"];
const LOCALS: &[&str] = &["a", "b", "c", "p", "é"];
const XML_ATTRIBUTES: &[(&str, &[&str])] = &[
    ("xml:lang", &["en", "de", ""]),
    ("xml:space", &["preserve", "default"]),
    ("xml:id", &["i", "j"]),
    ("xml:base", &["http://b/c/", "d/", "../e"]),
    ("xml:other", &["1", "2"]),
];
const TEXTS: &[&str] = &[
    "x",
    "1.5",
    " ",
    "\n",
    "\r\n",
    "\r",
    "\t",
    "&amp;",
    "&lt;",
    "&gt;",
    ">",
    "&quot;",
    "&apos;",
    "&#13;",
    "&#10;",
    "&#9;",
    "&#xD;&#xA;",
    "é",
    "漢",
    "\u{10000}",
    "\u{85}",
    "\u{2028}",
    "\u{7f}",
    "]]",
    "&#x85;",
];
const ONLY_CONTENT: &[&str] = &["\"", "'", "<![CDATA[<&>\"\r\n]]>", "<![CDATA[]]>", "<![CDATA[]]]]><![CDATA[>]]>"];
const ASIDES: &[&str] = &[
    "<!---->",
    "<!-- a & b < c -->",
    "<!--\r\n\r-->",
    "<!-- é -->",
    "<?a?>",
    "<?a  b ? c ?>",
    "<?a\r\n\tb\r?>",
    "<?é >?>",
    "<?xml-stylesheet href='a'?>",
];
/// Maximum number of elements of a document.
const ELEMENTS: usize = 30;
const DEPTH: usize = 6;

/// Returns the document with a number.
pub fn document(seed: u64, number: u64) -> Vec<u8> {
    let random = Rng::with_seed(seed.wrapping_mul(0xD134_2543_DE82_EF95).wrapping_add(number));
    let mut generator = Generator { random, out: String::new(), scope: vec![("", ""); 1], left: ELEMENTS };
    generator.document();
    let Generator { mut random, out, .. } = generator;
    match random.u8(..32) {
        0 => utf_16(&out),
        _ => out.into_bytes(),
    }
}

struct Generator {
    random: Rng,
    out: String,
    /// The declarations in scope, innermost last: prefixes and namespaces.
    scope: Vec<(&'static str, &'static str)>,
    left: usize,
}

impl Generator {
    fn document(&mut self) {
        if self.chance(4) {
            self.out.push_str("<?xml version='1.0'?>\n");
        }
        self.outside();
        self.element(0);
        self.outside();
    }

    fn chance(&mut self, of: u8) -> bool {
        self.random.u8(..of) == 0
    }

    fn one(&mut self, texts: &[&'static str]) -> &'static str {
        self.random.choice(texts).copied().unwrap_or_default()
    }

    fn outside(&mut self) {
        while self.chance(4) {
            let text = if self.random.bool() { self.one(ASIDES) } else { self.one(&["\n", " ", "\r\n"]) };
            self.out.push_str(text);
        }
    }

    fn element(&mut self, depth: usize) {
        self.left = self.left.saturating_sub(1);
        let outer = self.scope.len();
        let declarations = self.declarations();
        let name = self.name(true);
        self.out.push('<');
        self.out.push_str(&name);
        let mut attributes = declarations;
        attributes.extend(self.attributes());
        self.random.shuffle(&mut attributes);
        for attribute in attributes {
            let space = self.one(&[" ", "  ", "\n", "\t"]);
            self.out.push_str(space);
            self.out.push_str(&attribute);
        }
        if self.chance(4) {
            self.out.push(' ');
        }
        if self.chance(5) {
            self.out.push_str("/>");
        } else {
            self.out.push('>');
            self.content(depth);
            self.out.push_str(&format!("</{name}{}>", if self.random.u8(..8) == 0 { " " } else { "" }));
        }
        self.scope.truncate(outer);
    }

    fn content(&mut self, depth: usize) {
        for _ in 0..self.random.usize(..5) {
            match self.random.u8(..8) {
                0 | 1 => {
                    let text = self.one(TEXTS);
                    self.out.push_str(text);
                }
                2 => {
                    let text = self.one(ONLY_CONTENT);
                    self.out.push_str(text);
                }
                3 => {
                    let aside = self.one(ASIDES);
                    self.out.push_str(aside);
                }
                _ if depth < DEPTH && self.left > 0 => self.element(depth + 1),
                _ => {}
            }
        }
    }

    /// Returns declarations for a tag, and brings them into scope.
    fn declarations(&mut self) -> Vec<String> {
        let (mut texts, mut declared) = (Vec::new(), Vec::new());
        while self.random.u8(..5) < 2 {
            let prefix = self.one(PREFIXES);
            if declared.contains(&prefix) {
                continue;
            }
            declared.push(prefix);
            let usable = if self.random.u8(..128) == 0 { ODD_NAMESPACES } else { NAMESPACES };
            let namespace = if prefix.is_empty() && self.chance(4) { "" } else { self.one(usable) };
            self.scope.push((prefix, namespace));
            let name = if prefix.is_empty() { "xmlns".to_owned() } else { format!("xmlns:{prefix}") };
            texts.push(format!("{name}=\"{namespace}\""));
        }
        texts
    }

    /// Returns a name with a prefix that is in scope.
    fn name(&mut self, is_element: bool) -> String {
        let scope: Vec<_> = self.scope.iter().map(|(prefix, _)| *prefix).collect();
        let prefix = if self.random.bool() { "" } else { self.one(&scope) };
        let local = self.one(LOCALS);
        match prefix {
            "" => local.to_owned(),
            _ if !is_element && self.random.bool() => local.to_owned(),
            prefix => format!("{prefix}:{local}"),
        }
    }

    fn attributes(&mut self) -> Vec<String> {
        let (mut texts, mut used) = (Vec::new(), Vec::new());
        while self.random.u8(..5) < 3 {
            let name = self.name(false);
            let expanded = self.expanded(&name);
            if !used.contains(&expanded) {
                used.push(expanded);
                texts.push(self.attribute(&name));
            }
        }
        for (name, values) in XML_ATTRIBUTES {
            if self.chance(16) {
                texts.push(format!("{name}='{}'", self.one(values)));
            }
        }
        texts
    }

    /// Returns the namespace and the local part of an attribute's name.
    fn expanded(&self, name: &str) -> (String, String) {
        let Some((prefix, local)) = name.split_once(':') else { return (String::new(), name.to_owned()) };
        let namespace = self.scope.iter().rfind(|(known, _)| *known == prefix).map_or("", |(_, namespace)| namespace);
        (namespace.to_owned(), local.to_owned())
    }

    fn attribute(&mut self, name: &str) -> String {
        let quote = self.one(&["\"", "'"]);
        let mut value = String::new();
        while self.random.u8(..3) > 0 {
            value.push_str(self.one(TEXTS));
        }
        // The other quotation mark may stand for itself.
        if self.chance(4) {
            value.push_str(if quote == "'" { "\"" } else { "'" });
        }
        let equals = self.one(&["=", " = "]);
        format!("{name}{equals}{quote}{value}{quote}")
    }
}

fn utf_16(text: &str) -> Vec<u8> {
    let declaration = text.starts_with("<?xml version");
    let text = if declaration { text.replacen("?>", " encoding='UTF-16'?>", 1) } else { text.to_owned() };
    format!("\u{FEFF}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::Reading;

    #[test]
    fn documents_are_well_formed_and_varied() {
        let documents: Vec<_> = (0..500).map(|number| document(1, number)).collect();
        for document in &documents {
            let read = Reading::new().read(document, &mut Rng::with_seed(0)).expect("a tree");
            assert!(read.is_ok(), "{}: {read:?}", String::from_utf8_lossy(document));
        }
        assert_eq!(document(1, 7), documents[7]);
        assert_ne!(document(2, 7), documents[7]);
    }
}
