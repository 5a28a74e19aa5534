//! SOAP arrays: items identified by position (SOAP 1.1 section 5.4.2; SOAP 1.2 part 2, section
//! 3.1.6).
//!
//! The size in `arrayType` is only a claim by the sender. Nothing is allocated from it and nothing
//! is rejected because of it: the items themselves are the array. Arrays of several dimensions are
//! read in row-major order; for these, all sizes except the first determine where a row ends.
//! `forms` reads arrays that are written in a form other than declared. Room for omitted items
//! (`offset`, `position`), and for rows without items, is made within the limit
//! [`omitted_items`](crate::Limits::omitted_items).
//!
//! The first size of an array of several dimensions counts only if its rows have no items: then it
//! says how many rows there are, within the same limit. Of the dimensions only the number is
//! compared with the declared one.

mod forms;
mod gaps;
mod shape;

pub(crate) use forms::{Next, fits};
pub(crate) use gaps::Gaps;

use super::cursor::Tag;
use super::differential::leaf::Descent;
use super::flat::{self, Patch, Run};
use super::state::{PATCH, SEEK};
use super::{Cursor, Step, Stop};
use crate::ErrorKind;
use crate::content::{APPENDED, Content};
use crate::decode::items;
use crate::schema::{Element, View};
use shape::Shape;

const BETWEEN: u8 = 0;
const INSIDE: u8 = 1;

/// Reads the items of a SOAP array, up to and including the array's end tag.
///
/// # Errors
/// When the array's type is malformed, or an item is invalid.
pub fn decode<T: Content>(items: &mut Vec<T>, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
    decode_rows(items, cursor, view).map(|_| ())
}

/// Like [`decode`], with the items in row-major order. Returns the sizes of all dimensions if there
/// are several. Their product is the number of items.
pub(crate) fn decode_rows<T: Content>(items: &mut Vec<T>, cursor: &mut Cursor<'_>, view: View<'_>) -> Step<Vec<u64>> {
    let Some(array) = view.array() else { unreachable!("an array routine with another schema class") };
    let item_view = item_view(view);
    let key = std::ptr::from_ref(array).addr();
    let leaves = T::flat_leaves(item_view);
    let (me, fresh) = cursor.enter();
    let is_next = fresh && forms::begin_next(cursor, me);
    if fresh && !is_next && !cursor.is_seeking() {
        cursor.frame(me).is_repeated = true;
        begin(items, cursor, view, me)?;
    } else if fresh && !is_next {
        cursor.frame(me).is_repeated = true;
        descend(cursor, me, leaves.is_some())?;
    }
    if forms::is_at_work(cursor, me) {
        return forms::decode(items, cursor, view, me);
    }
    loop {
        if cursor.frame(me).state == SEEK {
            descend(cursor, me, leaves.is_some())?;
        }
        if cursor.frame(me).state == PATCH {
            patch(items, cursor, item_view, me)?;
        }
        if cursor.frame(me).state == INSIDE {
            let place = items::still_there(cursor.frame(me).place as usize, items.len());
            let Some(item) = items.get_mut(place) else { unreachable!("inside an item that was not opened") };
            cursor.visit(item_view, |cursor| items::decode_one(item, cursor, item_view))?;
            let frame = cursor.frame(me);
            (frame.state, frame.is_opaque) = (BETWEEN, false);
            cursor.end_child();
            if let Some(leaves) = leaves {
                cursor.learn_item(key, leaves, view);
            }
        }
        if leaves.is_some() && !cursor.can_resync(me) && is_next_after(items.len(), cursor, me) {
            let (count, short) = match flat::run(items, cursor, key, item_view) {
                Run::Items(count) => (count, false),
                Run::Short(count) => (count, true),
            };
            cursor.frame(me).count = cursor.frame(me).count.saturating_add(count);
            if short {
                return Err(Stop::Pending);
            }
        }
        cursor.at_markup(me)?;
        let before = cursor.item_start().filter(|_| leaves.is_some());
        match cursor.next_tag()? {
            Tag::Start => open_item(items, cursor, view, me, before)?,
            Tag::End | Tag::Done => {
                if cursor.is_over(me) {
                    items.truncate(cursor.frame(me).count as usize);
                    cursor.leave_old_element();
                }
                let inner = inner_sizes(cursor, me, view);
                let rows = complete_row(items, cursor, view, (me, &inner))?;
                cursor.state().gaps.leave(me);
                cursor.state().item_types.pop_if(|(array, _)| *array == me);
                cursor.leave(me);
                return Ok(all_sizes(rows, inner));
            }
        }
    }
}

