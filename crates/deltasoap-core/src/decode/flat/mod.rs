//! Arrays of flat items: learn the markup of one item, then compare it for the rest.
//!
//! An item is *flat* if all values of its type have the same leaves. There is markup between the
//! leaves, and senders write the same markup for every item. So:
//!
//! ```text
//! decode one item by the general routines, noting where its leaves' text begins and ends
//! segments := the bytes before, between and after the leaves
//! loop:
//!     expect segment "open"        <item><x>
//!     for each leaf: parse it, expect the segment after it
//!     "close" and the next "open" are one segment, "turn"      </v></item><item><x>
//! on the first deviation: back to the start of the item, general routines
//! ```
//!
//! Why this is sound: the reader's state before and after an item is the same (the same open
//! elements, the same declarations in scope), and tokenizing is a function of state and bytes.
//! Equal bytes from an equal state give the same tokens, so comparing them replaces tokenizing
//! them. Depth is the only limit that depends on where an item is; markup is used no deeper than
//! where it was learned. A leaf's own text is read by [`Lexical::scan`](crate::Lexical::scan),
//! which accepts only text that ends at a `<` and that the general routine would accept with the
//! same value. This module never rejects anything: on a deviation it falls back to the general
//! routines.
//!
//! Segments of up to 32 bytes are compared as two masked 128-bit words. White space between tags
//! may differ from item to item: see `markup`.
//!
//! The markup learned for a field's items applies to every list of that field in the message: the
//! first item of a later list is compared too. It applies to later messages if it consists of tags
//! without attributes and the description is static, so that its address identifies it. Attributes
//! and comments may hold one client's data.

mod hinted;
mod markup;
mod scan;

pub(super) use hinted::Hinting;
pub(in crate::decode) use scan::FlatScan;
pub use scan::{FlatSource, leaf};

pub use super::differential::leaf::Patch;
pub(crate) use super::differential::leaf::patch;
use super::items::splice_items;
use super::{Cursor, State, differential, is_type_or_nil};
use crate::content::Content;
use crate::schema::{Builtin, View};
use deltasoap_xml::ScopeId;
use deltasoap_xml::scan::skip_white;
use markup::{Markup, Next};
use std::sync::Arc;

/// Maximum number of bytes of an incomplete item that are kept for the next window instead of being
/// read piece by piece.
pub(in crate::decode) const CARRY: usize = 1024;
/// Maximum number of items whose markup is remembered.
const SHAPES: usize = 16;

/// The markup of flat items, by field and scope.
#[derive(Debug, Default)]
pub(crate) struct Learned {
    known: Vec<Arc<Known>>,
    /// The reader's epoch in which scopes are valid.
    epoch: (u64, u64),
    /// True if some markup is valid for this message only.
    is_for_one: bool,
    /// The entry to be replaced next when there are `SHAPES`.
    oldest: usize,
    /// True if nothing is learned: every item goes through the general routines.
    is_off: bool,
    /// Start of the item being learned in the window.
    start: Option<usize>,
    /// Start and end of the text of its leaves, so far.
    leaves: Vec<(usize, usize)>,
    /// The types that its markup names, for those leaves whose type is not known otherwise.
    types: Vec<Builtin>,
    /// True if an element within the item was skipped: white space there may count against a limit.
    is_literal: bool,
}

/// The markup of items, and where it is valid.
#[derive(Debug)]
pub(crate) struct Known {
    /// The address of the schema of the field or array.
    field: usize,
    /// True if it is valid in other messages too. That requires a static schema: if a schema was
    /// dropped, another one may be at its address. It also requires markup that consists of tags
    /// without attributes, except those that decide the type: other attributes, comments and
    /// skipped elements contain data of one client.
    is_for_all: bool,
    scope: ScopeId,
    /// Number of open elements before the item when it was learned: further down, its own elements
    /// could exceed the limit.
    depth: usize,
    pub(in crate::decode) markup: Markup,
    /// The types that the markup names.
    types: Vec<Builtin>,
}

impl Learned {
    pub(crate) fn clear(&mut self) {
        self.known.clear();
        self.oldest = 0;
        self.start = None;
    }

    /// Prepares for the next message, which may come from another client and have another schema;
    /// see [`Known::is_for_all`].
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

    /// Starts a new window: positions in the last one are invalid.
    pub(crate) fn forget_positions(&mut self) {
        self.start = None;
    }

    pub(crate) fn switch_off(&mut self) {
        self.is_off = true;
    }

    #[cfg(feature = "values")]
    pub(crate) fn is_off(&self) -> bool {
        self.is_off
    }

    /// Records a leaf of the item being learned, if there is one.
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

    /// Returns true if the markup of this field's items is known in this scope.
    pub(crate) fn has(&self, field: usize, scope: ScopeId, depth: usize) -> bool {
        !self.known.is_empty() && self.find(field, scope, depth).is_some()
    }

