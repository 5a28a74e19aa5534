//! The client and its settings.

#[cfg(feature = "cookies")]
use super::cookies::CookieJar;
use super::credentials::{Credentials, InvalidCredentials};
use super::intercept::{IncomingResponse, Interceptors, OutgoingRequest};
use super::memories::{BYTES, MEMORIES, Memories};
use super::network::HttpTransport;
use super::provided::{HeaderProvider, HeaderProviders};
use super::redirects::Redirects;
use super::retries::Retries;
use super::templates::{SharedTemplates, Writer};
use super::trace::Trace;
use super::understood::Understood;
use super::uplink::Uplink;
use crate::attachments::{AttachmentOptions, Mtom};
use crate::coding::{Compression, GzipLimits};
use crate::error::BoxError;
use crate::inspect::{Checks, Inspector};
use crate::secured::{Policies, Protect, Side, UnmetPolicies, Verify};
use crate::validation::{Validating, Validation, Validator};
use deltasoap_core::schema::Use;
use deltasoap_core::soap::addressing::{Addressing, EndpointReference};
use deltasoap_core::soap::{PolicyDocuments, Version};
use deltasoap_core::{
    DecodeOptions, Differential, DifferentialStats, EncodeStats, Limits, QName, Templating, Tolerance,
};
use http::Uri;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Calls the operations of one endpoint. Clones share their connections.
///
/// The transport is any [`tower::Service`] that takes HTTP requests and is cheap to clone:
/// [`HttpTransport`] by default, a stack of layers around it, or a
/// [`SoapService`](crate::SoapService) in the same process.
///
/// ```no_run
/// use deltasoap::Soap;
///
/// #[derive(Soap)]
/// #[soap(namespace = "urn:hello", message, response = Greeting)]
/// struct Greet {
///     name: String,
/// }
///
/// #[derive(Soap)]
/// #[soap(namespace = "urn:hello", message)]
/// struct Greeting {
///     text: String,
/// }
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let client = deltasoap_http::Client::new("http://localhost:8080/hello")?;
/// let greeting = client.call(&Greet { name: "Ada".to_owned() }).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Client<S = HttpTransport> {
    pub(super) transport: S,
    pub(super) settings: Arc<Settings>,
    pub(super) memories: Arc<Memories>,
    pub(super) writer: Arc<Writer>,
}

impl Client {
    /// Creates a client of the endpoint at an `http` URL or, with the feature `tls`, an `https`
    /// URL, with default settings.
    ///
    /// # Errors
    /// Returns an error if the URL is malformed or names no host.
    pub fn new(url: impl Into<String>) -> Result<Self, ClientBuildError> {
        Self::builder(url).build()
    }

    /// Starts to build a client of the endpoint at a URL.
    pub fn builder(url: impl Into<String>) -> ClientBuilder {
        ClientBuilder::new(url.into())
    }
}

impl<S> Client<S> {
    /// Creates a client that sends its requests through a service, with default settings.
    ///
    /// # Errors
    /// Returns an error if the URL is malformed or names no host.
    pub fn with_service(url: impl Into<String>, service: S) -> Result<Self, ClientBuildError> {
        ClientBuilder::new(url.into()).build_with(service)
    }

    /// Returns the options for reading answers, for decoders that the caller supplies
    /// ([`call_element`](Self::call_element)).
    pub fn decode_options(&self) -> DecodeOptions {
        self.settings.options
    }

    /// Returns statistics of differential decoding for leased responses, over all clones of the
    /// client. The memory is that of the entries that currently wait for the next responses.
    pub fn differential_stats(&self) -> DifferentialStats {
        self.memories.stats()
    }

    /// Returns the total number of [deviations](crate::Response::deviations) in answers, over all
    /// clones of the client.
    pub fn deviations(&self) -> u64 {
        self.memories.deviations()
    }

    /// Returns the number of requests and answers that [validation](ClientBuilder::validate) found
    /// invalid, accepted or not, over all clones of the client.
    pub fn invalid_messages(&self) -> u64 {
        self.memories.invalid_messages()
    }

    /// Returns statistics of differential serialization for the requests, over all clones of the
    /// client. Requests written without [templates](ClientBuilder::templating) count as sent for
    /// the first time.
    pub fn encode_stats(&self) -> EncodeStats {
        self.writer.stats()
    }

