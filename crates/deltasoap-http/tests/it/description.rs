//! A WSDL of several documents, as tools fetch it: `?wsdl`, then each location that they find.

use crate::common::*;
use deltasoap::server::BuildError;
use deltasoap::{Fault, Lease, SoapService};
use deltasoap_wsdl::Importer;
use deltasoap_wsdl::fetch::{Fetch, FetchError, Fetched};
use http::{Request, StatusCode};
use std::collections::BTreeMap;
use tokio::runtime::Handle;

const MAIN: &str = r#"<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:test" targetNamespace="urn:test"
  xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/">
  <import namespace="urn:test" location="parts/abstract.wsdl"/>
  <binding name="B" type="t:P"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="Echo"><soap:operation soapAction="urn:test#Echo"/><input><soap:body use="literal"/></input>
      <output><soap:body use="literal"/></output></operation></binding>
  <service name="S"><documentation>Says it again.</documentation>
    <port name="p" binding="t:B"><soap:address location="http://placeholder/"/></port></service>
</definitions>"#;

const ABSTRACT: &str = r#"<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:test" targetNamespace="urn:test">
  <types><schema xmlns="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:all">
    <import namespace="urn:test" schemaLocation="../schemas/echo.xsd"/></schema></types>
  <message name="In"><part name="p" element="t:Echo"/></message>
  <message name="Out"><part name="p" element="t:EchoResponse"/></message>
  <portType name="P"><operation name="Echo"><documentation>Echoes text &amp; numbers.</documentation>
    <input message="t:In"/><output message="t:Out"/></operation></portType>
</definitions>"#;

const SCHEMA: &str = r#"<schema xmlns="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:test" xmlns:t="urn:test">
  <include schemaLocation="common%20types.xsd"/>
  <element name="Echo" type="t:Content"/><element name="EchoResponse" type="t:Content"/></schema>"#;

const COMMON: &str = r#"<schema xmlns="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:test">
  <complexType name="Content"><sequence><element name="text" type="string"/>
    <element name="numbers" type="int" minOccurs="0" maxOccurs="unbounded"/></sequence></complexType></schema>"#;

const FILES: [(&str, &str); 3] =
    [("parts/abstract.wsdl", ABSTRACT), ("schemas/echo.xsd", SCHEMA), ("schemas/common types.xsd", COMMON)];

/// Returns two services, with the WSDL from text and from files.
fn services() -> [SoapService; 2] {
    let builder = || SoapService::builder().operation(async |request: Lease<Echo>| Ok::<_, Fault>(echoed(&request)));
    let texts = FILES.iter().fold(builder().wsdl(MAIN), |builder, (name, text)| builder.wsdl_document(*name, *text));
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in FILES.iter().chain(&[("main.wsdl", MAIN)]) {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    let files = builder().wsdl_file(folder.path().join("main.wsdl"));
    [texts.build().expect("a service"), files.build().expect("a service")]
}

async fn get(service: &SoapService, uri: &str) -> Answered {
    let request = Request::get(uri).header("host", "h:81");
    send(service, request.body(Pieces::of(b"", 1)).expect("a request")).await
}

/// Returns the values of the attributes that name documents.
fn locations(document: &str) -> impl Iterator<Item = &str> {
    let imports = document.split(['<', '>']).filter(|tag| tag.starts_with("import") || tag.starts_with("include"));
    imports.filter_map(|tag| tag.split_once("ocation=\"")?.1.split('"').next())
}

#[tokio::test]
async fn each_location_leads_to_its_document() {
    for service in services() {
        let mut ahead = vec!["http://h:81/s?wsdl".to_owned()];
        let mut fetched = BTreeMap::new();
        while let Some(url) = ahead.pop() {
            let uri = url.strip_prefix("http://h:81").expect("a location below the service's URL");
            let document = get(&service, uri).await;
            assert_eq!(
                (document.status, document.content_type()),
                (StatusCode::OK, "text/xml; charset=utf-8"),
                "{url}"
            );
            ahead.extend(locations(&document.body).map(str::to_owned));
            fetched.insert(uri.to_owned(), document.body);
        }
        let uris: Vec<_> = fetched.keys().collect();
        let expected =
            ["/s?wsdl", "/s?wsdl=parts/abstract.wsdl", "/s?xsd=schemas/common%20types.xsd", "/s?xsd=schemas/echo.xsd"];
        assert_eq!(uris, expected);
        assert!(fetched["/s?wsdl"].contains("<soap:address location=\"http://h:81/s\"/>"));
        assert_eq!(fetched["/s?xsd=schemas/common%20types.xsd"], COMMON);
    }
}

/// The documents of a service, without a connection.
struct Served(SoapService, Handle);

impl Fetch for Served {
    fn fetch(&self, request: &deltasoap_wsdl::fetch::Request<'_>) -> Result<Fetched, FetchError> {
        let answered = self.1.block_on(get(&self.0, &request.url[url::Position::BeforePath..]));
        assert_eq!(answered.status, StatusCode::OK, "{}", request.url);
        Ok(Fetched { bytes: answered.body.into_bytes(), ..Fetched::default() })
    }
}

#[tokio::test]
async fn the_importer_reads_what_is_served() {
    for service in services() {
        let importer = Importer::new().strict().fetch_with(Served(service, Handle::current()));
        let import = tokio::task::spawn_blocking(move || importer.import("http://h:81/s?wsdl"));
        let import = import.await.expect("no panic").expect("a description");
        assert!(import.notes().is_empty(), "{:?}", import.notes());
        let definitions = import.definitions();
        assert_eq!(definitions.services.len(), 1);
        assert_eq!(definitions.port_types.len(), 1);
        assert!(definitions.messages.iter().all(|message| !message.is_missing));
    }
}

#[tokio::test]
async fn a_document_that_there_is_not_is_told() {
    let [service, _] = services();
    for uri in ["/?xsd=echo.xsd", "/?wsdl=other.wsdl", "/?xsd=../schemas/echo.xsd"] {
        let answer = get(&service, uri).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{uri}");
        assert!(answer.body.starts_with("The WSDL has no document \""), "{}", answer.body);
    }
}

#[tokio::test]
async fn what_the_description_says_is_on_the_page() {
    for service in services() {
        let page = get(&service, "/").await.body;
        for part in ["Says it again.", "Echoes text &amp; numbers.", "<code>urn:test#Echo</code>"] {
            assert!(page.contains(part), "{part} in {page}");
        }
        for link in ["?wsdl", "?wsdl=parts/abstract.wsdl", "?xsd=schemas/common%20types.xsd", "?xsd=schemas/echo.xsd"] {
            assert!(page.contains(&format!("href=\"{link}\"")), "{link} in {page}");
        }
    }
}

#[test]
fn a_description_that_cannot_be_read_is_refused() {
    let error = SoapService::builder().wsdl_file("/nowhere/at.wsdl").build().expect_err("no such file");
    assert!(matches!(error, BuildError::File { .. }) && error.to_string().contains("at.wsdl"), "{error}");
    let error = SoapService::builder().wsdl(MAIN).wsdl_document("x", "<html/>").build().expect_err("no document");
    assert_eq!(error, BuildError::NoDocument { name: "x".to_owned(), root: "html".to_owned() });
}
