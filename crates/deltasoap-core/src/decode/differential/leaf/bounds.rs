//! What comparing may cost, and why it comes to an end. Every limiter of a message is here;
//! `adaptive` and `turns` have those of a stream.
//!
//! | limiter | counts | at most | beyond it |
//! |---|---|---|---|
//! | progress | stops of fast mode at one position | two | the message is read again from its start |
//! | switches | bytes that regular mode would have read meanwhile | 16 KiB, and 2 for each byte read | the same |
//! | judgement | bytes that are equal, of the first 8 KiB and at each difference after | at least one in 8 | the rest is read in regular mode |
//! | balance | switches, in bytes, beyond the bytes that are equal | an eighth of the old message, 1 to 16 KiB | the same |
//! | search | bytes compared in search of items inserted or removed | as many as were read | no more searches |
//! | slides | nodes that got another place in their list | 16 a node | no more searches |
//! | moved bytes | bytes of values moved within their list | 32 for each byte of the old message | no more searches |
//! | moved items | flat items moved within their list | 16 an item | no more searches |
//!
//! "Read again" happens once a message, as nothing is compared then. So a message costs at most
//! what regular mode costs twice, and a constant number of operations a byte on top.
//!
//! # Why a comparison comes to an end
//!
//! ```text
//! fast mode       stops at a difference, at a position of the new message
//! regular mode    goes on at the last place before it, where an element was that is known to differ
//! fast mode       is entered after a start tag that reaches beyond the difference: for the element in which it lies is
//!                 not taken for the old one, and what follows that element begins after the difference
//! ```
//!
//! So each difference lies after the one before it, and there are no more of them than the message
//! has bytes. An array whose size differs is no exception: the difference in its start tag lies
//! before any within. Nor are items that were moved: they are taken for old ones only where they
//! equal these beyond the difference.
//!
//! One place may be met twice: a flat item is read again with the white space after it. Where there
//! is less of that than before, the item ends at the difference, and what follows may differ there
//! as well. It is no part of that item.
//!
//! That is an argument about five modules, and each change to one of them may break it. Therefore
//! [`Bounds::is_progress`] checks it: where a difference does not lie after the last but one, the
//! message is read again from its start in regular mode, which compares nothing. Whatever the other
//! modules do, no message makes the decoder go round in circles. Only the end of what was received
//! may be met more often; any other place is an error of theirs, which debug builds report.

/// What a message has cost so far.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    /// The position of the last difference met.
    last: u64,
    /// It was met twice.
    is_met_again: bool,
    /// What was spent on switches, in bytes that regular mode would have read meanwhile.
    switches: u64,
    searched: u64,
    slid: usize,
    moved_bytes: u64,
    moved_items: usize,
    /// Whether comparing may be given up within a message, and what it may cost more than it gains
    /// till then.
    is_adaptive: bool,
    credit: u64,
    is_hopeless: bool,
}

/// A switch to regular mode and back, among elements that are read one by one. A message that
/// differs here and there, all over, is better read in regular mode as a whole. How much better
/// depends on what regular mode does: elements read one by one take some twenty nanoseconds a byte,
/// flat items one or two.
const SWITCH: u64 = 48;
/// A switch, for each element on the way.
const LEVEL: u64 = 4;
/// A switch among flat items costs so much more.
const FLAT: u64 = 208;
/// What any message may spend on switches.
const SPARE: u64 = 16 << 10;
/// What it may spend for each byte that was compared or read.
const ALLOWED: u64 = 2;
/// Bytes of an operation after which it is known whether comparing is worth while.
const JUDGED: u64 = 8 << 10;
/// It is if at least one byte in so many is equal.
const LEAST_EQUAL: u64 = 8;
/// What comparing may cost more than it gains before the rest is read in regular mode: this part of
/// the old message, at least and at most so many bytes.
const CREDIT: u64 = 8;
const LEAST_CREDIT: u64 = 1 << 10;
const MOST_CREDIT: u64 = SPARE;
/// How often, on average, a node may get another place in its list.
const SLIDES: usize = 16;
/// How many bytes of items may be moved for each byte of the old message: a large value can come
/// from few bytes. As many are moved in less time than regular mode takes for that byte.
const MOVED_BYTES: u64 = 32;
/// How often, on average, a flat item may be moved for others that were inserted or removed before
/// it.
const MOVED_ITEMS: usize = 16;