    /// Returns the number of response leaves whose values were taken from the corresponding
    /// requests ([`hints`](ClientBuilder::hints)), over all clones of the client.
    pub fn hinted_leaves(&self) -> u64 {
        self.writer.hinted_leaves()
    }
}

/// Settings that apply to all calls of a client.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) url: Uri,
    pub(super) version: Version,
    pub(super) encoding: Use,
    /// True if shared values are written once.
    pub(super) references: bool,
    pub(super) action: Cow<'static, str>,
    pub(super) timeout: Option<Duration>,
    pub(super) options: DecodeOptions,
    pub(super) attachments: AttachmentOptions,
    /// Selects the requests to compress.
    pub(super) compression: Compression,
    pub(super) uplink: Uplink,
    pub(super) accepts_gzip: bool,
    pub(super) gzip_limits: GzipLimits,
    /// Check each whole answer.
    pub(super) checks: Checks,
    /// Validates requests before they are sent.
    pub(super) validating: Option<Validating>,
    pub(super) interceptors: Interceptors,
    pub(super) providers: HeaderProviders,
    pub(super) credentials: Option<Credentials>,
    pub(super) retries: Retries,
    pub(super) redirects: Redirects,
    #[cfg(feature = "cookies")]
    pub(super) cookies: Option<CookieJar>,
    pub(super) trace: Option<Trace>,
    pub(super) understood: Understood,
    /// Secures requests.
    pub(super) protection: Option<Arc<dyn Protect>>,
    /// Checks the security of answers.
    pub(super) verify: Option<Arc<dyn Verify>>,
    /// The version of WS-Addressing; `None` without it.
    pub(super) addressing: Option<Addressing>,
    /// The endpoint that requests are for; `None` for the URL.
    pub(super) endpoint: Option<EndpointReference>,
}

impl Settings {
    /// Sets the URL.
    ///
    /// # Errors
    /// Returns an error if the URL is malformed or names no host.
    pub(super) fn set_url(&mut self, url: String) -> Result<(), InvalidUrl> {
        self.url = match url.parse::<Uri>() {
            Ok(url) if url.scheme().is_some() && url.host().is_some_and(|host| !host.is_empty()) => url,
            _ => return Err(InvalidUrl::new(url)),
        };
        Ok(())
    }
}

/// A client under construction; see [`Client::builder`].
#[derive(Debug)]
pub struct ClientBuilder {
    /// Without user name and password.
    url: String,
    /// Those in the URL.
    own_credentials: Option<Result<Credentials, InvalidCredentials>>,
    settings: Settings,
    /// Replaces that of the settings.
    mtom: Option<Mtom>,
    #[cfg(feature = "cookies")]
    keeps_cookies: bool,
    memories: usize,
    memory_bytes: usize,
    templating: Templating,
    hints: bool,
    templates: SharedTemplates,
    policies: Policies,
}

impl ClientBuilder {
    fn new(url: String) -> Self {
        let settings = Settings {
            url: Uri::default(),
            version: Version::Soap11,
            encoding: Use::Literal,
            references: true,
            action: Cow::Borrowed(""),
            timeout: Some(Duration::from_secs(60)),
            options: DecodeOptions { tolerance: Tolerance::Unknown, ..DecodeOptions::default() },
            attachments: AttachmentOptions::client(),
            compression: Compression::OFF,
            uplink: Uplink::default(),
            accepts_gzip: cfg!(feature = "gzip"),
            gzip_limits: GzipLimits::default(),
            checks: Checks::default(),
            validating: None,
            interceptors: Interceptors::default(),
            providers: HeaderProviders::default(),
            credentials: None,
            retries: Retries::default(),
            redirects: Redirects::OFF,
            #[cfg(feature = "cookies")]
            cookies: None,
            trace: None,
            understood: Understood::default(),
            addressing: None,
            endpoint: None,
            protection: None,
            verify: None,
        };
        let (url, own_credentials) = Credentials::take_from(url);
        ClientBuilder {
            url,
            own_credentials,
            settings,
            mtom: None,
            #[cfg(feature = "cookies")]
            keeps_cookies: false,
            memories: MEMORIES,
            memory_bytes: BYTES,
            templating: Templating::default(),
            hints: true,
            templates: SharedTemplates::default(),
            policies: Policies::default(),
        }
    }

