//! Builds a service from operations and settings.

use super::action::ActionCheck;
use super::addressing::{AddressingMode, AddressingSettings};
use super::auth::{Authenticate, Gate};
use super::context::Context;
use super::dispatch::Table;
use super::empty::EmptyPost;
use super::handler::{Extract, FromRequest, Handler, HandlerResult};
use super::heavy::{Heavy, HeavyWork};
use super::intercept::{InterceptedRequest, InterceptedResponse, Interceptors};
use super::memory::{Cache, MemoryBounds, Sharing};
use super::operation::Operation;
#[cfg(feature = "client")]
use super::outbox::Outbox;
use super::pool::Pool;
use super::reply::MessageReply;
use super::request_target::LandingPage;
use super::schedule::{Scheduler, Scheduling};
use super::service::{Inner, SoapService};
use super::stats::ServiceStats;
use super::wsdl::{Description, Source, generate};
use crate::attachments::AttachmentOptions;
use crate::coding::{Compression, GzipLimits};
use crate::deviations::DeviationLog;
use crate::error::BoxError;
use crate::inspect::{Checks, Inspector};
use crate::secured::{Policies, Protect, Side, UnmetPolicies, Verify};
use crate::validation::{Validating, Validation, Validator};
use deltasoap_core::schema::Use;
use deltasoap_core::soap::{Fault, PolicyDocuments};
use deltasoap_core::{Checkpoints, DecodeOptions, Differential, Limits, QName, Templating, Tolerance};
use deltasoap_xml::XmlError;
use std::collections::HashSet;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Default maximum pause of a body.
const BODY_TIME: Duration = Duration::from_secs(30);

/// Default minimum rate of a body, in bytes a second.
const BODY_RATE: u32 = 500;

/// A service under construction; see [`SoapService::builder`]. `S` is the [state](Self::state) of
/// its handlers.
#[derive(Debug)]
pub struct SoapServiceBuilder<S = ()> {
    state: S,
    settings: Settings,
}

#[derive(Debug)]
struct Settings {
    operations: Vec<Operation>,
    fallback: Option<Operation>,
    empty_post: EmptyPost,
    understood: HashSet<QName>,
    roles: Vec<String>,
    options: DecodeOptions,
    /// Replaces the limit on messages in the options.
    message_limit: Option<u64>,
    sharing: Sharing,
    bounds: MemoryBounds,
    templating: Templating,
    references: bool,
    attachments: AttachmentOptions,
    compression: Compression,
    gzip_limits: GzipLimits,
    checks: Checks,
    validating: Option<Validating>,
    verify: Option<Arc<dyn Verify>>,
    protection: Option<Arc<dyn Protect>>,
    policies: Policies,
    gate: Gate,
    body_timeout: Option<Duration>,
    body_rate: u32,
    handler_timeout: Option<Duration>,
    scheduling: Scheduling,
    heavy: HeavyWork,
    encoding: Use,
    name: String,
    /// WSDLs, of which there may be only one.
    descriptions: Vec<Source>,
    /// Names and texts of the documents that the WSDL imports.
    documents: Vec<(String, String)>,
    location: Option<String>,
    page: LandingPage,
    action_check: ActionCheck,
    addressing: AddressingMode,
    #[cfg(feature = "client")]
    reply_targets: Vec<String>,
    interceptors: Option<Interceptors>,
}

impl SoapServiceBuilder {
    pub(crate) fn new() -> Self {
        let settings = Settings {
            operations: Vec::new(),
            fallback: None,
            empty_post: EmptyPost::default(),
            understood: HashSet::new(),
            roles: Vec::new(),
            options: DecodeOptions { limits: Limits::server(), ..DecodeOptions::default() },
            message_limit: None,
            sharing: Sharing::default(),
            bounds: MemoryBounds::default(),
            templating: Templating::default(),
            references: true,
            attachments: AttachmentOptions::server(),
            compression: Compression::OFF,
            gzip_limits: GzipLimits::default(),
            checks: Checks::default(),
            validating: None,
            verify: None,
            protection: None,
            policies: Policies::default(),
            gate: Gate::default(),
            body_timeout: Some(BODY_TIME),
            body_rate: BODY_RATE,
            handler_timeout: None,
            scheduling: Scheduling::default(),
            heavy: HeavyWork::default(),
            encoding: Use::Literal,
            name: "SOAP service".to_owned(),
            descriptions: Vec::new(),
            documents: Vec::new(),
            location: None,
            page: LandingPage::default(),
            action_check: ActionCheck::default(),
            addressing: AddressingMode::default(),
            #[cfg(feature = "client")]
            reply_targets: Vec::new(),
            interceptors: None,
        };
        SoapServiceBuilder { state: (), settings }
    }
}

