//! The template while a message is written against it.
//!
//! The same routines write a message with and without a template; they call the [`Encoder`] for
//! each tag, attribute and text. Without a template the encoder appends bytes. With one it
//! *follows* (`follow`): each of these calls corresponds to an entry of the tape, and if the entry
//! is the expected one, the encoder steps over it. So no markup is written, and of the leaves only
//! those whose values differ.
//!
//! ```text
//! start(name)   the next entry is this element's?     step in; attributes are written beside and compared
//!               that of a sibling a little later is?  those between went away
//!               none is?                              a new element: written and noted, as in a first-time send
//! leaf(value)   the same bits, or the same text?      step over
//!               as long as the old one?               write over it
//! end()         step over the end tag; children that were not called for went away
//! ```
//!
//! A chunk is *rebuilt* (`edit`) if something in it gets longer or shorter, is inserted or removed:
//! its bytes are copied into the encoder's buffer, piece by piece, with new ones between. So a
//! chunk is moved once, regardless of how many of its values change.
//!
//! This is correct: the way an element is written depends on its value and on the declarations in
//! scope. An element is followed only if its tag makes the same declarations as before; otherwise
//! it is rewritten with its whole content.

use super::outgoing::Frames;
use super::pool::RunPool;
use super::tape::{Chunk, Entry, Mark, Names, TapeChunk, is_too_long};
use super::{EncodeStats, MatchKind, Stamp, Templating};
use crate::QName;
use crate::encode::Encoder;
use deltasoap_xml::Buffer;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// The relation between an open element and the template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::encode) enum Role {
    /// There is no template.
    Plain,
    /// The element is in the template.
    Followed,
    /// The element is new, or was empty in the template: its content is written and noted.
    New {
        /// Index of its start tag in the tape being built; valid only while the tag is open.
        entry: usize,
        /// True if its name is among the [open names](Against::open_names), not in the encoder's
        /// buffer.
        is_saved: bool,
    },
}

/// The template while a message is written against it.
#[derive(Debug, Default)]
pub(in crate::encode) struct Against {
    pub(super) options: Templating,
    /// Finds runs held by other templates.
    pub(super) pool: Option<RunPool>,
    /// Old chunks that have not been looked at.
    pub(super) old: VecDeque<Arc<Chunk>>,
    pub(super) current: Option<Current>,
    /// Finished chunks, before the one being built.
    pub(super) done: Vec<Arc<Chunk>>,
    /// The tape of the chunk being built in the encoder's buffer.
    pub(super) entries: Vec<Entry>,
    pub(super) values: Vec<u64>,
    /// Number of bytes of the chunk being built that were copied from old chunks.
    pub(super) copied: usize,
    pub(super) names: Names,
    /// Names of open elements that are no longer in the encoder's buffer.
    pub(super) open_names: Vec<u8>,
    pub(super) pending: Option<Pending>,
    /// Minimum width of the last leaf's field, if it is new.
    pub(super) room: usize,
    /// Growth of the last leaf in bytes, for the slack after its element.
    pub(super) grown: isize,
    /// Bytes by which values outgrew their fields, to be taken from the slack of later fields.
    pub(super) owed: usize,
    pub(super) tag: Buffer,
    pub(super) text: Buffer,
    pub(super) spare: Buffer,
    pub(super) stats: EncodeStats,
    /// The last message as it was handed out, until a part of it changes.
    pub(super) frames: Option<Frames>,
    kind: Option<MatchKind>,
    /// True if something could not be written, or could not be noted.
    pub(super) has_failed: bool,
}

/// The current old chunk.
#[derive(Debug)]
pub(super) struct Current {
    pub(super) chunk: Arc<Chunk>,
    /// Index of the next entry, and of its values.
    pub(super) entry: usize,
    pub(super) value: usize,
    /// Everything before this place was copied into the chunk being built, or left out.
    pub(super) copied: Mark,
    pub(super) is_rebuilt: bool,
}

/// A followed start tag that has not reached its end.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) entry: usize,
    pub(super) value: usize,
    pub(super) stamp: Option<Stamp>,
    /// The encoder's buffer, while the tag is written into another one for comparison.
    pub(super) outer: Option<Buffer>,
}

impl Current {
    fn new(chunk: Arc<Chunk>) -> Self {
        Current { chunk, entry: 0, value: 0, copied: Mark::default(), is_rebuilt: false }
    }

    pub(super) fn tape(&self) -> &TapeChunk {
        match &*self.chunk {
            Chunk::Tape(tape) => tape,
            Chunk::Run(_) => unreachable!("runs are passed with the entry before them"),
        }
    }

    #[inline]
    pub(super) fn next(&self) -> Option<Entry> {
        self.tape().entries.get(self.entry).copied()
    }

    /// Steps over the next entry.
    #[inline]
    pub(super) fn step(&mut self) {
        if let Some(entry) = self.next() {
            self.entry += 1;
            self.value += entry.values();
        }
    }

    /// Returns the place before the next entry.
    #[inline]
    pub(super) fn mark(&self) -> Mark {
        self.tape().mark(self.entry, self.value)
    }
}

/// The rest of a template after a message was written.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) chunks: Vec<Arc<Chunk>>,
    pub(super) names: Names,
    pub(super) stats: EncodeStats,
    pub(super) kind: MatchKind,
    /// The last message, if this one is the same.
    pub(super) frames: Option<Frames>,
    /// See [`Outgoing::inclusive_prefixes`](super::Outgoing::inclusive_prefixes).
    pub(super) unused_prefixes: BTreeSet<String>,
}

