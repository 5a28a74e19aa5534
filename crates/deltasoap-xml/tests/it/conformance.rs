//! The W3C XML Conformance Test Suite, as far as it applies to a reader for SOAP.
//!
//! Each test of the suite's catalogs is a document and a type: `valid` and `invalid` documents are
//! well-formed, `not-wf` ones are not, and for `error` ones a processor may do as it likes. They
//! fall into these groups:
//!
//! | group | what is asserted |
//! |---|---|
//! | documents with a DOCTYPE | refused: SOAP allows none; well-formed ones for exactly this |
//! | XML 1.1 and Namespaces 1.1 | nothing: another language |
//! | tests for editions 1 to 4 only | nothing: the fifth edition allows more names |
//! | tests for processors without namespaces | nothing: names with colons in the wrong places |
//! | optional errors | nothing |
//! | all others | well-formed ones are accepted, ill-formed ones refused |
//!
//! Every document is read in one piece and byte by byte; both must give the same result. There are
//! no deviations.

use crate::common::{Outcome, read};
use deltasoap_xml::{Instructions, Limits, XmlErrorKind};
use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use zip::ZipArchive;

const SUITE: &[u8] = include_bytes!("../../../../testdata/conformance/xmlts20130923.zip");

/// The catalogs, as in the suite's own list of catalogs.
const CATALOGS: [&str; 21] = [
    "xmltest/xmltest.xml",
    "japanese/japanese.xml",
    "sun/sun-valid.xml",
    "sun/sun-invalid.xml",
    "sun/sun-not-wf.xml",
    "sun/sun-error.xml",
    "oasis/oasis.xml",
    "ibm/ibm_oasis_invalid.xml",
    "ibm/ibm_oasis_not-wf.xml",
    "ibm/ibm_oasis_valid.xml",
    "ibm/xml-1.1/ibm_invalid.xml",
    "ibm/xml-1.1/ibm_not-wf.xml",
    "ibm/xml-1.1/ibm_valid.xml",
    "eduni/errata-2e/errata2e.xml",
    "eduni/xml-1.1/xml11.xml",
    "eduni/namespaces/1.0/rmt-ns10.xml",
    "eduni/namespaces/1.1/rmt-ns11.xml",
    "eduni/errata-3e/errata3e.xml",
    "eduni/namespaces/errata-1e/errata1e.xml",
    "eduni/errata-4e/errata4e.xml",
    "eduni/misc/ht-bh.xml",
];

/// The group that a test belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Doctype,
    Version11,
    EarlierEdition,
    WithoutNamespaces,
    OptionalError,
    WellFormed,
    IllFormed,
}

/// One test of a catalog.
struct Test {
    path: String,
    attributes: BTreeMap<String, String>,
}

impl Test {
    fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }

    fn is_well_formed(&self) -> bool {
        matches!(self.attribute("TYPE"), "valid" | "invalid")
    }

    fn group(&self, document: &[u8]) -> Group {
        let (recommendation, edition) = (self.attribute("RECOMMENDATION"), self.attribute("EDITION"));
        if has_doctype(document) {
            Group::Doctype
        } else if !edition.is_empty() && !edition.contains('5') {
            Group::EarlierEdition
        } else if self.attribute("VERSION") == "1.1" || matches!(recommendation, "XML1.1" | "NS1.1") {
            Group::Version11
        } else if self.attribute("NAMESPACE") == "no" {
            Group::WithoutNamespaces
        } else if self.attribute("TYPE") == "error" {
            Group::OptionalError
        } else if self.is_well_formed() {
            Group::WellFormed
        } else {
            Group::IllFormed
        }
    }
}

