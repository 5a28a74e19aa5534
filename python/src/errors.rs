//! Errors of the engine as the exceptions of `deltasoap.exceptions`.

use deltasoap_core::Node;
use deltasoap_dynamic::{DynamicError, LookupError};
use deltasoap_http::CallError;
use deltasoap_wsdl::ErrorKind;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::fmt::Write;

/// An argument that does not match the schema. The path is added while the conversion returns.
#[derive(Debug)]
pub(crate) struct Invalid {
    path: Vec<String>,
    reason: Reason,
}

#[derive(Debug)]
enum Reason {
    Text(String),
    /// An error of a conversion in Python, such as a ValueError for a date.
    Raised(PyErr),
    /// A name that the type does not have, with those that it has.
    UnexpectedName(String),
}

impl Invalid {
    #[cold]
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Invalid { path: Vec::new(), reason: Reason::Text(text.into()) }
    }

    /// A keyword that no part of the type has.
    #[cold]
    pub(crate) fn unexpected(text: String) -> Self {
        Invalid { path: Vec::new(), reason: Reason::UnexpectedName(text) }
    }

    /// Adds the name of the value that contains it.
    #[cold]
    pub(crate) fn within(mut self, name: &str) -> Self {
        self.path.push(name.to_owned());
        self
    }

    /// Adds the position in a list.
    #[cold]
    pub(crate) fn at(mut self, index: usize) -> Self {
        self.path.push(format!("[{index}]"));
        self
    }

    fn path(&self) -> String {
        let mut text = String::new();
        for part in self.path.iter().rev() {
            if !text.is_empty() && !part.starts_with('[') {
                text.push('.');
            }
            text.push_str(part);
        }
        text
    }

    /// Returns the exception: a `ValidationError` with the path, or the exception that Python code
    /// raised.
    pub(crate) fn into_py_err(self, py: Python<'_>) -> PyErr {
        let path = self.path();
        match self.reason {
            Reason::Text(text) => raise(py, "ValidationError", (text,), &[("path", path)]),
            Reason::UnexpectedName(text) if path.is_empty() => PyTypeError::new_err(text),
            Reason::UnexpectedName(text) => PyTypeError::new_err(format!("{text} (at {path})")),
            Reason::Raised(error) => {
                let note = if path.is_empty() { None } else { Some(format!("at {path}")) };
                // Python 3.10 has no notes.
                let _ = note.map(|note| error.value(py).call_method1("add_note", (note,)));
                error
            }
        }
    }
}

impl From<PyErr> for Invalid {
    fn from(error: PyErr) -> Self {
        Invalid { path: Vec::new(), reason: Reason::Raised(error) }
    }
}

/// Makes an exception of `deltasoap.exceptions`.
pub(crate) fn raise<'py>(
    py: Python<'py>,
    class: &str,
    arguments: impl pyo3::call::PyCallArgs<'py>,
    keywords: &[(&str, String)],
) -> PyErr {
    let make = || {
        let class = py.import("deltasoap.exceptions")?.getattr(class)?;
        let options = PyDict::new(py);
        for (name, value) in keywords {
            options.set_item(name, value)?;
        }
        class.call(arguments, Some(&options))
    };
    make().map_or_else(|error| error, PyErr::from_value)
}

/// Converts the error of an import.
pub(crate) fn import(py: Python<'_>, error: &deltasoap_wsdl::Error) -> PyErr {
    let text = once(&in_python(with_causes(error))).to_owned();
    if let ErrorKind::Fetch(_) = error.kind() {
        return unavailable(py, text);
    }
    let is_page = text.contains("the root element is <html>") || text.contains("document type declaration");
    let remedy = if is_page { ": is it a page of HTML? Check the URL, and whether it needs a login" } else { "" };
    raise(py, "XMLSyntaxError", (text + remedy,), &[])
}

/// Makes an exception for a document that cannot be loaded.
fn unavailable(py: Python<'_>, text: String) -> PyErr {
    let status = text.rsplit_once(": status ").and_then(|(_, rest)| rest.split(' ').next()?.parse::<u16>().ok());
    match status {
        Some(status) => {
            let remedy = "; check the URL, and whether it needs a login";
            raise(py, "TransportError", (text + remedy, status), &[])
        }
        None if text.contains("not loaded within") => raise(py, "Timeout", (text,), &[]),
        None => raise(py, "ConnectionError", (text,), &[]),
    }
}

