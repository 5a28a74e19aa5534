//! Samples of real WSDL: they are written, read, and converted to JSON and back without loss.

use crate::support::{self, shop};
use deltasoap_core::decode::value_from_slice;
use deltasoap_core::encode::Encoder;
use deltasoap_core::schema::ElementRef;
use deltasoap_core::{Content, QName, Value};
use deltasoap_dynamic::{Contract, Operation};
use deltasoap_wsdl::Importer;
use proptest::prelude::*;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

#[test]
fn a_template_shows_everything() {
    let contract = shop();
    let order = contract.operation("Order").expect("an operation");
    let json = order.request_to_json(&order.request_sample().expect("a sample")).expect("JSON");
    let expected = json!({
        "@urgent": true,
        "customer": "text",
        "item": [{
            "@id": "name", "code": "A-1", "count": 1, "price": { "@currency": "EUR", "$": 1 }, "remark": "text",
        }],
        "pickup": "2026-01-02",
        "payment": { "$type": "Card", "limit": 1, "number": "text", "until": "2026-01" },
        "note": { "$content": ["text"] },
        "$choice": [{ "gift": "text" }],
        "extra": { "$content": ["text"] },
    });
    assert_eq!(json, expected);
    let catalogue = contract.operation("Catalogue").expect("an operation");
    let json = catalogue.response_to_json(&catalogue.response_sample().expect("a sample")).expect("JSON");
    assert_eq!(json, json!({ "root": { "name": "text" }, "weight": [1.0] }));
}

/// Returns a contract with an operation whose body is the element `Op` of a schema with this
/// content.
fn contract_of(schema: &str) -> Contract {
    let text = format!(
        "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:soap='http://schemas.xmlsoap.org/wsdl/soap/' \
         xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns:t='urn:t' targetNamespace='urn:t'><types>\
         <xs:schema targetNamespace='urn:t' elementFormDefault='qualified'>{schema}</xs:schema></types>\
         <message name='I'><part name='p' element='t:Op'/></message>\
         <portType name='P'><operation name='Op'><input message='t:I'/></operation></portType>\
         <binding name='B' type='t:P'><soap:binding transport='http://schemas.xmlsoap.org/soap/http'/><operation name='Op'>\
         <soap:operation soapAction=''/><input><soap:body use='literal'/></input></operation></binding></definitions>"
    );
    Contract::from_text(&text).expect("a description")
}

/// Samples have no alternative that nothing matches, and no sample is valid if nothing else is
/// left.
#[test]
fn choices_without_alternatives_are_no_samples() {
    for model in [
        "<xs:choice><xs:choice/><xs:element name='a'/></xs:choice>",
        "<xs:choice><xs:sequence><xs:element name='b'/><xs:choice/></xs:sequence><xs:element name='a'/></xs:choice>",
        "<xs:sequence><xs:choice minOccurs='0'/><xs:element name='a'/></xs:sequence>",
        "<xs:sequence><xs:choice minOccurs='0'><xs:choice minOccurs='0'/></xs:choice><xs:element name='a'/></xs:sequence>",
    ] {
        let element = format!("<xs:element name='Op'><xs:complexType>{model}</xs:complexType></xs:element>");
        assert!(request_of(&element).contains("a>text</"), "{model}");
        let contract = contract_of(&element);
        let operation = contract.operation("Op").expect("an operation");
        for seed in 0..20 {
            let sample = operation.random_request(seed).expect("a sample");
            assert_eq!(contract.validate(written(&operation, &sample).as_bytes()), [], "{model}");
        }
    }
    let contract = contract_of("<xs:element name='Op'><xs:complexType><xs:choice/></xs:complexType></xs:element>");
    assert_eq!(contract.operation("Op").expect("an operation").random_request(1), None);
    let notes = contract.notes();
    assert!(notes.iter().any(|note| note.text.contains("no content satisfies it")), "{notes:?}");
}

/// Nil elements have no content, but they have their required attributes.
#[test]
fn nil_samples_have_their_attributes() {
    let contract = contract_of(
        "<xs:element name='Op' nillable='true'><xs:complexType>
          <xs:sequence><xs:element name='a' nillable='true' minOccurs='2' maxOccurs='2'><xs:complexType>
            <xs:attribute name='c' type='xs:int' use='required'/>
          </xs:complexType></xs:element></xs:sequence>
          <xs:attribute name='b' type='xs:int' use='required'/>
        </xs:complexType></xs:element>",
    );
    let operation = contract.operation("Op").expect("an operation");
    let mut nil = 0;
    for seed in 0..100 {
        let sample = operation.random_request(seed).expect("a sample");
        let written = written(&operation, &sample);
        assert_eq!(contract.validate(written.as_bytes()), [], "{written}");
        nil += written.matches("nil=").count();
    }
    assert!(nil > 10, "{nil}");
}

