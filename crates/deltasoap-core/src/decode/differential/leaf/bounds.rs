//! Limits on the cost of comparing, and the guarantee that it terminates. Every limiter of a
//! message is here; `adaptive` and `mixed` have those of a stream.
//!
//! | limiter | counts | at most | beyond it |
//! |---|---|---|---|
//! | progress | stops of fast mode at one position | two | the message is reread from its start |
//! | switches | bytes that regular mode would have read | 16 KiB, and 2 per byte read | the same |
//! | judgement | equal bytes, of 8 KiB and at later differences | at least 1 in 8 | regular mode |
//! | balance | switches, in bytes, less equal bytes | 1/8 of the message, 1 to 16 KiB | the same |
//! | search | bytes compared to find moved items | as many as read | no more searches |
//! | slides | nodes that got another place in their list | 16 per node | no more searches |
//! | moved bytes | bytes of moved values | 32 per byte of the old message | no more searches |
//! | moved items | flat items moved within their list | 16 per item | no more searches |
//!
//! A message is reread at most once, as nothing is compared then. So a message costs at most twice
//! what regular mode costs, plus a constant number of operations per byte.
//!
//! # Why a comparison terminates
//!
//! ```text
//! fast mode       stops at a difference, at a position of the new message
//! regular mode    continues at the last place before it, at an element that is known to differ
//! fast mode       is entered after a start tag that reaches beyond the difference: the element that contains it is
//!                 not taken for the old one, and what follows that element begins after the difference
//! ```
//!
//! So each difference is after the previous one, and there are no more differences than bytes in
//! the message. An array whose size differs is no exception: the difference in its start tag is
//! before any within. Neither are items that were moved: they are taken for old ones only if they
//! equal these beyond the difference.
//!
//! One place may be reached twice: a flat item is reread together with the white space after it. If
//! there is less white space than before, the item ends at the difference, and what follows may
//! differ there as well. It is not part of that item.
//!
//! This argument involves five modules, and each change to one of them may break it. Therefore
//! [`Bounds::is_progress`] checks it: if a difference is not after the last but one, the message is
//! reread from its start in regular mode, which compares nothing. Whatever the other modules do, no
//! message can make the decoder loop forever. Only the end of the received bytes may be reached
//! more often; any other place is an error in these modules, which debug builds report.

/// The cost of a message so far.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    /// The position of the last difference.
    last: u64,
    /// True if it was reached twice.
    is_met_again: bool,
    /// The cost of switches, in bytes that regular mode would have read meanwhile.
    switches: u64,
    searched: u64,
    slid: usize,
    moved_bytes: u64,
    moved_items: usize,
    /// True if comparing may be given up within a message, and the amount by which its cost may
    /// exceed its gain until then.
    is_adaptive: bool,
    credit: u64,
    is_hopeless: bool,
}

/// The cost of a switch to regular mode and back, among elements that are read one by one. A
/// message with scattered differences everywhere is better read in regular mode as a whole. How
/// much better depends on what regular mode does: elements read one by one take about twenty
/// nanoseconds per byte, flat items one or two.
const SWITCH: u64 = 48;
/// The cost of a switch for each element on the way.
const LEVEL: u64 = 4;
/// The additional cost of a switch among flat items.
const FLAT: u64 = 208;
/// The amount that any message may spend on switches.
const SPARE: u64 = 16 << 10;
/// The amount that a message may spend for each byte that was compared or read.
const ALLOWED: u64 = 2;
/// Number of bytes of an operation after which it is decided whether comparing is worthwhile.
const JUDGED: u64 = 8 << 10;
/// Comparing is worthwhile if at least one in this many bytes is equal.
const MIN_EQUAL: u64 = 8;
/// The amount by which the cost of comparing may exceed its gain before the rest is read in regular
/// mode: this fraction of the old message, within a minimum and a maximum in bytes.
const CREDIT: u64 = 8;
const MIN_CREDIT: u64 = 1 << 10;
const MAX_CREDIT: u64 = SPARE;
/// Average number of times that a node may get another place in its list.
const SLIDES: usize = 16;
/// Number of bytes of items that may be moved for each byte of the old message: a large value can
/// come from few bytes. Moving that many takes less time than regular mode takes for that byte.
const MOVED_BYTES: u64 = 32;
/// Average number of times that a flat item may be moved because others were inserted or removed
/// before it.
const MOVED_ITEMS: usize = 16;

impl Bounds {
    /// Creates the bounds for a message that is compared with one of `old` bytes.
    pub(super) fn new(is_adaptive: bool, old: u64) -> Self {
        let credit = (old / CREDIT).clamp(MIN_CREDIT, MAX_CREDIT);
        Bounds { is_adaptive, credit, ..Bounds::default() }
    }

