//! Differential decoding: what equals the message before is skipped, what differs is read.
//!
//! A [`Memory`] holds the last message of a stream and its value. The next message begins in *fast mode*, which compares bytes,
//! and goes over to *regular mode*, the routines of [`decode`](crate::decode), where they differ; these read over the old
//! value, which is right wherever they do not come. The result is what regular mode alone gives, always.
//!
//! There are two machines. `leaf` compares the received bytes themselves and knows where every element begins; it is
//! the default. `machine` is that of the papers, with three ways to save the decoder's state every so many bytes
//! (`checkpoint`) and five to tell whether a portion is the old one (`matcher`). `adaptive` decides by net time
//! whether a stream is compared at all, and `turns` with which of its messages.

mod adaptive;
pub(crate) mod checkpoint;
mod clock;
pub(crate) mod leaf;
pub(crate) mod machine;
mod matcher;
mod memory;
mod options;
mod stats;
mod turns;

pub use leaf::Mend;
pub use memory::Memory;
pub use options::{Checkpoints, Differential, Matcher};
pub use stats::DifferentialStats;
