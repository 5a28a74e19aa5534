//! The engine of a client: it writes requests, sends them, and reads responses.
//!
//! What it remembers of earlier messages belongs to one client. The GIL is held while values are
//! converted, and released while messages are written, sent and read.

use crate::awaiting::Loop;
use crate::contract::{Model, PyContract};
use crate::errors;
use crate::from_python::FromPython;
use crate::gate;
use crate::http::Headers;
use crate::operation::PyOperation;
use crate::run;
use crate::to_python::ToPython;
use crate::transport::Transport;
use bytes::Bytes;
use deltasoap_core::soap::HeaderBlock;
use deltasoap_core::{Differential, Tolerance, Value};
use deltasoap_dynamic::{DynamicClient, DynamicError, Operation, Reply as DynamicReply};
use deltasoap_http::{CallOptions, ClientBuilder};
use http::{HeaderName, HeaderValue};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use std::collections::HashMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Maximum number of endpoints whose earlier messages are remembered.
const MAX_ENDPOINTS: usize = 64;

/// The engine of a client.
#[pyclass(module = "deltasoap._engine", frozen)]
pub(crate) struct Engine {
    model: Arc<Model>,
    settings: Settings,
    transport: Transport,
    /// By endpoint; `None` for those of the WSDL.
    clients: Mutex<HashMap<Option<String>, DynamicClient<Transport>>>,
}

/// The settings of all calls.
#[derive(Debug, Clone)]
struct Settings {
    tolerance: Tolerance,
    timeout: Option<Duration>,
    is_differential: bool,
    has_columns: bool,
}

#[pymethods]
impl Engine {
    /// Creates an engine. `transport` is called as `transport(url, body, headers)` and returns
    /// `(status, headers, body)`, or an awaitable of that for calls that are awaited; without one,
    /// requests are sent by HTTP.
    #[new]
    #[pyo3(signature = (contract, *, transport=None, tolerance="unknown", timeout=None, differential=true, columns=false))]
    fn new(
        contract: &PyContract,
        transport: Option<Py<PyAny>>,
        tolerance: &str,
        timeout: Option<f64>,
        differential: bool,
        columns: bool,
    ) -> PyResult<Self> {
        let settings = Settings {
            tolerance: crate::contract::tolerance(tolerance)?,
            timeout: timeout.map(seconds).transpose()?,
            is_differential: differential,
            has_columns: columns,
        };
        let transport = Transport::new(transport);
        Ok(Engine { model: Arc::clone(&contract.model), settings, transport, clients: Mutex::default() })
    }

    /// Calls an operation and waits for its response; `None` for one-way operations.
    #[pyo3(signature = (operation, args, kwargs, *, headers=None, address=None, http_headers=None, timeout=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn call<'py>(
        &self,
        py: Python<'py>,
        operation: &PyOperation,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
        headers: Option<Vec<Bound<'py, PyAny>>>,
        address: Option<String>,
        http_headers: Option<HashMap<String, String>>,
        timeout: Option<f64>,
    ) -> PyResult<Option<Reply>> {
        let _inside = gate::enter(py);
        let value = self.arguments(py, operation, args, kwargs)?;
        let options = self.options(py, headers, http_headers, timeout)?;
        let client = self.client(address);
        let call = client.prepare_operation(operation.operation.clone()).options(options);
        let sent = run::wait(py, with_parts(call.send(&value)))?;
        received(py, Arc::clone(&self.model), sent, self.settings.has_columns)
    }

    /// Calls an operation; the result is awaited.
    #[pyo3(signature = (operation, args, kwargs, *, headers=None, address=None, http_headers=None, timeout=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn call_async<'py>(
        &self,
        py: Python<'py>,
        operation: &PyOperation,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
        headers: Option<Vec<Bound<'py, PyAny>>>,
        address: Option<String>,
        http_headers: Option<HashMap<String, String>>,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _inside = gate::enter(py);
        let value = self.arguments(py, operation, args, kwargs)?;
        let options = self.options(py, headers, http_headers, timeout)?;
        let (client, operation) = (self.client(address), operation.operation.clone());
        let (model, has_columns) = (Arc::clone(&self.model), self.settings.has_columns);
        let sending =
            async move { with_parts(client.prepare_operation(operation).options(options).send(&value)).await };
        Loop::running(py)?.future(py, sending, move |py, sent| received(py, model, sent, has_columns))
    }

    /// Counters of messages, and what differential modes skipped.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut decoded = deltasoap_core::DifferentialStats::default();
        let mut encoded = deltasoap_core::EncodeStats::default();
        let mut deviations = 0;
        for client in self.clients.lock().unwrap_or_else(PoisonError::into_inner).values() {
            decoded += client.differential_stats();
            encoded += client.encode_stats();
            deviations += client.deviations();
        }
        let dict = PyDict::new(py);
        dict.set_item("responses", decoded.messages)?;
        dict.set_item("response_bytes_skipped", decoded.fast_bytes)?;
        dict.set_item("response_bytes_read", decoded.regular_bytes)?;
        dict.set_item("requests", encoded.messages)?;
        dict.set_item("request_bytes", encoded.bytes)?;
        dict.set_item("request_bytes_written", encoded.written)?;
        dict.set_item("deviations", deviations)?;
        dict.set_item("bytes_sent", self.transport.wire().sent.load(Relaxed))?;
        dict.set_item("bytes_received", self.transport.wire().received.load(Relaxed))?;
        Ok(dict)
    }
}

