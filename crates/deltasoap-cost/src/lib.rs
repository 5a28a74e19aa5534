//! Predicts the cost of SOAP messages from a WSDL and a few measurements, and the resulting
//! response time and throughput.
//!
//! This follows Imre, Kaszó, Levendovszky and Charaf, *A Novel Cost Model of XML Serialization*
//! (ENTCS 261, 2010): the cost of a message is linear in its features, and the coefficients are
//! measured once per machine and toolkit.
//!
//! ```text
//! workloads ── measure ──> Calibration ── fit ──> Model ┐
//!                                                       ├── predict ──> Prediction ── plan ──> CapacityPlan
//! WSDL, lengths ── sample ──> Body ── count ──> Usage ──┘
//! ```
//!
//! | task | start at |
//! |---|---|
//! | measure this machine | [`measure`] |
//! | get the coefficients | [`Model`] |
//! | predict the cost of an operation's messages | [`predict`] |
//! | predict what many clients observe | [`plan`] |
//! | check the accuracy of predictions | [`validate`] |

#![forbid(unsafe_code)]

pub mod calibration;
mod element_path;
mod error;
pub mod fit;
pub mod measure;
pub mod paper;
pub mod plan;
pub mod predict;
pub mod usage;
pub mod validate;
pub mod workload;

pub use calibration::{Activity, Calibration, Machine, Mode, Point, Toolkit};
pub use error::CostError;
pub use fit::model::{ActivityModel, Estimate, FeatureModel, Model};
pub use usage::{Feature, Usage};
pub use workload::Workload;
