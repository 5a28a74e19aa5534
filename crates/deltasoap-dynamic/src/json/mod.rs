//! Values as JSON, without loss of digits or attributes.
//!
//! The schema says what is what, so that a value's JSON is little more than its data:
//!
//! | XML | JSON |
//! |---|---|
//! | an element of a complex type | an object, a property a child element, in the order of the schema |
//! | an element that can occur more than once | an array, whatever their number; no property for none |
//! | an element that is absent; nil; empty | no property; `null`; `""`, `{}` |
//! | nil where the schema does not allow it, as some services send | `{"$nil": true}` |
//! | nil beside attributes | `{"$nil": true, "@name": "..."}`, with strings |
//! | nil of a derived type | the same with a property `$type` (below) |
//! | an attribute | a property `@name` |
//! | an attribute that `xs:anyAttribute` alone allows | a property `@name` or `@{namespace}name`, a string; `@{}name` where another attribute has the short one |
//! | text beside attributes | a property `$`; where there are no attributes, the text alone may stand for all |
//! | a choice | the property of the element chosen, among the others |
//! | a choice that can occur more than once | a property `$choice`: an array of objects of the chosen element, or of those of the chosen branch, in order |
//! | a sequence that can occur more than once | a property `$sequence`: an array of objects with its elements |
//! | the same where messages do not tell at once where an occurrence ends | a property `$choice`: an array of objects of one property, in order |
//! | a SOAP array | an array; of arrays where it has several dimensions |
//! | a value that several places share, in SOAP encoding | at its first place with a property `$id`, elsewhere `{"$ref": "1"}` (below) |
//! | content of a derived type | an object with a property `$type` (below) |
//! | content without a schema, mixed content | a tree (below); `xsd:any` under the property `$any` |
//!
//! Where two children have the same local name the second one's property is `{namespace}name`, or `name#2` if that is taken
//! too. Properties may come in any order: messages are written in the order of the schema.
//!
//! # Simple types
//!
//! Booleans are booleans. Numbers are numbers where every reader of JSON gets them exactly: integers up to 2⁵³, decimals of
//! up to 15 digits (with the zeros at their end: `250.00`), and floating point numbers; all other numbers are strings, as are `INF`,
//! `-INF` and `NaN`, and what a pattern or a union has in another form than the usual one (`00501`, `PT36H`). Numbers that are read keep all their digits, whatever their length: this crate switches on serde_json's
//! feature `arbitrary_precision`. Numbers are then equal in serde_json if their texts are. Everything else is a string as
//! XML has it: dates, base64, hexadecimal. Bytes in another part of a message's package (MTOM) are base64 too in what a client
//! received; elsewhere, where the package is not at hand, they are `{"$part": "cid:..."}`. When JSON is read, a string will do for any simple type.
//! Qualified names and notations are `{namespace}local`, since a prefix means nothing outside of its message. So are those in lists, with spaces
//! between, and those among the members of a union: a string of that form is a name there.
//!
//! # Derived types
//!
//! Where the message says by `xsi:type` which type an element is of, `$type` holds the type's name: the local name if that is
//! clear, else `{namespace}local`; `xsd:int` and the like for built-in types. What is no object has its value under `$`:
//! `{"$type": "xsd:int", "$": 5}`. Content that does not fit its type, or has more than the type knows, is kept as a tree.
//! `xsd:anyType` also takes a plain string, number or boolean, and then names the type itself. So does `xsd:anySimpleType`; a plain string
//! is one that names no type. A number with a point is an `xsd:decimal`, which keeps the zeros at its end; one with an exponent is an
//! `xsd:double`, if that keeps its digits.
//!
//! # References
//!
//! In SOAP encoding a value of a type that holds itself can stand in several places, also within itself. It has a property `$id` at the
//! first of them, in the order of the schema, and the others are `{"$ref": "..."}` with the same text. A value that stands in one
//! place has no `$id`. Ids are those of one message: written they are numbers, read they can be any text. The same value comes back, shared
//! in the same way; a reference within the value that it refers to is a handle that does not keep it alive
//! ([`Shared`](deltasoap_core::Shared)).
//!
//! ```json
//! {"first": {"$id": "1", "name": "a", "next": {"name": "b", "next": {"$ref": "1"}}}, "second": {"$ref": "1"}}
//! ```
//!
//! Content of derived types is no part of that: it has copies, as trees have.
//!
//! # Trees
//!
//! ```json
//! {"$name": "{urn:x}note", "$ns": {"p": "urn:p"}, "@id": "7", "$content": ["see ", {"$name": "{urn:x}b", "$content": ["p:q"]}]}
//! ```
//!
//! `$content` has texts and elements in order. `$name` is left out where the schema gives it, `$ns` where no value has a
//! prefix in it. `{"$xml": "<note xmlns='urn:x'/>"}` is read as well.

use deltasoap_core::QName;

mod error;
mod identities;
mod keys;
mod nil;
mod open;
mod path;
mod reading;
mod request;
mod scalar;
mod text;
mod tree;
mod writing;

pub use error::JsonError;
pub use request::Request;
pub use text::parse;

pub(crate) use keys::Layouts;
pub(crate) use nil::is_nil;
pub(crate) use reading::Reading;
pub(crate) use tree::{parse_name, tree_of};
pub(crate) use writing::Writing;

/// The property of bytes that are in another part of the message's package.
const PART: &str = "$part";

/// The whole of a JSON value.
pub(crate) const ROOT: path::Path<'static> = path::Path::Root;

/// Why an element has no JSON: nothing declares it.
pub(crate) fn undeclared(name: &QName) -> JsonError {
    JsonError::new(&ROOT, "an element that the contract declares, or a tree", format!("<{name}>"))
}
