//! That a comparison comes to an end.
//!
//! ```text
//! fast mode       stops at a difference, at a position of the new message
//! regular mode    goes on at the last place in front of it, where an element was that is known to differ
//! fast mode       is entered behind a start tag that reaches beyond the difference: for the element in which it lies is
//!                 not taken for the old one, and what follows that element begins behind the difference
//! ```
//!
//! So each difference lies behind the one before it, and there are no more of them than the message has bytes. An array whose
//! size differs is no exception: the difference in its start tag lies in front of any within. Nor are items that were moved: they
//! are taken for old ones only where they equal these beyond the difference.
//!
//! One place may be met twice: a flat item is read again with the white space behind it. Where there is less of that than
//! before, the item ends at the difference, and what follows may differ there as well. It is no part of that item.
//!
//! That is an argument about five modules, and each change to one of them may break it. Therefore it is checked: where a difference
//! does not lie behind the last but one, the message is read again from its start in regular mode, which compares nothing.
//! Whatever the other modules do, no message makes the decoder go round in circles. Only the end of what was received may be met
//! more often; any other place is a fault of theirs, which debug builds report.

/// The last difference met.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Its position in the message.
    last: u64,
    /// It was met twice.
    is_met_again: bool,
}

impl Progress {
    /// Fast mode stops at a position; false if it has been there twice, or further on.
    pub(super) fn is_made_at(&mut self, position: u64) -> bool {
        let is_last = position == self.last;
        let is_made = position > self.last || (is_last && !self.is_met_again);
        (self.last, self.is_met_again) = (position, is_last);
        is_made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_place_is_no_progress_for_long() {
        let mut progress = Progress::default();
        assert!(progress.is_made_at(7) && progress.is_made_at(8) && progress.is_made_at(8));
        assert!(!progress.is_made_at(8) && !progress.is_made_at(8) && !progress.is_made_at(3));
    }
}
