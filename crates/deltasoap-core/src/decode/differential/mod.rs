//! Differential decoding: what equals the message before is skipped, what differs is read.
//!
//! A [`Memory`] holds the last message of a stream and its value. The next message begins in *fast
//! mode*, which compares bytes, and goes over to *regular mode*, the routines of
//! [`decode`](crate::decode), where they differ; these read over the old value, which is right
//! wherever they do not come. The result is what regular mode alone gives, always.
//!
//! `leaf` compares the received bytes themselves and knows where every element begins; it is the
//! default. [`policy`] is where policies of other crates go; those of the papers save the decoder's
//! state every so many bytes (`deltasoap-checkpoints`). `adaptive` decides by net time whether a
//! stream is compared at all, and `turns` with which of its messages.

mod adaptive;
mod clock;
mod hooks;
pub(crate) mod leaf;
mod memory;
mod options;
pub mod policy;
mod stats;
mod turns;
mod values;

pub use leaf::Mend;
pub use memory::Memory;
pub use options::{Checkpoints, Differential};
pub use stats::DifferentialStats;
