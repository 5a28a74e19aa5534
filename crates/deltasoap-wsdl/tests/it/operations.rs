//! Operations of each style: the content of their messages, read and written.

use crate::support::{Codec, NS, description, import, schema, write};
use deltasoap_core::decode::value_from_slice;
use deltasoap_core::schema::{Element, ElementRef, Style, Use};
use deltasoap_core::soap::Version;
use deltasoap_core::soap::addressing::Addressing;
use deltasoap_core::{Shared, Value};
use deltasoap_wsdl::wsdl::{AddressingPolicy, OperationKind};
use deltasoap_wsdl::{Import, Importer, NoteKind};

/// A WSDL with an operation `op` that is bound this way.
fn bound(parts: &str, binding: &str, body: &str) -> Codec {
    let types = schema(
        "<xs:element name='op'><xs:complexType><xs:sequence><xs:element name='x' type='xs:int'/></xs:sequence>\
         </xs:complexType></xs:element><xs:element name='opResponse' type='xs:string'/>\
         <xs:element name='problem' type='xs:string'/><xs:element name='token' type='xs:string'/>\
         <xs:complexType name='Point'><xs:sequence><xs:element name='x' type='xs:int' form='unqualified'/>\
         <xs:element name='y' type='xs:int' form='unqualified'/></xs:sequence></xs:complexType>\
         <xs:complexType name='List'><xs:sequence><xs:element name='value' type='xs:int' form='unqualified'/>\
         <xs:element name='next' type='t:List' minOccurs='0' form='unqualified'/></xs:sequence></xs:complexType>",
    );
    let content = format!(
        "{parts}<message name='fault'><part name='p' element='t:problem'/></message>\
         <message name='header'><part name='h' element='t:token'/></message>\
         <portType name='P'><documentation>What it is for.</documentation><operation name='op'><input message='t:in'/><output message='t:out'/>\
         <fault name='f' message='t:fault'/></operation></portType>\
         <binding name='B' type='t:P'><soap:binding {binding} transport='http://schemas.xmlsoap.org/soap/http'/>\
         <operation name='op'><soap:operation soapAction='urn:act'/><input>{body}\
         <soap:header message='t:header' part='h' use='literal'/></input><output>{body}</output>\
         <fault name='f'><soap:fault name='f' use='literal'/></fault></operation></binding>\
         <service name='S'><port name='Q' binding='t:B'><soap:address location='http://h/s'/></port></service>"
    );
    Codec::of(import(&description(&types, &content)).expect("a good description"))
}

const BY_ELEMENT: &str = "<message name='in'><part name='body' element='t:op'/></message>\
    <message name='out'><part name='body' element='t:opResponse'/></message>";
const BY_TYPE: &str = "<message name='in'><part name='p' type='t:Point'/><part name='n' type='xs:int'/></message>\
    <message name='out'><part name='result' type='xs:string'/></message>";

fn round_trip(codec: &Codec, name: &deltasoap_core::QName, content: ElementRef, document: &str) -> Value {
    let view = codec.lowered.schema.view(content);
    let value = value_from_slice(document.as_bytes(), name, view).unwrap_or_else(|error| panic!("{document}: {error}"));
    let written = write(name, &value, view);
    assert_eq!(value_from_slice(written.as_bytes(), name, view).as_ref(), Ok(&value), "{written}");
    value
}

#[test]
fn document_literal() {
    let codec = bound(BY_ELEMENT, "style='document'", "<soap:body use='literal'/>");
    let method = codec.method("op");
    let element = &method.element;
    assert!(element.request_name.is(NS, "op") && element.response_name.as_ref().unwrap().is(NS, "opResponse"));
    assert_eq!((element.style, element.encoding, &*element.action), (Style::Document, Use::Literal, "urn:act"));
    assert!(element.headers[0].is(NS, "token") && element.faults[0].name.is(NS, "problem"));
    assert_eq!((method.request_headers.len(), method.response_headers.len()), (1, 0));
    round_trip(&codec, &element.request_name, element.request, "<op xmlns='urn:t'><x>1</x></op>");
    let definitions = codec.import.definitions();
    assert_eq!(&*definitions.services[0].ports[0].address, "http://h/s");
    assert_eq!(definitions.bindings[0].version, Version::Soap11);
    assert_eq!(definitions.port_types[0].documentation.as_deref(), Some("What it is for."));
}

#[test]
fn rpc_literal() {
    let codec = bound(BY_TYPE, "style='rpc'", "<soap:body use='literal' namespace='urn:body'/>");
    let element = &codec.method("op").element;
    assert!(element.request_name.is("urn:body", "op"));
    assert!(element.response_name.as_ref().unwrap().is("urn:body", "opResponse"));
    let request = "<b:op xmlns:b='urn:body'><p><x>1</x><y>2</y></p><n>3</n></b:op>";
    round_trip(&codec, &element.request_name, element.request, request);
    let response = element.response_name.as_ref().unwrap();
    round_trip(
        &codec,
        response,
        element.response.unwrap(),
        "<b:opResponse xmlns:b='urn:body'><result>x</result></b:opResponse>",
    );
}

#[test]
fn rpc_encoded() {
    let codec = bound(
        BY_TYPE,
        "style='rpc'",
        "<soap:body use='encoded' namespace='urn:body' \
        encodingStyle='http://schemas.xmlsoap.org/soap/encoding/'/>",
    );
    let element = &codec.method("op").element;
    assert_eq!(element.encoding, Use::Encoded);
    for request in [
        "<b:op xmlns:b='urn:body'><n>3</n><p><y>2</y><x>1</x></p></b:op>",
        "<b:op xmlns:b='urn:body' xmlns:i='http://www.w3.org/2001/XMLSchema-instance'><p i:nil='true'/></b:op>",
    ] {
        round_trip(&codec, &element.request_name, element.request, request);
    }
}

/// Returns the names of the elements that are directly in a body.
fn apart(codec: &Codec, content: ElementRef) -> Vec<String> {
    let view = codec.lowered.schema.view(content);
    view.complex().expect("a record").fields.iter().map(|field| field.name.to_string()).collect()
}

