//! Content whose type is chosen by the message.
//!
//! The start tag names the type, so an equal tag means equal content, and differential decoding
//! needs nothing more. An element that names a type that is not allowed there is a tree. In SOAP
//! encoding the `arrayType` names the type of items that name none themselves; such a message is
//! compared as a whole.

use super::{ElementRef, List, QName};

/// Content of a type that has derived types, or of any type: `xsi:type` names the actual type (XSD
/// 1.0 part 1, 2.6.1).
///
/// Dynamic values of a named type are [`Value::Typed`](crate::Value::Typed). If the message names
/// no type, they are values of the [base](Self::base). Content of a type that is not in the schema
/// is kept as a tree.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OpenElement {
    /// The content of elements that name no type; `None` if the declared type is abstract, or is
    /// any type.
    pub base: Option<ElementRef>,
    /// The possible types of an element with their contents, sorted by [`QName`]'s order.
    pub types: List<(QName, ElementRef)>,
}

impl OpenElement {
    /// Creates the description from types in any order.
    pub fn new(base: Option<ElementRef>, mut types: Vec<(QName, ElementRef)>) -> Self {
        types.sort_by(|one, other| one.0.cmp(&other.0));
        types.dedup_by(|one, other| one.0 == other.0);
        OpenElement { base, types: types.into() }
    }

    /// Returns the content of the type with this name.
    pub fn named(&self, name: &QName) -> Option<ElementRef> {
        self.place_of(name).map(|place| self.types[place].1)
    }

    /// Returns the index of a type among the others.
    pub(crate) fn place_of(&self, name: &QName) -> Option<usize> {
        self.types.binary_search_by(|(known, _)| known.cmp(name)).ok()
    }
}
