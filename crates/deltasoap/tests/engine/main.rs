//! The engine with typed values: shortcut, limits, errors, section-5 encoding, real messages,
//! templates.

#![allow(clippy::duplicate_mod, reason = "tests run over types as they are by default, and over compact ones")]

mod default_namespace;
mod dense;
mod encoded;
mod envelope;
mod errors;
#[path = "../../../deltasoap-core/tests/support/gaps.rs"]
mod gaps;
mod hints;
#[path = "../../../deltasoap-core/tests/support/kinds.rs"]
mod kinds;
mod limits;
mod overlay;
mod portions;
#[path = "../../../deltasoap-core/tests/support/sender.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod sender;
mod shared_runs;
mod shortcut;
mod streams;
mod support;
mod tr069;
mod tracked;

#[macro_use]
#[path = "../support/by_default.rs"]
mod by_default;
mod leaves;
mod taken;
mod templates;

#[macro_use]
#[path = "../support/compact.rs"]
mod compact;
#[path = "leaves/mod.rs"]
mod compact_leaves;
#[path = "taken.rs"]
mod compact_taken;
#[path = "templates.rs"]
mod compact_templates;
