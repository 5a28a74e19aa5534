//! Messages of Axis, PHP and others, as they were recorded.

use deltasoap::soap::{Reply, decode_reply, decode_request};
use deltasoap::{Message, Node, Soap, SoapArray};
use std::path::PathBuf;

fn recorded(name: &str) -> Vec<u8> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/messages")).join(name);
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

/// The element that is referred to has the operation's name.
#[test]
fn dot_net() {
    let read: Authorize = response("activemerchant+active_merchant/test/unit/gateways/so_easy_pay_test.rb.002.xml");
    assert_eq!(read.result.element("", "status").map(Node::text), Some("Authorized".to_owned()));
}