impl<S> SoapServiceBuilder<S> {
    /// Sets the state that the handlers of the [operations](Self::operation) added after this take
    /// as [`State`](crate::State): a pool of connections, for example. It is cloned for each
    /// request that takes it.
    #[must_use]
    pub fn state<T: Clone + Send + Sync + 'static>(self, state: T) -> SoapServiceBuilder<T> {
        SoapServiceBuilder { state, settings: self.settings }
    }

    /// Adds an operation: a function or closure that takes the request, `async` or not. See
    /// [`Handler`] for its arguments and result.
    #[must_use]
    pub fn operation<M, Q, R, H>(self, handler: H) -> Self
    where
        S: Clone + Send + Sync + 'static,
        H: Handler<M>,
        H::Arguments: Extract<S>,
        H::Request: FromRequest<Q>,
        H::Output: HandlerResult<R>,
    {
        let operation = Operation::with_state(handler, self.state.clone());
        self.add_operation(operation)
    }

    /// Adds an operation.
    #[must_use]
    pub fn add_operation(mut self, operation: Operation) -> Self {
        self.settings.operations.push(operation);
        self
    }

    /// Sets the operation for body elements that no other operation takes. Without it such requests
    /// are answered with a fault. Its request type must accept any element, such as a type that
    /// wraps a [`Node`](deltasoap_core::Node).
    #[must_use]
    pub fn fallback(mut self, operation: Operation) -> Self {
        self.settings.fallback = Some(operation);
        self
    }

    /// Answers `POST`s without a body. Otherwise they are refused as messages that end too early.
    /// They name no version of SOAP, so a message in the answer is of SOAP 1.1. They are not
    /// subject to [`scheduling`](Self::scheduling).
    ///
    /// ```
    /// # use deltasoap_http::{Context, MessageReply, SoapService};
    /// # use deltasoap_core::soap::Fault;
    /// let nothing_to_do = async |_: Context| Ok::<_, Fault>(MessageReply::status(http::StatusCode::NO_CONTENT));
    /// let service = SoapService::builder().empty_post(nothing_to_do).build()?;
    /// # Ok::<(), deltasoap_http::BuildError>(())
    /// ```
    #[must_use]
    pub fn empty_post<Handler, Running, Failure>(mut self, handler: Handler) -> Self
    where
        Handler: Fn(Context) -> Running + Send + Sync + 'static,
        Running: Future<Output = Result<MessageReply, Failure>> + Send + 'static,
        Failure: Into<Fault>,
    {
        self.settings.empty_post = EmptyPost::new(handler);
        self
    }

    /// Declares that all operations understand header blocks of this name; see
    /// [`Operation::understands`].
    #[must_use]
    pub fn understands(mut self, header: QName) -> Self {
        self.settings.understood.insert(header);
        self
    }

    /// Declares a role of the service: header blocks with this `actor` (1.1) or `role` (1.2) are
    /// addressed to it, as are those for the next node and for the ultimate receiver. May be called
    /// for any number of roles.
    #[must_use]
    pub fn role(mut self, uri: impl Into<String>) -> Self {
        self.settings.roles.push(uri.into());
        self
    }

    /// Sets the bounds on requests. Default: [`Limits::server`].
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.settings.options.limits = limits;
        self
    }

    /// Sets what is accepted in requests beyond their schema. Default [`Tolerance::Strict`]: the
    /// client may rely on the parts of a request that the service does not know.
    /// [`Context::deviations`](crate::Context::deviations) lists the accepted deviations.
    #[must_use]
    pub fn tolerance(mut self, tolerance: Tolerance) -> Self {
        self.settings.options.tolerance = tolerance;
        self
    }

    /// Inspects each complete request before its handler runs: the envelope as it was received,
    /// without content coding and package. An error refuses the request with a `Client` or `Sender`
    /// fault that has the error's text as its reason. The bytes of a request are kept until it
    /// ends; the parts of a package are not included. [`validate`](Self::validate) checks requests
    /// against a schema.
    ///
    /// ```
    /// # use deltasoap::{Client, Lease, Soap, SoapService};
    /// # #[derive(Soap)]
    /// # #[soap(namespace = "urn:hello", message, response = Greet)]
    /// # struct Greet {}
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let service = SoapService::builder()
    ///     .operation(async |_: Lease<Greet>| Greet {})
    ///     .inspect(|message| match message.starts_with(b"<?xml") {
    ///         true => Ok(()),
    ///         false => Err("an XML declaration is required here".into()),
    ///     })
    ///     .build()?;
    /// # let client = Client::with_service("http://localhost/", service)?;
    /// # assert!(client.call(&Greet {}).await.is_ok());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn inspect(mut self, inspect: impl Fn(&[u8]) -> Result<(), BoxError> + Send + Sync + 'static) -> Self {
        self.settings.checks.inspector = Some(Inspector::new(inspect));
        self
    }

    /// Validates each complete request before its handler runs, beyond what decoding checks: see
    /// [`Validation`]. Default: off. In `deltasoap-dynamic`, a `Contract` is the validator of its
    /// WSDL.
    ///
    /// With [`Validation::Report`], [`Context::findings`](crate::Context::findings) lists what is
    /// invalid. With [`Validation::Refuse`], an invalid request is answered with a `Client` or
    /// `Sender` fault that names the place and the violation. Both count in
    /// [`StatsSnapshot::invalid_messages`](crate::StatsSnapshot).
    ///
    /// The bytes of a request are kept until it ends, and the validator may build a tree of it,
    /// within [`Limits::tree_nodes`](deltasoap_core::Limits::tree_nodes). The parts of a package
    /// are not validated, since they may still be arriving.
    #[must_use]
    pub fn validate(mut self, validator: impl Validator + 'static, validation: Validation) -> Self {
        self.settings.checks.validating = Validating::new(validator, validation);
        self
    }

    /// Validates the service's own responses and faults, for tests. Default: off.
    ///
    /// With [`Validation::Refuse`], the client gets a `Server` or `Receiver` fault instead of an
    /// invalid response. Responses that are written while they are sent are not validated.
    #[must_use]
    pub fn validate_sent(mut self, validator: impl Validator + 'static, validation: Validation) -> Self {
        self.settings.validating = Validating::new(validator, validation);
        self
    }

    /// Sets the security that requests must have, and what decrypts them; others are answered with
    /// a fault that names the kind of check that failed, and the reason is logged. Default: none.
    ///
    /// The sender is known before a memory is chosen, so that memories of different senders are
    /// kept apart; and its request is compared with nothing and read by nobody before it was
    /// verified to its end. Handlers get what is known about it by
    /// [`Extension<Verified>`](crate::Extension).
    #[cfg(feature = "security")]
    #[must_use]
    pub fn requirements(mut self, requirements: impl Into<Arc<deltasoap_security::Requirements>>) -> Self {
        self.settings.verify = Some(Arc::new(requirements.into()));
        self
    }

    /// Secures each response and each fault. Responses that are written while they are sent, or by
    /// their handler, or by MTOM, cannot be secured: a fault is sent instead. Default: no security.
    #[cfg(feature = "security")]
    #[must_use]
    pub fn protection(mut self, protection: deltasoap_security::Protection) -> Self {
        self.settings.protection = Some(Arc::new(protection));
        self
    }

    /// Sets what the service's policies say about security. Building fails if the service does not
    /// meet them, with the reasons. Services that are generated from a WSDL have its policies.
    ///
    /// A service meets them by `policy_credentials` or, if it has none, by whatever `protection`
    /// and `requirements` are set: then the policies are taken to be met. With both, what is set
    /// replaces what the policies lead to. All three need the feature `security`. Policies that
    /// require TLS alone are left to whoever serves the service, unless it has
    /// `policy_credentials`. Default: none.
    #[must_use]
    pub fn policies(mut self, policies: PolicyDocuments) -> Self {
        self.settings.policies.documents = policies;
        self
    }

    /// Sets what the service meets its [policies](Self::policies) with. Default: nothing.
    #[cfg(feature = "security")]
    #[must_use]
    pub fn policy_credentials(mut self, credentials: deltasoap_security::PolicyCredentials) -> Self {
        self.settings.policies.credentials = Some(credentials);
        self
    }

    /// Adds an interceptor, which sees each decoded request before its handler: the operation, the
    /// [context](Context) with header blocks and principal, and the body. A fault that it returns
    /// answers the request instead of the handler. Interceptors run in the order in which they are
    /// added, and must not block. What needs no decoded request is a tower layer around the
    /// service.
    ///
    /// ```
    /// # use deltasoap::{Client, Fault, Soap, SoapService};
    /// #[derive(Soap)]
    /// #[soap(namespace = "urn:bank", message, response = Transferred)]
    /// struct Transfer {
    ///     amount: u32,
    /// }
    /// # #[derive(Soap)]
    /// # #[soap(namespace = "urn:bank", message)]
    /// # struct Transferred {}
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let service = SoapService::builder()
    ///     .operation(|_: Transfer| Transferred {})
    ///     .intercept(|request| match request.body::<Transfer>() {
    ///         Some(transfer) if transfer.amount > 1000 && request.context().principal().is_none() => {
    ///             Err(Fault::sender("large transfers need a password"))
    ///         }
    ///         _ => Ok(()),
    ///     })
    ///     .build()?;
    /// # let client = Client::with_service("http://localhost/", service)?;
    /// assert!(client.call(&Transfer { amount: 1000 }).await.is_ok());
    /// assert!(client.call(&Transfer { amount: 1001 }).await.is_err());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn intercept(
        mut self,
        intercept: impl Fn(&mut InterceptedRequest<'_>) -> Result<(), Fault> + Send + Sync + 'static,
    ) -> Self {
        self.settings.interceptors.get_or_insert_default().add(intercept);
        self
    }

    /// Adds an interceptor, which sees each response before it is written, and may add header
    /// blocks. A fault that it returns takes the place of the response. The last one that was added
    /// runs first. Faults and [messages that handlers write themselves](MessageReply) are not
    /// shown.
    #[must_use]
    pub fn intercept_response(
        mut self,
        intercept: impl Fn(&mut InterceptedResponse<'_>) -> Result<(), Fault> + Send + Sync + 'static,
    ) -> Self {
        self.settings.interceptors.get_or_insert_default().add_for_responses(intercept);
        self
    }

    /// Sets the maximum number of bytes of a message, in the form that it is decoded from, whatever
    /// the other [`limits`](Self::limits) are.
    #[must_use]
    pub fn message_limit(mut self, bytes: u64) -> Self {
        self.settings.message_limit = Some(bytes);
        self
    }

    /// Sets how requests that resemble an earlier one are decoded. Default: by leaf checkpoints.
    /// [`Differential::OFF`] keeps nothing of earlier requests.
    ///
    /// With leaf checkpoints, the memory outlives its connection if the client can be recognized
    /// again. The notes of the other policies are valid only for one decoder, so they serve the
    /// requests of one connection.
    #[must_use]
    pub fn differential(mut self, differential: Differential) -> Self {
        self.settings.options.differential = differential;
        self
    }

    /// Sets how responses that resemble an earlier one are written: only where they differ.
    ///
    /// Default: that of [`Templating`]. With [`Templating::OFF`], each response is written in full,
    /// and nothing is kept. [`sharing`](Self::sharing) determines whose earlier responses are used,
    /// and [`memory_bounds`](Self::memory_bounds) how many are kept.
    ///
    /// Faults are always written in full, as are the responses of operations whose recent responses
    /// were all small, below 2 KiB: keeping them costs more than it saves.
    #[must_use]
    pub fn templating(mut self, templating: Templating) -> Self {
        self.settings.templating = templating;
        self
    }

    /// Sets whether values that several places of a response share
    /// ([`Shared`](deltasoap_core::Shared)) are written once in SOAP encoding, and then referred to
    /// (`href` in SOAP 1.1, `ref` in 1.2). Otherwise they are copied, for clients that do not
    /// support references, and a response that contains itself cannot be written. References are
    /// only used for values of such a type. Default: true.
    #[must_use]
    pub fn references(mut self, are_written: bool) -> Self {
        self.settings.references = are_written;
        self
    }

    /// Sets how messages with parts are read and written; default [`AttachmentOptions::server`].
    /// Handlers get the parts of a request from their [`Context`], and add parts to an answer with
    /// [`Reply::with_part`](crate::Reply::with_part).
    #[must_use]
    pub fn attachments(mut self, options: AttachmentOptions) -> Self {
        self.settings.attachments = options;
        self
    }

    /// Sets which responses are compressed, for clients that accept it; including pages and faults.
    /// Default: none. The length of a compressed response reveals information about its content. Do
    /// not use it for responses over an encrypted connection that contain a secret next to text of
    /// a third party.
    #[must_use]
    pub fn compression(mut self, compression: Compression) -> Self {
        self.settings.compression = compression;
        self
    }

    /// Sets the bounds on compressed requests. Such requests are always read; one that exceeds a
    /// bound is refused with status 413 and a fault that names the bound.
    #[must_use]
    pub fn gzip_limits(mut self, limits: GzipLimits) -> Self {
        self.settings.gzip_limits = limits;
        self
    }

    /// Sets whose earlier requests a request may be compared with, and whose earlier responses a
    /// response is written against. Default: those of the same principal or connection.
    #[must_use]
    pub fn sharing(mut self, sharing: Sharing) -> Self {
        self.settings.sharing = sharing;
        self
    }

    /// Authenticates the sender of each request, of any method: see [`Authenticate`],
    /// [`Basic`](crate::Basic) and [`ByCertificate`](crate::ByCertificate). [`Sharing::Principal`]
    /// uses the [`Principal`](crate::Principal) that it names, and [`Context::principal`] returns
    /// it. Handlers then do not see the request's `Authorization` header. Default: all requests are
    /// served, for the principal that a layer around the service attaches, if any.
    #[must_use]
    pub fn authenticate(mut self, hook: impl Authenticate) -> Self {
        self.settings.gate = Gate::new(hook);
        self
    }

    /// Sets the bounds on the memory of earlier requests, and on that of earlier responses. They
    /// apply to each separately.
    #[must_use]
    pub fn memory_bounds(mut self, bounds: MemoryBounds) -> Self {
        self.settings.bounds = bounds;
        self
    }

    /// Sets how long a request's body may pause between any of its bytes; `None` for no limit. A
    /// longer pause is answered with status 408 and a fault, and ends the connection. Default 30 s.
    #[must_use]
    pub fn body_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.settings.body_timeout = timeout.into();
        self
    }

    /// Sets the minimum rate of a request's body, in bytes a second; 0 for any rate. Only the time
    /// spent waiting for bytes counts, less the maximum [pause](Self::body_timeout). A body that is
    /// too slow is answered like one that stops. Default 500.
    #[must_use]
    pub fn body_rate(mut self, bytes_per_second: u32) -> Self {
        self.settings.body_rate = bytes_per_second;
        self
    }

    /// Sets the maximum time of a handler, including reading parts and writing its response; `None`
    /// for no limit, which is the default. After that the handler's future is dropped, and the
    /// client gets a fault of the receiver with status 500. This does not stop a handler that
    /// blocks its thread. One-way operations are not limited.
    #[must_use]
    pub fn handler_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.settings.handler_timeout = timeout.into();
        self
    }

    /// Sets the order of requests when there are more than can be processed at one time. Default:
    /// [`Scheduling::Unordered`].
    #[must_use]
    pub fn scheduling(mut self, scheduling: Scheduling) -> Self {
        self.settings.scheduling = scheduling;
        self
    }

    /// Sets how large messages are prevented from delaying small ones.
    #[must_use]
    pub fn heavy_work(mut self, options: HeavyWork) -> Self {
        self.settings.heavy = options;
        self
    }

    /// Sets the encoding of responses of operations that do not set their own. Default: literal.
    #[must_use]
    pub fn encoding(mut self, encoding: Use) -> Self {
        self.settings.encoding = encoding;
        self
    }

    /// Sets the display name of the service.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.settings.name = name.into();
        self
    }

    /// Sets the service's WSDL 1.1, which is served under `?wsdl` with the service's URL in every
    /// SOAP address. Its documentation of operations is shown on the service's page. An
    /// [`Operation`] that declares no [action](Operation::action) gets that of the WSDL. Default:
    /// one made from the types of the operations; see [`SoapService::wsdl`].
    #[must_use]
    pub fn wsdl(self, text: impl Into<String>) -> Self {
        self.wsdl_named("", text)
    }

    /// As [`wsdl`](Self::wsdl), with a name, like that of a [document](Self::wsdl_document):
    /// `wsdl/shop.wsdl` may import `../xsd/types.xsd`, which is the document `xsd/types.xsd`.
    #[must_use]
    pub fn wsdl_named(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.settings.descriptions.push(Source::Text(name.into(), text.into()));
        self
    }

    /// Adds a document that the WSDL imports, a WSDL or a schema; may be called several times. The
    /// name is the location in the imports: a path relative to the WSDL, with `/`, or a URL. The
    /// document is served under `?xsd=NAME` or `?wsdl=NAME`, which replaces its location in all
    /// documents; other locations are unchanged.
    ///
    /// ```
    /// # use deltasoap_http::SoapService;
    /// let wsdl = r#"<definitions xmlns="http://schemas.xmlsoap.org/wsdl/"><types>
    ///   <schema xmlns="http://www.w3.org/2001/XMLSchema"><include schemaLocation="types/common.xsd"/></schema>
    /// </types></definitions>"#;
    /// let schema = r#"<schema xmlns="http://www.w3.org/2001/XMLSchema"/>"#;
    /// let service = SoapService::builder().wsdl(wsdl).wsdl_document("types/common.xsd", schema).build()?;
    /// # Ok::<(), deltasoap_http::BuildError>(())
    /// ```
    #[must_use]
    pub fn wsdl_document(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.settings.documents.push((name.into(), text.into()));
        self
    }

    /// As [`wsdl`](Self::wsdl), from a file, together with the [documents](Self::wsdl_document)
    /// that the files import by relative paths. Locations outside the file's folder are not
    /// followed. The files, in UTF-8, are read once, by [`build`](Self::build).
    #[must_use]
    pub fn wsdl_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.settings.descriptions.push(Source::File(path.into()));
        self
    }

    /// Sets the page for browsers. Default: a page with a form that sends requests.
    #[must_use]
    pub fn landing_page(mut self, page: LandingPage) -> Self {
        self.settings.page = page;
        self
    }

    /// Sets how requests are handled whose action belongs to a different operation than their body.
    /// Default: they are refused.
    #[must_use]
    pub fn action_check(mut self, check: ActionCheck) -> Self {
        self.settings.action_check = check;
        self
    }

    /// Sets how the header blocks of WS-Addressing in requests are treated, in both versions.
    /// Default [`AddressingMode::Accept`].
    ///
    /// Replies to requests that have them say which request they answer. Invalid ones are answered
    /// with the faults that WS-Addressing defines. Handlers take the blocks as
    /// [`AddressingHeaders`](deltasoap_core::soap::addressing::AddressingHeaders). Replies that a
    /// handler writes itself get no header blocks. Ids are not remembered, so a request may come
    /// twice.
    #[must_use]
    pub fn addressing(mut self, mode: AddressingMode) -> Self {
        self.settings.addressing = mode;
        self
    }

    /// Sets the endpoints that replies are sent to if requests ask for it (`wsa:ReplyTo`,
    /// `wsa:FaultTo`): those at these URLs and below. The HTTP response is then empty, with status
    /// 202, and the reply is posted within 30 seconds, or the failure is logged. At most 64 replies
    /// are pending. Default: none, so that replies are only sent as HTTP responses, and other
    /// requests are refused.
    ///
    /// A request can make the service send a message to any of these URLs, so allow as few as
    /// possible. Redirects are not followed.
    ///
    /// ```
    /// # use deltasoap_http::SoapService;
    /// let service = SoapService::builder().reply_targets(["https://client.example/replies/"]).build()?;
    /// # Ok::<(), deltasoap_http::BuildError>(())
    /// ```
    #[cfg(feature = "client")]
    #[must_use]
    pub fn reply_targets(mut self, urls: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.settings.reply_targets.extend(urls.into_iter().map(Into::into));
        self
    }

    /// Sets the service's URL in the WSDL. Default: the URL at which the WSDL was requested, which
    /// is not the service's own behind a proxy or in a nested router.
    #[must_use]
    pub fn location(mut self, url: impl Into<String>) -> Self {
        self.settings.location = Some(url.into());
        self
    }

    /// Builds the service.
    ///
    /// # Errors
    /// When two operations take the same body element and have the same action, when there is more
    /// than one WSDL, or when a document of the WSDL is invalid or cannot be read.
    pub fn build(self) -> Result<SoapService, BuildError> {
        self.settings.build()
    }
}