    /// Sets the SOAP version of requests; answers are read in both. Default 1.1.
    #[must_use]
    pub fn version(mut self, version: Version) -> Self {
        self.settings.version = version;
        self
    }

    /// Sets the layout of requests; answers are read in both layouts. Default: literal.
    #[must_use]
    pub fn encoding(mut self, encoding: Use) -> Self {
        self.settings.encoding = encoding;
        self
    }

    /// Sets whether values that occur in several places of a request
    /// ([`Shared`](deltasoap_core::Shared)) are written once in SOAP encoding, and then referred to
    /// (`href` in SOAP 1.1, `ref` in 1.2). Otherwise they are copied, for servers that do not
    /// support references, and a request that contains itself is an error. References are only used
    /// for values of such a type. Default: true.
    #[must_use]
    pub fn references(mut self, are_written: bool) -> Self {
        self.settings.references = are_written;
        self
    }

    /// Sets whether requests carry the header blocks of WS-Addressing, and in which version: `To`,
    /// `Action`, `MessageID` (a random `urn:uuid:`), and `ReplyTo` for the HTTP response. Default:
    /// `None`. Clients that are made from a WSDL use WS-Addressing if the WSDL requires it.
    ///
    /// Each call needs an action: its own, or [that of the client](Self::action). A response that
    /// relates to another message than the request is an error; one that relates to none is
    /// accepted. [`CallOptions`](crate::CallOptions::to_endpoint) sets other endpoints and ids.
    ///
    /// ```
    /// # use deltasoap::{Client, Soap, SoapService};
    /// use deltasoap::soap::addressing::{Addressing, AddressingHeaders};
    /// # #[derive(Soap)]
    /// # #[soap(namespace = "urn:hello", message, response = Greet)]
    /// # struct Greet {}
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let service = SoapService::builder()
    ///     .operation(async |headers: AddressingHeaders, greet: Greet| {
    ///         assert_eq!(headers.action, "urn:hello#greet");
    ///         greet
    ///     })
    ///     .build()?;
    /// let client = Client::builder("http://localhost/").addressing(Addressing::V10).action("urn:hello#greet");
    /// client.build_with(service)?.call(&Greet {}).await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn addressing(mut self, version: impl Into<Option<Addressing>>) -> Self {
        self.settings.addressing = version.into();
        self
    }

    /// Sets the action of calls that set none (`soapAction` in WSDL 1.1). Default: empty.
    #[must_use]
    pub fn action(mut self, action: impl Into<Cow<'static, str>>) -> Self {
        self.settings.action = action.into();
        self
    }

    /// Sets the maximum time of a call from first to last byte; `None` for no limit. Default 60 s.
    #[must_use]
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.settings.timeout = timeout.into();
        self
    }

    /// Sets the bounds on answers. Default: that of [`Limits`].
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.settings.options.limits = limits;
        self
    }

    /// Sets how [leased](Client::call_leased) answers are compared with earlier ones. Default: by
    /// leaf checkpoints.
    #[must_use]
    pub fn differential(mut self, differential: Differential) -> Self {
        self.settings.options.differential = differential;
        self
    }

    /// Sets what is accepted in answers beyond their schema; default [`Tolerance::Unknown`], since
    /// services add elements to their responses.
    /// [`Response::deviations`](crate::Response::deviations) lists the accepted deviations.
    #[must_use]
    pub fn tolerance(mut self, tolerance: Tolerance) -> Self {
        self.settings.options.tolerance = tolerance;
        self
    }

    /// Inspects each whole answer, after it was read and before the caller gets it: the envelope as
    /// it was received, without content coding and package. An error rejects the answer:
    /// [`CallError::Refused`](crate::CallError::Refused). The bytes of an answer are kept until it
    /// ends; the parts of a package are not included. [`validate`](Self::validate) checks answers
    /// against a schema.
    #[must_use]
    pub fn inspect(mut self, inspect: impl Fn(&[u8]) -> Result<(), BoxError> + Send + Sync + 'static) -> Self {
        self.settings.checks.inspector = Some(Inspector::new(inspect));
        self
    }

    /// Validates each whole answer, beyond what decoding checks: see [`Validation`]. Default: off.
    /// In `deltasoap-dynamic`, a `Contract` is the validator of its WSDL.
    ///
    /// With [`Validation::Report`], [`Response::findings`](crate::Response::findings) lists what is
    /// invalid. With [`Validation::Refuse`], the call returns
    /// [`CallError::InvalidResponse`](crate::CallError::InvalidResponse), unless the answer is a
    /// fault. Both count in [`Client::invalid_messages`].
    ///
    /// The bytes of an answer are kept until it ends, and the validator may build a tree of it,
    /// within [`Limits::tree_nodes`](deltasoap_core::Limits::tree_nodes). The parts of a package
    /// are not validated, since they may still be arriving.
    #[must_use]
    pub fn validate(mut self, validator: impl Validator + 'static, validation: Validation) -> Self {
        self.settings.checks.validating = Validating::new(validator, validation);
        self
    }

    /// Validates each request before it is sent, with its parts if all of them are in memory.
    /// Default: off.
    ///
    /// With [`Validation::Refuse`], an invalid request is not sent, and the call returns
    /// [`CallError::InvalidRequest`](crate::CallError::InvalidRequest). With
    /// [`Validation::Report`], it is sent, counted and logged. Requests that are written while they
    /// are sent, as by [`Client::call_overlaid`], are not validated.
    #[must_use]
    pub fn validate_sent(mut self, validator: impl Validator + 'static, validation: Validation) -> Self {
        self.settings.validating = Validating::new(validator, validation);
        self
    }

    /// Adds a provider of header blocks, which is asked once for each call, before the
    /// interceptors: for tokens that expire, for example. Providers are asked in the order in which
    /// they are added, and within the time of the call. The request's template is not affected:
    /// header blocks are inserted into the message.
    ///
    /// ```
    /// # use deltasoap::client::OutgoingCall;
    /// # use deltasoap::soap::Header;
    /// # use deltasoap::{Client, Soap, SoapService};
    /// # use std::error::Error;
    /// #[derive(Soap)]
    /// #[soap(namespace = "urn:session", message)]
    /// struct Session {
    ///     token: String,
    /// }
    ///
    /// # #[derive(Soap)]
    /// # #[soap(namespace = "urn:hello", message, response = Greet)]
    /// # struct Greet {}
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn Error>> {
    /// # let service = SoapService::builder()
    /// #     .operation(async |session: Header<Session>, greet: Greet| {
    /// #         assert_eq!(session.token, "fresh");
    /// #         greet
    /// #     })
    /// #     .build()?;
    /// let client = Client::builder("http://localhost/")
    ///     .provide_headers(|_: &OutgoingCall<'_>| async {
    ///         Ok::<_, Box<dyn Error + Send + Sync>>(Header(Session { token: "fresh".to_owned() }))
    ///     })
    ///     .build_with(service)?;
    /// client.call(&Greet {}).await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn provide_headers(mut self, provider: impl HeaderProvider + 'static) -> Self {
        self.settings.providers.0.push(Arc::new(provider));
        self
    }

    /// Secures each request: with a user name, a timestamp, a signature, encryption. Default: no
    /// security.
    ///
    /// Requests with [lists of any length](Client::call_overlaid) and by MTOM cannot be secured.
    #[cfg(feature = "security")]
    #[must_use]
    pub fn protection(mut self, protection: deltasoap_security::Protection) -> Self {
        self.settings.protection = Some(Arc::new(protection));
        self
    }

    /// Sets the security that answers must have, and what decrypts them; others are refused:
    /// [`CallError::Insecure`](crate::CallError::Insecure). This includes faults. The sender is
    /// among the [extensions](crate::Response::extensions) of an answer, as
    /// [`Verified`](deltasoap_security::Verified). Default: none; then security that an answer has
    /// is not checked.
    #[cfg(feature = "security")]
    #[must_use]
    pub fn requirements(mut self, requirements: impl Into<Arc<deltasoap_security::Requirements>>) -> Self {
        self.settings.verify = Some(Arc::new(requirements.into()));
        self
    }

    /// Sets what the service's policies say about security. Building fails if the client does not
    /// meet them, with the reasons. Clients that are made from a WSDL have its policies.
    ///
    /// A client meets them by `policy_credentials` or, if it has none, by whatever `protection` and
    /// `requirements` are set: then the policies are taken to be met. With both, what is set
    /// replaces what the policies lead to. All three need the feature `security`. Policies that
    /// require TLS alone are met by a URL with `https`. Default: none.
    #[must_use]
    pub fn policies(mut self, policies: PolicyDocuments) -> Self {
        self.policies.documents = policies;
        self
    }

    /// Sets what the client meets the service's [policies](Self::policies) with. That the URL has
    /// `https` is added. Default: nothing.
    #[cfg(feature = "security")]
    #[must_use]
    pub fn policy_credentials(mut self, credentials: deltasoap_security::PolicyCredentials) -> Self {
        self.policies.credentials = Some(credentials);
        self
    }

    /// Adds an interceptor, which sees each request before it is written, and may add header blocks
    /// and HTTP headers: to authenticate, for example, or to correlate requests. An error prevents
    /// the call: [`CallError::RefusedRequest`](crate::CallError::RefusedRequest). Interceptors run
    /// in the order in which they are added.
    ///
    /// ```
    /// # use deltasoap::{Client, Context, Soap, SoapService};
    /// # use deltasoap::soap::HeaderBlock;
    /// # #[derive(Soap)]
    /// # #[soap(namespace = "urn:hello", message, response = Greet)]
    /// # struct Greet {}
    /// #[derive(Soap)]
    /// #[soap(namespace = "urn:hello", message)]
    /// struct Session {
    ///     id: u32,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let greet = |context: Context, _: Greet| match context.header::<Session>() {
    /// #     Some(Ok(Session { id: 7 })) => Greet {},
    /// #     _ => panic!("no session"),
    /// # };
    /// # let service = SoapService::builder().operation(greet).build()?;
    /// let client = Client::builder("http://localhost/")
    ///     .intercept(|request| {
    ///         request.headers().push(HeaderBlock::from_message(&Session { id: 7 })?);
    ///         Ok(())
    ///     })
    ///     .build_with(service)?;
    /// # client.call(&Greet {}).await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn intercept(
        mut self,
        intercept: impl Fn(&mut OutgoingRequest<'_>) -> Result<(), BoxError> + Send + Sync + 'static,
    ) -> Self {
        self.settings.interceptors.requests.push(Arc::new(intercept));
        self
    }

    /// Adds an interceptor, which sees each decoded response before the caller gets it. An error
    /// rejects the response: [`CallError::Refused`](crate::CallError::Refused). The last one that
    /// was added runs first. Faults are not shown, nor the responses of calls whose
    /// [caller](Client::call_element) or whose [items](Client::call_items) are read separately.
    #[must_use]
    pub fn intercept_response(
        mut self,
        intercept: impl Fn(&IncomingResponse<'_>) -> Result<(), BoxError> + Send + Sync + 'static,
    ) -> Self {
        self.settings.interceptors.responses.push(Arc::new(intercept));
        self
    }

    /// Sets how messages with parts are read and written; default [`AttachmentOptions::client`]. A
    /// call sends parts with [`CallOptions::part`](crate::CallOptions::part), and receives them in
    /// [`Response::attachments`](crate::Response).
    #[must_use]
    pub fn attachments(mut self, options: AttachmentOptions) -> Self {
        self.settings.attachments = options;
        self
    }

    /// Sets when binary values are sent as separate parts, for calls that do not set it. Default:
    /// never, or as in the [options](Self::attachments) of messages with parts.
    #[must_use]
    pub fn mtom(mut self, mtom: Mtom) -> Self {
        self.mtom = Some(mtom);
        self
    }

    /// Sets which requests are compressed. Default: none, since a client cannot know whether the
    /// server reads gzip. With [`Compression::ADAPTIVE`], the client waits until the server
    /// announces that it does, and sends a request again uncompressed if it is refused. Compressed
    /// requests beyond 16 KiB are sent without a `Content-Length`. The length of a compressed
    /// request reveals information about its content, like that of a
    /// [response](crate::SoapServiceBuilder::compression).
    #[must_use]
    pub fn compression(mut self, compression: Compression) -> Self {
        self.settings.compression = compression;
        self
    }

    /// Sets whether responses may be compressed: in gzip, and with the feature `zstd` in zstd. If
    /// not, the client does not request it, and a compressed response is an error. Default: true.
    #[must_use]
    pub fn accept_gzip(mut self, is_accepted: bool) -> Self {
        self.settings.accepts_gzip = is_accepted && cfg!(feature = "gzip");
        self
    }

    /// Sets limits on compressed responses.
    #[must_use]
    pub fn gzip_limits(mut self, limits: GzipLimits) -> Self {
        self.settings.gzip_limits = limits;
        self
    }

    /// Sets the credentials of the client. They are sent only to the origin of the client's URL,
    /// wherever redirects lead. A call with its own `Authorization`
    /// [header](crate::CallOptions::http_header) uses that instead. Default: user name and password
    /// in the URL, as in `https://ada:secret@example.org/soap`, for Basic authentication; they are
    /// removed from the URL. Otherwise none.
    ///
    /// ```
    /// # use deltasoap_http::{Client, Credentials};
    /// # fn client() -> Result<Client, Box<dyn std::error::Error>> {
    /// let credentials = Credentials::digest("ada", "analytical engine")?;
    /// let client = Client::builder("https://example.org/soap").credentials(credentials).build()?;
    /// # Ok(client)
    /// # }
    /// ```
    #[must_use]
    pub fn credentials(mut self, credentials: Credentials) -> Self {
        self.settings.credentials = Some(credentials);
        self
    }

    /// Sets when a failed request is sent again. Default: if nothing of it was sent, up to two
    /// times; see [`Retries`].
    #[must_use]
    pub fn retries(mut self, retries: Retries) -> Self {
        self.settings.retries = retries;
        self
    }

    /// Sets which redirects are followed. Default: none.
    #[must_use]
    pub fn redirects(mut self, redirects: Redirects) -> Self {
        self.settings.redirects = redirects;
        self
    }

    /// Sets whether cookies are kept and sent back, as required by some servers with sessions (RFC
    /// 6265). The client and all its clones keep them in memory, only for the origin of the
    /// client's URL. At most 64 are kept, of 4 KiB each. If the program gives a
    /// [jar](Self::cookie_jar), that is used in any case. Default: false.
    #[cfg(feature = "cookies")]
    #[must_use]
    pub fn cookies(mut self, are_kept: bool) -> Self {
        self.keeps_cookies = are_kept;
        self
    }

    /// Keeps [`cookies`](Self::cookies) in a jar of the program: to keep them from run to run, or
    /// for several clients.
    #[cfg(feature = "cookies")]
    #[must_use]
    pub fn cookie_jar(mut self, jar: CookieJar) -> Self {
        self.settings.cookies = Some(jar);
        self
    }

    /// Records the exchanges of all calls; see [`Trace`]. Default: none.
    #[must_use]
    pub fn trace(mut self, trace: &Trace) -> Self {
        self.settings.trace = Some(trace.clone());
        self
    }

    /// Declares that header blocks of this name are understood in all responses.
    ///
    /// A response with a mandatory block (`mustUnderstand`) that is addressed to the client is an
    /// error ([`CallError::NotUnderstood`](crate::CallError::NotUnderstood)) if neither the client
    /// nor the [call](crate::CallOptions::understands) understands it. Default: none.
    #[must_use]
    pub fn understands(mut self, header: QName) -> Self {
        self.settings.understood.names.push(header);
        self
    }

    /// Sets the number of earlier responses that are kept to compare the next with, over all
    /// operations. Responses that the caller holds on lease are not counted. Default 16.
    #[must_use]
    pub fn memories(mut self, memories: usize) -> Self {
        self.memories = memories;
        self
    }

    /// Sets the number of bytes that these may use: received buffers by their capacity and the
    /// notes about them, without the values themselves. Default 64 MiB.
    #[must_use]
    pub fn memory_bytes(mut self, bytes: usize) -> Self {
        self.memory_bytes = bytes;
        self
    }

    /// Sets how requests that resemble an earlier one are written: only where they differ. Default:
    /// that of [`Templating`]. With [`Templating::OFF`], each is written in full, and nothing is
    /// kept. Requests of a type that have recently all been small, below 2 KiB, are always written
    /// in full: keeping them costs more than it saves.
    #[must_use]
    pub fn templating(mut self, templating: Templating) -> Self {
        self.templating = templating;
        self
    }

    /// Sets whether numbers of a response are looked up in its request. If many are the same, those
    /// need not be parsed. This is done for lists of `float` and `double`, in requests with a
    /// template, and as long as such responses do repeat what was sent. Default: true.
    #[must_use]
    pub fn hints(mut self, hints: bool) -> Self {
        self.hints = hints;
        self
    }

    /// Sets the store of earlier requests, and its bounds. Default: the client's own store, with
    /// the bounds of [`SharedTemplates::default`].
    #[must_use]
    pub fn templates(mut self, templates: SharedTemplates) -> Self {
        self.templates = templates;
        self
    }

    /// Builds a client over HTTP with its own connection pool.
    ///
    /// # Errors
    /// Returns an error if the URL is malformed or names no host, or if the client does not meet
    /// the service's [policies](Self::policies).
    pub fn build(self) -> Result<Client, ClientBuildError> {
        self.build_with(HttpTransport::new())
    }

    /// Builds a client that sends its requests through a service.
    ///
    /// # Errors
    /// As for [`build`](Self::build).
    pub fn build_with<S>(mut self, transport: S) -> Result<Client<S>, ClientBuildError> {
        self.settings.set_url(self.url.clone())?;
        if let (Some(own), None) = (self.own_credentials.take(), &self.settings.credentials) {
            let own = own.map_err(|_| InvalidUrl { url: self.url.clone(), is_user_invalid: true })?;
            self.settings.credentials = Some(own);
        }
        self.meet_policies().map_err(ClientBuildError::Policies)?;
        if let Some(mtom) = self.mtom {
            self.settings.attachments.mtom = mtom;
        }
        #[cfg(feature = "cookies")]
        if self.keeps_cookies {
            self.settings.cookies.get_or_insert_default();
        }
        let memories = Memories::new(self.settings.options, self.memories, self.memory_bytes);
        let writer = Writer::new(self.templating, self.hints, self.templates);
        Ok(Client { transport, settings: Arc::new(self.settings), memories, writer })
    }

    /// Adds the security that the service's policies require, and understands that of responses.
    fn meet_policies(&mut self) -> Result<(), UnmetPolicies> {
        let is_tls = self.settings.url.scheme_str() == Some("https");
        let side = Side::Client { is_tls, has_http_authentication: self.settings.credentials.is_some() };
        let given = (self.settings.protection.take(), self.settings.verify.take());
        let security = std::mem::take(&mut self.policies).meet(side, given)?;
        (self.settings.protection, self.settings.verify) = security;
        #[cfg(feature = "security")]
        if self.settings.verify.is_some() {
            self.settings.understood.names.push(deltasoap_security::header_name());
        }
        Ok(())
    }
}

/// The error for a client that cannot be built.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientBuildError {
    /// The URL cannot be used.
    Url(InvalidUrl),
    /// The client does not meet the [policies](ClientBuilder::policies) of the service.
    Policies(UnmetPolicies),
}

impl From<InvalidUrl> for ClientBuildError {
    fn from(error: InvalidUrl) -> Self {
        ClientBuildError::Url(error)
    }
}

impl fmt::Display for ClientBuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientBuildError::Url(error) => error.fmt(f),
            ClientBuildError::Policies(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ClientBuildError {}

/// The error for an endpoint URL that is malformed, relative, or names no host, or has a user name
/// or password that cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidUrl {
    /// Without user name and password.
    url: String,
    is_user_invalid: bool,
}

impl InvalidUrl {
    pub(super) fn new(url: String) -> Self {
        InvalidUrl { url, is_user_invalid: false }
    }
}

impl fmt::Display for InvalidUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_user_invalid {
            true => write!(
                f,
                "the user name or the password in this URL has a character that cannot be sent: {:?}",
                self.url
            ),
            false => write!(f, "not an absolute URL with a host: {:?}", self.url),
        }
    }
}

impl std::error::Error for InvalidUrl {}
