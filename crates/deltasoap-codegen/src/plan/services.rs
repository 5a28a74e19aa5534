//! Operations: plans their messages, and finds bindings with the same messages.

use super::{Owner, Planner, docs, legal, rustdoc};
use crate::model::{Docs, ItemId, ItemKind, Member, Nil, Occurs, Operation, Service, Struct, TypeUse};
use crate::plan::content::member;
use deltasoap_core::QName;
use deltasoap_core::schema::{Style, Use};
use deltasoap_core::soap::PolicyDocuments;
use deltasoap_wsdl::lower::body_parts;
use deltasoap_wsdl::wsdl::Operation as Declared;
use deltasoap_wsdl::wsdl::{AddressingPolicy, Binding, BoundMessage, BoundOperation, Parameter, Part, PartContent};
use deltasoap_wsdl::xsd::TypeId;
use std::collections::{BTreeSet, HashSet};

/// Documentation of a client if a policy mentions WS-Addressing.
const REQUIRED: &str = "The service requires WS-Addressing, which clients made by [`new`](Self::new) and \
                        [`builder`](Self::builder) use.";
const OFFERED: &str = "The service supports WS-Addressing: see [`ClientBuilder::addressing`](deltasoap::client::ClientBuilder::addressing).";

/// Documentation of a client if policies say something about security.
const SECURED: &str = "The service requires security, as [`POLICIES`](Self::POLICIES) says: a client made by \
                       [`builder`](Self::builder) meets them, given `ClientBuilder::policy_credentials`. Without those it is \
                       not built.";

/// A body's element, or the reason why there is none.
type Body = Result<ItemId, String>;

/// Returns what the policies of a binding and its operations say about WS-Addressing. It is
/// required if one operation requires it: the others have no policy against it.
fn addressing(binding: &Binding) -> Option<AddressingPolicy> {
    let of_operations = binding.operations.iter().filter_map(|bound| bound.policy.addressing);
    let mut mentioned = binding.policy.addressing.into_iter().chain(of_operations);
    let first = mentioned.next()?;
    Some(AddressingPolicy { is_required: first.is_required || mentioned.any(|other| other.is_required), ..first })
}

/// Returns what the policies of a binding say about security. If those of its operations differ,
/// only what they require is returned.
fn policies(binding: &Binding) -> PolicyDocuments {
    let documents = |bound: &BoundOperation| bound.policy.security.documents(&binding.policy.security);
    let all: Vec<_> = binding.operations.iter().map(documents).collect();
    match &all[..] {
        [] => PolicyDocuments::default(),
        [first, others @ ..] if others.iter().all(|other| other == first) => first.clone(),
        _ => {
            let names: BTreeSet<&str> = all.iter().flat_map(|it| it.required.split(", ")).collect();
            let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
            PolicyDocuments { required: names.join(", ").into(), ..PolicyDocuments::default() }
        }
    }
}

