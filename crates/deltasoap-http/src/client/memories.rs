//! The client's memory of earlier responses, for those that are leased to the caller.
//!
//! All responses of a client come from one endpoint, so they may be compared with each other. A
//! memory is kept with the decoder that filled it, since the notes of some policies are valid only
//! for that decoder.

use crate::deviations::DeviationLog;
use crate::shelf::{Idle, Shelf};
use deltasoap_core::decode::Decoder;
use deltasoap_core::{DecodeOptions, DifferentialStats, Lease, LeaseOwner, Memory, QName, Typed};
use std::any::TypeId;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Default number of memories kept.
pub(super) const MEMORIES: usize = 16;
/// Default number of bytes kept.
pub(super) const BYTES: usize = 64 << 20;

/// Identifies the responses that may be compared.
#[derive(Debug)]
struct Stream {
    /// The type of the response's memory.
    response: TypeId,
    /// The body element of the request that it answers.
    request: QName,
    decoder: Box<Decoder>,
}

/// The memories of a client and all its clones.
#[derive(Debug)]
pub(super) struct Memories {
    options: DecodeOptions,
    bytes: usize,
    state: Mutex<State>,
    /// Number of deviations from the schema in answers, including those without a memory.
    deviations: AtomicU64,
    pub(super) log: DeviationLog,
    /// Number of messages that violate their schema, accepted or not.
    invalid_messages: AtomicU64,
}

#[derive(Debug)]
struct State {
    shelf: Shelf<Stream>,
    stats: DifferentialStats,
}

impl Memories {
    /// Creates the memories with limits on their number and bytes.
    pub(super) fn new(options: DecodeOptions, memories: usize, bytes: usize) -> Arc<Self> {
        let state = State { shelf: Shelf::new(memories), stats: DifferentialStats::default() };
        let (deviations, log, invalid_messages) = Default::default();
        Arc::new(Memories { options, bytes, state: Mutex::new(state), deviations, log, invalid_messages })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the counters of all responses; the memory is that of the waiting entries.
    pub(super) fn stats(&self) -> DifferentialStats {
        let state = self.state();
        DifferentialStats { memory: state.shelf.bytes() as u64, ..state.stats }
    }

    pub(super) fn note_deviations(&self, count: u64) {
        self.deviations.fetch_add(count, Relaxed);
    }

    pub(super) fn deviations(&self) -> u64 {
        self.deviations.load(Relaxed)
    }

    /// Counts a message that was validated.
    pub(super) fn note_invalid(&self, is_invalid: bool) {
        self.invalid_messages.fetch_add(is_invalid.into(), Relaxed);
    }

    pub(super) fn invalid_messages(&self) -> u64 {
        self.invalid_messages.load(Relaxed)
    }

    /// Returns a memory for the response to a request, an earlier one if available, and its
    /// decoder.
    pub(super) fn check_out<Resp: Typed>(
        self: &Arc<Self>,
        request: QName,
    ) -> (Checkout, Box<Memory<Resp>>, Box<Decoder>)
    where
        Memory<Resp>: Send + 'static,
    {
        let response = TypeId::of::<Memory<Resp>>();
        let idle = self.state().shelf.take(|stream| stream.response == response && stream.request == request);
        let (memory, decoder) = match idle.and_then(Idle::into_parts::<Memory<Resp>>) {
            Some((stream, memory)) => (memory, stream.decoder),
            None => (Box::default(), Box::new(Decoder::new(self.options))),
        };
        let before = memory.stats();
        (Checkout { memories: Arc::clone(self), request, before }, memory, decoder)
    }

    fn put(&self, idle: Idle<Stream>) {
        let mut state = self.state();
        let mut dropped: Vec<_> = state.shelf.put(idle).into_iter().collect();
        while state.shelf.bytes() > self.bytes {
            dropped.extend(state.shelf.oldest());
        }
        // Large buffers are freed after the lock is released.
        drop(state);
        drop(dropped);
    }
}

/// The state of a memory that is checked out for one response.
#[derive(Debug)]
pub(super) struct Checkout {
    memories: Arc<Memories>,
    request: QName,
    /// The memory's counters before the response.
    before: DifferentialStats,
}

impl Checkout {
    /// Returns the counts of the response.
    pub(super) fn counts<Resp>(&self, memory: &Memory<Resp>) -> DifferentialStats
    where
        Memory<Resp>: Send + 'static,
    {
        memory.stats() - self.before
    }

    /// Leases the response to the caller. The decoder is kept with the memory.
    pub(super) fn lease<Resp>(self, memory: Box<Memory<Resp>>, mut decoder: Box<Decoder>) -> Lease<Resp>
    where
        Memory<Resp>: Send + 'static,
    {
        let Checkout { memories, request, before } = self;
        memories.state().stats += memory.stats() - before;
        decoder.reset();
        let stream = Mutex::new(Some(Stream { response: TypeId::of::<Memory<Resp>>(), request, decoder }));
        Lease::with_owner(memory, Arc::new(Return { memories, stream }))
    }
}

/// Returns one memory.
struct Return {
    memories: Arc<Memories>,
    /// Present until the memory is returned.
    stream: Mutex<Option<Stream>>,
}

impl<Resp> LeaseOwner<Resp> for Return
where
    Memory<Resp>: Send + 'static,
{
    fn take_back(&self, memory: Box<Memory<Resp>>) {
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(stream) = stream {
            self.memories.put(Idle::new(stream, memory));
        }
    }
}
