//! Rows hold what the JSON of their messages holds.

#[path = "../support/oracle.rs"]
mod oracle;
mod samples;
mod schemas;
