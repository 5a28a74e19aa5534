//! Services in Python: the engine reads requests and writes responses, functions in Python answer.
//!
//! A [`Server`] handles one HTTP request at a time for the adapters of ASGI and WSGI, or listens
//! itself ([`Listener`]). Both ways go through the same service, with its memory of earlier requests
//! and its templates of responses.
//!
//! ```text
//! ASGI, WSGI ── handle ──┐                          ┌── thread of the pool, or of WSGI
//! HTTP ── Listener ──────┴── SoapService ── call ───┴── event loop
//! ```

mod call;
mod connections;
mod listener;

pub(crate) use listener::Listener;

use crate::awaiting::Loop;
use crate::contract::PyContract;
use crate::errors;
use crate::from_python::parse_name;
use crate::gate;
use crate::operation::PyOperation;
use crate::run;
use crate::to_python::UnknownType;
use bytes::Bytes;
use call::{Common, Handler, Job, Runner};
use connections::Connections;
use deltasoap_core::{Differential, Templating};
use deltasoap_dynamic::Validation;
use deltasoap_http::{
    AttachmentLimits, AttachmentOptions, Basic, Body, Context, HeavyWork, Operation, Peer, Principal, Sharing,
    SoapService, SoapServiceBuilder,
};
use http::{HeaderName, HeaderValue, Request, Response, Uri};
use http_body_util::{BodyExt, Either, Full};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc};
use tower::Service;

/// Returns the operations of a contract that a service distinguishes, each with the full names of
/// those that it stands for.
#[pyfunction]
pub(crate) fn served(py: Python<'_>, contract: &PyContract) -> PyResult<Vec<(PyOperation, Vec<String>)>> {
    let all = contract.model.contract.served().into_iter();
    all.map(|(operation, same)| {
        let names = same.iter().map(deltasoap_dynamic::Operation::full_name).collect();
        Ok((PyOperation::new(py, Arc::clone(&contract.model), operation)?, names))
    })
    .collect()
}

/// Returns the names and texts of the files that a contract was imported from, to be served again;
/// `None` if it did not come from files.
#[pyfunction]
pub(crate) fn files(contract: &PyContract) -> Option<Vec<(String, String)>> {
    contract.model.contract.description().files()
}

/// A service whose operations are functions in Python.
#[pyclass(module = "deltasoap._engine", frozen)]
pub(crate) struct Server {
    service: SoapService,
    connections: Connections,
}

/// The options of a service, as keywords.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Settings {
    name: String,
    /// Names and texts of the WSDL and what it imports; the WSDL first.
    documents: Vec<(String, String)>,
    address: Option<String>,
    max_message: u64,
    max_package: u64,
    validate: bool,
    differential: bool,
    sharing: String,
    tolerance: String,
    threads: usize,
    understands: Vec<String>,
    realm: String,
    /// Called with a user's name and password.
    authenticate: Option<Py<PyAny>>,
}

/// An operation, the function that answers it, whether that returns an awaitable, whether it wants to
/// know more than the values, and whether lists of numbers are columns.
type Answering<'py> = (Bound<'py, PyOperation>, Py<PyAny>, bool, bool, bool);

/// A response as adapters send it: status, headers, body.
type Answer = (u16, Vec<(Py<PyBytes>, Py<PyBytes>)>, Py<PyBytes>);

#[pymethods]
impl Server {
    /// Creates a service.
    ///
    /// The functions of `handlers` are called with the values of the request and what else is known
    /// about it, or `None`, and return the value, header blocks and attachments of the response.
    /// `explain(error, operation)` returns the parts of a fault for an exception, and `event_loop()`
    /// the loop for awaitables where the caller has none.
    #[new]
    fn new(
        contract: &PyContract,
        handlers: Vec<Answering<'_>>,
        explain: Py<PyAny>,
        event_loop: Py<PyAny>,
        settings: Settings,
    ) -> PyResult<Self> {
        let threads = Arc::new(Semaphore::new(settings.threads.clamp(1, Semaphore::MAX_PERMITS)));
        let unknown_type = if settings.tolerance == "strict" { UnknownType::Refused } else { UnknownType::Skipping };
        let common = Arc::new(Common { explain, event_loop, threads, unknown_type });
        let mut builder = builder(contract, settings)?;
        for (operation, invoke, is_async, wants_context, has_columns) in handlers {
            let operation = operation.get();
            let (model, operation) = (Arc::clone(&operation.model), operation.operation.clone());
            let handler =
                Handler { model, operation, invoke, is_async, wants_context, has_columns, common: Arc::clone(&common) };
            builder = builder.add_operation(served_by(handler)?);
        }
        let service = builder.build().map_err(|error| PyValueError::new_err(errors::with_causes(&error)))?;
        Ok(Server { service, connections: Connections::default() })
    }

