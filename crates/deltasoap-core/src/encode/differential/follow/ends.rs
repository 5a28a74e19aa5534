//! End tags, and the slack after them that belongs to the fields of leaves.
//!
//! Outside of arrays a chunk is rebuilt from front to back. So a value that needs more room takes
//! it from the slack after it, and what is still missing from the fields that follow.

use super::tag::Tag;
use crate::encode::Encoder;
use crate::encode::differential::MatchKind;
use crate::encode::differential::against::Role;
use crate::encode::differential::run;
use crate::encode::differential::tape::{Kind, Mark};
use crate::encode::encoder::Open;

impl Encoder {
    /// Ends an element. `has_slack` is true if slack may follow its end tag.
    pub(in crate::encode) fn end_against(&mut self, has_slack: bool) {
        if self.in_tag {
            match self.finish_tag(false) {
                Tag::Written => self.note_end(b"/>"),
                Tag::Followed => self.current().step(),
                Tag::Emptied => {}
            }
        } else if self.is_in_new() {
            self.end_new();
        } else {
            self.drop_rest();
            self.pass_end(has_slack);
        }
        if let Some(open) = self.open.pop() {
            self.declared.truncate(open.declared);
        }
    }

    /// Writes an end tag, followed by the slack of a leaf's field.
    fn end_new(&mut self) {
        let Some(&Open { name, role: Role::New { is_saved, .. }, .. }) = self.open.last() else { return };
        let room = std::mem::take(&mut self.template().room);
        let len = self.template().entries.last().filter(|last| last.kind == Kind::Leaf).map(|leaf| leaf.pos());
        let slack = len.map_or(0, |start| room.saturating_sub(self.out.len() - start));
        self.note_end(b"</");
        if let Some(against) = self.against.as_mut().filter(|_| is_saved) {
            self.out.push(&against.open_names[name.0..name.1]);
            against.open_names.truncate(name.0);
        } else {
            self.out.push_within(name.0, name.1);
        }
        self.out.push(b">");
        run::push_spaces(&mut self.out, slack);
    }

    /// Steps over an old end tag.
    fn pass_end(&mut self, has_slack: bool) {
        if self.peek().is_none() {
            return;
        }
        let against = self.template();
        let (grown, owed) = (std::mem::take(&mut against.grown), against.owed);
        let tag = self.current().mark();
        self.current().step();
        if !has_slack {
            self.drop_slack(tag);
        } else if grown != 0 || owed > 0 {
            self.resize_slack(tag, grown);
        }
    }

    /// Leaves out the slack after an end tag. There is slack if the element held a typed value
    /// before.
    fn drop_slack(&mut self, tag: Mark) {
        let (after, end, slack) = self.slack_after(tag);
        if slack > 0 {
            let against = self.template();
            against.owed = against.owed.saturating_sub(slack);
            against.stats.shifts += 1;
            against.note(MatchKind::PartialStructural);
            self.break_at(Mark { byte: end, ..after });
            self.skip_to(after);
        }
    }

    /// Returns, for an end tag that was stepped over, the place after its slack, the tag's end, and
    /// the number of bytes of slack.
    fn slack_after(&mut self, tag: Mark) -> (Mark, usize, usize) {
        let after = self.current().mark();
        let bytes = &self.current().tape().bytes[tag.byte..after.byte];
        let len = memchr::memchr(b'>', bytes).map_or(bytes.len(), |end| end + 1);
        (after, tag.byte + len, bytes.len() - len)
    }

    /// Shrinks or extends the slack after an end tag, so that the content after it moves less or
    /// not at all.
    fn resize_slack(&mut self, tag: Mark, grown: isize) {
        let (after, end, slack) = self.slack_after(tag);
        let slack = slack as isize;
        let left = slack - grown;
        let against = self.template();
        let fits = left >= 0;
        against.owed += left.min(0).unsigned_abs();
        let stolen = if grown == 0 { against.owed.min(left.max(0) as usize) } else { 0 };
        against.owed -= stolen;
        against.stats.steals += u64::from(stolen > 0);
        if grown != 0 {
            against.stats.tag_moves += u64::from(fits);
            against.stats.shifts += u64::from(!fits);
            against.note(if fits { MatchKind::PerfectStructural } else { MatchKind::PartialStructural });
        }
        let new = left.max(0) as usize - stolen;
        if new as isize != slack {
            self.break_at(Mark { byte: end, ..after });
            run::push_spaces(&mut self.out, new);
            self.skip_to(after);
        }
    }
}
