//! Items of lists: read, opened, inserted and removed.

use super::{Cursor, Step};
use crate::content::Content;
use crate::schema::View;

/// Reads an occurrence. One that was made vacant is no longer the old one: no checkpoint lies within it.
#[inline]
pub(crate) fn decode_one<T: Content>(value: &mut T, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
    if !T::REPLACES {
        cursor.keep_elsewhere();
    }
    value.decode(cursor, view)
}

/// See [`Occurs::open`](crate::Occurs::open), for lists.
pub(crate) fn open_item<T: Content>(items: &mut Vec<T>, place: usize, view: View<'_>) -> usize {
    match items.get_mut(place) {
        Some(item) => {
            if !T::REPLACES {
                *item = T::vacant(view);
            }
            place
        }
        None => {
            items.push(T::blank(view));
            items.len() - 1
        }
    }
}

/// See [`Occurs::splice`](crate::Occurs::splice).
pub(crate) fn splice_items<T: Content>(
    items: &mut Vec<T>,
    place: usize,
    removed: usize,
    inserted: usize,
    view: View<'_>,
) -> usize {
    let start = place.min(items.len());
    let end = start.saturating_add(removed).min(items.len());
    let moved = (items.len() - end) * size_of::<T>();
    items.splice(start..end, (0..inserted).map(|_| T::vacant(view)));
    moved
}
