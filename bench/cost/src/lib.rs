//! *A Novel Cost Model of XML Serialization* from our calibrations: its Tables 1 to 3, its
//! Figures 3 to 14, and verdicts on its claims.
//!
//! `deltasoap-cost` measures and fits, `deltasoap-report` writes pages. This crate connects them
//! for the command `deltasoap cost` and the reproduction of all papers.

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