impl Against {
    /// Creates the state for writing the next message against the chunks of the last one; initially
    /// there are none.
    pub(super) fn new(options: Templating, chunks: Vec<Arc<Chunk>>, names: Names, stats: EncodeStats) -> Self {
        let kind = if chunks.is_empty() { MatchKind::FirstTime } else { MatchKind::Content };
        let options = options.in_range();
        let mut against = Against { options, old: chunks.into(), names, stats, kind: Some(kind), ..Against::default() };
        against.load();
        against
    }

    /// Shares runs with the templates of a pool.
    pub(super) fn with_pool(self, pool: Option<RunPool>) -> Self {
        Against { pool, ..self }
    }

    /// Loads the next old chunk.
    pub(super) fn load(&mut self) {
        self.current = self.old.pop_front().map(Current::new);
        self.owed = 0;
    }

    /// Takes the run before the next chunk.
    pub(super) fn take_run(&mut self) -> Vec<Arc<Chunk>> {
        let count = self.old.iter().take_while(|chunk| chunk.run().is_some()).count();
        self.old.drain(..count).collect()
    }

    /// Makes a run available to other templates.
    pub(super) fn note_run(&self, chunks: &[Arc<Chunk>]) {
        if let Some(pool) = self.pool.as_ref().filter(|_| !self.has_failed) {
            pool.note(&self.options, chunks);
        }
    }

    /// Returns true if the open start tag is one of the template's, and nothing of it was written.
    pub(in crate::encode) fn follows_plain_tag(&self) -> bool {
        self.pending.as_ref().is_some_and(|pending| pending.outer.is_none())
    }

    /// Limits how well the message matches.
    #[inline]
    pub(super) fn note(&mut self, kind: MatchKind) {
        self.kind = self.kind.max(Some(kind));
    }

    pub(super) fn kind_mut(&mut self) -> &mut MatchKind {
        self.kind.get_or_insert(MatchKind::FirstTime)
    }

    /// Returns the number of a name. If there are too many names, the template is not kept.
    pub(super) fn number(&mut self, name: &QName) -> u16 {
        self.names.number(name).unwrap_or_else(|| {
            self.has_failed = true;
            0
        })
    }

    /// Finishes the chunk being built.
    pub(super) fn close(&mut self, out: &mut Buffer) {
        self.has_failed |= out.has_replaced() || is_too_long(out.len());
        self.stats.written += (out.len() - std::mem::take(&mut self.copied)) as u64;
        if !out.is_empty() || !self.entries.is_empty() {
            let (entries, values) = (std::mem::take(&mut self.entries), std::mem::take(&mut self.values));
            self.push(TapeChunk { bytes: out.as_slice().to_vec(), entries, values });
        }
        out.clear();
    }

    fn push(&mut self, tape: TapeChunk) {
        // In a chunk that is too long the positions are wrong; the template is not kept.
        if tape.bytes.len() <= self.options.split || is_too_long(tape.bytes.len()) {
            return self.done.push(Arc::new(Chunk::Tape(tape)));
        }
        let parts = tape.split(self.options.chunk);
        self.stats.splits += parts.len() as u64 - 1;
        self.done.extend(parts.into_iter().map(|part| Arc::new(Chunk::Tape(part))));
    }
}

impl Encoder {
    /// Creates an encoder that writes against a template.
    pub(super) fn with_template(against: Against) -> Self {
        let mut encoder = Encoder::new();
        encoder.against = Some(Box::new(against));
        encoder
    }

    /// Ends the message. Returns `None` if the value could not be written exactly.
    pub(super) fn finish_template(mut self) -> Option<Written> {
        self.finish_current();
        let mut against = *self.against.take()?;
        against.close(&mut self.out);
        let unused_prefixes = self.unused_prefixes();
        let has_failed = against.has_failed || self.finish().is_err();
        let kind = *against.kind_mut();
        let Against { done, names, stats, frames, .. } = against;
        let frames = frames.filter(|_| kind == MatchKind::Content);
        (!has_failed).then_some(Written { chunks: done, names, stats, kind, frames, unused_prefixes })
    }

    /// Returns true if there is a template to write against, or to create.
    pub(in crate::encode) fn has_template(&self) -> bool {
        self.against.is_some()
    }

    /// Gives the template up, because the message holds content that cannot be followed. The
    /// message will be written again, in full. Returns false if there is no template.
    pub(in crate::encode) fn give_up_template(&mut self) -> bool {
        if let Some(against) = &mut self.against {
            against.has_failed = true;
        }
        self.against.is_some()
    }

    /// Returns true if there is a message to follow.
    pub(in crate::encode) fn follows(&self) -> bool {
        self.against.as_ref().is_some_and(|against| against.current.is_some())
    }

    /// Returns the template, in routines that are called only with one.
    #[inline(always)]
    pub(super) fn template(&mut self) -> &mut Against {
        match &mut self.against {
            Some(against) => against,
            None => unreachable!("a routine of templates without one"),
        }
    }

    /// Returns the current old chunk, in routines that are called only with one.
    #[inline(always)]
    pub(super) fn current(&mut self) -> &mut Current {
        match &mut self.template().current {
            Some(current) => current,
            None => unreachable!("a followed element without a chunk"),
        }
    }
}
