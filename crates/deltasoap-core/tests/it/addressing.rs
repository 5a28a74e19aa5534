//! WS-Addressing: header blocks, endpoint references, faults.

use deltasoap::engine::decode::{Cursor, Decoder, Step, skip_element};
use deltasoap::engine::{DecodeOptions, ErrorKind};
use deltasoap::schema::QName;
use deltasoap::soap::addressing::{
    Addressing, AddressingFault, AddressingFaultKind, AddressingHeaders, EndpointReference, HeaderProblem, RelatesTo,
};
use deltasoap::soap::{Envelope, EnvelopeReader, Fault, FaultCode, Head, HeaderBlock, Receiver, Version};
use deltasoap::types::Node;
use proptest::prelude::*;
use std::time::Duration;

const V10: &str = Addressing::V10.namespace();
const V2004: &str = Addressing::V2004.namespace();

struct Skipping;

impl Receiver for Skipping {
    fn open_body(&mut self, _: &Head, _: &str, _: &str) -> Result<(), ErrorKind> {
        Ok(())
    }

    fn empty_body(&mut self, _: &Head) -> Result<(), ErrorKind> {
        Ok(())
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        skip_element(cursor)
    }
}

fn head(message: &[u8]) -> Head {
    let mut reader = EnvelopeReader::new(Skipping);
    Decoder::new(DecodeOptions::default()).decode(&mut reader, message).expect("a message");
    reader.into_parts().0
}

/// Returns the head of a message with these header blocks; `a` is the prefix of a version.
fn head_of(version: Addressing, blocks: &str) -> Head {
    let namespace = version.namespace();
    let message = format!(
        "<s:Envelope xmlns:s='{}' xmlns:a='{namespace}' xmlns:x='urn:x'><s:Header>{blocks}</s:Header><s:Body/></s:Envelope>",
        Version::Soap12.namespace()
    );
    head(message.as_bytes())
}

fn read(blocks: &str) -> Result<Option<AddressingHeaders>, AddressingFault> {
    AddressingHeaders::read(&head_of(Addressing::V10, blocks))
}

fn refused(blocks: &str) -> AddressingFaultKind {
    read(blocks).expect_err("an invalid message").kind
}

#[test]
fn all_properties_are_read() {
    let anonymous = Addressing::V10.anonymous();
    let headers = read(&format!(
        "<a:To> http://to/ </a:To><a:Action>urn:do</a:Action><a:MessageID>urn:1</a:MessageID>\
         <a:RelatesTo>urn:0</a:RelatesTo><a:RelatesTo RelationshipType='urn:other'>urn:9</a:RelatesTo>\
         <a:RelatesTo RelationshipType='http://www.w3.org/2005/08/addressing/reply'>urn:8</a:RelatesTo>\
         <a:ReplyTo><a:Address>{anonymous}</a:Address></a:ReplyTo><x:Key a:IsReferenceParameter='1'>x:k</x:Key>\
         <a:From><a:Address>http://from/</a:Address></a:From><x:Other/>"
    ));
    let headers = headers.expect("valid").expect("addressed");
    assert_eq!((headers.to.as_deref(), &*headers.action), (Some("http://to/"), "urn:do"));
    assert_eq!(headers.message_id.as_deref(), Some("urn:1"));
    let other = RelatesTo { message_id: "urn:9".to_owned(), relationship: Some("urn:other".to_owned()) };
    assert_eq!(headers.relates_to, [RelatesTo::reply("urn:0"), other, RelatesTo::reply("urn:8")]);
    assert!(headers.reply_to.as_ref().is_some_and(EndpointReference::is_anonymous));
    assert_eq!(headers.fault_endpoint(), headers.reply_to.as_ref());
    assert_eq!(headers.from, Some(EndpointReference::new("http://from/")));
    let [key] = &headers.reference_parameters[..] else { panic!("{headers:?}") };
    assert_eq!((key.resolve(&key.text()), key.attributes.len()), (Some(QName::new("urn:x", "k")), 0));
}

#[test]
fn messages_without_addressing_are_no_error() {
    assert_eq!(read(""), Ok(None));
    assert_eq!(read("<x:Action>urn:do</x:Action>"), Ok(None));
    let elsewhere = "<a:To s:role='urn:elsewhere'>nowhere</a:To>";
    assert_eq!(read(elsewhere), Ok(None), "blocks for other nodes do not count");
}

