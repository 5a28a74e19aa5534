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

#![forbid(unsafe_code)]

mod checkpoint;
mod engine;
mod matcher;
mod options;

pub use options::{Bases, Matcher, Portions, State};
