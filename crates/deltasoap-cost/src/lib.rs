//! What SOAP messages cost, from a WSDL and a few measurements; and what that means for response
//! time and throughput.
//!
//! After Imre, Kaszó, Levendovszky and Charaf, *A Novel Cost Model of XML Serialization* (ENTCS
//! 261, 2010): the cost of a message is linear in what it consists of, and the coefficients are
//! measured once for a machine and a toolkit.
//!
//! ```text
//! workloads ── measure ──> Calibration ── fit ──> Model ┐
//!                                                       ├── predict ──> Prediction ── plan ──> Plan
//! WSDL, lengths ── sample ──> Body ── count ──> Usage ──┘
//! ```
//!
//! | you want to | start at |
//! |---|---|
//! | measure this machine | [`measure`] |
//! | know the coefficients | [`Model`] |
//! | know what an operation's messages cost | [`predict`] |
//! | know what many clients see | [`plan`] |
//! | know how good predictions are | [`validate`] |

#![forbid(unsafe_code)]

pub mod calibration;
mod error;
pub mod fit;
pub mod measure;
pub mod paper;
mod place;
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
