//! A SOAP toolkit that processes only the differences between a message and the one before it.
//!
//! A client:
//!
//! ```no_run
//! use deltasoap::Soap;
//! # #[cfg(feature = "client")]
//! use deltasoap::Client;
//!
//! #[derive(Soap)]
//! #[soap(namespace = "urn:hello", message, response = Greeting)]
//! struct Greet {
//!     name: String,
//! }
//!
//! #[derive(Soap)]
//! #[soap(namespace = "urn:hello", message)]
//! struct Greeting {
//!     text: String,
//! }
//!
//! # #[cfg(feature = "client")]
//! # async fn call() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::new("http://127.0.0.1:8080")?;
//! let greeting = client.call(&Greet { name: "Ada".to_owned() }).await?;
//! println!("{}", greeting.text);
//! # Ok(())
//! # }
//! ```
//!
//! Its server:
//!
//! ```no_run
//! # #[cfg(feature = "server")]
//! use deltasoap::{Lease, Server, Soap, SoapService};
//! # #[derive(Soap)]
//! # #[soap(namespace = "urn:hello", message)]
//! # struct Greet { name: String }
//! # #[derive(Soap)]
//! # #[soap(namespace = "urn:hello", message)]
//! # struct Greeting { text: String }
//!
//! # #[cfg(feature = "server")]
//! # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
//! let service = SoapService::builder()
//!     .operation(async |greet: Lease<Greet>| Greeting { text: format!("Hello {}", greet.name) })
//!     .build()?;
//! Server::bind("127.0.0.1:8080").await?.serve(service).await?;
//! # Ok(())
//! # }
//! ```
//!
//! The [guide](https://github.com/deltasoap/deltasoap/blob/main/docs/guide/src/SUMMARY.md) goes on
//! from here. This crate is the facade: it re-exports the engine (`deltasoap-core`), the derive
//! macro and, by features, the client and server.
//!
//! | task | start at |
//! |---|---|
//! | call operations | `Client` |
//! | serve operations | `SoapService`, `Server` |
//! | give a Rust type its schema | [`Soap`] |
//! | generate Rust code for a WSDL | `deltasoap-codegen`, or `wsdl!` (feature `wsdl-macro`) |
//! | call or mock a service by its WSDL alone | `dynamic`, with the feature of that name |
//! | read or write a message without HTTP | [`soap::decode_request`], [`soap::Envelope`] |
//! | feed a message in chunks | [`engine::decode::Decoder`] with a [`soap::EnvelopeReader`] |
//! | use a schema known at run time | [`types::Value`] (feature `values`), [`schema::Schema`] |
//! | inspect a message without a schema | [`types::Node`] |
//!
//! Unneeded features can be left out with `default-features = false`:
//!
//! | feature | on by default | what it adds |
//! |---|---|---|
//! | `client`, `server` | yes | clients and servers over HTTP |
//! | `tls` or `tls-aws-lc` | `tls` | TLS for both, by rustls with ring or with aws-lc |
//! | `gzip` | yes | compressed bodies |
//! | `zstd` | no | compressed bodies also in zstd, which needs a C compiler |
//! | `digest` | yes | HTTP Digest authentication, for clients and servers |
//! | `spill` | yes | large parts of packages in temporary files instead of memory |
//! | `page` | yes | service pages for browsers |
//! | `blocking` | no | a client for programs without async |
//! | `cookies` | no | cookies, for clients |
//! | `prometheus` | no | metrics in Prometheus's text format, for servers |
//! | `http2` | no | HTTP/2 for clients and servers |
//! | `opentelemetry` | no | spans of clients and servers in distributed traces |
//! | `values` | by `server` | [`types::Value`]: values whose types are known at run time |
//! | `serde` | no | serde for the types of values, and for generated code that asks for it |
//! | `dynamic` | no | services by their WSDL alone |
//! | `wsdl-macro` | no | the macro `wsdl!`, which generates code for a WSDL |
//!
//! Messages without HTTP:
//!
//! ```
//! use deltasoap::Soap;
//! use deltasoap::soap::{Envelope, decode_request};
//!
//! #[derive(Debug, PartialEq, Soap)]
//! #[soap(element = "sendDoubles", namespace = "urn:bench")]
//! struct SendDoubles {
//!     item: Vec<f64>,
//! }
//!
//! let request = SendDoubles { item: vec![1.0, 0.1, f64::INFINITY] };
//! let message = Envelope::new(&request).to_vec()?;
//! assert!(message.ends_with(
//!     b"<item>1</item><item>0.1</item><item>INF</item></ns:sendDoubles></soap:Body></soap:Envelope>"
//! ));
//! let (_, received) = decode_request::<SendDoubles>(message.as_slice())?;
//! assert_eq!(received, request);
//! # Ok::<(), deltasoap::Error>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub use deltasoap_core::soap::Fault;
pub use deltasoap_core::{Binary, Error, Lease, Message, Nillable, RequestMessage, SoapArray};
/// Derives the conversions of an enum of faults from and to [`Fault`], `Display`, `Error`, and
/// [`IntoFault`](soap::IntoFault): a WSDL made from a service's types declares the faults of
/// handlers that return the enum as an error.
///
/// Each variant holds a [`TypedFault`](soap::TypedFault), with a detail of its own element. The
/// last one holds any other [`Fault`].
///
/// ```
/// use deltasoap::soap::TypedFault;
/// use deltasoap::{Fault, Faults, Soap};
///
/// #[derive(Debug, Clone, PartialEq, Soap)]
/// #[soap(message, namespace = "urn:shop")]
/// struct SoldOut {
///     sku: String,
/// }
///
/// #[derive(Debug, PartialEq, Faults)]
/// enum OrderFault {
///     SoldOut(TypedFault<SoldOut>),
///     Other(Fault),
/// }
///
/// let sold_out = TypedFault::sender("no more", SoldOut { sku: "A1".to_owned() });
/// let fault: Fault = OrderFault::SoldOut(sold_out.clone()).into();
/// assert_eq!(OrderFault::from(fault), OrderFault::SoldOut(sold_out));
/// assert!(matches!(OrderFault::from(Fault::sender("why not")), OrderFault::Other(_)));
/// ```
#[cfg(feature = "http")]
pub use deltasoap_derive::Faults;
pub use deltasoap_derive::Soap;
#[cfg(feature = "client")]
pub use deltasoap_http::Client;
#[cfg(feature = "server")]
pub use deltasoap_http::{Context, Server, SoapService};
#[cfg(feature = "wsdl-macro")]
pub use deltasoap_macro::wsdl;

