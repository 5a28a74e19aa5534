//! Section 5 encoding: types on accessors, arrays by the rules of each version.

use deltasoap::engine::Buffer;
use deltasoap::schema::Use;
use deltasoap::soap::{Envelope, Version, decode_request};
use deltasoap::{Nillable, Soap, SoapArray};

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:t")]
struct Item {
    name: String,
    price: f64,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(message, namespace = "urn:t")]
struct Order {
    count: i32,
    note: Nillable<String>,
    ints: SoapArray<i32>,
    items: SoapArray<Item>,
    item: Item,
}

fn order() -> Order {
    let item = |name: &str, price| Item { name: name.to_owned(), price };
    Order {
        count: 2,
        note: Nillable::Nil,
        ints: vec![1, 2, 3].into(),
        items: vec![item("a", 1.5), item("b", 2.5)].into(),
        item: item("c", 0.0),
    }
}

fn body(version: Version, encoding: Use) -> String {
    let message = Envelope::new(&order()).version(version).encoding(encoding).write(Buffer::new()).expect("writable");
    assert_eq!(decode_request::<Order>(message.as_slice()).expect("valid").1, order());
    let text = String::from_utf8(message.into_vec()).expect("UTF-8");
    let (start, end) = (text.find("<soap:Body>").expect("a body"), text.find("</soap:Body>").expect("its end"));
    text[start + "<soap:Body>".len()..end].to_owned()
}

fn item(name: &str, price: &str) -> String {
    format!("<name xsi:type=\"xsd:string\">{name}</name><price xsi:type=\"xsd:double\">{price}</price>")
}

/// Returns the expected body. Its element itself has no type attribute: its name determines the
/// type.
fn expected(style: &str, ints: &str, items: &str) -> String {
    let int = |n: i32| format!("<item xsi:type=\"xsd:int\">{n}</item>");
    let struct_item = |name, price| format!("<item xsi:type=\"ns:Item\">{}</item>", item(name, price));
    format!(
        "<ns:Order xmlns:ns=\"urn:t\" soap:encodingStyle=\"{style}\"><count xsi:type=\"xsd:int\">2</count>\
         <note xsi:nil=\"true\"/><ints xsi:type=\"soapenc:Array\" {ints}>{}{}{}</ints>\
         <items xsi:type=\"soapenc:Array\" {items}>{}{}</items><item xsi:type=\"ns:Item\">{}</item></ns:Order>",
        int(1),
        int(2),
        int(3),
        struct_item("a", "1.5"),
        struct_item("b", "2.5"),
        item("c", "0"),
    )
}

#[test]
fn soap_1_1() {
    let style = "http://schemas.xmlsoap.org/soap/encoding/";
    let (ints, items) = ("soapenc:arrayType=\"xsd:int[3]\"", "soapenc:arrayType=\"ns:Item[2]\"");
    assert_eq!(body(Version::Soap11, Use::Encoded), expected(style, ints, items));
}

#[test]
fn soap_1_2() {
    let style = "http://www.w3.org/2003/05/soap-encoding";
    let ints = "soapenc:itemType=\"xsd:int\" soapenc:arraySize=\"3\"";
    let items = "soapenc:itemType=\"ns:Item\" soapenc:arraySize=\"2\"";
    assert_eq!(body(Version::Soap12, Use::Encoded), expected(style, ints, items));
}

#[test]
fn literal_arrays_say_only_what_they_hold() {
    let text = body(Version::Soap11, Use::Literal);
    assert!(!text.contains("xsi:type") && text.contains("arrayType=\"xsd:int[3]\""), "{text}");
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(message, namespace = "urn:t")]
struct Marks {
    marks: SoapArray<deltasoap::types::Empty>,
}

#[test]
fn items_without_a_type_name_are_of_any_type() {
    let marks = Marks { marks: vec![deltasoap::types::Empty; 2].into() };
    for version in [Version::Soap11, Version::Soap12] {
        for encoding in [Use::Literal, Use::Encoded] {
            let message =
                Envelope::new(&marks).version(version).encoding(encoding).write(Buffer::new()).expect("writable");
            let text = String::from_utf8_lossy(message.as_slice());
            assert!(text.contains("=\"xsd:anyType"), "{text}");
            assert_eq!(decode_request::<Marks>(message.as_slice()).expect("valid").1, marks);
        }
    }
}
