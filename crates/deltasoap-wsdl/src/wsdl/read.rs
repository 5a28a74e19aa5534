//! Reads messages, port types and services; `bindings` reads bindings.

use super::policies::{NamedPolicies, named};
use super::{
    Definitions, Message, Operation, OperationKind, Parameter, Part, PartContent, Policy, Port, PortType, Service,
};
use crate::document::{Node, Vocabulary, ns, qname};
use crate::load::Sources;
use crate::xsd::{Schemas, TypeId};
use crate::{Error, ErrorKind, NoteKind, Place};
use deltasoap_core::QName;
use std::collections::HashMap;

/// Reads all WSDLs.
pub(crate) fn read(sources: &mut Sources, schemas: &Schemas) -> Result<Definitions, Error> {
    let mut reader = Reader {
        sources,
        schemas,
        definitions: Definitions::default(),
        messages: HashMap::new(),
        message_policies: Vec::new(),
        port_types: HashMap::new(),
        port_type_policies: Vec::new(),
        operation_policies: HashMap::new(),
        bindings: HashMap::new(),
        services: HashMap::new(),
        firsts: HashMap::new(),
        differing: 0,
        policies: named(sources),
        notes: Vec::new(),
    };
    reader.each("message", Reader::message)?;
    reader.each("portType", Reader::port_type)?;
    reader.each("binding", Reader::binding)?;
    reader.each("service", Reader::service)?;
    let Reader { definitions, notes, .. } = reader;
    sources.notes.extend(notes);
    Ok(definitions)
}

/// Maximum number of parts of a message, faults of an operation, and header blocks of an envelope.
pub(super) const MAX_NAMED: usize = 1000;

/// Maximum number of definitions that are found to differ from the first one of their name.
const MAX_DIFFERING: usize = 100;

pub(super) struct Reader<'s> {
    pub(super) sources: &'s Sources,
    schemas: &'s Schemas,
    pub(super) definitions: Definitions,
    messages: HashMap<QName, usize>,
    /// Requirements of the policies of each defined message.
    pub(super) message_policies: Vec<Policy>,
    pub(super) port_types: HashMap<QName, usize>,
    /// Requirements of the policies of each port type.
    pub(super) port_type_policies: Vec<Policy>,
    /// Requirements of the policies of port types' operations, by the indices of both.
    pub(super) operation_policies: HashMap<(usize, usize), Policy>,
    /// `None` for bindings other than SOAP.
    pub(super) bindings: HashMap<QName, Option<usize>>,
    services: HashMap<QName, usize>,
    /// The first definition of each name, by the element's name too.
    firsts: HashMap<(&'static str, QName), Node<'s>>,
    /// Number of definitions that differ from the first one of their name.
    differing: usize,
    pub(super) policies: NamedPolicies<'s>,
    pub(super) notes: Vec<(NoteKind, String, Place)>,
}

