//! Validation of exchanged messages: SOAP encoding, clients and services that validate, and the
//! choice of the operation that a body belongs to.

use crate::support::{SHOP, shop};
use bytes::Bytes;
use deltasoap_dynamic::{Contract, DynamicClient, DynamicError, Invalid, Mock, Validation};
use deltasoap_http::{CallError, SoapService};
use http_body_util::{BodyExt, Full};
use serde_json::json;
use tower::ServiceExt;

/// An rpc service in SOAP encoding; its texts have at most three characters.
const ENCODED: &str = r#"<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"
    xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:enc="http://schemas.xmlsoap.org/soap/encoding/"
    xmlns:w="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:t" targetNamespace="urn:t">
  <types><xs:schema targetNamespace="urn:t"><xs:import namespace="http://schemas.xmlsoap.org/soap/encoding/"/>
    <xs:simpleType name="Short"><xs:restriction base="xs:string"><xs:maxLength value="3"/></xs:restriction></xs:simpleType>
    <xs:simpleType name="Tiny"><xs:restriction base="t:Short"><xs:maxLength value="1"/></xs:restriction></xs:simpleType>
    <xs:complexType name="Pair"><xs:all><xs:element name="a" type="t:Short"/><xs:element name="b" type="xs:int"/></xs:all></xs:complexType>
    <xs:complexType name="Shorts"><xs:complexContent><xs:restriction base="enc:Array">
      <xs:attribute ref="enc:arrayType" w:arrayType="t:Short[]"/></xs:restriction></xs:complexContent></xs:complexType>
    <xs:complexType name="Token"><xs:sequence><xs:element name="id" type="t:Short"/></xs:sequence></xs:complexType>
    <xs:complexType name="Long"><xs:complexContent><xs:extension base="t:Token"/></xs:complexContent></xs:complexType>
    <xs:complexType name="Err"><xs:sequence><xs:element name="code" type="t:Short"/><xs:element name="why" type="xs:string"/></xs:sequence></xs:complexType>
    <xs:complexType name="Rows"><xs:complexContent><xs:restriction base="enc:Array">
      <xs:attribute ref="enc:arrayType" w:arrayType="t:Short[][]"/></xs:restriction></xs:complexContent></xs:complexType>
    <xs:complexType name="Marked"><xs:sequence><xs:element name="a" type="t:Short"/></xs:sequence><xs:attribute name="m" type="t:Short"/></xs:complexType>
  </xs:schema></types>
  <message name="In"><part name="text" type="t:Short"/><part name="pair" type="t:Pair"/><part name="all" type="t:Shorts"/></message>
  <message name="More"><part name="rows" type="t:Rows"/><part name="marked" type="t:Marked"/><part name="any" type="xs:anyType"/></message>
  <message name="Err"><part name="err" type="t:Err"/></message>
  <message name="Out"/><message name="Head"><part name="token" type="t:Token"/></message>
  <portType name="P"><operation name="Put"><input message="t:In"/><output message="t:Out"/><fault name="Err" message="t:Err"/></operation>
    <operation name="More"><input message="t:More"/><output message="t:Out"/></operation></portType>
  <binding name="B" type="t:P"><soap:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/><operation name="Put">
    <soap:operation soapAction=""/><input><soap:body use="encoded" namespace="urn:t"/>
    <soap:header message="t:Head" part="token" use="HEADER" namespace="urn:t"/></input>
    <output><soap:body use="encoded" namespace="urn:t"/></output><fault name="Err"><soap:fault name="Err" use="encoded"/></fault></operation>
    <operation name="More"><soap:operation soapAction=""/><input><soap:body use="encoded" namespace="urn:t"/></input>
    <output><soap:body use="encoded" namespace="urn:t"/></output></operation></binding>
  <service name="S"><port name="Q" binding="t:B"><soap:address location="http://127.0.0.1:1/"/></port></service>
</definitions>"#;

fn encoded() -> Contract {
    Contract::from_text(&ENCODED.replace("HEADER", "literal")).expect("a description")
}

