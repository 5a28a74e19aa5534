//! Leaves whose text was sent a moment ago: see [`Hint`].
//!
//! ```text
//! offer: find the current item among those sent: at its place, nearby, or at its place in another list
//! read items: compare each leaf's text with the one sent; if equal, take over the value; else parse it
//! too few are equal: offer again, then continue without for 16, 64, 256 items, then for the rest of the window
//! ```
//!
//! A failed comparison costs a small part of what parsing costs, so a hint pays unless many texts
//! differ.
//!
//! The loop for hinted items is a copy with another source of leaves ([`FlatSource`]), so that the
//! loop without hints knows nothing of them.

use super::scan::{FlatScan, FlatSource};
use super::{FlatItems, ItemInserter, read};
use crate::encode::differential::{TextMatch, Texts};
use crate::schema::{Builtin, View};
use crate::template::COMPARED;
use crate::{Hint, Stats};
use deltasoap_xml::Limits;
use deltasoap_xml::lexical::Lexical;

/// Maximum distance from its own place, in both directions, at which an item is looked for.
const REACH: isize = 8;
/// The loss after which a hint is given up: each text that differs costs `LOSS`, and each one that
/// is equal gains one.
const CREDIT: i64 = 24;
const LOSS: i64 = 3;
/// Number of equal texts after which earlier failures are forgotten.
const PROVEN: u64 = 64;
/// Number of items read without a hint after its second failure; four times as many after each
/// further one, up to a million.
const PAUSE: usize = 16;
const MAX_GROWN: u32 = 8;
/// After more failures in a row, the rest of a window is read without the hint, whatever its
/// length.
const PATIENCE: u32 = 4;

/// A hint in use.
#[derive(Debug)]
pub(crate) struct Hinting {
    hint: Hint,
    /// The list in which items were found.
    list: usize,
    /// The items' distance there from their place here.
    shift: isize,
    /// Number of items to be read without the hint.
    pause: usize,
    /// Number of failures in a row.
    failures: u32,
}

impl Hinting {
    /// Creates a hinting; `None` if the limits are so tight that even the text of numbers must be
    /// checked against them.
    pub(crate) fn new(hint: Hint, limits: &Limits) -> Option<Self> {
        (limits.text >= COMPARED).then_some(Hinting { hint, list: 0, shift: 0, pause: 0, failures: 0 })
    }

