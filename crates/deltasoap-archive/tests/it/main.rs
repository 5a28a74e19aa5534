//! The recorded streams of the repository as tables.

#[path = "../../../deltasoap-arrow/tests/support/oracle.rs"]
mod oracle;
mod samples;
mod streams;