#[test]
fn blocks_for_other_nodes_do_not_count() {
    let ultimate = "http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver";
    let blocks = format!(
        "<a:Action s:role='urn:elsewhere'>urn:other</a:Action><a:Action s:role='{ultimate}'>urn:do</a:Action>\
         <a:To s:role='http://www.w3.org/2003/05/soap-envelope/role/next'>http://next/</a:To>"
    );
    let headers = read(&blocks).expect("valid").expect("addressed");
    assert_eq!((&*headers.action, headers.to), ("urn:do", None));
}

#[test]
fn invalid_blocks_are_refused() {
    use HeaderProblem::{InvalidAddress, InvalidCardinality, InvalidEpr, MissingAddressInEpr};
    const ACTION: &str = "<a:Action>urn:do</a:Action>";
    let to = "<a:To>http://to/</a:To>";
    let address = "<a:Address>http://reply/</a:Address>";
    let cases = [
        (format!("{ACTION}{to}{to}"), "To", Some(InvalidCardinality)),
        (format!("{ACTION}{ACTION}"), "Action", Some(InvalidCardinality)),
        (
            format!("{ACTION}<a:MessageID>1</a:MessageID><a:MessageID>2</a:MessageID>"),
            "MessageID",
            Some(InvalidCardinality),
        ),
        (format!("{ACTION}<a:ReplyTo>{address}</a:ReplyTo><a:ReplyTo/>"), "ReplyTo", Some(InvalidCardinality)),
        (format!("{ACTION}<a:FaultTo>{address}</a:FaultTo><a:FaultTo/>"), "FaultTo", Some(InvalidCardinality)),
        (format!("{ACTION}<a:From>{address}</a:From><a:From/>"), "From", Some(InvalidCardinality)),
        (format!("{ACTION}<a:ReplyTo/>"), "ReplyTo", Some(MissingAddressInEpr)),
        (
            format!("{ACTION}<a:ReplyTo><x:Address>http://reply/</x:Address></a:ReplyTo>"),
            "ReplyTo",
            Some(MissingAddressInEpr),
        ),
        (format!("{ACTION}<a:FaultTo>{address}{address}</a:FaultTo>"), "FaultTo", Some(InvalidEpr)),
        (format!("{ACTION}<a:From><a:Address/></a:From>"), "From", Some(InvalidAddress)),
        (format!("{ACTION}<a:ReplyTo><a:Address>/reply</a:Address></a:ReplyTo>"), "ReplyTo", Some(InvalidAddress)),
        (format!("{ACTION}<a:To/>"), "To", Some(InvalidAddress)),
        (format!("{ACTION}<a:To>to</a:To>"), "To", Some(InvalidAddress)),
        (format!("{ACTION}<a:To>http://a b/</a:To>"), "To", Some(InvalidAddress)),
        ("<a:Action> </a:Action>".to_owned(), "Action", None),
        (format!("{ACTION}<a:MessageID/>"), "MessageID", None),
    ];
    for (blocks, local, problem) in cases {
        let header = Addressing::V10.name(local);
        assert_eq!(refused(&blocks), AddressingFaultKind::InvalidHeader { header, problem }, "{blocks}");
    }
    assert_eq!(refused(to), AddressingFaultKind::HeaderRequired { header: Addressing::V10.name("Action") });
}

#[test]
fn one_version_in_a_message() {
    let other = format!("<a:Action>urn:do</a:Action><o:To xmlns:o='{V2004}'>http://to/</o:To>");
    let header = Addressing::V2004.name("To");
    assert_eq!(refused(&other), AddressingFaultKind::InvalidHeader { header, problem: None });
}

#[test]
fn faults_relate_to_the_message() {
    let fault = read("<a:MessageID>urn:1</a:MessageID>").expect_err("no action");
    assert_eq!(fault.message_id.as_deref(), Some("urn:1"));
    let headers = fault.headers();
    assert_eq!(headers.action, "http://www.w3.org/2005/08/addressing/fault");
    assert_eq!(headers.relates_to, [RelatesTo::reply("urn:1")]);
    let unrelated = AddressingFault::unrelated(Addressing::V2004, fault.kind).headers();
    assert_eq!(unrelated.relates_to[0].message_id, Addressing::V2004.unspecified());
}

