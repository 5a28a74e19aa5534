//! Trees: references are resolved where SOAP encoding is in force, and remain where they cannot be
//! resolved.

use crate::support::{decode, envelope};
use deltasoap::Soap;
use deltasoap::engine::Buffer;
use deltasoap::schema::Use;
use deltasoap::soap::{Envelope, Reply, Version, decode_reply, decode_request};
use deltasoap::types::Node;

#[derive(Debug, PartialEq, Soap)]
#[soap(message, element = "put", namespace = "urn:g")]
struct Put {
    any: Node,
}

fn read(any: &str, behind: &str) -> Node {
    let message = envelope(&format!("<g:put xmlns:g='urn:g'>{any}</g:put>{behind}"));
    let whole = decode::<Put>(message.as_bytes(), usize::MAX).expect(any).any;
    for chunk in [1, 9, 50] {
        assert!(decode::<Put>(message.as_bytes(), chunk).expect(any).any.is_equivalent(&whole), "{chunk}");
    }
    whole
}

#[track_caller]
fn is(any: &str, behind: &str, expected: &str) {
    let (read, expected) = (read(any, behind), Node::parse(expected.as_bytes()).expect("well-formed"));
    assert!(read.is_equivalent(&expected), "{read:?}\n{expected:?}");
}

#[test]
fn copies() {
    is("<any href='#x'/>", "<m id='x'><p>1</p></m>", "<any id='x'><p>1</p></any>");
    is(
        "<any><p href='#x'/><q><p href='#x'/>t</q></any>",
        "<m id='x'>1<r href='#y'/></m><m id='y'/>",
        "<any><p id='x'>1<r id='y'/></p><q><p>1<r/></p>t</q></any>",
    );
    is("<any><p id='x'>1</p><p href='#x'/><p href='#x'/></any>", "", "<any><p id='x'>1</p><p>1</p><p>1</p></any>");
}

#[test]
fn prefixes_keep_their_meaning() {
    let node = read("<any><p href='#x'/></any>", "<o:m xmlns:o='urn:o' id='x' xsi:type='o:t'><o:p/></o:m>");
    let child = node.elements().next().expect("a child");
    assert_eq!(child.resolve("o:t").expect("bound").namespace, "urn:o");
    assert!(child.element("urn:o", "p").is_some());
}

#[test]
fn what_cannot_be_followed_stays() {
    is("<any><p href='#no'/></any>", "", "<any><p href='#no'/></any>");
    is("<any id='x'><p><any href='#x'/></p></any>", "", "<any id='x'><p><any href='#x'/></p></any>");
    is("<any href='#x'/>", "<m id='x'><p href='#x'/></m>", "<any id='x'><p href='#x'/></any>");
}

#[test]
fn without_encoding_nothing_is_followed() {
    let message = envelope("<g:put xmlns:g='urn:g'><any><a href='#x'>1</a><p id='x'/></any></g:put>")
        .replace(" s:encodingStyle=", " style=");
    let put = decode::<Put>(message.as_bytes(), 10).expect("read");
    assert!(put.any.is_equivalent(&Node::parse(b"<any><a href='#x'>1</a><p id='x'/></any>").expect("well-formed")));
}

#[test]
fn details_of_faults() {
    let fault = "<s:Fault><faultcode>s:Server</faultcode><faultstring>no</faultstring><detail><f href='#x'/></detail></s:Fault>";
    let message = envelope(&format!("{fault}<m id='x'><why>1</why></m>")).replace(" s:encodingStyle=", " style=");
    let Reply::Fault(fault) = decode_reply::<Put>(message.as_bytes()).expect("a fault").1 else { panic!("a response") };
    let detail = &fault.detail[0];
    assert_eq!((&*detail.name.local, detail.element("", "why").map(Node::text)), ("f", Some("1".to_owned())));
}

/// A tree for the operation's content declares its own prefixes, and the operation's start tag has
/// an attribute with one of them.
#[test]
fn prefixes_of_the_operations_attributes_keep_their_meaning() {
    #[derive(Debug, PartialEq, Soap)]
    #[soap(transparent, element = "op", namespace = "urn:g")]
    struct Op(Node);

    let style = "soap:encodingStyle='http://schemas.xmlsoap.org/soap/encoding/'";
    let tree = format!("<op xmlns:soap='http://schemas.xmlsoap.org/soap/envelope/' {style}><a>1</a></op>");
    let op = Op(Node::parse(tree.as_bytes()).expect("well-formed"));
    for version in [Version::Soap11, Version::Soap12] {
        let message = Envelope::new(&op).version(version).encoding(Use::Encoded).write(Buffer::new()).expect("written");
        let text = String::from_utf8_lossy(message.as_slice()).into_owned();
        assert!(roxmltree::Document::parse(&text).is_ok(), "{text}");
        let (_, read) = decode_request::<Op>(message.as_slice()).unwrap_or_else(|error| panic!("{error}: {text}"));
        let children = |node: &Node| node.elements().map(|child| child.name.clone()).collect::<Vec<_>>();
        assert_eq!(children(&read.0), children(&op.0), "{text}");
    }
}
