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
//! [`Lexical::scan`](crate::Lexical::scan), which accepts only text that ends at a `<` and that the general routine would accept
//! with the same value. Nothing is ever refused here: a deviation only goes back to the general routines.
//!
//! Segments of up to 32 bytes are compared as two masked 128-bit words. White space between tags may differ from item to
//! item: `markup` has the details.

mod hinted;
mod markup;
mod patch;
mod scan;

pub(super) use hinted::Hinting;
pub use patch::{Patch, patch};
pub use scan::{FlatSource, leaf};

use super::{Cursor, State, differential, is_type_or_nil};
use crate::content::Content;
use crate::schema::{Builtin, View};
use deltasoap_xml::ScopeId;
use deltasoap_xml::scan::skip_white;
use markup::{Markup, Next};
use scan::FlatScan;
use std::sync::Arc;

/// How many bytes of an unfinished item are kept for the next window instead of being read piece by piece.
const CARRY: usize = 1024;
/// How many different items' markup is remembered.
const SHAPES: usize = 16;

/// The markup of flat items, by field and scope.
#[derive(Debug, Default)]
pub(crate) struct Learned {
    known: Vec<Arc<Known>>,
    /// The reader's epoch in which scopes are valid.
    epoch: (u64, u64),
    /// True if some markup holds for this message alone.
    is_for_one: bool,
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
    /// The address of the field's description, or of the array's.
    field: usize,
    /// True if it holds in other messages too. The description is static: where a schema was dropped another one may stand. And the markup
    /// consists of tags without attributes but those that decide the type: others, comments and elements that are passed over hold what one
    /// client has said.
    is_for_all: bool,
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

    /// Prepares for the next message, which may come from another client, and have another schema; see [`Known::is_for_all`].
    pub(crate) fn reset(&mut self, epoch: (u64, u64)) {
        self.start = None;
        if self.epoch != epoch {
            self.clear();
            self.epoch = epoch;
        }
        if std::mem::take(&mut self.is_for_one) {
            self.known.retain(|known| known.is_for_all);
            self.oldest = 0;
        }
    }

    /// A new window: positions noted in the last one mean nothing.
    pub(crate) fn forget_positions(&mut self) {
        self.start = None;
    }

    pub(crate) fn switch_off(&mut self) {
        self.is_off = true;
    }

    /// Notes a leaf of the item being learned, if there is one.
    #[inline]
    pub(crate) fn note_leaf(&mut self, start: usize, end: usize) {
        if self.start.is_some() {
            self.leaves.push((start, end));
        }
    }

    fn find(&self, field: usize, scope: ScopeId, depth: usize) -> Option<&Arc<Known>> {
        let mut shapes = self.known.iter();
        let known = shapes.find(|known| known.field == field && known.scope == scope)?;
        (depth <= known.depth).then_some(known)
    }

    /// True if the markup of these items is known for one of this field in this scope.
    pub(crate) fn has(&self, field: usize, scope: ScopeId, depth: usize) -> bool {
        !self.known.is_empty() && self.find(field, scope, depth).is_some()
    }

    /// True if the item just read, which fills a part of `bytes`, has the markup that is known.
    fn is_known(&self, (field, scope, depth): (usize, ScopeId, usize), bytes: &[u8], item: (usize, usize)) -> bool {
        let known = self.find(field, scope, depth).filter(|known| !self.is_literal && known.types == self.types);
        known.is_some_and(|known| known.markup.is_of(bytes, item, &self.leaves))
    }

    fn insert(&mut self, known: Known) {
        self.is_for_one |= !known.is_for_all;
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
        let learned = &mut self.state().expected.flat;
        learned.start = start.filter(|_| !learned.is_off);
        learned.leaves.clear();
        learned.types.clear();
        learned.is_literal = false;
    }

    /// Notes the type that the markup of the next leaf names.
    pub(crate) fn learn_type(&mut self, named: Builtin) {
        let learned = &mut self.state().expected.flat;
        if learned.start.is_some() {
            learned.types.push(named);
        }
    }

    /// Notes that an element is passed over.
    pub(crate) fn learn_skipped(&mut self) {
        self.state().expected.flat.is_literal = true;
    }

    /// Notes a leaf.
    #[inline]
    pub(crate) fn learn_leaf(&mut self, start: usize, end: usize) {
        self.state().expected.flat.note_leaf(start, end);
    }

    /// Gives up on the item: one of its leaves is not plain text in this window.
    pub(crate) fn stop_learning(&mut self) {
        self.state().expected.flat.start = None;
    }

    /// Ends an item of an element or array of this description: if all its leaves were noted, its markup is now known.
    pub(crate) fn learn_item(&mut self, field: usize, leaves: usize, around: View<'_>) {
        let (bytes, end) = (self.bytes(), self.pos());
        let (scope, depth) = (self.reader().scope(), self.reader().depth());
        let State { expected, reader, .. } = self.state();
        let learned = &mut expected.flat;
        let Some(start) = learned.start.take() else { return };
        if learned.leaves.len() != leaves || learned.is_known((field, scope, depth), bytes, (start, end)) {
            return;
        }
        if let Some(markup) = Markup::new(bytes, (start, end), &learned.leaves, learned.is_literal) {
            let types = learned.types.clone();
            let decides_type = |name: &str| {
                // An attribute without a prefix is in no namespace.
                let resolved = reader.resolve(name).filter(|_| name.contains(':'));
                resolved.is_some_and(|(namespace, local)| is_type_or_nil(namespace, &local))
            };
            let is_for_all = !learned.is_literal && around.is_static() && markup.says_nothing(decides_type);
            learned.insert(Known { field, is_for_all, scope, depth, markup, types });
        }
    }
}

