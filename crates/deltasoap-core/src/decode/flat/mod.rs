//! Arrays of flat items: learn the markup of one item, then compare it for the rest.
//!
//! An item is *flat* if all values of its type have the same leaves. Between the leaves stands markup, and senders
//! write the same markup for every item. So:
//!
//! ```text
//! decode one item by the general routines, noting where its leaves' text begins and ends
//! segments := the bytes before, between and behind the leaves
//! loop:
//!     expect segment "open"        <item><x>
//!     for each leaf: parse it, expect the segment behind it
//!     "close" and the next "open" are one segment, "turn"      </v></item><item><x>
//! on the first deviation: back to the start of the item, general routines
//! ```
//!
//! Why this is sound: the reader's state in front of an item and behind it is the same (the same open elements, the
//! same declarations in scope), and tokenizing is a function of state and bytes. Equal bytes from an equal state give
//! the same tokens, so comparing them replaces tokenizing them. Of the limits, depth is the one that the place of an
//! item decides; a shape is used no deeper than where it was learned. A leaf's own text is read by
//! [`Lexical::scan`], which accepts only text that ends at a `<` and that the general routine would accept
//! with the same value. Nothing is ever refused here: a deviation only goes back to the general routines.
//!
//! Segments of up to 32 bytes are compared as two masked 128-bit words.

mod patch;

pub use patch::{Patch, patch};

use super::{Cursor, differential};
use crate::content::Content;
use crate::schema::{Builtin, View};
use crate::template::{Segment, Shape};
use deltasoap_xml::ScopeId;
use deltasoap_xml::lexical::Lexical;
use std::sync::Arc;

/// How many bytes of an unfinished item are kept for the next window instead of being read piece by piece.
const CARRY: usize = 1024;
/// How many different item shapes are remembered within one message.
const SHAPES: usize = 16;

/// The markup of flat items, by field and scope.
#[derive(Debug, Default)]
pub(crate) struct Learned {
    shapes: Vec<Arc<Known>>,
    /// The next shape to be replaced when there are `SHAPES`.
    oldest: usize,
    /// True if nothing is learned: every item goes through the general routines.
    is_off: bool,
    /// Where the item being learned begins in the window.
    start: Option<usize>,
    /// Where its leaves' text begins and ends, so far.
    leaves: Vec<(usize, usize)>,
    /// The types that its markup names, of those leaves whose type is not known otherwise.
    types: Vec<Builtin>,
}

/// A shape and where it holds.
#[derive(Debug)]
pub(crate) struct Known {
    field: usize,
    scope: ScopeId,
    /// Elements open in front of the item when it was learned: deeper down, its own could exceed the limit.
    depth: usize,
    shape: Shape,
    /// The types that the shape's markup names.
    types: Vec<Builtin>,
}

impl Learned {
    pub(crate) fn clear(&mut self) {
        self.shapes.clear();
        self.oldest = 0;
        self.start = None;
    }

    /// A new window: positions noted in the last one mean nothing.
    pub(crate) fn forget_positions(&mut self) {
        self.start = None;
    }

    pub(crate) fn switch_off(&mut self) {
        self.is_off = true;
    }

    fn find(&self, field: usize, scope: ScopeId, depth: usize) -> Option<&Arc<Known>> {
        let mut shapes = self.shapes.iter();
        let known = shapes.find(|known| known.field == field && known.scope == scope)?;
        (depth <= known.depth).then_some(known)
    }

    fn insert(&mut self, shape: Known) {
        let shape = Arc::new(shape);
        if let Some(old) = self.shapes.iter_mut().find(|old| old.field == shape.field && old.scope == shape.scope) {
            *old = shape;
        } else if self.shapes.len() < SHAPES {
            self.shapes.push(shape);
        } else {
            self.shapes[self.oldest] = shape;
            self.oldest = (self.oldest + 1) % SHAPES;
        }
    }
}

impl Known {
    /// Bytes in front of an item's start tag.
    pub(crate) fn indent(&self) -> usize {
        let open = self.shape.open.as_slice();
        open.iter().position(|&byte| byte == b'<').unwrap_or(open.len())
    }
}

