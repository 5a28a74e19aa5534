//! Operations of a contract.

use crate::contract::{Shop, version};
use crate::{describe, errors};
use deltasoap_core::QName;
use deltasoap_core::schema::{ElementRef, Field, Style, Use};
use deltasoap_dynamic::Operation;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;

/// An operation of a binding.
#[pyclass(name = "Operation", module = "deltasoap._engine", frozen)]
pub(crate) struct PyOperation {
    pub(crate) shop: Arc<Shop>,
    pub(crate) operation: Operation,
}

/// The name of an element, the reference of its type (`None` for the bodies of rpc messages), and
/// the names of its values.
type Message<'py> = (String, Bound<'py, PyAny>, Vec<String>);

impl PyOperation {
    pub(crate) fn new(py: Python<'_>, shop: Arc<Shop>, operation: Operation) -> PyResult<Self> {
        operation.method().map_err(|error| errors::lookup(py, &error))?;
        Ok(PyOperation { shop, operation })
    }

    fn message<'py>(&self, py: Python<'py>, name: &QName, content: ElementRef) -> PyResult<Message<'py>> {
        let schemas = self.shop.schemas();
        let origin = self.shop.contract.lowered().origin(content);
        let reference = match origin {
            Some(origin) => describe::reference(py, schemas, origin.type_id)?,
            None => py.None().into_bound(py),
        };
        let view = self.shop.schema().view(content);
        let view = match view.element {
            deltasoap_core::schema::Element::Open(open) => open.base.map_or(view, |base| view.follow(base)),
            _ => view,
        };
        let mut names = Vec::new();
        if let Some(complex) = view.complex() {
            let layout = crate::names::Layout::of(py, complex, view);
            layout.each(complex, &mut |name| names.push(name.as_str().to_owned()));
        }
        Ok((describe::named(name), reference, names))
    }

    fn fields<'py>(&self, py: Python<'py>, fields: &[Field]) -> PyResult<Vec<Message<'py>>> {
        fields.iter().map(|field| self.message(py, &field.name, field.element)).collect()
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

    /// The documentation in the WSDL.
    #[getter]
    fn documentation(&self) -> Option<&str> {
        self.operation.documentation()
    }

    /// `document` or `rpc`.
    #[getter]
    fn style(&self) -> &'static str {
        match self.operation.bound().style {
            Style::Document => "document",
            Style::Rpc => "rpc",
        }
    }

    /// `literal` or `encoded`.
    #[getter]
    fn r#use(&self) -> &'static str {
        match self.operation.bound().request.as_ref().map(|request| request.encoding) {
            Some(Use::Encoded) => "encoded",
            _ => "literal",
        }
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

    /// True if there is no response.
    #[getter]
    fn is_one_way(&self) -> bool {
        self.operation.is_one_way()
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
        crate::contract::decode(py, &self.shop, content, document, tolerance)
    }

    /// The header blocks that the WSDL declares for requests.
    #[getter]
    fn request_headers<'py>(&self, py: Python<'py>) -> PyResult<Vec<Message<'py>>> {
        let method = self.operation.method().map_err(|error| errors::lookup(py, &error))?;
        self.fields(py, &method.request_headers)
    }

    /// The header blocks that the WSDL declares for responses.
    #[getter]
    fn response_headers<'py>(&self, py: Python<'py>) -> PyResult<Vec<Message<'py>>> {
        let method = self.operation.method().map_err(|error| errors::lookup(py, &error))?;
        self.fields(py, &method.response_headers)
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
