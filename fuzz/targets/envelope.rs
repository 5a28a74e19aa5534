//! Any bytes as a message with trees as its body: what is decoded can be encoded again with the
//! same meaning, and no fault or header makes the engine fail.

#![no_main]

use deltasoap::engine::decode::{Cursor, Decoder, Step};
use deltasoap::engine::encode::Encoder;
use deltasoap::engine::{Buffer, Content, DecodeOptions, ErrorKind, Typed};
use deltasoap::soap::{Envelope, EnvelopeReader, Head, Receiver, Version, decode_reply};
use deltasoap::types::Node;
use deltasoap::{Error, Fault, Soap};
use libfuzzer_sys::fuzz_target;

/// Accepts any body.
#[derive(Debug, Default, PartialEq)]
struct Any(Vec<Node>);

impl Receiver for Any {
    fn open_body(&mut self, _: &Head, _: &str, _: &str) -> Result<(), ErrorKind> {
        self.0.push(Node::default());
        Ok(())
    }

    fn open_another(&mut self, head: &Head, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        self.open_body(head, namespace, local)
    }

    fn empty_body(&mut self, _: &Head) -> Result<(), ErrorKind> {
        Ok(())
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        self.0.last_mut().expect("an element was opened").decode(cursor, Node::view())
    }
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(message, namespace = "urn:t")]
struct Body {
    a: Option<i32>,
}

fuzz_target!(|input: &[u8]| {
    let whole = read(input, input.len().max(1));
    assert_eq!(read(input, 1), whole, "byte by byte");
    assert_eq!(read(input, 11), whole, "in chunks");
    let _ = decode_reply::<Body>(input);
    let Ok((head, Any(body))) = whole else { return };
    for node in head.headers.iter().map(|block| &block.node).chain(&body) {
        rewrite(node);
    }
    body.iter().filter_map(|node| Fault::from_node(node).ok()).for_each(|fault| answer(&fault));
    for block in &head.headers {
        let _ = (block.is_mandatory(head.version()), block.is_for_us(head.version()), block.node.to_typed::<Body>());
    }
});

fn read(message: &[u8], chunk: usize) -> Result<(Head, Any), Error> {
    let mut decoder = Decoder::new(DecodeOptions::default());
    let mut reader = EnvelopeReader::new(Any::default());
    for chunk in message.chunks(chunk) {
        decoder.push(&mut reader, chunk)?;
    }
    decoder.finish(&mut reader)?;
    Ok(reader.into_parts())
}

/// A tree keeps its meaning when it is encoded alone, and within another element.
fn rewrite(node: &Node) {
    let mut encoder = Encoder::new();
    node.write(&mut encoder);
    let again = Node::parse(encoder.finish().expect("writable").as_slice()).expect("well-formed");
    assert!(node.is_equivalent(&again), "{node:?} became {again:?}");
    let mut outer = Node::new(node.name.clone());
    outer.children.push(deltasoap::types::Child::Element(node.clone()));
    let mut encoder = Encoder::new();
    outer.write(&mut encoder);
    let again = Node::parse(encoder.finish().expect("writable").as_slice()).expect("well-formed");
    let inner = again.elements().next().expect("the inner element");
    assert!(outer.is_equivalent(&again), "{inner:?} was {node:?}");
}

/// A decoded fault can be encoded in both versions, and decoded again.
fn answer(fault: &Fault) {
    for version in [Version::Soap11, Version::Soap12] {
        let message = Envelope::fault(fault).version(version).write(Buffer::new()).expect("writable");
        decode_reply::<Body>(message.as_slice()).expect("valid");
    }
}
