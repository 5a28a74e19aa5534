//! Envelopes: what is written at once, against a template and in chunks is the same.

use deltasoap::engine::{Buffer, MatchKind, Template, Templating, Typed};
use deltasoap::schema::{QName, Use};
use deltasoap::soap::{Envelope, EnvelopeReader, FaultCode, HeaderBlock, RequestReceiver, Version};
use deltasoap::stream::{Overlay, Streamed};
use deltasoap::types::{Node, Tracked};
use deltasoap::{Fault, Message, Soap};

#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "urn:e:1", message)]
struct Reading {
    level: i32,
}

#[derive(Soap)]
#[soap(namespace = "urn:e:1", message)]
struct Readings {
    level: Streamed<i32>,
}

fn block(name: &str) -> HeaderBlock {
    HeaderBlock { node: Node::with_text(QName::owned("urn:h", name), "x") }
}

fn text(message: Vec<u8>) -> String {
    String::from_utf8(message).expect("UTF-8")
}

/// Writes a message twice against one template.
fn against_template(envelope: &Envelope<'_>) -> [(String, MatchKind); 2] {
    let mut template = Template::new(Templating { adaptive: false, ..Templating::default() });
    [(), ()].map(|()| {
        let sent = template.encode(envelope).expect("writable");
        (text(sent.to_vec()), sent.kind())
    })
}

#[test]
fn a_plain_message_is_literal_and_of_soap_1_1() {
    let message = text(Envelope::new(&Reading { level: 7 }).to_vec().expect("writable"));
    let expected = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\
        <soap:Envelope xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\"><soap:Body>\
        <ns:Reading xmlns:ns=\"urn:e:1\"><level>7</level></ns:Reading></soap:Body></soap:Envelope>";
    assert_eq!(message, expected);
}

#[test]
fn header_blocks_are_added_in_order() {
    let (reading, blocks) = (Reading { level: 7 }, [block("b"), block("c")]);
    let envelope = Envelope::new(&reading).header(block("a")).headers(&blocks).header(block("d"));
    let mut reader = EnvelopeReader::new(RequestReceiver::<Reading>::default());
    let message = envelope.to_vec().expect("writable");
    deltasoap::engine::decode::Decoder::new(Default::default()).decode(&mut reader, &message).expect("readable");
    let (head, _) = reader.into_parts();
    let names: Vec<_> = head.headers.iter().map(|block| block.node.name.local.to_string()).collect();
    assert_eq!(names, ["a", "b", "c", "d"]);
}

#[test]
fn every_setting_reaches_templates() {
    let (reading, name) = (Reading { level: 7 }, QName::new("urn:x", "other"));
    let mut fault = Fault::new(FaultCode::MustUnderstand, "a");
    fault.not_understood = vec![QName::new("urn:h", "a")];
    let faults = [Version::Soap11, Version::Soap12].map(|version| Envelope::fault(&fault).version(version));
    let prefixes = [("m", "urn:e:1")];
    let messages = [
        Envelope::new(&reading),
        Envelope::new(&reading).version(Version::Soap12),
        Envelope::new(&reading).encoding(Use::Encoded),
        Envelope::new(&reading).header(block("a")),
        Envelope::new(&reading).prefixes(&prefixes),
        Envelope::element(&name, &reading, Reading::view()),
    ];
    for envelope in messages.into_iter().chain(faults) {
        let full = text(envelope.to_vec().expect("writable"));
        let [first, second] = against_template(&envelope);
        assert_eq!(first, (full.clone(), MatchKind::FirstTime), "{envelope:?}");
        assert_eq!(second, (full, MatchKind::Content), "{envelope:?}");
    }
}

/// The state of a tracked value says nothing of the envelope.
#[test]
fn a_template_notices_another_envelope_around_an_unchanged_value() {
    let reading = Tracked::new(Reading { level: 7 });
    let mut template = Template::new(Templating::default());
    let prefixes = [("m", "urn:e:1")];
    let plain = || Envelope::new(&reading);
    for envelope in [
        plain(),
        plain().prefixes(&prefixes),
        plain(),
        plain().header(block("a")),
        plain().version(Version::Soap12),
        plain().namespace("urn:e:2"),
        plain(),
    ] {
        let sent = template.encode(&envelope).expect("writable");
        assert_eq!(text(sent.to_vec()), text(envelope.to_vec().expect("writable")), "{envelope:?}");
    }
}

/// A template compares names as they are before they are replaced.
#[test]
fn a_message_in_another_namespace_is_written_in_full() {
    let reading = Reading { level: 7 };
    let envelope = Envelope::new(&reading).namespace("urn:e:2");
    let full = text(envelope.to_vec().expect("writable"));
    assert!(full.contains("<ns:Reading xmlns:ns=\"urn:e:2\"><level>7</level></ns:Reading>"), "{full}");
    for sent in against_template(&envelope) {
        assert_eq!(sent, (full.clone(), MatchKind::FirstTime));
    }
}

#[test]
fn every_setting_reaches_overlays() {
    let (empty, whole) = (Readings { level: Streamed::default() }, Readings { level: vec![1, 2, 3].into() });
    let blocks = [block("a")];
    fn set<'a>(envelope: Envelope<'a>, blocks: &'a [HeaderBlock]) -> Envelope<'a> {
        envelope.version(Version::Soap12).headers(blocks).namespace("urn:e:2").prefixes(&[("m", "urn:e:2")])
    }
    let mut overlay = Overlay::new(&set(Envelope::new(&empty), &blocks), [1, 2, 3], 64).expect("a list");
    let mut sent = Vec::new();
    while let Some(chunk) = overlay.next_chunk().expect("writable") {
        sent.extend_from_slice(chunk);
    }
    let full = set(Envelope::new(&whole), &blocks).write(Buffer::new()).expect("writable");
    assert_eq!(text(sent), text(full.into_vec()));
}

#[test]
fn messages_of_one_kind_have_one_element_and_form() {
    let (one, other, list) = (Reading { level: 1 }, Reading { level: 2 }, Readings { level: Streamed::default() });
    let kind = Envelope::new(&one).kind();
    assert_eq!(kind, Envelope::new(&other).header(block("a")).kind());
    assert_ne!(kind, Envelope::new(&other).version(Version::Soap12).kind());
    assert_ne!(kind, Envelope::new(&other).encoding(Use::Encoded).kind());
    assert_ne!(kind, Envelope::element(&Readings::ELEMENT, &other, Reading::view()).kind());
    assert_ne!(kind, Envelope::new(&list).kind());
}
