//! Operations of a contract.

use crate::contract::{Model, version};
use crate::errors;
use crate::from_python::FromPython;
use crate::to_python::{self, ToPython};
use deltasoap_core::schema::{ElementRef, Field};
use deltasoap_core::soap::{Envelope, HeaderBlock, Version};
use deltasoap_core::{Node, QName, Value};
use deltasoap_dynamic::Operation;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use std::sync::Arc;

/// An operation of a binding.
#[pyclass(name = "Operation", module = "deltasoap._engine", frozen)]
pub(crate) struct PyOperation {
    pub(crate) model: Arc<Model>,
    pub(crate) operation: Operation,
}

/// The name of an element, the reference of its type (`None` for the bodies of rpc messages), and
/// the names of its values.
type Message<'py> = (String, Bound<'py, PyAny>, Vec<String>);

impl PyOperation {
    pub(crate) fn new(py: Python<'_>, model: Arc<Model>, operation: Operation) -> PyResult<Self> {
        operation.method().map_err(|error| errors::lookup(py, &error))?;
        Ok(PyOperation { model, operation })
    }

    fn message<'py>(&self, py: Python<'py>, name: &QName, content: ElementRef) -> PyResult<Message<'py>> {
        Ok((name.to_string(), self.model.reference(py, content)?, self.model.value_names(py, content)))
    }

    fn fields<'py>(&self, py: Python<'py>, fields: &[Field]) -> PyResult<Vec<Message<'py>>> {
        fields.iter().map(|field| self.message(py, &field.name, field.element)).collect()
    }

    /// Writes the envelope of a message with this element in its body.
    pub(crate) fn write<'py>(
        &self,
        py: Python<'py>,
        element: Option<(&QName, ElementRef)>,
        value: &Value,
        headers: &[HeaderBlock],
    ) -> PyResult<Bound<'py, PyBytes>> {
        let of = &self.operation;
        let (name, content) = element.ok_or_else(|| PyValueError::new_err("the operation has no such message"))?;
        let method = of.method().map_err(|error| errors::lookup(py, &error))?;
        let envelope = Envelope::element(name, value, of.view(content)).version(of.version());
        let written = envelope.encoding(method.element.encoding).headers(headers).to_vec();
        let written = written.map_err(|error| errors::raise(py, "ValidationError", (error.to_string(),), &[]))?;
        Ok(PyBytes::new(py, &written))
    }
}

#[pymethods]
impl PyOperation {
    /// The name.
    #[getter]
    fn name(&self) -> String {
        self.operation.distinct_name()
    }

    /// `Service.Port.Operation`.
    #[getter]
    fn full_name(&self) -> String {
        self.operation.full_name()
    }

    /// The action of the request.
    #[getter]
    fn soap_action(&self) -> &str {
        &self.operation.bound().action
    }

