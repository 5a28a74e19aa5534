//! Writes a WSDL 1.1 document for a service whose types have a schema at compile time.
//!
//! | module | |
//! |---|---|
//! | [`components`] | finds the types, elements and attributes of all messages, and names them |
//! | [`schemas`] | writes them: one schema for each namespace |
//! | [`unambiguous`] | leaves out wildcards that compete with elements |
//! | this one | messages, port type, bindings for SOAP 1.1 and 1.2, service |
//! | [`names`], [`tag`] | prefixes and names; text |
//!
//! The same operations in the same order have the same text. Where XML Schema 1.0 has no form for
//! what the engine checks, the text allows more: repeated elements in any order, the branches of a
//! choice that need an element of theirs, ignored elements before others.

mod components;
mod names;
mod schemas;
mod tag;
mod unambiguous;

use super::super::operation::Operation;
use components::Components;
use deltasoap_core::schema::{ElementRef, Field, NamePart, QName, Style, Use, View};
use deltasoap_core::soap::Version;
use names::{Prefixes, ncname};
use std::collections::HashSet;
use tag::Tag;

/// The transport of bindings: HTTP, for SOAP 1.2 too.
const HTTP: &str = "http://schemas.xmlsoap.org/soap/http";

/// Name and text of the schema of SOAP encoding: what arrays refer to. Some tools download it from
/// the network if the import has no location, even though it is a part of SOAP.
const SOAP_ENCODING: (&str, &str) = ("soap-encoding.xsd", include_str!("soap_encoding.xsd"));

/// A WSDL made from types.
#[derive(Debug)]
pub(crate) struct Generated {
    pub(crate) text: String,
    /// Names and texts of the documents that it imports.
    pub(crate) documents: Vec<(String, String)>,
}

impl Generated {
    fn new(definitions: Tag) -> Self {
        let text = definitions.into_document();
        let (name, schema) = SOAP_ENCODING;
        let is_imported = text.contains(&format!("schemaLocation=\"{name}\""));
        let documents = is_imported.then(|| (name.to_owned(), schema.to_owned())).into_iter().collect();
        Generated { text, documents }
    }
}

/// Returns the WSDL of operations, in their order; `None` if none of them can be described.
/// Operations whose types are known only at run time are left out, as are those of which WSDL has
/// no form.
pub(crate) fn generate(service: &str, encoding: Use, operations: &[Operation]) -> Option<Generated> {
    let mut described = operations.iter().filter(|operation| !operation.is_dynamic()).peekable();
    described.peek()?;
    let mut namespaces = operations.iter().map(|operation| &operation.name().namespace);
    let target = namespaces.find(|namespace| !namespace.is_empty()).cloned();
    let target = target.unwrap_or_else(|| NamePart::from(format!("urn:{}", ncname(service)).as_str()));
    let mut components = Components::new(target.clone());
    let (mut names, mut bound) = (HashSet::new(), Vec::new());
    for operation in described {
        let use_ = operation.own_encoding().unwrap_or(encoding);
        if let Some(operation) = Bound::new(operation, use_, &mut names, &mut components) {
            bound.push(operation);
        }
    }
    (!bound.is_empty()).then(|| Generated::new(document(&ncname(service), &target, &bound, &components)))
}