/// Handles the array's start tag.
fn begin<T: Content>(items: &mut Vec<T>, cursor: &mut Cursor<'_>, view: View<'_>, me: usize) -> Step {
    let shape = shape::read(cursor, view.array().map_or(1, |array| array.dimensions.max(1) as usize))?;
    if shape.offset.is_some() {
        refuse_streamed(cursor, "an array with an offset")?;
    }
    if forms::begin(cursor, me, &shape, view)? {
        items.clear();
        return Ok(());
    }
    let Shape { inner, first, offset } = shape;
    if offset.is_some() {
        cursor.leave_differential()?;
    }
    name_items(cursor, view, me)?;
    cursor.begin_children(me);
    if !cursor.go_over(me) {
        items.clear();
    }
    let first = first.filter(|_| !inner.is_empty());
    cursor.state().stack.seen.extend(inner.into_iter().chain(first));
    if let Some(offset) = offset {
        omit(items, cursor, view, (me, offset))?;
        cursor.frame(me).count = items.len() as u32;
    }
    Ok(())
}

/// Records the type that the array names for items which name none themselves, where the schema
/// allows a choice. Decoding cannot then resume at an item: its own start tag does not identify its
/// type.
fn name_items(cursor: &mut Cursor<'_>, view: View<'_>, me: usize) -> Step {
    let Element::Open(open) = item_view(view).content().element else { return Ok(()) };
    let name = if cursor.reader().attribute_count() == 0 { None } else { shape::item_type(cursor) };
    let is_base = |place: &usize| open.types.get(*place).map(|(_, content)| *content) == open.base;
    if let Some(named) = name.and_then(|name| open.place_of(&name)).filter(|place| !is_base(place)) {
        cursor.leave_differential()?;
        cursor.state().item_types.push((me, named));
    }
    Ok(())
}

/// Descends to where regular mode continues in the array of the previous message.
fn descend(cursor: &mut Cursor<'_>, me: usize, is_flat: bool) -> Step {
    let step = cursor.descend(me)?;
    let frame = cursor.frame(me);
    match step {
        Descent::Into { count, .. } => (frame.count, frame.place, frame.state) = (count, count - 1, INSIDE),
        Descent::Here { count, patch, .. } => {
            (frame.count, frame.state) = (count, if patch { PATCH } else { BETWEEN });
            if is_flat {
                cursor.charge_flat();
            }
        }
    }
    Ok(())
}

/// Rereads flat items that differ from those of the previous message.
fn patch<T: Content>(items: &mut Vec<T>, cursor: &mut Cursor<'_>, view: View<'_>, me: usize) -> Step {
    match flat::patch(items, cursor, view) {
        Patch::Fast => Err(Stop::Switch),
        Patch::Short => Err(Stop::Pending),
        Patch::Other { count, .. } => {
            let frame = cursor.frame(me);
            (frame.count, frame.state) = (count, BETWEEN);
            Ok(())
        }
    }
}

fn open_item<T: Content>(
    items: &mut Vec<T>,
    cursor: &mut Cursor<'_>,
    view: View<'_>,
    me: usize,
    before: Option<usize>,
) -> Step {
    let (array, view) = (view, item_view(view));
    let inner = inner_sizes(cursor, me, array);
    let position = shape::position(cursor, &inner).inspect_err(|_| count_item(cursor, me))?;
    if let Some(place) = position {
        refuse_streamed(cursor, "an item with a position").inspect_err(|_| count_item(cursor, me))?;
        cursor.leave_differential()?;
        leave_old(items, cursor, me);
        omit(items, cursor, array, (me, place)).inspect_err(|_| count_item(cursor, me))?;
        cursor.frame(me).count = u32::try_from(place).unwrap_or(u32::MAX);
    }
    let count = cursor.frame(me).count.saturating_add(1);
    if cursor.is_over(me)
        && let Some((_, shift)) = cursor.take_shift()
    {
        let moved = items::splice_items(items, shift.place, shift.removed, shift.inserted, view);
        cursor.charge_moved(moved);
    }
    if cursor.is_over(me) && cursor.resync(me, 0, count, view.array().is_some()) {
        return Err(Stop::Switch);
    }
    cursor.at_child(me, 0);
    cursor.begin_child(0, count);
    let place = if cursor.is_over(me) { cursor.frame(me).count as usize } else { next_place(items, cursor, me, view)? };
    let place = items::open_item(items, place, view);
    let frame = cursor.frame(me);
    frame.place = place as u32;
    frame.count = count;
    frame.state = INSIDE;
    if before.is_some() {
        // The markup of an item that specifies its position means another place each time.
        cursor.learn_from(before.filter(|_| position.is_none()));
    }
    Ok(())
}

