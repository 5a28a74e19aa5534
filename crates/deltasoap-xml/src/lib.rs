//! Bytes to tokens and values, and back.
//!
//! The bottom layer of deltasoap: a chunk-fed, resumable pull [`Reader`] for the subset of XML 1.0
//! that SOAP allows, with namespaces; a [`Feed`] that carries unfinished tokens from chunk to chunk
//! and transcodes other encodings to UTF-8; an output [`Buffer`] with correct escaping; and the
//! [`lexical`] forms of XSD's built-in types. Nothing here depends on SOAP or on schemas.

#![deny(unsafe_code)]

mod buffer;
pub mod c14n;
mod chars;
mod document;
mod error;
mod feed;
mod interner;
pub mod lexical;
mod limits;
mod name;
mod reader;
#[allow(unsafe_code, reason = "the byte kernels use vector instructions and skip checks of UTF-8 they have made")]
pub mod scan;
#[doc(hidden)]
pub mod segment;

pub use buffer::{Buffer, Escape};
pub use document::{Attribute, Node, Owned, nodes};
pub use error::{XmlError, XmlErrorKind};
pub use feed::{Detected, Encoding, Feed, Located};
pub use limits::Limits;
pub use name::{NameId, Names, NsId, ScopeId};
pub use reader::{Bookmark, Detour, Enclosing, KnownTag};
#[doc(hidden)]
pub use reader::{Bound, Open as OpenElement};
pub use reader::{Event, Instructions, Reader, Stop, Window};
