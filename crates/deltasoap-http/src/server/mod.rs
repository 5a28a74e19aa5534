//! The server: operations, and the service that dispatches to them.
//!
//! A request goes through the modules in this order. [`auth`] authenticates its sender, [`service`]
//! checks method and media type, [`empty`] answers requests without a body, [`receive`] pushes the
//! body's bytes into a decoder as they arrive. [`dispatch`] selects the [`operation`] by the body's
//! element (or [`element`], for operations described at run time), which decodes its own type and
//! compares it with earlier requests in [`memory`]. [`guard`] runs the handler unless the
//! [`action`] contradicts or its [`addressing`] is invalid, [`writing`] writes its answer against
//! earlier responses in [`memory`], and [`respond`] makes the HTTP response. What they find is
//! [`noted`] for logs and metrics.
//! [`schedule`] determines the order of requests under load, by their length and by the
//! [`measured`] time of earlier calls; [`heavy`] prevents long requests from delaying others.
//!
//! [`request_target`] determines what a `GET` requests: a [`page`], a [`sample`], or the WSDL
//! ([`wsdl`]). [`monitor`] is for the monitoring of the server.

mod action;
mod addressing;
mod arriving;
mod auth;
mod builder;
mod context;
#[cfg(feature = "digest")]
mod digest;
mod disconnect;
mod dispatch;
mod element;
mod empty;
mod extract;
mod guard;
mod handler;
mod heavy;
mod in_memory;
mod intercept;
mod measured;
mod memory;
mod monitor;
mod noted;
mod operation;
#[cfg(feature = "client")]
mod outbox;
#[cfg(feature = "page")]
mod page;
mod pool;
mod receive;
mod record;
mod reply;
mod request_target;
mod respond;
mod restart;
mod sample;
mod schedule;
mod serve;
mod service;
mod shutdown;
mod stall;
mod stats;
mod workers;
mod writing;
mod wsdl;
mod yielding;

pub use action::ActionCheck;
pub use addressing::AddressingMode;
pub use auth::{Authenticate, Basic, ByCertificate, Denial, PeerCertificates};
pub use builder::{BuildError, SoapServiceBuilder};
pub use context::Context;
#[cfg(feature = "digest")]
pub use digest::DigestUsers;
pub use extract::{Extension, FromContext, FromRef, State};
pub use handler::{Extract, FromRequest, Handler, HandlerResult};
pub use heavy::HeavyWork;
pub use in_memory::InMemory;
pub use intercept::{InterceptedRequest, InterceptedResponse};
pub use memory::{Connection, LoadMemoriesError, LoadedMemories, MemoryBounds, Principal, Sharing};
pub use monitor::{Monitor, Monitored};
pub use operation::Operation;
#[cfg(feature = "page")]
pub use page::ServiceIndex;
pub use reply::{IntoReply, MessageReply, OverlaidReply, Reply};
pub use request_target::LandingPage;
pub use schedule::{Scheduling, SmallFirst, Weigh};
pub use serve::{Server, ServerHandle};
pub use service::{ResponseFuture, SoapService};
pub use shutdown::shutdown_signal;
pub use stats::{ServiceStats, StatsSnapshot};
