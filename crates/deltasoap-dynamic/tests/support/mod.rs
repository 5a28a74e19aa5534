//! Contracts, and messages read and written by them.

#![allow(dead_code, reason = "each test uses a part")]

use bytes::Bytes;
use deltasoap_core::decode::value_from_slice;
use deltasoap_core::encode::Encoder;
use deltasoap_core::schema::{ElementRef, View};
use deltasoap_core::{Child, Content, Error, Node, QName, Record, Value};
use deltasoap_dynamic::{Contract, JsonError};
use deltasoap_http::SoapService;
use http::request::Builder;
use http_body::Body;
use http_body_util::BodyExt;
use serde_json::Value as Json;
use tower::ServiceExt;

pub const SHOP: &str = include_str!("../data/shop.wsdl");

pub fn shop() -> Contract {
    Contract::from_text(SHOP).expect("a description")
}

/// Returns a contract of a schema for `urn:t`, qualified, with this content.
pub fn schema(content: &str) -> Contract {
    let text = format!(
        "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns:t='urn:t' targetNamespace='urn:t' \
         elementFormDefault='qualified'>{content}</xs:schema>"
    );
    Contract::from_text(&text).expect("a schema")
}

/// A global element of a contract.
pub struct Codec<'c> {
    contract: &'c Contract,
    name: QName,
    content: ElementRef,
}

impl<'c> Codec<'c> {
    /// Selects an element of the shop.
    pub fn new(contract: &'c Contract, local: &str) -> Self {
        Self::named(contract, QName::owned("urn:shop", local))
    }

    pub fn of_element(contract: &'c Contract, local: &str) -> Self {
        Self::named(contract, QName::owned("urn:t", local))
    }

    pub fn named(contract: &'c Contract, name: QName) -> Self {
        let id = contract.description().schemas().element_named(&name).expect("a global element");
        let content = contract.lowered().element(id).expect("a lowered element");
        Codec { contract, name, content }
    }

    pub fn view(&self) -> View<'c> {
        self.contract.view(self.content)
    }

    pub fn read(&self, content: &str) -> Value {
        self.read_with("", content)
    }

    pub fn read_with(&self, attributes: &str, content: &str) -> Value {
        let result = self.try_read_with(attributes, content);
        result.unwrap_or_else(|error| panic!("{attributes} {content}: {error}"))
    }

    pub fn try_read(&self, content: &str) -> Result<Value, Error> {
        self.try_read_with("", content)
    }

    fn try_read_with(&self, attributes: &str, content: &str) -> Result<Value, Error> {
        let QName { namespace, local } = &self.name;
        let document = format!(
            "<{local} xmlns='{namespace}' xmlns:t='{namespace}' xmlns:xs='http://www.w3.org/2001/XMLSchema' \
             xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' {attributes}>{content}</{local}>"
        );
        let view = self.contract.view(self.content);
        value_from_slice(document.as_bytes(), &self.name, view)
    }

    pub fn write(&self, value: &Value) -> String {
        let mut encoder = Encoder::new();
        encoder.start(&self.name);
        value.encode(&mut encoder, self.contract.view(self.content));
        encoder.end();
        String::from_utf8(encoder.finish().expect("a writable value").as_slice().to_vec()).expect("UTF-8")
    }

    pub fn to_json(&self, value: &Value) -> Json {
        self.contract.to_json(&self.name, self.content, value).expect("a value of the schema")
    }

    pub fn read_json(&self, json: &Json) -> Result<Value, JsonError> {
        self.contract.from_json(&self.name, self.content, json)
    }
}

/// Asserts that two values are equal apart from differences without meaning: prefixes, the order of
/// attributes in trees, and white space and the form of numbers in trees of a known type.
pub fn assert_same(one: &Value, other: &Value, what: &str) {
    assert!(is_same(one, other), "{what}\n{one:#?}\n{other:#?}");
}

pub fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Tree(one), Value::Tree(other)) => trimmed(one).is_equivalent(&trimmed(other)),
        (Value::List(one), Value::List(other)) => are_same(one, other),
        (Value::Record(one), Value::Record(other)) => {
            let (Record { fields, attributes, others }, other) = (&**one, &**other);
            *attributes == other.attributes && *others == other.others && are_same(fields, &other.fields)
        }
        (Value::Typed(one), Value::Typed(other)) => one.name == other.name && is_same(&one.value, &other.value),
        (Value::Shared(one), Value::Shared(other)) if one != other => match (one.get(), other.get()) {
            (Some(one), Some(other)) => is_same(&one, &other),
            _ => false,
        },
        _ => one == other,
    }
}

fn are_same(one: &[Value], other: &[Value]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
}

/// Removes white space between elements, and exponents in numbers.
fn trimmed(node: &Node) -> Node {
    let has_elements = node.elements().next().is_some();
    let child = |child: &Child| match child {
        Child::Element(node) => Some(Child::Element(trimmed(node))),
        Child::Text(text) if has_elements && text.trim().is_empty() => None,
        // JSON keeps the number, but not whether it was written with an exponent.
        Child::Text(text) if text.contains('E') => {
            Some(Child::Text(text.parse::<f64>().map_or_else(|_| text.clone(), |number| number.to_string().into())))
        }
        Child::Text(text) => Some(Child::Text(text.clone())),
    };
    let children = node.children.iter().filter_map(child).collect();
    // The name in it has any prefix that the writer chose.
    let attributes = node.attributes.iter().filter(|(name, _)| name.local != "arrayType").cloned().collect();
    Node { children, attributes, ..node.clone() }
}

/// Sends a request in memory; returns the status and the body of the response.
pub async fn send<B>(service: SoapService, request: Builder, body: B) -> (u16, String)
where
    B: Body<Data = Bytes> + Send + 'static,
{
    let request = request.header("content-type", "text/xml").body(body).expect("a request");
    let response = service.oneshot(request).await.expect("it never fails");
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    (status, String::from_utf8(body.to_vec()).expect("UTF-8"))
}
