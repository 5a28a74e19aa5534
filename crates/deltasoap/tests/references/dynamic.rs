//! Dynamic values: shared where the schema allows it.

use crate::graph::{Graph, Put, Style, graphs, styles, write};
use crate::support::decode;
use deltasoap::Message;
use deltasoap::engine::decode::value_from_slice;
use deltasoap::engine::{Buffer, Typed};
use deltasoap::schema::{
    ArrayElement, Builtin, ComplexElement, Compositor, Element, Field, QName, Schema, SimpleElement, Use,
};
use deltasoap::soap::{Envelope, Version};
use deltasoap::types::{Simple, Value};
use proptest::prelude::*;

/// Returns the envelope of a request, as one element.
fn envelope(version: Version) -> (Schema, QName) {
    let mut schema = Schema::new();
    let complex = |name: QName, element| {
        let field = Field { name, element, min: 1, max: Some(1), nillable: false, inline: false };
        let (fields, attributes) = (vec![field].into(), Vec::new().into());
        let compositor = Compositor::All;
        Element::Complex(ComplexElement {
            name: QName::default(),
            compositor,
            fields,
            attributes,
            text: None,
            open: true,
            any_attribute: false,
            choices: Default::default(),
        })
    };
    let body = schema.add(complex(Put::ELEMENT, Put::REFERENCE));
    schema.add(complex(QName::owned(version.namespace(), "Body"), body));
    (schema, QName::owned(version.namespace(), "Envelope"))
}

proptest! {
    #[test]
    fn graphs_survive(graph in graphs(7), style in styles()) {
        // Nothing here declares that SOAP encoding is in force.
        let message = write(&graph, &Style { ahead: 0, ..style.clone() });
        let (schema, name) = envelope(style.version);
        let view = schema.view(deltasoap::schema::ElementRef::Index(1));
        let value = value_from_slice(message.as_bytes(), &name, view);
        prop_assert!(value.is_ok(), "{value:?}\n{message}");
        let value = value.expect("valid");
        let body = schema.view(deltasoap::schema::ElementRef::Index(0));
        let put = value.field(view, "Body").and_then(|inner| inner.field(body, "put")).expect("the operation");
        for version in [Version::Soap11, Version::Soap12] {
            let name = Put::ELEMENT;
            let envelope = Envelope::element(&name, put, Put::view()).version(version).encoding(Use::Encoded);
            let written = envelope.write(Buffer::new()).expect("written");
            let read = decode::<Put>(written.as_slice(), 50).expect("valid");
            prop_assert_eq!(Graph::of(&read.first), graph.canonical());
        }
    }
}

#[test]
fn arrays_of_several_dimensions_are_lists_of_lists() {
    let mut schema = Schema::new();
    let (base, name) = (Builtin::Int, Builtin::Int.name());
    let item = schema.add(Element::Simple(SimpleElement {
        name: name.clone(),
        base,
        enumeration: Vec::new().into(),
        default: None,
        packed: None,
    }));
    let (item_name, item_type) = (QName::new("", "i"), name);
    let array = ArrayElement { name: QName::default(), item_name, item, item_type, nillable: true, dimensions: 2 };
    let array = schema.add(Element::Array(array));
    let document =
        "<a xmlns:e='http://schemas.xmlsoap.org/soap/encoding/' e:arrayType='int[2,2]'><i>1</i><i>2</i><i>3</i></a>";
    let value = value_from_slice(document.as_bytes(), &QName::new("", "a"), schema.view(array)).expect("valid");
    let int = |number| Value::Simple(Simple::Int(number));
    let rows = vec![Value::List(vec![int(1), int(2)]), Value::List(vec![int(3), Value::Nil])];
    assert_eq!(value, Value::List(rows));
    let write = |value: &Value| Envelope::element(&QName::new("", "a"), value, schema.view(array)).write(Buffer::new());
    let text = String::from_utf8(write(&value).expect("written").into_vec()).expect("UTF-8");
    assert!(text.contains("int[2,2]\"") && text.contains("<i>3</i><i xsi:nil=\"true\"/></a>"), "{text}");
    let ragged = Value::List(vec![Value::List(vec![int(1)]), Value::List(Vec::new())]);
    assert!(write(&ragged).is_err(), "rows of two lengths");
}
