//! Captured SOAP messages: where they are read from.
//!
//! A capture is a file with a message, over HTTP or plain ([`message_in`]), and a directory of such
//! files is a stream of one sender ([`streams`]).

#![forbid(unsafe_code)]

mod directory;
mod message;

pub use directory::{Skipped, Stream, all_streams, streams};
pub use message::{Message, Reason, dechunked, message as message_in};
