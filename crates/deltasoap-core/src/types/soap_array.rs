//! SOAP arrays as a type.

use crate::content::Shortcuts;
use crate::content::{Content, Typed};
use crate::decode::{Cursor, Step, array};
use crate::encode::{self, Encoder};
use crate::ns;
use crate::schema::{ArrayElement, Element, QName, View};
use std::ops::{Deref, DerefMut};

/// A SOAP array (SOAP 1.1 section 5.4.2): an element with an `arrayType` and one child per item. In
/// contrast, a plain `Vec` field is a repeated child element.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SoapArray<T>(pub Vec<T>);

impl<T> Default for SoapArray<T> {
    fn default() -> Self {
        SoapArray(Vec::new())
    }
}

impl<T> Deref for SoapArray<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T> DerefMut for SoapArray<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<T> From<Vec<T>> for SoapArray<T> {
    fn from(items: Vec<T>) -> Self {
        SoapArray(items)
    }
}

impl<T> FromIterator<T> for SoapArray<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        SoapArray(items.into_iter().collect())
    }
}

impl<T: Typed> Content for SoapArray<T> {
    const REPLACES: bool = true;

    fn vacant(_: View<'_>) -> Self {
        SoapArray(Vec::new())
    }

    fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        array::decode(&mut self.0, cursor, view)
    }

    fn encode(&self, encoder: &mut Encoder, view: View<'_>) {
        encode::array::encode(&self.0, encoder, view);
    }
}

impl<T: Typed> Shortcuts for SoapArray<T> {}

impl<T: Typed> SoapArray<T> {
    const ELEMENT: &'static Element = &Element::Array(ArrayElement {
        name: Self::TYPE_NAME,
        item_name: QName::new("", T::ITEM_NAME),
        item: T::REFERENCE,
        item_type: T::TYPE_NAME,
        nillable: T::NILLABLE,
        dimensions: 1,
    });
}

impl<T: Typed> Typed for SoapArray<T> {
    const TYPE_NAME: QName = QName::new(ns::SOAP11_ENCODING, "Array");

    fn element() -> &'static Element {
        Self::ELEMENT
    }
}
