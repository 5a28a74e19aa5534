//! Every limit, at its edge; and sizes that senders declare.

use crate::support::{read, read_by, read_within};
use deltasoap::engine::decode::Decoder;
use deltasoap::engine::{DecodeOptions, ErrorKind, Limits};
use deltasoap::{Soap, SoapArray};

#[derive(Debug, PartialEq, Soap)]
#[soap(open)]
struct Doc {
    #[soap(attribute)]
    a: Option<String>,
    t: Option<String>,
    ints: Option<SoapArray<i32>>,
    n: Vec<i32>,
}

/// Asserts that a document is accepted with the limit, and refused with the limit less one, with an
/// error that names it.
#[track_caller]
fn at_the_edge(xml: &str, name: &str, limits: impl Fn(usize) -> Limits, edge: usize) {
    let within = read_within::<Doc>(xml, limits(edge));
    assert!(within.is_ok(), "{name} = {edge}: {within:?}");
    let error = read_within::<Doc>(xml, limits(edge - 1)).expect_err(name);
    assert!(error.to_string().contains(&format!("`{name}` of {}", edge - 1)), "{error}");
}

#[test]
fn each_limit_holds_at_its_edge() {
    let default = Limits::default();
    at_the_edge("<r><x><y/></x></r>", "depth", |depth| Limits { depth, ..default }, 3);
    at_the_edge("<r a='1' b='2' c='3'/>", "attributes", |attributes| Limits { attributes, ..default }, 3);
    let value = |attribute_value| Limits { attribute_value, ..default };
    at_the_edge("<r a='1234'/>", "attribute_value", value, 4);
    at_the_edge("<r><element/></r>", "name", |name| Limits { name, ..default }, 7);
    at_the_edge("<r><t>1234</t></r>", "text", |text| Limits { text, ..default }, 4);
    at_the_edge("<r><x>1234</x></r>", "text", |text| Limits { text, ..default }, 4);
    at_the_edge("<r><x  a='1'/></r>", "markup", |markup| Limits { markup, ..default }, 11);
    let message = |message: usize| Limits { message: message as u64, ..default };
    at_the_edge("<r><t>1234</t></r>", "message", message, 18);
    at_the_edge("<r><n>1</n><n>2</n><n>3</n></r>\n", "message", message, 32);
}

#[test]
fn deep_nesting_in_elements_that_nobody_asked_for() {
    let nested = |levels: usize| format!("<r>{}{}</r>", "<x>".repeat(levels), "</x>".repeat(levels));
    assert!(read::<Doc>(&nested(99)).is_ok());
    assert!(read::<Doc>(&nested(100)).is_err());
}

#[test]
fn a_million_items_are_within_the_defaults() {
    let items: String = (0..1_000_000).map(|n| format!("<item>{n}</item>")).collect();
    let xml = format!("<r><ints>{items}</ints></r>");
    let decoder = Decoder::new(DecodeOptions::default());
    let doc: Doc = read_by(decoder, xml.as_bytes().chunks(1 << 16)).expect("valid");
    let ints = doc.ints.expect("there");
    assert!(ints.len() == 1_000_000 && ints.iter().zip(0..).all(|(read, n)| *read == n));
}

#[test]
fn a_claimed_size_is_only_a_claim() {
    let array = |attribute: &str| {
        let ns =
            "xmlns:e='http://schemas.xmlsoap.org/soap/encoding/' xmlns:f='http://www.w3.org/2003/05/soap-encoding'";
        read::<Doc>(&format!("<r {ns}><ints {attribute}><item>1</item></ints></r>"))
    };
    for good in [
        "e:arrayType='xsd:int[99999999999999999999]'",
        "e:arrayType='xsd:int[4294967296]'",
        "e:arrayType='xsd:int[]'",
        "e:arrayType='xsd:int[0]'",
        "f:arraySize='99999999999999999999' f:itemType='xsd:int'",
        "f:arraySize='*'",
    ] {
        assert_eq!(array(good).map(|doc| doc.ints), Ok(Some(SoapArray(vec![1]))), "{good}");
    }
    for bad in [
        "e:arrayType='xsd:int[-1]'",
        "e:arrayType='xsd:int[,]'",
        "e:arrayType='xsd:int'",
        "e:arrayType=''",
        "e:arrayType='[1]'",
        "e:offset='4'",
        "e:offset='[4,1]'",
    ] {
        assert!(matches!(array(bad).expect_err(bad).kind(), ErrorKind::ArrayType(_)), "{bad}");
    }
    assert!(matches!(array("f:arraySize='-1'").expect_err("no size").kind(), ErrorKind::ArraySize(_)));
    for other in ["e:arrayType='xsd:int[1,1]'", "f:arraySize='2 2'"] {
        assert!(matches!(array(other).expect_err(other).kind(), ErrorKind::ArrayForm { .. }), "{other}");
    }
    let many = format!("e:arrayType='xsd:int{}[1]'", "[]".repeat(16));
    assert_eq!(array(&many).expect_err("17 ranks").kind(), &ErrorKind::Limit { name: "dimensions", limit: 16 });
    for reference in ["href='#id0'", "f:ref='id0'"] {
        assert!(matches!(array(reference).expect_err(reference).kind(), ErrorKind::Reference(_)), "{reference}");
    }
}
