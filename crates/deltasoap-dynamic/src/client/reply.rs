//! Replies.

use super::parts::Parts;
use crate::{JsonError, Operation};
use bytes::Bytes;
use deltasoap_core::decode::{Cursor, Step};
use deltasoap_core::schema::{ElementRef, Style, View};
use deltasoap_core::soap::{BodyParts, Fault, Head, Receiver};
use deltasoap_core::{Content, Deviation, Error, ErrorKind, Lease, Memory, Node, PartUri, QName, Typed, Value};
use deltasoap_http::{Attachments, Finding};
use http::{HeaderMap, StatusCode};
use serde_json::Value as Json;
use std::collections::HashMap;

/// A response.
#[derive(Debug)]
#[non_exhaustive]
pub struct Reply {
    /// The operation that was called.
    pub operation: Operation,
    /// Header blocks, and the version of SOAP.
    pub head: Head,
    /// The body's element. When it is dropped, the next response is compared with it.
    pub body: Lease<Value>,
    /// The HTTP status.
    pub status: StatusCode,
    /// The HTTP headers.
    pub http_headers: HeaderMap,
    /// The parts that came with the message and that the body does not refer to. They have arrived
    /// in full.
    pub attachments: Attachments,
    /// Deviations of the response from the WSDL; see
    /// [`Response::deviations`](deltasoap_http::Response::deviations).
    pub deviations: Vec<Deviation>,
    /// Violations of the WSDL, if the client [reports](deltasoap_http::Validation::Report) them.
    pub findings: Vec<Finding>,
    pub(super) parts: Parts,
}

impl Reply {
    /// Returns the response as JSON. Bytes that came in separate parts are included in place.
    ///
    /// # Errors
    /// None are known for a received response.
    pub fn to_json(&self) -> Result<Json, JsonError> {
        self.operation.response_with_parts(&self.body, &self.parts)
    }

    /// Returns the response as the text of its [JSON](Self::to_json). Long lists of numbers are
    /// written faster so.
    ///
    /// # Errors
    /// None are known for a received response.
    pub fn to_json_text(&self) -> Result<String, JsonError> {
        self.operation.response_to_text(&self.body, &self.parts)
    }

    /// Returns the bytes that a [`Value::Part`] of the body refers to.
    pub fn part(&self, uri: &PartUri) -> Option<&Bytes> {
        self.parts.bytes(uri)
    }

    /// Returns the parts that the body refers to, with their bytes, in no particular order.
    pub fn parts(&self) -> impl Iterator<Item = (&PartUri, &Bytes)> {
        self.parts.all()
    }

    /// Returns the header blocks as JSON, by their names; several blocks of one name form an array.
    pub fn headers_to_json(&self) -> Json {
        by_name(self.head.headers.iter().map(|it| (&it.node.name, self.operation.header_to_json(&it.node))))
    }
}

/// Returns elements as the properties of an object by their local names; several elements of one
/// name form an array, in their order.
pub(super) fn by_name<'n>(elements: impl Iterator<Item = (&'n QName, Json)>) -> Json {
    let mut all = Vec::<(&str, Vec<Json>)>::new();
    let mut places = HashMap::new();
    for (name, json) in elements {
        let place = *places.entry(&*name.local).or_insert(all.len());
        match all.get_mut(place) {
            Some((_, several)) => several.push(json),
            None => all.push((&name.local, vec![json])),
        }
    }
    // A single element may be an array itself.
    let property = |(name, mut several): (&str, Vec<Json>)| match several.len() {
        1 => (name.to_owned(), several.remove(0)),
        _ => (name.to_owned(), Json::Array(several)),
    };
    Json::Object(all.into_iter().map(property).collect())
}

/// Receives the response of an operation, or a fault.
pub(super) struct ResponseReceiver<'o> {
    name: &'o QName,
    view: View<'o>,
    /// The name of an rpc response carries no meaning (SOAP 1.1, 7.1).
    is_any_name: bool,
    memory: Box<Memory<Value>>,
    /// Set for bodies without a wrapping element.
    parts: Option<BodyParts<Value>>,
    fault: Option<Node>,
    not_understood: Vec<QName>,
}

impl<'o> ResponseReceiver<'o> {
    pub(super) fn new(
        operation: &'o Operation,
        name: &'o QName,
        content: ElementRef,
        memory: Box<Memory<Value>>,
    ) -> Self {
        let is_any_name = operation.bound().style == Style::Rpc;
        let view = operation.view(content);
        let parts = name.local.is_empty().then(|| BodyParts::new(view));
        ResponseReceiver { name, view, is_any_name, memory, parts, fault: None, not_understood: Vec::new() }
    }

    /// Returns the memory, and the content of the body.
    pub(super) fn into_parts(self) -> (Box<Memory<Value>>, Result<BodyContent, Error>) {
        let ResponseReceiver { memory, parts, fault, not_understood, .. } = self;
        let held = match (fault, parts) {
            (Some(fault), _) => Fault::from_node(&fault).map(|mut fault| {
                fault.not_understood = not_understood;
                BodyContent::Fault(fault)
            }),
            (None, Some(parts)) => Ok(BodyContent::Apart(parts.into_value())),
            (None, None) => Ok(BodyContent::InMemory),
        };
        (memory, held)
    }
}

/// The content of a body.
pub(super) enum BodyContent {
    /// A response, which is in the memory.
    InMemory,
    /// A response that is not kept in a memory.
    Apart(Value),
    Fault(Fault),
}

impl Receiver for ResponseReceiver<'_> {
    fn open_body(&mut self, head: &Head, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        if namespace == head.version().namespace() && local == "Fault" {
            self.fault = Some(Node::default());
            self.not_understood = Fault::not_understood_in(&head.headers);
            return Ok(());
        }
        if let Some(parts) = &mut self.parts {
            return parts.open(self.view, namespace, local);
        }
        if self.is_any_name || self.name.is(namespace, local) {
            return Ok(());
        }
        let found = QName::owned(namespace, local).to_string();
        Err(ErrorKind::UnexpectedElement { found, expected: format!("<{}>", self.name) })
    }

    fn takes_several(&self) -> bool {
        self.parts.is_some() && self.fault.is_none()
    }

    fn open_another(&mut self, _: &Head, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        self.parts.as_mut().map_or(Ok(()), |parts| parts.open(self.view, namespace, local))
    }

    fn empty_body(&mut self, _: &Head) -> Result<(), ErrorKind> {
        self.parts.as_ref().map_or(Err(ErrorKind::Envelope("the Body is empty")), |parts| parts.check(self.view))
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        match (&mut self.fault, &mut self.parts) {
            (Some(node), _) => node.decode(cursor, Node::view()),
            (None, Some(parts)) => parts.decode(cursor, self.view),
            (None, None) => self.memory.decode(cursor, self.view),
        }
    }

    fn close_body(&mut self) -> Result<(), ErrorKind> {
        let parts = self.parts.as_ref().filter(|_| self.fault.is_none());
        parts.map_or(Ok(()), |parts| parts.check(self.view))
    }
}
