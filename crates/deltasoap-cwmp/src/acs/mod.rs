//! The auto-configuration server: devices begin sessions, and the server sends requests in the
//! responses to their messages.
//!
//! ```text
//!   CPE                                  ACS
//!    │ POST Inform ─────────────────────> │ [`Handler::inform`]; a session, a cookie
//!    │ <───────────────── InformResponse  │
//!    │ POST TransferComplete, … ────────> │ [`Handler::transfer_complete`], …
//!    │ <───────── TransferCompleteResponse│
//!    │ POST (nothing) ──────────────────> │ the session's future is polled …
//!    │ <────────────── GetParameterValues │ … up to its first request
//!    │ POST GetParameterValuesResponse ─> │ … which this resolves; polled again
//!    │ <──────────────────────── HTTP 204 │ the future has ended, and the session with it
//! ```
//!
//! A [`SoapService`] decodes HTTP requests, and calls the function in [`turns`] for each kind of
//! message, which finds the session in the [`table`] and advances it by one step. [`session`] is
//! the API for user code, [`handler`] the trait that it implements.
//!
//! The future is polled within exchanges and nowhere else. So a session is not a task, and dropping
//! its entry in the table drops all of it. If the holder of a checked-out session is dropped,
//! because a client goes away or because of a panic, the session ends.
//!
//! Handlers write the responses themselves (`MessageReply`), since the type of a response does not
//! follow from that of the request. Responses are small and not written against templates.

mod exchange;
mod handler;
mod limits;
mod session;
mod table;
mod turns;

pub use handler::{Accepted, Handler};
pub use limits::Limits;
pub use session::{CallError, Device, Session, SessionEnd};

use crate::message::{SOAP_FAULT, UNDERSTOOD};
use crate::types::*;
use crate::{CwmpFault, Version};
use bytes::Bytes;
use deltasoap::engine::Tolerance;
use deltasoap::server::{
    Authenticate, BuildError, LandingPage, Operation, Principal, ServiceStats, SoapServiceBuilder,
};
use deltasoap::transport::Body;
use deltasoap::{Context, Fault, Lease, Message, SoapService};
use exchange::{Counted, Exchange, RecordPrincipal};
use futures_util::future::BoxFuture;
use handler::Dynamic;
use http::{Method, Request, Response, StatusCode};
use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};
use table::Table;
use tower::Service;
use turns::AnyMessage;

/// An auto-configuration server as a [`tower::Service`]: cheap to clone, never fails, mounts in any
/// router.
///
/// A message that cannot be decoded, that belongs to no session, or that answers no request gets
/// status 400, and the session that its cookie names ends. A message that arrives while another of
/// the same session is being answered gets status 400 too. A request of the CPE at a time when it
/// may not send one gets the fault 8001, an unknown request gets the fault 8000; the session goes
/// on. A device, identified by its [`DeviceId`] and the principal that sends it, has one session at
/// a time: an `Inform` begins a new one, and the previous one is dropped.
///
/// ```
/// use deltasoap_cwmp::{Acs, Session};
///
/// let acs = Acs::new(async |session: Session| {
///     match session.get_parameter_values(["Device.DeviceInfo.UpTime"]).await {
///         Ok(values) => println!("{}: {:?}", session.device().id.serial_number, values),
///         Err(error) => println!("{error}"),
///     }
/// });
/// # let _ = acs;
/// ```
#[derive(Clone)]
pub struct Acs {
    service: SoapService,
    core: Arc<Core>,
}

/// State that all clones of a server share.
pub(crate) struct Core {
    pub(crate) handler: Box<dyn Dynamic>,
    pub(crate) table: Table,
}

/// A server under construction; see [`Acs::builder`].
pub struct AcsBuilder {
    handler: Box<dyn Dynamic>,
    limits: Limits,
    service: SoapServiceBuilder,
}

impl Acs {
    /// Creates a server with default settings: devices need no authentication.
    ///
    /// # Panics
    /// Never: the default settings are valid.
    pub fn new(handler: impl Handler) -> Self {
        Self::builder(handler).build().expect("operations with different names")
    }

    /// Creates a builder for a server.
    pub fn builder(handler: impl Handler) -> AcsBuilder {
        let service = SoapService::builder().name("CWMP").landing_page(LandingPage::Off);
        AcsBuilder { handler: handler::erased(handler), limits: Limits::default(), service }
            .configure(|service| service.tolerance(Tolerance::AnyOrder))
    }

    /// Returns the current number of sessions.
    pub fn sessions(&self) -> usize {
        self.core.table.len()
    }

    /// Returns counters of messages, by operation.
    pub fn stats(&self) -> Arc<ServiceStats> {
        self.service.stats()
    }

