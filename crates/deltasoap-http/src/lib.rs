//! SOAP over HTTP: servers and clients as tower services on hyper.
//!
//! A [`SoapService`] answers HTTP requests with the operations it was built from. A [`Client`]
//! calls remote operations. Both are plain [`tower::Service`]s: the service can be mounted in
//! any router, the client sends through any transport, and a client can call a service in memory,
//! without a socket. Messages are decoded while their bytes arrive; no body is collected first.
//! Outgoing messages are written only where they differ from earlier ones, and go to the socket
//! directly from their template, in the frames of a [`Body`].
//!
//! ```
//! use deltasoap::{Client, Lease, Soap, SoapService};
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
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let service = SoapService::builder()
//!     .operation(async |greet: Lease<Greet>| Greeting { text: format!("Hello {}", greet.name) })
//!     .build()?;
//!
//! let client = Client::with_service("http://localhost/hello", service)?;
//! let greeting = client.call(&Greet { name: "Ada".to_owned() }).await?;
//! assert_eq!(greeting.text, "Hello Ada");
//! # Ok(())
//! # }
//! ```
//!
//! # Attachments
//!
//! A message can be sent with other parts, in MIME (SOAP with Attachments, MTOM) or DIME. Fields of
//! type [`Binary`](deltasoap_core::Binary) are bytes, or refer to a part. A handler gets the
//! parts from its [`Context`], and a caller from the [`Response`], as streams that are read while
//! they arrive:
//!
//! ```
//! use deltasoap::{Binary, Client, Context, Lease, Soap, SoapService};
//! use deltasoap::attachments::{AttachmentError, Mtom, Part};
//! use deltasoap::client::CallOptions;
//! use deltasoap::server::Reply;
//!
//! #[derive(Soap)]
//! #[soap(namespace = "urn:scans", message)]
//! struct Turn {
//!     image: Binary,
//! }
//!
//! #[derive(Soap)]
//! #[soap(namespace = "urn:scans", message)]
//! struct Turned {
//!     image: Binary,
//! }
//!
//! async fn turn(mut context: Context, turn: Lease<Turn>) -> Result<Reply<Turned>, AttachmentError> {
//!     let image = context.attachments().bytes(&turn.image).await?;
//!     let turned: Vec<u8> = image.iter().rev().copied().collect();
//!     let part = Part::new("turned@example.org", "image/png", turned);
//!     Ok(Reply::new(Turned { image: part.binary() }).with_part(part))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let service = SoapService::builder().operation(turn).build()?;
//! # let client = Client::with_service("http://localhost/", service)?;
//! let request = Turn { image: vec![1; 10_000].into() };
//! let mut response = client.call_as_with::<Turned>(&request, CallOptions::new().mtom(Mtom::Auto)).await?;
//! let image = response.attachments.bytes(&response.body.image).await?;
//! assert_eq!(image.len(), 10_000);
//! # Ok(())
//! # }
//! ```
//!
//! # Compression
//!
//! Requests and responses are also read in gzip, and with the feature `zstd` in zstd, within
//! [`GzipLimits`], while they arrive. A [`Compression`] determines which messages are compressed.
//! By default none are: on a fast network compression costs more than it saves, and the length of a
//! compressed message reveals information about secrets in it. [`Compression::ADAPTIVE`] compresses
//! the messages that arrive sooner that way, according to the measured throughput of the
//! connection.
//!
//! ```
//! use deltasoap::{Client, SoapService};
//! use deltasoap::transport::Compression;
//! # use deltasoap::{Lease, Soap};
//! # #[derive(Soap)]
//! # #[soap(namespace = "urn:hello", message)]
//! # struct Text {
//! #     line: Vec<String>,
//! # }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Responses of 4 KiB and more are compressed for clients that accept it, as ours do.
//! let service = SoapService::builder()
//!     .compression(Compression::from_bytes(4096).level(3))
//! #   .operation(async |text: Lease<Text>| Text { line: text.line.clone() })
//!     .build()?;
//! // All requests are, for a service that is known to read it.
//! let client = Client::builder("http://localhost/").compression(Compression::ALWAYS).build_with(service)?;
//! # let text = Text { line: vec!["the same".to_owned(); 1000] };
//! # assert_eq!(client.call_as::<Text>(&text).await?.line, text.line);
//! # Ok(())
//! # }
//! ```
//!
//! # Authentication
//!
//! With the feature `tls`, which is on by default, the [`Server`] and the [`Client`] support TLS,
//! including client certificates (`ServerTls`, `ClientTls`). A hook identifies the sender of a
//! request ([`SoapServiceBuilder::authenticate`]), by password ([`Basic`]), by certificate
//! ([`ByCertificate`]), or in any other way. The memory of earlier messages is separate for each
//! sender. The client authenticates with [`Credentials`]:
//!
//! ```
//! use deltasoap::{Client, Context, Fault, Lease, Soap, SoapService};
//! use deltasoap::client::{CallError, Credentials};
//! use deltasoap::server::Basic;
//!
//! #[derive(Soap)]
//! #[soap(namespace = "urn:hello", message, response = YouAre)]
//! struct WhoAmI {}
//!
//! #[derive(Soap)]
//! #[soap(namespace = "urn:hello", message)]
//! struct YouAre {
//!     name: String,
//! }
//!
//! async fn who_am_i(context: Context, _: Lease<WhoAmI>) -> Result<YouAre, Fault> {
//!     let principal = context.principal().ok_or_else(|| Fault::sender("nobody"))?;
//!     Ok(YouAre { name: principal.0.to_string() })
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let users = Basic::users("hello", [("ada", "analytical engine")]);
//! let service = SoapService::builder().operation(who_am_i).authenticate(users).build()?;
//!
//! let client = Client::builder("http://localhost/").credentials(Credentials::basic("ada", "analytical engine")?);
//! let you_are = client.build_with(service.clone())?.call(&WhoAmI {}).await?;
//! assert_eq!(you_are.name, "ada");
//!
//! let nobody = Client::with_service("http://localhost/", service)?.call(&WhoAmI {}).await;
//! assert!(matches!(nobody, Err(CallError::Status(error)) if error.status == 401));
//! # Ok(())
//! # }
//! ```
//!
//! # HTTP/2
//!
//! With the feature `http2`, a [`Server`] takes HTTP/2 from clients that negotiate it with TLS, and
//! from those that begin with it. [`HttpTransport`] lets the server choose with TLS; without, it sends
//! HTTP/1.1 unless told otherwise ([`HttpTransportBuilder::http2_prior_knowledge`]). Calls that run at
//! the same time share a connection then, and each has a memory of its own. Servers do not answer
//! `Expect: 100-continue` in HTTP/2.
//!
//! # Other transports
//!
//! [`transport`] contains the layers below client and server: Unix sockets, memory, frames in place
//! of HTTP, and the traits for other transports.
//!
//! # Without async
//!
//! The feature `blocking` adds a client that waits for each call, `blocking::Client`.
//!
//! # Administration
//!
//! A browser gets a page ([`LandingPage`]) with the operations, statistics of the differential
//! engine, and a form that sends requests. Tools find the WSDL under `?wsdl`, together with
//! the documents that it imports ([`SoapServiceBuilder::wsdl_document`],
//! [`SoapServiceBuilder::wsdl_file`]). A [`Monitor`] reports health, readiness and metrics; a
//! [`ServiceIndex`] lists several services.
//!
//! All of this needs a Tokio runtime with its timer enabled.
//!
//! # Not supported
//!
//! - Content codings other than gzip and zstd: a request with another one is rejected with status
//!   415. A layer around the service may decode bodies, if it removes the header
//!   `Content-Encoding`.
//! - Parts for elements that are declared as a plain [`Base64`](deltasoap_core::lexical::Base64)
//!   instead of [`Binary`](deltasoap_core::Binary), which generated code uses for
//!   `xsd:base64Binary`: there, `xop:Include` is rejected as an unexpected element. Dynamic values
//!   of `xsd:base64Binary` accept it, unless they have attributes.
//! - Charsets other than UTF-8, US-ASCII, ISO-8859-1, windows-1252, and UTF-16 with a byte order
//!   mark: they are rejected with status 415.
//! - Forwarding: a service is the ultimate receiver of its requests, and answers them.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
// The client or the server alone does not use all of the shared code.
#![cfg_attr(
    not(all(feature = "client", feature = "gzip", feature = "page", feature = "server")),
    allow(dead_code, unused_imports)
)]