/// The files of the suite.
struct Suite(ZipArchive<Cursor<&'static [u8]>>);

impl Suite {
    fn open() -> Self {
        Suite(ZipArchive::new(Cursor::new(SUITE)).unwrap())
    }

    fn file(&mut self, path: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.0.by_name(&format!("xmlconf/{path}")).unwrap().read_to_end(&mut bytes).unwrap();
        bytes
    }

    /// Returns the tests of a catalog. Catalogs contain entities and fragments, so they are
    /// searched, not parsed.
    fn tests(&mut self, catalog: &str) -> Vec<Test> {
        let folder = &catalog[..catalog.rfind('/').unwrap() + 1];
        let text = without_comments(&String::from_utf8_lossy(&self.file(catalog)));
        let tags = text.split("<TEST").skip(1).filter(|tag| tag.starts_with(char::is_whitespace));
        tags.map(|tag| Test::new(folder, &tag[..tag.find('>').unwrap()])).collect()
    }

    fn all(&mut self) -> Vec<(Test, Vec<u8>)> {
        let tests: Vec<Test> = CATALOGS.iter().flat_map(|catalog| self.tests(catalog)).collect();
        tests
            .into_iter()
            .map(|test| {
                let document = self.file(&test.path);
                (test, document)
            })
            .collect()
    }
}

impl Test {
    fn new(folder: &str, tag: &str) -> Self {
        let mut attributes = BTreeMap::new();
        let mut rest = tag;
        while let Some((name, after)) = rest.split_once('=') {
            let quote = after.trim_start().chars().next().unwrap();
            let mut parts = after.splitn(3, quote);
            let value = parts.nth(1).unwrap();
            attributes.insert(name.trim().to_owned(), value.to_owned());
            rest = parts.next().unwrap();
        }
        Test { path: format!("{folder}{}", attributes["URI"]), attributes }
    }
}

fn without_comments(text: &str) -> String {
    without(text, "<!--", "-->")
}

/// Removes the parts between `open` and `close`.
fn without(text: &str, open: &str, close: &str) -> String {
    let mut parts = text.split(open);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once(close).map_or("", |(_, rest)| rest))
}

/// Returns the ASCII characters outside comments and CDATA sections: enough to find markup, also in
/// UTF-16.
fn bare(document: &[u8]) -> String {
    let ascii: String = document.iter().filter(|b| (1..128).contains(*b)).copied().map(char::from).collect();
    without(&without(&ascii, "<!--", "-->"), "<![CDATA[", "]]>")
}

fn has_doctype(document: &[u8]) -> bool {
    without(&bare(document), "<?", "?>").contains("<!DOCTYPE")
}

fn has_instruction(document: &[u8]) -> bool {
    let text = bare(document);
    let declared = text.strip_prefix("<?xml").is_some_and(|rest| rest.starts_with(char::is_whitespace));
    text.matches("<?").count() > usize::from(declared)
}

fn skip(document: &[u8]) -> Outcome {
    read(document, Limits::default(), Instructions::Skip)
}

/// Describes the failure of a test; `None` if it passes.
fn wrong(test: &Test, document: &[u8], group: Group) -> Option<String> {
    let error = skip(document).1;
    let as_expected = match group {
        Group::Doctype if test.is_well_formed() => error.as_ref().is_some_and(|error| is_dtd(&error.kind)),
        Group::Doctype | Group::IllFormed => error.is_some(),
        Group::WellFormed => error.is_none(),
        _ => true,
    };
    (!as_expected).then(|| format!("{} ({group:?}): {error:?}", test.path))
}

/// Returns true for the error of a well-formed document with a DOCTYPE: the DOCTYPE itself, or the
/// encoding declared before it.
fn is_dtd(kind: &XmlErrorKind) -> bool {
    matches!(kind, XmlErrorKind::Doctype | XmlErrorKind::DeclaredEncoding { .. })
}

#[test]
fn documents_are_accepted_or_refused_as_the_suite_says() {
    let mut counts = BTreeMap::new();
    let mut deviations = Vec::new();
    for (test, document) in Suite::open().all() {
        let group = test.group(&document);
        *counts.entry(group).or_insert(0) += 1;
        deviations.extend(wrong(&test, &document, group));
    }
    println!("{counts:#?}");
    assert!(deviations.is_empty(), "{} deviations:\n{}", deviations.len(), deviations.join("\n"));
    let expected = [
        (Group::Doctype, 2184),
        (Group::Version11, 77),
        (Group::EarlierEdition, 3),
        (Group::WithoutNamespaces, 2),
        (Group::OptionalError, 1),
        (Group::WellFormed, 73),
        (Group::IllFormed, 245),
    ];
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn processing_instructions_are_refused_when_asked() {
    let mut refused = 0;
    for (test, document) in Suite::open().all() {
        if test.group(&document) != Group::WellFormed {
            continue;
        }
        let error = read(&document, Limits::default(), Instructions::Refuse).1;
        let is_refused = error.is_some_and(|error| matches!(error.kind, XmlErrorKind::Instruction { .. }));
        assert_eq!(is_refused, has_instruction(&document), "{}", test.path);
        refused += usize::from(is_refused);
    }
    assert_eq!(refused, 14);
}
