//! A SOAP array that tracks which of its items may have changed.

use super::TrackedVec;
use crate::content::Shortcuts;
use crate::content::{Content, Typed};
use crate::decode::{self, Cursor, Step};
use crate::encode::{self, Encoder};
use crate::schema::{Element, QName, View};
use crate::types::SoapArray;
use std::ops::{Deref, DerefMut};

/// A [`SoapArray`] whose items are tracked: an element with an `arrayType` and one child per item.
/// A [`Template`](crate::Template) only looks at items that may have changed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TrackedArray<T>(pub TrackedVec<T>);

impl<T> Default for TrackedArray<T> {
    fn default() -> Self {
        TrackedArray(TrackedVec::new())
    }
}

impl<T> Deref for TrackedArray<T> {
    type Target = TrackedVec<T>;

    fn deref(&self) -> &TrackedVec<T> {
        &self.0
    }
}

/// The list itself notes what changes in it.
impl<T> DerefMut for TrackedArray<T> {
    fn deref_mut(&mut self) -> &mut TrackedVec<T> {
        &mut self.0
    }
}

impl<T> From<Vec<T>> for TrackedArray<T> {
    fn from(items: Vec<T>) -> Self {
        TrackedArray(items.into())
    }
}

impl<T> FromIterator<T> for TrackedArray<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        TrackedArray(items.into_iter().collect())
    }
}

impl<T: Typed> Content for TrackedArray<T> {
    const REPLACES: bool = true;

    fn vacant(_: View<'_>) -> Self {
        Self::default()
    }

    fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        decode::array::decode(self.0.anew(), cursor, view)
    }

    fn encode(&self, encoder: &mut Encoder, view: View<'_>) {
        self.0.seal();
        encode::array::encode_changed(&self.0, self.0.changes(), encoder, view);
    }
}

impl<T: Typed> Shortcuts for TrackedArray<T> {}

impl<T: Typed> Typed for TrackedArray<T> {
    const TYPE_NAME: QName = SoapArray::<T>::TYPE_NAME;

    fn element() -> &'static Element {
        SoapArray::<T>::element()
    }
}
