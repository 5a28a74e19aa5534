//! The tests of the crate's interface, one module per subject. They are one program, because
//! linking each of them takes longer than running it.

#[path = "../support/mod.rs"]
mod support;

mod bare;
mod calls;
mod candidates;
mod conformance;
mod content_models;
mod contradictions;
mod derived;
mod described_types;
mod diff;
mod exchanged;
mod graphs;
mod groups;
mod identity;
mod items;
mod json;
mod messages;
mod mocks;
mod options;
mod overlaid;
mod packed;
mod patterns;
mod samples;
mod testing;
mod typed;
mod validation;
