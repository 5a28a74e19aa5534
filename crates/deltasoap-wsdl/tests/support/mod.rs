//! Short WSDLs, and messages read and written with them.

#![allow(dead_code, reason = "each test uses a part")]

use deltasoap_core::decode::value_from_slice;
use deltasoap_core::encode::Encoder;
use deltasoap_core::schema::View;
use deltasoap_core::{Child, Content, Node, QName, Record, Value};
use deltasoap_wsdl::lower::{Lowered, Method};
use deltasoap_wsdl::{Error, Import, Importer};

pub const NS: &str = "urn:t";

/// A schema for `urn:t`, with qualified elements and this content.
pub fn schema(content: &str) -> String {
    format!(
        r#"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" targetNamespace="urn:t"
  elementFormDefault="qualified">{content}</xs:schema>"#
    )
}

/// A WSDL with these embedded schemas, followed by this content.
pub fn description(types: &str, content: &str) -> String {
    format!(
        r#"<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"
  xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/"
  xmlns:soapenc="http://schemas.xmlsoap.org/soap/encoding/" targetNamespace="urn:t"
  ><types>{types}</types>{content}</definitions>"#
    )
}

pub fn import(text: &str) -> Result<Import, Error> {
    Importer::new().offline().text(text)
}

pub fn import_schema(content: &str) -> Import {
    import(&schema(content)).expect("a good schema")
}

/// Returns the error message for a refused schema.
pub fn refusal(content: &str) -> String {
    import(&schema(content)).expect_err("an invalid schema").to_string()
}

/// A lowered import that reads and writes elements.
pub struct Codec {
    pub import: Import,
    pub lowered: Lowered,
}

impl Codec {
    pub fn new(content: &str) -> Self {
        Self::of(import_schema(content))
    }

    pub fn of(import: Import) -> Self {
        let lowered = import.lower();
        Codec { import, lowered }
    }

    /// Returns the view of a global element of `urn:t`.
    pub fn view(&self, local: &str) -> View<'_> {
        let id = self.import.schemas().element_named(&QName::owned(NS, local)).expect("a global element");
        self.lowered.schema.view(self.lowered.element(id).expect("a global element"))
    }

    /// Reads an element `local` with this content and the default namespace `urn:t`.
    pub fn read(&self, local: &str, content: &str) -> Result<Value, String> {
        self.read_document(local, &format!("<{local} xmlns='{NS}' xmlns:t='{NS}'>{content}</{local}>"))
    }

    pub fn read_document(&self, local: &str, document: &str) -> Result<Value, String> {
        value_from_slice(document.as_bytes(), &QName::owned(NS, local), self.view(local)).map_err(|it| it.to_string())
    }

    /// Writes a value as an element `local`.
    pub fn write(&self, local: &str, value: &Value) -> String {
        write(&QName::owned(NS, local), value, self.view(local))
    }

    /// Reads, writes and reads again: the values must be equal. Returns what was written.
    pub fn round_trip(&self, local: &str, content: &str) -> String {
        let value = self.read(local, content).unwrap_or_else(|error| panic!("{content}: {error}"));
        let written = self.write(local, &value);
        let again = self.read_document(local, &written).unwrap_or_else(|error| panic!("{written}: {error}"));
        assert_eq!(without_bindings(again), without_bindings(value), "{written}");
        written
    }

    pub fn refuses(&self, local: &str, content: &str) {
        let value = self.read(local, content);
        assert!(value.is_err(), "{content}: {value:?}");
    }

    /// Returns the messages of the operation with this name.
    pub fn method(&self, name: &str) -> &Method {
        let operation = self.lowered.operations.iter().find(|operation| &*operation.name == name);
        operation.expect("an operation").method.as_ref().expect("messages")
    }
}

/// Removes the namespace bindings of trees: a written tree gets the prefixes of its new place.
pub fn without_bindings(value: Value) -> Value {
    let all = |values: Vec<Value>| values.into_iter().map(without_bindings).collect();
    match value {
        Value::Tree(node) => Value::Tree(Box::new(unbound(*node))),
        Value::List(items) => Value::List(all(items)),
        Value::Record(record) => Value::Record(Box::new(Record { fields: all(record.fields), ..*record })),
        value => value,
    }
}

fn unbound(node: Node) -> Node {
    let child = |child| match child {
        Child::Element(node) => Child::Element(unbound(node)),
        text => text,
    };
    Node { bindings: Default::default(), children: node.children.into_iter().map(child).collect(), ..node }
}

pub fn write(name: &QName, value: &Value, view: View<'_>) -> String {
    let mut encoder = Encoder::new();
    encoder.start(name);
    value.encode(&mut encoder, view);
    encoder.end();
    String::from_utf8(encoder.finish().expect("a writable value").as_slice().to_vec()).expect("UTF-8")
}
