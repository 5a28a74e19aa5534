//! The service: handles an HTTP request and returns an HTTP response.

use super::action::ActionCheck;
use super::addressing::{AddressedCall, AddressingSettings, violation};
use super::arriving::{Arrival, Reception, receive_items};
use super::auth::{Denial, Gate};
use super::builder::SoapServiceBuilder;
use super::context::{Context, Remarks, Secure, requested_action};
use super::dispatch::{Chosen, Table};
use super::empty::{EmptyPost, Peeked};
use super::guard::{Panicked, guard, guard_call};
use super::heavy::{Heavy, Pace};
use super::intercept::Interceptors;
use super::measured::Measured;
use super::memory::{Cache, MemorySource};
use super::noted::{Noted, Notes};
use super::operation::{Operation, Outcome};
#[cfg(feature = "page")]
use super::page;
use super::pool::Pool;
use super::receive::{Received, Refusal, RequestInfo, receive, receive_package, refuse_package};
use super::request_target::{LandingPage, RequestTarget, request_url};
use super::respond;
use super::sample;
use super::schedule::{Busy, Scheduler, Ticket};
use super::stats::ServiceStats;
use super::writing::Writing;
use super::wsdl::{Description, escaped};
use crate::attachments::package::Packing;
use crate::attachments::{AttachmentError, AttachmentOptions, Attachments};
use crate::attachments::{MessageForm, Remainder};
use crate::body::Body;
#[cfg(not(feature = "gzip"))]
use crate::coding::CodingError;
#[cfg(feature = "gzip")]
use crate::coding::Inflated;
use crate::coding::{AdaptiveState, Bound, Codings, LearnedEffects, MIN_COMPRESSED_LENGTH};
use crate::coding::{Compression, ContentCoding, GzipLimits};
use crate::deviations::DeviationLog;
use crate::drain::drain;
use crate::error::BoxError;
use crate::inspect::Checks;
use crate::media::{self, MediaType};
use crate::secured::{Protect, Verify};
use crate::server::Connection;
use crate::slow::Paced;
use crate::telemetry::{self, TraceParent};
use crate::transport::Peer;
use crate::validation::{Invalid, Subject, Validating, Verdict, is_invalid};
use bytes::Bytes;
use deltasoap_core::schema::Use;
use deltasoap_core::soap::addressing::AddressingFault;
use deltasoap_core::soap::{Fault, Head, Version};
use deltasoap_core::{DecodeOptions, QName, Templating};
use futures_util::future::BoxFuture;
use http::header::{CONNECTION, CONTENT_TYPE, EXPECT, HeaderName, HeaderValue, ORIGIN};
use http::request::Parts;
use http::{Extensions, Method, Request, Response, StatusCode};
use http_body::Body as _;
use http_body_util::BodyExt;
use std::collections::HashSet;
use std::convert::Infallible;
use std::fmt;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};
use std::time::{Duration, Instant};
use tracing::Span;

