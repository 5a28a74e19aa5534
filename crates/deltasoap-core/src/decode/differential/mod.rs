//! Differential decoding: content equal to the previous message is skipped, content that differs is
//! read.
//!
//! A [`Memory`] holds the last message of a stream and its value. The next message begins in *fast
//! mode*, which compares bytes, and switches to *regular mode*, the routines of
//! [`decode`](crate::decode), where they differ. These read over the old value, which is correct
//! wherever they do not write. The result is always the same as that of regular mode alone.
//!
//! `leaf` compares the received bytes themselves and knows where every element begins; it is the
//! default. [`policy`] is the interface for policies of other crates; those of the papers save the
//! decoder's state at intervals of some number of bytes (`deltasoap-checkpoints`). `adaptive`
//! decides by net time whether a stream is compared at all, and `turns` with which of its messages.

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
