//! Workloads: the measured messages.
//!
//! The first three are those of Imre et al. (3.1 to 3.3). The others cover other features of real
//! WSDLs: fields of every class of type, attributes, nested types, arrays of structs, long names,
//! namespaces, `xsi:type`, trees.

mod build;
mod class;
mod series;

pub use build::{Body, Message};
pub(crate) use build::{NAMESPACE, has_first, variants_of};
pub use class::{Class, typical};
pub(crate) use series::shuffle;
pub use series::{Extent, compiled, composites, held_out, series};

use serde::{Deserialize, Serialize};
use std::fmt;

/// The definition of a message.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// An array of one type (equation 1).
    Array {
        /// The items' class of type.
        class: Class,
        /// Number of items.
        length: u32,
        /// Number of characters per item, for text.
        text: u32,
    },
    /// One string (equation 2).
    Text {
        /// Number of characters.
        length: u32,
    },
    /// A composite type (equation 3).
    Composite {
        /// Number of int fields.
        ints: u32,
        /// Number of double fields.
        doubles: u32,
        /// Number of string fields.
        texts: u32,
        /// Number of characters per string.
        length: u32,
    },
    /// A type with fields of one type.
    Fields {
        /// The fields' class of type.
        class: Class,
        /// Number of fields.
        count: u32,
        /// Number of characters per field, for text.
        text: u32,
        /// How the elements of the fields are written.
        style: Style,
    },
    /// Nested types, each with an int.
    Nested {
        /// Number of sibling types.
        breadth: u32,
        /// Nesting depth.
        depth: u32,
    },
    /// A type with attributes.
    Attributes {
        /// The attributes' class of type.
        class: Class,
        /// Number of attributes.
        count: u32,
    },
    /// An array of structs of two ints and a double.
    Structs {
        /// Number of items.
        length: u32,
        /// Number of characters per name.
        name: u32,
        /// True if a field is optional, so that items may differ in markup.
        optional: bool,
    },
    /// An array of records, each with a text and a flat array.
    Lists {
        /// The items of the arrays.
        items: Items,
        /// Number of records.
        count: u32,
        /// Number of items per array.
        length: u32,
    },
    /// An array of records with fields of many types, a nested type, and an absent field.
    Records {
        /// Number of records.
        length: u32,
    },
    /// A type with an int, and optional fields that are all absent.
    Sparse {
        /// Number of optional fields.
        count: u32,
        /// True if each optional field has its own type.
        distinct: bool,
    },
    /// Content without a schema: elements with text.
    Tree {
        /// Number of elements.
        nodes: u32,
    },
    /// Binary data in one element.
    Binary {
        /// Number of octets.
        length: u32,
    },
    /// An array that differs in some items from its predecessor.
    Changed {
        /// The items' class of type.
        class: Class,
        /// Number of items.
        length: u32,
        /// Number of items that differ.
        changed: u32,
        /// True if their text changes length, so that later bytes shift.
        moves: bool,
    },
    /// A type with fields of one type that differs in some fields from its predecessor.
    ChangedFields {
        /// The fields' class of type.
        class: Class,
        /// Number of fields.
        count: u32,
        /// Number of fields that differ.
        changed: u32,
    },
    /// An array of structs of two ints and a double that differs from its predecessor in an int of
    /// some structs.
    ChangedStructs {
        /// Number of items.
        length: u32,
        /// Number of items that differ.
        changed: u32,
        /// True if a field is optional, so that items may differ in markup.
        optional: bool,
    },
    /// A message repeated unchanged.
    Again {
        /// The message.
        message: Box<Workload>,
    },
}

/// The items of short arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Items {
    /// Ints.
    Ints,
    /// Strings.
    Texts,
    /// Structs of a string and an int.
    Structs,
    /// Values of an enumeration, which are never flat.
    Enumerated,
    /// Ints in elements of another namespace than the message's.
    ForeignInts,
}

/// How fields are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// Names of two or three characters without a namespace.
    Plain,
    /// Names with this many characters.
    Named(u32),
    /// Names in the message's namespace.
    Qualified,
    /// Names in another namespace.
    Foreign,
    /// With `xsi:type`, in SOAP encoding.
    Encoded,
    /// Values of an enumeration with this many values.
    Enumerated(u32),
}

impl Workload {
    /// Returns true for messages that are compared with their predecessor: they have no use in
    /// regular mode.
    pub fn is_compared(&self) -> bool {
        matches!(
            self,
            Workload::Changed { .. }
                | Workload::ChangedFields { .. }
                | Workload::ChangedStructs { .. }
                | Workload::Again { .. }
        )
    }

