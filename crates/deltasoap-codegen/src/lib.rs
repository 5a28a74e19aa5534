//! Rust for a WSDL: types with `#[derive(Soap)]`, clients, and servers; or Python: types and
//! clients.
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
//! | in the WSDL | in Rust |
//! |---|---|
//! | complex type | struct with a field for each element and attribute, in order |
//! | choice; repeated content, one element per occurrence | enum, inline |
//! | choice with sequences | enum of structs, `group`; a `Vec` of them, `inline`, if repeated |
//! | repeated sequence of several elements | a `Vec` of structs, `group` and `inline` |
//! | body of several elements | a struct, `group` and `element = ""` |
//! | head of a substitution group | enum of the head and its substitutes, inline |
//! | `xsd:any` | `Node`, inline |
//! | base type, abstract type | enum `Any...` of the types, by `xsi:type`, and `Other(Node)` |
//! | `xsd:anyType`, mixed content | `Node` |
//! | SOAP array | `SoapArray`, or `MultiArray`; items that are numbers cannot be nil |
//! | in SOAP encoding, a type that contains itself | `Shared`: values keep their identity |
//! | enumeration | enum of the enumerated values |
//! | other restriction | alias of the restricted type; its documentation has the facets |
//! | list, union | `lexical::List`, enum |
//! | `xsd:base64Binary` | `Binary`: bytes, or a part of the message's package (MTOM) |
//! | the same, annotated as packed numbers (`docs/packed.md`) | `Packed<f64>` and the like |
//! | both in attributes and lists | `lexical::Base64` |
//! | text of any kind | `String` |
//! | element of a type that other elements have too | tuple struct |
//! | port type | `client::NameClient`, the trait `server::Name`, and `server::NameServer` |
//! | message with an empty body | struct without fields; the action identifies the operation |
//! | faults of an operation | enum |
//!
//! An enumeration refuses other values, and other spellings of a number, a time or a duration (`7`
//! for `007`), unless [`Builder::unknown_enum_values`] gives it a variant for them. A `NameServer`
//! serves an implementation of the trait, and the WSDL. Facets that are in the documentation are
//! not checked.
//!
//! The methods of a client return the element in the response's body. Those of `client.whole()`
//! return a `Response`, which also has header blocks, parts and HTTP headers; `with_header` and
//! `with_options` add headers and options to requests. The methods of a server receive a `Context`,
//! and return a `Reply` if the WSDL declares header blocks for the response.
//!
//! Fields are `Option` if they may be absent, `Vec` if they may be repeated, and `Nillable` if they
//! may be nil. In SOAP encoding, nil means absent: `Option` reads both as `None`, and only items of
//! arrays and lists are `Nillable`. Defaults of elements are in the documentation: an absent
//! element stays absent. An absent attribute with a default has that value. Attributes that no type
//! names (`xsd:anyAttribute`) are ignored. Numbers, dates and durations are written in canonical
//! form, even if a pattern of their type requires another one, such as leading zeros.
//!
//! Without SOAP encoding, a field that makes a type contain itself is boxed, and optional even if
//! the WSDL requires it.
//!
//! A struct whose fields all have a default implements `Default`: zero, false, empty or absent. So
//! `Type { field, ..Default::default() }` names only the fields that matter. Dates, names,
//! enumerations and choices have no default, and neither have structs that require one.
//!
//! Types that no operation needs are left out, unless there are no operations, or an element may
//! have any type (`xsd:anyType`): its tree is read by
//! [`Node::downcast`](https://docs.rs/deltasoap/latest/deltasoap/struct.Node.html#method.downcast).
//! [`Builder::operations`] and [`Builder::types`] generate a part of a WSDL.
//!
//! # Python
//!
//! [`Builder::python`] generates a module for the Python package `deltasoap`, with the names and
//! the values of `client.service`, which are those of zeep:
//!
//! | in the WSDL | in Python |
//! |---|---|
//! | complex type | dataclass, or model of pydantic; a subclass of the base's |
//! | element, attribute | field of its name; `name__1`, `attr__name` if that is taken |
//! | name that is no identifier | field `class_`, `two_words`, with the XML name as metadata |
//! | optional, nillable | `T \| None = None` |
//! | repeated element, SOAP array | `list[T]`; of numbers: `Float64List`, a list or NumPy array |
//! | repeated choice or sequence | `_value_1`, a list of `TypedDict` |
//! | text beside attributes, `xsd:any` | `_value_1` |
//! | enumeration of texts or integers | subclass of `str` or `int`, and `Enum` |
//! | other simple type | alias: of `Decimal`, `datetime.date`, `list[T]`, `A \| B` |
//! | `xsd:anyType`, mixed content, `xsd:QName` | `Any` |
//! | type in several namespaces | `Address`, `Address_Core` |
//! | port type | `NameClient`, `AsyncNameClient` |
//! | fault | exception `NameError`, whose `detail` has the type |
//!
//! The arguments of a method are the values of the body's element. It returns that of the response:
//! a type with a single value is that value, and if that is of a type with nothing but one element,
//! it is that element. Where the WSDL declares header blocks for the response, it returns a `Reply`
//! with `header` and `body`.
//!
//! A restriction inherits the fields of its base as they are. Where an extension declares a name
//! again with another type, the field is `Any`. Values that an enumeration does not list are
//! returned as they are.
//!
//! A module can be run, so its annotations suffice for editors. A stub ([`Python::Stub`]) is for
//! programs that use `client.service` without a generated module: it has a protocol for the
//! operations of each port type and for the factory of each namespace, to be cast to.
//!
//! ```python
//! if TYPE_CHECKING:
//!     import shop  # shop.pyi
//! service = cast("shop.ShopService", Client("shop.wsdl").service)
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod boxing;
mod builder;
mod defaults;
mod error;
mod graph;
mod model;
mod names;
mod number_records;
mod open;
mod plan;
mod python;
mod render;
mod sharing;

pub use builder::{Builder, Generated};
pub use error::Error;
pub use python::Python;

/// The examples of `deltasoap::wsdl!`, which calls this crate.
#[cfg(doctest)]
#[doc = include_str!("../../deltasoap-macro/docs/wsdl.md")]
struct Macro;