    /// `1.1` or `1.2`.
    #[getter]
    fn soap(&self) -> &'static str {
        version(self.operation.version())
    }

    /// The request's element: its name, the reference of its type, the names of its values.
    #[getter]
    fn request<'py>(&self, py: Python<'py>) -> PyResult<Option<Message<'py>>> {
        self.operation.request().map(|(name, content)| self.message(py, name, content)).transpose()
    }

    /// The response's element, as for the request; `None` if there is no response.
    #[getter]
    fn response<'py>(&self, py: Python<'py>) -> PyResult<Option<Message<'py>>> {
        self.operation.response().map(|(name, content)| self.message(py, name, content)).transpose()
    }

    /// Reads the element in the body of a response, whatever its name.
    #[pyo3(signature = (document, *, tolerance="unknown"))]
    fn decode_response<'py>(&self, py: Python<'py>, document: &[u8], tolerance: &str) -> PyResult<Bound<'py, PyAny>> {
        let (_, content) =
            self.operation.response().ok_or_else(|| PyValueError::new_err("the operation has no response"))?;
        crate::contract::decode(py, &self.model, content, document, tolerance)
    }

    /// Reads the element in the body of a request, whatever its name.
    #[pyo3(signature = (document, *, tolerance="strict"))]
    fn decode_request<'py>(&self, py: Python<'py>, document: &[u8], tolerance: &str) -> PyResult<Bound<'py, PyAny>> {
        let (_, content) =
            self.operation.request().ok_or_else(|| PyValueError::new_err("the operation has no request"))?;
        crate::contract::decode(py, &self.model, content, document, tolerance)
    }

    /// Writes the envelope of a response with these values.
    fn response_envelope<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let response = self.operation.response();
        let (name, content) = response.ok_or_else(|| PyValueError::new_err("the operation has no response"))?;
        let value = FromPython::new(py, &self.model)?.arguments(content, name, args, kwargs);
        self.write(py, response, &value.map_err(|error| error.into_py_err(py))?, &[])
    }

    /// A response as the WSDL describes it, with values made up; `None` if there is no response.
    #[getter]
    fn sample<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (Some((_, content)), Some(sample)) = (self.operation.response(), self.operation.response_sample()) else {
            return Ok(None);
        };
        ToPython::new(py, &self.model, &|_| None).content(&sample, content).map(Some)
    }

    /// A request and a response as the WSDL describes them, with values made up: their envelopes,
    /// `None` for one that does not exist.
    #[getter]
    fn sample_envelopes<'py>(&self, py: Python<'py>) -> PyResult<[Option<Bound<'py, PyBytes>>; 2]> {
        let of = &self.operation;
        let written =
            |element, sample: Option<Value>| sample.map(|sample| self.write(py, element, &sample, &[])).transpose();
        Ok([written(of.request(), of.request_sample())?, written(of.response(), of.response_sample())?])
    }

    /// The elements that may be in the detail of a fault.
    #[getter]
    fn faults<'py>(&self, py: Python<'py>) -> PyResult<Vec<Message<'py>>> {
        let method = self.operation.method().map_err(|error| errors::lookup(py, &error))?;
        self.fields(py, &method.element.faults)
    }

    fn __repr__(&self) -> String {
        format!("<Operation {}>", self.operation.full_name())
    }
}

/// Returns the parts of an envelope: the version of SOAP, the name of the first element in the body
/// and that element as a document, if there is one, and the body itself as a document.
#[pyfunction]
pub(crate) fn body(py: Python<'_>, envelope: &[u8]) -> PyResult<Parts> {
    let invalid = |text: String| errors::raise(py, "XMLSyntaxError", (text,), &[]);
    let root = Node::parse(envelope).map_err(|error| invalid(errors::with_causes(&error)))?;
    let version = Version::from_namespace(&root.name.namespace).filter(|_| root.name.local == "Envelope");
    let version = version.ok_or_else(|| invalid(format!("the document is no SOAP envelope, but {}", root.name)))?;
    let body = root.element(version.namespace(), "Body").ok_or_else(|| invalid("the envelope has no Body".into()))?;
    let unwritable = || invalid("the body cannot be written".into());
    let document = |node: &Node, around: &[&Node]| {
        let written = to_python::document(&standalone(node, around)).ok_or_else(unwritable)?;
        Ok::<_, PyErr>(PyBytes::new(py, &written).unbind())
    };
    let first = body.elements().next();
    let element = first.map(|it| document(it, &[body, &root])).transpose()?;
    let name = first.map(|it| it.name.to_string());
    Ok((crate::contract::version(version), name, element, document(body, &[&root])?))
}

/// What [`body`] returns.
type Parts = (&'static str, Option<String>, Option<Py<PyBytes>>, Py<PyBytes>);

/// Returns a copy of an element with the prefixes of those around it, the innermost first: types in
/// it are named by them.
fn standalone(node: &Node, around: &[&Node]) -> Node {
    let mut copy = node.clone();
    for outer in around {
        let is_new = |prefix: &str| !copy.bindings.iter().any(|(own, _)| own.as_str() == prefix);
        let added: Vec<_> = outer.bindings.iter().filter(|(prefix, _)| is_new(prefix)).cloned().collect();
        copy.bindings = copy.bindings.iter().cloned().chain(added).collect();
    }
    copy
}
