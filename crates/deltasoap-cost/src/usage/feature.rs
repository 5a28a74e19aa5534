//! Features: what costs time in a message. They are the regressors, with substitutes for those that
//! were not measured.

use crate::workload::Class;
use std::fmt;

/// A feature of messages that costs time. Each is a regressor of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    /// The message itself: envelope, body, buffers.
    Message,
    /// A leaf in an element that is read and written individually.
    Field(Class),
    /// A leaf of an item of a flat array, except the first item.
    Item(Class),
    /// An item of a flat array that has fields.
    ItemRecord,
    /// A list of a flat type with items: reading the first item learns its markup.
    Repeated,
    /// A list of a flat type with two or more items: writing the first item learns its markup.
    List,
    /// The savings for a list of a simple type after the first one of the same name in a message:
    /// its markup is known.
    Relisted,
    /// The savings for such a list of a flat type with fields.
    RelistedRecords,
    /// An item of a list that is not flat.
    Row,
    /// An absent field.
    Absent,
    /// An element declaration that the message may use: all are scanned for special cases.
    Described,
    /// An attribute.
    Attribute(Class),
    /// An element with fields.
    Record,
    /// A character of text.
    Character,
    /// An octet of binary data.
    Octet,
    /// A character of a tag name, of elements that are read and written individually.
    Markup,
    /// A character of a tag name in a flat array.
    ItemMarkup,
    /// An element in a namespace.
    Qualified,
    /// An element, or an attribute, whose namespace is declared on it.
    Declared,
    /// An item of a flat array whose namespace is declared on it.
    DeclaredItem,
    /// A value in a large message beyond the capacity of the nearer caches.
    Far,
    /// A message in SOAP encoding: more namespaces are declared, and values used in several places
    /// are searched for.
    Encoded,
    /// An element with `xsi:type`.
    Typed,
    /// A value of an enumeration that text is compared with.
    Alternative,
    /// An element kept as a tree.
    Node,
    /// A text longer than this cut-off point.
    Over(u32),
    /// A character beyond this cut-off point of a text.
    Beyond(u32),
    /// Differential mode: a leaf, changed or not.
    Leaf,
    /// Differential mode: extra cost of a leaf that is not an item of a list.
    FieldLeaf,
    /// Differential mode: extra cost of a leaf that is an item of a short list.
    ShortLeaf,
    /// Differential mode: a compared byte.
    Compared,
    /// Differential mode: a changed leaf.
    Changed(Class),
    /// Differential mode: a message with any change.
    ChangedAny,
    /// Differential mode: extra cost of a change in the first item of a flat list.
    ChangedFirst,
    /// Differential mode: extra cost of a change in a leaf that is not an item of a list.
    ChangedField,
    /// Differential mode: extra cost of a change in an item of a short list.
    ChangedShort,
    /// Differential mode: a change beyond a quarter of the leaves. Messages that are mostly new are
    /// written largely in bulk.
    ChangedMost,
    /// Differential mode: a leaf whose text became longer or shorter, so that later bytes shift.
    Shift,
}

impl Feature {
    /// Returns the substitutes for a feature that a calibration has no series for; the nearest
    /// first.
    pub fn substitutes(self) -> Vec<Feature> {
        use Feature as F;
        let others = |class| match class {
            Class::Token | Class::Boolean | Class::QName | Class::Binary => vec![Class::Text, Class::Int],
            Class::Decimal | Class::Date | Class::Duration => vec![Class::Double, Class::Int],
            Class::Int => vec![Class::Double],
            Class::Double => vec![Class::Int],
            Class::Text => vec![Class::Int],
        };
        match self {
            F::Field(class) => {
                let others = others(class);
                let fields = others.iter().map(|&class| F::Field(class));
                std::iter::once(F::Item(class))
                    .chain(fields)
                    .chain(others.iter().map(|&class| F::Item(class)))
                    .collect()
            }
            F::Item(class) => others(class).into_iter().map(F::Item).chain([F::Field(class)]).collect(),
            F::Attribute(class) => vec![F::Attribute(Class::Int), F::Field(class), F::Item(class), F::Item(Class::Int)],
            F::Changed(class) => others(class).into_iter().map(F::Changed).collect(),
            F::Octet => vec![F::Character],
            F::Record | F::ItemRecord | F::Node => vec![F::Field(Class::Text), F::Item(Class::Int)],
            _ => Vec::new(),
        }
    }

    /// Returns true for a feature that a model does not need: for toolkits without a series for it,
    /// other features include its cost.
    pub fn is_refinement(self) -> bool {
        use Feature as F;
        let is_of_lists = matches!(
            self,
            F::Repeated | F::List | F::Relisted | F::RelistedRecords | F::Row | F::Absent | F::Described
        );
        let is_of_leaves = matches!(self, F::FieldLeaf | F::ShortLeaf);
        let is_of_changes =
            matches!(self, F::ChangedAny | F::ChangedFirst | F::ChangedField | F::ChangedShort | F::ChangedMost);
        is_of_lists
            || is_of_leaves
            || is_of_changes
            || matches!(self, F::Markup | F::ItemMarkup | F::Qualified | F::Declared | F::Encoded | F::Typed)
            || matches!(self, F::Alternative | F::DeclaredItem | F::Far)
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Feature::Message => f.write_str("message"),
            Feature::Field(class) => write!(f, "{class} field"),
            Feature::Item(class) => write!(f, "{class} item"),
            Feature::ItemRecord => f.write_str("struct item"),
            Feature::Repeated => f.write_str("list of flat items"),
            Feature::List => f.write_str("list of two or more"),
            Feature::Relisted => f.write_str("list whose items are known"),
            Feature::RelistedRecords => f.write_str("list whose struct items are known"),
            Feature::Row => f.write_str("item that is not flat"),
            Feature::Absent => f.write_str("absent field"),
            Feature::Described => f.write_str("description"),
            Feature::Attribute(class) => write!(f, "{class} attribute"),
            Feature::Record => f.write_str("type"),
            Feature::Character => f.write_str("character"),
            Feature::Octet => f.write_str("octet"),
            Feature::Markup => f.write_str("character of a tag"),
            Feature::ItemMarkup => f.write_str("character of an item's tag"),
            Feature::Qualified => f.write_str("element in a namespace"),
            Feature::Declared => f.write_str("declared namespace"),
            Feature::DeclaredItem => f.write_str("declared namespace of an item"),
            Feature::Far => f.write_str("value of a large message"),
            Feature::Encoded => f.write_str("message in SOAP encoding"),
            Feature::Typed => f.write_str("xsi:type"),
            Feature::Alternative => f.write_str("enumerated value"),
            Feature::Node => f.write_str("element of a tree"),
            Feature::Over(place) => write!(f, "string longer than {place}"),
            Feature::Beyond(place) => write!(f, "character beyond {place}"),
            Feature::Leaf => f.write_str("leaf"),
            Feature::FieldLeaf => f.write_str("leaf in a field"),
            Feature::ShortLeaf => f.write_str("leaf in a short list"),
            Feature::Compared => f.write_str("byte compared"),
            Feature::Changed(class) => write!(f, "changed {class}"),
            Feature::ChangedAny => f.write_str("message with changes"),
            Feature::ChangedFirst => f.write_str("change in a first item"),
            Feature::ChangedField => f.write_str("change in a field"),
            Feature::ChangedShort => f.write_str("change in a short list"),
            Feature::ChangedMost => f.write_str("change beyond a quarter"),
            Feature::Shift => f.write_str("shift"),
        }
    }
}