#[test]
fn bodies_of_nothing_and_of_several_elements_have_no_name() {
    let two = "<message name='in'><part name='a' element='t:op'/><part name='b' element='t:token'/></message>\
        <message name='out'/>";
    let codec = bound(two, "style='document'", "<soap:body use='literal'/>");
    let element = &codec.method("op").element;
    assert!(element.request_name.local.is_empty() && apart(&codec, element.request) == ["{urn:t}op", "{urn:t}token"]);
    assert!(element.response_name.as_ref().is_some_and(|name| name.local.is_empty()));
    assert!(apart(&codec, element.response.expect("a response")).is_empty());
    let chosen = bound(two, "style='document'", "<soap:body parts='a' use='literal'/>");
    assert_eq!(chosen.method("op").element.request_name.to_string(), "{urn:t}op");
}

#[test]
fn parts_with_types_are_elements_of_their_names_in_document_style() {
    let one = bound(BY_TYPE, "", "<soap:body use='literal' parts='n result'/>");
    let element = &one.method("op").element;
    assert_eq!(element.request_name.to_string(), "{urn:t}n");
    assert_eq!(element.response_name.as_ref().map(ToString::to_string).as_deref(), Some("{urn:t}result"));
    round_trip(&one, &element.request_name, element.request, "<n xmlns='urn:t'>3</n>");
    assert!(
        one.lowered.notes.iter().any(|note| note.starts_with("2 message(s), such as {urn:t}in")),
        "{:?}",
        one.lowered.notes
    );
    let both = bound(BY_TYPE, "", "<soap:body use='literal'/>");
    assert_eq!(apart(&both, both.method("op").element.request), ["{urn:t}p", "{urn:t}n"]);
}

#[test]
fn soap_arrays() {
    let types = schema(
        "<xs:element name='names' type='t:Names'/><xs:element name='grid' type='t:Grid'/><xs:element name='rows' type='t:Rows'/>\
         <xs:element name='old' type='t:Old'/>\
         <xs:complexType name='Names'><xs:complexContent><xs:restriction base='soapenc:Array'>\
         <xs:attribute ref='soapenc:arrayType' wsdl:arrayType='xs:string[]'/></xs:restriction></xs:complexContent></xs:complexType>\
         <xs:complexType name='Grid'><xs:complexContent><xs:restriction base='soapenc:Array'>\
         <xs:attribute ref='soapenc:arrayType' wsdl:arrayType='xs:int[,]'/></xs:restriction></xs:complexContent></xs:complexType>\
         <xs:complexType name='Rows'><xs:complexContent><xs:restriction base='soapenc:Array'>\
         <xs:attribute ref='soapenc:arrayType' wsdl:arrayType='xs:int[][]'/></xs:restriction></xs:complexContent></xs:complexType>\
         <xs:complexType name='Old'><xs:complexContent><xs:restriction base='soapenc:Array'><xs:sequence>\
         <xs:element name='entry' type='xs:int' maxOccurs='unbounded'/></xs:sequence></xs:restriction></xs:complexContent>\
         </xs:complexType>",
    );
    let codec = Codec::of(import(&description(&types, "")).unwrap());
    assert!(codec.import.notes().is_empty(), "{:?}", codec.import.notes());
    assert!(
        matches!(codec.read("names", "<item>x</item><item>y</item>").unwrap(), Value::List(items) if items.len() == 2)
    );
    codec.refuses("old", "<entry>x</entry>");
    assert!(codec.round_trip("old", "<entry>1</entry>").contains("entry"));
    codec.round_trip("rows", "<item><item>1</item><item>2</item></item><item/>");
    let Element::Array(names) = codec.view("names").element else { panic!("an array") };
    assert!(names.item_type.is(deltasoap_core::ns::XSD, "string"));
    let soapenc = "xmlns:soapenc='http://schemas.xmlsoap.org/soap/encoding/' soapenc:arrayType='xs:int[2,2]'";
    let items = "<item>1</item><item>2</item><item>3</item><item>4</item>";
    let grid = codec.read_document("grid", &format!("<t:grid xmlns:t='urn:t' {soapenc}>{items}</t:grid>")).unwrap();
    assert!(
        matches!(&grid, Value::List(rows) if matches!(rows.as_slice(), [Value::List(_), Value::List(_)])),
        "{grid:?}"
    );
    let written = codec.write("grid", &grid);
    assert!(written.contains("int[2,2]"), "{written}");
    assert_eq!(codec.read_document("grid", &written).unwrap(), grid);
    assert!(!codec.lowered.notes.iter().any(|note| note.contains("Grid")), "{:?}", codec.lowered.notes);
}

/// No real schema has arrays of so many dimensions; samples of them would be endless.
#[test]
fn soap_arrays_of_too_many_dimensions_are_trees() {
    let element = |sizes: &str| {
        let types = schema(&format!(
            "<xs:element name='grid' type='t:Grid'/>\
             <xs:complexType name='Grid'><xs:complexContent><xs:restriction base='soapenc:Array'>\
             <xs:attribute ref='soapenc:arrayType' wsdl:arrayType='xs:int{sizes}'/></xs:restriction></xs:complexContent></xs:complexType>"
        ));
        Codec::of(import(&description(&types, "")).unwrap()).view("grid").element.clone()
    };
    let commas = |count: usize| format!("[{}]", ",".repeat(count));
    assert!(matches!(element(&commas(15)), Element::Array(array) if array.dimensions == 16));
    assert!(matches!(element(&"[]".repeat(16)), Element::Array(array) if array.dimensions == 1));
    for sizes in [commas(16), commas(60_000), commas(16) + "[]", "[]".repeat(17)] {
        assert_eq!(element(&sizes), Element::Any, "{}", sizes.len());
    }
}

