//! The service: from an HTTP request to an HTTP response.

use super::auth::{Denial, Gate};
use super::builder::ServiceBuilder;
use super::context::{Context, Peer, Secure};
use super::dispatch::{Chosen, Table};
use super::guard::{Panicked, guard};
use super::memory::{Cache, Place};
use super::operation::{Operation, Outcome};
use super::page;
use super::pool::Pool;
use super::receive::{Refusal, drain, receive, receive_package};
use super::respond;
use super::stats::ServiceStats;
use super::writing::Writing;
use super::wsdl::Description;
use crate::attachments::Form;
use crate::attachments::package::Packing;
use crate::body::Body;
use crate::coding::{Bound, Coding, Inflated, accepts_gzip};
use crate::media::MediaType;
use crate::{AttachmentOptions, Attachments, BoxError, Compression, GzipLimits};
use bytes::Bytes;
use deltasoap_core::schema::Use;
use deltasoap_core::soap::{Fault, Head, Version};
use deltasoap_core::{DecodeOptions, QName, Templating};
use futures_util::future::BoxFuture;
use http::header::{CONNECTION, EXPECT, HeaderValue};
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body::Body as _;
use http_body_util::BodyExt;
use std::collections::HashSet;
use std::convert::Infallible;
use std::fmt;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;
use tracing::field::Empty;
use tracing::{Instrument, Span};

/// A SOAP endpoint as a [`tower::Service`]: cheap to clone, never fails, mounts in any router.
///
/// `POST` takes messages of SOAP 1.1 and 1.2, each answered in its own version; `GET` with the query `wsdl` gives the
/// description; any other `GET` a page that lists the operations.
#[derive(Clone)]
pub struct SoapService {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) operations: Table,
    /// Header blocks that every operation understands.
    pub(crate) understood: HashSet<QName>,
    /// The roles of its own that the service acts in.
    pub(crate) roles: Vec<String>,
    pub(crate) options: DecodeOptions,
    /// Who may send requests.
    pub(crate) gate: Gate,
    /// How long to wait for more of a body.
    pub(crate) body_timeout: Option<Duration>,
    pub(crate) decoders: Arc<Pool>,
    /// Decoders for messages that nothing is compared with.
    pub(crate) plain_decoders: Arc<Pool>,
    /// What is remembered of earlier messages; `None` if nothing is, since the options say so.
    pub(crate) cache: Option<Arc<Cache>>,
    /// The templates of earlier responses; `None` if none are kept, since the options say so.
    pub(crate) templates: Option<Arc<Cache>>,
    pub(crate) templating: Templating,
    pub(crate) attachments: AttachmentOptions,
    /// Which responses are compressed.
    pub(crate) compression: Compression,
    pub(crate) gzip_limits: GzipLimits,
    pub(crate) encoding: Use,
    pub(crate) name: String,
    pub(crate) description: Option<Description>,
    /// The service's URL, where it is not the one that clients use.
    pub(crate) location: Option<String>,
    pub(crate) stats: Arc<ServiceStats>,
}

impl SoapService {
    /// Starts to build a service.
    pub fn builder() -> ServiceBuilder {
        ServiceBuilder::new()
    }

    pub(crate) fn new(inner: Inner) -> Self {
        SoapService { inner: Arc::new(inner) }
    }

    /// The service's counters; all clones of a service count together.
    pub fn stats(&self) -> Arc<ServiceStats> {
        Arc::clone(&self.inner.stats)
    }
}

impl fmt::Debug for SoapService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operations: Vec<_> = self.inner.operations.iter().map(|operation| operation.name().to_string()).collect();
        f.debug_struct("SoapService").field("operations", &operations).finish_non_exhaustive()
    }
}

impl<B> tower::Service<Request<B>> for SoapService
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut TaskContext<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ResponseFuture {
        let inner = Arc::clone(&self.inner);
        ResponseFuture(Box::pin(async move { inner.answer(request).await }))
    }
}

/// The response of a [`SoapService`], on its way.
pub struct ResponseFuture(BoxFuture<'static, Response<Body>>);

impl Future for ResponseFuture {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(task).map(Ok)
    }
}

impl fmt::Debug for ResponseFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}