/// A SOAP endpoint as a [`tower::Service`]: cheap to clone, never fails, can be mounted in any
/// router.
///
/// `POST` takes messages of SOAP 1.1 and 1.2, each answered in its own version. `GET` with the
/// query `wsdl` returns the WSDL, with `wsdl=NAME` or `xsd=NAME` a document that it imports. Any
/// other `GET` returns a page for a browser that lists the operations and has a form to try them
/// ([`LandingPage`]).
#[derive(Clone)]
pub struct SoapService {
    pub(super) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) operations: Table,
    /// The handler of requests without a body.
    pub(crate) empty_post: EmptyPost,
    /// Header blocks that every operation understands.
    pub(crate) understood: HashSet<QName>,
    /// The service's own roles.
    pub(crate) roles: Arc<[String]>,
    pub(crate) options: DecodeOptions,
    pub(crate) deviations: DeviationLog,
    /// Authentication of requests.
    pub(crate) gate: Gate,
    /// Maximum pause of a body.
    pub(crate) body_timeout: Option<Duration>,
    /// Minimum rate of a body in bytes a second, after the first pause.
    pub(crate) body_rate: u32,
    /// Maximum time of a handler.
    pub(crate) handler_timeout: Option<Duration>,
    /// The scheduler; `None` if requests are unordered.
    pub(crate) scheduler: Option<Arc<Scheduler>>,
    pub(crate) heavy: Heavy,
    pub(crate) decoders: Arc<Pool>,
    /// Decoders for messages that are not compared with others.
    pub(crate) plain_decoders: Arc<Pool>,
    /// The memory of earlier messages; `None` if the options disable it.
    pub(crate) cache: Option<Arc<Cache>>,
    /// The templates of earlier responses; `None` if the options disable them.
    pub(crate) templates: Option<Arc<Cache>>,
    pub(crate) templating: Templating,
    /// True if values that several places share are written once.
    pub(crate) references: bool,
    pub(crate) attachments: AttachmentOptions,
    /// Which responses are compressed.
    pub(crate) compression: Compression,
    /// Compression results of responses that belong to no operation, where connections decide about
    /// compression.
    pub(crate) pages: Arc<LearnedEffects>,
    pub(crate) gzip_limits: GzipLimits,
    /// Check each complete request.
    pub(crate) checks: Checks,
    /// Checks the security of requests.
    pub(crate) verify: Option<Arc<dyn Verify>>,
    /// Secures responses.
    pub(crate) protection: Option<Arc<dyn Protect>>,
    /// Validates responses before they are sent.
    pub(crate) validating: Option<Validating>,
    pub(crate) encoding: Use,
    pub(crate) name: String,
    pub(crate) description: Option<Description>,
    /// The documentation of the service in the WSDL.
    pub(crate) documentation: String,
    /// The page for browsers.
    pub(crate) page: LandingPage,
    pub(crate) action_check: ActionCheck,
    pub(crate) addressing: AddressingSettings,
    /// `None` if there are none.
    pub(crate) interceptors: Option<Arc<Interceptors>>,
    /// True if the action is also needed to distinguish operations.
    pub(crate) needs_action: bool,
    /// True if an operation takes items of its requests while they arrive.
    pub(crate) takes_items: bool,
    /// The service's URL, if it differs from the one that clients use.
    pub(crate) location: Option<String>,
    pub(crate) stats: Arc<ServiceStats>,
}

impl SoapService {
    /// Starts to build a service.
    pub fn builder() -> SoapServiceBuilder {
        SoapServiceBuilder::new()
    }

    /// Returns the service's WSDL, with its [location](SoapServiceBuilder::location), or
    /// `http://localhost/`, as the address. It is the one that was [set](SoapServiceBuilder::wsdl),
    /// else one made from the types of the operations; `None` if that has no operation. The server
    /// returns the same text under `?wsdl`, with the URL of the request.
    ///
    /// A document made from the types is the same for the same operations in the same order. It
    /// binds them to SOAP 1.1 and 1.2, and has a schema for each namespace. If there are SOAP
    /// arrays, it imports the schema of SOAP encoding from the service itself, under
    /// `?xsd=soap-encoding.xsd`: some tools cannot do without it and would ask the network. Rust
    /// types have no patterns and ranges, so the schemas have none. These are left out:
    ///
    /// - header blocks of which the operation knows at most a name. It knows those that its handler
    ///   takes as [`Header<T>`](crate::Header) or `Option<Header<T>>`, and those of
    ///   [`request_header`](crate::Operation::request_header) and
    ///   [`response_header`](crate::Operation::response_header). WSDL cannot express that a block
    ///   is required;
    /// - details of faults that do not follow from the type of the handler's error
    ///   ([`TypedFault`](crate::TypedFault), or an enum that derives `Faults`) and are not declared
    ///   by [`fault`](crate::Operation::fault);
    /// - the fallback, operations described at run time, and those whose handler writes the body;
    /// - encoded operations with lists, groups or qualified elements in place of accessors (use
    ///   [`SoapArray`](deltasoap_core::SoapArray)), and operations whose body element has another
    ///   type elsewhere.
    ///
    /// A few rules of the engine have no form in XML Schema 1.0, so the schemas allow more there:
    /// elements in any order of which some repeat (`all` with `Vec`), ignored elements (`open`),
    /// which are described after the others and in other namespaces. A wildcard that would compete
    /// with an element next to it is left out: that is ambiguous, which XML Schema forbids. A
    /// hierarchy (`derived`) is described as extensions if the base's fields come first in the
    /// other types, or as an inline group; otherwise as `xsd:anyType` with the types declared.
    ///
    /// ```
    /// # use deltasoap::{Soap, SoapService};
    /// #[derive(Soap)]
    /// #[soap(namespace = "urn:chess", message)]
    /// struct Move {
    ///     to: String,
    /// }
    ///
    /// let service = SoapService::builder().name("Chess").operation(async |their: Move| their).build()?;
    /// let wsdl = service.wsdl().expect("an operation");
    /// assert!(wsdl.contains(r#"<xsd:element name="to" type="xsd:string"/>"#));
    /// # Ok::<(), deltasoap::server::BuildError>(())
    /// ```
    pub fn wsdl(&self) -> Option<String> {
        let location = self.inner.location.as_deref().unwrap_or("http://localhost/");
        self.inner.description.as_ref().map(|description| description.at(&escaped(location)))
    }