    /// Answers a request on the calling thread, which also runs functions that are not awaited.
    #[pyo3(signature = (method, target, headers, body, *, peer=None, principal=None, secure=false))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn handle(
        &self,
        py: Python<'_>,
        method: &str,
        target: &str,
        headers: Vec<(PyBackedBytes, PyBackedBytes)>,
        body: &[u8],
        peer: Option<(String, u16)>,
        principal: Option<String>,
        secure: bool,
    ) -> PyResult<Answer> {
        let _inside = gate::enter(py);
        let Some(mut request) = request(method, target, &headers, body, secure) else { return Ok(malformed(py)) };
        self.identify(&mut request, peer, principal);
        let (sender, mut jobs) = mpsc::unbounded_channel::<Job>();
        request.extensions_mut().insert(Runner::Caller(sender));
        let mut service = self.service.clone();
        let mut answering = Box::pin(async move { answer(&mut service, request).await });
        // Functions run between two waits, not within one, so that they may wait for calls.
        let answered = loop {
            let next = run::wait(py, async {
                tokio::select! {
                    biased;
                    Some(job) = jobs.recv() => Either::Left(job),
                    answered = &mut answering => Either::Right(answered),
                }
            })?;
            match next {
                Either::Left(job) => job(py),
                Either::Right(answered) => break answered,
            }
        };
        Ok(returned(py, answered))
    }

    /// Answers a request of the running event loop, which also runs functions that are awaited;
    /// others run on threads.
    #[pyo3(signature = (method, target, headers, body, *, peer=None, principal=None, secure=false))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn handle_async<'py>(
        &self,
        py: Python<'py>,
        method: &str,
        target: &str,
        headers: Vec<(PyBackedBytes, PyBackedBytes)>,
        body: &[u8],
        peer: Option<(String, u16)>,
        principal: Option<String>,
        secure: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _inside = gate::enter(py);
        let current = Loop::running(py)?;
        let request = request(method, target, &headers, body, secure).map(|mut request| {
            self.identify(&mut request, peer, principal);
            request.extensions_mut().insert(Runner::Loop(current.clone()));
            request
        });
        let mut service = self.service.clone();
        let answering = async move {
            match request {
                Some(request) => Some(answer(&mut service, request).await),
                None => None,
            }
        };
        current.future(py, answering, |py, answered| {
            Ok(answered.map_or_else(|| malformed(py), |answered| returned(py, answered)))
        })
    }

    /// Listens on an address. With `tls`, a chain of certificates and its key in PEM, over TLS only.
    #[pyo3(signature = (host, port, *, workers=0, drain=30.0, tls=None))]
    fn listen(
        &self,
        py: Python<'_>,
        host: &str,
        port: u16,
        workers: usize,
        drain: f64,
        tls: Option<(Vec<u8>, Vec<u8>)>,
    ) -> PyResult<Listener> {
        let refused = |_| PyValueError::new_err(format!("{drain} is no time in seconds"));
        let drain = Duration::try_from_secs_f64(drain).map_err(refused)?;
        let bound = run::wait(py, deltasoap_http::Server::bind((host, port)))?;
        let server = bound.map_err(|error| PyOSError::new_err(error.to_string()))?;
        Listener::new(server.worker_threads(workers).shutdown_timeout(drain), tls, self.service.clone())
    }

    /// Counters of messages, and what differential modes skipped.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counted = self.service.stats().snapshot();
        let dict = PyDict::new(py);
        dict.set_item("messages", counted.messages)?;
        dict.set_item("faults", counted.faults)?;
        dict.set_item("underway", counted.underway)?;
        dict.set_item("requests", counted.differential.messages)?;
        dict.set_item("requests_compared", counted.differential.compared)?;
        dict.set_item("request_bytes_skipped", counted.differential.fast_bytes)?;
        dict.set_item("request_bytes_read", counted.differential.regular_bytes)?;
        dict.set_item("responses", counted.encode.messages)?;
        dict.set_item("response_bytes", counted.encode.bytes)?;
        dict.set_item("response_bytes_written", counted.encode.written)?;
        Ok(dict)
    }

    /// The WSDL, with its address; `None` if the service has none.
    #[getter]
    fn wsdl(&self) -> Option<String> {
        self.service.wsdl()
    }
}

impl Server {
    /// Attaches what is known about the sender of a request.
    fn identify(&self, request: &mut Request<Full<Bytes>>, peer: Option<(String, u16)>, principal: Option<String>) {
        if let Some((host, port)) = peer {
            if port != 0 {
                let connection = self.connections.of(&host, port);
                request.extensions_mut().insert(connection);
            }
            if let Ok(address) = host.parse::<IpAddr>() {
                request.extensions_mut().insert(Peer(SocketAddr::new(address, port)));
            }
        }
        if let Some(principal) = principal {
            request.extensions_mut().insert(Principal::new(principal));
        }
    }
}

