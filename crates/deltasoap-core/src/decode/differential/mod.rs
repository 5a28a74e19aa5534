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
//! decides by net time whether a stream is compared at all, and `mixed` with which of its messages.
//!
//! The sender need not cooperate. A *checkpoint* is a place where one mode can hand over to the
//! other.
//!
//! Suzumura, Takase and Tatsubori (*Optimizing Web Services Performance by Differential
//! Deserialization*, ICWS 2005) keep an automaton of the byte sequences of earlier messages, with
//! one transition per token, and recycle the objects of its states. It is walked token by token
//! even where nothing changes, and a message with a new structure adds states. Here one message of
//! a kind is kept, equal stretches are compared at the speed of memory without looking for tokens,
//! and a changed value is found by its position.

mod adaptive;
mod clock;
mod hooks;
pub(crate) mod leaf;
mod memory;
mod mixed;
mod options;
pub mod policy;
mod stats;
mod values;

pub use leaf::Mend;
pub use memory::Memory;
pub use options::{Checkpoints, Differential};
pub use stats::DifferentialStats;