fn example(version: Addressing) -> AddressingHeaders {
    let parse = |text: &str| Node::parse(text.as_bytes()).expect("XML");
    let mut endpoint = EndpointReference::new("http://reply/");
    endpoint.reference_parameters.push(parse("<k:Key xmlns:k='urn:k'>k:v</k:Key>"));
    match version {
        Addressing::V10 => endpoint.metadata.push(parse("<m:Metadata xmlns:m='urn:m'/>")),
        Addressing::V2004 => {
            endpoint.reference_properties.push(parse("<p:Property xmlns:p='urn:p'/>"));
            let port_type = format!("<w:PortType xmlns:w='{V2004}' xmlns:p='urn:p'>p:P</w:PortType>");
            endpoint.extensions.push(parse(&port_type));
        }
    }
    let mut headers = AddressingHeaders::new(version, "urn:do").to_endpoint(&EndpointReference::new("http://to/"));
    headers.message_id = Some("urn:uuid:1".to_owned());
    headers.relates_to = vec![RelatesTo::reply("urn:0")];
    headers.relates_to.push(RelatesTo { message_id: "urn:9".to_owned(), relationship: Some("urn:other".to_owned()) });
    headers.fault_to = Some(EndpointReference::new("http://fault/"));
    headers.from = Some(EndpointReference::new(version.anonymous()));
    headers.reply_to = Some(endpoint);
    headers
}

fn sent(blocks: Vec<HeaderBlock>, soap: Version) -> Head {
    let fault = Fault::sender("any body");
    let message = blocks.into_iter().fold(Envelope::fault(&fault).version(soap), Envelope::header).to_vec();
    head(&message.expect("a message"))
}

/// Returns the text of a reference, in which prefixes do not matter.
fn without_bindings(mut headers: AddressingHeaders) -> AddressingHeaders {
    let endpoints = [&mut headers.reply_to, &mut headers.fault_to, &mut headers.from];
    for endpoint in endpoints.into_iter().flatten() {
        let lists = [&mut endpoint.reference_parameters, &mut endpoint.reference_properties];
        let nodes = lists.into_iter().chain([&mut endpoint.metadata, &mut endpoint.extensions]).flatten();
        nodes.for_each(|node| node.bindings = Default::default());
    }
    headers.reference_parameters.iter_mut().for_each(|node| node.bindings = Default::default());
    headers
}

#[test]
fn what_is_written_is_read() {
    for version in Addressing::ALL {
        for soap in [Version::Soap11, Version::Soap12] {
            let headers = example(version);
            let head = sent(headers.to_blocks(soap), soap);
            let read = AddressingHeaders::read(&head).expect("valid").expect("addressed");
            let endpoint = read.reply_to.as_ref().expect("an endpoint");
            let key = &endpoint.reference_parameters[0];
            assert_eq!(key.resolve(&key.text()), Some(QName::new("urn:k", "v")), "prefixes in content stay bound");
            assert_eq!(without_bindings(read), without_bindings(headers));
            let mandatory = head.headers.iter().filter(|block| block.is_mandatory(soap));
            let names: Vec<_> = mandatory.map(|block| &*block.node.name.local).collect();
            assert_eq!(names, ["ReplyTo", "FaultTo"], "only endpoints that are not anonymous");
        }
    }
}

#[test]
fn replies_carry_reference_parameters() {
    for (version, is_marked) in [(Addressing::V10, true), (Addressing::V2004, false)] {
        let request = example(version);
        let reply = request.reply(request.reply_to.as_ref(), "urn:done");
        assert_eq!(reply.to.as_deref(), Some("http://reply/"));
        assert_eq!((&*reply.action, &reply.relates_to[..]), ("urn:done", &[RelatesTo::reply("urn:uuid:1")][..]));
        let head = sent(reply.to_blocks(Version::Soap11), Version::Soap11);
        let key = head.header("urn:k", "Key").expect("a reference parameter").node.clone();
        assert_eq!(key.attribute(V10, "IsReferenceParameter"), is_marked.then_some("true"));
        assert_eq!(key.resolve(&key.text()), Some(QName::new("urn:k", "v")));
        assert_eq!(head.header("urn:p", "Property").is_some(), version == Addressing::V2004);
    }
}

