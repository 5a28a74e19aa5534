//! Lists whose items come from an overlay.

use super::split;
use crate::content::{Content, Occurs, Typed};
use crate::content::{ListShortcuts, Shortcuts};
use crate::decode::flat::{Patch, Run};
use crate::decode::{self, Cursor, Step};
use crate::encode::{self, Encoder};
use crate::schema::{Element, ElementRef, Field, QName, View};
use crate::types::SoapArray;
use std::ops::{Deref, DerefMut};

/// A list with additional items that are not in memory: an [`Overlay`](super::Overlay) writes them.
/// Otherwise it is a `Vec` field, a repeated child element: when it is read, when it is written
/// without an overlay, and for the items that it holds itself, which come first.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Streamed<T>(pub Vec<T>);

/// Like [`Streamed`], for a [`SoapArray`]: an element with an `arrayType` and one child per item.
/// Its size is written if known beforehand, otherwise left open (`[]`, or `*` in SOAP 1.2).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StreamedArray<T>(pub Vec<T>);

macro_rules! list {
    ($($list:ident),*) => {$(
        impl<T> Default for $list<T> {
            fn default() -> Self {
                $list(Vec::new())
            }
        }

        impl<T> Deref for $list<T> {
            type Target = Vec<T>;

            fn deref(&self) -> &Vec<T> {
                &self.0
            }
        }

        impl<T> DerefMut for $list<T> {
            fn deref_mut(&mut self) -> &mut Vec<T> {
                &mut self.0
            }
        }

        impl<T> From<Vec<T>> for $list<T> {
            fn from(items: Vec<T>) -> Self {
                $list(items)
            }
        }

        impl<T> FromIterator<T> for $list<T> {
            fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
                $list(Vec::from_iter(items))
            }
        }
    )*};
}

list!(Streamed, StreamedArray);

/// Writes a SOAP array whose further items come from an overlay.
pub(crate) fn encode_array<T: Content>(items: &[T], encoder: &mut Encoder, view: View<'_>) {
    let size = split::size_with(items.len(), encoder);
    let field = encode::array::encode_part(items, size, encoder, view);
    split::note(encoder, &field);
}

/// Any number of times. Inline choices cannot be streamed.
impl<T: Typed> Occurs for Streamed<T> {
    const MIN: u32 = <Vec<T> as Occurs>::MIN;
    const MAX: Option<u32> = <Vec<T> as Occurs>::MAX;
    const NILLABLE: bool = <Vec<T> as Occurs>::NILLABLE;
    const REFERENCE: ElementRef = <Vec<T> as Occurs>::REFERENCE;

    fn vacant(_: View<'_>) -> Self {
        Self::default()
    }

    fn open(&mut self, place: usize, view: View<'_>) -> usize {
        self.0.open(place, view)
    }

    fn splice(&mut self, place: usize, removed: usize, inserted: usize, view: View<'_>) -> usize {
        Occurs::splice(&mut self.0, place, removed, inserted, view)
    }

    fn keep(&mut self, count: usize, view: View<'_>) {
        self.0.keep(count, view);
    }

    fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        self.0.decode(cursor, view)
    }

    fn encode(&self, encoder: &mut Encoder, field: &Field, view: View<'_>) {
        self.0.encode(encoder, field, view);
        split::note(encoder, field);
    }
}

impl<T: Typed> ListShortcuts for Streamed<T> {
    fn run(&mut self, cursor: &mut Cursor<'_>, field: &Field, view: View<'_>) -> Run {
        self.0.run(cursor, field, view)
    }

    fn patch(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Patch {
        self.0.patch(cursor, view)
    }

    fn item_leaves(view: View<'_>) -> Option<usize> {
        <Vec<T> as ListShortcuts>::item_leaves(view)
    }
}

impl<T: Typed> Content for StreamedArray<T> {
    const REPLACES: bool = true;

    fn vacant(_: View<'_>) -> Self {
        Self::default()
    }

    fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        decode::array::decode(&mut self.0, cursor, view)
    }

    fn encode(&self, encoder: &mut Encoder, view: View<'_>) {
        encode_array(&self.0, encoder, view);
    }
}

impl<T: Typed> Shortcuts for StreamedArray<T> {}

impl<T: Typed> Typed for StreamedArray<T> {
    const TYPE_NAME: QName = SoapArray::<T>::TYPE_NAME;

    fn element() -> &'static Element {
        SoapArray::<T>::element()
    }
}
