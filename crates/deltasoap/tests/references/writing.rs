//! Written messages are read again, with references and with copies.

use crate::graph::{Graph, Put, Vertex, graphs, styles, write};
use crate::support::decode;
use deltasoap::Soap;
use deltasoap::engine::{Buffer, ErrorKind, MatchKind, Template, Templating};
use deltasoap::schema::Use;
use deltasoap::soap::{Envelope, Version, decode_request};
use deltasoap::stream::{Overlay, Streamed};
use deltasoap::types::{Node, Shared};
use proptest::prelude::*;

fn written(version: Version, encoding: Use, put: &Put) -> Result<String, deltasoap::Error> {
    let message = Envelope::new(put).version(version).encoding(encoding).write(Buffer::new())?;
    Ok(String::from_utf8(message.into_vec()).expect("UTF-8"))
}

fn vertex(name: &str) -> Vertex {
    Vertex { name: name.to_owned(), value: 0, next: None, others: None }
}

fn twice() -> Put {
    let shared = Shared::new(vertex("a"));
    Put { first: shared.clone(), second: Some(shared) }
}

const CONTENT: &str = "<name xsi:type=\"xsd:string\">a</name><value xsi:type=\"xsd:int\">0</value>";

#[test]
fn soap_1_1_has_elements_after_the_operation() {
    let text = written(Version::Soap11, Use::Encoded, &twice()).expect("written");
    let expected = format!(
        "<first href=\"#id0\"/><second href=\"#id0\"/></ns:put><multiRef id=\"id0\" soapenc:root=\"0\" \
         soap:encodingStyle=\"http://schemas.xmlsoap.org/soap/encoding/\" xmlns:ns=\"urn:g\" xsi:type=\"ns:Vertex\">{CONTENT}</multiRef></soap:Body>"
    );
    assert!(text.contains(&expected), "{text}");
}

#[test]
fn soap_1_2_has_them_where_they_are_met() {
    let text = written(Version::Soap12, Use::Encoded, &twice()).expect("written");
    let expected =
        format!("<first soapenc:id=\"id0\" xsi:type=\"ns:Vertex\">{CONTENT}</first><second soapenc:ref=\"id0\"/>");
    assert!(text.contains(&expected), "{text}");
}

/// As PHP does.
#[test]
fn references_of_soap_1_2_may_be_fragments() {
    let text = written(Version::Soap12, Use::Encoded, &twice()).expect("written");
    let text = text.replace("soapenc:ref=\"id0\"", "soapenc:ref=\"#id0\"");
    let (_, put) = decode_request::<Put>(text.as_bytes()).expect("valid");
    assert!(put.second.is_some_and(|second| Shared::ptr_eq(&put.first, &second)));
}

/// As PHP does, before the parts.
#[test]
fn the_name_of_the_result_is_passed_over() {
    let text = written(Version::Soap12, Use::Encoded, &twice()).expect("written");
    let named = "<r:result xmlns:r=\"http://www.w3.org/2003/05/soap-rpc\">first</r:result><first";
    let (_, put) = decode_request::<Put>(text.replacen("<first", named, 1).as_bytes()).expect("valid");
    assert_eq!(put, twice());
    let other = text.replacen("<first", "<result>first</result><first", 1);
    let error = decode_request::<Put>(other.as_bytes()).expect_err("another element");
    assert!(matches!(error.kind(), ErrorKind::UnexpectedElement { .. }), "{error}");
}

#[test]
fn what_is_not_shared_stands_where_it_belongs() {
    let put = Put { first: Shared::new(vertex("a")), second: Some(Shared::new(vertex("a"))) };
    let text = written(Version::Soap11, Use::Encoded, &put).expect("written");
    assert!(!text.contains("href") && !text.contains(" id="), "{text}");
}