#[test]
fn replies_to_messages_without_an_id() {
    for version in Addressing::ALL {
        let reply = AddressingHeaders::new(version, "urn:do").reply(None, "urn:done");
        assert_eq!(reply.relates_to, [RelatesTo::reply(version.unspecified())]);
        assert_eq!(reply.to.as_deref(), Some(version.anonymous()));
    }
}

/// Sends a fault, and returns its head and the fault that is read.
fn fault_sent(fault: &AddressingFault, soap: Version) -> (Head, Fault) {
    let mut written = fault.to_fault(soap);
    let detail = (soap == Version::Soap11).then(|| AddressingFault::take_detail(&mut written)).flatten();
    let blocks = fault.headers().to_blocks(soap).into_iter().chain(detail);
    let message = blocks.fold(Envelope::fault(&written).version(soap), Envelope::header).to_vec();
    let message = message.expect("a message");
    let node = Node::parse(&message).expect("XML");
    let body = node.element(soap.namespace(), "Body").and_then(|body| body.elements().next()).expect("a fault");
    (head(&message), Fault::from_node(body).expect("a fault"))
}

#[test]
fn faults_have_codes_and_details() {
    use AddressingFaultKind as Kind;
    let to = Addressing::V10.name("To");
    let problem = HeaderProblem::InvalidCardinality;
    let cases = [
        (
            Kind::InvalidHeader { header: to.clone(), problem: Some(problem) },
            "InvalidAddressingHeader",
            Some("InvalidCardinality"),
            "ProblemHeaderQName",
        ),
        (
            Kind::InvalidHeader { header: to.clone(), problem: None },
            "InvalidAddressingHeader",
            None,
            "ProblemHeaderQName",
        ),
        (Kind::HeaderRequired { header: to }, "MessageAddressingHeaderRequired", None, "ProblemHeaderQName"),
        (
            Kind::ActionMismatch { action: "urn:a".to_owned(), soap_action: Some("urn:b".to_owned()) },
            "InvalidAddressingHeader",
            Some("ActionMismatch"),
            "ProblemAction",
        ),
        (Kind::ActionNotSupported { action: "urn:a".to_owned() }, "ActionNotSupported", None, "ProblemAction"),
        (Kind::DestinationUnreachable { address: "urn:a".to_owned() }, "DestinationUnreachable", None, "ProblemIRI"),
        (
            Kind::EndpointUnavailable { retry_after: Some(Duration::from_secs(2)) },
            "EndpointUnavailable",
            None,
            "RetryAfter",
        ),
    ];
    for (kind, code, subcode, detail) in cases {
        let fault = AddressingFault::unrelated(Addressing::V10, kind.clone());
        let code = Addressing::V10.name(code);

        let (head, read) = fault_sent(&fault, Version::Soap11);
        assert_eq!((&read.code, read.detail.len()), (&FaultCode::Other(code.clone()), 0), "{kind:?}");
        let block = &head.header(V10, "FaultDetail").expect("a detail").node;
        let in_header = block.element(V10, detail).expect("a detail").clone();
        assert_eq!(AddressingFault::code_in(&read), Some(&*code.local));
        assert!(
            AddressingHeaders::read(&head)
                .is_ok_and(|it| it.is_some_and(|it| it.action == Addressing::V10.fault_action()))
        );

        let (head, read) = fault_sent(&fault, Version::Soap12);
        let is_receivers = matches!(kind, Kind::EndpointUnavailable { .. });
        assert_eq!(read.code, if is_receivers { FaultCode::Receiver } else { FaultCode::Sender });
        let subcodes = [code].into_iter().chain(subcode.map(|local| Addressing::V10.name(local)));
        assert_eq!(read.subcodes, subcodes.collect::<Vec<_>>());
        assert!(read.detail[0].is_equivalent(&in_header) && head.header(V10, "FaultDetail").is_none(), "{read:?}");
        assert_eq!(AddressingFault::code_in(&read), Some(subcode.unwrap_or(&read.subcodes[0].local)));
    }
}

