//! Rust for a WSDL: types with `#[derive(Soap)]`, a client, and a trait for servers.
//!
//! ```no_run
//! // build.rs
//! fn main() -> Result<(), deltasoap_codegen::Error> {
//!     deltasoap_codegen::Builder::new("wsdl/weather.wsdl").build()
//! }
//! ```
//!
//! ```ignore
//! // src/main.rs
//! #[allow(clippy::all, dead_code, missing_docs)]
//! mod weather {
//!     include!(concat!(env!("OUT_DIR"), "/weather.rs"));
//! }
//! ```
//!
//! # What is generated
//!
//! | in the description | in Rust |
//! |---|---|
//! | complex type | struct; a field for each element and attribute, in their order |
//! | choice; what is repeated, an element an occurrence | enum, inline |
//! | choice with sequences in it | enum of structs, `group`; repeated: a `Vec` of such, `inline` |
//! | sequence of several elements that is repeated | a `Vec` of structs, `group` and `inline` |
//! | body of several elements | a struct, `group` and `element = ""` |
//! | head of a substitution group | enum of the elements that can stand for it, inline |
//! | `xsd:any` | `Node`, inline |
//! | type that others are derived from, abstract type | enum `Any...` of all of them, told by `xsi:type`, and of `Other(Node)` |
//! | `xsd:anyType`, mixed content | `Node` |
//! | SOAP array | `SoapArray`; of several dimensions, `MultiArray`; items that are numbers cannot be nil |
//! | in SOAP encoding, a type that holds itself | `Shared`: values keep their identity, cyclic ones too |
//! | enumeration | enum of the values that the description names: other values are refused, and so are other spellings of a number, a time or a duration (`7` for `007`) |
//! | other restriction | alias of the type that is restricted, with what is not checked in its documentation |
//! | list, union | `lexical::List`, enum |
//! | `xsd:base64Binary` | `Binary`: bytes, or a part of the message's package (MTOM); in attributes and lists `lexical::Base64` |
//! | the same with the annotation of packed numbers (`docs/packed.md`) | `Packed<f64>`, of the type and in the order that it says; in attributes and lists `lexical::Base64` |
//! | texts of any kind | `String` |
//! | element of a type that has others too | tuple struct |
//! | port type | a client, a trait for servers, and a function that makes a service of an implementation |
//! | message with an empty body | struct without fields; the action says which operation is meant |
//! | faults of an operation | enum |
//!
//! Methods of a client give the element of the response's body. Those of `client.whole()` give a
//! `Response`, which has header blocks, parts and HTTP headers too; `with_header` and
//! `with_options` say what goes with requests. Methods of a server get a `Context`, and give an
//! `Answer` where the description has header blocks for the response.
//!
//! Fields are `Option` where they may be absent, `Vec` where they may be repeated, and `Nillable`
//! where they may be nil. Defaults of elements stand in the documentation: absent stays absent. An
//! absent attribute with a default has that value. Attributes that no type names
//! (`xsd:anyAttribute`) are passed over. Numbers, dates and durations are written in their
//! canonical form, also where a pattern of their type asks for another one, such as leading zeros.
//!
//! Without SOAP encoding a type that holds itself is boxed there, and optional even if the
//! description says otherwise.
//!
//! A type whose fields are all optional is `Default`. One with more than five fields, of which some
//! are required, has `new` for these: `Type { field, ..Type::new(required) }` says the rest.
//!
//! Types that no operation needs are left out, unless there are no operations, or an element that
//! may hold any type (`xsd:anyType`): its tree is read by
//! [`Node::downcast`](https://docs.rs/deltasoap/latest/deltasoap/struct.Node.html#method.downcast).
//! [`Builder::operations`] and [`Builder::types`] generate a part of a description.

#![forbid(unsafe_code)]

mod boxing;
mod builder;
mod error;
mod graph;
mod listed;
mod model;
mod names;
mod plan;
mod render;
mod sharing;

pub use builder::{Builder, Generated};
pub use error::Error;