/// Returns the request sample of such a contract, which is valid.
fn request_of(schema: &str) -> String {
    let contract = contract_of(schema);
    let operation = contract.operation("Op").expect("an operation");
    let written = written(&operation, &operation.request_sample().expect("a sample"));
    assert_eq!(contract.validate(written.as_bytes()), [], "{schema}\n{written}");
    written
}

fn written(operation: &Operation, request: &Value) -> String {
    let (name, content) = operation.request().expect("a request");
    let mut encoder = Encoder::new();
    encoder.start(name);
    request.encode(&mut encoder, operation.contract().view(content));
    encoder.end();
    String::from_utf8_lossy(encoder.finish().expect("a message").as_slice()).into_owned()
}

/// Checks the request's `Op`: its attributes and its content.
fn check_request(schema: &str, expected: &str) {
    let request = request_of(schema);
    let request = request.replace("<ns:", "<").replace("</ns:", "</").replace(" xmlns:ns=\"urn:t\"", "");
    let request = request.replace(" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"", "");
    assert_eq!(request, expected, "{schema}");
}

#[test]
fn fixed_values_stand_in_samples() {
    check_request(
        "<xs:element name='Op'><xs:complexType><xs:sequence><xs:element name='a' type='xs:string' fixed='yes'/>\
         <xs:element name='n' type='xs:int' default='5'/></xs:sequence>\
         <xs:attribute name='v' type='xs:string' use='required' fixed='3'/></xs:complexType></xs:element>",
        "<Op v=\"3\"><a>yes</a><n>1</n></Op>",
    );
}

#[test]
fn mixed_content_has_its_attributes_and_children() {
    check_request(
        "<xs:element name='Op'><xs:complexType mixed='true'><xs:sequence><xs:element name='req' type='xs:int'/></xs:sequence>\
         <xs:attribute name='q' type='xs:int' use='required'/></xs:complexType></xs:element>",
        "<Op q=\"1\">text<req>1</req></Op>",
    );
}

#[test]
fn wildcards_that_must_be_filled_are_with_what_they_let_in() {
    let any = |attributes: &str| {
        format!(
            "<xs:element name='Op'><xs:complexType><xs:sequence><xs:any {attributes}/></xs:sequence></xs:complexType>\
             </xs:element><xs:element name='known' type='xs:int'/>"
        )
    };
    for (attributes, expected) in [
        (
            "namespace='urn:only:this' processContents='lax'",
            "<Op><ns2:any xmlns:ns2=\"urn:only:this\">text</ns2:any></Op>",
        ),
        ("namespace='##local' processContents='skip'", "<Op><any>text</any></Op>"),
        ("namespace='##targetNamespace'", "<Op><known>1</known></Op>"),
        ("", "<Op><known>1</known></Op>"),
        ("processContents='lax'", "<Op><ns2:any xmlns:ns2=\"urn:example:any\">text</ns2:any></Op>"),
    ] {
        check_request(&any(attributes), expected);
    }
}

#[test]
fn abstract_types_have_samples_of_derived_ones_that_are_not_blocked() {
    let schema = |block: &str| {
        format!(
            "<xs:complexType name='car' abstract='true'><xs:sequence><xs:element name='n' type='xs:string'/></xs:sequence>\
             </xs:complexType><xs:complexType name='ford'><xs:complexContent><xs:extension base='t:car'><xs:sequence/>\
             </xs:extension></xs:complexContent></xs:complexType><xs:complexType name='kit'><xs:complexContent>\
             <xs:restriction base='t:car'><xs:sequence><xs:element name='n' type='xs:string'/></xs:sequence>\
             <xs:attribute name='q' type='xs:int' use='required'/></xs:restriction></xs:complexContent></xs:complexType>\
             <xs:element name='Op'><xs:complexType><xs:sequence><xs:element name='c' type='t:car' {block}/></xs:sequence>\
             </xs:complexType></xs:element>"
        )
    };
    let typed =
        |name: &str, attributes: &str| format!("<Op><c xsi:type=\"ns:{name}\"{attributes}><n>text</n></c></Op>");
    check_request(&schema(""), &typed("ford", ""));
    check_request(&schema("block='extension'"), &typed("kit", " q=\"1\""));
}

/// A name that a union enumerates has a prefix of the sample, unless the union accepts its text as
/// something else.
#[test]
fn names_that_unions_enumerate_have_declared_prefixes() {
    let schema = |members: &str| {
        format!(
            "<xs:simpleType name='U'><xs:union memberTypes='{members}'/></xs:simpleType>
             <xs:simpleType name='E'><xs:restriction base='t:U'><xs:enumeration value='t:a'/></xs:restriction></xs:simpleType>
             <xs:element name='Op'><xs:complexType><xs:sequence><xs:element name='e' type='t:E'/></xs:sequence></xs:complexType>
             </xs:element>"
        )
    };
    let named = "<Op><e>ns:a</e></Op>";
    check_request(&schema("xs:QName xs:language"), named);
    check_request(&schema("xs:int xs:QName xs:string"), named);
    check_request(&schema("xs:string xs:QName"), "<Op><e>t:a</e></Op>");
    let contract = contract_of(&schema("xs:QName xs:language"));
    for (namespace, count) in [("urn:t", 0), ("urn:z", 1)] {
        let document = format!("<Op xmlns='urn:t' xmlns:z='{namespace}'><e>z:a</e></Op>");
        assert_eq!(contract.validate(document.as_bytes()).len(), count, "{document}");
    }
}

/// No other schema declares the elements of XML Schema: elements in their place name their type.
#[test]
fn strict_wildcards_are_not_filled_with_schemas() {
    check_request(
        "<xs:element name='Op'><xs:complexType><xs:sequence><xs:any namespace='##other' processContents='strict'/></xs:sequence>\
         </xs:complexType></xs:element>",
        "<Op><ns2:any xmlns:q1=\"http://www.w3.org/2001/XMLSchema\" xmlns:ns2=\"urn:example:any\" xsi:type=\"q1:string\">text</ns2:any></Op>",
    );
}

/// An element that cannot be valid because no value matches its pattern is there nevertheless.
#[test]
fn samples_that_cannot_be_valid_can_be_written() {
    let contract = contract_of(
        "<xs:simpleType name='S'><xs:restriction base='xs:gMonth'><xs:pattern value='[a-z]+'/></xs:restriction></xs:simpleType>\
         <xs:element name='Op'><xs:complexType><xs:sequence><xs:element name='s' type='t:S'/>\
         <xs:element name='any' type='xs:anySimpleType'/></xs:sequence></xs:complexType></xs:element>",
    );
    let operation = contract.operation("Op").expect("an operation");
    let written = written(&operation, &operation.request_sample().expect("a sample"));
    assert!(written.contains("any>text</"), "{written}");
    assert_eq!(contract.validate(written.as_bytes()).len(), 1, "{written}");
}

#[test]
fn abstract_elements_that_nothing_stands_for_are_left_out() {
    check_request(
        "<xs:element name='none' abstract='true' type='xs:int'/><xs:element name='Op'><xs:complexType><xs:sequence>\
         <xs:element ref='t:none' minOccurs='0'/><xs:element name='a' type='xs:int'/></xs:sequence></xs:complexType></xs:element>",
        "<Op><a>1</a></Op>",
    );
}

/// If a type contains itself, nil or omission ends the sample; optional content without a finite
/// value is left out.
#[test]
fn samples_end_where_a_value_can_end() {
    let op = |types: &str, model: &str| {
        format!(
            "{types}<xs:element name='Op'><xs:complexType><xs:sequence>{model}</xs:sequence></xs:complexType></xs:element>"
        )
    };
    let own = |occurs: &str| {
        format!(
            "<xs:complexType name='R'><xs:sequence><xs:element name='r' type='t:R' {occurs}/></xs:sequence></xs:complexType>"
        )
    };
    let nillable = "nillable='true'";
    check_request(&op(&own(nillable), "<xs:element name='o' type='t:R'/>"), "<Op><o><r xsi:nil=\"true\"/></o></Op>");
    check_request(&op(&own(""), "<xs:element name='o' type='t:R' minOccurs='0'/>"), "<Op/>");
    check_request(
        &op(&own(""), "<xs:choice><xs:element name='o' type='t:R'/><xs:element name='p' type='xs:int'/></xs:choice>"),
        "<Op><p>1</p></Op>",
    );
    let abstract_type = "<xs:complexType name='N' abstract='true'/>";
    check_request(&op(abstract_type, "<xs:element name='n' type='t:N' minOccurs='0'/>"), "<Op/>");
    let nillable = format!("<xs:element name='n' type='t:N' {nillable} minOccurs='0'/>");
    check_request(&op(abstract_type, &nillable), "<Op/>");
    let derived = format!(
        "{}<xs:complexType name='E'><xs:complexContent><xs:restriction base='t:R'><xs:sequence>
           <xs:element name='r' type='t:R' nillable='true'/></xs:sequence></xs:restriction></xs:complexContent></xs:complexType>",
        own("")
    );
    let request = request_of(&op(&derived, "<xs:element name='o' type='t:R'/>"));
    assert!(request.contains(":E\"") && request.len() < 400, "{request}");
}

#[test]
fn names_and_ids_are_right_where_they_stand() {
    check_request(
        "<xs:element name='Op'><xs:complexType><xs:sequence><xs:element name='i' type='xs:ID' minOccurs='2' maxOccurs='2'/>\
         <xs:element name='q'><xs:simpleType><xs:restriction base='xs:QName'><xs:enumeration value='t:one'/></xs:restriction>\
         </xs:simpleType></xs:element></xs:sequence></xs:complexType></xs:element>",
        "<Op><i>name</i><i>name2</i><q>ns:one</q></Op>",
    );
}

#[test]
fn references_without_an_id_are_left_out() {
    let op = |content: &str, attributes: &str| {
        format!(
            "<xs:element name='Op'><xs:complexType><xs:sequence>{content}</xs:sequence>{attributes}</xs:complexType></xs:element>"
        )
    };
    let optional = "<xs:element name='e' type='xs:IDREF' minOccurs='0'/><xs:element name='v' type='xs:int'/>";
    let attributes = "<xs:attribute name='r' type='xs:IDREF'/><xs:attribute name='s' type='xs:IDREFS'/>";
    check_request(&op(optional, attributes), "<Op><v>1</v></Op>");
    let id = "<xs:attribute name='i' type='xs:ID'/>";
    check_request(
        &op(optional, &format!("{attributes}{id}")),
        "<Op r=\"name\" s=\"name name\" i=\"name\"><e>name</e><v>1</v></Op>",
    );
}

#[test]
fn keys_of_few_values_differ() {
    let restricted = |facets: &str| {
        format!("<xs:simpleType><xs:restriction base='xs:string'>{facets}</xs:restriction></xs:simpleType>")
    };
    let pattern = restricted("<xs:pattern value='a|b'/>");
    let enumeration = restricted("<xs:enumeration value='a'/><xs:enumeration value='b'/>");
    for (one, other) in [(&pattern, &pattern), (&enumeration, &enumeration), (&enumeration, &pattern)] {
        request_of(&format!(
            "<xs:element name='Op'><xs:complexType><xs:sequence><xs:element name='i' minOccurs='4' maxOccurs='4'><xs:complexType>\
             <xs:attribute name='k' use='required'>{one}</xs:attribute><xs:attribute name='l' use='required'>{other}</xs:attribute>\
             </xs:complexType></xs:element></xs:sequence></xs:complexType>\
             <xs:key name='K'><xs:selector xpath='t:i'/><xs:field xpath='@k'/><xs:field xpath='@l'/></xs:key></xs:element>"
        ));
    }
    request_of(&format!(
        "<xs:element name='Op'><xs:complexType><xs:sequence><xs:element name='i' minOccurs='2' maxOccurs='2'>{pattern}</xs:element>\
         </xs:sequence></xs:complexType>\
         <xs:key name='K'><xs:selector xpath='t:i'/><xs:field xpath='.'/></xs:key></xs:element>"
    ));
}

/// Returns a type of names with this facet.
fn names(name: &str, base: &str, facet: &str) -> String {
    format!("<xs:simpleType name='{name}'><xs:restriction base='{base}'>{facet}</xs:restriction></xs:simpleType>")
}

#[test]
fn names_have_prefixes_that_the_sample_declares() {
    let other = "xmlns:o='urn:o' xmlns='urn:d'";
    let notations = "<xs:notation name='gif' public='image/gif'/>".to_owned()
        + &names("N", "xs:NOTATION", "<xs:enumeration value='t:gif'/>")
        + &names("Q", "xs:QName", &format!("<xs:enumeration value='o:one' {other}/>"))
        + &names("D", "xs:QName", &format!("<xs:enumeration value='one' {other}/>"));
    let request = request_of(
        &(notations
            + &format!(
                "<xs:element name='Op'><xs:complexType><xs:sequence>\
                 <xs:element name='fixed' type='xs:QName' fixed='o:a' {other}/>\
                 <xs:element name='plain' type='xs:QName' fixed='a' {other}/>\
                 <xs:element name='type' type='t:Q'/><xs:element name='gif' type='t:N'/>\
                 <xs:element name='list'><xs:simpleType><xs:list itemType='t:Q'/></xs:simpleType></xs:element>\
                 <xs:element name='union'><xs:simpleType><xs:union memberTypes='t:Q xs:int'/></xs:simpleType></xs:element>\
                 <xs:element name='text'><xs:complexType><xs:simpleContent><xs:extension base='t:N'>\
                 <xs:attribute name='n' type='t:N'/></xs:extension></xs:simpleContent></xs:complexType></xs:element>\
                 <xs:element name='mixed'><xs:complexType mixed='true'><xs:attribute name='q' type='t:Q'/></xs:complexType>\
                 </xs:element></xs:sequence>\
                 <xs:attribute name='q' type='t:D' use='required'/>\
                 <xs:attribute name='f' type='xs:QName' fixed='o:f' {other}/></xs:complexType></xs:element>"
            )),
    );
    // Names that `validate` accepts have prefixes of the right namespaces; a name without a prefix
    // would have no namespace.
    for wrong in ["\"one\"", "\"o:f\"", ">o:a<", ">o:one<", ">a<", ">t:gif<", "{urn:"] {
        assert!(!request.contains(wrong), "{wrong}: {request}");
    }
    let declared = ["\"urn:o\"", "\"urn:d\"", "\"urn:t\""];
    assert!(declared.iter().all(|namespace| request.contains(namespace)), "{request}");
}

#[test]
fn names_in_json_have_their_namespaces() {
    let contract = contract_of(
        "<xs:element name='Op'><xs:complexType><xs:attribute name='q' type='xs:QName' fixed='o:a' xmlns:o='urn:o'/>\
         </xs:complexType></xs:element>",
    );
    let operation = contract.operation("Op").expect("an operation");
    let json = operation.request_to_json(&operation.request_sample().expect("a sample")).expect("JSON");
    assert_eq!(json, json!({ "@q": "{urn:o}a" }));
    let value = operation.request_from_json(&json).expect("a request");
    assert_eq!(written(&operation, &value), "<ns:Op xmlns:ns=\"urn:t\" xmlns:ns2=\"urn:o\" q=\"ns2:a\"/>");
}

#[test]
fn values_lie_within_open_bounds() {
    for (base, facets) in [
        ("date", "minExclusive=2026-01-02 maxExclusive=2026-01-04"),
        ("date", "maxExclusive=2000-03-01Z"),
        ("dateTime", "minExclusive=2030-12-31T23:59:59Z"),
        ("dateTime", "minExclusive=2030-12-31T23:59:59 maxExclusive=2031-01-01T00:00:00"),
        ("time", "minExclusive=23:59:58 maxExclusive=23:59:59"),
        ("gYear", "minExclusive=2026 maxExclusive=2028"),
        ("gYearMonth", "minExclusive=2026-12"),
        ("gMonth", "minExclusive=--11"),
        ("gMonthDay", "minExclusive=--02-28 maxExclusive=--03-01"),
        ("gDay", "minExclusive=---02 maxExclusive=---04"),
        ("duration", "minExclusive=P1D maxExclusive=P2D"),
        ("decimal", "minExclusive=0 maxExclusive=0.001"),
        ("decimal", "minExclusive=0 maxExclusive=0.001 fractionDigits=4"),
        ("decimal", "minExclusive=0.5 maxExclusive=1.5 fractionDigits=0"),
        ("decimal", "minInclusive=0.123 maxInclusive=0.5 fractionDigits=1"),
        ("decimal", "minExclusive=-0.02 maxExclusive=-0.01"),
        ("long", "minExclusive=9223372036854775805"),
        ("unsignedLong", "minExclusive=18446744073709551613"),
        ("double", "minExclusive=0 maxExclusive=0.001"),
        ("double", "minExclusive=1E300 maxExclusive=1.5E300"),
        ("float", "minExclusive=0 maxExclusive=1E-40"),
    ] {
        let facets = facets.split(' ').filter_map(|it| it.split_once('='));
        let facets: String = facets.map(|(name, value)| format!("<xs:{name} value='{value}'/>")).collect();
        let of = names("T", &format!("xs:{base}"), &facets);
        // `request_of` validates its result.
        request_of(&format!("{of}<xs:element name='Op' type='t:T'/>"));
    }
}

#[test]
fn lists_have_items_that_are_allowed() {
    let items = names("I", "xs:int", "<xs:minExclusive value='10'/>");
    request_of(&format!(
        "{items}<xs:element name='Op'><xs:simpleType><xs:restriction><xs:simpleType><xs:list itemType='t:I'/></xs:simpleType>\
         <xs:length value='6'/></xs:restriction></xs:simpleType></xs:element>"
    ));
}

#[test]
fn keys_differ_and_references_to_them_lead_somewhere() {
    let rows = |of: &str, more: &str, fields: &str| {
        let fields: String = fields.split(' ').map(|it| format!("<xs:field xpath='{it}'/>")).collect();
        let to = if of.contains("xs:ID") { "xs:IDREF" } else { "t:K" };
        request_of(&format!(
            "{of}<xs:element name='Op'><xs:complexType><xs:sequence>\
             <xs:element name='row' minOccurs='3' maxOccurs='9'><xs:complexType><xs:sequence>\
             <xs:element name='b' type='xs:boolean'/><xs:element name='e' type='t:K'/></xs:sequence>\
             <xs:attribute name='k' type='t:K' use='required'/></xs:complexType></xs:element>\
             <xs:element name='link' minOccurs='2' maxOccurs='2'><xs:complexType><xs:attribute name='to' type='{to}'/></xs:complexType>\
             </xs:element></xs:sequence></xs:complexType>\
             <xs:key name='rows'><xs:selector xpath='.//t:row'/>{fields}</xs:key>{more}</xs:element>"
        ))
    };
    let link = "<xs:keyref name='l' refer='t:rows'><xs:selector xpath='t:link'/><xs:field xpath='@to'/></xs:keyref>";
    for (base, facets) in [
        ("string", ""),
        ("string", "<xs:maxLength value='2'/>"),
        ("string", "<xs:length value='4'/>"),
        ("string", "<xs:pattern value='[A-Z]{3}-\\d{4}'/>"),
        ("string", "<xs:enumeration value='a'/><xs:enumeration value='b'/><xs:enumeration value='c'/>"),
        ("int", "<xs:maxInclusive value='1'/>"),
        ("decimal", ""),
        ("double", ""),
        ("date", "<xs:maxExclusive value='2026-01-03'/>"),
        ("duration", ""),
        ("hexBinary", "<xs:length value='2'/>"),
        ("anyURI", ""),
        ("ID", ""),
    ] {
        let of = names("K", &format!("xs:{base}"), facets);
        rows(&of, "", "@k");
        rows(&of, "", "t:e");
        rows(&of, "", "t:b t:e");
        let request = rows(&of, link, "@k");
        assert!(request.contains(" to="), "{request}");
    }
    // If there is no key, references to it are left out.
    let none = "<xs:keyref name='l' refer='t:none'><xs:selector xpath='t:link'/><xs:field xpath='@to'/></xs:keyref>\
                <xs:key name='none'><xs:selector xpath='t:other'/><xs:field xpath='@k'/></xs:key>";
    assert!(!rows(&names("K", "xs:string", ""), none, "@k").contains(" to="));
}

#[test]
fn references_lead_to_elements_that_several_keys_have() {
    let keyref = "<xs:keyref name='l' refer='t:inner'><xs:selector xpath='t:ref'/><xs:field xpath='.'/></xs:keyref>";
    let texts = "<xs:element name='id' type='xs:string'/><xs:element name='ref' type='xs:string'/>";
    let request = request_of(&format!(
        "<xs:element name='Op'><xs:complexType><xs:sequence><xs:element name='id' type='xs:string'/>\
         <xs:element name='in'><xs:complexType><xs:sequence>{texts}</xs:sequence></xs:complexType>\
         <xs:key name='inner'><xs:selector xpath='t:id'/><xs:field xpath='.'/></xs:key>{keyref}</xs:element></xs:sequence>\
         </xs:complexType><xs:key name='outer'><xs:selector xpath='.//t:id'/><xs:field xpath='.'/></xs:key></xs:element>"
    ));
    assert_eq!(request.matches(">text1<").count(), 1 + request.matches("ref>text1<").count(), "{request}");
    // The reference comes before a constraint that gives its target another value.
    request_of(&format!(
        "<xs:element name='Op'><xs:complexType><xs:sequence><xs:element name='o' type='xs:string'/>{texts}</xs:sequence>\
         </xs:complexType><xs:key name='inner'><xs:selector xpath='t:id'/><xs:field xpath='.'/></xs:key>{keyref}\
         <xs:unique name='all'><xs:selector xpath='t:o|t:id'/><xs:field xpath='.'/></xs:unique></xs:element>"
    ));
}

#[test]
fn keys_are_those_of_the_element_around_them() {
    let request = request_of(
        "<xs:complexType name='Table'><xs:sequence><xs:element name='row' minOccurs='2' maxOccurs='2'><xs:complexType>\
         <xs:attribute name='k' type='xs:int'/></xs:complexType></xs:element></xs:sequence></xs:complexType>\
         <xs:element name='Op'><xs:complexType><xs:sequence><xs:element name='table' type='t:Table' minOccurs='2' maxOccurs='2'>\
         <xs:unique name='u'><xs:selector xpath='*'/><xs:field xpath='@k'/></xs:unique></xs:element></xs:sequence>\
         </xs:complexType></xs:element>",
    );
    assert_eq!(request.matches("k=\"1\"").count(), 2, "{request}");
    // A field selects one attribute.
    let request = request_of(
        "<xs:element name='Op'><xs:complexType><xs:sequence><xs:element name='row' minOccurs='2' maxOccurs='2'><xs:complexType>\
         <xs:attribute name='p' type='xs:int'/><xs:attribute name='q' type='xs:int' use='required'/>\
         <xs:attribute name='r' type='xs:int'/></xs:complexType></xs:element></xs:sequence></xs:complexType>\
         <xs:unique name='u'><xs:selector xpath='*'/><xs:field xpath='@p|@q'/></xs:unique></xs:element>",
    );
    assert_eq!((request.matches("p=").count(), request.matches("q=").count()), (0, 2), "{request}");
}

#[test]
fn references_are_to_ids_of_the_sample() {
    let request = request_of(
        &(names("I", "xs:ID", "<xs:pattern value='[B-D]\\d'/>")
            + &names("L", "xs:IDREFS", "<xs:length value='3'/>")
            + "<xs:element name='Op'><xs:complexType><xs:sequence><xs:element name='r' type='xs:IDREF'/>\
               <xs:element name='l'><xs:simpleType><xs:list itemType='xs:IDREF'/></xs:simpleType></xs:element>\
               <xs:element name='i' minOccurs='3' maxOccurs='3'><xs:complexType><xs:attribute name='id' type='t:I'/>\
               <xs:attribute name='all' type='t:L'/></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>"),
    );
    assert_eq!(request.matches("all=\"").count(), 3, "{request}");
}

#[test]
fn samples_of_hard_types_are_valid() {
    let contract = Contract::from_text(include_str!("../../../../testdata/wsdl/corners.wsdl")).expect("a description");
    let operation = contract.operation("Corners").expect("an operation");
    let (name, content) = operation.response().expect("a response");
    let response = operation.response_sample().expect("a sample");
    let mut encoder = Encoder::new();
    encoder.start(name);
    response.encode(&mut encoder, contract.view(content));
    encoder.end();
    let response = encoder.finish().expect("a message");
    let request = written(&operation, &operation.request_sample().expect("a sample"));
    for message in [request.as_bytes(), response.as_slice()] {
        assert_eq!(contract.validate(message), [], "{}", String::from_utf8_lossy(message));
    }
}

/// Returns the contracts of the test data, and of the directory that the environment names, if any.
fn contracts() -> Vec<(PathBuf, Contract)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/wsdl");
    let folder = std::env::var_os("DELTASOAP_WSDL_CORPUS").map_or(folder, PathBuf::from);
    let (mut found, mut ahead) = (Vec::new(), vec![folder.clone()]);
    while let Some(next) = ahead.pop() {
        for path in next.read_dir().expect("a directory").map(|entry| entry.expect("an entry").path()) {
            if path.is_dir() {
                ahead.push(path);
            } else if path.extension().is_some_and(|it| it == "wsdl")
                && let Ok(import) = Importer::new().offline().root(&folder).file(&path)
            {
                found.push((path, Contract::from(import)));
            }
        }
    }
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found
}

