//! The messages of an operation: which elements they consist of, and how they are written.

use super::MessageKind;
use super::content::declared;
use super::pairs::Declared;
use crate::Operation;
use crate::sample::Sampler;
use deltasoap_core::schema::{ComplexElement, Compositor, Element, ElementRef, Field, Schema, Style, Use};
use deltasoap_core::soap::{Envelope, Fault, HeaderBlock};
use deltasoap_core::{Child, Node, QName, Record, Typed as _, Value};
use deltasoap_wsdl::lower::body_parts;
use deltasoap_wsdl::wsdl::{BoundMessage, Part, PartContent};
use deltasoap_wsdl::xsd::TypeId;

/// The elements of a message that are compared.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    /// The element around them: in rpc style.
    pub(crate) wrapper: Option<QName>,
    /// The elements, by name.
    pub(crate) roots: Vec<(QName, Declared)>,
    /// True for SOAP encoding.
    pub(crate) is_encoded: bool,
}

/// Returns all kinds of messages of an operation.
pub(crate) fn kinds(operation: &Operation) -> Vec<MessageKind> {
    let declared = operation.declaration();
    let request = declared.request.as_ref().map(|_| MessageKind::Request);
    let response = declared.response.as_ref().map(|_| MessageKind::Response);
    let faults = declared.faults.iter().map(|fault| MessageKind::Fault(fault.name.to_string()));
    let bound = operation.bound();
    let of = |how: &Option<BoundMessage>, kind: fn(QName) -> MessageKind| -> Vec<MessageKind> {
        let headers = how.iter().flat_map(|how| &how.headers);
        headers.filter_map(|header| Some(kind(header_part(operation, header)?.0))).collect()
    };
    let headers = of(&bound.request, MessageKind::RequestHeader).into_iter();
    let headers = headers.chain(of(&bound.response, MessageKind::ResponseHeader));
    request.into_iter().chain(response).chain(faults).chain(headers).collect()
}

/// Returns the elements of a message; `None` if the operation has no such message, or it is not
/// defined.
pub(crate) fn shape(operation: &Operation, kind: &MessageKind) -> Option<Shape> {
    let (declaration, bound) = (operation.declaration(), operation.bound());
    match kind {
        MessageKind::Request => body(operation, declaration.request.as_ref()?.message, bound.request.as_ref(), false),
        MessageKind::Response => body(operation, declaration.response.as_ref()?.message, bound.response.as_ref(), true),
        MessageKind::Fault(name) => {
            let fault = declaration.faults.iter().find(|fault| *fault.name == **name)?;
            let how = bound.faults.iter().find(|(other, _)| **other == **name);
            let parts = &messages(operation)[fault.message].parts;
            let roots = parts.iter().map(|part| root(operation, part, "")).collect();
            Some(Shape { wrapper: None, roots, is_encoded: how.is_some_and(|(_, it)| *it == Use::Encoded) })
        }
        MessageKind::RequestHeader(name) => header(operation, bound.request.as_ref()?, name),
        MessageKind::ResponseHeader(name) => header(operation, bound.response.as_ref()?, name),
    }
}

fn body(operation: &Operation, message: usize, how: Option<&BoundMessage>, is_response: bool) -> Option<Shape> {
    let it = &messages(operation)[message];
    if it.is_missing {
        return None;
    }
    let parts = body_parts(it, message, how);
    let is_rpc = operation.bound().style == Style::Rpc;
    let namespace = how.map_or("", |how| &how.namespace);
    let local = if is_response { format!("{}Response", operation.name()) } else { operation.name().to_owned() };
    let of_parts = if is_rpc { "" } else { &*it.name.namespace };
    Some(Shape {
        wrapper: is_rpc.then(|| QName::owned(namespace, local)),
        roots: parts.into_iter().map(|part| root(operation, part, of_parts)).collect(),
        is_encoded: how.is_some_and(|how| how.encoding == Use::Encoded),
    })
}

fn header(operation: &Operation, how: &BoundMessage, name: &QName) -> Option<Shape> {
    let mut headers = how.headers.iter().filter_map(|it| Some((it, header_part(operation, it)?)));
    let (header, (_, declared)) = headers.find(|(_, (other, _))| other == name)?;
    let is_encoded = header.encoding == Use::Encoded;
    Some(Shape { wrapper: None, roots: vec![(name.clone(), declared)], is_encoded })
}

