//! Arrays in a form other than declared: rows of a matrix as separate arrays, and arrays of arrays
//! as a matrix.
//!
//! ```text
//! declared [,]     found [][2]      <a t="x[][2]"><r t="x[3]"><i/><i/><i/></r><r t="x[3]"><i/><i/><i/></r></a>
//! declared [][]    found [2,3]      <a t="x[2,3]"><i/><i/><i/><i/><i/><i/></a>
//! ```
//!
//! Senders mix them up. Both mean the same if all rows have the same length, and are then read as
//! the same value; otherwise the error names both forms. Such messages are read in regular mode,
//! and the form is reported as a [`DeviationKind::ArrayForm`].
//!
//! *Rows* ([`ROWS`]): each level of the message's arrays has a frame, one above the other, and
//! appends its items to those of the whole array. The sizes that rows must have are on the log of
//! the outermost frame, from the first row on. *Split* ([`SPLIT`]): the outer array opens an inner
//! one whenever a row begins. The inner array has no element of its own: its routine is entered
//! again for each item, and [`Next`] tells it that the start tag just read is that of one more
//! item.

use super::item_view;
use super::shape::{self, Shape};
use crate::ErrorKind;
use crate::content::{APPENDED, Content};
use crate::decode::cursor::Tag;
use crate::decode::items::open_item;
use crate::decode::{Cursor, DeviationKind, Step, Stop};
use crate::schema::View;

/// Between two rows, or two items of a row.
const ROWS: u8 = 2;
/// Inside a row, or an item of one.
const IN_ROWS: u8 = 3;
/// Between two items that belong in rows.
const SPLIT: u8 = 4;
/// Inside an item that belongs in a row.
const IN_SPLIT: u8 = 5;
/// At the start tag of one more item of a row that has no element.
const NEXT: u8 = 6;
/// Inside that item.
const IN_NEXT: u8 = 7;

/// The size of a dimension that no row has determined yet.
const UNKNOWN: u64 = u64::MAX;

/// Maximum number of nested arrays that are counted: a type can contain itself.
const MAX_RANKS: usize = 16;

const RAGGED: &str = "its rows have different lengths";
const LEFT_OUT: &str = "items are omitted or specify their position";
const NO_ROWS: &str = "it has items, but its rows are empty";

/// Tells the routine of a row that has no element of its own: the start tag just read is that of
/// the row's next item.
#[derive(Debug)]
pub(crate) struct Next {
    /// The item's index in the row.
    index: u64,
    /// The sizes of the dimensions below the row's first.
    sizes: Vec<u64>,
}

/// Handles the array's start tag. Returns true if it is in a form other than declared, which
/// [`decode`] then reads.
pub(super) fn begin(cursor: &mut Cursor<'_>, me: usize, shape: &Shape, view: View<'_>) -> Step<bool> {
    let (found, declared) = (shape.dimensions(), dimensions(view));
    if found == declared {
        return Ok(false);
    }
    if found > declared && depth(view) < found {
        return Err(refuse(cursor, &rank(found), view, "the declared items are not arrays"));
    }
    cursor.leave_differential()?;
    cursor.stop_learning();
    cursor.leave_old(me);
    if shape.offset.is_some() {
        return Err(refuse(cursor, &form(found, view), view, LEFT_OUT));
    }
    if let Some(name) = shape::name_of_sizes(cursor) {
        cursor.report_attribute(DeviationKind::ArrayForm, name);
    }
    let frame = cursor.frame(me);
    (frame.field, frame.state) = (found as u32, if found < declared { ROWS } else { SPLIT });
    let later = std::iter::repeat_n(UNKNOWN, declared.saturating_sub(found));
    cursor.state().stack.seen.extend(shape.inner.iter().copied().chain(later));
    Ok(true)
}

/// Returns true unless the element just opened is an array whose rows do not fit this content:
/// [`begin`] rejects such arrays.
pub(crate) fn fits(cursor: &Cursor<'_>, view: View<'_>) -> bool {
    let Some(found) = view.array().and_then(|_| shape::rank(cursor)) else { return true };
    found <= dimensions(view).max(depth(view))
}

/// For a routine just entered: returns true if it must read one more item of a row that has no
/// element.
pub(super) fn begin_next(cursor: &mut Cursor<'_>, me: usize) -> bool {
    let is_next = cursor.is_next_in_row();
    if is_next {
        cursor.frame(me).state = NEXT;
    }
    is_next
}

/// Returns true if the routine reads an array in a form other than declared.
pub(super) fn is_at_work(cursor: &mut Cursor<'_>, me: usize) -> bool {
    (ROWS..=IN_NEXT).contains(&cursor.frame(me).state)
}