/// Builds an envelope of the encoded service, with header blocks, accessors, and elements next to
/// the operation.
fn put([blocks, accessors, apart]: [&str; 3]) -> String {
    format!(
        "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' xmlns:t='urn:t' \
         xmlns:i='http://www.w3.org/2001/XMLSchema-instance' xmlns:x='http://www.w3.org/2001/XMLSchema' \
         xmlns:e='http://schemas.xmlsoap.org/soap/encoding/'><s:Header>{blocks}</s:Header><s:Body \
         s:encodingStyle='http://schemas.xmlsoap.org/soap/encoding/'><t:Put>{accessors}</t:Put>{apart}</s:Body></s:Envelope>"
    )
}

/// Builds a message of the second operation, with these accessors and empty ones.
fn more(accessor: &str) -> String {
    let all = ["<rows i:nil='1'/>", "<marked i:nil='1'/>", "<any i:nil='1'/>"];
    let of = |empty: &&&str| !accessor.starts_with(&empty[..4]);
    put(["", "", ""]).replace(
        "<t:Put></t:Put>",
        &format!("<t:More>{accessor}{}</t:More>", all.iter().filter(of).copied().collect::<String>()),
    )
}

const PUT: &str =
    "<pair><b>1</b><a>abc</a></pair><text>abc</text><all e:arrayType='t:Short[2]'><i>a</i><i>abc</i></all>";

/// Returns messages that can be read, and the error in each.
fn faulty() -> Vec<(String, &'static str)> {
    let wrong = |from: &str, to: &str, path| (put(["", &PUT.replace(from, to), ""]), path);
    let referred = PUT.replace("<text>abc</text>", "<text href='#1'/>");
    vec![
        wrong("<text>abc", "<text>abcd", "Body/Put/text: "),
        wrong("<a>abc", "<a>abcd", "Body/Put/pair/a: "),
        wrong("<a>abc", "<a i:type='x:string'>abcd", "Body/Put/pair/a: "),
        wrong("<a>abc", "<a i:type='t:Tiny'>ab", "Body/Put/pair/a: "),
        wrong("<i>abc", "<i>abcd", "Body/Put/all/i[2]: "),
        wrong("t:Short[2]'><i>a</i><i>abc", "t:Tiny[2]'><i>a</i><i>ab", "Body/Put/all/i[2]: "),
        (put(["", &referred, "<m id='1' i:type='t:Short'>abcd</m>"]), "Body/m: "),
        (put(["", &referred, "<m id='1' i:type='x:string'>abcd</m>"]), "Body/m: "),
        (put(["", &referred, "<m id='1'>abcd</m>"]), "Body/m: "),
        wrong("<pair><b>1</b><a>abc</a></pair>", "<pair><b>1</b><a>abc</a><z z='1'/></pair>", "Body/Put/pair"),
        wrong("<a>abc", "<a z='1'>abc", "Body/Put/pair/a: "),
        (
            more("<rows e:arrayType='t:Short[][2]'><r e:arrayType='t:Short[1]'><i>a</i></r><r><i>abcd</i></r></rows>"),
            "rows/r[2]/i: ",
        ),
        (more("<rows e:arrayType='t:Shorts[1]'><r e:arrayType='t:Short[1]'><i>abcd</i></r></rows>"), "rows/r/i: "),
        (
            more("<rows e:arrayType='t:Short[][1]'><r e:arrayType='t:Short[1]'><i>a</i><i>b</i></r></rows>"),
            "rows/r: the array has 2 items",
        ),
        (more("<rows e:arrayType='t:Short[][1]'><r e:arrayType='x:string[1]'><i>abcd</i></r></rows>"), "rows/r/i: "),
        wrong("<b>1", "<b i:type='x:date'>1", "pair/b: xsi:type xsd:date is not derived from xsd:int"),
        wrong("<b>1", "<b i:type='t:Pair'>1", "pair/b: xsi:type Pair is not derived"),
        wrong(
            "<b>1",
            "<b i:type='x:none'>1",
            "pair/b: xsi:type names {http://www.w3.org/2001/XMLSchema}none, which XML Schema",
        ),
        wrong("t:Short[2]", "x:date[2]", "all: arrayType xsd:date is not derived from Short"),
        wrong("t:Short[2]", "z:Short[2]", "all: arrayType \"z:Short\" has a prefix"),
        wrong("<i>abc", "<i e:position='[2]'>abc", "all/i[2]: position [2] is outside an array of size [2]"),
        wrong("t:Short[2]'", "t:Short[2]' e:offset='[1]'", "all: the array has 2 items after the 1 that it omits"),
        (
            put([
                "",
                &PUT.replace("t:Short[2]", "t:Short[3]").replace("<i>abc", "<i e:position='[2]'>a</i><i>abc"),
                "",
            ]),
            "all/i[3]: the item is outside an array of size [3]",
        ),
        (put(["", PUT, ""]).replace("<t:Put>", "<t:Put z='1'>"), "Body/Put: "),
        (put(["", &PUT.replace("<i>a</i><i>abc</i>", "<i id='k'>abcd</i><i href='#k'/>"), ""]), "Body/Put/all/i[1]: "),
        (more("<marked m='abcd'><a>a</a></marked>"), "marked: "),
        (more("<any i:type='e:Array' e:arrayType='t:Short[1]'><i>abcd</i></any>"), "any/i: "),
        (more("<any><x i:type='t:Short'>abcd</x></any>"), "any/x: "),
        (put(["<t:token i:type='t:Pair'><id>a</id></t:token>", PUT, ""]), "Header/token: "),
        (put(["<t:token i:type='t:None'><id>a</id></t:token>", PUT, ""]), "Header/token: "),
        (put(["<t:token x='1'><id>a</id></t:token>", PUT, ""]), "Header/token: "),
        (put(["<t:token><id>abcd</id></t:token>", PUT, ""]), "Header/token/id: "),
        (put(["<token/>", PUT, ""]), "Header/token: "),
    ]
}

