//! Arrays of flat items: learn the markup of one item, then compare it for the rest.
//!
//! An item is *flat* if all values of its type have the same leaves. Between the leaves stands
//! markup, and senders write the same markup for every item. So:
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
//! Why this is sound: the reader's state in front of an item and behind it is the same (the same
//! open elements, the same declarations in scope), and tokenizing is a function of state and bytes.
//! Equal bytes from an equal state give the same tokens, so comparing them replaces tokenizing
//! them. Of the limits, depth is the one that the place of an item decides; markup is used no
//! deeper than where it was learned. A leaf's own text is read by
//! [`Lexical::scan`](crate::Lexical::scan), which accepts only text that ends at a `<` and that the
//! general routine would accept with the same value. Nothing is ever refused here: a deviation only
//! goes back to the general routines.
//!
//! Segments of up to 32 bytes are compared as two masked 128-bit words. White space between tags
//! may differ from item to item: `markup` has the details.

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

/// How many bytes of an unfinished item are kept for the next window instead of being read piece by
/// piece.
pub(in crate::decode) const CARRY: usize = 1024;
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
    /// True if it holds in other messages too. The description is static: where a schema was
    /// dropped another one may stand. And the markup consists of tags without attributes but those
    /// that decide the type: others, comments and elements that are passed over hold what one
    /// client has said.
    is_for_all: bool,
    scope: ScopeId,
    /// Elements open in front of the item when it was learned: deeper down, its own could exceed
    /// the limit.
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

    /// Prepares for the next message, which may come from another client, and have another schema;
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

    /// A new window: positions noted in the last one mean nothing.
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
    /// Where an item that comes next begins, if what stands there means the same for every item:
    /// not behind the first half of a comment or CDATA section.
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

    /// Ends an item of an element or array of this description: if all its leaves were noted, its
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

/// How many blanks a list grows by: as many as it has items, within bounds.
const LEAST_BLANKS: usize = 4;
const MOST_BLANKS: usize = 256;

/// A list of flat items: a `Vec` of them, or the columns of a table.
pub(crate) trait FlatItems {
    /// True for lists that have no loop of their own.
    const COMPACT: bool = false;

    /// How many there are.
    fn len(&self) -> usize;

    /// Keeps the first ones.
    fn truncate(&mut self, count: usize);

    /// About so many more will be read.
    fn expect(&mut self, count: usize) {
        let _ = count;
    }

    /// Takes items out and puts vacant ones in.
    fn splice(&mut self, place: usize, removed: usize, inserted: usize, view: View<'_>);

    /// Reads an item over the one at a place; `None` where the bytes deviate, or no item is there.
    fn scan_over<S: FlatSource>(&mut self, place: usize, scan: &mut S, view: View<'_>) -> Option<()>;

    /// Reads an item into a place: that of one of the `old` ones, which stays if the bytes deviate
    /// or `end` finds no end, or the place behind all items. There may be more then than were read:
    /// they are to be [cut off](Self::truncate) in the end.
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
            // Made where it stays: a copy of what has just been written in pieces is slow.
            if place == self.len() {
                let blanks = place.clamp(LEAST_BLANKS, MOST_BLANKS);
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

/// So many items of a window tell about how many more it holds.
const SAMPLE: usize = 512;
/// A list makes room for at most so many times the items that it has: what follows in the window
/// may be another one's.
const MOST_GROWTH: usize = 8;

/// Items on their way into a list.
struct Taking<'t, L> {
    items: &'t mut L,
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

impl<L: FlatItems> Taking<'_, L> {
    /// Reads the item at hand and takes it; `None` if it deviates.
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

    /// The same, borrowed.
    #[inline(always)]
    fn lend(&mut self) -> Taking<'_, L> {
        let Taking { place, old, last, end, start, base, .. } = *self;
        Taking { items: &mut *self.items, place, old, last, end, start, base, noted: self.noted.as_deref_mut() }
    }

    /// Stops after so many items, if not before.
    fn pause_after(&mut self, items: usize) {
        self.last = self.place.saturating_add(items).min(self.end);
    }
}

/// What reading flat items did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
    /// Items were read, perhaps none; the general routines go on.
    Items(u32),
    /// As `Items`, and the window ends within an item that has begun as expected: better wait for
    /// more.
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
            read_all(&mut scan, &mut taking, view);
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

/// Reads the item whose first leaf is at hand and those behind it.
fn read_all<L: FlatItems>(scan: &mut FlatScan<'_>, taking: &mut Taking<'_, L>, view: View<'_>) {
    let (first, start) = (taking.place, taking.start);
    let mut step = SAMPLE;
    loop {
        taking.pause_after(step);
        if !read(scan, taking, view) || taking.is_full() {
            return;
        }
        let (count, rest) = (taking.place - first, scan.rest().map_or(0, <[u8]>::len));
        let expected = rest as u64 * count as u64 / (taking.start - start).max(1) as u64;
        step = (count * (MOST_GROWTH - 1)).min(usize::try_from(expected).unwrap_or(usize::MAX)).max(SAMPLE);
        taking.items.expect(step);
    }
}

/// Reads the item whose first leaf is at hand and those behind it. True if it stopped in front of
/// an item like the others, whose first leaf is at hand then.
#[inline(always)]
fn read<L: FlatItems>(scan: &mut FlatScan<'_>, taking: &mut Taking<'_, L>, view: View<'_>) -> bool {
    let (bytes, markup) = (scan.bytes(), &scan.known().markup);
    // Copies, and a scan for each item: what nobody else can see need not be kept in memory.
    let (first, mut taken) = (scan.clone(), taking.lend());
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
    (taking.place, taking.start) = (taken.place, taken.start);
    *scan = first.at(text);
    goes_on
}