#[cfg(any(feature = "client", feature = "server"))]
mod addressing;
mod attachments;
#[cfg(feature = "blocking")]
pub mod blocking;
mod body;
mod charset;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "server")]
#[doc(hidden)]
pub mod codegen;
mod coding;
mod deviations;
mod drain;
mod error;
mod header;
mod inspect;
mod items;
mod media;
mod secret;
mod secured;
#[cfg(feature = "server")]
mod server;
mod settle;
mod shelf;
mod sizes;
mod slow;
#[cfg_attr(
    not(all(feature = "client", feature = "server")),
    allow(dead_code, unused_imports, unused_macros, reason = "each side needs a part of it")
)]
mod telemetry;
#[cfg(feature = "_tls")]
mod tls;
pub mod transport;
mod typed_fault;
mod validation;

pub use attachments::{
    Attachment, AttachmentError, AttachmentErrorKind, AttachmentLimits, AttachmentOptions, Attachments, Mtom, Part,
    PartHeaders,
};
pub use body::Body;
pub use charset::{CharsetError, self_described};
#[cfg(feature = "client")]
pub use client::{
    CallError, CallOptions, Caller, Client, ClientBuildError, ClientBuilder, Credentials, Deadline, Exchange, Failure,
    HeaderProvider, HttpTransport, HttpTransportBuilder, IncomingResponse, IntoHeaderBlocks, InvalidCredentials,
    InvalidProxy, InvalidUrl, Leased, MessageError, OutgoingCall, OutgoingRequest, Proxy, RedirectError, Redirects,
    Response, Retries, SharedTemplates, StatusError, TimeoutError, Trace, TracedBody, TracedRequest, TracedResponse,
    Whole,
};
#[cfg(feature = "cookies")]
pub use client::{CookieJar, InvalidCookies};
pub use coding::{CodingError, Compression, ContentCoding, GzipLimits};
pub use error::BoxError;
pub use header::Header;
#[cfg(feature = "values")]
pub use items::DescribedList;
pub use items::Items;
pub use secret::is_secret_header;
pub use secured::UnmetPolicies;
#[cfg(all(feature = "digest", feature = "server"))]
pub use server::DigestUsers;
#[cfg(feature = "page")]
pub use server::ServiceIndex;
#[cfg(feature = "server")]
pub use server::{
    ActionCheck, AddressingMode, Authenticate, Basic, BuildError, ByCertificate, Connection, Context, Denial,
    Extension, Extract, FromContext, FromRef, FromRequest, Handler, HandlerResult, HeavyWork, InMemory,
    InterceptedRequest, InterceptedResponse, IntoReply, LandingPage, LoadMemoriesError, LoadedMemories, MemoryBounds,
    MessageReply, Monitor, Monitored, Operation, OverlaidReply, PeerCertificates, Principal, Reply, ResponseFuture,
    Scheduling, Server, ServerHandle, ServiceStats, Sharing, SmallFirst, SoapService, SoapServiceBuilder, State,
    StatsSnapshot, Weigh, shutdown_signal,
};
pub use telemetry::join_trace;
#[cfg(feature = "_tls")]
pub use tls::{ClientTls, Identity, Roots, Rotation, ServerTls, TlsError};
pub use transport::Peer;
#[doc(hidden)]
pub use typed_fault::FaultVariant;
pub use typed_fault::{IntoFault, TypedFault};
pub use validation::{Finding, Invalid, PartLookup, Validation, Validator};