/// A tree keeps the ids that it was read with.
#[test]
fn ids_that_are_given_are_not_those_of_trees() {
    #[derive(Soap)]
    #[soap(name = "relay", namespace = "urn:g", message)]
    struct Relay {
        first: Shared<Vertex>,
        second: Shared<Vertex>,
        alone: Shared<Vertex>,
        any: Node,
    }
    for (version, id) in [(Version::Soap11, "id"), (Version::Soap12, "e:id")] {
        let content = format!(
            "<a xmlns:e='http://www.w3.org/2003/05/soap-encoding'><b {id}='id0'/><c {id}='id6'/><d {id}='id04294967296'/></a>"
        );
        let shared = Shared::new(vertex("a"));
        let alone = Shared::new(vertex("b"));
        let any = Node::parse(content.as_bytes()).expect("a tree");
        let relay = Relay { first: shared.clone(), second: shared, alone: alone.clone(), any };
        let message =
            Envelope::new(&relay).version(version).encoding(Use::Encoded).write(Buffer::new()).expect("written");
        let text = String::from_utf8(message.into_vec()).expect("UTF-8");
        assert_eq!(text.matches("id=\"id7\"").count(), 1, "{text}");
        assert_eq!(text.matches("id=\"id0\"").count(), 1, "{text}");
        let (_, read) = decode_request::<Relay>(text.as_bytes()).expect("valid");
        assert!(Shared::ptr_eq(&read.first, &read.second), "{text}");
        assert_eq!((&read.first, &read.any.children), (&relay.first, &relay.any.children), "{text}");
        assert_eq!(read.alone, alone);
    }
}

/// The same holds for attributes of types, and where the message is written in another way.
#[test]
fn ids_that_are_given_are_those_of_no_value() {
    #[derive(Soap)]
    #[soap(namespace = "urn:g")]
    struct Named {
        #[soap(attribute)]
        id: String,
    }
    #[derive(Soap)]
    #[soap(name = "relay", namespace = "urn:g", message)]
    struct Relay {
        named: Named,
        first: Shared<Vertex>,
        second: Shared<Vertex>,
        items: Vec<i32>,
    }
    #[derive(Soap)]
    #[soap(name = "relay", namespace = "urn:g", message)]
    struct Flow {
        named: Named,
        first: Shared<Vertex>,
        second: Shared<Vertex>,
        items: Streamed<i32>,
    }
    let shared = Shared::new(vertex("a"));
    let named = || Named { id: "id3".to_owned() };
    let relay = Relay { named: named(), first: shared.clone(), second: shared.clone(), items: Vec::new() };
    let flow = Flow { named: named(), first: shared.clone(), second: shared, items: Streamed::default() };
    let is_good = |text: &str| {
        assert_eq!((text.matches("id=\"id4\"").count(), text.matches("id=\"id3\"").count()), (1, 1), "{text}");
        let (_, read) = decode_request::<Relay>(text.as_bytes()).expect("valid");
        assert!(Shared::ptr_eq(&read.first, &read.second), "{text}");
    };
    for version in [Version::Soap11, Version::Soap12] {
        let text = |message: Buffer| String::from_utf8(message.into_vec()).expect("UTF-8");
        is_good(&text(
            Envelope::new(&relay).version(version).encoding(Use::Encoded).write(Buffer::new()).expect("written"),
        ));
        let envelope = Envelope::new(&relay).version(version).encoding(Use::Encoded).prefixes(&[("g", "urn:g")]);
        is_good(&text(envelope.write(Buffer::new()).expect("written")));
        let mut overlay =
            Overlay::new(&Envelope::new(&flow).version(version).encoding(Use::Encoded), [1, 2], 64).expect("written");
        let mut all = Vec::new();
        while let Some(chunk) = overlay.next_chunk().expect("written") {
            all.extend_from_slice(chunk);
        }
        is_good(&String::from_utf8(all).expect("UTF-8"));
    }
}