impl Engine {
    fn arguments<'py>(
        &self,
        py: Python<'py>,
        operation: &PyOperation,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
    ) -> PyResult<Value> {
        let request = operation.operation.request();
        let (name, content) = request.ok_or_else(|| PyValueError::new_err("the operation has no request"))?;
        let converted = FromPython::new(py, &self.model)?.arguments(content, name, args, kwargs);
        converted.map_err(|error| error.into_py_err(py))
    }

    fn headers(&self, py: Python<'_>, headers: Option<Vec<Bound<'_, PyAny>>>) -> PyResult<Vec<HeaderBlock>> {
        let reader = FromPython::new(py, &self.model)?;
        let block = |value| reader.any_element(value).map(|node| HeaderBlock { node });
        let blocks = headers.iter().flatten().map(block).collect::<Result<_, _>>();
        blocks.map_err(|error| error.into_py_err(py))
    }

    fn options(
        &self,
        py: Python<'_>,
        headers: Option<Vec<Bound<'_, PyAny>>>,
        http_headers: Option<HashMap<String, String>>,
        timeout: Option<f64>,
    ) -> PyResult<CallOptions> {
        let blocks = self.headers(py, headers)?;
        let mut options = blocks.into_iter().fold(CallOptions::new(), CallOptions::header).understands_all();
        for (name, value) in http_headers.into_iter().flatten() {
            let refused = |_| PyValueError::new_err(format!("{name:?} is no HTTP header"));
            let header = HeaderName::try_from(&name).map_err(refused)?;
            let refused = |_| PyValueError::new_err(format!("the HTTP header {name} cannot have this value"));
            options = options.http_header(header, HeaderValue::try_from(value).map_err(refused)?);
        }
        Ok(match timeout {
            Some(timeout) => options.timeout(seconds(timeout)?),
            None => options,
        })
    }

    /// Returns the client of an endpoint, which remembers its messages.
    fn client(&self, address: Option<String>) -> DynamicClient<Transport> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&address) {
            return client.clone();
        }
        let settings = self.settings.clone();
        let configure = move |builder: ClientBuilder| {
            let builder = builder.tolerance(settings.tolerance).timeout(settings.timeout);
            match settings.is_differential {
                true => builder,
                false => builder.differential(Differential::OFF),
            }
        };
        let client = DynamicClient::with_transport(self.model.contract.clone(), self.transport.clone());
        let client = client.configure(configure);
        let client = match &address {
            Some(address) => client.endpoint(address),
            None => client,
        };
        if clients.len() < MAX_ENDPOINTS {
            clients.insert(address, client.clone());
        }
        client
    }
}

fn received(
    py: Python<'_>,
    model: Arc<Model>,
    sent: Result<Option<Received>, DynamicError>,
    has_columns: bool,
) -> PyResult<Option<Reply>> {
    let received = sent.map_err(|error| errors::call(py, error))?;
    Ok(received.map(|(reply, parts)| Reply { model, reply: Arc::new(reply), parts, has_columns }))
}

/// A response, and the parts that came with it and that its body does not refer to.
type Received = (DynamicReply, Vec<AttachedPart>);

/// The headers of a part, and its bytes.
type AttachedPart = (Headers, Bytes);

/// Takes the parts out of a response. They have arrived.
async fn with_parts(
    call: impl Future<Output = Result<Option<DynamicReply>, DynamicError>>,
) -> Result<Option<Received>, DynamicError> {
    let Some(mut reply) = call.await? else { return Ok(None) };
    let mut parts = Vec::new();
    while let Some(part) = reply.attachments.next().await.map_err(DynamicError::Part)? {
        let headers = part.headers().iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        parts.push((headers, part.bytes().await.map_err(DynamicError::Part)?));
    }
    Ok(Some((reply, parts)))
}

fn seconds(value: f64) -> PyResult<Duration> {
    let refused = |_| PyValueError::new_err(format!("{value} is no time in seconds"));
    Duration::try_from_secs_f64(value).map_err(refused)
}

/// A response. Its values are read from the engine's memory when they are asked for.
#[pyclass(module = "deltasoap._engine", frozen)]
pub(crate) struct Reply {
    model: Arc<Model>,
    reply: Arc<DynamicReply>,
    parts: Vec<AttachedPart>,
    has_columns: bool,
}

#[pymethods]
impl Reply {
    /// The value of the body's element.
    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let _inside = gate::enter(py);
        let operation: &Operation = &self.reply.operation;
        let (_, content) = operation.response().ok_or_else(|| PyValueError::new_err("a response without a body"))?;
        let part = |uri: &deltasoap_core::PartUri| self.reply.part(uri).map(|bytes| bytes.to_vec());
        let converter = ToPython::new(py, &self.model, &part);
        let converter = match self.has_columns {
            true => converter.with_columns(Arc::clone(&self.model), Arc::clone(&self.reply) as _),
            false => converter,
        };
        converter.content(&self.reply.body, content)
    }

    /// The header blocks: their names and values.
    #[getter]
    fn headers<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
        let converter = ToPython::new(py, &self.model, &|_| None);
        let block = |it: &HeaderBlock| Ok((it.node.name.to_string(), converter.element(&it.node)?));
        self.reply.head.headers.iter().map(block).collect()
    }

    /// The parts that came with the message and that its body does not refer to: their headers and
    /// bytes, decoded.
    #[getter]
    fn attachments<'py>(&self, py: Python<'py>) -> Vec<(Headers, Bound<'py, PyBytes>)> {
        self.parts.iter().map(|(headers, bytes)| (headers.clone(), PyBytes::new(py, bytes))).collect()
    }

    /// The HTTP status.
    #[getter]
    fn status(&self) -> u16 {
        self.reply.status.as_u16()
    }
}
