//! A SOAP toolkit that processes only the differences between a message and the one before it.
//!
//! A client:
//!
//! ```no_run
//! use deltasoap::Soap;
//! # #[cfg(feature = "client")]
//! use deltasoap::http::Client;
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
//! use deltasoap::http::{Server, SoapService};
//! use deltasoap::{Lease, Soap};
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
//! | call operations | `http::Client` |
//! | serve operations | `http::SoapService`, `http::Server` |
//! | give a Rust type its schema | [`Soap`] |
//! | generate Rust code for a WSDL | the crate `deltasoap-codegen`, or `wsdl!` with the feature `wsdl-macro` |
//! | call or mock a service by its WSDL alone | `dynamic`, with the feature of that name |
//! | read or write a message without HTTP | [`soap::decode_request`], [`soap::Envelope`] |
//! | feed a message in chunks | [`decode::Decoder`] with a [`soap::EnvelopeReader`] |
//! | work with a schema that is only known at run time | [`Value`] (feature `values`), [`schema::Schema`] |
//! | inspect a message without a schema | [`Node`] |
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
//! | `values` | by `server` | [`Value`]: values whose types are known at run time |
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

pub use deltasoap_core::*;
/// ```
/// use deltasoap::http::TypedFault;
/// use deltasoap::soap::Fault;
/// use deltasoap::{Faults, Soap};
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
#[cfg(feature = "dynamic")]
pub use deltasoap_dynamic as dynamic;
#[cfg(feature = "http")]
pub use deltasoap_http as http;
#[cfg(feature = "wsdl-macro")]
pub use deltasoap_macro::wsdl;

/// The examples of the README, compiled.
#[cfg(all(doctest, feature = "client", feature = "server", feature = "tls"))]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The examples of the page on packed numbers, compiled.
#[cfg(all(doctest, feature = "client", feature = "dynamic", feature = "server"))]
#[doc = include_str!("../../../docs/packed.md")]
struct PackedNumbers;
