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

#[test]
fn codes_of_soap_1_1_are_shown_as_they_came() {
    const FAULT: &str = "HTTP/1.1 500 No\r\nContent-Type: text/xml\r\nConnection: close\r\n\r\n\
        <s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><s:Fault>\
        <faultcode>s:Client.Bad</faultcode><faultstring>no</faultstring></s:Fault></s:Body></s:Envelope>";
    let (url, _) = canned(FAULT);
    let output = run(&["call", &shop(), "Soap11.Order", "-d", ORDER, "--endpoint", &url]);
    assert!(stderr(&output).contains("  code: Client.Bad\n"), "{output:?}");
    let output = run(&["call", &shop(), "Soap11.Order", "-d", ORDER, "--json", "--endpoint", &url]);
    assert_eq!(json(&output)["fault"]["code"], "Client.Bad");
}

/// Returns an answer with a SOAP 1.2 fault, with the given header, code and reason.
fn fault_of_12(header: &str, code: &str, reason: &str) -> String {
    let answer = format!(
        "HTTP/1.1 500 No\r\nContent-Type: application/soap+xml\r\nConnection: close\r\n\r\n\
        <s:Envelope xmlns:s='http://www.w3.org/2003/05/soap-envelope' xmlns:q='urn:q'><s:Header>{header}</s:Header><s:Body>\
        <s:Fault><s:Code>{code}</s:Code><s:Reason>{reason}</s:Reason></s:Fault></s:Body></s:Envelope>"
    );
    canned(answer.leak()).0
}

const TEXT: &str = "<s:Text xml:lang='en'>no</s:Text>";

/// Independent of the operation's version of SOAP, and of the code's name in the other version.
#[test]
fn codes_of_soap_1_2_are_shown_as_they_came() {
    let sub = "<s:Value>s:Receiver</s:Value>\
        <s:Subcode><s:Value>q:Outer</s:Value><s:Subcode><s:Value>undeclared:Inner</s:Value></s:Subcode></s:Subcode>";
    for (code, shown) in [
        ("<s:Value>s:Sender</s:Value>", "  code: Sender\n"),
        (sub, "  code: Receiver\n  subcode: {urn:q}Outer\n  subcode: undeclared:Inner\n"),
        ("<s:Value>s:DataEncodingUnknown</s:Value>", "  code: DataEncodingUnknown\n"),
        ("<s:Value>soap:Receiver</s:Value>", "  code: soap:Receiver\n"),
        ("<s:Value>q:Sender</s:Value>", "  code: {urn:q}Sender\n"),
    ] {
        let url = fault_of_12("", code, TEXT);
        for operation in ["Soap11.Order", "Soap12.Order"] {
            let output = run(&["call", &shop(), operation, "-d", ORDER, "--endpoint", &url]);
            assert_eq!(output.status.code(), Some(3), "{output:?}");
            assert!(stderr(&output).contains(shown), "{output:?}");
        }
    }
    let url = fault_of_12("", sub, TEXT);
    let output = run(&["call", &shop(), "Soap11.Order", "-d", ORDER, "--json", "--endpoint", &url]);
    assert_eq!(json(&output)["fault"]["code"], "Receiver");
    assert_eq!(json(&output)["fault"]["subcodes"], json!(["{urn:q}Outer", "undeclared:Inner"]));
}