    /// Returns the service below, such as for its memories
    /// ([`SoapService::save_memories`]). It does not authenticate, and knows no sessions.
    pub fn soap_service(&self) -> &SoapService {
        &self.service
    }
}

impl fmt::Debug for Acs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acs").field("sessions", &self.sessions()).finish_non_exhaustive()
    }
}

impl AcsBuilder {
    /// Sets the limits on sessions. For the defaults, see [`Limits`].
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Authenticates the sender of each request (section 3.4.4): with
    /// [`Basic`](deltasoap::server::Basic), [`DigestUsers`](deltasoap::server::DigestUsers) (with
    /// [`md5`](deltasoap::server::DigestUsers::md5), which is what CPEs support) or
    /// [`ByCertificate`](deltasoap::server::ByCertificate). [`Handler::inform`] decides whether the
    /// principal may send the [`DeviceId`] in its Inform. By default all devices are served.
    #[must_use]
    pub fn authenticate(mut self, hook: impl Authenticate) -> Self {
        self.service = self.service.authenticate(RecordPrincipal::new(hook));
        self
    }

    /// Configures the underlying service: differential processing, compression, timeouts. This
    /// crate sets the operations and the response to empty requests;
    /// [`authenticate`](Self::authenticate) sets the authentication. The
    /// [tolerance](SoapServiceBuilder::tolerance) is [`AnyOrder`](Tolerance::AnyOrder) unless it is
    /// set here, since many devices deviate from the schema.
    #[must_use]
    pub fn configure(mut self, settings: impl FnOnce(SoapServiceBuilder) -> SoapServiceBuilder) -> Self {
        self.service = settings(self.service);
        self
    }

    /// Builds the server.
    ///
    /// # Errors
    /// Returns an error if the settings made by [`configure`](Self::configure) are contradictory.
    pub fn build(self) -> Result<Acs, BuildError> {
        let core = Arc::new(Core { handler: self.handler, table: Table::new(self.limits) });
        let service = self.service.message_limit(self.limits.message_bytes);
        let service = Version::ALL.into_iter().fold(service, |service, version| register(service, version, &core));
        let service = service.add_operation(faults(&core)).fallback(unknown(&core));
        let empty = Arc::clone(&core);
        let service = service.empty_post(move |context| {
            let core = Arc::clone(&empty);
            async move { core.empty(&context).await }
        });
        Ok(Acs { service: service.build()?, core })
    }
}

impl fmt::Debug for AcsBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcsBuilder").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// Adds the operations of a version.
fn register(service: SoapServiceBuilder, version: Version, core: &Arc<Core>) -> SoapServiceBuilder {
    let mut service = UNDERSTOOD.into_iter().fold(service, |all, header| all.understands(version.name(header)));
    service = service.add_operation(informs(version, core));
    macro_rules! requests {
        ($($request:ty => |$core:ident, $device:ident, $body:ident| $answer:expr;)*) => {
            $(service = service.add_operation(requests::<$request, _>(version, core, |$core, $device, $body| {
                Box::pin(async move { $answer })
            }));)*
        };
    }
    requests! {
        GetRpcMethods => |core, _d, _b| Ok(core.handler.methods());
        TransferComplete => |core, device, body| core.handler.transfer_complete(&device, body).await;
        AutonomousTransferComplete => |core, device, body| core.handler.autonomous_transfer_complete(&device, body).await;
        RequestDownload => |core, device, body| core.handler.request_download(&device, body).await;
        Kicked => |core, device, body| core.handler.kicked(&device, body).await;
        DuStateChangeComplete => |core, device, body| core.handler.du_state_change_complete(&device, body).await;
        AutonomousDuStateChangeComplete =>
            |core, device, body| core.handler.autonomous_du_state_change_complete(&device, body).await;
    }
    macro_rules! responses {
        ($($request:ty),* $(,)?) => {
            $(service = service.add_operation(responses::<$request>(version, core));)*
        };
    }
    responses!(
        GetRpcMethods,
        SetParameterValues,
        GetParameterValues,
        GetParameterNames,
        SetParameterAttributes,
        GetParameterAttributes,
        AddObject,
        DeleteObject,
        Download,
        Reboot,
        FactoryReset,
        ScheduleInform,
        Upload,
        ScheduleDownload,
        CancelTransfer,
        GetQueuedTransfers,
        GetAllQueuedTransfers,
        SetVouchers,
        GetOptions,
        ChangeDuState,
    );
    service
}

/// Creates the operation for the Informs of a version.
fn informs(version: Version, core: &Arc<Core>) -> Operation {
    let core = Arc::clone(core);
    Operation::new(move |context: Context, inform: Lease<Inform>| {
        let core = Arc::clone(&core);
        async move { core.inform(version, inform, &context).await }
    })
    .named(version.name("Inform"))
}

type AnswerFuture<R> = BoxFuture<'static, Result<<R as Rpc>::Response, CwmpFault>>;

