//! The derive macro: every feature is read and written, whole and in pieces.

mod derived;
mod enums;
mod errors;
mod flat;
mod groups;
mod structs;
mod support;
mod tracked;
