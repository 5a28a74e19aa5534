//! The tests of sessions, one module per subject, in one program.

mod common;
mod cpe;
mod http;
mod many;
mod messages;
mod protocol;
mod random;
mod recorded;
mod schema;
mod sessions;
