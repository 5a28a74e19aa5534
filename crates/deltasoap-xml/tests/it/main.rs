//! The tests of the crate's interface, one module per subject. They are one program, because
//! linking each of them takes longer than running it.

#[path = "../common/mod.rs"]
mod common;

mod canonical;
mod chunks;
mod conformance;
mod linear;
mod positions;
mod reader;
mod seek;
mod state;
