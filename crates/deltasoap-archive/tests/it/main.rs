//! The recorded streams of the repository as tables.

#![cfg(feature = "tables")]

#[path = "../../../deltasoap-arrow/tests/support/oracle.rs"]
mod oracle;
mod samples;
mod streams;
