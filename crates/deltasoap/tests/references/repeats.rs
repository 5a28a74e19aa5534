//! Repeated messages with references, and with items that have explicit positions: compared as a
//! whole.

use crate::support::{decode, decode_next, envelope};
use deltasoap::engine::decode::{DecodeOptions, Decoder};
use deltasoap::engine::{Checkpoints, Differential, DifferentialStats, Memory};
use deltasoap::types::Node;
use deltasoap::{Soap, SoapArray};

#[derive(Debug, Clone, PartialEq, Default, Soap)]
#[soap(message, element = "put", namespace = "urn:g")]
struct Put {
    first: Option<String>,
    second: Option<String>,
    ints: Option<SoapArray<i32>>,
    tree: Option<Node>,
}

const LEAF: Differential = Differential { checkpoints: Checkpoints::Leaf, adaptive: false };

fn message(content: &str, others: &str) -> String {
    envelope(&format!("<g:put xmlns:g='urn:g'>{content}</g:put>{others}"))
}

/// Reads a stream in chunks, and asserts that each message gives the result of a new decoder;
/// returns the statistics.
#[track_caller]
fn read(messages: &[&str], chunk: usize) -> DifferentialStats {
    let mut decoder = Decoder::new(DecodeOptions { differential: LEAF, ..DecodeOptions::default() });
    let mut memory = Memory::<Put>::default();
    for message in messages {
        let alone = decode::<Put>(message.as_bytes(), usize::MAX);
        match (decode_next(&mut decoder, message.as_bytes(), chunk, Box::new(memory)), alone) {
            (Ok(next), Ok(alone)) => {
                assert_eq!(*next.value(), alone, "{message}");
                memory = next;
            }
            (Err(error), Err(alone)) => {
                assert_eq!(error, alone, "{message}");
                memory = Memory::default();
            }
            (one, other) => panic!("{one:?} {other:?} of {message}"),
        }
    }
    memory.stats()
}

const SHARED: &str = "<first href='#a'/><second href='#a'/>";

#[test]
fn the_same_message_is_skipped() {
    let shared = message(SHARED, "<m id='a'>some text</m>");
    let stats = read(&[&shared, &shared, &shared], usize::MAX);
    assert_eq!((stats.compared, stats.fast_bytes, stats.mended), (2, 2 * SHARED.len() as u64, 0));
    let sparse = message("<ints e:arrayType='xsd:int[4]'><i e:position='[2]'>7</i></ints>", "");
    assert_eq!(read(&[&sparse, &sparse, &sparse], usize::MAX).compared, 2);
    let tree = message("<tree><a href='#x'/></tree>", "<m id='x'><b/></m>");
    assert_eq!(read(&[&tree, &tree], usize::MAX).compared, 1);
}

#[test]
fn whatever_changes_is_read() {
    let [one, other] = ["some text", "other txt"].map(|text| message(SHARED, &format!("<m id='a'>{text}</m>")));
    let plain = message("<first>1</first><second>2</second>", "");
    let bad = message(SHARED, "<m id='b'>some text</m>");
    let behind = one.replace("</s:Envelope>", "</s:Envelope><!-- more -->");
    let before = one.replace("<s:Body>", "<s:Header><h xmlns='urn:h'/></s:Header><s:Body>");
    for chunk in [usize::MAX, 700, 50, 1] {
        let stats =
            read(&[&one, &one, &other, &other, &one, &plain, &plain, &one, &one, &behind, &before, &one], chunk);
        assert!(chunk != usize::MAX || stats.compared >= 5, "{stats:?}");
        read(&[&one, &bad, &one, &one, &one[..one.len() - 20], &one, &one], chunk);
    }
}

/// A referenced element is outside of the operation, where the prefix that the operation declares
/// is bound to a different namespace.
#[test]
fn prefixes_around_the_operation_matter() {
    let body = |around: &str| {
        let tree = "<g:put xmlns:g='urn:g' xmlns:p='urn:own'><tree><a href='#x'/></tree></g:put><m id='x'><p:b/></m>";
        envelope(tree).replace("<s:Body>", &format!("<s:Body {around}>"))
    };
    let [none, one, two] = ["", "xmlns:p='urn:1'", "xmlns:p='urn:2'"].map(body);
    for pair in [[&one, &two], [&none, &one], [&one, &none]] {
        read(&[pair[0], pair[0], pair[1], pair[1], pair[0]], usize::MAX);
    }
}