fn builder(contract: &PyContract, settings: Settings) -> PyResult<SoapServiceBuilder> {
    let mut builder = SoapService::builder()
        .name(settings.name)
        .tolerance(crate::contract::tolerance(&settings.tolerance)?)
        .message_limit(settings.max_message)
        .attachments(AttachmentOptions {
            limits: AttachmentLimits { total: settings.max_package, ..AttachmentLimits::default() },
            ..AttachmentOptions::server()
        })
        .sharing(sharing(&settings.sharing)?);
    if settings.validate {
        builder = builder.validate(contract.model.contract.clone(), Validation::Refuse);
    }
    if !settings.differential {
        builder = builder.differential(Differential::OFF).templating(Templating::OFF);
    }
    let mut documents = settings.documents.into_iter();
    if let Some((name, text)) = documents.next() {
        builder = builder.wsdl_named(name, text);
    }
    builder = documents.fold(builder, |builder, (name, text)| builder.wsdl_document(name, text));
    if let Some(address) = settings.address {
        builder = builder.location(address);
    }
    for name in &settings.understands {
        let refused = || PyValueError::new_err(format!("{name:?} is no name of a header block"));
        builder = builder.understands(parse_name(name).ok_or_else(refused)?);
    }
    if let Some(check) = settings.authenticate {
        builder = builder.authenticate(Basic::new(&settings.realm, move |user, password| {
            let is_known = gate::attach(|py| check.bind(py).call1((user, password))?.is_truthy());
            matches!(is_known, Some(Ok(true))).then(|| Principal::new(user))
        }));
    }
    // Long requests and their responses leave the threads of connections alone.
    Ok(builder.heavy_work(HeavyWork::default()))
}

fn sharing(name: &str) -> PyResult<Sharing> {
    match name {
        "principal" => Ok(Sharing::Principal),
        "operation" => Ok(Sharing::Operation),
        other => Err(PyValueError::new_err(format!("{other:?} is none of principal, operation"))),
    }
}

fn served_by(handler: Handler) -> PyResult<Operation> {
    let operation = &handler.operation;
    let method = operation.method().map_err(|error| Python::attach(|py| errors::lookup(py, &error)))?.element.clone();
    let (documentation, sample) = (operation.documentation().map(str::to_owned), operation.request_sample());
    let schema = Arc::clone(&handler.model.contract.lowered().schema);
    let handler = Arc::new(handler);
    let answering = move |context: Context, request| Arc::clone(&handler).answer(context, request);
    let mut served = Operation::dynamic(method, schema, answering);
    if let Some(text) = documentation {
        served = served.documentation(text);
    }
    if let Some(sample) = sample {
        served = served.sample(sample);
    }
    Ok(served)
}

/// Makes a request; `None` if it is malformed.
fn request(
    method: &str,
    target: &str,
    headers: &[(PyBackedBytes, PyBackedBytes)],
    body: &[u8],
    secure: bool,
) -> Option<Request<Full<Bytes>>> {
    let mut request = Request::new(Full::new(Bytes::copy_from_slice(body)));
    *request.method_mut() = method.parse().ok()?;
    for (name, value) in headers {
        let (name, value) = (HeaderName::from_bytes(name).ok()?, HeaderValue::from_bytes(value).ok()?);
        request.headers_mut().append(name, value);
    }
    let host = request.headers().get(http::header::HOST).and_then(|host| host.to_str().ok());
    let whole = host.filter(|_| secure).and_then(|host| format!("https://{host}{target}").parse::<Uri>().ok());
    let uri = match whole {
        Some(uri) => uri,
        None => target.parse().ok()?,
    };
    *request.uri_mut() = uri;
    Some(request)
}

async fn answer(service: &mut SoapService, request: Request<Full<Bytes>>) -> Response<Bytes> {
    let answered: Result<Response<Body>, Infallible> = service.call(request).await;
    let (head, body) = match answered {
        Ok(response) => response.into_parts(),
        Err(never) => match never {},
    };
    match body.collect().await {
        Ok(whole) => Response::from_parts(head, whole.to_bytes()),
        Err(_) => {
            let mut failed = Response::new(Bytes::new());
            *failed.status_mut() = http::StatusCode::INTERNAL_SERVER_ERROR;
            failed
        }
    }
}

fn returned(py: Python<'_>, response: Response<Bytes>) -> Answer {
    let (head, body) = response.into_parts();
    let bytes = |bytes: &[u8]| PyBytes::new(py, bytes).unbind();
    let is_length = |name: &HeaderName| name == http::header::CONTENT_LENGTH;
    let mut headers: Vec<_> = head
        .headers
        .iter()
        .filter(|(name, _)| !is_length(name) && *name != http::header::CONNECTION)
        .map(|(name, value)| (bytes(name.as_str().as_bytes()), bytes(value.as_bytes())))
        .collect();
    headers.push((bytes(b"content-length"), bytes(body.len().to_string().as_bytes())));
    (head.status.as_u16(), headers, bytes(&body))
}

fn malformed(py: Python<'_>) -> Answer {
    let mut response = Response::new(Bytes::from_static(b"The request has a malformed target or header.\n"));
    *response.status_mut() = http::StatusCode::BAD_REQUEST;
    let text = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(http::header::CONTENT_TYPE, text);
    returned(py, response)
}
