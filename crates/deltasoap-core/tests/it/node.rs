//! Trees: a tree that was read is written again with the same meaning.

use deltasoap_core::decode::{DecodeOptions, Decoder, ElementRoot};
use deltasoap_core::encode::Encoder;
use deltasoap_core::schema::Use;
use deltasoap_core::soap::{Envelope, Version};
use deltasoap_core::{Child, Node, QName, Typed};
use deltasoap_xml::Buffer;

fn rewritten(text: &str) -> (Node, Node) {
    let node = Node::parse(text.as_bytes()).expect(text);
    let mut encoder = Encoder::new();
    encoder.start(&QName::new("urn:outer", "outer"));
    node.write(&mut encoder);
    encoder.end();
    let written = encoder.finish().expect("writable");
    let again = Node::parse(written.as_slice()).expect("what was written is well-formed");
    let inner = again.elements().next().expect("the inner element").clone();
    (node, inner)
}

#[test]
fn meaning_survives_being_written_elsewhere() {
    for text in [
        "<a/>",
        "<a> text <b>&lt;</b>tail<c x='1' y='&quot;'/></a>",
        "<a xmlns='urn:a'><b xmlns=''><c/></b><d/></a>",
        "<p:a xmlns:p='urn:a' p:x='1'><p:b xmlns:p='urn:b' p:x='2'/><p:c/></p:a>",
        "<a xmlns='urn:a' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xsi:type='T'><b xsi:type='U'/></a>",
        "<a xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xmlns:q='urn:q' xsi:type='q:T' xml:lang='en'/>",
        "<ns:a xmlns:ns='urn:x'><b xmlns:ns2='urn:outer' ns2:y=''/></ns:a>",
    ] {
        let (before, after) = rewritten(text);
        assert!(before.is_equivalent(&after), "{text}: {before:?} became {after:?}");
    }
}

#[test]
fn different_trees_do_not_say_the_same() {
    let base = Node::parse(b"<a x='1'><b/>t</a>").expect("well-formed");
    for other in
        ["<a x='2'><b/>t</a>", "<a><b/>t</a>", "<a x='1'><c/>t</a>", "<a x='1'><b/>u</a>", "<a x='1'>t<b/></a>"]
    {
        assert!(!base.is_equivalent(&Node::parse(other.as_bytes()).expect("well-formed")), "{other}");
    }
    let typed = |uri: &str| {
        let xsi = "http://www.w3.org/2001/XMLSchema-instance";
        Node::parse(format!("<a xmlns:p='{uri}' xmlns:xsi='{xsi}' xsi:type='p:T'/>").as_bytes()).expect("well-formed")
    };
    assert!(!typed("urn:a").is_equivalent(&typed("urn:b")));
}

const XSI: &str = "xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'";

#[test]
fn bindings_in_the_way_of_names_do_not_change_them() {
    for text in [
        // The outer element's own prefix, its namespace, and the prefix that a new declaration
        // would get.
        format!("<a xmlns='urn:outer' xmlns:ns='urn:x' {XSI} xsi:type='ns:T'/>"),
        format!("<o:a xmlns:o='urn:outer' xmlns:ns='urn:x' {XSI} xsi:type='ns:T'><ns:b xmlns:ns='urn:outer'/></o:a>"),
        format!("<ns:a xmlns:ns='urn:x' xmlns='urn:y' {XSI} xsi:type='T'><b xmlns='' xsi:type='T'/></ns:a>"),
        format!("<p:a xmlns:p='urn:p' xmlns='urn:y' {XSI}><p:b xmlns='' xsi:type='T'/></p:a>"),
        format!("<a {XSI} xsi:type='unbound:T'/>"),
    ] {
        let (before, after) = rewritten(&text);
        assert!(before.is_equivalent(&after), "{text}: {before:?} became {after:?}");
    }
}

#[test]
fn declarations_do_not_pile_up() {
    let nested = |levels: usize| {
        let open =
            |level: usize| format!("<a{}>", (0..64).map(|n| format!(" xmlns:p{level}_{n}='u'")).collect::<String>());
        format!("{}{}", (0..levels).map(open).collect::<String>(), "</a>".repeat(levels))
    };
    assert!(Node::parse(nested(8).as_bytes()).is_ok());
    let error = Node::parse(nested(9).as_bytes()).expect_err("beyond");
    assert!(error.to_string().contains("the limit `bindings_in_scope` of 512 is exceeded"), "{error}");
}

#[test]
fn a_reserved_namespace_is_not_declared() {
    let mut node = Node::with_text(QName::new("urn:a", "a"), "t");
    let xml = deltasoap_core::ns::XML;
    let bindings = [("xml", "urn:x"), ("xmlns", "urn:x"), ("x", xml), ("e", ""), ("", "urn:d"), ("", "urn:e")];
    node.bindings = bindings.map(|(prefix, namespace)| (prefix.to_owned(), namespace.to_owned())).into();
    let mut encoder = Encoder::new();
    node.write(&mut encoder);
    let written = encoder.finish().expect("writable");
    let again = Node::parse(written.as_slice()).expect("well-formed");
    assert_eq!((&again.name, again.text().as_str()), (&node.name, "t"));
}

/// A tree reveals nothing that the decoder has read before.
#[test]
fn prefixes_in_scope_stand_in_one_order() {
    let document = b"<a:r xmlns:a='urn:a' xmlns:b='urn:b' xmlns:c='urn:c'/>";
    let mut decoder = Decoder::new(DecodeOptions::default());
    let mut read = |document: &[u8]| {
        let mut root = ElementRoot::<Node>::new(Node::view());
        decoder.reset();
        decoder.decode(&mut root, document).expect("well-formed");
        root.value
    };
    read(b"<c:r xmlns:c='urn:c' xmlns:b='urn:b'/>");
    assert_eq!(read(document), Node::parse(document).expect("well-formed"));
}

/// A tree that was read from such a message has the attribute that is added to the body's element.
#[test]
fn no_message_says_its_encoding_twice() {
    for version in [Version::Soap11, Version::Soap12] {
        let style = (QName::new(version.namespace(), "encodingStyle"), version.encoding_namespace().into());
        let mut child = Node::with_text(QName::new("", "child"), "x");
        child.attributes.push(style.clone());
        let mut tree = Node { attributes: vec![style], ..Node::default() };
        tree.children.push(Child::Element(child));
        let name = QName::new("urn:op", "operation");
        for (encoding, count) in [(Use::Encoded, 2), (Use::Literal, 2)] {
            let envelope = Envelope::element(&name, &tree, Node::view()).version(version).encoding(encoding);
            let buffer = envelope.write(Buffer::new()).expect("no error");
            let text = String::from_utf8(buffer.into_vec()).expect("UTF-8");
            assert_eq!(text.matches("encodingStyle=").count(), count, "{text}");
            assert!(Node::parse(text.as_bytes()).is_ok(), "{text}");
        }
    }
}
