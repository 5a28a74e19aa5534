//! HTTP for messages that Python code writes and reads itself.

use crate::awaiting::Loop;
use crate::{errors, run};
use bytes::Bytes;
use deltasoap_http::{Body, BoxError, HttpTransport};
use http::Request;
use http_body_util::BodyExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::HashMap;
use std::fmt;
use std::time::Duration;
use tower::{Service, ServiceExt};

/// Maximum size of a response, in bytes.
const MAX_BYTES: usize = 1 << 30;

/// A pool of connections.
#[pyclass(module = "deltasoap._engine", frozen)]
pub(crate) struct Http {
    transport: HttpTransport,
}

/// Headers in their order.
pub(crate) type Headers = Vec<(String, String)>;

/// Status, headers and body.
type Received = (u16, Headers, Bytes);

#[pymethods]
impl Http {
    #[new]
    fn new() -> Self {
        Http { transport: HttpTransport::new() }
    }

    /// Sends a request and waits for the response: status, headers, body.
    #[pyo3(signature = (method, url, body, headers, timeout=None))]
    fn send<'py>(
        &self,
        py: Python<'py>,
        method: &str,
        url: &str,
        body: Vec<u8>,
        headers: HashMap<String, String>,
        timeout: Option<f64>,
    ) -> PyResult<(u16, Headers, Bound<'py, PyBytes>)> {
        let request = request(method, url, body, headers)?;
        let sent = run::wait(py, exchange(self.transport.clone(), request, limit(timeout)?))?;
        let (status, headers, body) = sent.map_err(|error| failed(py, error.as_ref()))?;
        Ok((status, headers, PyBytes::new(py, &body)))
    }

    /// Like `send`, to be awaited.
    #[pyo3(signature = (method, url, body, headers, timeout=None))]
    fn send_async<'py>(
        &self,
        py: Python<'py>,
        method: &str,
        url: &str,
        body: Vec<u8>,
        headers: HashMap<String, String>,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (request, limit, transport) =
            (request(method, url, body, headers)?, limit(timeout)?, self.transport.clone());
        Loop::running(py)?.future(py, exchange(transport, request, limit), |py, sent| {
            let (status, headers, body) = sent.map_err(|error| failed(py, error.as_ref()))?;
            Ok((status, headers, PyBytes::new(py, &body).unbind()))
        })
    }
}

fn request(method: &str, url: &str, body: Vec<u8>, headers: HashMap<String, String>) -> PyResult<Request<Body>> {
    let mut request = Request::builder().method(method).uri(url);
    for (name, value) in &headers {
        request = request.header(name, value);
    }
    request.body(Body::from(body)).map_err(|error| PyValueError::new_err(format!("{url}: {error}")))
}

fn limit(timeout: Option<f64>) -> PyResult<Option<Duration>> {
    let refused = |_| PyValueError::new_err("the timeout is no time in seconds");
    timeout.map(Duration::try_from_secs_f64).transpose().map_err(refused)
}

async fn exchange(
    transport: HttpTransport,
    request: Request<Body>,
    limit: Option<Duration>,
) -> Result<Received, BoxError> {
    let exchange = async {
        let mut transport = transport;
        let response =
            Service::<Request<Body>>::call(ServiceExt::<Request<Body>>::ready(&mut transport).await?, request).await?;
        let (head, body) = response.into_parts();
        let body = http_body_util::Limited::new(body, MAX_BYTES).collect().await?.to_bytes();
        let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = head.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
        Ok((head.status.as_u16(), headers, body))
    };
    match limit {
        Some(limit) => {
            let late =
                || format!("no response within {limit:?}, the limit set by HttpTransport(operation_timeout=...)");
            tokio::time::timeout(limit, exchange).await.map_err(|_| BoxError::from(Late(late())))?
        }
        None => exchange.await,
    }
}

/// No response within the time limit.
#[derive(Debug)]
struct Late(String);

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Late {}

fn failed(py: Python<'_>, error: &(dyn std::error::Error + 'static)) -> PyErr {
    let class = if error.is::<Late>() { "Timeout" } else { "ConnectionError" };
    errors::connection(py, class, error)
}
