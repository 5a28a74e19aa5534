//! Transports: HTTP in Rust, or a function in Python.
//!
//! Both are tower services, so that everything above them (templates, security, attachments,
//! limits) is the same. A function in Python is called with the GIL on the thread that waits for the
//! response; one that returns an awaitable is awaited by the event loop of the call.

use crate::awaiting::awaiting;
use crate::gate;
use bytes::Bytes;
use deltasoap_http::{Body, BoxError, HttpTransport};
use http::{HeaderName, HeaderValue, Request, Response};
use http_body::{Body as _, Frame};
use http_body_util::combinators::MapFrame;
use http_body_util::{BodyExt, Either, Full};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll};
use tower::Service;

/// What carries requests, and counts their bytes.
#[derive(Clone)]
pub(crate) struct Transport {
    carrier: Carrier,
    wire: Arc<Wire>,
}

#[derive(Clone)]
enum Carrier {
    Native(Box<HttpTransport>),
    Python(Arc<Py<PyAny>>),
}

/// Bytes of the bodies of requests and responses.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    pub(crate) sent: AtomicU64,
    pub(crate) received: AtomicU64,
}

impl Transport {
    /// Sends by HTTP, or by a function in Python.
    pub(crate) fn new(function: Option<Py<PyAny>>) -> Self {
        let carrier = match function {
            Some(function) => Carrier::Python(Arc::new(function)),
            None => Carrier::Native(Box::new(HttpTransport::new())),
        };
        Transport { carrier, wire: Arc::default() }
    }

    pub(crate) fn wire(&self) -> &Wire {
        &self.wire
    }
}

type NativeBody = <<HttpTransport as Service<Request<Body>>>::Response as IntoBody>::Body;
type CountedBody<B> = MapFrame<B, Box<dyn FnMut(Frame<Bytes>) -> Frame<Bytes> + Send>>;
type ResponseBody = CountedBody<Either<NativeBody, Full<Bytes>>>;

/// Names the body of a response type.
pub(crate) trait IntoBody {
    type Body;
}

impl<B> IntoBody for Response<B> {
    type Body = B;
}

impl Service<Request<Body>> for Transport {
    type Response = Response<ResponseBody>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let Transport { carrier, wire } = self.clone();
        Box::pin(async move {
            wire.sent.fetch_add(request.body().size_hint().exact().unwrap_or_default(), Relaxed);
            let response = match carrier {
                Carrier::Native(mut transport) => {
                    poll_fn(|context| Service::<Request<Body>>::poll_ready(&mut transport, context)).await?;
                    transport.call(request).await?.map(Either::Left)
                }
                Carrier::Python(function) => post(&function, request).await?.map(Either::Right),
            };
            let count = move |frame: Frame<Bytes>| {
                wire.received.fetch_add(frame.data_ref().map_or(0, Bytes::len) as u64, Relaxed);
                frame
            };
            Ok(response.map(|body| body.map_frame(Box::new(count) as Box<_>)))
        })
    }
}

/// Sends a request by a function in Python.
async fn post(function: &Py<PyAny>, request: Request<Body>) -> Result<Response<Full<Bytes>>, BoxError> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(Into::<BoxError>::into)?.to_bytes();
    let returned = gate::attached(|py| {
        let headers = PyDict::new(py);
        for (name, value) in &head.headers {
            headers.set_item(name.as_str(), String::from_utf8_lossy(value.as_bytes()))?;
        }
        let arguments = (head.uri.to_string(), PyBytes::new(py, &body), headers);
        let returned = function.bind(py).call1(arguments)?;
        match returned.hasattr("__await__")? {
            true => awaiting(returned).map(Either::Right),
            false => Ok(Either::Left(returned.unbind())),
        }
    })
    .await;
    let returned = match returned.map_err(Raised)? {
        Either::Left(returned) => returned,
        Either::Right(awaiting) => awaiting.outcome().await.ok_or("the event loop ended")?.map_err(Raised)?,
    };
    gate::attached(|py| response(returned.bind(py))).await.map_err(|error| Raised(error).into())
}

/// Makes a response of a status, headers and a body.
fn response(returned: &Bound<'_, PyAny>) -> PyResult<Response<Full<Bytes>>> {
    let (status, headers, body): (u16, Vec<(String, String)>, Bound<'_, PyBytes>) = returned.extract()?;
    let mut response = Response::new(Full::new(Bytes::copy_from_slice(body.as_bytes())));
    *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or(http::StatusCode::BAD_GATEWAY);
    for (name, value) in headers {
        // The transport has decoded the body, so its coding and length are no longer those.
        let is_of_wire = ["content-encoding", "content-length", "transfer-encoding"];
        if is_of_wire.contains(&&*name.to_ascii_lowercase()) {
            continue;
        }
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().append(name, value);
        }
    }
    Ok(response)
}

/// An exception of a transport.
#[derive(Debug)]
struct Raised(PyErr);

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Raised {}

/// Returns the exception that a transport raised, if that is what an error is about.
pub(crate) fn raised<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e PyErr> {
    let mut chain = std::iter::successors(Some(error), |error| error.source());
    chain.find_map(|error| error.downcast_ref::<Raised>()).map(|raised| &raised.0)
}