#[test]
fn encoded_types_that_hold_themselves_are_shared() {
    let parts = "<message name='in'><part name='p' type='t:List'/></message><message name='out'/>";
    let encoded =
        "<soap:body use='encoded' namespace='urn:t' encodingStyle='http://schemas.xmlsoap.org/soap/encoding/'/>";
    let codec = bound(parts, "style='rpc'", encoded);
    let element = &codec.method("op").element;
    let view = codec.lowered.schema.view(element.request);
    let document = "<t:op xmlns:t='urn:t'><p id='1'><value>7</value><next href='#1'/></p></t:op>";
    let ring = value_from_slice(document.as_bytes(), &element.request_name, view).unwrap();
    let Some(Value::Shared(list)) = ring.field(view, "p") else { panic!("{ring:?}") };
    let (held, list_view) = (list.get().unwrap(), view.follow(view.complex().unwrap().fields[0].element).content());
    let Some(Value::Shared(next)) = held.field(list_view, "next") else { panic!("{ring:?}") };
    assert!(Shared::ptr_eq(next, list));
    let document = document.replace("<next href='#1'/>", "<next><value>8</value></next>");
    round_trip(&codec, &element.request_name, element.request, &document);
    let literal = bound(parts, "style='rpc'", "<soap:body use='literal' namespace='urn:t'/>");
    round_trip(&literal, &element.request_name, literal.method("op").element.request, &document);
}

#[test]
fn embedded_schemas_know_each_other_without_locations() {
    let other = "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns:t='urn:t' targetNamespace='urn:o'>\
        <xs:import namespace='urn:t'/><xs:complexType name='O'><xs:sequence><xs:element name='t' type='t:T'/></xs:sequence>\
        </xs:complexType></xs:schema>";
    let own = schema(
        "<xs:import namespace='urn:o'/><xs:complexType name='T'><xs:sequence><xs:element name='o' \
        type='o:O' xmlns:o='urn:o' minOccurs='0'/></xs:sequence></xs:complexType>",
    );
    let import = import(&description(&format!("{own}{other}"), "")).unwrap();
    assert!(import.notes().is_empty(), "{:?}", import.notes());
}

#[test]
fn other_bindings_are_skipped_with_a_note() {
    let content = "<message name='m'/><portType name='P'/><binding name='H' type='t:P'>\
        <h:binding xmlns:h='http://schemas.xmlsoap.org/wsdl/http/' verb='GET'/></binding>\
        <service name='S'><port name='Q' binding='t:H'/></service>";
    let import = import(&description("", content)).unwrap();
    assert_eq!(import.notes()[0].kind, NoteKind::Skipped);
    assert!(import.definitions().bindings.is_empty() && import.definitions().services[0].ports.is_empty());
}

#[test]
fn policies_are_noted() {
    let content = "<p:Policy xmlns:p='http://schemas.xmlsoap.org/ws/2004/09/policy' xmlns:u='urn:u' u:Id='pol'><p:ExactlyOne><p:All>\
        <o:OptimizedMimeSerialization xmlns:o='urn:o'/><a:Addressing xmlns:a='urn:a'/><x:TransportBinding xmlns:x='urn:x'/>\
        </p:All></p:ExactlyOne></p:Policy><portType name='P'/><binding name='B' type='t:P'>\
        <p:PolicyReference xmlns:p='http://schemas.xmlsoap.org/ws/2004/09/policy' URI='#pol'/>\
        <soap:binding transport='http://schemas.xmlsoap.org/soap/http'/></binding>";
    let import = import(&description("", content)).unwrap();
    let policy = &import.definitions().bindings[0].policy;
    assert!(policy.mtom);
    assert_eq!(policy.addressing, Some(AddressingPolicy { version: Addressing::V10, is_required: true }));
    assert_eq!(policy.others, [Box::from("TransportBinding")]);
    let notes: Vec<_> = import.notes().iter().map(|note| (note.kind, &*note.text)).collect();
    let [(kind, text)] = notes[..] else { panic!("{notes:?}") };
    assert!(kind == NoteKind::Skipped && text.contains("TransportBinding"), "{text}");
}

/// Returns what a binding with this policy requires.
fn required(policy: &str) -> Vec<String> {
    let content = format!(
        "<portType name='P'/><binding name='B' type='t:P'><p:Policy xmlns:p='http://www.w3.org/ns/ws-policy' \
         xmlns:s='urn:s' xmlns:o='urn:o'>{policy}</p:Policy><soap:binding/></binding>"
    );
    let import = import(&description("", &content)).unwrap();
    import.definitions().bindings[0].policy.required.iter().map(ToString::to_string).collect()
}

#[test]
fn policies_require_what_is_in_every_alternative_and_not_optional() {
    assert_eq!(required("<s:A/><p:All><s:B><p:Policy><s:Inner/></p:Policy></s:B></p:All>"), ["A", "B"]);
    assert_eq!(required("<s:A p:Optional='true'/><s:B p:Ignorable='1'/><o:OptimizedMimeSerialization/>"), [""; 0]);
    assert_eq!(required("<p:ExactlyOne><p:All><s:A/><s:B/></p:All><p:All><s:C/></p:All></p:ExactlyOne>"), ["C"]);
    assert_eq!(required("<p:ExactlyOne><p:All><s:A/></p:All><p:All/></p:ExactlyOne>"), [""; 0]);
}

/// The namespace of WS-SecurityPolicy 1.2.
const SP: &str = "http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702";

/// Imports a binding with an operation, whose policies these are.
fn secured(policies: &str, of_binding: &str, of_operation: &str, of_input: &str) -> Import {
    let content = format!(
        "{policies}<message name='m'/><portType name='P'><operation name='o'><input message='t:m'/><output message='t:m'/>\
         </operation></portType><binding name='B' type='t:P' xmlns:p='http://www.w3.org/ns/ws-policy' xmlns:sp='{SP}'>\
         {of_binding}<soap:binding/><operation name='o'>{of_operation}<input>{of_input}</input><output/></operation></binding>"
    );
    import(&description("", &content)).unwrap()
}