/// Reads the array; see [`decode_rows`](super::decode_rows).
pub(super) fn decode<T: Content>(
    items: &mut Vec<T>,
    cursor: &mut Cursor<'_>,
    view: View<'_>,
    me: usize,
) -> Step<Vec<u64>> {
    let sizes = match cursor.frame(me).state {
        ROWS | IN_ROWS => {
            rows(items, cursor, view, (me, me))?;
            let known = |size| if size == UNKNOWN { 0 } else { size };
            let inner: Vec<u64> = sizes(cursor, me, dimensions(view)).into_iter().map(known).collect();
            let row = inner.iter().fold(1, |row: u64, size| row.saturating_mul(*size));
            let frame = cursor.frame(me);
            // Rows without items are elements here, and are counted.
            let empty = if frame.field == 1 && inner.len() == 1 { frame.count.into() } else { 0 };
            super::all_sizes((items.len() as u64).checked_div(row).unwrap_or(empty), inner)
        }
        SPLIT | IN_SPLIT => {
            split(items, cursor, view, me)?;
            Vec::new()
        }
        _ => {
            next(items, cursor, view, me)?;
            Vec::new()
        }
    };
    cursor.leave(me);
    Ok(sizes)
}

/// Reads an array of rows, or a row, up to and including its end tag. `root` is the frame of the
/// whole array.
fn rows<T: Content>(items: &mut Vec<T>, cursor: &mut Cursor<'_>, view: View<'_>, (root, me): (usize, usize)) -> Step {
    let (declared, item_view) = (dimensions(view), item_view(view));
    let are_items = cursor.frame(me).field as usize == declared;
    loop {
        if cursor.frame(me).state == IN_ROWS {
            match items.last_mut() {
                Some(item) if are_items => cursor.visit(item_view, |cursor| item.decode(cursor, item_view))?,
                _ => cursor.visit(view, |cursor| row(items, cursor, view, root))?,
            }
            cursor.frame(me).state = ROWS;
        }
        // Text is rejected at the tag before it, which may no longer be in the window by then.
        let tag = cursor.reader().tag_offset();
        cursor.frame(me).mark = if me > root { tag } else { 0 };
        match cursor.next_tag() {
            Ok(Tag::Start) => {}
            Ok(Tag::End | Tag::Done) => return end_row(cursor, view, (root, me)),
            Err(Stop::Error(error)) if me > root && *error.kind() == ErrorKind::UnexpectedText => {
                return Err(refuse(cursor, "[]", view, "its items are not arrays"));
            }
            Err(stop) => return Err(stop),
        }
        count_child(cursor, me, view)?;
        if are_items {
            open_item(items, APPENDED, item_view);
        }
        cursor.frame(me).state = IN_ROWS;
    }
}

/// Reads a row, whose start tag has just been read.
fn row<T: Content>(items: &mut Vec<T>, cursor: &mut Cursor<'_>, view: View<'_>, root: usize) -> Step {
    let (me, fresh) = cursor.enter();
    if fresh {
        let (outer, declared) = (cursor.frame(me - 1).field as usize, dimensions(view));
        let Shape { inner, offset, .. } = shape::read(cursor, declared - outer)?;
        let end = outer + inner.len() + 1;
        if end > declared || offset.is_some() {
            let reason = if offset.is_some() { LEFT_OUT } else { "a row has too many dimensions" };
            return Err(refuse(cursor, &form(outer, view), view, reason));
        }
        let frame = cursor.frame(me);
        (frame.field, frame.state, frame.is_repeated) = (end as u32, ROWS, true);
        for (dimension, size) in inner.into_iter().enumerate() {
            agree(cursor, view, root, (outer + 1 + dimension, size))?;
        }
    }
    rows(items, cursor, view, (root, me))?;
    cursor.leave(me);
    Ok(())
}

/// Handles the end tag of a row: it must have the sizes of the rows before it.
fn end_row(cursor: &mut Cursor<'_>, view: View<'_>, (root, me): (usize, usize)) -> Step {
    let outer = if me == root { 0 } else { cursor.frame(me - 1).field as usize };
    let (count, end) = (u64::from(cursor.frame(me).count), cursor.frame(me).field as usize);
    let own = sizes(cursor, root, end);
    let row = own[outer..].iter().fold(1_u64, |row, size| row.saturating_mul(*size));
    match count.checked_rem(row) {
        Some(0) if outer > 0 => agree(cursor, view, root, (outer, count / row)),
        Some(0) => Ok(()),
        None if count == 0 => Ok(()),
        None => Err(refuse(cursor, &form(outer, view), view, NO_ROWS)),
        Some(_) => Err(refuse(cursor, &form(outer, view), view, RAGGED)),
    }
}

/// Records the size of a dimension, counted from 0, or compares it with that of the rows before.
fn agree(cursor: &mut Cursor<'_>, view: View<'_>, root: usize, (dimension, size): (usize, u64)) -> Step {
    let place = cursor.frame(root).log as usize + dimension - 1;
    let known = &mut cursor.state().stack.seen[place];
    if *known == UNKNOWN {
        *known = size;
    }
    let is_same = *known == size;
    let outer = cursor.frame(root).field as usize;
    if is_same { Ok(()) } else { Err(refuse(cursor, &form(outer, view), view, RAGGED)) }
}

