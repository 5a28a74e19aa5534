//! Trees: what is read is written again with the same meaning.

use deltasoap_core::encode::Encoder;
use deltasoap_core::{Node, QName};

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
        assert!(before.says_the_same(&after), "{text}: {before:?} became {after:?}");
    }
}

#[test]
fn different_trees_do_not_say_the_same() {
    let base = Node::parse(b"<a x='1'><b/>t</a>").expect("well-formed");
    for other in
        ["<a x='2'><b/>t</a>", "<a><b/>t</a>", "<a x='1'><c/>t</a>", "<a x='1'><b/>u</a>", "<a x='1'>t<b/></a>"]
    {
        assert!(!base.says_the_same(&Node::parse(other.as_bytes()).expect("well-formed")), "{other}");
    }
    let typed = |uri: &str| {
        let xsi = "http://www.w3.org/2001/XMLSchema-instance";
        Node::parse(format!("<a xmlns:p='{uri}' xmlns:xsi='{xsi}' xsi:type='p:T'/>").as_bytes()).expect("well-formed")
    };
    assert!(!typed("urn:a").says_the_same(&typed("urn:b")));
}
