//! Differential decoding: what equals the message before is skipped, what differs is read.

pub(crate) mod leaf;
mod memory;
mod options;
mod stats;

pub use memory::Memory;
pub use options::{Checkpoints, Differential, Matcher};
pub use stats::DifferentialStats;