fn found(contract: &Contract, message: &str) -> Vec<String> {
    contract.validate(message.as_bytes()).into_iter().map(|it| format!("{}: {}", it.path, it.message)).collect()
}

#[test]
fn header_blocks_and_details_in_soap_encoding_are_read_as_such() {
    let contract = Contract::from_text(&ENCODED.replace("HEADER", "encoded")).expect("a description");
    let block = |block: &str| put([block, PUT, ""]);
    let fault = |detail: &str, apart: &str| {
        let fault =
            format!("<s:Fault><faultcode>s:Server</faultcode><faultstring/><detail>{detail}</detail></s:Fault>{apart}");
        put(["", "", ""]).replace("<t:Put></t:Put>", &fault)
    };
    let name =
        contract.operation("Put").expect("an operation").method().expect("messages").element.faults[0].name.clone();
    let entry = |more: &str, content: &str| {
        format!("<f:{0} xmlns:f='{1}' {more}>{content}</f:{0}>", name.local, name.namespace)
            .replace("f:err", if name.namespace.is_empty() { "err" } else { "f:err" })
            .replace("xmlns:f=''", "")
    };
    for good in [
        block("<t:token i:type='t:Token' id='x'><id i:type='x:string'>abc</id></t:token>"),
        block("<t:token><id href='#q'/></t:token>"),
        block("<t:token i:type='t:Long'><id>a</id></t:token>"),
        fault(&entry("i:type='t:Err' id='e'", "<why i:type='x:string'>w</why><code i:type='x:string'>abc</code>"), ""),
        fault(&entry("", "<code>abc</code><why/>"), ""),
        fault(&entry("href='#m'", ""), "<m id='m' i:type='t:Err'><code>abc</code><why/></m>"),
    ] {
        assert_eq!(found(&contract, &good), [""; 0], "{good}");
    }
    for (wrong, path) in [
        (block("<t:token><id>abcd</id></t:token>"), "Header/token/id: "),
        (block("<t:token><nothing/></t:token>"), "Header/token: "),
        (block("<t:token z='1'><id>a</id></t:token>"), "Header/token: "),
        (fault(&entry("", "<why>w</why><code>abcd</code>"), ""), "err/code: "),
        (fault(&entry("", "<nothing/>"), ""), "err: "),
        (fault(&entry("href='#m'", ""), "<m id='m'><code>abcd</code><why/></m>"), "Body/m/code: "),
    ] {
        assert!(
            matches!(&found(&contract, &wrong)[..], [one] if one.contains(path)),
            "{wrong}: {:#?}",
            found(&contract, &wrong)
        );
    }
}