    /// Returns the sent items from the one at `place` on, if that is found among them.
    fn offer(&mut self, place: usize, leaves: usize, text: &[u8]) -> Option<Texts<'_>> {
        (self.list, self.shift) = self.find(place, leaves, text)?;
        self.texts(self.list, place, self.shift)
    }

    /// Returns the list that contains the item at `place`, and its distance there: where the last
    /// one was found, nearby, or at its place in another list.
    fn find(&self, place: usize, leaves: usize, text: &[u8]) -> Option<(usize, isize)> {
        let by = |list, shift, reach| self.texts(list, place, shift)?.find(leaves, text, reach);
        let here = by(self.list, self.shift, REACH).map(|by| (self.list, self.shift + by));
        here.or_else(|| (0..self.hint.lists().len()).find_map(|list| Some((list, by(list, 0, 0)?))))
    }

    fn texts(&self, list: usize, place: usize, shift: isize) -> Option<Texts<'_>> {
        self.hint.lists().get(list)?.texts(place.checked_add_signed(shift)?)
    }

    /// Reads the item whose first leaf is next, and those after it, until the hint is given up.
    /// Returns true if others follow that must be read without it.
    #[inline(never)]
    pub(super) fn read_all<L: FlatItems>(
        &mut self,
        scan: &mut FlatScan<'_>,
        inserter: &mut ItemInserter<'_, L>,
        stats: &mut Stats,
        view: View<'_>,
    ) -> bool {
        let mut goes_on = true;
        while goes_on && !inserter.is_full() && !self.is_given_up() {
            goes_on = self.read_some(scan, inserter, stats, view);
        }
        inserter.pause_after(usize::MAX);
        goes_on && !inserter.is_full()
    }

    /// Reads items with the hint as long as it is useful, or those for which it is paused. Returns
    /// true if others follow.
    fn read_some<L: FlatItems>(
        &mut self,
        scan: &mut FlatScan<'_>,
        inserter: &mut ItemInserter<'_, L>,
        stats: &mut Stats,
        view: View<'_>,
    ) -> bool {
        if self.pause > 0 {
            return self.read_without(scan, inserter, view);
        }
        let leaves = scan.known().markup.between.len() + 1;
        let Some(texts) = self.offer(inserter.place, leaves, scan.rest().unwrap_or_default()) else {
            self.fail();
            self.pause = self.pause.max(1);
            return true;
        };
        inserter.pause_after(usize::MAX);
        let mut source = HintedScan { scan: scan.clone(), texts, same: 0, same_before: 0, credit: CREDIT };
        let goes_on = source.read(inserter, view);
        let HintedScan { same, credit, .. } = source;
        *scan = source.scan;
        stats.hinted_leaves += same;
        self.judge(same, credit);
        goes_on
    }

    fn read_without<L: FlatItems>(
        &mut self,
        scan: &mut FlatScan<'_>,
        inserter: &mut ItemInserter<'_, L>,
        view: View<'_>,
    ) -> bool {
        let first = inserter.place;
        inserter.pause_after(self.pause);
        let goes_on = read(scan, inserter, view);
        self.pass(inserter.place - first);
        goes_on
    }

    /// Records that `items` items were read without the hint.
    pub(super) fn pass(&mut self, items: usize) {
        self.pause = self.pause.saturating_sub(items);
    }

    /// Returns true if it failed so often that the rest of a window is read without it.
    fn is_given_up(&self) -> bool {
        self.pause > 0 && self.failures > PATIENCE
    }

    fn judge(&mut self, same: u64, credit: i64) {
        if same >= PROVEN {
            self.failures = 0;
        }
        if credit < 0 {
            self.fail();
        }
    }

    fn fail(&mut self) {
        self.pause = if self.failures == 0 { 0 } else { PAUSE << (2 * (self.failures - 1).min(MAX_GROWN)) };
        self.failures = self.failures.saturating_add(1);
    }
}

/// The leaves of items in a window, and those of items that were sent.
#[derive(Clone)]
struct HintedScan<'a, 'h> {
    scan: FlatScan<'a>,
    texts: Texts<'h>,
    /// Number of equal texts, and of those before the last one that differed.
    same: u64,
    same_before: u64,
    credit: i64,
}

impl HintedScan<'_, '_> {
    /// Like [`read`](super::read), as long as there are texts and enough of them are equal.
    #[inline(always)]
    fn read<L: FlatItems>(&mut self, inserter: &mut ItemInserter<'_, L>, view: View<'_>) -> bool {
        let (bytes, markup) = (self.scan.bytes(), &self.scan.known().markup);
        let (mut here, mut taken) = (self.clone(), inserter.lend());
        let mut text = self.scan.pos();
        let goes_on = loop {
            here.scan = here.scan.at(text);
            let next = taken.read(&mut here, view, |here| markup.next(bytes, here.scan.pos()));
            let Some(next) = next else { break false };
            let Some(at) = next.text else { break false };
            text = at;
            if taken.place == taken.last || here.credit < 0 || !here.texts.begin() {
                break true;
            }
        };
        (inserter.place, inserter.start) = (taken.place, taken.start);
        here.scan = here.scan.at(text);
        *self = here;
        goes_on
    }

    #[inline(always)]
    fn note_other(&mut self) {
        let won = self.same - std::mem::replace(&mut self.same_before, self.same);
        self.credit = (self.credit + won as i64).min(CREDIT) - LOSS;
    }
}

impl FlatSource for HintedScan<'_, '_> {
    #[inline(always)]
    fn named_type(&mut self) -> Option<Builtin> {
        self.scan.named_type()
    }

    #[inline(always)]
    fn leaf<T: Lexical>(&mut self, value: &mut T) -> Option<()> {
        match self.texts.next(self.scan.rest()?) {
            TextMatch::Same(known, used) => {
                *value = known;
                self.same += 1;
                return self.scan.pass(used);
            }
            TextMatch::Other => self.note_other(),
            TextMatch::Unknown => {}
        }
        self.scan.leaf(value)
    }
}
