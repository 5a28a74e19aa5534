//! The client: calls operations through any HTTP transport.
//!
//! [`call`] makes the HTTP request and drives the exchange; [`receive`] decodes the answer as its bytes arrive;
//! [`overlaid`] makes requests with lists that are too long for that to be held in memory;
//! [`templates`] keeps earlier requests to write the next against, [`echoes`] tells whether answers repeat them, and [`memory`] keeps
//! earlier responses to compare the next with;
//! [`credentials`] go with requests, and answer challenges;
//! [`caller`] is a client as generated code sees it;
//! [`transport`] is the default way to the network, in whose place any [`tower::Service`] can stand.

mod builder;
mod call;
mod caller;
mod credentials;
mod echoes;
mod error;
mod memory;
mod options;
mod overlaid;
mod receive;
mod templates;
mod transport;

pub use builder::{Client, ClientBuilder, InvalidUrl};
pub use call::Response;
pub use caller::{Caller, Failure};
pub use credentials::{Credentials, InvalidCredentials};
pub use error::{CallError, StatusError};
pub use options::CallOptions;
pub use templates::SharedTemplates;
pub use transport::HttpTransport;

/// Any error that can cross threads, as tower and hyper report them.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