    /// Returns true if the item just read, which fills a part of `bytes`, has the known markup.
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
    /// Returns the start of the next item, if the bytes there mean the same for every item: not
    /// after the first half of a comment or CDATA section.
    #[inline]
    pub(crate) fn item_start(&self) -> Option<usize> {
        self.reader().is_between_tokens().then(|| self.pos())
    }

    /// Starts learning an item whose markup begins at `start`.
    pub(crate) fn learn_from(&mut self, start: Option<usize>) {
        let learned = &mut self.state().expected.flat;
        learned.start = start.filter(|_| !learned.is_off);
        learned.leaves.clear();
        learned.types.clear();
        learned.is_literal = false;
    }

    /// Records the type that the markup of the next leaf names.
    pub(crate) fn learn_type(&mut self, named: Builtin) {
        let learned = &mut self.state().expected.flat;
        if learned.start.is_some() {
            learned.types.push(named);
        }
    }

    /// Records that an element is skipped.
    pub(crate) fn learn_skipped(&mut self) {
        self.state().expected.flat.is_literal = true;
    }

    /// Records a leaf.
    #[inline]
    pub(crate) fn learn_leaf(&mut self, start: usize, end: usize) {
        self.state().expected.flat.note_leaf(start, end);
    }

    /// Gives up on the item: one of its leaves is not plain text in this window.
    pub(crate) fn stop_learning(&mut self) {
        self.state().expected.flat.start = None;
    }

    /// Ends an item of an element or array with this schema. If all its leaves were recorded, its
    /// markup is now known.
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

/// Minimum and maximum number of blanks that a list grows by; within these bounds, it grows by as
/// many as it has items.
const MIN_BLANKS: usize = 4;
const MAX_BLANKS: usize = 256;

/// A list of flat items: a `Vec` of them, or the columns of a table.
pub(crate) trait FlatItems {
    /// True for lists that do not have their own loop.
    const COMPACT: bool = false;

    /// Returns the number of items.
    fn len(&self) -> usize;

    /// Keeps the first `count` items.
    fn truncate(&mut self, count: usize);

    /// Announces that about `count` more items will be read.
    fn expect(&mut self, count: usize) {
        let _ = count;
    }

    /// Removes items and inserts vacant ones.
    fn splice(&mut self, place: usize, removed: usize, inserted: usize, view: View<'_>);

    /// Reads an item over the one at `place`; `None` if the bytes deviate or there is no such item.
    fn scan_over<S: FlatSource>(&mut self, place: usize, scan: &mut S, view: View<'_>) -> Option<()>;

    /// Reads an item into `place`: either one of the `old` items, which stays if the bytes deviate
    /// or `end` finds no end, or the place after all items. Afterwards the list may contain more
    /// items than were read: the caller must [cut them off](Self::truncate) in the end.
    fn scan_into<S: FlatSource, E>(
        &mut self,
        place: usize,
        old: usize,
        scan: &mut S,
        view: View<'_>,
        end: impl FnOnce(&S) -> Option<E>,
    ) -> Option<E>;
}

impl<T: Content> FlatItems for Vec<T> {
    const COMPACT: bool = T::COMPACT;

    #[inline(always)]
    fn len(&self) -> usize {
        self.len()
    }

    fn truncate(&mut self, count: usize) {
        self.truncate(count);
    }

    fn splice(&mut self, place: usize, removed: usize, inserted: usize, view: View<'_>) {
        splice_items(self, place, removed, inserted, view);
    }

    #[inline(always)]
    fn scan_over<S: FlatSource>(&mut self, place: usize, scan: &mut S, view: View<'_>) -> Option<()> {
        self.get_mut(place)?.scan_flat(scan, view)
    }

    #[inline(always)]
    fn scan_into<S: FlatSource, E>(
        &mut self,
        place: usize,
        old: usize,
        scan: &mut S,
        view: View<'_>,
        end: impl FnOnce(&S) -> Option<E>,
    ) -> Option<E> {
        if T::DYNAMIC && place >= old {
            // Built in place: copying a value that was just written in pieces is slow.
            if place == self.len() {
                let blanks = place.clamp(MIN_BLANKS, MAX_BLANKS);
                self.resize_with(place + blanks, || T::blank(view));
            }
            self[place].fill_flat(scan, view)?;
            return end(scan);
        }
        let mut value = T::vacant(view);
        value.scan_flat(scan, view)?;
        let end = end(scan)?;
        match self.get_mut(place) {
            Some(old) => *old = value,
            None => self.push(value),
        }
        Some(end)
    }
}

/// Number of items of a window from which the number of its further items is estimated.
const SAMPLE: usize = 512;
/// Maximum growth of a list, as a multiple of its items: the rest of the window may belong to
/// another list.
const MAX_GROWTH: usize = 8;

/// Items on their way into a list.
struct ItemInserter<'t, L> {
    items: &'t mut L,
    /// The index of the next item: that of an old one, or after all.
    place: usize,
    /// Number of items that were there before. After them there may be blanks, to be overwritten.
    old: usize,
    /// The index before which to stop for now, and the one before which to stop finally.
    last: usize,
    end: usize,
    /// Start of the next item in the window, and start of the window in the document.
    start: usize,
    base: u64,
    /// The run in which the start of each item is recorded.
    noted: Option<&'t mut differential::leaf::Run>,
}

impl<L: FlatItems> ItemInserter<'_, L> {
    /// Reads the current item and takes it; `None` if it deviates.
    #[inline(always)]
    fn read<S: FlatSource>(
        &mut self,
        scan: &mut S,
        view: View<'_>,
        next: impl FnOnce(&S) -> Option<Next>,
    ) -> Option<Next> {
        let next = self.items.scan_into(self.place, self.old, scan, view, next)?;
        self.place += 1;
        if let Some(run) = &mut self.noted {
            run.positions.push((self.base as u32).wrapping_add(self.start as u32).wrapping_sub(run.base));
        }
        self.start = next.start;
        Some(next)
    }