#[test]
fn details_name_the_problem() {
    let header = Addressing::V10.name("ReplyTo");
    let fault =
        AddressingFault::unrelated(Addressing::V10, AddressingFaultKind::HeaderRequired { header: header.clone() });
    let (_, read) = fault_sent(&fault, Version::Soap12);
    assert_eq!(Node::resolve_in(&[&read.detail[0]], &read.detail[0].text()), Some(header));
    let kind = AddressingFaultKind::EndpointUnavailable { retry_after: Some(Duration::from_secs(2)) };
    let (_, read) = fault_sent(&AddressingFault::unrelated(Addressing::V10, kind), Version::Soap12);
    assert_eq!(read.detail[0].text(), "2000", "milliseconds");
}

#[test]
fn faults_of_2004_have_other_codes_and_no_detail() {
    let header = Addressing::V2004.name("To");
    let cases = [
        (AddressingFaultKind::HeaderRequired { header: header.clone() }, "MessageInformationHeaderRequired"),
        (
            AddressingFaultKind::InvalidHeader { header, problem: Some(HeaderProblem::InvalidCardinality) },
            "InvalidMessageInformationHeader",
        ),
    ];
    for (kind, code) in cases {
        let fault = AddressingFault::unrelated(Addressing::V2004, kind);
        let (head, read) = fault_sent(&fault, Version::Soap12);
        assert_eq!((&read.subcodes[..], read.detail.len()), (&[Addressing::V2004.name(code)][..], 0));
        assert_eq!(AddressingHeaders::read(&head).expect("valid").expect("addressed").version, Addressing::V2004);
        let (head, read) = fault_sent(&fault, Version::Soap11);
        assert_eq!(read.code, FaultCode::Other(Addressing::V2004.name(code)));
        assert!(head.header(V2004, "FaultDetail").is_none());
    }
}

#[test]
fn other_faults_have_no_code_of_addressing() {
    let mut other = Fault::sender("no");
    other.detail.push(Node::new(QName::new("urn:x", "Detail")));
    assert_eq!(AddressingFault::code_in(&other), None);
    assert_eq!(AddressingFault::take_detail(&mut other), None);
    assert_eq!(other.detail.len(), 1);
    let foreign = FaultCode::Other(QName::new("urn:x", "InvalidAddressingHeader"));
    assert_eq!(AddressingFault::code_in(&Fault::new(foreign, "no")), None);
}

#[test]
fn the_sender_is_to_blame_unless_the_endpoint_is_unavailable() {
    for (local, code) in [("ActionNotSupported", "Sender"), ("EndpointUnavailable", "Receiver")] {
        let fault = Fault::new(FaultCode::Other(Addressing::V10.name(local)), "no");
        assert_eq!(&*fault.code.name(Version::Soap12).local, code);
        assert_eq!(fault.to_string(), format!("{code} fault (wsa:{local}): no"));
    }
}

