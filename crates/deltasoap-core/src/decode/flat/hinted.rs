//! Leaves whose text was sent a moment ago: see [`Hint`].
//!
//! ```text
//! offer: find the item at hand among those sent: at its place, nearby, or in another list
//! read items: compare each leaf's text with the one sent; equal, take over the value; else parse it
//! too few are equal: offer again, then go on without for 8, 16, 32, ... items
//! ```
//!
//! A comparison in vain costs a small part of what parsing costs, so that texts must differ often before a hint does not pay.

use super::scan::{FlatScan, FlatSource, ItemSource};
use super::{Known, Taking, read};
use crate::content::Content;
use crate::encode::differential::{Known as Text, Texts};
use crate::schema::{Builtin, View};
use crate::template::COMPARED;
use crate::Hint;
use deltasoap_xml::Limits;
use deltasoap_xml::lexical::Lexical;

/// How much further on or back than its place an item is looked for.
const REACH: usize = 8;
/// What a hint may lose before it is given up: so much is lost by a text that differs, and one part won by one that does not.
const CREDIT: i32 = 24;
const LOSS: i32 = 3;
/// After so many equal texts earlier failures are forgotten.
const PROVEN: u64 = 64;
/// Items read without a hint after its second failure; twice as many after each further one.
const PAUSE: usize = 8;
const MOST_DOUBLED: u32 = 16;

/// A hint in use.
#[derive(Debug)]
pub(crate) struct Hinting {
    hint: Hint,
    /// The list that items were found in.
    list: usize,
    /// How much further on items stand there than here.
    shift: isize,
    /// Items to be read without the hint.
    pause: usize,
    /// How often it failed in a row.
    failures: u32,
}

impl Hinting {
    /// `None` if the limits are so tight that even texts of numbers must be held against them.
    pub(crate) fn new(hint: Hint, limits: &Limits) -> Option<Self> {
        (limits.text >= COMPARED).then_some(Hinting { hint, list: 0, shift: 0, pause: 0, failures: 0 })
    }

    /// The items from one on, if that is found among those that were sent.
    fn offer(&mut self, place: usize, leaves: usize, text: &[u8]) -> Option<Texts<'_>> {
        let (list, shift) = (self.list, self.shift);
        let others = (0..self.hint.lists().len()).map(|other| (other, 0));
        let nearby = (1..=REACH as isize).flat_map(|by| [(list, shift + by), (list, shift - by)]);
        let mut places = std::iter::once((list, shift)).chain(others).chain(nearby);
        let (list, shift) = places.find(|&(list, shift)| {
            let texts = self.texts(list, place, shift);
            texts.is_some_and(|texts| texts.columns() == leaves && texts.is_at(text))
        })?;
        (self.list, self.shift) = (list, shift);
        self.texts(list, place, shift)
    }

    fn texts(&self, list: usize, place: usize, shift: isize) -> Option<Texts<'_>> {
        self.hint.lists().get(list)?.texts(place.checked_add_signed(shift)?)
    }

    fn fail(&mut self) {
        self.pause = if self.failures == 0 { 0 } else { PAUSE << (self.failures - 1).min(MOST_DOUBLED) };
        self.failures = self.failures.saturating_add(1);
    }

    /// Notes items that were read without the hint.
    pub(super) fn pass(&mut self, items: usize) {
        self.pause = self.pause.saturating_sub(items);
    }

    /// Reads the item at hand and those behind it, as far as the hint is of use, and counts the leaves that it gave. True if others
    /// follow: they are to be read without it, up to the last that `taking` now names.
    pub(super) fn read<T: Content>(
        &mut self,
        scan: &FlatScan<'_>,
        taking: &mut Taking<'_, T>,
        found: &mut u64,
        view: View<'_>,
    ) -> bool {
        let shape = &scan.known().shape;
        let leaves = shape.between.len() + 1;
        while self.pause == 0 {
            let text = scan.bytes().get(taking.start + shape.open.len()..).unwrap_or_default();
            let Some(texts) = self.offer(taking.place, leaves, text) else {
                self.fail();
                self.pause = self.pause.max(1);
                break;
            };
            let mut source = HintedScan { scan: scan.clone(), texts, same: 0, credit: CREDIT };
            let goes_on = read(&mut source, taking, view);
            let (same, has_failed) = (source.same, source.credit < 0);
            *found += same;
            if same >= PROVEN {
                self.failures = 0;
            }
            if !goes_on || taking.is_full() {
                return false;
            }
            if has_failed {
                self.fail();
            }
        }
        taking.pause_after(self.pause);
        true
    }
}

/// The leaves of items in a window, and those of items that were sent.
struct HintedScan<'a, 'h> {
    scan: FlatScan<'a>,
    texts: Texts<'h>,
    /// Texts that were equal.
    same: u64,
    credit: i32,
}

impl FlatSource for HintedScan<'_, '_> {
    #[inline(always)]
    fn named_type(&mut self) -> Option<Builtin> {
        self.scan.named_type()
    }

    #[inline(always)]
    fn leaf<T: Lexical>(&mut self, value: &mut T) -> Option<()> {
        match self.texts.next(self.scan.rest()?) {
            Text::Same(known, used) => {
                *value = known;
                self.same += 1;
                self.credit = (self.credit + 1).min(CREDIT);
                return self.scan.pass(used);
            }
            Text::Other => self.credit -= LOSS,
            Text::Nothing => {}
        }
        self.scan.leaf(value)
    }
}

impl<'a> ItemSource<'a> for HintedScan<'a, '_> {
    #[inline(always)]
    fn bytes(&self) -> &'a [u8] {
        self.scan.bytes()
    }

    #[inline(always)]
    fn known(&self) -> &'a Known {
        self.scan.known()
    }

    #[inline(always)]
    fn begin(&mut self, pos: usize) {
        self.scan.begin(pos);
    }

    #[inline(always)]
    fn pos(&self) -> usize {
        self.scan.pos()
    }

    #[inline(always)]
    fn goes_on(&mut self) -> bool {
        self.credit >= 0 && self.texts.begin()
    }
}
