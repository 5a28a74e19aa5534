//! Counters of what differential serialization did.

use std::ops::{AddAssign, Sub};

/// How a message matches what was sent before (*Differential Serialization*, section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MatchKind {
    /// Message content match: it is the same message.
    Content,
    /// Perfect structural match: the same elements, and every changed value is as long as before or
    /// fits its field.
    PerfectStructural,
    /// Partial structural match: values that need more or less room, or elements that came or went.
    PartialStructural,
    /// First-time send: written in full.
    FirstTime,
}

impl MatchKind {
    /// Returns a short name for people: `content`, `perfect`, `partial`, `first`.
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
        /// Counters since the template, or the set of templates, was made. They only grow.
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
    /// Bytes that were written into templates, first-time sends included; bytes moved are counted
    /// apart.
    written,
    /// Bytes moved because something before them got longer or shorter.
    moved,
    /// Leaves whose value was rewritten.
    leaves,
    /// Values that outgrew their field, or left it without stuffing, so that what follows in the
    /// chunk was shifted.
    shifts,
    /// Values that found room in a neighbour's slack.
    steals,
    /// Values that got shorter than their field, so that their end tag moved.
    tag_moves,
    /// Elements that came or went.
    elements,
    /// Chunks split.
    splits,
    /// Chunks that were still being sent, and so were copied before they were changed.
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