impl Cursor<'_> {
    /// Where an item that comes next begins, if what stands there means the same for every item: not behind the first
    /// half of a comment or CDATA section.
    #[inline]
    pub(crate) fn item_start(&self) -> Option<usize> {
        self.reader().is_between_tokens().then(|| self.pos())
    }

    /// Begins to learn an item whose markup begins at `start`.
    pub(crate) fn learn_from(&mut self, start: Option<usize>) {
        let learned = &mut self.state().learned;
        learned.start = start.filter(|_| !learned.is_off);
        learned.leaves.clear();
        learned.types.clear();
    }

    /// Notes the type that the markup of the next leaf names.
    pub(crate) fn learn_type(&mut self, named: Builtin) {
        let learned = &mut self.state().learned;
        if learned.start.is_some() {
            learned.types.push(named);
        }
    }

    /// Notes a leaf.
    #[inline]
    pub(crate) fn learn_leaf(&mut self, start: usize, end: usize) {
        let learned = &mut self.state().learned;
        if learned.start.is_some() {
            learned.leaves.push((start, end));
        }
    }

    /// Gives up on the item: one of its leaves is not plain text in this window.
    pub(crate) fn stop_learning(&mut self) {
        self.state().learned.start = None;
    }

    /// Ends an item: if all its leaves were noted, its markup is now known.
    pub(crate) fn learn_item(&mut self, field: usize, leaves: usize) {
        let (bytes, end) = (self.bytes(), self.pos());
        let (scope, depth) = (self.reader().scope(), self.reader().depth());
        let learned = &mut self.state().learned;
        let Some(start) = learned.start.take() else { return };
        if learned.leaves.len() != leaves {
            return;
        }
        if let Some(shape) = Shape::new(bytes, start, end, &learned.leaves) {
            let types = learned.types.clone();
            learned.insert(Known { field, scope, depth, shape, types });
        }
    }
}

/// The leaves of one item, being read.
#[derive(Debug)]
pub struct FlatScan<'a> {
    bytes: &'a [u8],
    pos: usize,
    between: std::slice::Iter<'a, Segment>,
    types: std::slice::Iter<'a, Builtin>,
    text_limit: usize,
}

impl FlatScan<'_> {
    /// The type that the markup in front of the next leaf names; for leaves that have noted one.
    pub(crate) fn named_type(&mut self) -> Option<Builtin> {
        self.types.next().copied()
    }

    /// Reads a leaf and the markup between it and the next; `None` on any deviation.
    #[inline(always)]
    pub fn leaf<T: Lexical>(&mut self, value: &mut T) -> Option<()> {
        let used = value.scan_into(self.bytes.get(self.pos..)?)?;
        if used > self.text_limit {
            return None;
        }
        self.pos += used;
        if let Some(segment) = self.between.next() {
            if !segment.matches(&self.bytes[self.pos..]) {
                return None;
            }
            self.pos += segment.len();
        }
        Some(())
    }
}

/// Sets the item at a place: an old one, or the next.
#[inline(always)]
fn put<T>(items: &mut Vec<T>, place: usize, value: T) {
    match items.get_mut(place) {
        Some(item) => *item = value,
        None => items.push(value),
    }
}

/// Notes where an item begins.
#[inline(always)]
fn note(run: &mut Option<&mut differential::leaf::Run>, base: u64, start: usize) {
    if let Some(run) = run {
        run.positions.push((base as u32).wrapping_add(start as u32).wrapping_sub(run.base));
    }
}

/// What [`run`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
    /// Items were read, perhaps none; the general routines go on.
    Items(u32),
    /// As `Items`, and the window ends within an item that has begun as expected: better wait for more.
    Short(u32),
}

/// Reads as many flat items of a field as the window holds.
pub fn run<T: Content>(items: &mut Vec<T>, cursor: &mut Cursor<'_>, field: usize, view: View<'_>) -> Run {
    let (window, state) = cursor.parts();
    if !state.reader.is_between_tokens() {
        return Run::Items(0);
    }
    let (scope, depth) = (state.reader.scope(), state.reader.depth());
    let (first, most) = (state.next_place(items.len()), state.items_to_watch());
    if most == 0 {
        return Run::Items(0);
    }
    let frame = state.caller().field;
    let Some(known) = state.learned.find(field, scope, depth) else { return Run::Items(0) };
    let Known { shape, types, .. } = &**known;
    let bytes = window.bytes;
    let mut start = window.pos;
    let mut place = first;
    let position = window.base + start as u64;
    let mut noted = state.session.recorder.run(known, position, frame, first as u32);
    if shape.open.matches(&bytes[start..]) {
        let mut pos = start + shape.open.len();
        loop {
            let between = shape.between.iter();
            let mut scan = FlatScan { bytes, pos, between, types: types.iter(), text_limit: state.limits.text };
            let mut value = T::vacant(view);
            if value.scan_flat(&mut scan, view).is_none() {
                break;
            }
            let rest = &bytes[scan.pos..];
            if shape.turn.matches(rest) {
                put(items, place, value);
                place += 1;
                note(&mut noted, window.base, start);
                start = scan.pos + shape.close.len();
                pos = scan.pos + shape.turn.len();
                if place - first == most {
                    break;
                }
            } else {
                if shape.close.matches(rest) {
                    put(items, place, value);
                    place += 1;
                    note(&mut noted, window.base, start);
                    start = scan.pos + shape.close.len();
                }
                break;
            }
        }
    }
    window.pos = start;
    state.session.recorder.end_run(window.base + start as u64);
    let read = u32::try_from(place - first).unwrap_or(u32::MAX);
    state.stats.flat_items += u64::from(read);
    if read as usize == most {
        return Run::Items(read);
    }
    let rest = &bytes[start..];
    let is_cut = !window.last && rest.len() < CARRY && shape.is_cut(rest);
    if is_cut { Run::Short(read) } else { Run::Items(read) }
}