/// Rejects items with positions if items are taken out while the message is read: indices in the
/// array are then unknown.
fn refuse_streamed(cursor: &mut Cursor<'_>, found: &str) -> Step {
    if !cursor.state().is_streamed {
        return Ok(());
    }
    let expected = "an array whose items are in order, since they are taken while the message is read".to_owned();
    Err(cursor.error_at_tag(ErrorKind::UnexpectedValue { found: found.to_owned(), expected }))
}

/// Over an old value: drops the old items that were not replaced yet. The array continues as one
/// that is read from its start: only such an array has gaps.
fn leave_old<T>(items: &mut Vec<T>, cursor: &mut Cursor<'_>, me: usize) {
    if cursor.is_over(me) {
        items.truncate(cursor.frame(me).count as usize);
        cursor.leave_old(me);
    }
}

/// Returns true if the next item comes after all present ones (some may have been taken out), or
/// replaces an old one.
fn is_next_after(len: usize, cursor: &mut Cursor<'_>, me: usize) -> bool {
    cursor.is_over(me) || cursor.frame(me).count as usize >= len
}

/// Returns the index of the next item: after the others, or at a position that was passed over,
/// which is made vacant.
fn next_place<T: Content>(items: &mut [T], cursor: &mut Cursor<'_>, me: usize, view: View<'_>) -> Step<usize> {
    let place = cursor.frame(me).count as usize;
    let Some(item) = items.get_mut(place) else { return Ok(APPENDED) };
    if !cursor.state().gaps.fill(me, place) {
        count_item(cursor, me);
        let (found, expected) = (format!("[{place}]"), "a position without an item".to_owned());
        return Err(cursor.error_at_tag(ErrorKind::UnexpectedValue { found, expected }));
    }
    *item = T::vacant(view);
    Ok(place)
}

/// Counts an item with an error at its start tag, so that the error's path includes it.
#[cold]
fn count_item(cursor: &mut Cursor<'_>, me: usize) {
    let frame = cursor.frame(me);
    frame.count = frame.count.saturating_add(1);
}

/// Makes room for the omitted items up to `place`.
fn omit<T: Content>(items: &mut Vec<T>, cursor: &mut Cursor<'_>, view: View<'_>, (me, place): (usize, u64)) -> Step {
    let limit = cursor.limits().omitted_items;
    let (from, to) = (items.len(), usize::try_from(place).unwrap_or(usize::MAX));
    if to <= from {
        return Ok(());
    }
    if !cursor.state().gaps.add(me, from, to, limit) {
        return Err(cursor.limit_error("omitted_items", limit));
    }
    let is_nillable = view.array().is_some_and(|array| array.nillable);
    items.resize_with(to, || T::omitted(item_view(view), is_nillable));
    Ok(())
}

/// Handles the end tag: items missing from the last row were omitted. Returns the number of rows.
fn complete_row<T: Content>(
    items: &mut Vec<T>,
    cursor: &mut Cursor<'_>,
    view: View<'_>,
    (me, inner): (usize, &[u64]),
) -> Step<u64> {
    let row = inner.iter().fold(1, |row: u64, size| row.saturating_mul(*size));
    let len = items.len() as u64;
    if row > 0 {
        omit(items, cursor, view, (me, len.div_ceil(row).saturating_mul(row)))?;
        return Ok(len.div_ceil(row));
    }
    if len > 0 {
        return Err(cursor.error_at_end(ErrorKind::Other("the array has items, but its rows have size 0".to_owned())));
    }
    // Rows without items are counted as omitted items.
    let log = cursor.frame(me).log as usize;
    let rows = cursor.state().stack.seen.get(log + inner.len()).copied().unwrap_or(0);
    let all = inner.iter().take_while(|size| **size > 0).fold(rows, |all, size| all.saturating_mul(*size));
    let limit = cursor.limits().omitted_items;
    match cursor.state().gaps.add(me, 0, usize::try_from(all).unwrap_or(usize::MAX), limit) {
        true => Ok(rows),
        false => Err(cursor.limit_error("omitted_items", limit)),
    }
}

/// Returns the sizes of all dimensions if there are several, else an empty list.
fn all_sizes(rows: u64, inner: Vec<u64>) -> Vec<u64> {
    if inner.is_empty() { inner } else { std::iter::once(rows).chain(inner).collect() }
}

/// Returns the sizes of all dimensions except the first, which the routine has put on the log.
fn inner_sizes(cursor: &mut Cursor<'_>, me: usize, view: View<'_>) -> Vec<u64> {
    let dimensions = view.array().map_or(1, |array| array.dimensions as usize);
    if dimensions <= 1 {
        return Vec::new();
    }
    let log = cursor.frame(me).log as usize;
    cursor.state().stack.seen[log..].iter().take(dimensions - 1).copied().collect()
}

fn item_view(view: View<'_>) -> View<'_> {
    view.array().map_or(view, |array| view.follow(array.item))
}