    /// Returns true for the messages of the paper's third series, which no prediction is fitted to.
    pub fn is_composite(&self) -> bool {
        matches!(self, Workload::Composite { .. })
    }

    /// Returns true for arrays and strings alone: real messages have more features.
    pub(crate) fn is_of_one_kind(&self) -> bool {
        matches!(
            self,
            Workload::Array { .. } | Workload::Text { .. } | Workload::Binary { .. } | Workload::Changed { .. }
        )
    }

    /// Returns the message without its sizes: what all messages of a series share.
    pub(crate) fn series(&self) -> Workload {
        let mut of = self.clone();
        match &mut of {
            Workload::Array { length, text, .. } => (*length, *text) = (0, 0),
            Workload::Text { length } | Workload::Records { length } | Workload::Binary { length } => *length = 0,
            Workload::Composite { ints, doubles, texts, length } => {
                (*ints, *doubles, *texts, *length) = (0, 0, 0, 0);
            }
            Workload::Fields { count, text, style, .. } => {
                (*count, *text) = (0, 0);
                if let Style::Named(size) | Style::Enumerated(size) = style {
                    *size = 0;
                }
            }
            Workload::Nested { breadth, depth } => (*breadth, *depth) = (0, 0),
            Workload::Attributes { count, .. } | Workload::Sparse { count, .. } => *count = 0,
            Workload::Structs { length, name, .. } => (*length, *name) = (0, 0),
            Workload::Lists { count, length, .. } => (*count, *length) = (0, 0),
            Workload::Tree { nodes } => *nodes = 0,
            Workload::Changed { length, changed, .. } | Workload::ChangedStructs { length, changed, .. } => {
                (*length, *changed) = (0, 0);
            }
            Workload::ChangedFields { count, changed, .. } => (*count, *changed) = (0, 0),
            Workload::Again { message } => **message = message.series(),
        }
        of
    }

    /// Returns true for messages in SOAP encoding. Their values may occur in several places, so
    /// they are not compared when read.
    pub(crate) fn is_encoded(&self) -> bool {
        match self {
            Workload::Fields { style: Style::Encoded, .. } => true,
            Workload::Again { message } => message.is_encoded(),
            _ => false,
        }
    }

    /// Returns the numbers of ints, doubles and strings of a type with only such fields; `None` for
    /// other messages.
    pub fn fields(&self) -> Option<[u32; 3]> {
        match *self {
            Workload::Composite { ints, doubles, texts, .. } => Some([ints, doubles, texts]),
            Workload::Fields { class, count, style: Style::Plain, .. } => match class {
                Class::Int => Some([count, 0, 0]),
                Class::Double => Some([0, count, 0]),
                Class::Text => Some([0, 0, count]),
                _ => None,
            },
            _ => None,
        }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Workload::Array { class, length, .. } => write!(f, "array of {length} {class}"),
            Workload::Text { length } => write!(f, "string of {length}"),
            Workload::Composite { ints, doubles, texts, length } => {
                write!(f, "composite of {ints} int, {doubles} double, {texts} string of {length}")
            }
            Workload::Fields { class, count, text, style } => write!(f, "{count} {class} fields ({style:?}, {text})"),
            Workload::Nested { breadth, depth } => write!(f, "{breadth} types of depth {depth}"),
            Workload::Attributes { class, count } => write!(f, "{count} {class} attributes"),
            Workload::Structs { length, name, optional } => {
                write!(f, "array of {length} {} (names of {name})", if *optional { "records" } else { "structs" })
            }
            Workload::Lists { items, count, length } => write!(f, "{count} arrays of {length} {items:?}"),
            Workload::Records { length } => write!(f, "array of {length} mixed records"),
            Workload::Sparse { count, distinct } => {
                write!(f, "{count} absent fields of {}", if *distinct { "many types" } else { "one type" })
            }
            Workload::Tree { nodes } => write!(f, "tree of {nodes} elements"),
            Workload::Binary { length } => write!(f, "{length} octets"),
            Workload::Changed { class, length, changed, moves } => {
                write!(f, "array of {length} {class}, {changed} changed{}", if *moves { " in width" } else { "" })
            }
            Workload::ChangedFields { class, count, changed } => write!(f, "{count} {class} fields, {changed} changed"),
            Workload::ChangedStructs { length, changed, optional } => {
                let kind = if *optional { "records" } else { "structs" };
                write!(f, "array of {length} {kind}, {changed} changed")
            }
            Workload::Again { message } => write!(f, "the same {message}"),
        }
    }
}