/// Creates the operation for a request of CPEs, in a version.
fn requests<R, F>(version: Version, core: &Arc<Core>, answer: F) -> Operation
where
    R: Rpc,
    F: Fn(Arc<Core>, Arc<Device>, R) -> AnswerFuture<R> + Copy + Send + Sync + 'static,
{
    let core = Arc::clone(core);
    Operation::new(move |context: Context, request: Lease<R>| {
        let core = Arc::clone(&core);
        async move {
            let answering = |device| answer(Arc::clone(&core), device, request.into_owned());
            core.request::<R>(version, &context, answering).await
        }
    })
    .named(deltasoap::schema::QName::owned(version.namespace(), R::ELEMENT.local))
}

/// Creates the operation for the responses of CPEs to a request, in a version.
fn responses<R: Rpc>(version: Version, core: &Arc<Core>) -> Operation {
    let core = Arc::clone(core);
    Operation::new(move |context: Context, response: Lease<R::Response>| {
        let core = Arc::clone(&core);
        async move {
            let response = Box::new(response.into_owned());
            core.response(&R::Response::ELEMENT, response, &context).await
        }
    })
    .named(deltasoap::schema::QName::owned(version.namespace(), R::Response::ELEMENT.local))
}

/// Creates the operation for faults of CPEs.
fn faults(core: &Arc<Core>) -> Operation {
    let core = Arc::clone(core);
    Operation::new(move |context: Context, fault: Lease<AnyMessage>| {
        let core = Arc::clone(&core);
        async move { core.fault(&fault, &context).await }
    })
    .named(SOAP_FAULT)
}

/// Creates the operation for unknown messages.
fn unknown(core: &Arc<Core>) -> Operation {
    let core = Arc::clone(core);
    Operation::new(move |context: Context, message: Lease<AnyMessage>| {
        let core = Arc::clone(&core);
        async move { core.unknown(&message, &context).await }
    })
}

impl<B> Service<Request<B>> for Acs
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = AcsFuture;

    fn poll_ready(&mut self, _: &mut TaskContext<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> AcsFuture {
        AcsFuture(Box::pin(self.clone().answer(request)))
    }
}

/// The future of an [`Acs`]'s response.
pub struct AcsFuture(BoxFuture<'static, Response<Body>>);

impl Future for AcsFuture {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(task).map(Ok)
    }
}

impl fmt::Debug for AcsFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcsFuture").finish_non_exhaustive()
    }
}

impl Acs {
    async fn answer<B>(mut self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
    {
        let is_post = request.method() == Method::POST;
        let exchange = Arc::new(Exchange::new(request.headers(), request.extensions().get::<Principal>()));
        let mut request = request.map(|body| Counted::new(body, Arc::clone(&exchange)));
        request.extensions_mut().insert(Arc::clone(&exchange));
        let Ok(mut response) = self.service.call(request).await;
        if is_post && !exchange.is_taken() && !is_of_http(response.status()) {
            self.refuse(&exchange, &mut response);
        }
        if let Some(cookie) = exchange.cookie_to_set() {
            response.headers_mut().append(http::header::SET_COOKIE, cookie);
        }
        response
    }

    /// Ends the session of a message that could not be decoded (section 3.7): its kind is unknown.
    fn refuse(&self, exchange: &Exchange, response: &mut Response<Body>) {
        tracing::debug!(status = response.status().as_u16(), "a message was refused");
        self.core.end(exchange, SessionEnd::Invalid);
        if response.status() == StatusCode::INTERNAL_SERVER_ERROR {
            *response.status_mut() = StatusCode::BAD_REQUEST;
        }
    }
}

/// Returns true for a response of the HTTP layer: the sender is unknown, or the server is busy.
fn is_of_http(status: StatusCode) -> bool {
    matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::SERVICE_UNAVAILABLE)
}

impl Core {
    /// Ends the session that an exchange names, if it belongs to the sender.
    pub(crate) fn end(&self, exchange: &Exchange, end: SessionEnd) {
        let ended = exchange.token().and_then(|token| self.table.remove(&token, &exchange.principal()));
        self.ended(ended, end);
    }

    /// Notifies the handler of the end of a session, and drops the session.
    pub(crate) fn ended(&self, entry: Option<Arc<table::Entry>>, end: SessionEnd) {
        if let Some(entry) = entry {
            tracing::debug!(device = %entry.device.id.serial_number, ?end, "a session ended");
            self.handler.ended(&entry.device, end);
        }
    }
}

/// Returns the fault for a message that could not be encoded.
pub(crate) fn unwritable(error: &deltasoap::Error) -> Box<Fault> {
    tracing::error!(%error, "a message could not be written");
    Box::new(Fault::receiver("the answer could not be written"))
}