fn header_part(operation: &Operation, header: &deltasoap_wsdl::wsdl::BoundHeader) -> Option<(QName, Declared)> {
    let parts = &messages(operation)[header.message].parts;
    let part = parts.iter().find(|part| part.name == header.part)?;
    Some(root(operation, part, &header.namespace))
}

fn messages(operation: &Operation) -> &[deltasoap_wsdl::wsdl::Message] {
    &operation.contract().description().definitions().messages
}

/// Returns the element of a part. One that has a type is named after it, in this namespace.
fn root(operation: &Operation, part: &Part, namespace: &str) -> (QName, Declared) {
    match &part.content {
        PartContent::Element(name, None) => (name.clone(), Declared { element: None, type_id: TypeId::ANY }),
        PartContent::Element(name, Some(id)) => (name.clone(), declared(&operation.contract().types, *id)),
        PartContent::Type(id) => (QName::owned(namespace, &*part.name), Declared { element: None, type_id: *id }),
    }
}

/// Writes a message; `replaced` is used in place of the element of this number. `None` if it cannot
/// be written.
pub(crate) fn written(
    operation: &Operation,
    kind: &MessageKind,
    sampler: &mut Sampler<'_>,
    replaced: Option<(usize, Node)>,
) -> Option<Vec<u8>> {
    let shape = shape(operation, kind)?;
    let nodes = nodes(&shape, sampler, replaced);
    let version = operation.version();
    let encoding = if shape.is_encoded { Use::Encoded } else { Use::Literal };
    match kind {
        MessageKind::Request | MessageKind::Response => {
            in_body(&shape, nodes, |envelope| envelope.version(version).encoding(encoding).to_vec().ok())
        }
        MessageKind::Fault(_) => {
            let mut fault = Fault::receiver("a fault");
            fault.detail = nodes;
            Envelope::fault(&fault).version(version).to_vec().ok()
        }
        MessageKind::RequestHeader(_) | MessageKind::ResponseHeader(_) => {
            let is_request = matches!(kind, MessageKind::RequestHeader(_));
            let body = if is_request { MessageKind::Request } else { MessageKind::Response };
            let around = self::shape(operation, &body)?;
            let blocks: Vec<_> = nodes.into_iter().map(|node| HeaderBlock { node }).collect();
            let body = self::nodes(&around, sampler, None);
            in_body(&around, body, |envelope| envelope.version(version).headers(&blocks).to_vec().ok())
        }
    }
}

fn nodes(shape: &Shape, sampler: &mut Sampler<'_>, replaced: Option<(usize, Node)>) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::with_capacity(shape.roots.len());
    for (index, (name, declared)) in shape.roots.iter().enumerate() {
        nodes.push(match &replaced {
            Some((number, node)) if *number == index => node.clone(),
            _ => {
                let node = sampler.part(name, declared.type_id, declared.element);
                sampler.settled(node, declared.type_id, declared.element)
            }
        });
    }
    nodes
}

/// Creates the envelope around the elements of a body.
fn in_body<T>(shape: &Shape, mut nodes: Vec<Node>, write: impl FnOnce(Envelope<'_>) -> T) -> T {
    if let Some(wrapper) = &shape.wrapper {
        let children = nodes.into_iter().map(Child::Element).collect();
        let node = Node { children, ..Node::new(wrapper.clone()) };
        return write(Envelope::element(&node.name, &node, Node::view()));
    }
    if nodes.len() == 1 {
        let node = nodes.remove(0);
        return write(Envelope::element(&node.name, &node, Node::view()));
    }
    let (schema, content) = several(&nodes);
    let fields = nodes.into_iter().map(|node| Value::Tree(Box::new(node))).collect();
    let value = Value::Record(Box::new(Record { fields, ..Record::default() }));
    write(Envelope::element(&QName::default(), &value, schema.view(content)))
}

/// Returns a schema for elements directly in a body.
fn several(nodes: &[Node]) -> (Schema, ElementRef) {
    let mut schema = Schema::new();
    let any = schema.add(Element::Any);
    let field = |node: &Node| Field {
        name: node.name.clone(),
        element: any,
        min: 1,
        max: Some(1),
        nillable: false,
        inline: false,
    };
    let content = schema.add(Element::Complex(ComplexElement {
        name: QName::default(),
        compositor: Compositor::Sequence,
        fields: nodes.iter().map(field).collect::<Vec<_>>().into(),
        attributes: Vec::new().into(),
        text: None,
        open: false,
        any_attribute: false,
        choices: Default::default(),
    }));
    (schema, content)
}
