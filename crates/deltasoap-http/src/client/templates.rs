//! The client's store of sent requests, so that only the differences of the next ones need to be
//! written.
//!
//! A set of templates belongs to a destination and a kind of request. It is taken from the store
//! while a request is written, without holding a lock, and put back immediately. Requests that are
//! still being sent are safe, since templates copy the shared data before they change it. A request
//! that is written meanwhile gets its own set.
//!
//! The time it takes to write a message reveals what was sent before. So the pool of arrays that
//! templates share never extends beyond one store or, on a server, one connection and principal.

use super::echoes::Echoes;
use crate::attachments::Part;
use crate::body::Body;
use crate::secured::{Securing, WriteError};
use crate::shelf::{Idle, Shelf};
use crate::sizes::{Sizes, in_full};
use deltasoap_core::soap::{Envelope, MessageKind};
use deltasoap_core::{Buffer, EncodeStats, Error, Hint, RunPool, Templates, Templating};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Default number of sets kept.
const SETS: usize = 64;
/// Default number of bytes kept.
const BYTES: usize = 128 << 20;

/// A store of templates that several clients share.
///
/// The first request to one destination is written against the last request to another. An array
/// that was sent in another operation's request is not written again, and content that several
/// requests share is kept once.
///
/// Each client has its own store unless it is [given one](crate::ClientBuilder::templates). The
/// time it takes to write a request reveals how much it resembles earlier requests, to any
/// destination; share a store only where that is acceptable.
///
/// ```
/// use deltasoap_http::{Client, SharedTemplates};
///
/// # fn run() -> Result<(), deltasoap_http::ClientBuildError> {
/// let templates = SharedTemplates::default();
/// let east = Client::builder("http://east.example/reports").templates(templates.clone()).build()?;
/// let west = Client::builder("http://west.example/reports").templates(templates).build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct SharedTemplates(Arc<Store>);

impl Default for SharedTemplates {
    /// At most 64 sets of templates, and 128 MiB.
    fn default() -> Self {
        Self::new(SETS, BYTES)
    }
}

impl SharedTemplates {
    /// Creates a store with limits on the number of sets of templates and on their bytes. There is
    /// one set for each destination and kind of request (and one for each that is being written
    /// concurrently). Beyond the limits, the least recently used set is dropped. Content that two
    /// sets share is counted for each.
    pub fn new(sets: usize, bytes: usize) -> Self {
        let (shelf, runs) = (Mutex::new(Shelf::new(sets)), RunPool::new());
        SharedTemplates(Arc::new(Store { bytes, shelf, runs, destinations: AtomicU64::new(0) }))
    }

    /// Returns the bytes of all templates that wait for the next requests.
    pub fn memory(&self) -> usize {
        self.0.shelf().bytes()
    }
}

#[derive(Debug)]
struct Store {
    bytes: usize,
    shelf: Mutex<Shelf<Key>>,
    /// Arrays that requests of different kinds share.
    runs: RunPool,
    /// Number of clients that were built with the store.
    destinations: AtomicU64,
}

/// Identifies a set of templates.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    destination: u64,
    kind: MessageKind,
}

impl Store {
    fn shelf(&self) -> MutexGuard<'_, Shelf<Key>> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes templates for a request: the destination's own, or else a copy of another's, which
    /// shares its chunks, or else new ones.
    fn take(&self, key: &Key, options: Templating) -> Box<Templates> {
        let mut shelf = self.shelf();
        if let Some((_, own)) = shelf.take(|other| other == key).and_then(Idle::into_parts) {
            return own;
        }
        let other = shelf.find(|other| other.kind == key.kind).and_then(Idle::memory::<Templates>);
        let alike = other.filter(|other| *other.options() == options);
        Box::new(alike.cloned().unwrap_or_else(|| Templates::with_pool(options, self.runs.clone())))
    }

    fn put(&self, idle: Idle<Key>) {
        let mut shelf = self.shelf();
        let mut dropped: Vec<_> = shelf.put(idle).into_iter().collect();
        while shelf.bytes() > self.bytes {
            dropped.extend(shelf.oldest());
        }
        // Large buffers are freed after the lock is released.
        drop(shelf);
        drop(dropped);
    }
}

/// Writes the requests of a client and its clones.
#[derive(Debug)]
pub(super) struct Writer {
    options: Templating,
    hints: bool,
    store: SharedTemplates,
    destination: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    stats: EncodeStats,
    /// Number of response leaves that were found in requests.
    hinted_leaves: u64,
    /// Observations about each kind of request, the most recently used first; at most [`KINDS`].
    habits: Vec<(MessageKind, Habits)>,
}

/// Maximum number of kinds of requests with observations. Further kinds count as new each time,
/// which only costs time.
const KINDS: usize = 256;

/// Observations about requests of a kind and their answers.
#[derive(Debug, Default)]
struct Habits {
    sizes: Sizes,
    echoes: Echoes,
}

impl State {
    fn habits(&mut self, kind: &MessageKind) -> &mut Habits {
        match self.habits.iter().position(|(other, _)| other == kind) {
            Some(known) => self.habits[..=known].rotate_right(1),
            None => {
                self.habits.truncate(KINDS - 1);
                self.habits.insert(0, (kind.clone(), Habits::default()));
            }
        }
        &mut self.habits[0].1
    }
}

