//! Reads SOAP bindings (WSDL 1.1, section 3; the SOAP 1.2 binding for WSDL 1.1).

use super::read::{MAX_NAMED, Reader};
use super::{Binding, BoundHeader, BoundMessage, BoundOperation, Message, Operation, Parameter};
use crate::document::{Node, Vocabulary};
use crate::{Error, NoteKind};
use deltasoap_core::QName;
use deltasoap_core::schema::{Style, Use};
use deltasoap_core::soap::Version;
use std::collections::HashMap;

impl<'s> Reader<'s> {
    pub(super) fn binding(&mut self, node: Node<'s>, name: QName) -> Result<(), Error> {
        if self.bindings.contains_key(&name) {
            return Ok(());
        }
        let Some((soap, version)) = soap_binding(node) else {
            self.note(NoteKind::Skipped, format!("binding {name} is not a SOAP binding"), node.place());
            self.bindings.insert(name, None);
            return Ok(());
        };
        let port_type = self.port_type_of(node);
        let Some(port_type) = self.go_on(port_type, node.place())? else {
            self.bindings.insert(name, None);
            return Ok(());
        };
        self.check_transport(soap, &name);
        self.check_word(soap, "style", STYLES);
        let style = style(soap).unwrap_or(Style::Document);
        let by_name = by_name(&self.definitions.port_types[port_type].operations);
        let mut operations = Vec::new();
        for child in node.children_of(Vocabulary::Wsdl).filter(|child| child.local() == "operation") {
            operations.extend(self.bound_operation(child, port_type, &by_name, style)?);
        }
        self.bindings.insert(name.clone(), Some(self.definitions.bindings.len()));
        let policy = self.binding_policy(node, port_type);
        let transport = soap.attribute("transport").unwrap_or_default().into();
        let (documentation, place) = (node.documentation(), node.place());
        self.definitions.bindings.push(Binding {
            name,
            port_type,
            version,
            transport,
            operations,
            policy,
            documentation,
            place,
        });
        Ok(())
    }

    fn port_type_of(&mut self, node: Node<'s>) -> Result<usize, Error> {
        let name = self.reference(node, "type", |this, name| this.port_types.contains_key(name))?;
        self.port_types.get(&name).copied().ok_or_else(|| self.undefined("port type", name, node))
    }

    /// Reads an operation; returns `None`, with a note, if the port type has no operation of this
    /// name.
    fn bound_operation(
        &mut self,
        node: Node<'s>,
        port_type: usize,
        by_name: &HashMap<Box<str>, Vec<usize>>,
        style_of_binding: Style,
    ) -> Result<Option<BoundOperation>, Error> {
        let name = self.required(node, "name")?;
        let number = port_type;
        let port_type = &self.definitions.port_types[port_type];
        let same_name = by_name.get(name).map_or(&[][..], Vec::as_slice);
        let Some(operation) = find(&port_type.operations, same_name, node) else {
            let text = format!("operation `{name}` is bound, but is not in port type {}", port_type.name);
            self.note(NoteKind::Skipped, text, node.place());
            return Ok(None);
        };
        let message = |parameter: &Option<Parameter>| parameter.as_ref().map(|parameter| parameter.message);
        let Operation { request, response, is_solicited, .. } = &port_type.operations[operation];
        let (request, response, is_solicited) = (message(request), message(response), *is_solicited);
        let soap = soap_child(node, "operation");
        soap.into_iter().for_each(|soap| self.check_word(soap, "style", STYLES));
        let mut bound = BoundOperation {
            operation,
            action: soap.and_then(|soap| soap.attribute("soapAction")).unwrap_or_default().into(),
            style: soap.and_then(style).unwrap_or(style_of_binding),
            request: None,
            response: None,
            faults: Vec::new(),
            policy: self.bound_policy(node, (number, operation)),
            place: node.place(),
        };
        for child in node.children_of(Vocabulary::Wsdl) {
            match child.local() {
                local @ ("input" | "output") if (local == "output") == is_solicited => {
                    bound.request = Some(self.bound_message(child, request)?);
                }
                "input" | "output" => bound.response = Some(self.bound_message(child, response)?),
                "fault" => {
                    self.check_fault(child, (number, operation));
                    soap_child(child, "fault").into_iter().for_each(|fault| self.check_word(fault, "use", USES));
                    bound.faults.push((child.attribute("name").unwrap_or_default().into(), fault_use(child)));
                }
                _ => {}
            }
        }
        self.check_count(bound.faults.len(), "faults of an operation", node.place())?;
        Ok(Some(bound))
    }

