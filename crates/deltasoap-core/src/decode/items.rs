//! Items of lists: reading, opening, inserting, removing them, and taking them out while the
//! message is read.
//!
//! *Taking out*: between two windows all items but the last one, which may be unfinished, can be
//! taken out of any `Vec` of a message. A routine that continues in a list finds its item at the
//! place where it was opened, or else it is the only one. That is all the decoder has to know, so
//! it costs nothing where nothing is taken. Such a message is not compared with earlier ones, and
//! arrays whose items specify their position are refused. Limits on what a message holds count anew
//! when items are taken (`Decoder::restart_limits`), unless bytes are kept for references, or the
//! message has brought many names and namespaces, which the reader keeps to its end. If there is an
//! error, the items before it are given first, so that they do not depend on how the bytes were
//! cut.

use super::{Cursor, Step};
use crate::content::Content;
use crate::schema::View;

/// Reads an occurrence. If it was made vacant, it is no longer the old one: no checkpoint lies
/// within it.
#[inline]
pub(crate) fn decode_one<T: Content>(value: &mut T, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
    if !T::REPLACES {
        cursor.keep_elsewhere();
    }
    value.decode(cursor, view)
}

/// Takes all items out of a list that is being read, except the last one, which may be incomplete.
/// For long lists whose items are used while the message arrives; see [`Cursor::stream_items`].
/// (*Toward Characterizing the Performance of SOAP Toolkits*, section 2.3: applications may begin
/// before the document is complete.)
pub fn take_finished<T>(items: &mut Vec<T>) -> Vec<T> {
    let Some(last) = items.pop() else { return Vec::new() };
    std::mem::replace(items, vec![last])
}

/// Returns the index of the item being read in a list of `len` items: if [others were taken
/// out](take_finished) since it was opened, it is the only one.
#[inline]
pub(crate) fn still_there(place: usize, len: usize) -> usize {
    if place < len { place } else { len.saturating_sub(1) }
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
