//! *A Novel Cost Model of XML Serialization* from calibrations of ours: its Tables 1 to 3, its
//! Figures 3 to 14, and verdicts on its claims.
//!
//! Measuring and fitting are `deltasoap-cost`, pages are `deltasoap-report`; this is what lies
//! between them, for the command `deltasoap cost` and for the reproduction of all papers.

#![forbid(unsafe_code)]

mod claims;
mod exhibits;
mod figures;
mod tables;
mod trials;

pub use claims::verdicts;
pub use exhibits::exhibits;
pub use tables::tables;
pub use trials::{activities, errors};
