//! Content whose type the message chooses.

use super::{ElementRef, List, QName};

/// Content of a type that others are derived from, or of any type: `xsi:type` names the one that it
/// is of (XSD 1.0 part 1, 2.6.1).
///
/// Dynamic values of a type that was named are [`Value::Typed`](crate::Value::Typed). Where the
/// message names no type they are those of the [base](Self::base). What is of no type that the
/// schema knows is kept as a tree.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OpenElement {
    /// The content of elements that name no type; `None` if the declared type is abstract, or is
    /// any.
    pub base: Option<ElementRef>,
    /// The types that an element can be of, with their contents, sorted by [`QName`]'s order.
    pub types: List<(QName, ElementRef)>,
}

impl OpenElement {
    /// Such content, of types in any order.
    pub fn new(base: Option<ElementRef>, mut types: Vec<(QName, ElementRef)>) -> Self {
        types.sort_by(|one, other| one.0.cmp(&other.0));
        types.dedup_by(|one, other| one.0 == other.0);
        OpenElement { base, types: types.into() }
    }

    /// Returns the content of a type with this name.
    pub fn named(&self, name: &QName) -> Option<ElementRef> {
        self.place_of(name).map(|place| self.types[place].1)
    }

    /// Where a type stands among the others.
    pub(crate) fn place_of(&self, name: &QName) -> Option<usize> {
        self.types.binary_search_by(|(known, _)| known.cmp(name)).ok()
    }
}
