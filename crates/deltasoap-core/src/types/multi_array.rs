//! SOAP arrays of several dimensions as a type.

use crate::content::Shortcuts;
use crate::content::{Content, Typed};
use crate::decode::{Cursor, Step, array};
use crate::encode::{self, Encoder};
use crate::ns;
use crate::schema::{ArrayElement, Element, QName, View};

/// A SOAP array of `RANK` dimensions (SOAP 1.1, section 5.4.2), at least 1. An array of arrays is
/// different: it is a [`SoapArray`](crate::SoapArray) of `SoapArray`s.
///
/// ```
/// use deltasoap_core::MultiArray;
///
/// let matrix = MultiArray::new([2, 3], vec![1, 2, 3, 4, 5, 6]);
/// assert_eq!(matrix.and_then(|matrix| matrix.get([1, 0]).copied()), Some(4));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MultiArray<T, const RANK: usize> {
    sizes: [usize; RANK],
    items: Vec<T>,
}

impl<T, const RANK: usize> MultiArray<T, RANK> {
    /// Creates an array of these sizes from items in row-major order; `None` if the number of items
    /// does not match.
    pub fn new(sizes: [usize; RANK], items: Vec<T>) -> Option<Self> {
        let len = sizes.iter().try_fold(1_usize, |len, size| len.checked_mul(*size))?;
        (len == items.len()).then_some(MultiArray { sizes, items })
    }

    /// Returns the sizes of the dimensions.
    pub fn sizes(&self) -> [usize; RANK] {
        self.sizes
    }

    /// Returns the items in row-major order.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// Returns the items in row-major order, mutably.
    pub fn items_mut(&mut self) -> &mut [T] {
        &mut self.items
    }

    /// Converts the array into its items, in row-major order.
    pub fn into_items(self) -> Vec<T> {
        self.items
    }

    /// Returns the item at a position, counted from 0.
    pub fn get(&self, place: [usize; RANK]) -> Option<&T> {
        let is_within = place.iter().zip(&self.sizes).all(|(at, size)| at < size);
        let index = place.iter().zip(&self.sizes).fold(0, |index, (at, size)| index * size + at);
        self.items.get(index).filter(|_| is_within)
    }
}

impl<T, const RANK: usize> Default for MultiArray<T, RANK> {
    fn default() -> Self {
        MultiArray { sizes: [0; RANK], items: Vec::new() }
    }
}

impl<T: Typed, const RANK: usize> Content for MultiArray<T, RANK> {
    const REPLACES: bool = true;

    fn vacant(_: View<'_>) -> Self {
        Self::default()
    }

    fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        let sizes = array::decode_rows(&mut self.items, cursor, view)?;
        if RANK == 1 {
            self.sizes = [self.items.len(); RANK];
        }
        let sizes = sizes.into_iter().map(|size| usize::try_from(size).unwrap_or(usize::MAX));
        self.sizes.iter_mut().zip(sizes).for_each(|(own, size)| *own = size);
        Ok(())
    }

    fn encode(&self, encoder: &mut Encoder, view: View<'_>) {
        let field = encode::array::begin_rows(&self.sizes, encoder, view);
        encode::flat::encode_items(&self.items, encoder, &field, view.follow(field.element));
    }
}

impl<T: Typed, const RANK: usize> Shortcuts for MultiArray<T, RANK> {}

impl<T: Typed, const RANK: usize> MultiArray<T, RANK> {
    const ELEMENT: &'static Element = &Element::Array(ArrayElement {
        name: Self::TYPE_NAME,
        item_name: QName::new("", T::ITEM_NAME),
        item: T::REFERENCE,
        item_type: T::TYPE_NAME,
        nillable: T::NILLABLE,
        dimensions: RANK as u32,
    });
}

impl<T: Typed, const RANK: usize> Typed for MultiArray<T, RANK> {
    const TYPE_NAME: QName = QName::new(ns::SOAP11_ENCODING, "Array");

    fn element() -> &'static Element {
        Self::ELEMENT
    }
}
