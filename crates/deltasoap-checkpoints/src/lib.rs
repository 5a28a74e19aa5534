//! The checkpoint policies of the bSOAP papers: the decoder's state is saved at regular intervals
//! in a message, and restored where the next message differs.
//!
//! The default of deltasoap, a checkpoint at each leaf, is faster on every workload that was
//! measured and needs none of this. These policies are for study, and for services that must hold
//! less memory than a copy of the last message: with sums in place of bytes, a stream keeps a few
//! bytes per portion.
//!
//! ```
//! use deltasoap_checkpoints::{Matcher, Portions, State};
//! use deltasoap_core::{DecodeOptions, Differential};
//!
//! let portions = Portions { state: State::Lightweight, matcher: Matcher::Keyed, size: 256, ..Portions::default() };
//! let differential = Differential { checkpoints: portions.into(), ..Differential::default() };
//! let options = DecodeOptions { differential, ..DecodeOptions::default() };
//! # let _ = options;
//! ```
//!
//! | part | contents |
//! |---|---|
//! | [`Portions`] | the options |
//! | `engine` | regular and fast mode, switching between them, the list of checkpoints |
//! | `checkpoint` | the three forms in which a state is saved |
//! | `matcher` | five ways to compare a portion with that of the previous message |
//!
//! A checksum needs less memory than an image and costs about as much as reading both: leaf
//! checkpoints hold the message's bytes and four more for each leaf, lightweight ones eleven bytes
//! for each portion. But a change in a portion reads all of it again; with portions of 4 KiB, half
//! a percent of changes reads everything. `docs/papers.md` lists what differs from the papers, and
//! why.

#![forbid(unsafe_code)]

mod checkpoint;
mod engine;
mod matcher;
mod options;

pub use options::{Bases, Matcher, Portions, State};