/// Reads items that belong in rows, up to and including the array's end tag.
fn split<T: Content>(items: &mut Vec<T>, cursor: &mut Cursor<'_>, view: View<'_>, me: usize) -> Step {
    let found = cursor.frame(me).field as usize;
    loop {
        if cursor.frame(me).state == IN_SPLIT {
            in_row(items, cursor, view)?;
            cursor.frame(me).state = SPLIT;
        }
        let tag = cursor.next_tag()?;
        let (count, sizes) = (u64::from(cursor.frame(me).count), sizes(cursor, me, found));
        let row = sizes.iter().fold(1_u64, |row, size| row.saturating_mul(*size));
        match (tag, count.checked_rem(row)) {
            (Tag::Start, Some(_)) => {
                count_child(cursor, me, view)?;
                open_next(items, cursor, view, Next { index: count, sizes });
                cursor.frame(me).state = IN_SPLIT;
            }
            (Tag::Start, None) => return Err(refuse(cursor, &rank(found), view, NO_ROWS)),
            (_, None | Some(0)) => return Ok(()),
            (_, Some(_)) => return Err(refuse(cursor, &rank(found), view, "its last row is not complete")),
        }
    }
}

/// Reads one more item of a row that has no element. The item's start tag has just been read.
fn next<T: Content>(items: &mut Vec<T>, cursor: &mut Cursor<'_>, view: View<'_>, me: usize) -> Step {
    if let Some(next) = cursor.state().handover.next_in_row.take() {
        let frame = cursor.frame(me);
        // 1 if the item belongs to a row, 0 if it belongs to a row of rows.
        (frame.field, frame.state) = (u32::from(next.sizes.is_empty()), IN_NEXT);
        match next.sizes.is_empty() {
            true => _ = open_item(items, APPENDED, item_view(view)),
            false => open_next(items, cursor, view, *next),
        }
    }
    if cursor.frame(me).field == 0 {
        return in_row(items, cursor, view);
    }
    let view = item_view(view);
    let Some(item) = items.last_mut() else { unreachable!("inside an item that was not opened") };
    cursor.visit(view, |cursor| item.decode(cursor, view))
}

/// Makes room for a row if one begins, and passes the item to its routine.
fn open_next<T: Content>(items: &mut Vec<T>, cursor: &mut Cursor<'_>, view: View<'_>, next: Next) {
    let row = next.sizes.iter().fold(1_u64, |row, size| row.saturating_mul(*size)).max(1);
    if next.index.is_multiple_of(row) {
        open_item(items, APPENDED, item_view(view));
    }
    let sizes = next.sizes[1..].to_vec();
    cursor.state().handover.next_in_row = Some(Box::new(Next { index: next.index % row, sizes }));
}

/// Continues in the last row, which is an array without an element.
fn in_row<T: Content>(items: &mut [T], cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
    let Some(row) = items.last_mut() else { unreachable!("inside a row that was not opened") };
    row.decode(cursor, item_view(view))
}

/// Handles the start tag of an item or a row.
fn count_child(cursor: &mut Cursor<'_>, me: usize, view: View<'_>) -> Step {
    let frame = cursor.frame(me);
    frame.count = frame.count.saturating_add(1);
    let found = frame.field as usize;
    match shape::has_position(cursor) {
        true => Err(refuse(cursor, &form(found, view), view, LEFT_OUT)),
        false => Ok(()),
    }
}

/// Returns the sizes of an array's dimensions `1..end`, counted from 0.
fn sizes(cursor: &mut Cursor<'_>, root: usize, end: usize) -> Vec<u64> {
    let log = cursor.frame(root).log as usize;
    cursor.state().stack.seen[log..].iter().take(end.saturating_sub(1)).copied().collect()
}

fn dimensions(view: View<'_>) -> usize {
    view.array().map_or(1, |array| array.dimensions.max(1) as usize)
}

/// Returns the number of nested one-dimensional arrays.
fn depth(view: View<'_>) -> usize {
    let (mut depth, mut view) = (0, view);
    while depth < MAX_RANKS && view.array().is_some_and(|array| array.dimensions <= 1) {
        (depth, view) = (depth + 1, item_view(view));
    }
    depth
}

#[cold]
fn refuse(cursor: &Cursor<'_>, found: &str, view: View<'_>, reason: &'static str) -> Stop {
    let declared: String = match (dimensions(view), depth(view)) {
        (1, depth) => "[]".repeat(depth),
        (dimensions, _) => rank(dimensions),
    };
    cursor.error_at_tag(ErrorKind::ArrayForm { found: found.to_owned(), declared, reason })
}

/// Returns `[,]` for two dimensions.
fn rank(dimensions: usize) -> String {
    format!("[{}]", ",".repeat(dimensions.saturating_sub(1)))
}

/// Returns the form in which the outermost of the message's arrays has `outer` dimensions.
fn form(outer: usize, view: View<'_>) -> String {
    match dimensions(view).checked_sub(outer) {
        Some(inner @ 1..) => format!("{}{}", rank(inner), rank(outer)),
        _ => rank(outer),
    }
}
