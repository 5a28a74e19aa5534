//! The definitions of a WSDL as dicts: messages, port types, bindings and services.
//!
//! They are what the views in `deltasoap.wsdl` show. Calls do not need them.

use crate::contract::{Model, version};
use crate::describe::reference;
use deltasoap_core::schema::{Style, Use};
use deltasoap_wsdl::wsdl::{
    Binding, BoundMessage, BoundOperation, Message, Operation, Parameter, PartContent, PortType, Service,
};
use deltasoap_wsdl::{Definitions, Schemas};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

type Dict<'py> = PyResult<Bound<'py, PyDict>>;

/// Describes all definitions.
pub(crate) fn describe<'py>(py: Python<'py>, model: &Model) -> Dict<'py> {
    let all = model.contract.description().definitions();
    let dict = PyDict::new(py);
    // Operations may refer to messages that no document defines.
    let defined: Vec<_> = all.messages.iter().filter(|it| !it.is_missing).collect();
    dict.set_item("messages", list(py, &defined, |it| message(py, it, model.schemas()))?)?;
    dict.set_item("port_types", list(py, &all.port_types, |it| port_type(py, it, all))?)?;
    dict.set_item("bindings", list(py, &all.bindings, |it| binding(py, it, all))?)?;
    dict.set_item("services", list(py, &all.services, |it| service(py, it, all))?)?;
    Ok(dict)
}

fn list<'py, T>(py: Python<'py>, items: &[T], each: impl Fn(&T) -> Dict<'py>) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, items.iter().map(each).collect::<PyResult<Vec<_>>>()?)
}

fn message<'py>(py: Python<'py>, message: &Message, schemas: &Schemas) -> Dict<'py> {
    let parts = list(py, &message.parts, |part| {
        let dict = PyDict::new(py);
        dict.set_item("name", &*part.name)?;
        let (element, of) = match &part.content {
            PartContent::Element(name, _) => (Some(name.to_string()), None),
            PartContent::Type(id) => (None, Some(reference(py, schemas, *id)?)),
        };
        dict.set_item("element", element)?;
        dict.set_item("type", of)?;
        Ok(dict)
    })?;
    let dict = PyDict::new(py);
    dict.set_item("name", message.name.to_string())?;
    dict.set_item("parts", parts)?;
    Ok(dict)
}

fn port_type<'py>(py: Python<'py>, of: &PortType, all: &Definitions) -> Dict<'py> {
    let operation = |operation: &Operation| {
        let dict = PyDict::new(py);
        dict.set_item("name", &*operation.name)?;
        dict.set_item("request", optional(operation.request.as_ref(), |it| parameter(py, it, all))?)?;
        dict.set_item("response", optional(operation.response.as_ref(), |it| parameter(py, it, all))?)?;
        dict.set_item("faults", list(py, &operation.faults, |it| parameter(py, it, all))?)?;
        dict.set_item("documentation", operation.documentation.as_deref())?;
        Ok(dict)
    };
    let dict = PyDict::new(py);
    dict.set_item("name", of.name.to_string())?;
    dict.set_item("operations", list(py, &of.operations, operation)?)?;
    Ok(dict)
}

fn parameter<'py>(py: Python<'py>, parameter: &Parameter, all: &Definitions) -> Dict<'py> {
    let dict = PyDict::new(py);
    dict.set_item("name", &*parameter.name)?;
    dict.set_item("message", all.messages[parameter.message].name.to_string())?;
    dict.set_item("action", parameter.action.as_deref())?;
    Ok(dict)
}

fn binding<'py>(py: Python<'py>, binding: &Binding, all: &Definitions) -> Dict<'py> {
    let port_type = &all.port_types[binding.port_type];
    let dict = PyDict::new(py);
    dict.set_item("name", binding.name.to_string())?;
    dict.set_item("port_type", port_type.name.to_string())?;
    dict.set_item("soap", version(binding.version))?;
    dict.set_item("transport", &*binding.transport)?;
    dict.set_item("operations", list(py, &binding.operations, |it| bound_operation(py, it, port_type, all))?)?;
    Ok(dict)
}

fn bound_operation<'py>(py: Python<'py>, bound: &BoundOperation, port_type: &PortType, all: &Definitions) -> Dict<'py> {
    let style = match bound.style {
        Style::Document => "document",
        Style::Rpc => "rpc",
    };
    let faults: Vec<&str> = bound.faults.iter().map(|(name, _)| &**name).collect();
    let dict = PyDict::new(py);
    dict.set_item("name", &*port_type.operations[bound.operation].name)?;
    dict.set_item("style", style)?;
    dict.set_item("soap_action", &*bound.action)?;
    dict.set_item("request", optional(bound.request.as_ref(), |it| bound_message(py, it, all))?)?;
    dict.set_item("response", optional(bound.response.as_ref(), |it| bound_message(py, it, all))?)?;
    dict.set_item("faults", faults)?;
    Ok(dict)
}

fn bound_message<'py>(py: Python<'py>, bound: &BoundMessage, all: &Definitions) -> Dict<'py> {
    let headers = list(py, &bound.headers, |header| {
        let dict = PyDict::new(py);
        dict.set_item("message", all.messages[header.message].name.to_string())?;
        dict.set_item("part", &*header.part)?;
        dict.set_item("use", encoding(header.encoding))?;
        dict.set_item("namespace", &*header.namespace)?;
        Ok(dict)
    })?;
    let parts = bound.parts.as_ref().map(|parts| parts.iter().map(|it| &**it).collect::<Vec<&str>>());
    let dict = PyDict::new(py);
    dict.set_item("use", encoding(bound.encoding))?;
    dict.set_item("namespace", &*bound.namespace)?;
    dict.set_item("parts", parts)?;
    dict.set_item("headers", headers)?;
    Ok(dict)
}

fn service<'py>(py: Python<'py>, service: &Service, all: &Definitions) -> Dict<'py> {
    let ports = list(py, &service.ports, |port| {
        let dict = PyDict::new(py);
        dict.set_item("name", &*port.name)?;
        dict.set_item("binding", all.bindings[port.binding].name.to_string())?;
        dict.set_item("address", &*port.address)?;
        Ok(dict)
    })?;
    let dict = PyDict::new(py);
    dict.set_item("name", service.name.to_string())?;
    dict.set_item("ports", ports)?;
    Ok(dict)
}

fn optional<'py, T>(value: Option<&T>, each: impl Fn(&T) -> Dict<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
    value.map(each).transpose()
}

fn encoding(of: Use) -> &'static str {
    match of {
        Use::Literal => "literal",
        Use::Encoded => "encoded",
    }
}