    /// Notes a transport other than HTTP, which is the only one. The default is HTTP.
    fn check_transport(&mut self, soap: Node<'s>, binding: &QName) {
        let transport = soap.attribute("transport").unwrap_or_default();
        if transport.is_empty() || is_http(transport) {
            return;
        }
        let text = format!("binding {binding} uses the transport `{transport}`; it is read as HTTP");
        self.note(NoteKind::Tolerated, text, soap.place());
    }

    /// Notes an attribute whose value is neither of the two allowed. It is read as the first.
    fn check_word(&mut self, node: Node<'s>, attribute: &str, [first, second]: [&str; 2]) {
        let Some(text) = node.attribute(attribute).filter(|text| *text != first && *text != second) else { return };
        let text = format!("`{attribute}=\"{text}\"` is neither {first} nor {second}; it is read as {first}");
        self.note(NoteKind::Tolerated, text, node.place());
    }

    /// Notes a fault that the port type's operation does not have. It is ignored.
    fn check_fault(&mut self, node: Node<'s>, (port_type, operation): (usize, usize)) {
        let port_type = &self.definitions.port_types[port_type];
        let operation = &port_type.operations[operation];
        let name = node.attribute("name").unwrap_or_default();
        if operation.faults.iter().take(MAX_NAMED).all(|fault| *fault.name != *name) {
            let (operation, port_type) = (&operation.name, &port_type.name);
            let text =
                format!("fault `{name}` is bound, but is not in operation `{operation}` of port type {port_type}");
            self.note(NoteKind::Skipped, text, node.place());
        }
    }

    /// Reads the binding of a message. `message` is the index of the operation's own.
    fn bound_message(&mut self, node: Node<'s>, message: Option<usize>) -> Result<BoundMessage, Error> {
        // The body may be inside a `mime:part`.
        let multipart = node.children_of(Vocabulary::Mime).find(|child| child.local() == "multipartRelated");
        multipart.into_iter().for_each(|multipart| self.note_attachments(multipart));
        let holder =
            multipart.and_then(|multipart| multipart.children().find(|part| soap_child(*part, "body").is_some()));
        let holder = holder.unwrap_or(node);
        let body = soap_child(holder, "body");
        body.into_iter().for_each(|body| self.check_word(body, "use", USES));
        let mut headers = Vec::new();
        for header in holder.children().chain(node.children().filter(|_| holder.index() != node.index())) {
            if is_soap(header) && header.local() == "header" {
                headers.push(self.header(header)?);
            }
        }
        self.check_count(headers.len(), "header blocks of a message", node.place())?;
        let words = |text: &str| text.split_ascii_whitespace().map(Box::from).collect::<Vec<_>>();
        let parts = body.and_then(|body| body.attribute("parts")).map(words);
        self.check_count(parts.as_ref().map_or(0, Vec::len), "parts of a body", node.place())?;
        if let (Some(message), Some(body)) = (message, body) {
            for part in parts.iter().flatten() {
                self.check_part(message, part, body)?;
            }
        }
        Ok(BoundMessage {
            encoding: body.map_or(Use::Literal, use_of),
            namespace: body.and_then(|body| body.attribute("namespace")).unwrap_or_default().into(),
            parts,
            headers,
            has_attachments: multipart.is_some_and(|multipart| multipart.children().count() > 1),
        })
    }

    /// Notes the parts of a message that are bound to attachments: only a program's own code can
    /// send and receive those.
    fn note_attachments(&mut self, multipart: Node<'s>) {
        let contents = multipart.children_of(Vocabulary::Mime).flat_map(|part| part.children_of(Vocabulary::Mime));
        let contents = contents.filter(|content| content.local() == "content").take(MAX_NAMED);
        let contents: Vec<_> = contents.collect();
        for content in contents {
            let part = content.attribute("part").unwrap_or_default();
            let text = format!(
                "part `{part}` is an attachment (mime:content); descriptions, samples and calls by name leave it out"
            );
            self.note(NoteKind::Skipped, text, content.place());
        }
    }

