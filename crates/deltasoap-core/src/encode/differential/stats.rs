//! Counters of differential serialization.

use std::ops::{AddAssign, Sub};

/// How a message matches earlier ones (*Differential Serialization*, section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MatchKind {
    /// Message content match: it is the same message.
    Content,
    /// Perfect structural match: the same elements, and every changed value is as long as before or
    /// fits its field.
    PerfectStructural,
    /// Partial structural match: some values need more or less space, or elements were inserted or
    /// removed.
    PartialStructural,
    /// First-time send: written in full.
    FirstTime,
}

impl MatchKind {
    /// Returns a short human-readable name: `content`, `perfect`, `partial`, `first`.
    pub const fn name(self) -> &'static str {
        match self {
            MatchKind::Content => "content",
            MatchKind::PerfectStructural => "perfect",
            MatchKind::PartialStructural => "partial",
            MatchKind::FirstTime => "first",
        }
    }
}

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Counters since the template, or the set of templates, was created. They only grow.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct EncodeStats {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl AddAssign for EncodeStats {
            fn add_assign(&mut self, other: Self) {
                $(self.$name += other.$name;)*
            }
        }

        impl Sub for EncodeStats {
            type Output = Self;

            fn sub(self, earlier: Self) -> Self {
                EncodeStats { $($name: self.$name - earlier.$name,)* }
            }
        }
    };
}

counters! {
    /// Messages written.
    messages,
    /// Message content matches.
    content,
    /// Perfect structural matches.
    perfect,
    /// Partial structural matches.
    partial,
    /// First-time sends.
    first,
    /// Bytes of all messages.
    bytes,
    /// Bytes written into templates, including first-time sends. Moved bytes are counted
    /// separately.
    written,
    /// Bytes moved because content before them got longer or shorter.
    moved,
    /// Leaves whose value was rewritten.
    leaves,
    /// Values that outgrew their field, or changed their length without stuffing, so that the rest
    /// of the chunk was shifted.
    shifts,
    /// Values that took space from a neighbour's slack.
    steals,
    /// Values that got shorter than their field, so that their end tag moved.
    tag_moves,
    /// Elements inserted or removed.
    elements,
    /// Chunks split.
    splits,
    /// Chunks that were copied before a change, because they were still being sent.
    copies,
    /// Chunks taken over from another template.
    shared,
}

impl EncodeStats {
    /// Counts a message.
    pub(crate) fn count(&mut self, kind: MatchKind, bytes: usize) {
        self.messages += 1;
        self.bytes += bytes as u64;
        *match kind {
            MatchKind::Content => &mut self.content,
            MatchKind::PerfectStructural => &mut self.perfect,
            MatchKind::PartialStructural => &mut self.partial,
            MatchKind::FirstTime => &mut self.first,
        } += 1;
    }
}