#[test]
fn facets_hold_in_soap_encoding_too() {
    let found = |message: &str| found(&encoded(), message);
    let apart = "<m id='1' i:type='x:string'>abcd</m>";
    for good in [
        put(["<t:token><id>a</id></t:token>", PUT, ""]),
        put(["<t:token i:type='t:Long'><id>a</id></t:token><o:other xmlns:o='urn:o' y='1'/>", PUT, ""]),
        put(["", &PUT.replace("<text>abc</text>", "<text i:nil='1'/>"), ""]),
        put(["", &PUT.replace("<text>abc</text>", "<text href='#1'/>"), &apart.replace("abcd", "abc")]),
        more("<rows e:arrayType='t:Short[][2]'><r e:arrayType='t:Short[1]'><i>a</i></r><r><i>abc</i></r></rows>"),
        more("<any i:type='e:Array' e:arrayType='t:Short[1]'><i>abc</i></any>"),
        put(["", &PUT.replace("<i>a</i><i>abc</i>", "<i id='k'>abc</i><i href='#k'/>"), ""]),
        more("<marked m='abc' id='5'><a>a</a></marked>"),
        more("<rows e:arrayType='t:Shorts[1]'><r e:arrayType='t:Short[1]'><i>abc</i></r></rows>"),
        more("<any i:type='o:Other' xmlns:o='urn:o'>1</any>"),
        more("<any i:type='t:Other'>1</any>"),
        more("<any i:type='d:timeInstant' xmlns:d='http://www.w3.org/1999/XMLSchema'>2026-01-02T03:04:05Z</any>"),
        put(["", &PUT.replace("<pair>", "<pair i:type='e:Struct'>"), ""]),
        put(["", &PUT.replace("<pair>", "<pair i:type='t:AsTheyLike'>"), ""]),
        put(["", &PUT.replace("<b>1", "<b i:type='x:integer'>1").replace("<i>abc", "<i i:type='e:string'>abc"), ""]),
        put(["", &PUT.replace("t:Short[2]", "t:Short[9]").replace("<i>abc", "<i e:position='[8]'>abc"), ""]),
        put([
            "",
            &PUT.replace("<a>", "<a i:type='t:Tiny'>").replace("<a i:type='t:Tiny'>abc", "<a i:type='t:Tiny'>a"),
            "",
        ]),
    ] {
        assert_eq!(found(&good), [""; 0], "{good}");
    }
    let undeclared = put(["", &PUT.replace("<b>1", "<b i:type='z:int'>1"), ""]);
    assert_eq!(found(&undeclared), ["/Envelope/Body/Put/pair/b: xsi:type \"z:int\" has a prefix that is not declared"]);
    for (message, path) in faulty() {
        assert!(matches!(&found(&message)[..], [one] if one.contains(path)), "{message}: {:#?}", found(&message));
    }
}

