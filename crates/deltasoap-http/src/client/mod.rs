//! The client: calls operations through any HTTP transport.
//!
//! [`call`] makes the HTTP request and drives the exchange; [`transmit`] sends it, possibly more
//! than once ([`retries`], [`redirects`]), and records it in a [`trace`]; [`receive`] decodes the
//! answer as its bytes arrive, unless its header contains something that is not [`understood`];
//! [`overlaid`] makes requests with lists that are too long to be held in memory; [`templates`]
//! keeps earlier requests to write the next against, [`echoes`] detects whether answers repeat
//! them, and [`memories`] keeps earlier responses to compare the next with; [`element`] sends
//! messages that the caller has written, and passes the answers to the caller's receiver;
//! [`provided`] header blocks are made for each call; [`deadline`] bounds what else belongs to such
//! a call, and [`pace`] a call whose request waits for items; [`credentials`] are sent with requests, and answer challenges (`digest`); [`caller`] is
//! the client's interface for generated code;
//! [`addressing`] adds the header blocks of WS-Addressing; [`observed`] tells logs and traces about
//! each call; [`network`] is the default transport, which any [`tower::Service`] can replace.

mod addressing;
mod broken;
mod builder;
mod call;
mod caller;
#[cfg(feature = "cookies")]
mod cookies;
mod credentials;
mod deadline;
#[cfg(feature = "digest")]
mod digest;
mod echoes;
mod element;
mod error;
mod intercept;
mod items;
mod memories;
mod network;
mod observed;
mod options;
mod overlaid;
mod pace;
mod provided;
mod receive;
mod redirects;
mod retries;
mod templates;
mod trace;
mod transmit;
mod understood;
mod uplink;

pub use builder::{Client, ClientBuildError, ClientBuilder, InvalidUrl};
pub use call::Response;
pub use caller::{Caller, Failure, Leased, Whole};
#[cfg(feature = "cookies")]
pub use cookies::{CookieJar, InvalidCookies};
pub use credentials::{Credentials, InvalidCredentials};
pub use deadline::Deadline;
pub use error::{CallError, MessageError, StatusError, TimeoutError};
pub use intercept::{IncomingResponse, OutgoingRequest};
pub use network::{HttpTransport, HttpTransportBuilder, InvalidProxy, Proxy};
pub use options::CallOptions;
pub use provided::{HeaderProvider, IntoHeaderBlocks, OutgoingCall};
pub use redirects::{RedirectError, Redirects};
pub use retries::Retries;
pub use templates::SharedTemplates;
pub use trace::{Exchange, Trace, TracedBody, TracedRequest, TracedResponse};
