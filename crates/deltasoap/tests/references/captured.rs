//! Recorded messages of Axis, PHP and others.

use deltasoap::engine::decode::{Cursor, DecodeOptions, Decoder, Step};
use deltasoap::engine::{Content, ErrorKind, Typed};
use deltasoap::soap::{EnvelopeReader, Head, Receiver, Reply, decode_reply, decode_request};
use deltasoap::types::Node;
use deltasoap::{Error, Message, Soap, SoapArray};
use std::path::{Path, PathBuf};

const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/messages");

fn recorded(name: &str) -> Vec<u8> {
    let path = Path::new(RECORDED).join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn response<T: Message>(name: &str) -> T {
    match decode_reply::<T>(&recorded(name)).expect(name).1 {
        Reply::Response(value) => value,
        Reply::Fault(fault) => panic!("{name}: {fault:?}"),
    }
}

#[derive(Debug, PartialEq, Soap)]
struct Struct {
    #[soap(name = "varString")]
    string: String,
    #[soap(name = "varInt")]
    int: i32,
    #[soap(name = "varFloat")]
    float: f32,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(message, element = "echoStructArrayResponse", namespace = "http://soapinterop.org/")]
struct Structs {
    #[soap(name = "return")]
    structs: SoapArray<Struct>,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(message, element = "echoFloatArrayResponse", namespace = "http://soapinterop.org/")]
struct Floats {
    #[soap(name = "return")]
    floats: SoapArray<f32>,
}

#[derive(Debug, PartialEq, Soap)]
struct Entry {
    key: Node,
    value: Node,
}

#[derive(Debug, PartialEq, Soap)]
struct Map {
    item: Vec<Entry>,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(message, element = "echoMapArrayResponse", namespace = "http://soapinterop.org/")]
struct Maps {
    #[soap(name = "return")]
    maps: SoapArray<Map>,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(message, element = "echoMapArray", namespace = "http://soapinterop.org/")]
struct MapsIn {
    input: SoapArray<Map>,
}

#[test]
fn axis() {
    let floats: Floats = response("axis14-echo-capture/0005.response.xml");
    assert_eq!(*floats.floats, [3.7, 7.0]);
    let of = |string: &str, int, float| Struct { string: string.to_owned(), int, float };
    let structs: Structs = response("axis14-echo-capture/0007.response.xml");
    assert_eq!(*structs.structs, [of("one", 1, 1.1), of("two", 2, 2.2), of("three", 3, 3.3)]);
    let texts = |maps: &SoapArray<Map>| -> Vec<String> {
        let entries = maps.iter().flat_map(|map| &map.item);
        entries.flat_map(|entry| [entry.key.text(), entry.value.text()]).collect()
    };
    let maps: Maps = response("axis14-echo-capture/0015.response.xml");
    let (_, sent) = decode_request::<MapsIn>(&recorded("axis14-echo-capture/0015.request.xml")).expect("a request");
    assert_eq!(texts(&maps.maps), texts(&sent.input));
    assert_eq!(texts(&maps.maps)[..2], ["5", "String Value"]);
}

#[derive(Debug, PartialEq, Soap)]
#[soap(message, element = "listResponse", namespace = "http://ws.example.com")]
struct Histories {
    #[soap(name = "listReturn")]
    list: SoapArray<Node>,
}

#[test]
fn axis_with_shared_numbers() {
    let list: Histories = response("savonrb+savon/spec/fixtures/response/multi_ref.xml");
    let numbers = |node: &Node| ["mailId", "referenceId"].map(|name| node.element("", name).map(Node::text));
    let read: Vec<_> = list.list.iter().map(numbers).collect();
    let expected = ["708021", "855763", "972219"].map(|mail| [Some(mail.to_owned()), Some("0".to_owned())]);
    assert_eq!(read, expected);
}

#[derive(Debug, PartialEq, Soap)]
#[soap(message, element = "AuthorizeTransactionResponse", namespace = "urn:Interface")]
struct Authorize {
    #[soap(name = "return")]
    result: Node,
}

/// The referenced element has the operation's name.
#[test]
fn dot_net() {
    let read: Authorize = response("activemerchant+active_merchant/test/unit/gateways/so_easy_pay_test.rb.002.xml");
    assert_eq!(read.result.element("", "status").map(Node::text), Some("Authorized".to_owned()));
}

#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "http://tests.python-zeep.org/", qualified)]
struct Item {
    subitem_1: String,
    subitem_2: String,
    subitem_3: Option<String>,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "http://tests.python-zeep.org/", qualified)]
struct Output {
    item_1: Item,
    item_2: Node,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(message, element = "TestOperationResponse", namespace = "http://tests.python-zeep.org/", qualified)]
struct TestOperation {
    output: Output,
}

/// No attribute declares that the message is encoded.
#[test]
fn without_an_encoding_style() {
    let read: TestOperation = response("mvantellingen+python-zeep/tests/test_soap_multiref.py.001.xml");
    let item = read.output.item_1;
    assert_eq!((&*item.subitem_1, &*item.subitem_2, item.subitem_3.as_deref()), ("foo", "bar", Some("")));
}

/// Accepts any body as a tree.
#[derive(Default)]
struct Any(Node);

impl Receiver for Any {
    fn open_body(&mut self, _: &Head, _: &str, _: &str) -> Result<(), ErrorKind> {
        Ok(())
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        self.0.decode(cursor, Node::view())
    }
}

fn tree(message: &[u8]) -> Result<Node, Error> {
    let mut reader = EnvelopeReader::new(Any::default());
    Decoder::new(DecodeOptions::default()).decode(&mut reader, message)?;
    Ok(reader.into_parts().1.0)
}

/// Reads every recorded message with references in SOAP encoding; returns their number, and those
/// in which unresolved references remain.
fn with_references(folder: &Path) -> (usize, Vec<PathBuf>) {
    let (mut count, mut left, mut ahead) = (0, Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = ahead.pop() {
        for path in next.read_dir().expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if path.is_dir() {
                ahead.push(path);
                continue;
            }
            let message = std::fs::read(&path).expect("a file");
            let text = String::from_utf8_lossy(&message);
            let is_encoded = text.contains("Envelope")
                && text.contains("encodingStyle=\"http://schemas.xmlsoap.org/soap/encoding/\"");
            if is_encoded && text.contains("href=\"#") {
                count += 1;
                let tree = tree(&message).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                if has_reference(&tree) {
                    left.push(path);
                }
            }
        }
    }
    (count, left)
}

fn has_reference(node: &Node) -> bool {
    node.attribute("", "href").is_some_and(|href| href.starts_with('#')) || node.elements().any(has_reference)
}

#[test]
fn all_of_them_as_trees() {
    let (count, left) = with_references(Path::new(RECORDED));
    assert!(count >= 9 && left.is_empty(), "{count}, {left:?}");
}

/// `DELTASOAP_MESSAGE_CORPUS=DIR cargo test -p deltasoap --test references -- --ignored
/// --nocapture`: remaining references must be cyclic.
#[test]
#[ignore = "needs a directory of messages"]
fn all_of_a_corpus_as_trees() {
    let folder = std::env::var_os("DELTASOAP_MESSAGE_CORPUS").expect("DELTASOAP_MESSAGE_CORPUS names a directory");
    let (count, left) = with_references(Path::new(&folder));
    println!("{count} with references, left in {left:?}");
}