/// Also if parts have types of a draft of XML Schema.
#[test]
fn abstract_types_in_soap_encoding_are_found() {
    let wsdl = "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:s='http://schemas.xmlsoap.org/wsdl/soap/' \
        xmlns:t='urn:t' xmlns:d='http://www.w3.org/1999/XMLSchema' targetNamespace='urn:t'><types>\
        <schema xmlns='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:t'>\
        <complexType name='A' abstract='true'><sequence><element name='a' type='int'/></sequence></complexType>\
        <complexType name='B'><complexContent><extension base='t:A'/></complexContent></complexType></schema></types>\
        <message name='m'><part name='p' type='t:A'/><part name='q' type='d:timeInstant'/></message>\
        <portType name='P'><operation name='Op'><input message='t:m'/></operation></portType>\
        <binding name='b' type='t:P'><s:binding style='rpc' transport='http://schemas.xmlsoap.org/soap/http'/>\
        <operation name='Op'><s:operation soapAction=''/><input><s:body use='encoded' namespace='urn:o'/></input></operation></binding>\
        <service name='S'><port name='P' binding='t:b'><s:address location='http://nowhere/'/></port></service></definitions>";
    let contract = Contract::from_text(wsdl).expect("a description");
    let message = |p: &str, q: &str| {
        format!(
            "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' xmlns:t='urn:t' xmlns:i='http://www.w3.org/2001/XMLSchema-instance' \
             xmlns:d='http://www.w3.org/1999/XMLSchema'><s:Body><o:Op xmlns:o='urn:o'><p{p}><a>1</a></p><q i:type='d:timeInstant'>{q}</q>\
             </o:Op></s:Body></s:Envelope>"
        )
    };
    let time = "2026-01-02T03:04:05Z";
    assert_eq!(found(&contract, &message(" i:type='t:B'", time)), [""; 0]);
    for p in ["", " i:type='t:A'"] {
        let findings = found(&contract, &message(p, time));
        assert!(findings.len() == 1 && findings[0].contains("Op/p: A is abstract"), "{findings:?}");
    }
    let findings = found(&contract, &message(" i:type='t:B'", "1"));
    assert!(findings.len() == 1 && findings[0].contains("Op/q: "), "{findings:?}");
}

/// An accessor of any type does not determine the type of its value.
#[test]
fn samples_in_soap_encoding_name_the_types_of_what_may_be_of_any() {
    let contract = encoded();
    let operation = contract.operation("More").expect("an operation");
    let sample = operation.request_to_json(&operation.request_sample().expect("a sample")).expect("JSON");
    assert_eq!(sample["any"], json!({ "$type": "xsd:string", "$": "text" }));
}

async fn post(service: &SoapService, message: &str) -> (u16, String) {
    let request = http::Request::post("http://localhost/").header("content-type", "text/xml");
    let request = request.body(Full::new(Bytes::from(message.to_owned()))).expect("a request");
    let response = service.clone().oneshot(request).await.expect("a response");
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    (status, String::from_utf8_lossy(&body).into_owned())
}

#[tokio::test]
async fn mocks_refuse_what_is_not_as_the_contract_says() {
    let service = Mock::new(encoded()).service().expect("a service");
    let lenient = Mock::new(encoded()).mount(SoapService::builder().validate(encoded(), Validation::Report));
    let lenient = lenient.build().expect("a service");
    assert_eq!(post(&service, &put(["", PUT, ""])).await.0, 200);
    for (message, path) in faulty() {
        let (status, text) = post(&service, &message).await;
        assert!(status == 500 && text.contains("Client") && text.contains(path), "{message}: {text}");
        // All other messages can be read.
        if !message.contains("t:None") && !message.contains("<z ") {
            assert_eq!(post(&lenient, &message).await.0, 200, "{message}");
        }
    }
}