impl<'s> Reader<'s> {
    /// Calls a function for every child of this name in every WSDL, with the child's name.
    fn each(
        &mut self,
        local: &'static str,
        read: fn(&mut Self, Node<'s>, QName) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let sources = self.sources;
        for &document in &sources.descriptions {
            let root = sources.root(document);
            let namespace = root.attribute("targetNamespace").unwrap_or_default();
            for child in root.children_of(Vocabulary::Wsdl).filter(|child| child.local() == local) {
                if let Some(name) = self.name_of(root, child, namespace)? {
                    self.note_differing(local, child, &name);
                    read(self, child, name)?;
                }
            }
        }
        Ok(())
    }

    /// Notes a definition that differs from the first one of its name, which counts. The others are
    /// copies.
    fn note_differing(&mut self, local: &'static str, node: Node<'s>, name: &QName) {
        let first = *self.firsts.entry((local, name.clone())).or_insert(node);
        if first.place() == node.place() || self.differing >= MAX_DIFFERING || first.is_like(node) {
            return;
        }
        self.differing += 1;
        let what = if local == "portType" { "port type" } else { local };
        let first = self.sources.position(first.place());
        let text = format!("{what} {name} differs from its definition at {first}, which counts");
        self.note(NoteKind::Tolerated, text, node.place());
    }

    /// Returns the name of a child of a WSDL. A service can be called without a name; components
    /// that only others refer to are useless without one.
    fn name_of(&mut self, root: Node<'s>, child: Node<'s>, namespace: &str) -> Result<Option<QName>, Error> {
        if let Some(name) = child.attribute("name").filter(|name| !name.is_empty()) {
            return Ok(Some(QName::owned(namespace, name)));
        }
        if self.sources.is_strict {
            return Err(self.sources.invalid(format!("<{}> without `name`", child.local()), child.place()));
        }
        if child.local() != "service" {
            let text = format!("a <{}> without a name is ignored: nothing can refer to it", child.local());
            self.note(NoteKind::Skipped, text, child.place());
            return Ok(None);
        }
        let stem = root.attribute("name").filter(|name| !name.is_empty()).unwrap_or("Service");
        let mut name = QName::owned(namespace, stem);
        if self.services.contains_key(&name) {
            name = QName::owned(namespace, format!("{stem}{}", self.services.len() + 1));
        }
        self.note(NoteKind::Tolerated, format!("a service without a name is named {}", name.local), child.place());
        Ok(Some(name))
    }

    pub(super) fn required(&self, node: Node<'s>, attribute: &str) -> Result<&'s str, Error> {
        let missing = || format!("<{}> without `{attribute}`", node.local());
        node.attribute(attribute).ok_or_else(|| self.sources.invalid(missing(), node.place()))
    }

    /// Returns the name in an attribute's value. With an undeclared prefix it is a name that
    /// nothing has.
    pub(super) fn name(&self, node: Node<'s>, attribute: &str) -> Result<QName, Error> {
        match node.names("", attribute) {
            Some([Some(name)]) => Ok(qname(&self.sources.names, *name)),
            _ => self.required(node, attribute).map(|text| QName::owned("", text)),
        }
    }

    /// Returns the name of the definition that an attribute refers to. Some authors forget that the
    /// default namespace applies to values: an unprefixed name that is undefined is looked up in
    /// the target namespace.
    pub(super) fn reference(
        &mut self,
        node: Node<'s>,
        attribute: &'static str,
        is_defined: fn(&Self, &QName) -> bool,
    ) -> Result<QName, Error> {
        let name = self.name(node, attribute)?;
        if self.sources.is_strict || is_defined(self, &name) {
            return Ok(name);
        }
        let root = self.sources.root(node.place().document);
        let text = self.required(node, attribute)?.trim_ascii();
        let in_target = QName::owned(root.attribute("targetNamespace").unwrap_or_default(), text);
        if text.contains(':') || !is_defined(self, &in_target) {
            return Ok(name);
        }
        self.note(NoteKind::Tolerated, format!("{attribute} {name} is not defined; {in_target} is used"), node.place());
        Ok(in_target)
    }

    /// Skips what is invalid, with a note; returns the error if the import is strict.
    pub(super) fn go_on<T>(&mut self, result: Result<T, Error>, place: Place) -> Result<Option<T>, Error> {
        match result {
            Ok(found) => Ok(Some(found)),
            Err(error) if self.sources.is_strict => Err(error),
            Err(error) => {
                self.note(NoteKind::Missing, error.kind().to_string(), place);
                Ok(None)
            }
        }
    }

    pub(super) fn undefined(&self, what: &'static str, name: QName, node: Node<'s>) -> Error {
        self.sources.error(ErrorKind::Undefined { what, name, cause: None }, node.place())
    }

    /// Returns the index of the message that an attribute names. An undefined message gets its own
    /// entry.
    pub(super) fn message_index(&mut self, node: Node<'s>) -> Result<usize, Error> {
        let name = self.reference(node, "message", |this, name| this.messages.contains_key(name));
        let name = self.go_on(name, node.place())?.unwrap_or_default();
        if let Some(&index) = self.messages.get(&name) {
            return Ok(index);
        }
        let missing = Err(self.undefined("message", name.clone(), node));
        self.go_on::<()>(missing, node.place())?;
        self.messages.insert(name.clone(), self.definitions.messages.len());
        self.definitions.messages.push(Message { name, parts: Vec::new(), is_missing: true, place: node.place() });
        Ok(self.definitions.messages.len() - 1)
    }

    /// Limits the number of parts, faults and header blocks: they are looked up by name in each
    /// other.
    pub(super) fn check_count(&self, count: usize, what: &str, place: Place) -> Result<(), Error> {
        if count <= MAX_NAMED {
            return Ok(());
        }
        Err(self.sources.not_supported(format!("more than {MAX_NAMED} {what}"), place))
    }

    pub(super) fn note(&mut self, kind: NoteKind, text: impl Into<String>, place: Place) {
        self.notes.push((kind, text.into(), place));
    }

    fn message(&mut self, node: Node<'s>, name: QName) -> Result<(), Error> {
        if self.messages.contains_key(&name) {
            return Ok(());
        }
        let children = node.children_of(Vocabulary::Wsdl).filter(|child| child.local() == "part");
        let parts: Result<Vec<Part>, Error> = children.map(|child| self.part(child)).collect();
        let parts = parts?;
        self.check_count(parts.len(), "parts of a message", node.place())?;
        let policy = self.policy(node);
        self.message_policies.push(policy);
        self.messages.insert(name.clone(), self.definitions.messages.len());
        self.definitions.messages.push(Message { name, parts, is_missing: false, place: node.place() });
        Ok(())
    }

    fn part(&mut self, node: Node<'s>) -> Result<Part, Error> {
        let name = self.part_name(node)?;
        let place = node.place();
        let content = if node.attribute("element").is_some() {
            let element = self.name(node, "element")?;
            let id = self.schemas.element_named(&element);
            if id.is_none() {
                self.missing("element", &element, node)?;
            }
            PartContent::Element(element, id)
        } else if node.attribute("type").is_some() {
            PartContent::Type(self.part_type(node)?)
        } else {
            self.note(NoteKind::Tolerated, "a part with neither `element` nor `type` can contain anything", place);
            PartContent::Type(TypeId::ANY)
        };
        Ok(Part { name, content, place })
    }

    /// Returns the name of a part. One of a document may do without: its element has one.
    fn part_name(&mut self, node: Node<'s>) -> Result<Box<str>, Error> {
        if self.sources.is_strict || node.attribute("element").is_none() || node.attribute("name").is_some() {
            return self.required(node, "name").map(Into::into);
        }
        let element = self.name(node, "element")?;
        self.note(NoteKind::Tolerated, format!("a part without a name is named {}", element.local), node.place());
        Ok((&*element.local).into())
    }

    fn part_type(&mut self, node: Node<'s>) -> Result<TypeId, Error> {
        let name = self.name(node, "type")?;
        match self.schemas.type_named(&name).or_else(|| Schemas::builtin_named(&name)) {
            Some(id) => Ok(id),
            None => self.missing("type", &name, node).map(|()| TypeId::ANY),
        }
    }

    /// See `find_or_miss` of the schemas.
    fn missing(&mut self, what: &'static str, name: &QName, node: Node<'s>) -> Result<(), Error> {
        let cause = self.sources.failures.get(&*name.namespace).cloned();
        if self.sources.is_strict || cause.is_some() {
            return Err(self.sources.error(ErrorKind::Undefined { what, name: name.clone(), cause }, node.place()));
        }
        self.note(NoteKind::Missing, format!("{what} {name} is not defined; anything is accepted there"), node.place());
        Ok(())
    }

    fn port_type(&mut self, node: Node<'s>, name: QName) -> Result<(), Error> {
        if self.port_types.contains_key(&name) {
            return Ok(());
        }
        let children = node.children_of(Vocabulary::Wsdl).filter(|child| child.local() == "operation");
        let number = self.definitions.port_types.len();
        let mut operations = Vec::new();
        for child in children {
            let mut policy = self.operation_policy(child);
            let operation = self.operation(child)?;
            self.add_messages(&operation, &mut policy);
            if policy != Policy::default() {
                self.operation_policies.insert((number, operations.len()), policy);
            }
            operations.push(operation);
        }
        let policy = self.policy(node);
        self.port_type_policies.push(policy);
        self.port_types.insert(name.clone(), number);
        let (documentation, place) = (node.documentation(), node.place());
        self.definitions.port_types.push(PortType { name, operations, documentation, place });
        Ok(())
    }

    fn operation(&mut self, node: Node<'s>) -> Result<Operation, Error> {
        let name: Box<str> = self.required(node, "name")?.into();
        let mut operation = Operation {
            name,
            request: None,
            response: None,
            is_solicited: false,
            faults: Vec::new(),
            documentation: node.documentation(),
            place: node.place(),
        };
        let (mut input, mut output) = (None, None);
        for child in node.children_of(Vocabulary::Wsdl) {
            match child.local() {
                "input" => input = Some(self.parameter(child)?),
                "output" => {
                    operation.is_solicited = input.is_none();
                    output = Some(self.parameter(child)?);
                }
                "fault" => operation.faults.push(self.parameter(child)?),
                _ => {}
            }
        }
        self.check_count(operation.faults.len(), "faults of an operation", node.place())?;
        (operation.request, operation.response) =
            if operation.is_solicited { (output, input) } else { (input, output) };
        let (request, response) = match operation.kind() {
            OperationKind::RequestResponse => ("Request", "Response"),
            OperationKind::SolicitResponse => ("Solicit", "Response"),
            _ => ("", ""),
        };
        default_name(&mut operation.request, &operation.name, request);
        default_name(&mut operation.response, &operation.name, response);
        Ok(operation)
    }

    fn parameter(&mut self, node: Node<'s>) -> Result<Parameter, Error> {
        let name = node.attribute("name").unwrap_or_default().into();
        let action = ns::WSDL_ADDRESSING.iter().find_map(|namespace| node.attribute_in(namespace, "Action"));
        let action = action.map(str::trim_ascii).filter(|action| !action.is_empty()).map(Box::from);
        Ok(Parameter { name, message: self.message_index(node)?, action, documentation: node.documentation() })
    }

    fn service(&mut self, node: Node<'s>, name: QName) -> Result<(), Error> {
        if self.services.contains_key(&name) {
            return Ok(());
        }
        let mut ports = Vec::new();
        for child in node.children_of(Vocabulary::Wsdl).filter(|child| child.local() == "port") {
            let port = self.port(child);
            ports.extend(self.go_on(port, child.place())?.flatten());
        }
        let policy = self.endpoint_policy(node);
        for port in &ports {
            self.definitions.bindings[port.binding].policy.add(&policy);
        }
        self.services.insert(name.clone(), self.definitions.services.len());
        self.definitions.services.push(Service { name, ports, documentation: node.documentation() });
        Ok(())
    }

    /// Reads a port; returns `None` if its binding is not a SOAP binding.
    fn port(&mut self, node: Node<'s>) -> Result<Option<Port>, Error> {
        let name = self.reference(node, "binding", |this, name| this.bindings.contains_key(name))?;
        let binding = *self.bindings.get(&name).ok_or_else(|| self.undefined("binding", name.clone(), node))?;
        let Some(binding) = binding else { return Ok(None) };
        let policy = self.endpoint_policy(node);
        self.definitions.bindings[binding].policy.add(&policy);
        let address = node.children().find(|child| child.local() == "address");
        let address = address.and_then(|address| address.attribute("location")).unwrap_or_default().into();
        let own = node.attribute("name").filter(|name| !name.is_empty());
        if own.is_none() {
            let text = format!("a port without a name is named {}, like its binding", name.local);
            self.note(NoteKind::Tolerated, text, node.place());
        }
        let name = own.unwrap_or(&name.local).into();
        Ok(Some(Port { name, binding, address, documentation: node.documentation() }))
    }
}

/// Derives a missing name from the operation's name (WSDL 1.1, 2.4.5).
fn default_name(parameter: &mut Option<Parameter>, operation: &str, suffix: &str) {
    if let Some(parameter) = parameter.as_mut().filter(|parameter| parameter.name.is_empty()) {
        parameter.name = format!("{operation}{suffix}").into();
    }
}
