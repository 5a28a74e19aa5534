//! Values as JSON, without loss of digits or attributes.
//!
//! The schema determines the types, so that a value's JSON is little more than its data:
//!
//! - an element of a complex type: an object, one property per child element, in the order of the
//!   schema
//! - an element that can occur more than once: an array, also for one element; no property if there
//!   is none
//! - an element that is absent; nil; empty: no property; `null`; `""`, `{}`
//! - nil where the schema does not allow it, as some services send: `{"$nil": true}`
//! - nil with attributes: `{"$nil": true, "@name": "..."}`, with strings
//! - nil of a derived type: the same with a property `$type` (below)
//! - an attribute: a property `@name`
//! - an attribute that only `xs:anyAttribute` allows: a property `@name` or `@{namespace}name`, a
//!   string; `@{}name` where another attribute has the short one
//! - text with attributes: a property `$`; if there are no attributes, the text alone is enough
//! - a choice: the property of the element chosen, among the others
//! - a choice that can occur more than once: a property `$choice`, an array of objects of the
//!   chosen element, or of those of the chosen branch, in order
//! - a sequence that can occur more than once: a property `$sequence`, an array of objects with its
//!   elements
//! - a sequence that can occur more than once, if the end of an occurrence is not immediately
//!   clear: a property `$choice`, an array of objects of one property, in order
//! - a SOAP array: an array; of arrays if it has several dimensions
//! - a value that several places share, in SOAP encoding: at its first place with a property `$id`,
//!   elsewhere `{"$ref": "1"}` (below)
//! - content of a derived type: an object with a property `$type` (below)
//! - content without a schema, mixed content: a tree (below); `xsd:any` under the property `$any`
//!
//! If two children have the same local name, the second one's property is `{namespace}name`, or
//! `name#2` if that is also taken. Where they are in several branches of a choice, the short name
//! is also read for the branch that the other properties choose: `{"r": 3, "n": "x"}` for a choice
//! of `p, n` and of `r, n`. Properties may come in any order: messages are written in the order of
//! the schema.
//!
//! # Simple types
//!
//! Booleans are booleans. Numbers are numbers if every reader of JSON gets them exactly: integers
//! up to 2⁵³, decimals of up to 15 digits (with their trailing zeros: `250.00`), and floating point
//! numbers. All other numbers are strings, as are `INF`, `-INF` and `NaN`, and values that a
//! pattern or a union has in another form than the usual one (`00501`, `PT36H`). Numbers that are
//! read keep all their digits, whatever their length: this crate enables serde_json's feature
//! `arbitrary_precision`. Numbers are then equal in serde_json if their texts are. [`Decimals`]
//! chooses another form of numbers for the JSON that a contract writes. Everything else is a string
//! as in XML: dates, base64, hexadecimal. Bytes in another part of a message's package (MTOM) are
//! also base64 in a client's response; elsewhere, where the package is not available, they are
//! `{"$part": "cid:..."}`. When JSON is read, a string is accepted for any simple type. Qualified
//! names and notations are `{namespace}local`, since a prefix has no meaning outside its message.
//! So are those in lists, separated by spaces, and those among the members of a union: a string of
//! that form is a name there.
//!
//! # Derived types
//!
//! If the message names the type of an element by `xsi:type`, `$type` holds the type's name: the
//! local name if that is unambiguous, else `{namespace}local`; `xsd:int` and the like for built-in
//! types. A value that is not an object is under `$`: `{"$type": "xsd:int", "$": 5}`. Content that
//! does not match its type, or has more than the type declares, is kept as a tree. `xsd:anyType`
//! also accepts a plain string, number or boolean, and then names the type itself. So does
//! `xsd:anySimpleType`; a plain string there names no type. A number with a point is an
//! `xsd:decimal`, which keeps its trailing zeros; one with an exponent is an `xsd:double`, if that
//! keeps its digits.
//!
//! # References
//!
//! In SOAP encoding, a value of a type that contains itself can appear in several places, also
//! within itself. It has a property `$id` at the first of them, in the order of the schema, and the
//! others are `{"$ref": "..."}` with the same text. A value that appears in only one place has no
//! `$id`. Ids belong to one message. When written they are numbers; when read they can be any text.
//! The same value is read back, shared in the same way; a reference within the value that it refers
//! to is a handle that does not keep it alive ([`Shared`](deltasoap_core::Shared)).
//!
//! ```json
//! {"first": {"$id": "1", "name": "a", "next": {"name": "b", "next": {"$ref": "1"}}}, "second": {"$ref": "1"}}
//! ```
//!
//! This does not apply to content of derived types: it has copies, as trees have. A value that a
//! place of its type and a place of `xsd:anyType` share is read as two equal values.
//!
//! # Trees
//!
//! ```json
//! {"$name": "{urn:x}note", "$ns": {"p": "urn:p"}, "@id": "7", "$content": ["see ", {"$name": "{urn:x}b", "$content": ["p:q"]}]}
//! ```
//!
//! `$content` has texts and elements in order. `$name` is omitted if the schema gives it, `$ns` if
//! no value contains a prefix. `{"$xml": "<note xmlns='urn:x'/>"}` is read as well.

use deltasoap_core::QName;

mod branches;
mod columns;
mod error;
mod identities;
mod keys;
mod nil;
mod open;
mod path;
mod reader;
mod request;
mod request_list;
mod scalar;
mod schema;
mod text;
mod tree;
mod writer;

pub use columns::TextError;
pub use error::JsonError;
pub use keys::{Layout, Slot};
pub use request::Request;
pub use request_list::{ItemReader, RequestList};
pub use scalar::Decimals;
pub use schema::JsonSchemas;
pub use text::parse;

pub(crate) use columns::{Marked, from_text};
pub(crate) use keys::Layouts;
pub(crate) use nil::is_nil;
pub(crate) use open::document;
use path::Path;
pub(crate) use reader::JsonReader;
pub(crate) use tree::{parse_name, tree_of};
pub(crate) use writer::JsonWriter;

/// The property of bytes that are in another part of the message's package.
const PART: &str = "$part";

/// The root of a JSON value.
pub(crate) const ROOT: Path<'static> = Path::Root;

/// Returns the error for JSON of an element that nothing declares.
pub(crate) fn undeclared(name: &QName) -> JsonError {
    JsonError::new(&ROOT, "an element that the contract declares, or a tree", format!("<{name}>"))
}