#[test]
fn policies_about_security_are_kept_as_they_are() {
    let policies = "<p:Policy xmlns:p='http://www.w3.org/ns/ws-policy' xmlns:u='urn:u' u:Id='parts'>\
        <p:ExactlyOne><p:All><s:SignedParts xmlns:s='SP'><s:Body/><s:Header Namespace='urn:&amp;x'/></s:SignedParts></p:All>\
        <p:PolicyReference URI='#other'/></p:ExactlyOne></p:Policy>\
        <p:Policy xmlns:p='http://www.w3.org/ns/ws-policy' xmlns:u='urn:u' u:Id='other'><x:Other xmlns:x='urn:x'/></p:Policy>";
    let import = secured(
        &policies.replace("SP", SP),
        "<p:Policy><sp:TransportBinding/></p:Policy>",
        "<p:Policy><sp:UsernameToken sp:IncludeToken='always' p:Optional='true'/></p:Policy>",
        "<p:PolicyReference URI='#parts'/>",
    );
    let binding = &import.definitions().bindings[0];
    let documents = binding.operations[0].policy.security.documents(&binding.policy.security);
    assert_eq!(documents.required, "TransportBinding, SignedParts");
    let w = "http://www.w3.org/ns/ws-policy";
    let (binding, operation) = (
        format!("<Policy xmlns=\"{w}\"><TransportBinding xmlns=\"{SP}\"></TransportBinding></Policy>"),
        format!(
            "<Policy xmlns=\"{w}\"><UsernameToken xmlns=\"{SP}\" xmlns:a0=\"{SP}\" a0:IncludeToken=\"always\" \
             xmlns:a1=\"{w}\" a1:Optional=\"true\"></UsernameToken></Policy>"
        ),
    );
    let (binding, operation) = (binding + "\n", operation + "\n");
    let input = format!(
        "<Policy xmlns=\"{w}\"><ExactlyOne><All><SignedParts xmlns=\"{SP}\"><Body></Body>\
         <Header Namespace=\"urn:&amp;x\"></Header></SignedParts></All><Policy xmlns=\"{w}\"></Policy></ExactlyOne></Policy>"
    );
    assert_eq!(documents.request, format!("<Policy xmlns=\"{w}\">{binding}{operation}{input}\n</Policy>"));
    assert_eq!(documents.response, format!("<Policy xmlns=\"{w}\">{binding}{operation}</Policy>"));
    let none = required("<s:A/><s:TransportBinding/>");
    assert_eq!(none, ["A", "TransportBinding"], "in another namespace");
}

/// A policy that is part of another one counts on its own too.
#[test]
fn policies_inside_others_are_kept() {
    let policies = format!(
        "<p:Policy xmlns:p='http://www.w3.org/ns/ws-policy' xmlns:s='{SP}' xml:id='strong'><s:SignedParts/></p:Policy>\
         <p:Policy xmlns:p='http://www.w3.org/ns/ws-policy' xmlns:s='{SP}' xml:id='either'><p:ExactlyOne>\
         <p:PolicyReference URI='#strong'/><s:TransportBinding/></p:ExactlyOne></p:Policy>"
    );
    let references = "<p:PolicyReference URI='#either'/><p:PolicyReference URI='#strong'/>";
    let import = secured(&policies, references, "", "");
    let exchange = &*import.definitions().bindings[0].policy.security.exchange;
    assert_eq!(exchange.matches("<SignedParts").count(), 2, "{exchange}");
    assert_eq!(exchange.lines().count(), 2, "{exchange}");
    // The same policy twice is one.
    let again = secured(&policies, &[references, references].concat(), "", "");
    assert_eq!(&*again.definitions().bindings[0].policy.security.exchange, exchange);
}

/// Of what cannot be read, nothing is known but that it is required.
#[test]
fn policies_that_are_not_there_are_required() {
    let import = secured("", "<p:PolicyReference URI='#gone'/><p:Policy><sp:SignedParts/></p:Policy>", "", "");
    let binding = &import.definitions().bindings[0];
    let documents = binding.operations[0].policy.security.documents(&binding.policy.security);
    assert_eq!(documents.required, "policy #gone, SignedParts");
    assert!(documents.request.is_empty() && documents.response.is_empty() && !documents.is_met_by_tls());
}

#[test]
fn policies_about_security_have_a_maximum_length() {
    let policy = |number: usize| {
        let reference = format!("<p:PolicyReference URI='#p{}'/>", number + 1);
        format!(
            "<p:Policy xmlns:p='http://www.w3.org/ns/ws-policy' xmlns:u='urn:u' u:Id='p{number}'>{reference}{reference}</p:Policy>"
        )
    };
    let last = format!(
        "<p:Policy xmlns:p='http://www.w3.org/ns/ws-policy' xmlns:u='urn:u' u:Id='p40'><s:SignedParts xmlns:s='{SP}'/></p:Policy>"
    );
    let policies = (0..40).map(policy).chain([last]).collect::<String>();
    let import = secured(&policies, "<p:PolicyReference URI='#p0'/>", "", "");
    let binding = &import.definitions().bindings[0];
    assert_eq!(&*binding.policy.security.exchange, "");
    assert!(binding.policy.security.required.iter().any(|name| name.contains("longer than")));
}

/// Returns what a binding says about WS-Addressing, and its other requirements.
fn addressing(extensions: &str) -> (Option<(Addressing, bool)>, Vec<String>) {
    let content = format!(
        "<portType name='P'/><binding name='B' type='t:P' xmlns:p='http://www.w3.org/ns/ws-policy' xmlns:s='urn:s' \
         xmlns:wsam='http://www.w3.org/2007/05/addressing/metadata' xmlns:wsaw='http://www.w3.org/2006/05/addressing/wsdl' \
         xmlns:wsap='http://schemas.xmlsoap.org/ws/2004/08/addressing/policy' \
         xmlns:w='http://schemas.xmlsoap.org/wsdl/'>{extensions}<soap:binding/></binding>"
    );
    let import = import(&description("", &content)).unwrap();
    let policy = &import.definitions().bindings[0].policy;
    let addressing = policy.addressing.map(|it| (it.version, it.is_required));
    (addressing, policy.required.iter().map(ToString::to_string).collect())
}