impl Settings {
    /// Returns the source of the WSDL, if there is one.
    fn source(&mut self) -> Result<Option<Source>, BuildError> {
        let source = self.descriptions.pop();
        if self.descriptions.is_empty() { Ok(source) } else { Err(BuildError::SeveralWsdls) }
    }

    /// Adds the security that the service's policies require, and understands that of requests.
    fn meet_policies(&mut self) -> Result<(), BuildError> {
        let given = (self.protection.take(), self.verify.take());
        let security = std::mem::take(&mut self.policies).meet(Side::Server, given).map_err(BuildError::Policies)?;
        (self.protection, self.verify) = security;
        #[cfg(feature = "security")]
        if self.verify.is_some() {
            self.understood.insert(deltasoap_security::header_name());
        }
        Ok(())
    }

    fn build(mut self) -> Result<SoapService, BuildError> {
        self.meet_policies()?;
        if let Some(bytes) = self.message_limit {
            self.options.limits.message = bytes;
        }
        let given = self.source()?;
        let generated = || generate(&self.name, self.encoding, &self.operations).map(Source::generated);
        let source = given.map(|source| (source, self.documents)).or_else(generated);
        let description = source.map(|(source, beside)| Description::read(source, beside)).transpose()?;
        let (description, metadata) = description.unzip();
        let metadata = metadata.unwrap_or_default();
        let (mut operations, mut records) = (Table::default(), Vec::new());
        for (number, mut operation) in self.operations.into_iter().enumerate() {
            operation.register(&self.name, number);
            operation.learn(metadata.find(operation.name()));
            records.push(Arc::clone(operation.record()));
            operations.insert(operation).map_err(BuildError::DuplicateOperation)?;
        }
        if let Some(mut fallback) = self.fallback {
            fallback.register(&self.name, records.len());
            records.push(Arc::clone(fallback.record()));
            operations.set_fallback(fallback);
        }
        let checkpoints = self.options.differential.checkpoints;
        let can_travel = checkpoints == Checkpoints::Leaf;
        let cache = |can_travel| Arc::new(Cache::new(self.bounds, self.sharing, can_travel, records.len()));
        let templates = (!self.templating.is_off()).then(|| cache(true));
        let cache = (checkpoints != Checkpoints::Off).then(|| cache(can_travel));
        let plain = DecodeOptions { differential: Differential::OFF, ..self.options };
        let scheduler = match self.scheduling {
            Scheduling::Unordered => None,
            Scheduling::SmallFirst(options) => Some(Scheduler::new(options)),
        };
        let with_items = operations.first_with_items().map(|operation| operation.name().clone());
        let takes_items = with_items.is_some();
        if let (Some(name), true) = (with_items, !self.checks.is_empty() || self.verify.is_some()) {
            return Err(BuildError::InspectedItems(name));
        }
        if let Some(scheduler) = &scheduler {
            operations.weigh(scheduler.learns());
        }
        Ok(SoapService::new(Inner {
            takes_items,
            needs_action: operations.needs_action(),
            operations,
            empty_post: self.empty_post,
            understood: self.understood,
            roles: self.roles.into(),
            options: self.options,
            deviations: DeviationLog::default(),
            gate: self.gate,
            body_timeout: self.body_timeout,
            body_rate: self.body_rate,
            handler_timeout: self.handler_timeout,
            scheduler: scheduler.clone(),
            heavy: Heavy::new(self.heavy),
            decoders: Pool::new(self.options),
            plain_decoders: Pool::new(plain),
            cache: cache.clone(),
            templates: templates.clone(),
            // No templates are made that the service has no room for.
            templating: Templating { bytes: self.templating.bytes.min(self.bounds.total_bytes), ..self.templating },
            references: self.references,
            attachments: self.attachments,
            compression: self.compression,
            pages: Arc::default(),
            gzip_limits: self.gzip_limits,
            checks: self.checks,
            validating: self.validating,
            verify: self.verify,
            protection: self.protection,
            encoding: self.encoding,
            stats: Arc::new(ServiceStats::new(&self.name, cache, templates, records, scheduler)),
            name: self.name,
            description,
            documentation: metadata.documentation,
            location: self.location,
            page: self.page,
            action_check: self.action_check,
            addressing: AddressingSettings {
                mode: self.addressing,
                #[cfg(feature = "client")]
                outbox: Outbox::new(&self.reply_targets)?,
            },
            interceptors: self.interceptors.map(Arc::new),
        }))
    }
}

