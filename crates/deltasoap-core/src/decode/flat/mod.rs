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
//! item decides; markup is used no deeper than where it was learned. A leaf's own text is read by
//! [`Lexical::scan`], which accepts only text that ends at a `<` and that the general routine would accept
//! with the same value. Nothing is ever refused here: a deviation only goes back to the general routines.
//!
//! Segments of up to 32 bytes are compared as two masked 128-bit words. White space between tags may differ from item to
//! item: `markup` has the details.

mod markup;
mod patch;

pub use patch::{Patch, patch};

use super::{Cursor, differential};
use crate::content::Content;
use crate::schema::{Builtin, View};
use deltasoap_xml::ScopeId;
use deltasoap_xml::lexical::Lexical;
use deltasoap_xml::scan::skip_white;
use markup::{Gap, Markup};
use std::sync::Arc;

/// How many bytes of an unfinished item are kept for the next window instead of being read piece by piece.
const CARRY: usize = 1024;
/// How many different items' markup is remembered within one message.
const SHAPES: usize = 16;

/// The markup of flat items, by field and scope.
#[derive(Debug, Default)]
pub(crate) struct Learned {
    known: Vec<Arc<Known>>,
    /// The next one to be replaced when there are `SHAPES`.
    oldest: usize,
    /// True if nothing is learned: every item goes through the general routines.
    is_off: bool,
    /// Where the item being learned begins in the window.
    start: Option<usize>,
    /// Where its leaves' text begins and ends, so far.
    leaves: Vec<(usize, usize)>,
    /// The types that its markup names, of those leaves whose type is not known otherwise.
    types: Vec<Builtin>,
    /// An element was passed over within it: white space there may count against a limit.
    is_literal: bool,
}

/// The markup of items and where it holds.
#[derive(Debug)]
pub(crate) struct Known {
    field: usize,
    scope: ScopeId,
    /// Elements open in front of the item when it was learned: deeper down, its own could exceed the limit.
    depth: usize,
    markup: Markup,
    /// The types that the markup names.
    types: Vec<Builtin>,
}

impl Learned {
    pub(crate) fn clear(&mut self) {
        self.known.clear();
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
        let mut shapes = self.known.iter();
        let known = shapes.find(|known| known.field == field && known.scope == scope)?;
        (depth <= known.depth).then_some(known)
    }

    fn insert(&mut self, known: Known) {
        let known = Arc::new(known);
        if let Some(old) = self.known.iter_mut().find(|old| old.field == known.field && old.scope == known.scope) {
            *old = known;
        } else if self.known.len() < SHAPES {
            self.known.push(known);
        } else {
            self.known[self.oldest] = known;
            self.oldest = (self.oldest + 1) % SHAPES;
        }
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
        learned.is_literal = false;
    }

    /// Notes the type that the markup of the next leaf names.
    pub(crate) fn learn_type(&mut self, named: Builtin) {
        let learned = &mut self.state().learned;
        if learned.start.is_some() {
            learned.types.push(named);
        }
    }

    /// Notes that an element is passed over.
    pub(crate) fn learn_skipped(&mut self) {
        self.state().learned.is_literal = true;
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
        if let Some(markup) = Markup::new(bytes, (start, end), &learned.leaves, learned.is_literal) {
            let types = learned.types.clone();
            learned.insert(Known { field, scope, depth, markup, types });
        }
    }
}

/// The leaves of one item, being read.
#[derive(Debug)]
pub struct FlatScan<'a> {
    bytes: &'a [u8],
    pos: usize,
    between: std::slice::Iter<'a, Gap>,
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
        if let Some(gap) = self.between.next() {
            // Not by `Gap::end`: an `Option` there costs the exact case some instructions a leaf.
            self.pos = match gap.exact_end(self.bytes, self.pos) {
                Some(end) => end,
                None => gap.end_with_white(self.bytes, self.pos)?,
            };
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
    // Without any text, white space is at fault.
    if most == 0 || state.limits.text == 0 {
        return Run::Items(0);
    }
    let frame = state.caller().field;
    let Some(known) = state.learned.find(field, scope, depth) else { return Run::Items(0) };
    let Known { markup, types, .. } = &**known;
    let (bytes, text_limit) = (window.bytes, state.limits.text);
    let (between, types) = (markup.between.iter(), types.iter());
    let mut start = skip_white(bytes, window.pos);
    let (mut place, end) = (first, first.saturating_add(most));
    let positions = (window.base + window.pos as u64, window.base + start as u64);
    let mut noted = state.session.recorder.run(known, positions, frame, first as u32);
    if let Some(mut pos) = markup.open.end(bytes, start) {
        loop {
            let mut scan = FlatScan { bytes, pos, between: between.clone(), types: types.clone(), text_limit };
            let mut value = T::vacant(view);
            if value.scan_flat(&mut scan, view).is_none() {
                break;
            }
            let Some(next) = markup.next(bytes, scan.pos) else { break };
            put(items, place, value);
            place += 1;
            note(&mut noted, window.base, start);
            start = next.start;
            match next.text {
                Some(text) if place < end => pos = text,
                _ => break,
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
    let is_cut = !window.last && rest.len() < CARRY && markup.is_cut(rest);
    if is_cut { Run::Short(read) } else { Run::Items(read) }
}
