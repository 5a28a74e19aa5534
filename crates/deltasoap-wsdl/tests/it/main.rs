//! The tests of the crate's API, one module per subject. They are one program, because linking each
//! of them would take longer than running it.

#[path = "../support/mod.rs"]
mod support;

mod corpus;
mod hostile;
mod invalid;
mod loading;
mod messages;
mod mutations;
mod operations;
mod packed;
mod schema;
mod testdata;
mod tolerated;
mod web;