/// Extensions of a binding, and what they say: the version of WS-Addressing, whether it is
/// required, and the requirements that are not met.
type Case = (&'static str, Option<(Addressing, bool)>, &'static [&'static str]);

#[test]
fn addressing_is_offered_or_required() {
    use Addressing::{V10, V2004};
    let cases: [Case; 11] = [
        ("", None, &[]),
        ("<wsaw:UsingAddressing/>", Some((V10, false)), &[]),
        ("<wsaw:UsingAddressing w:required='true'/>", Some((V10, true)), &[]),
        ("<p:Policy><wsap:UsingAddressing/></p:Policy>", Some((V2004, true)), &[]),
        ("<p:Policy><wsam:Addressing/></p:Policy>", Some((V10, true)), &[]),
        ("<p:Policy><wsam:Addressing p:Optional='true'/></p:Policy>", Some((V10, false)), &[]),
        (
            "<p:Policy><wsam:Addressing><p:Policy><wsam:AnonymousResponses/></p:Policy></wsam:Addressing></p:Policy>",
            Some((V10, true)),
            &[],
        ),
        (
            "<p:Policy><wsam:Addressing><p:Policy><wsam:NonAnonymousResponses/></p:Policy></wsam:Addressing></p:Policy>",
            Some((V10, true)),
            &["NonAnonymousResponses"],
        ),
        (
            "<p:Policy><p:ExactlyOne><p:All><wsam:Addressing/></p:All><p:All/></p:ExactlyOne></p:Policy>",
            Some((V10, false)),
            &[],
        ),
        (
            "<p:Policy><p:ExactlyOne><p:All><s:A/></p:All><p:All><wsam:Addressing/></p:All></p:ExactlyOne></p:Policy>",
            Some((V10, true)),
            &[],
        ),
        ("<wsaw:UsingAddressing/><p:Policy><wsam:Addressing/><s:A/></p:Policy>", Some((V10, true)), &["A"]),
    ];
    for (extensions, expected, unmet) in cases {
        let (addressing, required) = addressing(extensions);
        assert_eq!(
            (addressing, required.iter().map(String::as_str).collect::<Vec<_>>()),
            (expected, unmet.to_vec()),
            "{extensions}"
        );
    }
}

#[test]
fn messages_have_actions_in_addressing() {
    let content = "<message name='m'/><portType name='P' xmlns:wsam='http://www.w3.org/2007/05/addressing/metadata' \
        xmlns:wsaw='http://www.w3.org/2006/05/addressing/wsdl'>\
        <operation name='plain'><input message='t:m'/><output message='t:m'/><fault name='F' message='t:m'/></operation>\
        <operation name='named'><input name='In' message='t:m'/><output name='Out' message='t:m'/></operation>\
        <operation name='explicit'><input wsam:Action='urn:in' wsaw:Action='urn:old' message='t:m'/>\
        <output wsaw:Action='urn:out' message='t:m'/><fault name='F' wsam:Action='urn:fault' message='t:m'/></operation>\
        <operation name='soap'><input message='t:m'/></operation></portType>\
        <binding name='B' type='t:P'><soap:binding/><operation name='plain'/><operation name='named'/>\
        <operation name='explicit'><soap:operation soapAction='urn:soap'/></operation>\
        <operation name='soap'><soap:operation soapAction='urn:soap'/></operation></binding>";
    let import = import(&description("", content)).unwrap();
    let definitions = import.definitions();
    let binding = &definitions.bindings[0];
    let actions: Vec<_> = binding.operations.iter().map(|bound| definitions.actions(binding, bound)).collect();
    let namespace = &binding.name.namespace;
    let default = |names: &str| format!("{namespace}:P:{names}");
    assert!(namespace.starts_with("urn:"), "{namespace}");
    assert_eq!(
        (&actions[0].request, actions[0].response.as_ref()),
        (&default("plainRequest"), Some(&default("plainResponse")))
    );
    assert_eq!(actions[0].faults, [("F".to_owned(), default("plain:Fault:F"))]);
    assert_eq!((&actions[1].request, actions[1].response.as_ref()), (&default("In"), Some(&default("Out"))));
    assert_eq!((&*actions[2].request, actions[2].response.as_deref()), ("urn:in", Some("urn:out")));
    assert_eq!(actions[2].faults, [("F".to_owned(), "urn:fault".to_owned())]);
    assert_eq!((&*actions[3].request, &actions[3].response), ("urn:soap", &None));
}

#[test]
fn policies_of_operations_messages_and_ports_count() {
    let content = "<p:Policy xmlns:p='http://www.w3.org/ns/ws-policy' xmlns:u='urn:u' u:Id='a'><A xmlns='urn:s'/></p:Policy>\
        <p:Policy xmlns:p='http://www.w3.org/ns/ws-policy' xmlns:u='urn:u' u:Id='b'><B xmlns='urn:s'/></p:Policy>\
        <message name='m'/><portType name='P'><operation name='o'><input message='t:m'/></operation></portType>\
        <binding name='B' type='t:P' xmlns:p='http://www.w3.org/ns/ws-policy'><soap:binding/>\
        <operation name='o' p:PolicyURIs='#a #none'><input><p:PolicyReference URI='#b'/><soap:body use='literal'/></input></operation></binding>\
        <service name='S'><port name='Q' binding='t:B'><p:PolicyReference xmlns:p='http://www.w3.org/ns/ws-policy' URI='#b'/></port></service>";
    let import = import(&description("", content)).unwrap();
    let binding = &import.definitions().bindings[0];
    assert_eq!(binding.operations[0].policy.required, ["A", "B"].map(Box::from));
    assert_eq!(binding.operations[0].policy.security.required, [Box::from("policy #none")]);
    assert_eq!(binding.policy.required, [Box::from("B")]);
    assert!(import.notes().iter().any(|note| note.text == "a policy that is not in this document"));
}

/// WS-PolicyAttachment 1.5, 4.1.4.
#[test]
fn policies_of_message_definitions_count() {
    let content = "<p:Policy xmlns:p='http://www.w3.org/ns/ws-policy' xmlns:u='urn:u' u:Id='a'><A xmlns='urn:s'/></p:Policy>\
        <p:Policy xmlns:p='http://www.w3.org/ns/ws-policy' xmlns:u='urn:u' u:Id='b'><B xmlns='urn:s'/></p:Policy>\
        <message name='m'><p:Policy xmlns:p='http://www.w3.org/ns/ws-policy'><C xmlns='urn:s'/></p:Policy></message>\
        <message name='n'><p:PolicyReference xmlns:p='http://www.w3.org/ns/ws-policy' URI='#b'/></message>\
        <message name='f' xmlns:p='http://www.w3.org/ns/ws-policy' p:PolicyURIs='#a'/><message name='x'/>\
        <portType name='P'><operation name='o'><input message='t:m'/><output message='t:n'/><fault name='f' message='t:f'/>\
        </operation><operation name='q'><input message='t:x'/><output message='t:none'/></operation></portType>\
        <binding name='B' type='t:P'><soap:binding/><operation name='o'/><operation name='q'/></binding>";
    let import = import(&description("", content)).unwrap();
    let operations = &import.definitions().bindings[0].operations;
    assert_eq!(operations[0].policy.required, ["C", "B", "A"].map(Box::from));
    assert_eq!(operations[1].policy, Default::default());
}

#[test]
fn policies_of_services_and_port_types_count_and_those_that_others_refer_to() {
    let policy = |id: &str, content: &str| {
        format!(
            "<p:Policy xmlns:p='http://www.w3.org/ns/ws-policy' xmlns:u='urn:u' xmlns:s='urn:s' u:Id='{id}'>{content}</p:Policy>"
        )
    };
    let uses = |id: &str| format!("xmlns:p='http://www.w3.org/ns/ws-policy' p:PolicyURIs='#{id}'");
    let content = [
        policy(
            "all",
            "<p:ExactlyOne><p:All><p:PolicyReference URI='#inner'/><s:C p:Optional='true'/></p:All></p:ExactlyOne>",
        ),
        policy("inner", "<s:A/><p:PolicyReference URI='#again'/><p:PolicyReference URI='#none'/>"),
        policy("again", "<s:B/><p:PolicyReference URI='#inner'/><p:PolicyReference URI='#again'/>"),
        policy("d", "<s:D/>"),
        policy("e", "<s:E/>"),
        policy("f", "<s:F/>"),
        format!(
            "<message name='m'/><portType name='P' {}><operation name='o' {}><input message='t:m' {}/></operation></portType>\
             <binding name='B' type='t:P'><soap:binding/><operation name='o'><input><soap:body use='literal'/></input></operation>\
             </binding><service name='S' {}><port name='Q' binding='t:B'/></service>",
            uses("d"),
            uses("e"),
            uses("f"),
            uses("all")
        ),
    ];
    let import = import(&description("", &content.concat())).unwrap();
    let binding = &import.definitions().bindings[0];
    assert_eq!(binding.policy.required, ["D", "A", "B"].map(Box::from));
    assert_eq!(binding.policy.security.required, [Box::from("policy #none")]);
    assert_eq!(binding.policy.others, ["D", "A", "B", "C"].map(Box::from));
    assert_eq!(binding.operations[0].policy.required, ["E", "F"].map(Box::from));
    let notes: Vec<_> = import.notes().iter().map(|note| &*note.text).collect();
    assert!(notes.contains(&"policy assertions that are not applied: D"), "{notes:?}");
    assert_eq!(notes.iter().filter(|text| **text == "a policy that is not in this document").count(), 1, "{notes:?}");
}

/// WS-Policy 1.5, 4.2 and 4.3.4.
#[test]
fn policies_may_be_named_and_what_nothing_meets_is_noted() {
    let policy = |by: &str, content: &str| {
        format!(
            "<p:Policy xmlns:p='http://www.w3.org/ns/ws-policy' xmlns:u='urn:u' xmlns:s='urn:s' {by}>{content}</p:Policy>"
        )
    };
    let content = [
        policy("Name='http://example.org/a'", "<s:A/><p:PolicyReference URI='http://example.org/b'/>"),
        policy("Name='http://example.org/b' u:Id='b'", "<s:B/><p:PolicyReference URI='http://example.org/a'/>"),
        policy("u:Id='none'", "<p:ExactlyOne/>"),
        "<message name='m'/><portType name='P'><operation name='o'><input message='t:m'/></operation></portType>\
         <binding name='B' type='t:P' xmlns:p='http://www.w3.org/ns/ws-policy' p:PolicyURIs='http://example.org/a #b #none'>\
         <soap:binding/><p:Policy><p:ExactlyOne/></p:Policy><p:PolicyReference URI='http://example.org/c'/></binding>"
            .to_owned(),
    ];
    let import = import(&description("", &content.concat())).unwrap();
    let policy = &import.definitions().bindings[0].policy;
    assert_eq!(policy.required, ["A", "B"].map(Box::from));
    assert_eq!(policy.security.required, [Box::from("policy http://example.org/c")]);
    let count = |text: &str| import.notes().iter().filter(|note| note.text == text).count();
    assert_eq!(count("a policy that is not in this document"), 1, "{:?}", import.notes());
    assert_eq!(count("a policy without alternatives: nothing satisfies it"), 2, "{:?}", import.notes());
    assert!(count("a policy that refers to itself") > 0, "{:?}", import.notes());
}

#[test]
fn policies_that_refer_to_each_other_many_times_are_read_once() {
    let policy = |number: usize| {
        let reference = format!("<p:PolicyReference URI='#p{}'/>", number + 1);
        format!(
            "<p:Policy xmlns:p='http://www.w3.org/ns/ws-policy' xmlns:u='urn:u' u:Id='p{number}'>{reference}{reference}</p:Policy>"
        )
    };
    let policies: String = (0..5_000).map(policy).collect();
    let content = format!(
        "{policies}<portType name='P'/><binding name='B' type='t:P'><p:PolicyReference \
                           xmlns:p='http://www.w3.org/ns/ws-policy' URI='#p0'/><soap:binding/></binding>"
    );
    let import = import(&description("", &content)).unwrap();
    assert_eq!(import.definitions().bindings[0].policy.required, [] as [Box<str>; 0]);
}

#[test]
fn who_begins_an_operation_is_known() {
    let operation = |content: &str| format!("<operation name='o'>{content}</operation>");
    let (input, output) = ("<input message='t:m'/>", "<output message='t:m'/>");
    for (messages, kind) in [
        (format!("{input}{output}"), OperationKind::RequestResponse),
        (input.to_owned(), OperationKind::OneWay),
        (format!("{output}{input}"), OperationKind::SolicitResponse),
        (output.to_owned(), OperationKind::Notification),
        (String::new(), OperationKind::Empty),
    ] {
        let content = format!("<message name='m'/><portType name='P'>{}</portType>", operation(&messages));
        let import = import(&description("", &content)).unwrap();
        assert_eq!(import.definitions().port_types[0].operations[0].kind(), kind);
    }
}

#[test]
fn the_request_of_an_operation_that_the_service_begins_is_its_output() {
    let message = |name: &str| format!("<message name='{name}'><part name='p' element='t:{name}'/></message>");
    let types = "<types><xs:schema targetNamespace='urn:t' xmlns:xs='http://www.w3.org/2001/XMLSchema'>\
                 <xs:element name='alarm' type='xs:string'/><xs:element name='seen' type='xs:int'/></xs:schema></types>";
    let bound = |name: &str| format!("<{name}><soap:body use='literal'/></{name}>");
    for (order, answer) in [(&["output", "input"][..], Some("seen")), (&["output"], None)] {
        let declared: String = order
            .iter()
            .map(|name| format!("<{name} message='t:{}'/>", if *name == "output" { "alarm" } else { "seen" }))
            .collect();
        let bindings: String = order.iter().map(|name| bound(name)).collect();
        let content = format!(
            "{types}{}{}<portType name='P'><operation name='o'>{declared}</operation></portType><binding name='B' \
             type='t:P'><soap:binding transport='http://schemas.xmlsoap.org/soap/http'/><operation \
             name='o'>{bindings}</operation></binding>",
            message("alarm"),
            message("seen")
        );
        let import = import(&description("", &content)).unwrap();
        let lowered = import.lower();
        let method = &lowered.operations[0].method.as_ref().unwrap().element;
        assert_eq!(&*method.request_name.local, "alarm");
        assert_eq!(method.response_name.as_ref().map(|name| &*name.local), answer);
    }
}

#[test]
fn references_of_descriptions_are_checked() {
    for (content, expected) in [
        ("<portType name='P'><operation name='o'><input message='t:no'/></operation></portType>", "message {urn:t}no"),
        ("<portType name='P'><operation name='o'><input/></operation></portType>", "<input> without `message`"),
        ("<binding name='B' type='t:no'><soap:binding/></binding>", "port type {urn:t}no"),
        ("<service name='S'><port name='Q' binding='t:no'/></service>", "binding {urn:t}no"),
    ] {
        let import = import(&description("", content)).unwrap();
        assert!(import.notes().iter().any(|note| note.text.contains(expected)), "{:?}", import.notes());
        let error = Importer::new().offline().strict().text(&description("", content)).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains(":4:"), "{error}");
    }
    let error = Importer::new().offline().strict().text(&description("", "<message/>")).unwrap_err().to_string();
    assert!(error.contains("<message> without `name`"), "{error}");
}

/// Returns the notes of a WSDL whose input is bound this way, and the error of a strict import.
fn notes_of_input(bound: &str) -> (Vec<(NoteKind, String)>, Option<String>) {
    let content = format!(
        "<message name='m'><part name='p' type='xs:int'/><part name='h' type='xs:int'/></message>\
         <portType name='P'><operation name='o'><input message='t:m'/></operation></portType>\
         <binding name='B' type='t:P'><soap:binding style='rpc'/><operation name='o'><input>{bound}</input></operation></binding>"
    );
    let import = import(&description("", &content)).unwrap();
    let strict = Importer::new().offline().strict().text(&description("", &content)).err();
    (import.notes().iter().map(|note| (note.kind, note.text.clone())).collect(), strict.map(|error| error.to_string()))
}

#[test]
fn parts_that_a_message_does_not_have_are_noted() {
    let header = |part, fault| {
        format!(
            "<soap:body use='literal' parts='p'/><soap:header message='t:m' part='{part}' use='literal'>\
             <soap:headerfault message='t:m' part='{fault}' use='literal'/></soap:header>"
        )
    };
    for (bound, place) in [
        (header("no", "h"), "header"),
        (header("h", "no"), "headerfault"),
        ("<soap:body use='literal' parts='p no'/>".to_owned(), "body"),
    ] {
        let (notes, strict) = notes_of_input(&bound);
        let text = format!("message {{urn:t}}m has no part `no`, which this <{place}> names");
        assert_eq!(notes, [(NoteKind::Missing, text.clone())]);
        assert!(strict.is_some_and(|error| error.contains(&text)), "{bound}");
    }
    assert_eq!(notes_of_input(&header("h", "h")), (Vec::new(), None));
    // A missing message is noted once.
    let (notes, _) = notes_of_input("<soap:header message='t:no' part='h' use='literal'/>");
    assert_eq!(notes.len(), 1, "{notes:?}");
}

#[test]
fn bound_faults_that_the_port_type_lacks_are_noted() {
    let content = "<message name='m'/><portType name='P'><operation name='o'><input message='t:m'/><fault name='known' message='t:m'/>\
        </operation></portType>\n<binding name='B' type='t:P'><soap:binding/><operation name='o'><input><soap:body use='literal'/></input>\
        <fault name='known'><soap:fault name='known' use='literal'/></fault>\n<fault name='other'><soap:fault use='literal'/></fault>\
        </operation></binding>";
    let import = import(&description("", content)).unwrap();
    let [note] = import.notes() else { panic!("{:?}", import.notes()) };
    assert_eq!(note.text, "fault `other` is bound, but is not in operation `o` of port type {urn:t}P");
    assert_eq!((note.kind, note.position.line), (NoteKind::Skipped, 6));
    assert!(import.lower().operations[0].method.is_ok());
}

#[test]
fn parts_that_are_attachments_are_noted() {
    let content = "<message name='m'><part name='p' type='xs:string'/><part name='scan' type='xs:base64Binary'/></message>\
        <portType name='P'><operation name='o'><input message='t:m'/></operation></portType>\
        <binding name='B' type='t:P'><soap:binding style='rpc'/><operation name='o'>\n\
        <input><m:multipartRelated xmlns:m='http://schemas.xmlsoap.org/wsdl/mime/'><m:part><soap:body use='literal' parts='p'/></m:part>\
        <m:part><m:content part='scan' type='image/png'/></m:part></m:multipartRelated></input></operation></binding>";
    let import = import(&description("", content)).unwrap();
    let [note] = import.notes() else { panic!("{:?}", import.notes()) };
    assert!(note.text.starts_with("part `scan` is an attachment (mime:content)"), "{}", note.text);
    assert_eq!((note.kind, note.position.line), (NoteKind::Skipped, 5));
}

#[test]
fn extensions_that_must_be_understood_are_noted_and_required() {
    let required = "xmlns:x='urn:x' wsdl:required='true'";
    let content = format!(
        "<x:all {required}/><p:UsingPolicy xmlns:p='http://www.w3.org/ns/ws-policy' wsdl:required='true'/>\
         <message name='m'/><portType name='P'><x:type {required}/><operation name='o'><x:abstract {required}/><input message='t:m'/>\
         </operation><operation name='p'><input message='t:m'/></operation></portType>\
         <binding name='B' type='t:P'><x:may xmlns:x='urn:x'/><x:may xmlns:x='urn:x' wsdl:required='false'/><x:binding {required}/>\
         <soap:binding wsdl:required='true'/>\
         <operation name='o'><x:bound {required}/><input><soap:body use='literal'/><x:input {required}/></input></operation>\
         <operation name='p'/></binding>\
         <service name='S'><x:service {required}/><port name='Q' binding='t:B'><x:port {required}/></port></service>"
    );
    let import = import(&description("", &content)).unwrap();
    let names = |names: &[Box<str>]| {
        let mut names: Vec<_> = names.iter().map(|it| it.trim_start_matches("extension {urn:x}").to_owned()).collect();
        names.sort_unstable();
        names.join(" ")
    };
    let binding = &import.definitions().bindings[0];
    assert_eq!(names(&binding.policy.required), "all binding port service type");
    assert_eq!(names(&binding.operations[0].policy.required), "abstract bound input");
    assert_eq!(names(&binding.operations[1].policy.required), "");
    let notes: Vec<_> = import.notes().iter().map(|note| (note.kind, &*note.text)).collect();
    assert_eq!(notes.len(), 8, "{notes:?}");
    assert!(notes.contains(&(NoteKind::Skipped, "the extension {urn:x}bound is required but unknown")));
}

#[test]
fn malformed_array_types_are_noted() {
    let array = |sizes: &str| {
        let types = schema(&format!(
            "<xs:element name='a' type='t:A'/>\n<xs:complexType name='A'><xs:complexContent><xs:restriction base='soapenc:Array'>\n\
             <xs:attribute ref='soapenc:arrayType' wsdl:arrayType='xs:string{sizes}'/></xs:restriction></xs:complexContent></xs:complexType>"
        ));
        Codec::of(import(&description(&types, "")).unwrap())
    };
    for sizes in ["[", "", "[]]", "[x]", "[[]", "[]x", "[-1]", "[2, 3]", "[] []", " []x"] {
        let codec = array(sizes);
        let [note] = codec.import.notes() else { panic!("{sizes}: {:?}", codec.import.notes()) };
        assert!(
            note.text.starts_with(&format!("`arrayType=\"xs:string{sizes}\"` is not a name with dimensions")),
            "{note}"
        );
        assert_eq!((note.kind, note.position.line), (NoteKind::Tolerated, 7));
        assert!(matches!(codec.view("a").element, Element::Array(_)), "{sizes}");
    }
    for sizes in ["[]", "[,]", "[3]", "[2,3]", "[][]", "[][,,4]", "[] "] {
        assert!(array(sizes).import.notes().is_empty(), "{sizes}");
    }
}

#[test]
fn operations_without_a_message_say_so() {
    let content = "<portType name='P'><operation name='o'><input message='t:no'/></operation></portType>\
        <binding name='B' type='t:P'><soap:binding/><operation name='o'><input><soap:body use='literal'/></input></operation></binding>";
    let lowered = import(&description("", content)).unwrap().lower();
    assert!(lowered.operations[0].method.as_ref().unwrap_err().contains("message {urn:t}no is not defined"));
}

/// Returns the notes on a binding with these attributes, to an operation with this body.
fn notes_of_binding(attributes: &str, operation: &str, body: &str) -> Vec<String> {
    let content = format!(
        "<message name='m'/><portType name='P'><operation name='o'><input message='t:m'/></operation></portType>\
         <binding name='B' type='t:P'><soap:binding {attributes}/><operation name='o'><soap:operation {operation}/>\
         <input><soap:body {body}/></input></operation></binding>"
    );
    let import = import(&description("", &content)).unwrap();
    assert_eq!(import.definitions().bindings[0].operations.len(), 1);
    assert!(import.notes().iter().all(|note| note.kind == NoteKind::Tolerated), "{:?}", import.notes());
    import.notes().iter().map(|note| note.text.clone()).collect()
}

#[test]
fn styles_uses_and_transports_that_are_not_known_are_noted() {
    const HTTP: &str = "transport='http://schemas.xmlsoap.org/soap/http'";
    assert_eq!(
        notes_of_binding(&format!("style='foo' {HTTP}"), "style='literal'", "use='bar'"),
        [
            "`style=\"foo\"` is neither document nor rpc; it is read as document",
            "`style=\"literal\"` is neither document nor rpc; it is read as document",
            "`use=\"bar\"` is neither literal nor encoded; it is read as literal",
        ]
    );
    let smtp = "http://schemas.xmlsoap.org/soap/smtp";
    let said = format!("binding {{{NS}}}B uses the transport `{smtp}`; it is read as HTTP");
    assert_eq!(notes_of_binding(&format!("transport='{smtp}'"), "", "use='literal'"), [said]);
    for known in ["", HTTP, "transport='http://www.w3.org/2003/05/soap/bindings/HTTP/'"] {
        assert!(notes_of_binding(known, "style='rpc'", "use='encoded'").is_empty(), "{known}");
    }
}

#[test]
fn definitions_of_one_name_that_differ_are_noted() {
    let twice = |first: &str, second: &str| {
        let import = import(&description("", &format!("{first}\n{second}"))).unwrap();
        import.notes().iter().map(|note| (note.text.clone(), note.position.line)).collect::<Vec<_>>()
    };
    let part = "<message name='m'><part name='p' type='xs:int'/></message>";
    let other = "<message name='m'><part name='p' type='xs:date'/></message>";
    let [(text, line)] = &twice(part, other)[..] else { panic!("one note") };
    assert!(text.starts_with(&format!("message {{{NS}}}m differs from its definition at ")), "{text}");
    assert!(text.ends_with(", which counts"), "{text}");
    let [(text, other_line)] =
        &twice("<portType name='P'/>", "<portType name='P'><operation name='o'/></portType>")[..]
    else {
        panic!("one note")
    };
    assert!(text.starts_with(&format!("port type {{{NS}}}P differs")) && line == other_line, "{text}");
    // Copies, and other components of the same name.
    assert!(twice(part, part).is_empty());
    assert!(twice(part, "<portType name='m'/>").is_empty());
}