/// Messages without HTTP: decoding, encoding, checkpoints, templates and their settings.
pub use deltasoap_core as engine;
#[doc(inline)]
pub use deltasoap_core::{lexical, schema};
#[cfg(feature = "dynamic")]
pub use deltasoap_dynamic as dynamic;
#[cfg(feature = "server")]
#[doc(hidden)]
pub use deltasoap_http::generated_service;

/// Clients: their settings, the options and results of calls, transports.
#[cfg(feature = "client")]
pub mod client {
    #[cfg(feature = "blocking")]
    pub use deltasoap_http::blocking;
    pub use deltasoap_http::{
        CallError, CallOptions, Caller, Client, ClientBuildError, ClientBuilder, Credentials, Deadline, Exchange,
        Failure, HeaderProvider, HttpTransport, HttpTransportBuilder, IncomingResponse, IntoHeaderBlocks,
        InvalidCredentials, InvalidProxy, InvalidUrl, Leased, MessageError, OutgoingCall, OutgoingRequest, Proxy,
        RedirectError, Redirects, Response, Retries, SharedTemplates, StatusError, TimeoutError, Trace, TracedBody,
        TracedRequest, TracedResponse, UnmetPolicies, Whole,
    };
    #[cfg(feature = "cookies")]
    pub use deltasoap_http::{CookieJar, InvalidCookies};
}

/// Servers: services and their operations, handlers and their arguments, settings, monitoring.
#[cfg(feature = "server")]
pub mod server {
    #[cfg(feature = "digest")]
    pub use deltasoap_http::DigestUsers;
    #[cfg(feature = "page")]
    pub use deltasoap_http::ServiceIndex;
    pub use deltasoap_http::{
        ActionCheck, AddressingMode, Authenticate, Basic, BuildError, ByCertificate, Connection, Context, Denial,
        Extension, Extract, FromContext, FromRef, FromRequest, Handler, HandlerResult, Header, HeavyWork,
        InterceptedRequest, InterceptedResponse, IntoReply, LandingPage, LoadMemoriesError, LoadedMemories,
        MemoryBounds, MessageReply, Monitor, Monitored, Operation, OverlaidReply, PeerCertificates, Principal, Reply,
        ResponseFuture, Scheduling, Server, ServerHandle, ServiceStats, Sharing, SmallFirst, SoapService,
        SoapServiceBuilder, State, StatsSnapshot, UnmetPolicies, Weigh, join_trace, shutdown_signal,
    };
}