/// The reason that a service cannot be built.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// Two operations take this body element, and have the same action or none.
    DuplicateOperation(QName),
    /// This operation [takes items while they arrive](crate::Operation::with_items), but an
    /// [inspector](SoapServiceBuilder::inspect), a [validator](SoapServiceBuilder::validate) or
    /// security needs whole messages.
    InspectedItems(QName),
    /// An endpoint for [replies](SoapServiceBuilder::reply_targets) is not a URL of `http` or
    /// `https`.
    ReplyTarget(String),
    /// The service does not meet its [policies](SoapServiceBuilder::policies).
    Policies(UnmetPolicies),
    /// There is more than one WSDL.
    SeveralWsdls,
    /// The WSDL is not well-formed.
    Wsdl(Box<XmlError>),
    /// A document that the WSDL imports is not well-formed.
    Document {
        /// The document's name.
        name: String,
        /// The position and kind of the error.
        error: Box<XmlError>,
    },
    /// A document is neither a WSDL nor a schema.
    NoDocument {
        /// The document's name.
        name: String,
        /// The local name of its root element.
        root: String,
    },
    /// A WSDL or imported document cannot be read.
    File {
        /// The file.
        path: PathBuf,
        /// The kind of failure.
        kind: io::ErrorKind,
        /// The system's error message.
        reason: String,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::DuplicateOperation(name) => {
                write!(f, "two operations with the same action take the body element <{name}>")
            }
            BuildError::InspectedItems(name) => {
                write!(
                    f,
                    "<{name}> takes items as they arrive, but the service inspects, validates or verifies complete messages"
                )
            }
            BuildError::ReplyTarget(url) => {
                write!(f, "replies cannot be sent to {url:?}: it is not a URL of a web server")
            }
            BuildError::Policies(error) => error.fmt(f),
            BuildError::SeveralWsdls => f.write_str("the service has more than one WSDL"),
            BuildError::Wsdl(error) => write!(f, "the WSDL is not well-formed: {error}"),
            BuildError::Document { name, error } => write!(f, "`{name}` is not well-formed: {error}"),
            BuildError::NoDocument { name, root } => {
                write!(f, "`{name}` is neither a WSDL 1.1 document nor a schema: its root element is <{root}>")
            }
            BuildError::File { path, reason, .. } => write!(f, "{} cannot be read: {reason}", path.display()),
        }
    }
}

impl std::error::Error for BuildError {}