impl Planner<'_> {
    /// Adds a service for each port type, and further ones for bindings that differ.
    pub(super) fn services(&mut self) {
        let bindings = &self.definitions.bindings;
        for (index, binding) in bindings.iter().enumerate() {
            let mut before = bindings[..index].iter().filter(|it| it.port_type == binding.port_type);
            if before.clone().any(|other| are_alike(other, binding)) {
                continue;
            }
            let is_first = before.next().is_none();
            let service = self.service(binding, index, is_first);
            if !(service.operations.is_empty() && service.omitted.is_empty()) {
                self.model.services.push(service);
            }
        }
    }

    fn service(&mut self, binding: &Binding, index: usize, is_first: bool) -> Service {
        let port_type = &self.definitions.port_types[binding.port_type];
        let ports = self.definitions.services.iter().flat_map(|service| &service.ports);
        let port = ports.clone().find(|port| port.binding == index && !port.address.is_empty());
        let name = if is_first { &port_type.name } else { &binding.name };
        let mut docs_of = docs(port_type.documentation.as_deref());
        docs_of.extend(docs(binding.documentation.as_deref()));
        let addressing = addressing(binding);
        let is_required = addressing.is_some_and(|policy| policy.is_required);
        if addressing.is_some() {
            docs_of.extend(rustdoc(if is_required { REQUIRED } else { OFFERED }.to_owned()));
        }
        let policies = policies(binding);
        if !policies.is_empty() {
            docs_of.extend(rustdoc(SECURED.to_owned()));
        }
        let mut service = Service {
            preferred_name: legal(name).local.to_string(),
            docs: docs_of,
            version: binding.version,
            mtom: binding.policy.mtom,
            addressing: addressing.filter(|policy| policy.is_required).map(|policy| policy.version),
            policies,
            address: port.map(|port| port.address.to_string()),
            operations: Vec::new(),
            omitted: Vec::new(),
        };
        for (number, bound) in binding.operations.iter().enumerate() {
            let declared = &self.definitions.port_types[binding.port_type].operations[bound.operation];
            if !self.is_selected(binding, number) {
                continue;
            }
            let distinguishable = self.check_distinguishable(bound, declared, &service.operations);
            match distinguishable.and_then(|()| self.operation((index, number), bound, declared)) {
                Ok(operation) => service.operations.push(operation),
                Err(why) => service.omitted.push((declared.name.to_string(), why)),
            }
        }
        service
    }

    /// Checks that operations can be distinguished: by the body, or by the action if the body is
    /// empty.
    fn check_distinguishable(
        &self,
        bound: &BoundOperation,
        declared: &Declared,
        others: &[Operation],
    ) -> Result<(), String> {
        let is_empty = |parameter: &Parameter| {
            let message = &self.definitions.messages[parameter.message];
            bound.style == Style::Document && body_parts(message, parameter.message, bound.request.as_ref()).is_empty()
        };
        if !declared.request.as_ref().is_some_and(is_empty) {
            return Ok(());
        }
        let has_empty = |it: &Operation| {
            let of = &self.model.item(it.request).kind;
            matches!(of, ItemKind::Struct(Struct { element: Some(name), members, .. }) if name.is_empty() && members.is_empty())
        };
        match others.iter().find(|other| has_empty(other) && *other.action == *bound.action) {
            Some(other) => Err(format!("its body is empty, and its action is the same as that of {}", other.name)),
            None => Ok(()),
        }
    }

    /// Returns true for an operation to generate, including one that is selected in another binding
    /// with the same service.
    fn is_selected(&self, binding: &Binding, number: usize) -> bool {
        let Some(selected) = &self.selected else { return true };
        let bindings = self.definitions.bindings.iter().enumerate();
        let mut alike = bindings.filter(|(_, it)| it.port_type == binding.port_type && are_alike(it, binding));
        alike.any(|(index, _)| selected.operations.contains(&(index, number)))
    }

    /// Plans an operation. `number` is the index of the binding and of its operation.
    fn operation(
        &mut self,
        number: (usize, usize),
        bound: &BoundOperation,
        declared: &Declared,
    ) -> Result<Operation, String> {
        if declared.is_solicited {
            // Its caller is the service, so it belongs neither to the generated client nor to the
            // generated server.
            return Err("the service starts it".to_owned());
        }
        let Some(request) = declared.request.as_ref() else { return Err("it has no messages".to_owned()) };
        self.check(number)?;
        let request = self.body(&declared.name, bound, request, bound.request.as_ref())?;
        let answer = format!("{}Response", declared.name);
        let response = declared.response.as_ref();
        let response = response.map(|it| self.body(&answer, bound, it, bound.response.as_ref())).transpose()?;
        Ok(Operation {
            number,
            name: declared.name.to_string(),
            docs: docs(declared.documentation.as_deref()),
            action: bound.action.to_string(),
            addressing_action: self.addressing_action(number.0, bound, declared),
            style: bound.style,
            encoding: bound.request.as_ref().map_or(Use::Literal, |input| input.encoding),
            request,
            response,
            faults: self.faults(declared, bound),
            headers: self.headers(bound.request.as_ref()),
            response_headers: self.headers(bound.response.as_ref()),
        })
    }

    fn addressing_action(&self, binding: usize, bound: &BoundOperation, declared: &Declared) -> Option<String> {
        let binding = &self.definitions.bindings[binding];
        let is_explicit = declared.request.as_ref().is_some_and(|request| request.action.is_some());
        let is_mentioned = addressing(binding).is_some() || is_explicit;
        let action = is_mentioned.then(|| self.definitions.actions(binding, bound).request)?;
        (*action != *bound.action).then_some(action)
    }

    /// Checks that an operation can be called; otherwise it is not generated.
    fn check(&self, number: (usize, usize)) -> Result<(), String> {
        let lowered = self.lowered.operations.iter().find(|it| (it.binding, it.operation) == number);
        lowered.map_or(Ok(()), |it| it.method.as_ref().map(|_| ()).map_err(Clone::clone))
    }

    /// Returns the element in a body.
    fn body(&mut self, name: &str, bound: &BoundOperation, parameter: &Parameter, how: Option<&BoundMessage>) -> Body {
        let definitions = self.definitions;
        let message = &definitions.messages[parameter.message];
        let parts = body_parts(message, parameter.message, how);
        let encoding = how.map_or(Use::Literal, |how| how.encoding);
        match (bound.style, &parts[..]) {
            (Style::Rpc, _) => {
                let namespace = how.map_or("", |how| &how.namespace);
                let docs = docs(parameter.documentation.as_deref());
                Ok(self.wrapper(&QName::owned(namespace, name), &parts, encoding, docs))
            }
            (Style::Document, [Part { content: PartContent::Element(name, id), .. }]) => Ok(match id {
                Some(id) => self.element(*id, encoding),
                None => self.loose_element(name, TypeUse::NODE, Docs::new()),
            }),
            (Style::Document, []) => {
                Ok(self.nothing(name, &message.name.namespace, docs(parameter.documentation.as_deref())))
            }
            (Style::Document, [Part { name, content: PartContent::Type(id), .. }]) => {
                let name = QName::owned(&*message.name.namespace, &**name);
                let content = self.content(*id, encoding, Owner { name: &name.local, namespace: &name.namespace });
                Ok(self.loose_element(&name, content, Docs::new()))
            }
            (Style::Document, parts) => {
                let docs = docs(parameter.documentation.as_deref());
                Ok(self.several(&QName::owned(&*message.name.namespace, name), parts, encoding, docs))
            }
        }
    }

    /// Creates a body of several elements without a wrapper.
    fn several(&mut self, name: &QName, parts: &[&Part], encoding: Use, docs: Docs) -> ItemId {
        let name = legal(name);
        let members = parts.iter().map(|part| self.part(part, encoding, &name.local)).collect();
        let kind = Struct { element: Some(String::new()), is_group: true, members, ..Struct::default() };
        self.add(&name.local, &name.namespace, docs, ItemKind::Struct(kind))
    }

    /// Creates an empty body.
    fn nothing(&mut self, name: &str, namespace: &str, docs: Docs) -> ItemId {
        let name = legal(&QName::owned(namespace, name));
        let kind = ItemKind::Struct(Struct { element: Some(String::new()), ..Struct::default() });
        self.add(&name.local, &name.namespace, docs, kind)
    }

    /// Creates the wrapper element around the parts of an RPC message.
    fn wrapper(&mut self, name: &QName, parts: &[&Part], encoding: Use, docs: Docs) -> ItemId {
        let name = legal(name);
        let (mut members, mut seen) = (Vec::with_capacity(parts.len()), HashSet::new());
        for part in parts {
            let member = self.part(part, encoding, &name.local);
            if seen.insert(member.name.clone()) {
                members.push(member);
            }
        }
        let item = self.add(&name.local, &name.namespace, docs, ItemKind::Pending);
        let element = Some(name.local.to_string());
        let is_all = encoding == Use::Encoded;
        self.model.items[item.index()].kind =
            ItemKind::Struct(Struct { element, is_all, members, ..Struct::default() });
        item
    }

    /// Returns a part as a field. Parts of RPC messages have no namespace (WSDL 1.1, 3.5).
    fn part(&mut self, part: &Part, encoding: Use, owner: &str) -> Member {
        let (name, type_id) = match &part.content {
            PartContent::Element(name, Some(id)) => (name.clone(), self.schemas[*id].type_id),
            PartContent::Element(name, None) => (name.clone(), TypeId::ANY),
            PartContent::Type(type_id) => (QName::owned("", &*part.name), *type_id),
        };
        let name = legal(&name);
        let label = format!("{owner} {}", name.local);
        let content = self.content(type_id, encoding, Owner { name: &label, namespace: &name.namespace });
        let (nil, occurs) = match encoding {
            Use::Encoded => (Nil::encoded(&content), Occurs::AtMostOnce),
            Use::Literal => (Nil::Never, Occurs::Once),
        };
        Member { nil, occurs, ..member(name, content) }
    }

    fn faults(&mut self, declared: &Declared, bound: &BoundOperation) -> Vec<(String, ItemId)> {
        let definitions = self.definitions;
        let (mut faults, mut seen) = (Vec::new(), HashSet::new());
        for fault in &declared.faults {
            let how = bound.faults.iter().find(|(name, _)| *name == fault.name);
            let encoding = how.map_or(Use::Literal, |(_, encoding)| *encoding);
            for part in &definitions.messages[fault.message].parts {
                let detail = self.part_element(part, encoding, "");
                if seen.insert(detail) {
                    faults.push((fault.name.to_string(), detail));
                }
            }
        }
        faults
    }

    fn headers(&mut self, how: Option<&BoundMessage>) -> Vec<ItemId> {
        let definitions = self.definitions;
        let (mut blocks, mut seen) = (Vec::new(), HashSet::new());
        for header in how.map_or(&[][..], |how| &how.headers) {
            let mut parts = definitions.messages[header.message].parts.iter();
            if let Some(part) = parts.find(|part| part.name == header.part) {
                let block = self.part_element(part, header.encoding, &header.namespace);
                if seen.insert(block) {
                    blocks.push(block);
                }
            }
        }
        blocks
    }

    /// Returns a part as an element of its own: a header block or a fault's detail entry.
    /// `namespace` is for a part that has a type.
    fn part_element(&mut self, part: &Part, encoding: Use, namespace: &str) -> ItemId {
        match &part.content {
            PartContent::Element(_, Some(id)) => self.element(*id, encoding),
            PartContent::Element(name, None) => self.loose_element(name, TypeUse::NODE, Docs::new()),
            PartContent::Type(id) => {
                let name = QName::owned(namespace, &*part.name);
                let content = self.content(*id, encoding, Owner { name: &part.name, namespace });
                self.loose_element(&name, content, Docs::new())
            }
        }
    }
}

/// Returns true if two bindings of a port type have the same messages. They may differ in the SOAP
/// version and in policies, for which a client can have another caller.
fn are_alike(one: &Binding, other: &Binding) -> bool {
    let of_messages = |one: &Option<BoundMessage>, other: &Option<BoundMessage>| match (one, other) {
        (Some(one), Some(other)) => {
            one.encoding == other.encoding
                && one.namespace == other.namespace
                && one.parts == other.parts
                && one
                    .headers
                    .iter()
                    .map(|it| (it.message, &it.part, it.encoding, &it.namespace))
                    .eq(other.headers.iter().map(|it| (it.message, &it.part, it.encoding, &it.namespace)))
        }
        (None, None) => true,
        _ => false,
    };
    one.operations.len() == other.operations.len()
        && one.operations.iter().zip(&other.operations).all(|(one, other)| {
            (one.operation, &one.action, one.style) == (other.operation, &other.action, other.style)
                && of_messages(&one.request, &other.request)
                && of_messages(&one.response, &other.response)
        })
}
