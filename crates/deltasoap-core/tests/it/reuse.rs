//! A decoder that is reused for messages of other schemas, and of other clients.

use deltasoap::Soap;
use deltasoap_core::decode::{Decoder, ElementRoot, value_from_slice};
use deltasoap_core::schema::{
    ArrayElement, Builtin, ComplexElement, Compositor, Element, ElementRef, Field, Schema, SimpleElement,
};
use deltasoap_core::{DecodeOptions, Differential, Error, QName, Typed, Value};

fn field(name: &'static str, element: ElementRef, min: u32, max: Option<u32>) -> Field {
    Field { name: QName::new("", name), element, min, max, nillable: false, inline: false }
}

fn text(schema: &mut Schema) -> ElementRef {
    let base = Builtin::String;
    let text = SimpleElement { name: base.name(), base, enumeration: Default::default(), default: None, packed: None };
    schema.add(Element::Simple(text))
}

fn sequence(schema: &mut Schema, fields: Vec<Field>) -> ElementRef {
    schema.add(Element::Complex(ComplexElement {
        name: QName::new("urn:t", "T"),
        compositor: Compositor::Sequence,
        fields: fields.into(),
        attributes: Default::default(),
        text: None,
        open: false,
        any_attribute: false,
        choices: Default::default(),
    }))
}

fn listed(name: &'static str) -> (Schema, ElementRef) {
    let mut schema = Schema::new();
    let text = text(&mut schema);
    let root = sequence(&mut schema, vec![field(name, text, 0, None)]);
    (schema, root)
}

fn read(decoder: &mut Decoder, (schema, root): &(Schema, ElementRef), document: &str) -> Result<Value, Error> {
    let mut root = ElementRoot::<Value>::new(schema.view(*root));
    decoder.decode(&mut root, document.as_bytes()).map(|()| root.value)
}

/// A list's schema may be at the address of one that was dropped.
#[test]
fn a_list_in_the_place_of_another() {
    let options = DecodeOptions { differential: Differential::OFF, ..Default::default() };
    let mut decoder = Decoder::new(options);
    let document = "<r><y>&#49;</y><x>2</x></r>";
    for round in 0..50 {
        let first = listed("x");
        read(&mut decoder, &first, "<r><x>1</x><x>2</x></r>").unwrap();
        drop(first);
        let second = listed("y");
        let expected = read(&mut Decoder::without_shortcuts(options), &second, document);
        assert_eq!(read(&mut decoder, &second, document), expected, "round {round}");
    }
}

#[test]
fn an_array_in_the_place_of_another() {
    let described = |one: &'static str, other: &'static str| {
        let mut schema = Schema::new();
        let text = text(&mut schema);
        let item = sequence(&mut schema, vec![field(one, text, 1, Some(1)), field(other, text, 1, Some(1))]);
        let root = schema.add(Element::Array(ArrayElement {
            name: QName::new("urn:t", "A"),
            item_name: QName::new("", "item"),
            item,
            item_type: QName::new("urn:t", "I"),
            nillable: false,
            dimensions: 1,
        }));
        (schema, root)
    };
    let (name, document) = (QName::new("", "r"), b"<r><item><a>1</a><b>2</b></item></r>");
    for _ in 0..20 {
        let first = described("a", "b");
        value_from_slice(document, &name, first.0.view(first.1)).unwrap();
        drop(first);
        let second = described("b", "a");
        assert!(value_from_slice(document, &name, second.0.view(second.1)).is_err());
    }
}

#[derive(Debug, Soap)]
struct Rows {
    x: Vec<Row>,
}

#[derive(Debug, Soap)]
struct Row {
    a: String,
}

/// Returns true if a decoder still holds the word `secret` after a message with these rows.
fn keeps(rows: &str) -> bool {
    let mut decoder = Decoder::new(DecodeOptions::default());
    let mut root = ElementRoot::<Rows>::new(Rows::view());
    decoder.decode(&mut root, format!("<r>{rows}</r>").as_bytes()).unwrap();
    decoder.reset();
    let shown = format!("{decoder:?}");
    // Markup is printed as numbers.
    shown.contains("secret") || shown.contains("115, 101, 99, 114, 101, 116")
}

#[test]
fn what_a_client_said_is_forgotten() {
    assert!(!keeps(&"<x><a>secret</a></x>".repeat(3)));
    assert!(!keeps(&"<x><a>1</a><!-- secret --></x>".repeat(3)));
    assert!(!keeps(&"<x id='secret'><a>1</a></x>".repeat(3)));
    let typed = "<x><a xmlns:i='http://www.w3.org/2001/XMLSchema-instance' i:nil='false' note='secret'>1</a></x>";
    assert!(!keeps(&typed.repeat(3)));
}