fn document(service: &str, target: &NamePart, operations: &[Bound<'_>], components: &Components) -> Tag {
    let mut prefixes = Prefixes::new(target.clone());
    let schemas = schemas::write(components, &mut prefixes);
    let messages: Vec<_> =
        operations.iter().flat_map(|operation| operation.messages(components, &mut prefixes)).collect();
    let port_type = Tag::new("wsdl:portType").with("name", service);
    let port_type = port_type.add_all(operations.iter().map(Bound::port_type_operation));
    let bindings = BINDINGS.map(|binding| binding.tag(service, operations));
    let ports = BINDINGS.map(|binding| binding.port(service));
    let mut definitions = Tag::new("wsdl:definitions").with("name", service).with("targetNamespace", &**target);
    let fixed = [
        ("wsdl", super::document::WSDL),
        ("soap", super::document::BINDINGS[0]),
        ("soap12", super::document::BINDINGS[1]),
    ];
    let fixed = fixed.map(|(prefix, namespace)| (prefix.to_owned(), namespace.to_owned()));
    for (prefix, namespace) in fixed.into_iter().chain(prefixes.declarations()) {
        definitions = definitions.with(format!("xmlns:{prefix}"), namespace);
    }
    definitions
        .add(Tag::new("wsdl:types").add_all(schemas))
        .add_all(messages)
        .add(port_type)
        .add_all(bindings)
        .add(Tag::new("wsdl:service").with("name", service).add_all(ports))
}

/// A part of a message.
#[derive(Debug)]
enum Part {
    /// A body element.
    Element(QName),
    /// An accessor in an rpc body.
    Accessor(String, View<'static>),
}

/// An operation as the document describes it.
#[derive(Debug)]
struct Bound<'o> {
    operation: &'o Operation,
    name: String,
    style: Style,
    encoding: Use,
    request: Vec<Part>,
    /// `None` for a one-way operation.
    response: Option<Vec<Part>>,
    /// Names and elements of the faults.
    faults: Vec<(String, QName)>,
    request_headers: Vec<(String, QName)>,
    response_headers: Vec<(String, QName)>,
}

impl<'o> Bound<'o> {
    /// Describes an operation; `None` if WSDL has no form for it: an encoded one that has no
    /// accessors, one whose elements have other contents elsewhere, and a second rpc operation of
    /// the same name.
    fn new(
        operation: &'o Operation,
        encoding: Use,
        names: &mut HashSet<String>,
        components: &mut Components,
    ) -> Option<Self> {
        let method = operation.method();
        let wants_rpc = method.style == Style::Rpc || encoding == Use::Encoded;
        let rpc = if wants_rpc { accessors(operation) } else { None };
        let style = if rpc.is_some() { Style::Rpc } else { Style::Document };
        if encoding == Use::Encoded && rpc.is_none() {
            return None;
        }
        let name = free_name(&operation.name().local, style, names)?;
        let (request, response) = match rpc {
            Some((request, response)) => {
                let all = request.iter().chain(response.iter().flatten());
                all.for_each(|(_, view)| components.add_content(*view));
                (parts_of(request), response.map(parts_of))
            }
            None => document_parts(operation, components)?,
        };
        let mut declare = |elements| declared(elements, components);
        let faults = method.faults.iter().map(|field| (&field.name, field.element));
        let faults = if response.is_some() { declare(faults.collect()) } else { Vec::new() };
        let headers = operation.headers().each_ref();
        let [request_headers, mut response_headers] =
            headers.map(|headers| declare(headers.iter().map(|(name, element)| (name, *element)).collect()));
        if response.is_none() {
            response_headers.clear();
        }
        names.insert(name.clone());
        Some(Bound { operation, name, style, encoding, request, response, faults, request_headers, response_headers })
    }

    fn messages(&self, components: &Components, prefixes: &mut Prefixes) -> Vec<Tag> {
        let mut part = |number: usize, count: usize, part: &Part| match part {
            Part::Element(name) => {
                let label = if count == 1 { "parameters".to_owned() } else { format!("part{number}") };
                Tag::new("wsdl:part").with("name", label).with("element", prefixes.qualify(name))
            }
            Part::Accessor(name, view) => {
                let named = components.type_of(*view).unwrap_or_else(components::any_type);
                Tag::new("wsdl:part").with("name", name.as_str()).with("type", prefixes.qualify(&named))
            }
        };
        let mut message = |name: String, parts: &[Part]| {
            let tags: Vec<_> = (1..).zip(parts).map(|(number, it)| part(number, parts.len(), it)).collect();
            Tag::new("wsdl:message").with("name", name).add_all(tags)
        };
        let mut messages = vec![message(self.request_name(), &self.request)];
        messages.extend(self.response.iter().map(|parts| message(self.response_name(), parts)));
        let mut part =
            |name: &str, element| Tag::new("wsdl:part").with("name", name).with("element", prefixes.qualify(element));
        for (message, blocks) in
            [(self.request_header_name(), &self.request_headers), (self.response_header_name(), &self.response_headers)]
        {
            let parts: Vec<_> = blocks.iter().map(|(name, element)| part(name, element)).collect();
            messages.extend((!parts.is_empty()).then(|| Tag::new("wsdl:message").with("name", message).add_all(parts)));
        }
        messages.extend(self.faults.iter().map(|(name, element)| {
            Tag::new("wsdl:message").with("name", self.fault_name(name)).add(part("fault", element))
        }));
        messages
    }

    fn request_name(&self) -> String {
        format!("{}Request", self.name)
    }

    fn response_name(&self) -> String {
        format!("{}Response", self.name)
    }

    /// Header blocks are parts of messages of their own: tools that turn the parts of a body's
    /// element into parameters expect a message with one part.
    fn request_header_name(&self) -> String {
        format!("{}RequestHeader", self.name)
    }

    fn response_header_name(&self) -> String {
        format!("{}ResponseHeader", self.name)
    }

    fn fault_name(&self, fault: &str) -> String {
        format!("{}_{fault}", self.name)
    }

    fn port_type_operation(&self) -> Tag {
        let documentation = self.operation.described();
        let documentation =
            (!documentation.is_empty()).then(|| Tag::new("wsdl:documentation").containing(documentation));
        let refer = |tag: &'static str, name: String| Tag::new(tag).with("message", format!("tns:{name}"));
        let output = self.response.as_ref().map(|_| refer("wsdl:output", self.response_name()));
        let faults = self.faults.iter().map(|(name, _)| {
            Tag::new("wsdl:fault").with("name", name.as_str()).with("message", format!("tns:{}", self.fault_name(name)))
        });
        Tag::new("wsdl:operation")
            .with("name", self.name.as_str())
            .add_all(documentation)
            .add(refer("wsdl:input", self.request_name()))
            .add_all(output)
            .add_all(faults)
    }
}

/// Returns a name for an operation that has this body element; `None` if it must have that name,
/// which another one has.
fn free_name(local: &str, style: Style, names: &HashSet<String>) -> Option<String> {
    let name = ncname(local);
    if local.is_empty() || style == Style::Rpc && (names.contains(&name) || name != local) {
        return None;
    }
    let numbered = (2..).map(|number| format!("{name}{number}"));
    [name.clone()].into_iter().chain(numbered).find(|name| !names.contains(name))
}

type Accessors = Vec<(String, View<'static>)>;

/// Returns the accessors of the request and of the response in rpc style; `None` if one of them has
/// other content than unqualified elements that occur once.
fn accessors(operation: &Operation) -> Option<(Accessors, Option<Accessors>)> {
    let method = operation.method();
    if operation.takes_nothing() || operation.takes_several() {
        return None;
    }
    let response = match (&method.response_name, method.response) {
        (Some(name), Some(response)) if !name.local.is_empty() => Some(accessors_of(response)?),
        (None, None) => None,
        _ => return None,
    };
    Some((accessors_of(method.request)?, response))
}

fn accessors_of(reference: ElementRef) -> Option<Accessors> {
    let view = View::from_static(reference).content();
    let complex = view.complex().filter(|it| it.attributes.is_empty() && it.text.is_none() && !it.open)?;
    let is_accessor = |field: &Field| field.name.namespace.is_empty() && !field.inline && field.max == Some(1);
    let has_name = |field: &Field| {
        let element = view.follow(field.element).content().element;
        element.type_name().is_none_or(|name| !name.local.is_empty())
    };
    let is_rpc = complex.choices.is_empty() && complex.fields.iter().all(|field| is_accessor(field) && has_name(field));
    let accessor = |field: &Field| (field.name.local.to_string(), view.follow(field.element));
    is_rpc.then(|| complex.fields.iter().map(accessor).collect())
}

fn parts_of(accessors: Accessors) -> Vec<Part> {
    accessors.into_iter().map(|(name, view)| Part::Accessor(name, view)).collect()
}

/// Returns the parts of the request and of the response in document style.
fn document_parts(operation: &Operation, components: &mut Components) -> Option<(Vec<Part>, Option<Vec<Part>>)> {
    let method = operation.method();
    let has_element = !operation.takes_nothing() && !operation.takes_several();
    let request = elements(has_element.then_some(&method.request_name), method.request, components)?;
    let response = match (&method.response_name, method.response) {
        (Some(name), Some(response)) => {
            Some(elements(Some(name).filter(|name| !name.local.is_empty()), response, components)?)
        }
        _ => None,
    };
    Some((request, response))
}

/// Declares the elements of a body: one of this name, or one for each field.
fn elements(name: Option<&QName>, content: ElementRef, components: &mut Components) -> Option<Vec<Part>> {
    let fields: &[Field] = match (name, View::from_static(content).complex()) {
        (Some(name), _) => {
            return components.add_element(name, content, false).then(|| vec![Part::Element(name.clone())]);
        }
        (None, Some(complex)) => &complex.fields,
        // A body that the handler writes itself.
        (None, None) => return None,
    };
    let part = |field: &Field| {
        let is_added = components.add_element(&field.name, field.element, field.nillable);
        is_added.then(|| Part::Element(field.name.clone()))
    };
    fields.iter().map(part).collect()
}

/// Declares the elements of faults or header blocks, each with a name of its own. Those that have
/// another content elsewhere are left out.
fn declared(elements: Vec<(&QName, ElementRef)>, components: &mut Components) -> Vec<(String, QName)> {
    let mut names = HashSet::new();
    let mut is_new = |name: &QName| names.insert(name.local.to_string());
    let declared =
        elements.into_iter().filter(|(name, element)| components.add_element(name, *element, false) && is_new(name));
    declared.map(|(name, _)| (name.local.to_string(), name.clone())).collect()
}

/// A binding to a version of SOAP.
#[derive(Debug, Clone, Copy)]
struct Binding {
    version: Version,
    suffix: &'static str,
    binding: &'static str,
    operation: &'static str,
    body: &'static str,
    header: &'static str,
    fault: &'static str,
    address: &'static str,
}

const BINDINGS: [Binding; 2] = [
    Binding {
        version: Version::Soap11,
        suffix: "Soap11",
        binding: "soap:binding",
        operation: "soap:operation",
        body: "soap:body",
        header: "soap:header",
        fault: "soap:fault",
        address: "soap:address",
    },
    Binding {
        version: Version::Soap12,
        suffix: "Soap12",
        binding: "soap12:binding",
        operation: "soap12:operation",
        body: "soap12:body",
        header: "soap12:header",
        fault: "soap12:fault",
        address: "soap12:address",
    },
];

impl Binding {
    fn tag(self, service: &str, operations: &[Bound<'_>]) -> Tag {
        let binding = Tag::new(self.binding).with("transport", HTTP);
        Tag::new("wsdl:binding")
            .with("name", format!("{service}{}", self.suffix))
            .with("type", format!("tns:{service}"))
            .add(binding)
            .add_all(operations.iter().map(|operation| self.bind(operation)))
    }

    fn bind(self, bound: &Bound<'_>) -> Tag {
        let style = if bound.style == Style::Rpc { "rpc" } else { "document" };
        let action = bound.operation.described_action();
        let operation = Tag::new(self.operation).with("soapAction", action).with("style", style);
        let response = bound.operation.method().response_name.as_ref();
        let faults = bound.faults.iter().map(|(name, _)| {
            let fault = Tag::new(self.fault).with("name", name.as_str()).with("use", "literal");
            Tag::new("wsdl:fault").with("name", name.as_str()).add(fault)
        });
        Tag::new("wsdl:operation")
            .with("name", bound.name.as_str())
            .add(operation)
            .add(self.message("wsdl:input", bound, &bound.operation.name().namespace))
            .add_all(response.map(|name| self.message("wsdl:output", bound, &name.namespace)))
            .add_all(faults)
    }

    /// Returns how a request or a response is bound.
    fn message(self, direction: &'static str, bound: &Bound<'_>, namespace: &str) -> Tag {
        let (message, headers) = match direction {
            "wsdl:input" => (bound.request_header_name(), &bound.request_headers),
            _ => (bound.response_header_name(), &bound.response_headers),
        };
        let header = |(name, _): &(String, QName)| {
            let header = Tag::new(self.header).with("message", format!("tns:{message}"));
            header.with("part", name.as_str()).with("use", "literal")
        };
        Tag::new(direction).add_all(headers.iter().map(header)).add(self.body(bound, namespace))
    }

    fn body(self, bound: &Bound<'_>, namespace: &str) -> Tag {
        let body = Tag::new(self.body);
        let body = match bound.encoding {
            Use::Literal => body.with("use", "literal"),
            Use::Encoded => body.with("use", "encoded").with("encodingStyle", self.version.encoding_namespace()),
        };
        if bound.style == Style::Rpc { body.with("namespace", namespace) } else { body }
    }

    /// Returns a port. Its address is replaced in each answer.
    fn port(self, service: &str) -> Tag {
        Tag::new("wsdl:port")
            .with("name", format!("{service}{}", self.suffix))
            .with("binding", format!("tns:{service}{}", self.suffix))
            .add(Tag::new(self.address).with("location", "http://localhost/"))
    }
}
