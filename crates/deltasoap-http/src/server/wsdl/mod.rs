//! The service's WSDL: documents that are served under the service's own URL, with that URL
//! inserted.
//!
//! Each document is split once, around the `location` of every SOAP address and around the location
//! of every document that is imported and also served; each answer joins the pieces with the URL
//! that the client used. A tool that has fetched `?wsdl` finds the other documents by their
//! locations in it, under `?xsd=NAME` and `?wsdl=NAME`.
//!
//! A service that was given no WSDL has one that is made from its types ([`generate`]).

mod document;
mod files;
mod generate;
mod metadata;

use deltasoap_core::Buffer;
use deltasoap_xml::Escape;
use document::{Document, DocumentKind};
use std::collections::BTreeMap;
use std::path::PathBuf;

use super::builder::BuildError;
pub(crate) use generate::{Generated, generate};
pub(crate) use metadata::{Actions, OperationMetadata, ServiceMetadata};

/// The source of the WSDL.
#[derive(Debug)]
pub(crate) enum Source {
    /// The text, and the name that its locations are relative to.
    Text(String, String),
    /// A file, which is read when the service is built.
    File(PathBuf),
}

impl Source {
    /// Returns a WSDL made from types, with the documents beside it.
    pub(crate) fn generated(made: Generated) -> (Self, Vec<(String, String)>) {
        (Source::Text(String::new(), made.text), made.documents)
    }
}

/// A WSDL that is ready to be served.
#[derive(Debug)]
pub(crate) struct Description {
    main: Document,
    /// The documents that it imports, by name.
    others: BTreeMap<String, Document>,
}

impl Description {
    /// Reads a WSDL with its documents, and its metadata of operations.
    ///
    /// # Errors
    /// When a document is not well-formed or neither a WSDL nor a schema, or a file cannot be read.
    pub(crate) fn read(source: Source, beside: Vec<(String, String)>) -> Result<(Self, ServiceMetadata), BuildError> {
        let (name, text, found) = match source {
            Source::Text(name, text) => (name, text, BTreeMap::new()),
            Source::File(path) => files::read(&path)?,
        };
        let mut texts = found;
        texts.extend(beside);
        let mut metadata = ServiceMetadata::default();
        let kinds = texts.iter().map(|(name, text)| Ok((name.clone(), DocumentKind::detect(name, text)?)));
        let mut kinds = kinds.collect::<Result<BTreeMap<_, _>, BuildError>>()?;
        // Documents may import the WSDL in turn.
        kinds.entry(name.clone()).or_insert(DocumentKind::Description);
        let main = Document::new(&name, &name, &text, &kinds, &mut metadata)?;
        let others = texts.iter().map(|(other, text)| {
            let document = Document::new(other, &name, text, &kinds, &mut metadata)?;
            Ok((other.clone(), document))
        });
        let others = others.collect::<Result<_, BuildError>>()?;
        Ok((Description { main, others }, metadata))
    }

    /// Returns the WSDL with this URL as the service's. The URL must be escaped already.
    pub(crate) fn at(&self, escaped_url: &str) -> String {
        self.main.at(escaped_url)
    }

    /// Returns an imported document, with the URL inserted in the same way.
    pub(crate) fn document(&self, name: &str, escaped_url: &str) -> Option<String> {
        self.others.get(name).map(|document| document.at(escaped_url))
    }

    /// Returns the imported documents: the query that each is served under, and its name.
    pub(crate) fn documents(&self) -> impl Iterator<Item = (String, &str)> {
        self.others.iter().map(|(name, document)| (document::query(document.kind(), name), name.as_str()))
    }
}

