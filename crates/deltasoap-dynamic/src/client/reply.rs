//! What comes back.

use crate::{JsonError, Operation};
use deltasoap_core::decode::{Cursor, Step};
use deltasoap_core::schema::{ElementRef, Style, View};
use deltasoap_core::soap::{Fault, Head, Receiver};
use deltasoap_core::{Content, Error, ErrorKind, Lease, Memory, Node, QName, Typed, Value};
use deltasoap_http::Attachments;
use http::StatusCode;
use serde_json::{Map, Value as Json};

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
    /// The parts that came with the message.
    pub attachments: Attachments,
}

impl Reply {
    /// The response as JSON.
    ///
    /// # Errors
    /// None are known for what was received.
    pub fn to_json(&self) -> Result<Json, JsonError> {
        self.operation.response_to_json(&self.body)
    }

    /// The header blocks as JSON, by their names; several of one name as an array.
    pub fn headers_to_json(&self) -> Json {
        let mut object = Map::new();
        for block in &self.head.headers {
            let json = self.operation.contract().element_to_json(&block.node);
            match object.get_mut(&*block.node.name.local) {
                None => _ = object.insert(block.node.name.local.to_string(), json),
                Some(Json::Array(all)) => all.push(json),
                Some(one) => *one = Json::Array(vec![one.take(), json]),
            }
        }
        Json::Object(object)
    }
}

/// Takes the response of an operation, or a fault.
pub(super) struct Answer<'o> {
    name: &'o QName,
    view: View<'o>,
    /// The name of an rpc response carries no meaning (SOAP 1.1, 7.1).
    is_any_name: bool,
    memory: Box<Memory<Value>>,
    fault: Option<Node>,
    not_understood: Vec<QName>,
}

impl<'o> Answer<'o> {
    pub(super) fn new(
        operation: &'o Operation,
        name: &'o QName,
        content: ElementRef,
        memory: Box<Memory<Value>>,
    ) -> Self {
        let is_any_name = operation.bound().style == Style::Rpc;
        let view = operation.view(content);
        Answer { name, view, is_any_name, memory, fault: None, not_understood: Vec::new() }
    }

    /// The memory, and the fault if it was one.
    pub(super) fn into_parts(self) -> (Box<Memory<Value>>, Result<Option<Fault>, Error>) {
        let not_understood = self.not_understood;
        let fault = self.fault.as_ref().map(Fault::from_node).transpose();
        (self.memory, fault.map(|fault| fault.map(|fault| Fault { not_understood, ..fault })))
    }
}

impl Receiver for Answer<'_> {
    fn open_body(&mut self, head: &Head, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        if namespace == head.version().namespace() && local == "Fault" {
            self.fault = Some(Node::default());
            self.not_understood = Fault::not_understood_in(&head.headers);
            return Ok(());
        }
        if self.is_any_name || self.name.is(namespace, local) {
            return Ok(());
        }
        let found = QName::owned(namespace, local).to_string();
        Err(ErrorKind::UnexpectedElement { found, expected: format!("<{}>", self.name) })
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        match &mut self.fault {
            Some(node) => node.decode(cursor, Node::view()),
            None => self.memory.decode(cursor, self.view),
        }
    }
}