/// How many blanks a list grows by: as many as it has items, within bounds.
const LEAST_BLANKS: usize = 4;
const MOST_BLANKS: usize = 256;

/// Items on their way into a list.
struct Taking<'t, T> {
    items: &'t mut Vec<T>,
    /// The place that the next one gets: an old one's, or behind all.
    place: usize,
    /// Items that were there before. Behind them there may be blanks, to be written over.
    old: usize,
    /// The place in front of which to stop for now, and the one in front of which to stop at all.
    last: usize,
    end: usize,
    /// Where the next item begins in the window, and the window in the document.
    start: usize,
    base: u64,
    /// Where it is noted how items begin.
    noted: Option<&'t mut differential::leaf::Run>,
}

impl<T> Taking<'_, T> {
    /// Takes an item that ends at a position.
    #[inline(always)]
    fn take(&mut self, item: T, end: usize) {
        match self.items.get_mut(self.place) {
            Some(old) => *old = item,
            None => self.items.push(item),
        }
        self.pass(end);
    }

    /// Notes that the item at hand was taken, which ends at a position.
    #[inline(always)]
    fn pass(&mut self, end: usize) {
        self.place += 1;
        if let Some(run) = &mut self.noted {
            run.positions.push((self.base as u32).wrapping_add(self.start as u32).wrapping_sub(run.base));
        }
        self.start = end;
    }

    /// Reads the item at hand and takes it; `None` if it deviates.
    #[inline(always)]
    fn read(&mut self, scan: &mut FlatScan<'_>, markup: &Markup, view: View<'_>) -> Option<Next>
    where
        T: Content,
    {
        let bytes = scan.bytes();
        if T::DYNAMIC && self.place >= self.old {
            // Made where it stays: a copy of what has just been written in pieces is slow.
            if self.place == self.items.len() {
                let blanks = self.place.clamp(LEAST_BLANKS, MOST_BLANKS);
                self.items.resize_with(self.place + blanks, || T::blank(view));
            }
            self.items[self.place].fill_flat(scan, view)?;
            let next = markup.next(bytes, scan.pos())?;
            self.pass(next.start);
            return Some(next);
        }
        let mut value = T::vacant(view);
        value.scan_flat(scan, view)?;
        let next = markup.next(bytes, scan.pos())?;
        self.take(value, next.start);
        Some(next)
    }

    fn is_full(&self) -> bool {
        self.place == self.end
    }

    /// The same, borrowed.
    #[inline(always)]
    fn lend(&mut self) -> Taking<'_, T> {
        let Taking { place, old, last, end, start, base, .. } = *self;
        Taking { items: &mut *self.items, place, old, last, end, start, base, noted: self.noted.as_deref_mut() }
    }

    /// Stops after so many items, if not before.
    fn pause_after(&mut self, items: usize) {
        self.last = self.place.saturating_add(items).min(self.end);
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
    if T::COMPACT {
        return Run::Items(0);
    }
    let (window, state) = cursor.parts();
    if !state.reader.is_between_tokens() {
        return Run::Items(0);
    }
    let (scope, depth) = (state.reader.scope(), state.reader.depth());
    let (first, most) = (state.stack.next_place(items.len()), state.items_to_watch());
    // Without any text, white space is at fault.
    if most == 0 || state.limits.text == 0 {
        return Run::Items(0);
    }
    let frame = state.stack.caller().field;
    let Some(known) = state.expected.flat.find(field, scope, depth) else { return Run::Items(0) };
    let (bytes, base) = (window.bytes, window.base);
    let start = skip_white(bytes, window.pos);
    let positions = (base + window.pos as u64, base + start as u64);
    let noted = state.session.recorder.run(known, positions, frame, first as u32);
    let end = first.saturating_add(most);
    let old = items.len();
    let mut taking = Taking { items, place: first, old, last: end, end, start, base, noted };
    let markup = &known.markup;
    if let Some(text) = markup.open.end(bytes, start) {
        let mut scan = FlatScan::new(bytes, known, text, state.limits.text);
        let hinting = state.hinting.as_mut();
        if hinting.is_none_or(|hinting| hinting.read_all(&mut scan, &mut taking, &mut state.stats, view)) {
            let rest = taking.place;
            read(&mut scan, &mut taking, view);
            if let Some(hinting) = &mut state.hinting {
                hinting.pass(taking.place - rest);
            }
        }
    }
    let Taking { items, place, start, .. } = taking;
    items.truncate(place.max(old));
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

/// Reads the item whose first leaf is at hand and those behind it. True if it stopped in front of an item like the others, whose first
/// leaf is at hand then.
#[inline(always)]
fn read<T: Content>(scan: &mut FlatScan<'_>, taking: &mut Taking<'_, T>, view: View<'_>) -> bool {
    let markup = &scan.known().markup;
    // Copies, and a scan for each item: what nobody else can see need not be kept in memory.
    let (first, mut taken) = (scan.clone(), taking.lend());
    let mut text = first.pos();
    let goes_on = loop {
        let mut item = first.at(text);
        let Some(next) = taken.read(&mut item, markup, view) else { break false };
        let Some(at) = next.text else { break false };
        text = at;
        if taken.place == taken.last {
            break true;
        }
    };
    (taking.place, taking.start) = (taken.place, taken.start);
    *scan = first.at(text);
    goes_on
}