#[tokio::test]
async fn clients_validate_requests_and_answers_where_they_are_asked_to() {
    let text = SHOP.replace("name=\"number\" type=\"xs:long\"", "name=\"number\" type=\"tns:Count\"");
    let shop = || Contract::from_text(&text).expect("a description");
    let price = json!({ "@currency": "EUR", "$": 20 });
    let placed = |number: i64| json!({ "number": number, "total": price, "placed": "2026-11-22T10:00:00Z" });
    let order = |count: i64| json!({ "customer": "Ada", "item": [{ "code": "A-1", "count": count }] });
    let client = |answer: i64, validation| {
        let mock = Mock::new(shop()).answer("Order", &placed(answer)).expect("a response");
        let service = mock.mount(SoapService::builder()).build().expect("a service");
        DynamicClient::with_transport(shop(), service).validation(validation)
    };
    for validation in [Validation::Off, Validation::Report, Validation::Refuse] {
        assert_eq!(client(7, validation).call("Order", &order(2)).await.expect("a response"), placed(7));
    }
    for validation in [Validation::Off, Validation::Report] {
        assert_eq!(client(5000, validation).call("Order", &order(2000)).await.expect("a response"), placed(5000));
    }
    match client(7, Validation::Refuse).call("Order", &order(2000)).await {
        Err(DynamicError::Call(CallError::InvalidRequest(Invalid { findings }))) => {
            assert_eq!(findings[0].path, "/Envelope/Body/Order/item/count");
        }
        other => panic!("{other:?}"),
    }
    match client(5000, Validation::Refuse).call("Order", &order(2)).await {
        Err(DynamicError::Call(CallError::InvalidResponse(error))) => {
            assert!(error.to_string().contains("/Envelope/Body/OrderResponse/number"), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

/// UTF-16 is indicated by the mark; a declaration may indicate it too.
#[test]
fn utf_16_is_read_with_its_declaration() {
    for declaration in [
        "",
        "<?xml version='1.0'?>",
        "<?xml version='1.0' encoding='UTF-16'?>",
        "<?xml version=\"1.0\" encoding=\"utf-16\" standalone='yes'?>",
    ] {
        for (good, text) in [(true, "abc"), (false, "abcd")] {
            let text = declaration.to_owned() + &put(["", &PUT.replace("abc", text), ""]);
            let words: Vec<u16> = std::iter::once(0xFEFF).chain(text.encode_utf16()).collect();
            let (little, big): (Vec<u8>, Vec<u8>) = (
                words.iter().flat_map(|it| it.to_le_bytes()).collect(),
                words.iter().flat_map(|it| it.to_be_bytes()).collect(),
            );
            for bytes in [little, big] {
                let findings = encoded().validate(&bytes);
                assert_eq!(findings.is_empty(), good, "{declaration}: {findings:?}");
                assert!(findings.iter().all(|it| it.message.contains("characters")), "{findings:?}");
            }
        }
    }
}

#[test]
fn utf_16_that_is_declared_as_another_encoding_or_cut_is_found() {
    let of = |declared: &str| -> Vec<u8> {
        let text = format!("<?xml version='1.0' encoding='{declared}'?>{}", put(["", PUT, ""]));
        std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    assert_eq!(encoded().validate(&of("UTF-16")), []);
    assert_eq!(encoded().validate(&of("UTF-8")).len(), 1);
    assert_eq!(encoded().validate(&[&of("UTF-16")[..], b"x"].concat()).len(), 1);
}

/// An element may be the body of one operation, and a part of the body of another.
#[test]
fn an_element_alone_is_not_taken_for_one_of_several() {
    let part = |name: &str| format!("<part name='{name}' element='t:{name}'/>");
    let text = format!(
        "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:soap='http://schemas.xmlsoap.org/wsdl/soap/' \
         xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns:t='urn:t' targetNamespace='urn:t'><types><xs:schema targetNamespace='urn:t'>\
         <xs:element name='A' type='xs:int'/><xs:element name='B' type='xs:int'/><xs:element name='C' type='xs:int'/></xs:schema></types>\
         <message name='One'>{a}</message><message name='Two'>{a}{b}</message><message name='Three'>{b}{c}</message><portType name='P'>\
         <operation name='One'><input message='t:One'/></operation><operation name='Two'><input message='t:Two'/></operation>\
         <operation name='Three'><input message='t:Three'/></operation></portType><binding name='B' type='t:P'>\
         <soap:binding transport='http://schemas.xmlsoap.org/soap/http'/><operation name='One'><soap:operation soapAction='1'/></operation>\
         <operation name='Two'><soap:operation soapAction='2'/></operation><operation name='Three'/></binding></definitions>",
        a = part("A"),
        b = part("B"),
        c = part("C")
    );
    let contract = Contract::from_text(&text).expect("a description");
    let body = |body: &str| {
        let body = format!(
            "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' xmlns:t='urn:t'><s:Body>{body}</s:Body></s:Envelope>"
        );
        found(&contract, &body)
    };
    for good in ["<t:A>1</t:A>", "<t:A>1</t:A><t:B>1</t:B>", "<t:B>1</t:B><t:C>1</t:C>"] {
        assert_eq!(body(good), [""; 0], "{good}");
    }
    assert_eq!(body("<t:B>1</t:B>"), ["/Envelope/Body: missing element <{urn:t}C>"]);
    assert_eq!(body("<t:A>x</t:A>").len(), 1);
}

/// Operations may have faults of the same name and of different types: each is valid.
#[test]
fn details_of_one_name_are_those_of_any_operation() {
    let text = ENCODED.replace("HEADER", "encoded").replace(
        "<message name=\"Err\">",
        "<message name=\"Other\"><part name=\"err\" type=\"t:Pair\"/></message><message name=\"Err\">",
    );
    let text = text.replace(
        "<operation name=\"More\"><input message=\"t:More\"/><output message=\"t:Out\"/></operation>",
        "<operation name=\"More\"><input message=\"t:More\"/><output message=\"t:Out\"/><fault name=\"Other\" message=\"t:Other\"/></operation>",
    );
    let more = "<operation name=\"More\"><soap:operation soapAction=\"\"/>";
    let text = text
        .replace(more, &format!("{more}<fault name=\"Other\"><soap:fault name=\"Other\" use=\"encoded\"/></fault>"));
    let contract = Contract::from_text(&text).expect("a description");
    let put_has =
        |name| contract.operation(name).expect("an operation").method().expect("messages").element.faults.len();
    assert_eq!((put_has("Put"), put_has("More")), (1, 1));
    let fault = |content: &str| {
        let fault = format!(
            "<s:Fault><faultcode>s:Server</faultcode><faultstring/><detail><err>{content}</err></detail></s:Fault>"
        );
        found(&contract, &put(["", "", ""]).replace("<t:Put></t:Put>", &fault))
    };
    for good in ["<why>w</why><code>abc</code>", "<b>1</b><a>abc</a>"] {
        assert_eq!(fault(good), [""; 0], "{good}");
    }
    for wrong in ["<why>w</why><code>abcd</code>", "<b>1</b><a>abcd</a>", "<c/>"] {
        assert_eq!(fault(wrong).len(), 1, "{wrong}: {:?}", fault(wrong));
    }
}

/// A client that validates still returns a fault that is invalid, and sends requests whose parts it
/// does not know.
#[tokio::test]
async fn faults_and_parts_pass_where_invalid_messages_are_refused() {
    let fault = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><s:Fault><faultcode>s:Server</faultcode>\
                 <faultstring>disk full</faultstring><source>x</source></s:Fault></s:Body></s:Envelope>";
    let answer = tower::service_fn(move |_: http::Request<deltasoap_http::Body>| {
        let response = http::Response::builder().status(500).header("content-type", "text/xml");
        std::future::ready(Ok::<_, std::convert::Infallible>(
            response.body(Full::new(Bytes::from(fault))).expect("a response"),
        ))
    });
    assert!(!shop().validate(fault.as_bytes()).is_empty());
    let client = DynamicClient::with_transport(shop(), answer).validation(Validation::Refuse);
    let order = json!({ "customer": "Ada", "item": [{ "code": "A-1", "count": 2 }] });
    match client.call("Shop.Soap11.Order", &order).await {
        Err(DynamicError::Fault(fault)) => assert_eq!(fault.fault.reason, "disk full"),
        other => panic!("{other:?}"),
    }
    let files = || Contract::from_text(include_str!("../data/files.wsdl")).expect("a description");
    let name = files().operations()[0].name().to_owned();
    let service = Mock::new(files()).mount(SoapService::builder()).build().expect("a service");
    let client = DynamicClient::with_transport(files(), service).validation(Validation::Refuse);
    let mut request = serde_json::Map::new();
    let sample = files().operations()[0].request_sample().expect("a sample");
    let sample = files().operations()[0].request_to_json(&sample).expect("JSON");
    for (key, value) in sample.as_object().expect("an object") {
        let is_binary = key.contains("content");
        request.insert(key.clone(), if is_binary { json!({ "$part": "cid:nowhere" }) } else { value.clone() });
    }
    let sent = client.call(&name, &serde_json::Value::Object(request)).await;
    assert!(!matches!(sent, Err(DynamicError::Call(CallError::InvalidRequest(_)))), "{sent:?}");
}
