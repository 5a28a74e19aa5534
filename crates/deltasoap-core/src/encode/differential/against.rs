//! The template while a message is written against it.
//!
//! The routines that write a message are the same as ever; they call the [`Encoder`] for each tag,
//! attribute and text. Without a template it appends bytes. With one it *follows* (`follow`): an
//! entry of the tape stands for each of these calls, and where it is the one expected, the encoder
//! steps over it. So no markup is written, and of the leaves only those whose values differ.
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
//! A chunk in which something gets longer or shorter, comes or goes, is *rebuilt* (`edit`): its
//! bytes are copied into the encoder's buffer, piece by piece, new ones between. So a chunk is
//! moved once, however many values in it change.
//!
//! Why this is right: how an element is written depends on its value and on the declarations in
//! scope. An element is followed only if its tag turns out to declare the same as before; else it
//! is rewritten with all that is in it.

use super::outgoing::Frames;
use super::pool::RunPool;
use super::tape::{Chunk, Entry, Mark, Names, TapeChunk, is_too_long};
use super::{EncodeStats, MatchKind, Stamp, Templating};
use crate::QName;
use crate::encode::Encoder;
use deltasoap_xml::Buffer;
use std::collections::VecDeque;
use std::sync::Arc;

/// What a template has to do with an open element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::encode) enum Role {
    /// Nothing: there is no template.
    Plain,
    /// It stands in the template.
    Followed,
    /// It is new, or was empty in the template: what is in it is written and noted.
    New {
        /// Its start tag's place in the tape being built; of use only while the tag is open.
        entry: usize,
        /// True if its name stands among the [open names](Against::open_names), not in the
        /// encoder's buffer.
        is_saved: bool,
    },
}

/// The template while a message is written against it.
#[derive(Debug, Default)]
pub(in crate::encode) struct Against {
    pub(super) options: Templating,
    /// Where runs are found that other templates hold.
    pub(super) pool: Option<RunPool>,
    /// What stands and has not been looked at.
    pub(super) old: VecDeque<Arc<Chunk>>,
    pub(super) current: Option<Current>,
    /// What is written, up to what is being built.
    pub(super) done: Vec<Arc<Chunk>>,
    /// The tape of what is being built in the encoder's buffer.
    pub(super) entries: Vec<Entry>,
    pub(super) values: Vec<u64>,
    /// How much of what is being built was copied from old chunks.
    pub(super) copied: usize,
    pub(super) names: Names,
    /// Names of open elements that the encoder's buffer no longer holds.
    pub(super) open_names: Vec<u8>,
    pub(super) pending: Option<Pending>,
    /// The width that the last leaf's field needs at least, if it is new.
    pub(super) room: usize,
    /// By how much the last leaf got longer, for the slack after its element.
    pub(super) grown: isize,
    /// Bytes by which values outgrew their fields, to be taken from the slack of those after.
    pub(super) owed: usize,
    pub(super) tag: Buffer,
    pub(super) text: Buffer,
    pub(super) spare: Buffer,
    pub(super) stats: EncodeStats,
    /// The last message as it was handed out, until something of it changes.
    pub(super) frames: Option<Frames>,
    kind: Option<MatchKind>,
    /// Something could not be written, or not be noted.
    pub(super) has_failed: bool,
}

/// The old chunk at hand.
#[derive(Debug)]
pub(super) struct Current {
    pub(super) chunk: Arc<Chunk>,
    /// The next entry, and its values.
    pub(super) entry: usize,
    pub(super) value: usize,
    /// What is before this has been copied into what is being built, or left out.
    pub(super) copied: Mark,
    pub(super) is_rebuilt: bool,
}

/// A start tag that is followed and not yet at its end.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) entry: usize,
    pub(super) value: usize,
    pub(super) stamp: Option<Stamp>,
    /// The encoder's buffer, while the tag is written into another to be compared.
    pub(super) outer: Option<Buffer>,
}

impl Current {
    fn new(chunk: Arc<Chunk>) -> Self {
        Current { chunk, entry: 0, value: 0, copied: Mark::default(), is_rebuilt: false }
    }

    pub(super) fn tape(&self) -> &TapeChunk {
        match &*self.chunk {
            Chunk::Tape(tape) => tape,
            Chunk::Run(_) => unreachable!("runs are passed with the entry in front of them"),
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

/// What is left of a template when a message has been written.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) chunks: Vec<Arc<Chunk>>,
    pub(super) names: Names,
    pub(super) stats: EncodeStats,
    pub(super) kind: MatchKind,
    /// The last message, if this is the same.
    pub(super) frames: Option<Frames>,
}

impl Against {
    /// What a message left, to write the next one against; nothing, to begin with.
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

    /// Takes the next old chunk up.
    pub(super) fn load(&mut self) {
        self.current = self.old.pop_front().map(Current::new);
        self.owed = 0;
    }

    /// Returns the run before the next chunk.
    pub(super) fn take_run(&mut self) -> Vec<Arc<Chunk>> {
        let count = self.old.iter().take_while(|chunk| chunk.run().is_some()).count();
        self.old.drain(..count).collect()
    }

    /// Lets other templates find a run.
    pub(super) fn note_run(&self, chunks: &[Arc<Chunk>]) {
        if let Some(pool) = self.pool.as_ref().filter(|_| !self.has_failed) {
            pool.note(&self.options, chunks);
        }
    }

    /// Notes that the message matches no better than this.
    #[inline]
    pub(super) fn note(&mut self, kind: MatchKind) {
        self.kind = self.kind.max(Some(kind));
    }

    pub(super) fn kind_mut(&mut self) -> &mut MatchKind {
        self.kind.get_or_insert(MatchKind::FirstTime)
    }

    /// Returns the number of a name; the template is not kept if there are too many.
    pub(super) fn number(&mut self, name: &QName) -> u16 {
        self.names.number(name).unwrap_or_else(|| {
            self.has_failed = true;
            0
        })
    }

    /// Makes a chunk of what was built.
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
        // The places in one that is too long are wrong; the template is not kept.
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

    /// Ends the message. `None` if it could not be written as it is.
    pub(super) fn finish_template(mut self) -> Option<Written> {
        self.finish_current();
        let mut against = *self.against.take()?;
        against.close(&mut self.out);
        let has_failed = against.has_failed || self.finish().is_err();
        let kind = *against.kind_mut();
        let Against { done, names, stats, frames, .. } = against;
        let frames = frames.filter(|_| kind == MatchKind::Content);
        (!has_failed).then_some(Written { chunks: done, names, stats, kind, frames })
    }

    /// True if there is a template to write against, or to make.
    pub(in crate::encode) fn has_template(&self) -> bool {
        self.against.is_some()
    }

    /// Gives the template up, for the message holds what cannot be followed; false if there is
    /// none. The message will be written again, in full.
    pub(in crate::encode) fn give_up_template(&mut self) -> bool {
        if let Some(against) = &mut self.against {
            against.has_failed = true;
        }
        self.against.is_some()
    }

    /// True if there is a message to follow.
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

    /// Returns the old chunk at hand, in routines that are called only with one.
    #[inline(always)]
    pub(super) fn current(&mut self) -> &mut Current {
        match &mut self.template().current {
            Some(current) => current,
            None => unreachable!("a followed element without a chunk"),
        }
    }
}
