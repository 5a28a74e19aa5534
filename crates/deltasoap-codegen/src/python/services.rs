//! Clients: operations with their arguments and what they return, and faults.
//!
//! Arguments are the values of the body's element. A response is what zeep makes of it: a type with
//! a single value is that value, and if that is of a type with a single element and no attributes,
//! it is that element.

use super::model::{Annotation, Class, Client, Docs, Fault, Field, Kind, Operation, Presence, Request};
use super::plan::{Context, Planner, text, texts};
use crate::model::{Model, Operation as Planned, Service};
use crate::plan::legal;
use deltasoap_core::QName;
use deltasoap_core::schema::Style;
use deltasoap_wsdl::lower::body_parts;
use deltasoap_wsdl::wsdl::{BoundMessage, BoundOperation, Operation as Declared, Parameter, Part, PartContent};
use std::collections::HashMap;

/// What a body has.
enum Body {
    Nothing,
    /// The values in a wrapper, or of several elements.
    Parts(Vec<Field>),
    Element(Annotation),
}

impl Planner<'_> {
    /// Adds the clients of a model's services.
    pub(super) fn clients(&mut self, model: &Model) {
        for service in &model.services {
            if let Some(first) = service.operations.first() {
                let client = self.client(service, first.number.0);
                self.module.clients.push(client);
            }
        }
    }

    fn client(&mut self, service: &Service, binding: usize) -> Client {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        service.operations.iter().for_each(|operation| *counts.entry(&*operation.name).or_default() += 1);
        let operations =
            service.operations.iter().map(|operation| self.operation(operation, counts[&*operation.name] > 1));
        let operations = operations.collect();
        let services = self.definitions.services.iter();
        let mut ports = services.flat_map(|service| service.ports.iter().map(move |port| (service, port)));
        let port = ports.find(|(_, port)| port.binding == binding);
        Client {
            preferred_name: service.base_name().to_owned(),
            docs: texts(service.docs.clone()),
            binding: self.definitions.bindings[binding].name.clone(),
            port: port.map(|(service, port)| (service.name.local.to_string(), port.name.to_string())),
            operations,
        }
    }

    fn operation(&mut self, planned: &Planned, is_overloaded: bool) -> Operation {
        let definitions = self.definitions;
        let (binding, number) = planned.number;
        let binding = &definitions.bindings[binding];
        let bound = &binding.operations[number];
        let declared = &definitions.port_types[binding.port_type].operations[bound.operation];
        let input = declared.request.as_ref().filter(|_| is_overloaded).map(|request| &request.name);
        let name = planned.name.clone();
        let mut docs = texts(planned.docs.clone());
        docs.extend(header_docs(bound.request.as_ref()));
        Operation {
            name: input.map_or_else(|| name.clone(), |input| format!("{name}:{input}")),
            request: self.request(&name, bound, declared),
            returns: self.returns(&name, bound, declared),
            faults: self.faults(declared),
            preferred_name: name,
            docs,
        }
    }

    fn request(&mut self, name: &str, bound: &BoundOperation, declared: &Declared) -> Request {
        let Some(parameter) = &declared.request else { return Request::Fields(Vec::new()) };
        match self.body(name, bound, parameter, bound.request.as_ref()) {
            Body::Nothing => Request::Fields(Vec::new()),
            Body::Parts(fields) => Request::Fields(fields),
            Body::Element(of) => match self.filled(&of) {
                Some(class) => Request::Fields(class.fields.clone()),
                None => Request::Value(of),
            },
        }
    }

    /// Returns the type of what an operation returns.
    fn returns(&mut self, name: &str, bound: &BoundOperation, declared: &Declared) -> Annotation {
        let Some(parameter) = &declared.response else { return Annotation::None };
        let name = format!("{name}Response");
        let body = self.body(&name, bound, parameter, bound.response.as_ref());
        let has_headers = bound.response.as_ref().is_some_and(|how| !how.headers.is_empty());
        match body {
            Body::Nothing => Annotation::None,
            Body::Element(of) if has_headers => Annotation::Reply(Box::new(of)),
            Body::Parts(fields) if has_headers => Annotation::Reply(Box::new(self.parts_class(&name, fields))),
            Body::Element(of) => match self.filled(&of).map(|class| class.fields.clone()) {
                Some(fields) => self.unwrapped(&fields).unwrap_or(of),
                None => of,
            },
            Body::Parts(fields) => self.unwrapped(&fields).unwrap_or_else(|| self.parts_class(&name, fields)),
        }
    }

    /// Returns what is returned in place of a type with at most one value.
    fn unwrapped(&mut self, fields: &[Field]) -> Option<Annotation> {
        match fields {
            [] => Some(Annotation::None),
            [field] => {
                let inner = self.unwrapped_value(field).unwrap_or_else(|| field.annotation.clone());
                Some(if field.presence == Presence::Optional { inner.optional() } else { inner })
            }
            _ => None,
        }
    }

    /// Returns what is returned in place of a value whose type has nothing but one element. A value
    /// of a derived type may have more.
    fn unwrapped_value(&mut self, field: &Field) -> Option<Annotation> {
        if field.presence == Presence::Repeated {
            return None;
        }
        let class = self.filled(&field.annotation)?;
        let id = class.id;
        let element = class.only_element()?;
        let inner = match element.presence {
            Presence::Optional => element.annotation.clone().optional(),
            Presence::Required | Presence::Repeated => element.annotation.clone(),
        };
        let has_derived = id.is_some_and(|id| !self.schemas.derived(id).is_empty());
        Some(if has_derived { Annotation::union(vec![inner, field.annotation.clone()]) } else { inner })
    }

    /// Declares a class for the parts of a message.
    fn parts_class(&mut self, name: &str, fields: Vec<Field>) -> Annotation {
        let own = (0..fields.len()).collect();
        let class = Class { fields, own, is_filled: true, ..Class::default() };
        Annotation::Declared(self.declare(name, "", false, Docs::new(), Kind::Class(class)))
    }

    fn body(&mut self, name: &str, bound: &BoundOperation, of: &Parameter, how: Option<&BoundMessage>) -> Body {
        let message = &self.definitions.messages[of.message];
        let parts = body_parts(message, of.message, how);
        match (bound.style, &parts[..]) {
            (Style::Rpc, parts) => Body::Parts(parts.iter().map(|part| self.part(part, name, true)).collect()),
            (Style::Document, []) => Body::Nothing,
            (Style::Document, [part]) => Body::Element(self.part_content(part, name)),
            (Style::Document, parts) => Body::Parts(parts.iter().map(|part| self.part(part, name, false)).collect()),
        }
    }

    /// Returns a part as a value. It has the name of its element in a wrapper, otherwise its own.
    fn part(&mut self, part: &Part, owner: &str, is_wrapped: bool) -> Field {
        let name = match &part.content {
            PartContent::Element(name, _) if is_wrapped => legal(name).local.to_string(),
            _ => part.name.to_string(),
        };
        let annotation = self.part_content(part, &format!("{owner} {name}"));
        Field { name, annotation, presence: Presence::Required, is_attribute: false, docs: Docs::new() }
    }

    fn part_content(&mut self, part: &Part, name: &str) -> Annotation {
        match &part.content {
            PartContent::Element(_, Some(id)) => {
                let of = self.element(*id);
                if self.schemas[*id].is_nillable { of.optional() } else { of }
            }
            PartContent::Element(_, None) => Annotation::Any,
            PartContent::Type(id) => self.content(*id, &Context { name, namespace: "" }),
        }
    }

    /// Returns the faults of an operation; operations share them.
    fn faults(&mut self, declared: &Declared) -> Vec<usize> {
        let definitions = self.definitions;
        let mut found = Vec::new();
        for fault in &declared.faults {
            for part in &definitions.messages[fault.message].parts {
                let index = self.fault(part, text(fault.documentation.as_deref()));
                if !found.contains(&index) {
                    found.push(index);
                }
            }
        }
        found
    }

    fn fault(&mut self, part: &Part, docs: Docs) -> usize {
        let element = match &part.content {
            PartContent::Element(name, _) => legal(name),
            PartContent::Type(_) => QName::owned("", &*part.name),
        };
        let detail = self.part_content(part, &element.local);
        let known = self.module.faults.iter().position(|known| known.element == element && known.detail == detail);
        known.unwrap_or_else(|| {
            self.module.faults.push(Fault { preferred_name: error_name(&element.local), element, detail, docs });
            self.module.faults.len() - 1
        })
    }
}

/// Documents the header blocks of a request.
fn header_docs(how: Option<&BoundMessage>) -> Option<String> {
    let headers = how.map_or(&[][..], |how| &how.headers);
    let mut names: Vec<String> = headers.iter().map(|header| format!("`{}`", header.part)).collect();
    names.dedup();
    (!names.is_empty()).then(|| format!("Header blocks: {}.", names.join(", ")))
}

/// Returns a name that ends in `Error`, as those of exceptions do.
fn error_name(name: &str) -> String {
    let endings = ["Fault", "Exception", "Error", "fault", "exception", "error"];
    let base = endings.iter().find_map(|ending| name.strip_suffix(ending)).filter(|base| !base.is_empty());
    format!("{} Error", base.unwrap_or(name))
}