impl Bounds {
    /// For a message that is compared with one of so many bytes.
    pub(super) fn of(is_adaptive: bool, old: u64) -> Self {
        let credit = (old / CREDIT).clamp(LEAST_CREDIT, MOST_CREDIT);
        Bounds { is_adaptive, credit, ..Bounds::default() }
    }

    /// Fast mode stops at a position; false if it has been there twice, or further on.
    pub(super) fn is_progress(&mut self, position: u64) -> bool {
        let is_last = position == self.last;
        let is_made = position > self.last || (is_last && !self.is_met_again);
        (self.last, self.is_met_again) = (position, is_last);
        is_made
    }

    /// A switch to a place within so many elements.
    pub(super) fn charge_switch(&mut self, levels: usize) {
        self.switches += SWITCH + LEVEL * levels as u64;
    }

    /// The switch leads to flat items, which regular mode would read very fast.
    pub(crate) fn charge_flat(&mut self) {
        self.switches += FLAT;
    }

    /// True if switches have cost more than `read` bytes allow.
    pub(super) fn is_dear(&self, read: u64) -> bool {
        self.switches > SPARE + ALLOWED * read
    }

    /// Gives up comparing where next to nothing is equal of the bytes read, or where switches cost
    /// more than that saves.
    pub(super) fn judge(&mut self, read: u64, equal: u64) {
        let is_unlike = read >= JUDGED && equal < read / LEAST_EQUAL;
        let costs_more = self.switches > equal + self.credit;
        self.is_hopeless |= self.is_adaptive && (is_unlike || costs_more);
    }

    /// True if the rest is read in regular mode and not noted.
    pub(crate) fn is_hopeless(&self) -> bool {
        self.is_hopeless
    }

    /// Bytes were compared in search of items that were inserted or removed.
    pub(crate) fn charge_search(&mut self, bytes: u64) {
        self.searched += bytes;
    }

    /// True if no more is to be spent on such searches, of `read` bytes.
    pub(super) fn has_searched_enough(&self, read: u64) -> bool {
        self.searched > read
    }

    /// Nodes got another place in their list.
    pub(super) fn charge_slides(&mut self, nodes: usize) {
        self.slid += nodes;
    }

    /// Bytes of a list's items were moved.
    pub(crate) fn charge_moved(&mut self, bytes: usize) {
        self.moved_bytes = self.moved_bytes.saturating_add(bytes as u64);
    }

    /// True if lists of a message with so many nodes and bytes are not to be brought in line any
    /// more.
    pub(super) fn has_moved_enough(&self, nodes: usize, bytes: u64) -> bool {
        self.slid > SLIDES * nodes || self.moved_bytes > MOVED_BYTES * bytes
    }

    /// Flat items were moved.
    pub(crate) fn charge_moved_items(&mut self, items: usize) {
        self.moved_items += items;
    }

    /// True if a run of so many flat items is not to be brought in line any more.
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
            assert!(!bounds.is_dear(switch * 150));
        }
        assert!(bounds.is_dear(10_000 * 100));
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
            let mut bounds = Bounds::of(is_adaptive, 100_000);
            bounds.judge(JUDGED - 1, 0);
            bounds.judge(JUDGED, JUDGED / LEAST_EQUAL);
            assert!(!bounds.is_hopeless());
            bounds.judge(JUDGED, JUDGED / LEAST_EQUAL - 1);
            assert_eq!(bounds.is_hopeless(), is_adaptive);
        }
    }

    #[test]
    fn switches_that_cost_more_than_they_save_are_given_up() {
        for (old, switches) in [(2_000, 5), (100_000, 58), (10_000_000, 76)] {
            let mut bounds = Bounds::of(true, old);
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