    /// Records that fast mode stops at a position. Returns false if it has been there twice, or
    /// further on.
    pub(super) fn is_progress(&mut self, position: u64) -> bool {
        let is_last = position == self.last;
        let is_made = position > self.last || (is_last && !self.is_met_again);
        (self.last, self.is_met_again) = (position, is_last);
        is_made
    }

    /// Charges a switch to a place within `levels` elements.
    pub(super) fn charge_switch(&mut self, levels: usize) {
        self.switches += SWITCH + LEVEL * levels as u64;
    }

    /// Charges a switch to flat items, which regular mode would read very fast.
    pub(crate) fn charge_flat(&mut self) {
        self.switches += FLAT;
    }

    /// Returns true if switches have cost more than `read` bytes allow.
    pub(super) fn is_expensive(&self, read: u64) -> bool {
        self.switches > SPARE + ALLOWED * read
    }

    /// Gives up comparing if almost none of the bytes read are equal, or if switches cost more than
    /// the equal bytes save.
    pub(super) fn judge(&mut self, read: u64, equal: u64) {
        let is_unlike = read >= JUDGED && equal < read / MIN_EQUAL;
        let costs_more = self.switches > equal + self.credit;
        self.is_hopeless |= self.is_adaptive && (is_unlike || costs_more);
    }

    /// Returns true if the rest is read in regular mode and not noted.
    pub(crate) fn is_hopeless(&self) -> bool {
        self.is_hopeless
    }

    /// Charges bytes that were compared in search of items that were inserted or removed.
    pub(crate) fn charge_search(&mut self, bytes: u64) {
        self.searched += bytes;
    }

    /// Returns true if no more may be spent on such searches after `read` bytes.
    pub(super) fn has_searched_enough(&self, read: u64) -> bool {
        self.searched > read
    }

    /// Charges nodes that got another place in their list.
    pub(super) fn charge_slides(&mut self, nodes: usize) {
        self.slid += nodes;
    }

    /// Charges bytes of a list's items that were moved.
    pub(crate) fn charge_moved(&mut self, bytes: usize) {
        self.moved_bytes = self.moved_bytes.saturating_add(bytes as u64);
    }

    /// Returns true if lists of a message with this number of nodes and bytes may not be realigned
    /// any more.
    pub(super) fn has_moved_enough(&self, nodes: usize, bytes: u64) -> bool {
        self.slid > SLIDES * nodes || self.moved_bytes > MOVED_BYTES * bytes
    }

    /// Charges flat items that were moved.
    pub(crate) fn charge_moved_items(&mut self, items: usize) {
        self.moved_items += items;
    }

    /// Returns true if a run with this number of flat items may not be realigned any more.
    pub(crate) fn has_moved_items_enough(&self, items: usize) -> bool {
        self.moved_items > MOVED_ITEMS * items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_now_and_then_is_allowed() {
        let mut bounds = Bounds::default();
        for switch in 1..10_000_u64 {
            bounds.charge_switch(3);
            bounds.charge_flat();
            assert!(!bounds.is_expensive(switch * 150));
        }
        assert!(bounds.is_expensive(10_000 * 100));
    }

    #[test]
    fn the_same_place_is_no_progress_for_long() {
        let mut bounds = Bounds::default();
        assert!(bounds.is_progress(7) && bounds.is_progress(8) && bounds.is_progress(8));
        assert!(!bounds.is_progress(8) && !bounds.is_progress(8) && !bounds.is_progress(3));
    }

    #[test]
    fn messages_without_likeness_are_given_up_where_that_is_allowed() {
        for is_adaptive in [false, true] {
            let mut bounds = Bounds::new(is_adaptive, 100_000);
            bounds.judge(JUDGED - 1, 0);
            bounds.judge(JUDGED, JUDGED / MIN_EQUAL);
            assert!(!bounds.is_hopeless());
            bounds.judge(JUDGED, JUDGED / MIN_EQUAL - 1);
            assert_eq!(bounds.is_hopeless(), is_adaptive);
        }
    }

    #[test]
    fn switches_that_cost_more_than_they_save_are_given_up() {
        for (old, switches) in [(2_000, 5), (100_000, 58), (10_000_000, 76)] {
            let mut bounds = Bounds::new(true, old);
            let counted = (1_u64..1000).find(|switch| {
                bounds.charge_switch(0);
                bounds.charge_flat();
                bounds.judge(100 * switch, 40 * switch);
                bounds.is_hopeless()
            });
            assert_eq!(counted, Some(switches), "{old}");
        }
    }
}