    fn header(&mut self, node: Node<'s>) -> Result<BoundHeader, Error> {
        self.check_word(node, "use", USES);
        let mut faults = Vec::new();
        for fault in node.children().filter(|child| is_soap(*child) && child.local() == "headerfault") {
            faults.push(self.header_part(fault)?);
        }
        let (message, part) = self.header_part(node)?;
        let of_message = &self.definitions.messages[message].name.namespace;
        let namespace = node.attribute("namespace").filter(|it| !it.is_empty()).unwrap_or(of_message).into();
        Ok(BoundHeader { message, part, encoding: use_of(node), namespace, faults })
    }

    fn header_part(&mut self, node: Node<'s>) -> Result<(usize, Box<str>), Error> {
        let part = self.required(node, "part")?;
        let message = self.message_index(node)?;
        self.check_part(message, part, node)?;
        Ok((message, part.into()))
    }

    /// Checks that the message has a part. A part that it does not have is left out of the header
    /// or body.
    fn check_part(&mut self, message: usize, part: &str, node: Node<'s>) -> Result<(), Error> {
        let Message { name, parts, is_missing, .. } = &self.definitions.messages[message];
        if *is_missing || parts.iter().any(|known| *known.name == *part) {
            return Ok(());
        }
        let text = format!("message {name} has no part `{part}`, which this <{}> names", node.local());
        let missing = Err(self.sources.invalid(text, node.place()));
        self.go_on::<()>(missing, node.place()).map(drop)
    }
}

/// Values of `style` and `use`. Other values are read as the first.
const STYLES: [&str; 2] = ["document", "rpc"];
const USES: [&str; 2] = ["literal", "encoded"];

/// Returns true for the URLs that stand for HTTP in bindings (WSDL 1.1, 3.3; the SOAP 1.2 binding
/// for WSDL 1.1), and for common misspellings.
fn is_http(transport: &str) -> bool {
    let last = transport.trim_ascii().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    last.eq_ignore_ascii_case("http") || last.eq_ignore_ascii_case("https")
}

fn is_soap(node: Node<'_>) -> bool {
    matches!(node.vocabulary(), Vocabulary::Soap11 | Vocabulary::Soap12)
}

/// Returns the `soap:binding` element and its SOAP version.
fn soap_binding(node: Node<'_>) -> Option<(Node<'_>, Version)> {
    let soap = soap_child(node, "binding")?;
    let version = if soap.vocabulary() == Vocabulary::Soap12 { Version::Soap12 } else { Version::Soap11 };
    Some((soap, version))
}

fn soap_child<'s>(node: Node<'s>, local: &str) -> Option<Node<'s>> {
    node.children().find(|child| is_soap(*child) && child.local() == local)
}

fn style(node: Node<'_>) -> Option<Style> {
    match node.attribute("style")? {
        "rpc" => Some(Style::Rpc),
        _ => Some(Style::Document),
    }
}

fn use_of(node: Node<'_>) -> Use {
    if node.attribute("use") == Some("encoded") { Use::Encoded } else { Use::Literal }
}

fn fault_use(node: Node<'_>) -> Use {
    soap_child(node, "fault").map_or(Use::Literal, use_of)
}

/// Returns the operation of a port type that a bound operation refers to: by name, and by the names
/// of input and output if there are several.
fn find(operations: &[Operation], same_name: &[usize], node: Node<'_>) -> Option<usize> {
    let first = *same_name.first()?;
    let named = |local| node.child(Vocabulary::Wsdl, local).and_then(|child| child.attribute("name"));
    let (input, output) = (named("input"), named("output"));
    let fits = |&index: &usize| {
        let Operation { request, response, is_solicited, .. } = &operations[index];
        let (own_input, own_output) = if *is_solicited { (response, request) } else { (request, response) };
        let same = |wanted: Option<&str>, own: &Option<super::Parameter>| match (wanted, own) {
            (Some(wanted), Some(own)) => &*own.name == wanted,
            _ => true,
        };
        same(input, own_input) && same(output, own_output)
    };
    same_name.iter().copied().take(MAX_OVERLOADED).find(fits).or(Some(first))
}

/// Maximum number of operations of one name that are distinguished.
const MAX_OVERLOADED: usize = 100;

fn by_name(operations: &[Operation]) -> HashMap<Box<str>, Vec<usize>> {
    let mut by_name = HashMap::<Box<str>, Vec<usize>>::new();
    for (index, operation) in operations.iter().enumerate() {
        by_name.entry(operation.name.clone()).or_default().push(index);
    }
    by_name
}