impl Inner {
    async fn answer<B>(self: Arc<Self>, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
    {
        let compression = self.compression;
        let is_accepted = !compression.is_off() && accepts_gzip(request.headers());
        let (mut parts, body) = request.into_parts();
        if let Err(response) = self.admit(&mut parts).await {
            if !parts.headers.contains_key(EXPECT) {
                drain(pin!(body)).await;
            }
            return response;
        }
        let response = match parts.method {
            Method::POST => {
                let span = tracing::info_span!(
                    "soap",
                    operation = Empty,
                    version = Empty,
                    bytes_in = Empty,
                    bytes_out = Empty,
                    status = Empty
                );
                self.answer_post(parts, body).instrument(span).await
            }
            Method::GET | Method::HEAD => self.answer_get(&parts),
            _ => respond::method_not_allowed(),
        };
        respond::coded(response, compression, is_accepted)
    }

    /// Finds out who sent a request.
    ///
    /// # Errors
    /// What to answer, if it is not to be served.
    async fn admit(&self, parts: &mut Parts) -> Result<(), Response<Body>> {
        let peer = parts.extensions.get::<Peer>().map(|peer| peer.0);
        match guard(async { self.gate.pass(parts, peer) }).await {
            Ok(admitted) => admitted.map_err(|denial| deny(&denial)),
            Err(Panicked(message)) => {
                tracing::error!(message, "authentication panicked");
                Err(respond::denied(&Denial { status: StatusCode::INTERNAL_SERVER_ERROR, challenge: None }))
            }
        }
    }

    async fn answer_post<B>(self: Arc<Self>, parts: Parts, body: B) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
    {
        let is_accepted = |media: &MediaType| media.can_be_soap() && media.is_readable() || media.is_package();
        let Some(media) = MediaType::of(&parts.headers).filter(is_accepted) else {
            return respond::unsupported_media_type();
        };
        let body = body.map_err(|_| BoxError::from("the body did not arrive whole"));
        let (response, is_fault) = match Coding::of(&parts.headers) {
            Ok(Coding::Identity) => self.exchange(&media, parts, body).await,
            Ok(Coding::Gzip) => {
                let body = Inflated::new(body, self.bound(&media));
                // Boxed, as packages are: what few requests need is not to be part of every request's future.
                Box::pin(self.exchange(&media, parts, body)).await
            }
            Err(error) => (respond::unsupported_coding(media.version(), &error), true),
        };
        self.count(&response, is_fault);
        response
    }

    /// The bounds on a body in gzip.
    fn bound(&self, media: &MediaType) -> Bound {
        Bound::new(self.gzip_limits, media.is_package(), &self.options.limits, &self.attachments.limits)
    }

    /// Reads a message and answers it; true if the response is a fault.
    async fn exchange<B>(self: &Arc<Self>, media: &MediaType, parts: Parts, body: B) -> (Response<Body>, bool)
    where
        B: http_body::Body<Data = Bytes, Error = BoxError> + Send + 'static,
    {
        let place = self.cache.as_ref().and_then(|cache| Place::of(&parts, cache));
        let received = if media.is_package() {
            Box::pin(receive_package(self, media, place, body)).await
        } else {
            let received = receive(self, media.version(), place, body).await;
            received.map(|(head, chosen)| (head, chosen, Attachments::default()))
        };
        match received {
            Ok((head, chosen, attachments)) => self.run(head, parts, chosen, attachments).await,
            Err(refusal) => (refuse(&refusal), true),
        }
    }

    /// Runs an operation; true if the response is a fault.
    async fn run(&self, head: Head, parts: Parts, chosen: Chosen, attachments: Attachments) -> (Response<Body>, bool) {
        let version = head.version();
        Span::current().record("version", tracing::field::debug(version));
        let writing = self.writing(&chosen.operation, version, &parts, attachments.form());
        match guard(chosen.call.run(Context::new(head, parts, attachments), writing)).await {
            Ok(Outcome::Response(written, time)) => {
                self.stats.count_encoded(time);
                (respond::written(version, written), false)
            }
            Ok(Outcome::Accepted) => (respond::accepted(), false),
            Ok(Outcome::Fault(fault)) => (respond_fault(version, &fault), true),
            Err(Panicked(message)) => {
                tracing::error!(message, "a handler panicked");
                (respond_fault(version, &Fault::receiver("an internal error")), true)
            }
        }
    }

    /// How the response of an operation to a request is to be written.
    fn writing(&self, operation: &Operation, version: Version, parts: &Parts, form: Form) -> Writing {
        let templates = self.templates.as_ref().filter(|_| !operation.is_one_way());
        Writing {
            version,
            encoding: operation.own_encoding().unwrap_or(self.encoding),
            record: Arc::clone(operation.record()),
            place: templates.and_then(|cache| Place::of(parts, cache)),
            templating: self.templating,
            packing: Packing::of_response(&self.attachments, form),
        }
    }

    fn count(&self, response: &Response<Body>, is_fault: bool) {
        let bytes = response.body().size_hint().lower();
        self.stats.count_answered(bytes, is_fault);
        Span::current().record("bytes_out", bytes).record("status", response.status().as_u16());
        tracing::debug!("answered");
    }

    fn answer_get(&self, parts: &Parts) -> Response<Body> {
        if !page::is_for_description(&parts.uri) {
            return respond::html(page::listing(&self.name, &self.operations, self.description.is_some(), &self.stats));
        }
        match &self.description {
            Some(description) => respond::xml(description.at(&page::escape(&self.location(parts)))),
            None => respond::no_description(),
        }
    }

    /// The service's URL: as it was built in, else as the client sees it.
    fn location(&self, parts: &Parts) -> String {
        let scheme = if parts.extensions.get::<Secure>().is_some() { "https" } else { "http" };
        let own = || page::own_url(&parts.uri, &parts.headers, scheme).unwrap_or_else(|| parts.uri.path().to_owned());
        self.location.clone().unwrap_or_else(own)
    }
}

fn deny(denial: &Denial) -> Response<Body> {
    tracing::debug!(%denial, "a request was denied");
    respond::denied(denial)
}

fn refuse(refusal: &Refusal) -> Response<Body> {
    tracing::debug!(fault = %refusal.fault, "refused");
    Span::current().record("version", tracing::field::debug(refusal.version));
    let mut response = respond::fault(refusal.version, &refusal.fault, refusal.status);
    if response.status() == StatusCode::REQUEST_TIMEOUT {
        // The rest of the message may still come, and is no request (RFC 9110, 15.5.9).
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

fn respond_fault(version: Version, fault: &Fault) -> Response<Body> {
    tracing::debug!(%fault, "the operation failed");
    respond::fault(version, fault, None)
}
