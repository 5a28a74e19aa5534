//! Workloads: the messages that are measured.
//!
//! The first three are those of Imre et al. (3.1 to 3.3). The others measure what real descriptions
//! have besides: fields by every class of type, attributes, nested types, arrays of structs, long
//! names, namespaces, `xsi:type`, trees.

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

/// One message, described.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// Items of one type (equation 1).
    Array {
        /// The type.
        class: Class,
        /// Items.
        length: u32,
        /// Characters of each, where it is text.
        text: u32,
    },
    /// One string (equation 2).
    Text {
        /// Its characters.
        length: u32,
    },
    /// A composite type (equation 3).
    Composite {
        /// Fields of type int.
        ints: u32,
        /// Fields of type double.
        doubles: u32,
        /// Fields of type string.
        texts: u32,
        /// Characters of each string.
        length: u32,
    },
    /// A type with fields of one type.
    Fields {
        /// The type.
        class: Class,
        /// Fields.
        count: u32,
        /// Characters of each, where it is text.
        text: u32,
        /// How the fields' elements are written.
        style: Style,
    },
    /// Types within types, each with an int.
    Nested {
        /// Types side by side.
        breadth: u32,
        /// Types within each other.
        depth: u32,
    },
    /// A type with attributes.
    Attributes {
        /// Their type.
        class: Class,
        /// How many.
        count: u32,
    },
    /// An array of structs of two ints and a double.
    Structs {
        /// Items.
        length: u32,
        /// Characters of each name.
        name: u32,
        /// Whether a field is optional, so that items may differ in markup.
        optional: bool,
    },
    /// An array of records with a text and a flat array each.
    Lists {
        /// What the arrays are of.
        items: Items,
        /// Records.
        count: u32,
        /// Items of each.
        length: u32,
    },
    /// An array of records with fields of many types, a type within, and a field that is not there.
    Records {
        /// Records.
        length: u32,
    },
    /// A type with an int, and optional fields of which none is there.
    Sparse {
        /// Optional fields.
        count: u32,
        /// Whether each has a type of its own.
        distinct: bool,
    },
    /// Content without a schema: elements with a text each.
    Tree {
        /// Elements.
        nodes: u32,
    },
    /// Binary data in one element.
    Binary {
        /// Octets.
        length: u32,
    },
    /// An array after another one of which it differs in some items.
    Changed {
        /// The type.
        class: Class,
        /// Items.
        length: u32,
        /// Items that differ.
        changed: u32,
        /// Whether their texts are of other lengths, so that what follows moves.
        moves: bool,
    },
    /// A type with fields of one type after another value of it that differs in some.
    ChangedFields {
        /// The type.
        class: Class,
        /// Fields.
        count: u32,
        /// Fields that differ.
        changed: u32,
    },
    /// An array of structs of two ints and a double after another one of which it differs in an int
    /// of some.
    ChangedStructs {
        /// Items.
        length: u32,
        /// Items that differ.
        changed: u32,
        /// Whether a field is optional, so that items may differ in markup.
        optional: bool,
    },
    /// The same message after itself.
    Again {
        /// The message.
        message: Box<Workload>,
    },
}

/// What short arrays are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Items {
    /// Ints.
    Ints,
    /// Texts.
    Texts,
    /// Structs of a text and an int.
    Structs,
    /// Values of an enumeration, which are never flat.
    Enumerated,
    /// Ints in elements of another namespace than that of the message.
    ForeignInts,
}

/// How fields are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// Names of two or three characters in no namespace.
    Plain,
    /// Names of so many characters.
    Named(u32),
    /// Names in the namespace of the message.
    Qualified,
    /// Names in another namespace.
    Foreign,
    /// With `xsi:type`, by SOAP encoding.
    Encoded,
    /// Of an enumeration of so many values.
    Enumerated(u32),
}

impl Workload {
    /// True for messages of which each is held against the one before: they mean nothing in regular
    /// mode.
    pub fn is_compared(&self) -> bool {
        matches!(
            self,
            Workload::Changed { .. }
                | Workload::ChangedFields { .. }
                | Workload::ChangedStructs { .. }
                | Workload::Again { .. }
        )
    }

    /// True for the messages of the paper's third series, which no prediction is fitted to.
    pub fn is_composite(&self) -> bool {
        matches!(self, Workload::Composite { .. })
    }

    /// True for arrays, and strings, and nothing else: real messages are made up of more.
    pub(crate) fn is_of_one_kind(&self) -> bool {
        matches!(
            self,
            Workload::Array { .. } | Workload::Text { .. } | Workload::Binary { .. } | Workload::Changed { .. }
        )
    }

    /// The message without its sizes: what all messages of a series have in common.
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

    /// True for messages in SOAP encoding, whose values may stand in several places: they are not
    /// compared when they are read.
    pub(crate) fn is_encoded(&self) -> bool {
        match self {
            Workload::Fields { style: Style::Encoded, .. } => true,
            Workload::Again { message } => message.is_encoded(),
            _ => false,
        }
    }

    /// Ints, doubles and strings, of a type whose fields are these and nothing else; `None` for
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