/// The sent request, for reading the answer.
#[derive(Debug)]
pub(super) struct Sent {
    kind: MessageKind,
    pub(super) hint: Hint,
}

/// A written request.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) body: Body,
    pub(super) sent: Option<Sent>,
    /// The counts of this request alone.
    pub(super) stats: EncodeStats,
}

impl Writer {
    /// Creates a writer for requests to one more destination of a store.
    pub(super) fn new(options: Templating, hints: bool, store: SharedTemplates) -> Arc<Self> {
        let destination = store.0.destinations.fetch_add(1, Relaxed);
        // A request that exceeds the store is not made into a template in the first place.
        let options = Templating { bytes: options.bytes.min(store.0.bytes), ..options };
        Arc::new(Writer { options, hints, store, destination, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the length of a chunk in bytes.
    pub(super) fn chunk(&self) -> usize {
        self.options.chunk
    }

    /// Returns the counters of all requests.
    pub(super) fn stats(&self) -> EncodeStats {
        self.state().stats
    }

    /// Writes a request; in full if `is_single` or requests of its kind are small.
    ///
    /// # Errors
    /// Returns an error if the value contains text that XML cannot carry, or cannot be secured.
    pub(super) fn write(&self, request: &Securing<'_>, is_single: bool) -> Result<Written, WriteError> {
        let kind = request.envelope.kind();
        let (is_small, expected) = {
            let mut state = self.state();
            let sizes = &state.habits(&kind).sizes;
            (sizes.are_small(), sizes.expected())
        };
        if is_single || is_small || self.options.is_off() {
            self.write_in_full(&kind, request, expected)
        } else {
            self.write_on(Key { destination: self.destination, kind }, request)
        }
    }

    /// Writes a request whose larger binary values become parts. It is written in full, since the
    /// rest is mostly small.
    ///
    /// # Errors
    /// Returns the same errors as [`write`](Self::write).
    pub(super) fn write_optimized(
        &self,
        request: &Envelope<'_>,
        threshold: usize,
    ) -> Result<(Written, Vec<Part>), Error> {
        let kind = request.kind();
        let expected = self.state().habits(&kind).sizes.expected();
        let written = request.write_optimized(threshold, Buffer::with_capacity(expected))?;
        let stats = in_full(written.message.len());
        self.count(&kind, stats, written.message.len());
        let parts = written.parts.into_iter().map(Part::taken).collect();
        Ok((Written { body: written.message.into(), sent: None, stats }, parts))
    }

    fn write_in_full(
        &self,
        kind: &MessageKind,
        request: &Securing<'_>,
        expected: usize,
    ) -> Result<Written, WriteError> {
        let (body, len) = request.write_in_full(Buffer::with_capacity(expected))?;
        let stats = in_full(len);
        self.count(kind, stats, len);
        Ok(Written { body, sent: None, stats })
    }

    fn write_on(&self, key: Key, request: &Securing<'_>) -> Result<Written, WriteError> {
        let mut templates = self.store.0.take(&key, self.options);
        let before = templates.stats();
        let outgoing = request.seal(templates.encode(&request.envelope)?)?;
        let stats = templates.stats() - before;
        let is_small = self.count(&key.kind, stats, outgoing.len());
        if is_small {
            return Ok(Written { body: outgoing.into(), sent: None, stats });
        }
        let sent = self.sent(&key.kind, &templates);
        self.store.0.put(Idle::new(key, templates));
        Ok(Written { body: outgoing.into(), sent, stats })
    }

    /// Returns the last sent request, if answers to such requests resemble it.
    fn sent(&self, kind: &MessageKind, templates: &Templates) -> Option<Sent> {
        let uses_hint = self.hints && self.state().habits(kind).echoes.are_expected();
        let hint = if uses_hint { templates.hint() } else { None };
        hint.map(|hint| Sent { kind: kind.clone(), hint })
    }

    /// Records the number of leaves of an answer that were found in its request.
    pub(super) fn note_found(&self, sent: &Sent, leaves: u64) {
        let mut state = self.state();
        state.hinted_leaves += leaves;
        state.habits(&sent.kind).echoes.note(leaves);
    }

    /// Returns the total number of answer leaves that were found in their requests.
    pub(super) fn hinted_leaves(&self) -> u64 {
        self.state().hinted_leaves
    }

    /// Counts a request. Returns true if requests of its kind are small.
    fn count(&self, kind: &MessageKind, stats: EncodeStats, len: usize) -> bool {
        let mut state = self.state();
        state.stats += stats;
        let sizes = &state.habits(kind).sizes;
        sizes.note(len);
        sizes.are_small()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap_core::{Node, QName, Typed};

    #[test]
    fn kinds_that_were_used_last_are_known() {
        let mut state = State::default();
        let kind = |number: usize| {
            let (name, value) = (QName::owned("urn:t", format!("e{number}")), Node::default());
            Envelope::element(&name, &value, Node::view()).kind()
        };
        for number in 0..2 * KINDS {
            state.habits(&kind(number)).sizes.note(10);
            state.habits(&kind(0)).sizes.note(10);
        }
        assert_eq!(state.habits.len(), KINDS);
        let kinds: Vec<_> = state.habits.iter().map(|(kind, _)| kind.clone()).collect();
        assert_eq!(kinds[..3], [0, 2 * KINDS - 1, 2 * KINDS - 2].map(kind));
    }
}