/// Writes a value, reads it, converts it to JSON and back; all must be equal.
fn check(operation: &Operation, name: &QName, content: ElementRef, value: &Value) -> Result<(), String> {
    let contract = operation.contract();
    // Parts directly in the body need an element around them here.
    let around = QName::new("", "parts");
    let name = if name.local.is_empty() { &around } else { name };
    let view = contract.view(content);
    let mut encoder = Encoder::new();
    encoder.start(name);
    value.encode(&mut encoder, view);
    encoder.end();
    let written = encoder.finish().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(written.as_slice()).into_owned();
    let read = value_from_slice(written.as_slice(), name, view).map_err(|error| format!("{error}\n{text}"))?;
    let json = contract.to_json(name, content, &read).map_err(|error| error.to_string())?;
    let parsed = serde_json::from_str(&json.to_string()).map_err(|error| error.to_string())?;
    let again = contract.from_json(name, content, &parsed).map_err(|error| format!("{error}\n{json:#}"))?;
    match support::is_same(&again, &read) {
        true => Ok(()),
        false => Err(format!("not the same\n{text}\n{json:#}")),
    }
}

/// Returns the errors in the messages of an operation.
fn check_operation(path: &Path, operation: &Operation, seed: Option<u64>) -> Result<(), String> {
    let request = seed.map_or_else(|| operation.request_sample(), |seed| operation.random_request(seed));
    let response = seed.map_or_else(|| operation.response_sample(), |seed| operation.random_response(seed));
    for (body, value) in [(operation.request(), request), (operation.response(), response)] {
        let (Some((name, content)), Some(value)) = (body, value) else { continue };
        let result = check(operation, name, content, &value);
        // Types that require themselves have no sample, and elements with a colon in their name
        // none that can be read.
        let is_known = |error: &String| {
            seed.is_none() && error.contains("missing") || error.contains("undeclared namespace prefix")
        };
        if let Err(error) = result
            && !is_known(&error)
        {
            return Err(format!("{} {}: {error}", path.display(), operation.full_name()));
        }
    }
    Ok(())
}

