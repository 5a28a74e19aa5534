//! The server: operations, and the service that dispatches to them.
//!
//! A request goes through the modules in this order: [`auth`] finds out who sends it, [`service`] looks at method and media
//! type, [`receive`] pushes the body's bytes into a decoder as they come, [`dispatch`] picks the [`operation`] by the body's
//! element (or [`element`], for those described at run time), which decodes its own type and compares it with what [`memory`] has of earlier requests, [`guard`] runs the
//! handler, [`writing`] writes its answer against what [`memory`] has of earlier responses, and [`respond`] makes the HTTP
//! response.

mod answer;
mod auth;
mod builder;
mod context;
mod dispatch;
mod element;
mod guard;
mod memory;
mod operation;
mod page;
mod pool;
mod receive;
mod record;
mod respond;
mod serve;
mod service;
mod stats;
mod writing;
mod wsdl;

pub use answer::{Answer, IntoAnswer, TypedFault};
pub use auth::{Authenticate, Basic, ByCertificate, Denial, PeerCertificates};
pub use builder::{BuildError, ServiceBuilder};
pub use context::{Context, Peer};
pub use memory::{Connection, MemoryBounds, Principal, Sharing};
pub use operation::Operation;
pub use serve::{Server, ServerHandle};
pub use service::{ResponseFuture, SoapService};
pub use stats::{ServiceStats, StatsSnapshot};