/// A type may have an attribute with the name that references need, and a tree may have been read
/// with it.
#[test]
fn a_shared_value_has_one_id() {
    #[derive(Debug, PartialEq, Soap)]
    #[soap(namespace = "urn:g")]
    struct Named {
        #[soap(attribute)]
        id: Option<String>,
        value: i32,
    }
    #[derive(Soap)]
    #[soap(name = "relay", namespace = "urn:g", message)]
    struct Relay {
        one: Shared<Named>,
        again: Shared<Named>,
        tree: Shared<Node>,
        same: Shared<Node>,
    }
    for (version, id) in [(Version::Soap11, "id"), (Version::Soap12, "e:id")] {
        let content = format!(
            "<a xmlns:e='http://www.w3.org/2003/05/soap-encoding' xmlns:c='http://schemas.xmlsoap.org/soap/encoding/' {id}='own' c:root='1'>\
             <b {id}='inner'/></a>"
        );
        let one = Shared::new(Named { id: Some("own".to_owned()), value: 1 });
        let tree = Shared::new(Node::parse(content.as_bytes()).expect("a tree"));
        let relay = Relay { one: one.clone(), again: one, tree: tree.clone(), same: tree };
        let message =
            Envelope::new(&relay).version(version).encoding(Use::Encoded).write(Buffer::new()).expect("written");
        let text = String::from_utf8(message.into_vec()).expect("UTF-8");
        let (_, read) = decode_request::<Relay>(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert!(Shared::ptr_eq(&read.one, &read.again) && Shared::ptr_eq(&read.tree, &read.same), "{text}");
        assert!(text.contains("id=\"inner\"") && roxmltree::Document::parse(&text).is_ok(), "{text}");
    }
}

#[test]
fn copies() {
    let literal = written(Version::Soap11, Use::Literal, &twice()).expect("written");
    assert!(!literal.contains("href"), "{literal}");
    assert_eq!(decode_request::<Put>(literal.as_bytes()).expect("valid").1, twice());
    let body = twice();
    let message = Envelope::new(&body).encoding(Use::Encoded).references(false).write(Buffer::new());
    let text = String::from_utf8(message.expect("written").into_vec()).expect("UTF-8");
    assert_eq!(text.matches(CONTENT).count(), 2, "{text}");
}

#[test]
fn cycles_need_references() {
    let ring = Shared::cyclic(|ring| Vertex { next: Some(ring), ..vertex("a") });
    let put = Put { first: ring, second: None };
    for version in [Version::Soap11, Version::Soap12] {
        let error = written(version, Use::Literal, &put).expect_err("a cycle");
        assert!(matches!(error.kind(), ErrorKind::Unwritable(_)), "{error}");
        let text = written(version, Use::Encoded, &put).expect("written");
        let read = decode::<Put>(text.as_bytes(), 20).expect(&text);
        assert_eq!(read, put);
        assert_eq!(Graph::of(&read.first), Graph::of(&put.first));
    }
}

#[test]
fn copies_are_bounded() {
    let mut shared = Shared::new(vertex(&"x".repeat(1000)));
    for _ in 0..40 {
        shared = Shared::new(Vertex { next: Some(shared.clone()), others: Some(vec![shared].into()), ..vertex("a") });
    }
    let put = Put { first: shared, second: None };
    let error = written(Version::Soap11, Use::Literal, &put).expect_err("2^40 copies");
    assert!(matches!(error.kind(), ErrorKind::Unwritable(_)), "{error}");
    let text = written(Version::Soap11, Use::Encoded, &put).expect("written");
    assert_eq!(decode::<Put>(text.as_bytes(), usize::MAX).expect("valid"), put);
}

#[test]
fn templates_stand_back() {
    let mut template = Template::new(Templating::default());
    for value in [1, 2, 2] {
        let shared = Shared::new(Vertex { value, ..vertex("a") });
        let put = Put { first: shared.clone(), second: Some(shared) };
        let message = template.encode(&Envelope::new(&put).encoding(Use::Encoded)).expect("written");
        assert_eq!(message.kind(), MatchKind::FirstTime);
        assert_eq!(decode_request::<Put>(&message.to_vec()).expect("valid").1, put);
    }
}

#[derive(Debug, PartialEq, Soap)]
#[soap(message, namespace = "urn:g")]
struct Texts {
    texts: Vec<Shared<String>>,
    same: Option<Shared<String>>,
}

#[test]
fn texts_can_be_shared() {
    let text = Shared::new("text".to_owned());
    let texts = Texts { texts: vec![text.clone(), Shared::new("other".to_owned()), text.clone()], same: Some(text) };
    for version in [Version::Soap11, Version::Soap12] {
        let message =
            Envelope::new(&texts).version(version).encoding(Use::Encoded).write(Buffer::new()).expect("written");
        let read = decode_request::<Texts>(message.as_slice()).expect("valid").1;
        assert_eq!(read, texts);
        assert!(Shared::ptr_eq(&read.texts[0], &read.texts[2]) && !Shared::ptr_eq(&read.texts[0], &read.texts[1]));
    }
}

proptest! {
    #[test]
    fn graphs_survive(graph in graphs(9), style in styles()) {
        let put = decode::<Put>(write(&graph, &style).as_bytes(), usize::MAX).expect("valid");
        for version in [Version::Soap11, Version::Soap12] {
            let text = written(version, Use::Encoded, &put).expect("written");
            let read = decode::<Put>(text.as_bytes(), 100);
            prop_assert!(read.is_ok(), "{:?}\n{}", read, text);
            prop_assert_eq!(Graph::of(&read.expect("valid").first), graph.canonical(), "{}", text);
        }
    }
}
