//! The definitions of a WSDL as dicts, for the views in `deltasoap.wsdl`.

use crate::contract::{Shop, version};
use crate::describe::reference;
use crate::to_python::qualified;
use deltasoap_core::schema::{Style, Use};
use deltasoap_wsdl::wsdl::{Binding, BoundMessage, BoundOperation, Operation, Parameter, PartContent};
use deltasoap_wsdl::{Definitions, Schemas};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Describes the definitions of a contract.
pub(crate) fn describe<'py>(py: Python<'py>, shop: &Shop) -> PyResult<Bound<'py, PyDict>> {
    let definitions = shop.contract.description().definitions();
    let dict = PyDict::new(py);
    dict.set_item("messages", messages(py, definitions, shop.schemas())?)?;
    let list = PyList::empty(py);
    for port_type in &definitions.port_types {
        let operations = port_type.operations.iter().map(|it| operation(py, definitions, it));
        let dict = PyDict::new(py);
        dict.set_item("name", qualified(&port_type.name))?;
        dict.set_item("operations", operations.collect::<PyResult<Vec<_>>>()?)?;
        list.append(dict)?;
    }
    dict.set_item("port_types", list)?;
    let all = definitions.bindings.iter().map(|it| binding(py, definitions, it));
    dict.set_item("bindings", all.collect::<PyResult<Vec<_>>>()?)?;
    dict.set_item("services", crate::describe::services(py, shop)?)?;
    Ok(dict)
}

fn messages<'py>(py: Python<'py>, definitions: &Definitions, schemas: &Schemas) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for message in definitions.messages.iter().filter(|message| !message.is_missing) {
        let parts = PyList::empty(py);
        for part in &message.parts {
            let dict = PyDict::new(py);
            dict.set_item("name", &*part.name)?;
            let (element, of_type) = match &part.content {
                PartContent::Element(name, _) => (Some(qualified(name)), None),
                PartContent::Type(id) => (None, Some(reference(py, schemas, *id)?)),
            };
            dict.set_item("element", element)?;
            dict.set_item("type", of_type)?;
            parts.append(dict)?;
        }
        let dict = PyDict::new(py);
        dict.set_item("name", qualified(&message.name))?;
        dict.set_item("parts", parts)?;
        list.append(dict)?;
    }
    Ok(list)
}

fn operation<'py>(py: Python<'py>, definitions: &Definitions, of: &Operation) -> PyResult<Bound<'py, PyDict>> {
    let parameter = |it: &Parameter| {
        let dict = PyDict::new(py);
        dict.set_item("name", &*it.name)?;
        dict.set_item("message", qualified(&definitions.messages[it.message].name))?;
        dict.set_item("action", it.action.as_deref())?;
        PyResult::Ok(dict)
    };
    let dict = PyDict::new(py);
    dict.set_item("name", &*of.name)?;
    dict.set_item("request", of.request.as_ref().map(parameter).transpose()?)?;
    dict.set_item("response", of.response.as_ref().map(parameter).transpose()?)?;
    dict.set_item("faults", of.faults.iter().map(parameter).collect::<PyResult<Vec<_>>>()?)?;
    dict.set_item("documentation", of.documentation.as_deref())?;
    Ok(dict)
}

fn binding<'py>(py: Python<'py>, definitions: &Definitions, of: &Binding) -> PyResult<Bound<'py, PyDict>> {
    let port_type = &definitions.port_types[of.port_type];
    let operations = of.operations.iter().map(|it| bound(py, definitions, it, &port_type.operations[it.operation]));
    let dict = PyDict::new(py);
    dict.set_item("name", qualified(&of.name))?;
    dict.set_item("port_type", qualified(&port_type.name))?;
    dict.set_item("soap", version(of.version))?;
    dict.set_item("transport", &*of.transport)?;
    dict.set_item("operations", operations.collect::<PyResult<Vec<_>>>()?)?;
    Ok(dict)
}

fn bound<'py>(
    py: Python<'py>,
    definitions: &Definitions,
    of: &BoundOperation,
    declared: &Operation,
) -> PyResult<Bound<'py, PyDict>> {
    let message = |it: &BoundMessage| message(py, definitions, it);
    let dict = PyDict::new(py);
    dict.set_item("name", &*declared.name)?;
    dict.set_item("style", if of.style == Style::Rpc { "rpc" } else { "document" })?;
    dict.set_item("soap_action", &*of.action)?;
    dict.set_item("request", of.request.as_ref().map(message).transpose()?)?;
    dict.set_item("response", of.response.as_ref().map(message).transpose()?)?;
    dict.set_item("faults", of.faults.iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>())?;
    Ok(dict)
}

fn message<'py>(py: Python<'py>, definitions: &Definitions, of: &BoundMessage) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("use", usage(of.encoding))?;
    dict.set_item("namespace", &*of.namespace)?;
    let parts = of.parts.as_ref().map(|parts| parts.iter().map(ToString::to_string).collect::<Vec<_>>());
    dict.set_item("parts", parts)?;
    let headers = PyList::empty(py);
    for header in &of.headers {
        let dict = PyDict::new(py);
        dict.set_item("message", qualified(&definitions.messages[header.message].name))?;
        dict.set_item("part", &*header.part)?;
        dict.set_item("use", usage(header.encoding))?;
        dict.set_item("namespace", &*header.namespace)?;
        headers.append(dict)?;
    }
    dict.set_item("headers", headers)?;
    Ok(dict)
}

fn usage(encoding: Use) -> &'static str {
    match encoding {
        Use::Literal => "literal",
        Use::Encoded => "encoded",
    }
}