static CONTRACTS: LazyLock<Vec<(PathBuf, Contract)>> = LazyLock::new(contracts);

#[test]
fn samples_are_messages_and_json_keeps_all_of_them() {
    assert!(CONTRACTS.len() > 50);
    let check = |(path, contract): &(PathBuf, Contract)| {
        contract
            .operations()
            .iter()
            .filter_map(|operation| check_operation(path, operation, None).err())
            .collect::<Vec<_>>()
    };
    let wrong: Vec<_> = CONTRACTS.iter().flat_map(check).collect();
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Random values of random operations.
    #[test]
    fn json_keeps_all_of_any_value(which: prop::sample::Index, operation: prop::sample::Index, seed: u64) {
        let (path, contract) = which.get(&CONTRACTS);
        let operations = contract.operations();
        if !operations.is_empty() {
            let result = check_operation(path, operation.get(&operations), Some(seed));
            prop_assert!(result.is_ok(), "{result:?}");
        }
    }
}

/// A sample satisfies the facets of all restriction steps of its type: lengths of bytes and
/// languages, patterns together with lengths and with each other.
#[test]
fn texts_are_as_long_and_of_the_form_that_all_facets_ask_for() {
    let length = |base: &str, length: u32| {
        format!("<xs:restriction base='xs:{base}'><xs:length value='{length}'/></xs:restriction>")
    };
    let pattern = |base: &str, pattern: &str, more: &str| {
        format!("<xs:restriction base='xs:{base}'><xs:pattern value='{pattern}'/>{more}</xs:restriction>")
    };
    let in_two_steps = "<xs:restriction><xs:simpleType><xs:restriction base='xs:string'><xs:pattern value='[a-z]+'/>\
                        </xs:restriction></xs:simpleType><xs:pattern value='.{7}'/></xs:restriction>";
    let types = [
        length("base64Binary", 1),
        length("base64Binary", 5),
        length("base64Binary", 20),
        length("hexBinary", 20),
        length("language", 1),
        length("language", 9),
        length("language", 16),
        length("language", 41),
        pattern("hexBinary", "[a-f]+", "<xs:length value='3'/>"),
        pattern("string", "[a-z]*[0-9]", "<xs:length value='6'/>"),
        pattern("string", "[a-z]*[0-9]", "<xs:length value='20'/>"),
        pattern("dateTime", r".*\.\d{3}Z", ""),
        pattern("dateTime", r"\d+-\d+-\d+T\d+:\d+:\d+[+\-]\d\d:\d\d", ""),
        pattern("dateTime", ".+T[^Z+]*", ""),
        pattern("time", ".*Z", ""),
        pattern("date", ".*Z", ""),
        in_two_steps.to_owned(),
    ];
    for of_type in types {
        request_of(&format!("<xs:element name='Op'><xs:simpleType>{of_type}</xs:simpleType></xs:element>"));
    }
    let unique = "<xs:element name='Op'><xs:complexType><xs:sequence><xs:element name='l' type='xs:language' minOccurs='3' \
                  maxOccurs='3'/></xs:sequence></xs:complexType><xs:unique name='u'><xs:selector xpath='t:l'/><xs:field \
                  xpath='.'/></xs:unique></xs:element>";
    request_of(&unique.replace("<xs:unique", "<xs:unique xmlns:t='urn:t'"));
    check_request(
        "<xs:element name='Op'><xs:complexType><xs:attribute xmlns:xml='http://www.w3.org/XML/1998/namespace' ref='xml:space' \
         use='required'/></xs:complexType></xs:element><xs:import namespace='http://www.w3.org/XML/1998/namespace'/>",
        "<Op xml:space=\"default\"/>",
    );
}