    fn is_full(&self) -> bool {
        self.place == self.end
    }

    /// Borrows `self` as a new `ItemInserter`.
    #[inline(always)]
    fn lend(&mut self) -> ItemInserter<'_, L> {
        let ItemInserter { place, old, last, end, start, base, .. } = *self;
        ItemInserter { items: &mut *self.items, place, old, last, end, start, base, noted: self.noted.as_deref_mut() }
    }

    /// Stops after `items` items, if not before.
    fn pause_after(&mut self, items: usize) {
        self.last = self.place.saturating_add(items).min(self.end);
    }
}

/// The result of reading flat items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
    /// Items were read, possibly none; the general routines continue.
    Items(u32),
    /// Like `Items`, but the window ends within an item that has begun as expected: the caller
    /// should wait for more bytes.
    Short(u32),
}

/// Reads as many flat items of a field as the window holds.
pub(crate) fn run<L: FlatItems>(items: &mut L, cursor: &mut Cursor<'_>, field: usize, view: View<'_>) -> Run {
    if L::COMPACT {
        return Run::Items(0);
    }
    let (window, state) = cursor.parts();
    if !state.reader.is_between_tokens() {
        return Run::Items(0);
    }
    let (scope, depth) = (state.reader.scope(), state.reader.depth());
    let (first, most) = (state.stack.next_place(items.len()), state.items_to_watch());
    // If no text is allowed, white space is an error.
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
    let mut inserter = ItemInserter { items, place: first, old, last: end, end, start, base, noted };
    let markup = &known.markup;
    if let Some(text) = markup.open.end(bytes, start) {
        let mut scan = FlatScan::new(bytes, known, text, state.limits.text);
        let hinting = state.hinting.as_mut();
        if hinting.is_none_or(|hinting| hinting.read_all(&mut scan, &mut inserter, &mut state.stats, view)) {
            let rest = inserter.place;
            read_all(&mut scan, &mut inserter, view);
            if let Some(hinting) = &mut state.hinting {
                hinting.pass(inserter.place - rest);
            }
        }
    }
    let ItemInserter { items, place, start, .. } = inserter;
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

/// Reads the item whose first leaf is next, and those after it.
fn read_all<L: FlatItems>(scan: &mut FlatScan<'_>, inserter: &mut ItemInserter<'_, L>, view: View<'_>) {
    let (first, start) = (inserter.place, inserter.start);
    let mut step = SAMPLE;
    loop {
        inserter.pause_after(step);
        if !read(scan, inserter, view) || inserter.is_full() {
            return;
        }
        let (count, rest) = (inserter.place - first, scan.rest().map_or(0, <[u8]>::len));
        let expected = rest as u64 * count as u64 / (inserter.start - start).max(1) as u64;
        step = (count * (MAX_GROWTH - 1)).min(usize::try_from(expected).unwrap_or(usize::MAX)).max(SAMPLE);
        inserter.items.expect(step);
    }
}

/// Reads the item whose first leaf is next, and those after it. Returns true if it stopped before
/// an item with the same markup, whose first leaf is then next.
#[inline(always)]
fn read<L: FlatItems>(scan: &mut FlatScan<'_>, inserter: &mut ItemInserter<'_, L>, view: View<'_>) -> bool {
    let (bytes, markup) = (scan.bytes(), &scan.known().markup);
    // Local copies, and a scan for each item: values without outside references can stay in
    // registers.
    let (first, mut taken) = (scan.clone(), inserter.lend());
    let mut text = first.pos();
    let goes_on = loop {
        let mut item = first.at(text);
        let Some(next) = taken.read(&mut item, view, |item| markup.next(bytes, item.pos())) else { break false };
        let Some(at) = next.text else { break false };
        text = at;
        if taken.place == taken.last {
            break true;
        }
    };
    (inserter.place, inserter.start) = (taken.place, taken.start);
    *scan = first.at(text);
    goes_on
}
