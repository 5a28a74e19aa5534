//! Faults that services answer with, and what is printed of them.

use super::network::canned;
use super::*;

#[test]
fn malformed_faults_are_told_with_their_place_and_status() {
    const FAULT: &str = "HTTP/1.1 500 No\r\nContent-Type: text/xml\r\nConnection: close\r\n\r\n\
        <s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><s:Fault>\
        <detail>no</detail></s:Fault></s:Body></s:Envelope>";
    let (url, _) = canned(FAULT);
    let output = run(&["call", &shop(), "Soap11.Order", "-d", ORDER, "--endpoint", &url]);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(4), "{text}");
    assert!(text.contains("HTTP status 500") && text.contains("a malformed SOAP message: "), "{text}");
    assert!(text.contains("faultcode") && !text.contains("no SOAP message"), "{text}");
}

#[test]
fn all_entries_of_a_detail_are_in_the_json() {
    const FAULT: &str = "HTTP/1.1 500 No\r\nContent-Type: text/xml\r\nConnection: close\r\n\r\n\
        <s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><s:Fault>\
        <faultcode>s:Client</faultcode><faultstring>no</faultstring><detail>\
        <SoldOut xmlns='urn:shop'><code>A-1</code></SoldOut><o:Once xmlns:o='urn:o'>1</o:Once>\
        <SoldOut xmlns='urn:shop'><code>A-2</code></SoldOut><o:SoldOut xmlns:o='urn:o'>third</o:SoldOut>\
        </detail></s:Fault></s:Body></s:Envelope>";
    let (url, _) = canned(FAULT);
    let output = run(&["call", &shop(), "Soap11.Order", "-d", ORDER, "--json", "--endpoint", &url]);
    let detail = &json(&output)["fault"]["detail"];
    assert_eq!(detail["SoldOut"][0], json!({ "code": "A-1" }), "{detail}");
    assert_eq!(detail["SoldOut"][1], json!({ "code": "A-2" }), "{detail}");
    assert!(detail["SoldOut"][2].to_string().contains("third"), "{detail}");
    assert!(!detail["Once"].is_null() && !detail["Once"].is_array(), "{detail}");
}

#[test]
fn details_in_soap_encoding_have_the_types_of_their_parts() {
    const WSDL: &str = "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:s='http://schemas.xmlsoap.org/wsdl/soap/' \
        xmlns:t='urn:t' xmlns:xs='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:t'><types>\
        <xs:schema targetNamespace='urn:t'><xs:complexType name='Why'><xs:sequence><xs:element name='code' type='xs:int'/>\
        </xs:sequence></xs:complexType></xs:schema></types><message name='M'/><message name='F'>\
        <part name='why' type='t:Why'/></message><portType name='P'><operation name='Go'><input message='t:M'/>\
        <output message='t:M'/><fault name='f' message='t:F'/></operation></portType><binding name='B' type='t:P'>\
        <s:binding style='rpc' transport='http://schemas.xmlsoap.org/soap/http'/><operation name='Go'>\
        <s:operation soapAction=''/><input><s:body use='encoded' namespace='urn:t'/></input><output>\
        <s:body use='encoded' namespace='urn:t'/></output><fault name='f'><s:fault name='f' use='encoded'/></fault>\
        </operation></binding></definitions>";
    const FAULT: &str = "HTTP/1.1 500 No\r\nContent-Type: text/xml\r\nConnection: close\r\n\r\n\
        <s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><s:Fault>\
        <faultcode>s:Client</faultcode><faultstring>no</faultstring><detail>\
        <why xmlns:t='urn:t' xmlns:i='http://www.w3.org/2001/XMLSchema-instance' i:type='t:Why'><code>7</code></why>\
        </detail></s:Fault></s:Body></s:Envelope>";
    let file = tempfile::NamedTempFile::with_suffix(".wsdl").expect("a file");
    std::fs::write(file.path(), WSDL).expect("a file");
    let (url, _) = canned(FAULT);
    let output = run(&["call", &file.path().to_string_lossy(), "Go", "--json", "--endpoint", &url]);
    assert_eq!(json(&output)["fault"]["detail"], json!({ "why": { "code": 7 } }));
}
