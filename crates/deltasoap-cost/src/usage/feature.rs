//! What costs time in a message: the regressors, and what may stand in for one that was not
//! measured.

use crate::workload::Class;
use std::fmt;

/// Something that costs time. Each is a regressor of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    /// The message itself: envelope, body, buffers.
    Message,
    /// A leaf in an element that is read and written for itself.
    Field(Class),
    /// A leaf of an item of a flat array, the first item left out.
    Item(Class),
    /// An item of a flat array that has fields.
    ItemRecord,
    /// A list of a flat type with items: reading the first one, its markup is learned.
    Repeated,
    /// The same with two items or more: writing the first one, its markup is learned.
    List,
    /// What a list of a simple type costs less after the first one of the same name in a message:
    /// its markup is known.
    Relisted,
    /// The same of a list of a flat type with fields.
    RelistedRecords,
    /// An item of a list that is not flat.
    Row,
    /// A field that is not there.
    Absent,
    /// A description of an element that can be in the message: they are looked through for what is
    /// special in them.
    Described,
    /// An attribute.
    Attribute(Class),
    /// An element with fields.
    Record,
    /// A character of text.
    Character,
    /// An octet of binary data.
    Octet,
    /// A character of a name in a tag, of elements that are read and written for themselves.
    Markup,
    /// The same in a flat array.
    ItemMarkup,
    /// An element in a namespace.
    Qualified,
    /// An element, or an attribute, in a namespace that is declared for it.
    Declared,
    /// The same of an item of a flat array.
    DeclaredItem,
    /// A value that a large message has beyond those that the nearer caches hold.
    Far,
    /// A message in SOAP encoding: more namespaces are declared, and values that stand in several
    /// places are looked for.
    Encoded,
    /// An element with `xsi:type`.
    Typed,
    /// A value of an enumeration that a text is compared with.
    Alternative,
    /// An element that is kept as a tree.
    Node,
    /// A text that is longer than this cut-off point.
    Over(u32),
    /// A character beyond this cut-off point of a text.
    Beyond(u32),
    /// Differential mode: a leaf, changed or not.
    Leaf,
    /// Differential mode: what a leaf costs on top that is no item of a list.
    FieldLeaf,
    /// Differential mode: what a leaf costs on top that is an item of a short list.
    ShortLeaf,
    /// Differential mode: a byte that is compared.
    Compared,
    /// Differential mode: a leaf that changed.
    Changed(Class),
    /// Differential mode: a message in which anything changed.
    ChangedAny,
    /// Differential mode: what a change costs on top in the first item of a flat list.
    ChangedFirst,
    /// Differential mode: what a change costs on top in a leaf that is no item of a list.
    ChangedField,
    /// Differential mode: what a change costs on top in an item of a short list.
    ChangedShort,
    /// Differential mode: a change beyond a quarter of the leaves. Of messages that are mostly new,
    /// much is written at once.
    ChangedMost,
    /// Differential mode: a leaf whose text became longer or shorter, so that what follows moves.
    Shift,
}

impl Feature {
    /// What may stand in where a calibration has no series for a feature; the nearest first.
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

    /// True for what a model can do without: the part of the cost is in other features of toolkits
    /// that have no series for it.
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