/// Returns a text without a second mention of the place that it begins with.
fn once(text: &str) -> &str {
    let rest =
        text.split_once(": ").filter(|(place, rest)| rest.strip_prefix(place).is_some_and(|it| it.starts_with(": ")));
    rest.map_or(text, |(_, rest)| rest)
}

/// Converts the error of a lookup.
pub(crate) fn lookup(py: Python<'_>, error: &LookupError) -> PyErr {
    raise(py, "LookupError", (error.to_string(),), &[])
}

/// Converts the error of a call. An exception that a transport raised is returned as it is.
pub(crate) fn call(py: Python<'_>, error: DynamicError) -> PyErr {
    match error {
        DynamicError::Fault(fault) => {
            let detail = detail(py, &fault.fault.detail);
            let code = fault.code();
            let subcodes: Vec<String> = fault.fault.subcodes.iter().map(ToString::to_string).collect();
            let made = detail.map(|detail| {
                let fields = (fault.fault.reason.clone(), code, fault.fault.role.clone(), detail, subcodes);
                raise(py, "Fault", fields, &[])
            });
            made.unwrap_or_else(|error| error)
        }
        DynamicError::Call(CallError::Http(error)) => match crate::transport::raised(error.as_ref()) {
            Some(raised) => raised.clone_ref(py),
            None => connection(py, "ConnectionError", error.as_ref()),
        },
        DynamicError::Call(error @ CallError::Timeout(_)) => connection(py, "Timeout", &error),
        DynamicError::Call(CallError::Status(status)) => {
            let text = in_python(with_causes(&*status));
            let content = PyBytes::new(py, status.excerpt.as_bytes());
            raise(py, "TransportError", (text, status.status.as_u16(), content), &[])
        }
        DynamicError::Call(error @ (CallError::Decode(_) | CallError::Charset(_) | CallError::Coding(_))) => {
            raise(py, "XMLParseError", (with_causes(&error),), &[])
        }
        DynamicError::Call(error @ CallError::Encode(_)) => raise(py, "ValidationError", (with_causes(&error),), &[]),
        DynamicError::Call(error @ (CallError::Insecure(_) | CallError::Unsecured(_))) => {
            raise(py, "SignatureVerificationFailed", (with_causes(&error),), &[])
        }
        DynamicError::Lookup(error) => lookup(py, &error),
        error => raise(py, "TransportError", (with_causes(&error),), &[]),
    }
}

/// What texts of the libraries call by names of Rust, as it is in Python.
const IN_PYTHON: [(&str, &str); 6] = [
    ("ClientBuilder::timeout or CallOptions::timeout", "Client(timeout=...)"),
    (", the limit set by HttpTransportBuilder::connect_timeout", ""),
    ("or set HttpTransportBuilder::proxy", "or pass a deltasoap.Transport whose session has a proxy"),
    ("or set ClientBuilder::redirects", "or pass a deltasoap.Transport, which follows"),
    (": send it with Client::send", ", but its WSDL declares a response"),
    ("; set CallOptions::idempotent if the call may be repeated", ""),
];

fn in_python(text: String) -> String {
    let text = IN_PYTHON.iter().fold(text, |text, (rust, python)| text.replace(rust, python));
    match text.contains("not trusted") {
        true => text + "; pass a deltasoap.Transport whose session has `verify` set to a file that trusts it",
        false => text,
    }
}

/// Makes an exception for the network.
pub(crate) fn connection(py: Python<'_>, class: &str, error: &(dyn std::error::Error + 'static)) -> PyErr {
    raise(py, class, (in_python(with_causes(error)),), &[])
}

/// Returns the entries of a fault's detail, as the text of an element `detail`.
fn detail<'py>(py: Python<'py>, entries: &[Node]) -> PyResult<Bound<'py, PyAny>> {
    let mut document = Node::new(deltasoap_core::QName::new("", "detail"));
    document.children = entries.iter().cloned().map(deltasoap_core::Child::Element).collect();
    crate::to_python::tree(py, &document)
}

/// Returns the text of an error, with the causes that it does not contain.
pub(crate) fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let _ = write!(text, ": {next}");
        cause = next.source();
    }
    text
}
