//! Any bytes as a message with a graph, in SOAP encoding: in one piece and in chunks, the value or
//! the error is the same; a decoded value is encoded in both versions, and decodes to an equal
//! value again. Also as trees: references are followed, or remain.

#![no_main]

use deltasoap::engine::decode::Decoder;
use deltasoap::engine::{Buffer, DecodeOptions, Limits};
use deltasoap::schema::Use;
use deltasoap::soap::{Envelope, EnvelopeReader, RequestReceiver, Version, decode_request};
use deltasoap::types::{MultiArray, Node, Shared};
use deltasoap::{Error, Soap, SoapArray};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "urn:g")]
struct Vertex {
    name: Option<String>,
    value: Option<i32>,
    next: Option<Shared<Vertex>>,
    others: Option<SoapArray<Shared<Vertex>>>,
    copy: Option<Box<Vertex>>,
    copies: Vec<i32>,
    matrix: Option<MultiArray<i32, 2>>,
    any: Option<Node>,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(message, element = "put", namespace = "urn:g")]
struct Put {
    first: Option<Shared<Vertex>>,
    second: Option<Vertex>,
}

fuzz_target!(|input: &[u8]| {
    let whole = read(input, input.len().max(1));
    assert_eq!(read(input, 1), whole, "byte by byte");
    assert_eq!(read(input, 11), whole, "in chunks");
    let Ok(put) = whole else { return };
    if has_tree(&put) {
        // A tree is encoded with the prefixes that are in scope.
        return;
    }
    for version in [Version::Soap11, Version::Soap12] {
        let message =
            Envelope::new(&put).version(version).encoding(Use::Encoded).write(Buffer::new()).expect("writable");
        assert_eq!(decode_request::<Put>(message.as_slice()).expect("valid").1, put);
    }
});

fn has_tree(put: &Put) -> bool {
    format!("{put:?}").contains("any: Some")
}

fn read(message: &[u8], chunk: usize) -> Result<Put, Error> {
    let limits = Limits { referred: 4096, omitted_items: 100, ..Limits::default() };
    let mut decoder = Decoder::new(DecodeOptions { limits, ..DecodeOptions::default() });
    let mut reader = EnvelopeReader::new(RequestReceiver::<Put>::default());
    for chunk in message.chunks(chunk) {
        decoder.push(&mut reader, chunk)?;
    }
    decoder.finish(&mut reader)?;
    Ok(reader.into_parts().1.into_memory().into_value())
}
