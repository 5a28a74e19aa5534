//! TR-069, the CPE WAN Management Protocol (CWMP): an auto-configuration server, and a device.
//!
//! Devices (CPEs) begin sessions with a server (ACS), which sends its requests in the responses to
//! their messages. Here a session is a [`Session`] with a method for each request, and a future
//! that calls them:
//!
//! ```
//! use deltasoap::types::Simple;
//! use deltasoap_cwmp::types::DeviceId;
//! use deltasoap_cwmp::{Acs, Cpe, Parameter, Session};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let acs = Acs::new(async |session: Session| {
//!     let values = session.get_parameter_values(["Device.DeviceInfo.UpTime"]).await.expect("values");
//!     assert_eq!(values[0].value.text(), "7");
//! });
//!
//! // A device that calls the server in memory; over a network it is `Cpe::new`, and `deltasoap::Server` serves the ACS.
//! let id = DeviceId {
//!     manufacturer: "Example".to_owned(),
//!     oui: "0123AB".to_owned(),
//!     product_class: "Box".to_owned(),
//!     serial_number: "1".to_owned(),
//! };
//! let mut cpe = Cpe::over(acs, "http://acs.example/", id)?;
//! cpe.parameters_mut().insert("Device.DeviceInfo.UpTime", Parameter::read_only(Simple::UnsignedInt(7)));
//! let report = cpe.session().await?;
//! assert_eq!(report.answered, ["GetParameterValues"]);
//! # Ok(())
//! # }
//! ```
//!
//! | you want to | start at |
//! |---|---|
//! | serve devices | [`Acs`], [`Handler`] |
//! | call a device in a session | [`Session`] |
//! | ask a device to begin a session | [`connection_request`] |
//! | simulate devices | [`Cpe`] |
//! | read or write a message by itself | [`types`] |
//!
//! Sections and annexes that are named are those of TR-069 Issue 1 Amendment 6 (CWMP version 1.4).

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

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

/// The examples of the documentation, compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/cwmp.md")]
struct Documentation;
