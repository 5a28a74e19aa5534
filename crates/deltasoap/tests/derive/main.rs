//! The derive macro: every feature is read and written, whole and in pieces.

#![allow(clippy::duplicate_mod, reason = "tests run over types as they are by default, and over compact ones")]

mod any_simple;
mod errors;
mod flat;
mod support;
mod tracked;

/// A runtime with a different path.
mod runtime {
    pub use deltasoap::engine::*;
}

#[macro_use]
#[path = "../support/by_default.rs"]
mod by_default;
mod derived;
mod enums;
mod groups;
mod structs;

#[macro_use]
#[path = "../support/compact.rs"]
mod compact;
#[path = "derived.rs"]
mod compact_derived;
#[path = "enums.rs"]
mod compact_enums;
#[path = "groups.rs"]
mod compact_groups;
#[path = "structs.rs"]
mod compact_structs;
