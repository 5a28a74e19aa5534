//! Differential decoding: what equals the message before is skipped, what differs is read.

mod adaptive;
pub(crate) mod checkpoint;
mod clock;
pub(crate) mod leaf;
pub(crate) mod machine;
mod matcher;
mod memory;
mod options;
mod stats;

pub use memory::Memory;
pub use options::{Checkpoints, Differential, Matcher};
pub use stats::DifferentialStats;