/// Messages with other parts: SOAP with Attachments, MTOM, DIME.
#[cfg(feature = "http")]
pub mod attachments {
    pub use deltasoap_http::{
        Attachment, AttachmentError, AttachmentErrorKind, AttachmentLimits, AttachmentOptions, Attachments, Mtom, Part,
        PartHeaders,
    };
}

/// Lists that need not be in memory as a whole: received while their message arrives, or sent while
/// the program computes them.
pub mod stream {
    pub use deltasoap_core::{Feed, Overlay, Streamed, StreamedArray};
    #[cfg(all(feature = "http", feature = "values"))]
    pub use deltasoap_http::DescribedList;
    #[cfg(feature = "http")]
    pub use deltasoap_http::Items;
}

/// The layers below clients and servers: bodies, compression, sockets, memory, frames.
#[cfg(feature = "http")]
pub mod transport {
    #[cfg(feature = "server")]
    pub use deltasoap_http::InMemory;
    pub use deltasoap_http::transport::*;
    pub use deltasoap_http::{
        Body, BoxError, CharsetError, CodingError, Compression, ContentCoding, GzipLimits, Peer, is_secret_header,
        self_described,
    };
}

/// TLS for clients and servers.
#[cfg(any(feature = "tls", feature = "tls-aws-lc"))]
pub mod tls {
    pub use deltasoap_http::{ClientTls, Identity, Roots, Rotation, ServerTls, TlsError};
}

/// WS-Security: what secures messages, and what is required of received ones.
///
/// ```
/// use deltasoap::security::{Protection, Requirements, UsernameToken};
/// use deltasoap::server::Extension;
/// use deltasoap::security::Verified;
/// use deltasoap::{Client, Soap, SoapService};
///
/// #[derive(Soap)]
/// #[soap(namespace = "urn:camera", message, response = Status)]
/// struct GetStatus {}
///
/// #[derive(Soap)]
/// #[soap(namespace = "urn:camera", message)]
/// struct Status {
///     user: String,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let service = SoapService::builder()
///     .requirements(Requirements::new().users(|user: &str| (user == "ada").then_some("secret")))
///     .operation(async |Extension(verified): Extension<Verified>, _: GetStatus| Status {
///         user: verified.sender.name().unwrap_or_default().to_owned(),
///     })
///     .build()?;
///
/// let client = Client::builder("http://localhost/")
///     .protection(Protection::new().user(UsernameToken::digest("ada", "secret")))
///     .build_with(service)?;
/// assert_eq!(client.call(&GetStatus {}).await?.user, "ada");
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "security")]
pub mod security {
    pub use deltasoap_security::*;
}

/// The check of messages against their schema, beyond what decoding checks.
#[cfg(feature = "http")]
pub mod validation {
    pub use deltasoap_http::{Finding, Invalid, PartLookup, Validation, Validator};
}

/// Envelopes, header blocks and faults.
pub mod soap {
    pub use deltasoap_core::soap::*;
    #[cfg(feature = "http")]
    #[doc(hidden)]
    pub use deltasoap_http::FaultVariant;
    #[cfg(feature = "http")]
    pub use deltasoap_http::{Header, IntoFault, TypedFault};
}

/// Types of values in messages.
pub mod types {
    pub use deltasoap_core::{
        AnySimple, AttributeValue, Binary, Child, CompactString, Empty, Held, MultiArray, Nillable, Node, NonCanonical,
        Packed, PartUri, Shared, Simple, SoapArray, Span, Tracked, TrackedArray, TrackedVec,
    };
    #[cfg(feature = "values")]
    pub use deltasoap_core::{
        Batch, Column, FromList, ListPath, ListPathError, Record, Table, TypedValue, UnevenColumns, Value,
    };
    #[cfg(feature = "serde")]
    pub use deltasoap_core::{present, present_number};
}

/// The examples of the README, compiled.
#[cfg(all(doctest, feature = "client", feature = "server", feature = "tls"))]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The examples of the page on packed numbers, compiled.
#[cfg(all(doctest, feature = "client", feature = "dynamic", feature = "server"))]
#[doc = include_str!("../../../docs/packed.md")]
struct PackedNumbers;