/// Lengths are numbers from a WSDL: none is trusted.
#[test]
fn lengths_that_no_text_has_take_no_time() {
    for length in [u64::MAX, u64::MAX / 2 + 1, 1 << 40] {
        for base in ["string", "base64Binary", "hexBinary", "language"] {
            let schema = format!(
                "<xs:element name='Op'><xs:simpleType><xs:restriction base='xs:{base}'><xs:pattern value='[a-z]*'/>\
                 <xs:minLength value='{length}'/></xs:restriction></xs:simpleType></xs:element>"
            );
            let contract = contract_of(&schema);
            assert!(contract.operation("Op").expect("an operation").request_sample().is_some(), "{schema}");
        }
    }
}

/// A sum of sums ends in numbers, whichever element comes first in the schema.
#[test]
fn expressions_have_an_end() {
    check_request(
        "<xs:element name='Op'><xs:complexType><xs:sequence><xs:element ref='t:expr'/></xs:sequence></xs:complexType></xs:element>\
         <xs:complexType name='Expr' abstract='true'/><xs:element name='expr' type='t:Expr' abstract='true'/>\
         <xs:element name='add' type='t:Add' substitutionGroup='t:expr'/>\
         <xs:element name='not' type='t:Not' substitutionGroup='t:expr'/>\
         <xs:element name='num' type='t:Num' substitutionGroup='t:expr'/>\
         <xs:complexType name='Add'><xs:complexContent><xs:extension base='t:Expr'><xs:sequence>\
         <xs:element ref='t:expr' minOccurs='2' maxOccurs='2'/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>\
         <xs:complexType name='Not'><xs:complexContent><xs:extension base='t:Expr'><xs:sequence>\
         <xs:element ref='t:expr'/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>\
         <xs:complexType name='Num'><xs:complexContent><xs:extension base='t:Expr'><xs:attribute name='v' type='xs:int' \
         use='required'/></xs:extension></xs:complexContent></xs:complexType>",
        "<Op><add><not><num v=\"1\"/></not><not><num v=\"1\"/></not></add></Op>",
    );
}