#[test]
fn header_blocks_that_the_service_did_not_understand_are_shown() {
    let blocks = "<s:NotUnderstood qname='q:Session'/><s:NotUnderstood qname='w:To' xmlns:w='urn:w'/>\
        <s:NotUnderstood qname='undeclared:Odd'/>";
    let url = fault_of_12(blocks, "<s:Value>s:MustUnderstand</s:Value>", TEXT);
    // One with an answer, one without.
    for (operation, data) in [("Soap12.Order", ORDER), ("Soap12.Ping", r#"{"text": "x"}"#)] {
        let call = ["call", &shop(), operation, "-d", data, "--endpoint", &url];
        let output = run(&call);
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        let text = stderr(&output);
        assert!(text.contains("  code: MustUnderstand\n"), "{text}");
        for name in ["{urn:q}Session", "{urn:w}To", "undeclared:Odd"] {
            assert!(text.contains(&format!("  header block not understood: {name}\n")), "{text}");
        }
        let output = run(&[&call[..], &["--json"]].concat());
        let expected = json!(["{urn:q}Session", "{urn:w}To", "undeclared:Odd"]);
        assert_eq!(json(&output)["fault"]["not_understood"], expected);
    }
}

#[test]
fn reasons_are_shown_in_the_language_of_the_user() {
    let all = "<s:Text xml:lang='fr'>non</s:Text><s:Text xml:lang='en-GB'>no</s:Text>\
        <s:Text xml:lang='DE-at'>na</s:Text><s:Text xml:lang='de'>nein</s:Text>";
    let none = "<s:Text xml:lang='fr'>non</s:Text><s:Text>?</s:Text>";
    let code = "<s:Value>s:Sender</s:Value>";
    let (all, none) = (fault_of_12("", code, all), fault_of_12("", code, none));
    for (variables, url, reason) in [
        (&[("LANG", "de_DE.UTF-8")][..], &all, "nein"),
        (&[("LANG", "de_AT.UTF-8")], &all, "na"),
        (&[("LANG", "de_AT"), ("LC_MESSAGES", "fr_CH"), ("LC_ALL", "")], &all, "non"),
        (&[("LANG", "de_AT"), ("LC_MESSAGES", "de"), ("LC_ALL", "fr")], &all, "non"),
        (&[("LANG", "es_ES.UTF-8")], &all, "no"),
        (&[("LC_ALL", "C"), ("LANG", "de")], &all, "no"),
        (&[], &all, "no"),
        (&[("LANG", "es_ES.UTF-8")], &none, "non"),
        (&[], &none, "non"),
    ] {
        let mut command = command();
        ["LANG", "LC_ALL", "LC_MESSAGES"].iter().for_each(|name| _ = command.env_remove(name));
        command.args(["call", &shop(), "Soap12.Order", "-d", ORDER, "--endpoint", url]);
        let output = command.envs(variables.iter().copied()).output().expect("the program runs");
        assert!(stderr(&output).starts_with(&format!("fault: {reason}\n")), "{variables:?}: {output:?}");
        let output = command.arg("--json").output().expect("the program runs");
        assert_eq!(json(&output)["fault"]["reason"], reason, "{variables:?}");
    }
}

#[test]
fn all_reasons_and_the_node_of_a_fault_are_told() {
    const FAULT: &str = "HTTP/1.1 500 No\r\nContent-Type: application/soap+xml\r\nConnection: close\r\n\r\n\
        <s:Envelope xmlns:s='http://www.w3.org/2003/05/soap-envelope'><s:Body><s:Fault><s:Code><s:Value>s:Sender</s:Value></s:Code>\
        <s:Reason><s:Text xml:lang='en'>no</s:Text><s:Text xml:lang='de'>nein</s:Text></s:Reason>\
        <s:Node>urn:node</s:Node><s:Role>urn:role</s:Role></s:Fault></s:Body></s:Envelope>";
    let (url, _) = canned(FAULT);
    let call = ["call", &shop(), "Soap12.Order", "-d", ORDER, "--endpoint", &url];
    let fault = &json(&run(&[&call[..], &["--json"]].concat()))["fault"];
    let reasons = json!([{ "lang": "en", "text": "no" }, { "lang": "de", "text": "nein" }]);
    assert_eq!((&fault["reasons"], &fault["node"], &fault["role"]), (&reasons, &json!("urn:node"), &json!("urn:role")));
    let text = stderr(&run(&call));
    assert!(text.contains("  role: urn:role\n  node: urn:node\n"), "{text}");
}