    pub(crate) fn new(inner: Inner) -> Self {
        SoapService { inner: Arc::new(inner) }
    }

    /// Returns the data for the service's page.
    #[cfg(feature = "page")]
    pub(crate) fn about(&self) -> page::About<'_> {
        page::About {
            name: &self.inner.name,
            documentation: &self.inner.documentation,
            operations: self.inner.operations.iter().count(),
            has_description: self.inner.description.is_some(),
        }
    }

    /// Returns the service's counters; all clones of a service count together.
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
        ResponseFuture(Box::pin(Arc::clone(&self.inner).answer(request)))
    }
}

/// The future of a [`SoapService`]'s response.
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
        let accepted = if compression.is_off() { Codings::NONE } else { Codings::preferred(request.headers()) };
        let (mut parts, body) = request.into_parts();
        let mut noted = Noted::new(&parts);
        let adaptive = self.adaptive(&parts);
        if let Err(response) = self.admit(&mut parts).await {
            if !parts.headers.contains_key(EXPECT) {
                drain(pin!(body)).await;
            }
            noted.denied(&response);
            return response;
        }
        noted.admitted(&parts);
        let response = match parts.method {
            Method::POST => {
                let span = telemetry::span!("server", "soap");
                telemetry::join(&span, TraceParent::from_headers(&parts.headers), &parts.headers);
                let notes = Arc::clone(noted.notes());
                let answer = Arc::clone(&self).answer_post(parts, body, notes);
                let mut response = entered(&span, pin!(answer)).await;
                noted.answered(&self, &span, &mut response);
                response
            }
            ref method => {
                let is_read = matches!(*method, Method::GET | Method::HEAD);
                let response = if is_read { self.answer_get(&parts) } else { respond::method_not_allowed() };
                noted.plain(&response);
                response
            }
        };
        respond::coded(response, compression, accepted, adaptive)
    }

    /// Returns what is known about the connection that the response takes.
    fn adaptive(&self, parts: &Parts) -> AdaptiveState {
        if !self.compression.is_adaptive() {
            return AdaptiveState::default();
        }
        let throughput = parts.extensions.get::<Connection>().and_then(Connection::throughput).cloned();
        AdaptiveState { throughput, learned: Some(Arc::clone(&self.pages)) }
    }

    /// Authenticates the sender of a request.
    ///
    /// # Errors
    /// Returns the response that refuses the request.
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

    async fn answer_post<B>(self: Arc<Self>, mut parts: Parts, body: B, notes: Arc<Notes>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
    {
        let _underway = self.stats.begin();
        parts.extensions.insert(notes);
        let body = body.map_err(|_| BoxError::from("the body did not arrive in full"));
        let mut body = Peeked::new(Paced::new(body, self.body_rate, self.body_timeout));
        // Without a body the media type means nothing.
        if self.empty_post.is_some() && body.is_empty(self.body_timeout).await {
            let response = self.answer_empty(parts).await;
            self.count(&response.0, response.1);
            return response.0;
        }
        // A page of another site can make a browser send requests without a media type, and without
        // a preflight request.
        let has_type = parts.headers.get(CONTENT_TYPE).is_some_and(|named| !named.as_bytes().trim_ascii().is_empty());
        let is_named = has_type || !parts.headers.contains_key(ORIGIN);
        let is_accepted =
            |media: &MediaType| is_named && (media.can_be_soap() && media.is_readable() || media.is_package());
        let Some(media) = MediaType::from_headers(&parts.headers).filter(is_accepted) else {
            return respond::unsupported_media_type();
        };
        if media::contradicts_itself(&parts.headers, &HeaderName::from_static("soapaction")) {
            return respond::two_actions();
        }
        let (response, is_fault) = match ContentCoding::from_headers(&parts.headers) {
            Ok(None) => {
                let length = body.size_hint().exact();
                let (response, is_fault) = self.exchange_in_turn(&media, parts, length, body).await;
                match length {
                    Some(length) if length < MIN_COMPRESSED_LENGTH => (response, is_fault),
                    _ => (respond::inviting(response), is_fault),
                }
            }
            #[cfg(not(feature = "gzip"))]
            Ok(Some(coding)) => {
                let unknown = CodingError::Unknown(coding.name().to_owned());
                (respond::unsupported_coding(media.version(), &unknown), true)
            }
            #[cfg(feature = "gzip")]
            Ok(Some(coding)) => {
                let body = Inflated::new(body, coding, self.bound(&media));
                // Boxed, as packages are: state that few requests need should not enlarge every
                // request's future.
                Box::pin(self.exchange_in_turn(&media, parts, None, body)).await
            }
            Err(error) => (respond::unsupported_coding(media.version(), &error), true),
        };
        self.count(&response, is_fault);
        response
    }

    /// Answers a request without a body; returns true if the response is a fault.
    async fn answer_empty(&self, parts: Parts) -> (Response<Body>, bool) {
        let context =
            Context::new(Head::default(), parts, Attachments::default(), Remarks::default(), Arc::clone(&self.roles));
        let calling = async { Ok::<_, AttachmentError>(self.empty_post.answer(context).await) };
        let answered = guard(pin!(self.in_handler_time("a request without a body", calling))).await;
        let protection = self.protection.clone();
        self.respond(Replying { version: Version::Soap11, addressed: None, protection }, answered)
    }

    /// Reads a message of known or unknown length and answers it, in its turn; returns true if the
    /// response is a fault.
    async fn exchange_in_turn<B>(
        self: &Arc<Self>,
        media: &MediaType,
        parts: Parts,
        length: Option<u64>,
        body: B,
    ) -> (Response<Body>, bool)
    where
        B: http_body::Body<Data = Bytes, Error = BoxError> + Send + 'static,
    {
        let Some(scheduler) = &self.scheduler else { return self.exchange(media, parts, None, body).await };
        let action = || requested_action(&parts.headers, media.version());
        let weight = self.operations.weight_of(action, |operation| weight(operation, scheduler, length));
        match scheduler.begin(length, weight).await {
            Ok(ticket) => {
                let exchange = self.exchange(media, parts, Some(Arc::clone(&ticket)), body);
                // On the heap, since the future is as large as everything that an exchange holds.
                ticket.run(Box::pin(exchange)).await
            }
            Err(busy) => (self.refuse_busy(media.version(), busy, &parts, body).await, true),
        }
    }

    async fn refuse_busy<B>(&self, version: Version, busy: Busy, parts: &Parts, body: B) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes, Error = BoxError>,
    {
        tracing::debug!("refused a message: the server is busy");
        self.stats.count_refused();
        if !parts.headers.contains_key(EXPECT) {
            drain(pin!(body)).await;
        }
        respond::busy(version, busy.retry_after)
    }

    /// Returns the bounds on a compressed body.
    fn bound(&self, media: &MediaType) -> Bound {
        Bound::new(self.gzip_limits, media.is_package(), &self.options.limits, self.attachments.limits.total)
    }

    /// Reads a message and answers it; returns true if the response is a fault.
    async fn exchange<B>(
        self: &Arc<Self>,
        media: &MediaType,
        parts: Parts,
        ticket: Option<Arc<Ticket>>,
        body: B,
    ) -> (Response<Body>, bool)
    where
        B: http_body::Body<Data = Bytes, Error = BoxError> + Send + 'static,
    {
        let source = self.cache.as_ref().and_then(|cache| MemorySource::for_request(&parts, cache));
        let action = match self.needs_action {
            true => requested_action(&parts.headers, media.version()),
            false => None,
        };
        let info = RequestInfo { source, action, notes: notes_of(&parts) };
        let pace = self.heavy.pace(ticket);
        let reception = if media.is_package() {
            Box::pin(receive_package(self, media, info, pace.clone(), body)).await.map(Reception::Whole)
        } else if self.takes_items {
            Box::pin(receive_items(self, media, info, pace.clone(), body)).await
        } else {
            receive(self, media, info, pace.clone(), body).await.map(Reception::Whole)
        };
        let (version, operation, length) = match &reception {
            Ok(Reception::Whole(received)) => {
                (received.head.version(), &received.chosen.operation, Some(received.bytes))
            }
            Ok(Reception::Begun(arrival)) => (arrival.head().version(), arrival.operation(), None),
            Err(refusal) => return (self.refuse(refusal), true),
        };
        let weight = pace.ticket().map_or(0, |ticket| weight(operation, ticket.scheduler(), length));
        if let Some(ticket) = pace.ticket()
            && let Err(busy) = ticket.weigh(weight).await
        {
            self.stats.count_refused();
            if let Ok(Reception::Begun(arrival)) = reception {
                // The result does not matter: the server is busy.
                let _ = arrival.settle(false).await;
            }
            return (respond::busy(version, busy.retry_after), true);
        }
        let learned = self.compression.is_adaptive().then(|| Arc::clone(operation.record().learned()));
        let (mut response, is_fault) = match reception {
            Ok(Reception::Whole(received)) => self.run(received, parts, &pace, weight).await,
            Ok(Reception::Begun(arrival)) => Box::pin(self.run_with_items(arrival, parts)).await,
            Err(refusal) => (self.refuse(&refusal), true),
        };
        if let Some(learned) = learned {
            response.extensions_mut().insert(learned);
        }
        (response, is_fault)
    }

    /// Runs an operation that takes items of its request while it arrives; returns true if the
    /// response is a fault.
    async fn run_with_items(&self, arrival: Box<Arrival>, parts: Parts) -> (Response<Body>, bool) {
        let (version, operation) = (arrival.head().version(), Arc::clone(arrival.operation()));
        let addressed = match self.addressing.admit(arrival.head(), &operation) {
            Ok(addressed) => addressed,
            Err(violation) => {
                // The result does not matter: the request is refused.
                let _ = arrival.settle(false).await;
                return (self.refuse_addressing(version, &violation, &parts.extensions), true);
            }
        };
        let (notes, start) = (notes_of(&parts), Instant::now());
        notes.compared(None);
        let attachments = Attachments::default();
        let writing = self.writing(&operation, version, &parts, attachments.form(), addressed.as_deref());
        let context =
            Context::new(arrival.head().clone(), parts, attachments, Remarks::default(), Arc::clone(&self.roles));
        let contradiction = self.contradiction(&context, &operation, addressed.as_deref());
        let (lent, lender) = arrival.lend();
        let called = match contradiction {
            Some(fault) => {
                drop(lent);
                Ok(Outcome::Fault(fault))
            }
            None => guard(pin!(lender.wait(self.handler_timeout, lent.start(context, writing))))
                .await
                .map(|outcome| outcome.unwrap_or_else(|| took_too_long(operation.name()))),
        };
        notes.handled(start.elapsed());
        let succeeded = matches!(&called, Ok(outcome) if !matches!(outcome, Outcome::Fault(_)));
        match lender.settle(succeeded).await {
            Ok(()) => {
                self.respond(Replying { version, addressed, protection: self.protection.clone() }, called.map(Ok))
            }
            Err(refusal) => (self.refuse(&refusal), true),
        }
    }

    /// Runs an operation for a request of this weight, if weights are used; returns true if the
    /// response is a fault.
    async fn run(&self, received: Received, parts: Parts, pace: &Pace, weight: u64) -> (Response<Body>, bool) {
        let version = received.head.version();
        let addressed = match self.addressing.admit(&received.head, &received.chosen.operation) {
            Ok(addressed) => addressed,
            Err(violation) => return (self.refuse_addressing(version, &violation, &received.extensions), true),
        };
        let protection = self.protection_for(&received.extensions);
        let called = guard(pin!(self.call(received, parts, pace, weight, addressed.as_deref()))).await;
        self.respond(Replying { version, addressed, protection }, called)
    }

    /// Sends the reply to where it goes, and returns the HTTP response; true if the reply is a
    /// fault.
    fn respond(
        &self,
        replying: Replying,
        called: Result<Result<Outcome, AttachmentError>, Panicked>,
    ) -> (Response<Body>, bool) {
        let (reply, is_fault) = self.reply(&replying, called);
        let response = match replying.addressed {
            Some(addressed) => addressed.send(reply, is_fault),
            None => reply,
        };
        (response, is_fault)
    }

    /// Returns the reply with the outcome of a call; true if it is a fault.
    fn reply(
        &self,
        replying: &Replying,
        called: Result<Result<Outcome, AttachmentError>, Panicked>,
    ) -> (Response<Body>, bool) {
        let version = replying.version;
        let respond_fault = |fault| replying.fault(fault);
        match called {
            Ok(Ok(Outcome::Reply(reply))) if self.protection.is_some() && reply.message.is_some() => {
                tracing::error!("a response that its handler writes itself cannot be secured");
                (respond_fault(Fault::receiver("the response could not be secured")), true)
            }
            Ok(Ok(Outcome::Reply(reply))) => {
                let subject = if reply.is_fault { Subject::Fault } else { Subject::Response };
                if let Err(invalid) = self.validate(subject, reply.message.as_ref()) {
                    return (respond_fault(refused(&invalid)), true);
                }
                (respond::reply(version, reply), subject == Subject::Fault)
            }
            Ok(Ok(Outcome::Response(written, time))) => {
                self.stats.count_encoded(time);
                self.stats.count_invalid(is_invalid(&written.verdict));
                match &written.verdict {
                    Ok(_) => (respond::written(version, written), false),
                    Err(invalid) => (respond_fault(refused(invalid)), true),
                }
            }
            Ok(Ok(Outcome::Accepted)) => (respond::accepted(), false),
            Ok(Ok(Outcome::Fault(fault))) => {
                let response = respond_fault(fault);
                // A fault is sent in any case. One that is secured may be encrypted.
                if replying.protection.is_none() {
                    let _ = self.validate(Subject::Fault, Some(response.body()));
                }
                (response, true)
            }
            Ok(Err(error)) => {
                let mut refusal = refuse_package(version, error);
                let blocks =
                    replying.addressed.as_deref().map(|addressed| addressed.fault_blocks(&mut refusal.fault, version));
                refusal.blocks = blocks.unwrap_or_default();
                (self.refuse(&refusal), true)
            }
            Err(Panicked(message)) => {
                tracing::error!(message, "a handler panicked");
                (respond_fault(Fault::receiver("an internal error")), true)
            }
        }
    }

    /// Validates a message before it is sent, if the service does so.
    fn validate(&self, subject: Subject, message: Option<&Body>) -> Verdict {
        let (Some(validating), Some(message)) = (&self.validating, message) else { return Ok(Vec::new()) };
        let verdict = guard_call(|| validating.sent(subject, message, &[])).unwrap_or_else(|Panicked(message)| {
            tracing::error!(message, "a validator panicked");
            Ok(Vec::new())
        });
        self.stats.count_invalid(is_invalid(&verdict));
        verdict
    }

    /// Calls a handler, where it delays no other request.
    ///
    /// # Errors
    /// When the handler succeeded, and the rest of its request's package is invalid.
    async fn call(
        &self,
        received: Received,
        mut parts: Parts,
        pace: &Pace,
        weight: u64,
        addressed: Option<&AddressedCall>,
    ) -> Result<Outcome, AttachmentError> {
        let Received { head, chosen: Chosen { operation, call }, mut attachments, bytes, remarks, extensions } =
            received;
        let remainder = attachments.remainder();
        parts.extensions.extend(extensions);
        let (record, notes) = (operation.record(), notes_of(&parts));
        let writing = self.writing(&operation, head.version(), &parts, attachments.form(), addressed);
        let context = Context::new(head, parts, attachments, remarks, Arc::clone(&self.roles));
        if let Some(fault) = self.contradiction(&context, &operation, addressed) {
            return Ok(Outcome::Fault(fault));
        }
        notes.compared(call.counts());
        let start = Instant::now();
        let calling = call.run(context, writing);
        let calling = match pace.ticket() {
            Some(ticket) if ticket.scheduler().learns() => Measured::boxed(calling, Arc::clone(record), bytes),
            _ => calling,
        };
        let is_long = self.heavy.is_heavy(bytes);
        let outcome = if is_long || self.heavy.is_heavy(weight) || record.expects_long() {
            // Waiting for a thread does not count as the handler's time.
            let thread = self.heavy.thread(pace.ticket()).await;
            self.in_time(&operation, checked(thread.run(calling), remainder)).await
        } else {
            self.in_time(&operation, checked(calling, remainder)).await
        };
        notes.handled(start.elapsed().saturating_sub(encode_time(&outcome)));
        if let (false, Ok(Outcome::Response(written, _))) = (is_long, &outcome) {
            record.note_long(self.heavy.is_heavy(written.body.size_hint().lower()));
        }
        outcome
    }

    /// Waits for a handler within its time limit.
    async fn in_time<E>(
        &self,
        operation: &Operation,
        running: impl Future<Output = Result<Outcome, E>>,
    ) -> Result<Outcome, E> {
        self.in_handler_time(operation.name(), running).await
    }

    async fn in_handler_time<E>(
        &self,
        name: impl fmt::Display,
        running: impl Future<Output = Result<Outcome, E>>,
    ) -> Result<Outcome, E> {
        let Some(time) = self.handler_timeout else { return running.await };
        tokio::time::timeout(time, running).await.unwrap_or_else(|_| Ok(took_too_long(name)))
    }

    /// Returns the fault that refuses a request whose action contradicts its operation.
    fn contradiction(
        &self,
        context: &Context,
        operation: &Operation,
        addressed: Option<&AddressedCall>,
    ) -> Option<Fault> {
        let (check, operations) = (self.action_check, &self.operations);
        if check == ActionCheck::Ignore {
            return None;
        }
        let of_http = context.actions().find_map(|action| check.refusal(&action, operation, operations));
        of_http.or_else(|| {
            let violation = check.violation(&addressed?.headers, context.actions(), operation, operations)?;
            Some(violation.to_fault(context.version()))
        })
    }

    /// Returns how to write the response of an operation to a request.
    fn writing(
        &self,
        operation: &Operation,
        version: Version,
        parts: &Parts,
        form: MessageForm,
        addressed: Option<&AddressedCall>,
    ) -> Writing {
        let templates = self.templates.as_ref().filter(|_| !operation.is_one_way());
        Writing {
            version,
            encoding: operation.own_encoding().unwrap_or(self.encoding),
            record: Arc::clone(operation.record()),
            notes: notes_of(parts),
            source: templates.and_then(|cache| MemorySource::for_response(parts, cache)),
            templating: self.templating,
            references: self.references,
            packing: Packing::for_response(&self.attachments, form),
            validating: self.validating.clone(),
            protection: self.protection_for(&parts.extensions),
            interceptors: self.interceptors.clone(),
            addressing: addressed.map(|addressed| addressed.response_blocks(version)).unwrap_or_default(),
        }
    }

    /// Returns what secures the response to a request.
    pub(super) fn protection_for(&self, request: &Extensions) -> Option<Arc<dyn Protect>> {
        let protection = self.protection.as_ref()?;
        Some(protection.answering(request).unwrap_or_else(|| Arc::clone(protection)))
    }

    /// Returns the answer to a refused request.
    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        tracing::debug!(fault = %refusal.fault, "refused");
        let Refusal { version, fault, status, blocks, protection } = refusal;
        let refusing = || Some(self.protection.as_ref()?.refusing());
        let protection = protection.clone().or_else(refusing);
        let mut response = respond::fault(*version, fault, *status, blocks, protection.as_deref());
        if response.status() == StatusCode::REQUEST_TIMEOUT {
            // The rest of the message may still arrive, and is not a request (RFC 9110, 15.5.9).
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    /// Returns the answer to a request that violates WS-Addressing. It is the HTTP response, since
    /// no other endpoint in the request can be trusted.
    fn refuse_addressing(&self, version: Version, fault: &AddressingFault, request: &Extensions) -> Response<Body> {
        let (fault, blocks) = violation(fault, version);
        respond::fault(version, &fault, None, &blocks, self.protection_for(request).as_deref())
    }

    fn count(&self, response: &Response<Body>, is_fault: bool) {
        let bytes = response.body().size_hint().lower();
        self.stats.count_answered(bytes, is_fault);
    }

    fn answer_get(&self, parts: &Parts) -> Response<Body> {
        let url = || escaped(&self.location(parts));
        match (RequestTarget::from_uri(&parts.uri), &self.description) {
            (RequestTarget::Description, Some(description)) => respond::xml(description.at(&url())),
            (RequestTarget::Document(name), Some(description)) => match description.document(&name, &url()) {
                Some(document) => respond::xml(document),
                None => respond::not_found(format!("The WSDL has no document \"{name}\".\n")),
            },
            (RequestTarget::Description | RequestTarget::Document(_), None) => {
                respond::not_found("This service has no WSDL.\n".to_owned())
            }
            (RequestTarget::Sample(name, version), _) => self.answer_sample(&name, version),
            (RequestTarget::Page, _) => self.answer_page(),
        }
    }

    fn answer_sample(&self, name: &QName, version: Version) -> Response<Body> {
        let operation =
            self.operations.iter().find(|operation| operation.name() == name).filter(|_| self.page != LandingPage::Off);
        match operation.and_then(|operation| sample::request(operation, version, self.encoding)) {
            Some(request) => respond::xml(request),
            None => respond::not_found(format!("There is no sample request {name}.\n")),
        }
    }

    #[cfg(not(feature = "page"))]
    fn answer_page(&self) -> Response<Body> {
        respond::not_found("This service has no page.\n".to_owned())
    }

    #[cfg(feature = "page")]
    fn answer_page(&self) -> Response<Body> {
        if self.page == LandingPage::Off {
            return respond::not_found("This service has no page.\n".to_owned());
        }
        let mut operations: Vec<&Operation> = self.operations.iter().collect();
        operations.sort_by(|a, b| page::by_name(a.name(), b.name()));
        respond::page(page::landing(&page::Subject {
            name: &self.name,
            documentation: &self.documentation,
            operations: &operations,
            description: self.description.as_ref(),
            stats: &self.stats,
            has_form: self.page == LandingPage::Form,
        }))
    }

    /// Returns the service's URL: the configured one, else the one that the client sees.
    fn location(&self, parts: &Parts) -> String {
        let scheme = if parts.extensions.get::<Secure>().is_some() { "https" } else { "http" };
        let own = || request_url(&parts.uri, &parts.headers, scheme).unwrap_or_else(|| parts.uri.path().to_owned());
        self.location.clone().unwrap_or_else(own)
    }
}

/// What the reply to a request depends on, besides the outcome of its call.
struct Replying {
    version: Version,
    addressed: Option<Box<AddressedCall>>,
    protection: Option<Arc<dyn Protect>>,
}

impl Replying {
    /// Returns the reply of an operation that failed.
    fn fault(&self, mut fault: Fault) -> Response<Body> {
        tracing::debug!(%fault, "the operation failed");
        let addressed = self.addressed.as_deref();
        let blocks = addressed.map(|addressed| addressed.fault_blocks(&mut fault, self.version)).unwrap_or_default();
        respond::fault(self.version, &fault, None, &blocks, self.protection.as_deref())
    }
}

/// Returns the notes about a request.
fn notes_of(parts: &Parts) -> Arc<Notes> {
    parts.extensions.get().cloned().unwrap_or_default()
}

/// Returns the part of a call's time that was spent writing its response.
fn encode_time<E>(outcome: &Result<Outcome, E>) -> Duration {
    match outcome {
        Ok(Outcome::Response(_, time)) => *time,
        _ => Duration::ZERO,
    }
}

/// Returns the fault that replaces an invalid response.
fn refused(invalid: &Invalid) -> Fault {
    Fault::receiver(format!("the response was not sent: {invalid}"))
}

fn took_too_long(name: impl fmt::Display) -> Outcome {
    tracing::error!(operation = %name, "a handler took too long");
    Outcome::Fault(Fault::receiver("the operation took too long"))
}

/// Waits for a handler, and after success for the rest of its request's package: an answer counts
/// only if the whole package is valid.
async fn checked(
    running: impl Future<Output = Outcome>,
    remainder: Option<Remainder>,
) -> Result<Outcome, AttachmentError> {
    let outcome = running.await;
    if let (Some(remainder), false) = (remainder, matches!(outcome, Outcome::Fault(_))) {
        remainder.finish().await?;
    }
    Ok(outcome)
}

/// Returns the weight of an operation's request, independent of its length.
fn weight(operation: &Operation, scheduler: &Scheduler, length: Option<u64>) -> u64 {
    operation.weighs().max(scheduler.learned(operation.record().costs(), length))
}

/// Polls a future within a span, in place: the future of an exchange has some kilobytes, and
/// instrumenting it would move it.
async fn entered<F: Future>(span: &Span, mut future: Pin<&mut F>) -> F::Output {
    poll_fn(|task| span.in_scope(|| future.as_mut().poll(task))).await
}

fn deny(denial: &Denial) -> Response<Body> {
    tracing::debug!(%denial, "a request was denied");
    respond::denied(denial)
}
