//! TR-069, the CPE WAN Management Protocol (CWMP).

#![forbid(unsafe_code)]

mod acs;
mod connection_request;
mod cpe;
pub mod fault;
mod message;
pub mod types;
mod version;

pub use acs::{Accepted, Acs, AcsBuilder, AcsFuture, CallError, Device, Handler, Limits, Session, SessionEnd};
pub use connection_request::{ConnectionRequestError, connection_request, connection_request_over};
pub use cpe::{ConnectionRequests, Cpe, InvalidAcsUrl, Parameter, Parameters, Report, SessionError};
pub use fault::{CwmpFault, ParameterFault};
pub use version::Version;