/// Messages of other toolkits, with what follows from them: the version, the action, and the number
/// of reference parameters.
#[test]
fn messages_of_other_toolkits() {
    let zeep = format!(
        "<e:Envelope xmlns:e='{soap}'><e:Header xmlns:wsa='{V10}'><wsa:Action>urn:dummyRequest</wsa:Action>\
         <wsa:MessageID>urn:uuid:ada686f9-5995-4088-bea4-239f694b2eaf</wsa:MessageID>\
         <wsa:To>http://tests.python-zeep.org/test</wsa:To></e:Header><e:Body/></e:Envelope>",
        soap = Version::Soap11.namespace()
    );
    let cxf = format!(
        "<e:Envelope xmlns:e='{soap}'><e:Header><Action xmlns='{V10}'>http://hello/Greeter/greetMeRequest</Action>\
         <MessageID xmlns='{V10}'>urn:uuid:f40b7881-170e-455c-a78b-77d246fa7ac1</MessageID>\
         <c:CustomerKey xmlns='{V10}' xmlns:c='urn:c' xmlns:wsa='{V10}' wsa:IsReferenceParameter='1'>Key</c:CustomerKey>\
         <ReplyTo xmlns='{V10}'><Address>{V10}/anonymous</Address></ReplyTo></e:Header><e:Body/></e:Envelope>",
        soap = Version::Soap11.namespace()
    );
    let onvif = format!(
        "<e:Envelope xmlns:e='{soap}' xmlns:w='{V2004}'><e:Header><w:MessageID>uuid:84ede3de-7dec-11d0-c360-f01234567890\
         </w:MessageID><w:To e:mustUnderstand='true'>urn:schemas-xmlsoap-org:ws:2005:04:discovery</w:To>\
         <w:Action e:mustUnderstand='true'>http://schemas.xmlsoap.org/ws/2005/04/discovery/Probe</w:Action>\
         </e:Header><e:Body/></e:Envelope>",
        soap = Version::Soap12.namespace()
    );
    let cases = [
        (zeep, Addressing::V10, "urn:dummyRequest", 0),
        (cxf, Addressing::V10, "http://hello/Greeter/greetMeRequest", 1),
        (onvif, Addressing::V2004, "http://schemas.xmlsoap.org/ws/2005/04/discovery/Probe", 0),
    ];
    for (message, version, action, parameters) in cases {
        let headers = AddressingHeaders::read(&head(message.as_bytes())).expect("valid").expect("addressed");
        assert_eq!(
            (headers.version, &*headers.action, headers.reference_parameters.len()),
            (version, action, parameters)
        );
        assert!(headers.message_id.is_some());
    }
}

/// Returns any tree of names that WS-Addressing uses.
fn any_block() -> impl Strategy<Value = Node> {
    let local = prop::sample::select(vec![
        "To",
        "From",
        "ReplyTo",
        "FaultTo",
        "Action",
        "MessageID",
        "RelatesTo",
        "Address",
        "ReferenceParameters",
        "ReferenceProperties",
        "Metadata",
        "Key",
    ]);
    let namespace = prop::sample::select(vec![V10, V2004, "urn:x", ""]);
    let attribute = prop::sample::select(vec!["IsReferenceParameter", "RelationshipType"]);
    let text = prop_oneof!["[ -~]{0,12}", Just(Addressing::V10.anonymous().to_owned()), Just("urn:x".to_owned())];
    let element = (namespace, local, prop::option::of((attribute, any::<bool>())), text);
    let leaf = element.clone().prop_map(|it| node(it, Vec::new()));
    leaf.prop_recursive(3, 12, 3, move |inner| {
        (element.clone(), prop::collection::vec(inner, 0..3)).prop_map(|(it, children)| node(it, children))
    })
}

type Parts = (&'static str, &'static str, Option<(&'static str, bool)>, String);

fn node((namespace, local, attribute, text): Parts, children: Vec<Node>) -> Node {
    let mut node = Node::new(QName::new(namespace, local));
    if let Some((name, is_qualified)) = attribute {
        node.attributes.push((QName::new(if is_qualified { V10 } else { "" }, name), text.as_str().into()));
    }
    if children.is_empty() && !text.is_empty() {
        return Node { children: Node::with_text(QName::default(), text).children, ..node };
    }
    node.children = children.into_iter().map(deltasoap::types::Child::Element).collect();
    node
}

proptest! {
    #[test]
    fn any_headers_are_read_or_refused(blocks in prop::collection::vec(any_block(), 0..6), is_11: bool) {
        let soap = if is_11 { Version::Soap11 } else { Version::Soap12 };
        let headers = blocks.into_iter().map(|node| HeaderBlock { node }).collect();
        let head = Head { version: Some(soap), headers };
        match AddressingHeaders::read(&head) {
            Ok(None) => {}
            Ok(Some(headers)) => {
                let reply = headers.reply(headers.fault_endpoint(), "urn:done");
                let again = AddressingHeaders::read(&sent(reply.to_blocks(soap), soap));
                // A reference parameter may itself be a block of WS-Addressing, which the reply
                // then has twice.
                prop_assert!(again.is_err() || again.is_ok_and(|it| it.is_some_and(|it| it.action == "urn:done")));
            }
            Err(fault) => {
                let (_, read) = fault_sent(&fault, soap);
                prop_assert!(AddressingFault::code_in(&read).is_some());
            }
        }
    }
}