/// Escapes text for XML, also for use between quotes of either kind.
pub(super) fn escaped(text: &str) -> String {
    let mut buffer = Buffer::new();
    buffer.push_text(text, Escape::Attribute);
    // `]]>` is not allowed in text (XML 1.0, section 2.4).
    String::from_utf8_lossy(buffer.as_slice()).replace('\'', "&#39;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn description(text: &str, beside: &[(&str, &str)]) -> Result<Description, BuildError> {
        let beside = beside.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        Description::read(Source::Text(String::new(), text.to_owned()), beside).map(|(description, _)| description)
    }

    #[test]
    fn the_soap_addresses_are_replaced_and_nothing_else() {
        let text = "<?xml version='1.0'?><w:definitions xmlns:w='http://schemas.xmlsoap.org/wsdl/' \
                    xmlns:s='http://schemas.xmlsoap.org/wsdl/soap/'><!-- <s:address location='c'/> -->\
                    <s:address a=\">location='x'\" location = 'http://old'/><address location='mine'/>\
                    <a:address xmlns:a='http://schemas.xmlsoap.org/wsdl/soap12/' location=\"\"></a:address>\
                    <s:address/></w:definitions>";
        let expected = text.replace("http://old", "NEW").replace("location=\"\"", "location=\"NEW\"");
        assert_eq!(description(text, &[]).expect("well-formed").at("NEW"), expected);
    }

    #[test]
    fn escaped_text_may_be_anywhere() {
        assert_eq!(escaped("<a b='\"&'>]]>"), "&lt;a b=&#39;&quot;&amp;&#39;&gt;]]&gt;");
    }

    const MAIN: &str = "<w:definitions xmlns:w='http://schemas.xmlsoap.org/wsdl/' \
        xmlns:x='http://www.w3.org/2001/XMLSchema'><w:import namespace='urn:p' location='parts/a&amp;b.wsdl'/>\
        <w:types><x:schema><x:import namespace='urn:a' schemaLocation='./parts/a.xsd'/>\
        <x:import namespace='urn:b' schemaLocation = \"http://elsewhere/b.xsd\"/><x:import namespace='urn:c'/>\
        </x:schema></w:types></w:definitions>";
    const PARTS: &str = "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/'/>";
    const SCHEMA: &str = "<schema xmlns='http://www.w3.org/2001/XMLSchema'><include schemaLocation='../c.xsd'/>\
        <redefine schemaLocation='d%20e.xsd'/><include schemaLocation='unknown.xsd'/></schema>";
    const EMPTY: &str = "<schema xmlns='http://www.w3.org/2001/XMLSchema'/>";

    #[test]
    fn locations_of_documents_that_are_served_lead_there() {
        let beside = [("parts/a&b.wsdl", PARTS), ("parts/a.xsd", SCHEMA), ("c.xsd", EMPTY), ("parts/d e.xsd", EMPTY)];
        let description = description(MAIN, &beside).expect("a description");
        let main = description.at("http://h/s");
        let expected = MAIN
            .replace("parts/a&amp;b.wsdl", "http://h/s?wsdl=parts/a%26b.wsdl")
            .replace("./parts/a.xsd", "http://h/s?xsd=parts/a.xsd");
        assert_eq!(main, expected);
        let schema = description.document("parts/a.xsd", "http://h/s").expect("a document");
        let expected =
            SCHEMA.replace("../c.xsd", "http://h/s?xsd=c.xsd").replace("d%20e.xsd", "http://h/s?xsd=parts/d%20e.xsd");
        assert_eq!(schema, expected);
        assert_eq!(description.document("c.xsd", ""), Some(EMPTY.to_owned()));
        assert_eq!(description.document("unknown.xsd", ""), None);
        let names: Vec<_> = description.documents().map(|(query, _)| query).collect();
        assert_eq!(names, ["xsd=c.xsd", "wsdl=parts/a%26b.wsdl", "xsd=parts/a.xsd", "xsd=parts/d%20e.xsd"]);
    }

    #[test]
    fn locations_may_lead_out_of_the_folder_of_a_description_with_a_name() {
        let text = MAIN.replace("./parts/a.xsd", "../xsd/a.xsd");
        let beside = vec![(
            "xsd/a.xsd".to_owned(),
            "<schema xmlns='http://www.w3.org/2001/XMLSchema'><include \
            schemaLocation='../wsdl/main.wsdl'/></schema>"
                .to_owned(),
        )];
        let source = Source::Text("wsdl/main.wsdl".to_owned(), text.clone());
        let (description, _) = Description::read(source, beside).expect("a description");
        let expected = text.replace("../xsd/a.xsd", "http://h/s?xsd=xsd/a.xsd");
        assert_eq!(description.at("http://h/s"), expected);
        let schema = description.document("xsd/a.xsd", "http://h/s").expect("a document");
        assert!(schema.contains("schemaLocation='http://h/s?wsdl'"), "{schema}");
    }

    #[test]
    fn a_description_that_is_not_well_formed_is_refused() {
        assert!(matches!(description("<a><b></a>", &[]), Err(BuildError::Wsdl(_))));
        let error = description(MAIN, &[("x", "<a>")]).expect_err("not well-formed");
        assert!(error.to_string().contains("`x` is not well-formed"), "{error}");
        let error = description(MAIN, &[("x", "<a/>")]).expect_err("neither a WSDL nor a schema");
        assert_eq!(error.to_string(), "`x` is neither a WSDL 1.1 document nor a schema: its root element is <a>");
    }
}
