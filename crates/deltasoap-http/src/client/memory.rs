//! What a client remembers of earlier responses, for those that are leased to the caller.
//!
//! All responses of a client come from one endpoint, so that they may be compared with each other. A memory waits with the
//! decoder that filled it, since what some policies note means something to that decoder alone.

use crate::shelf::{Idle, Shelf};
use deltasoap_core::decode::Decoder;
use deltasoap_core::{DecodeOptions, DifferentialStats, Home, Lease, Memory, QName, Typed};
use std::any::TypeId;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Memories kept, where the client is not told another number.
pub(super) const MEMORIES: usize = 16;
/// Bytes kept, where the client is not told another number.
pub(super) const BYTES: usize = 64 << 20;

/// What responses are compared with.
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
}

#[derive(Debug)]
struct State {
    shelf: Shelf<Stream>,
    stats: DifferentialStats,
}

impl Memories {
    /// For at most so many memories of so many bytes.
    pub(super) fn new(options: DecodeOptions, memories: usize, bytes: usize) -> Arc<Self> {
        let state = State { shelf: Shelf::new(memories), stats: DifferentialStats::default() };
        Arc::new(Memories { options, bytes, state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was counted for all responses; memory is what waits now.
    pub(super) fn stats(&self) -> DifferentialStats {
        let state = self.state();
        DifferentialStats { memory: state.shelf.bytes() as u64, ..state.stats }
    }

    /// A memory for the response to a request, an earlier one's if there is one that waits, and the decoder to read it with.
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
        // Large buffers are freed without the lock.
        drop(state);
        drop(dropped);
    }
}

/// What is known of a memory that is out for one response.
#[derive(Debug)]
pub(super) struct Checkout {
    memories: Arc<Memories>,
    request: QName,
    /// The memory's counters in front of the response.
    before: DifferentialStats,
}

impl Checkout {
    /// The response, for the caller. The decoder waits with the memory.
    pub(super) fn lease<Resp>(self, memory: Box<Memory<Resp>>, mut decoder: Box<Decoder>) -> Lease<Resp>
    where
        Memory<Resp>: Send + 'static,
    {
        let Checkout { memories, request, before } = self;
        memories.state().stats += memory.stats() - before;
        decoder.reset();
        let stream = Mutex::new(Some(Stream { response: TypeId::of::<Memory<Resp>>(), request, decoder }));
        Lease::with_home(memory, Arc::new(Return { memories, stream }))
    }
}

/// The way home of one memory.
struct Return {
    memories: Arc<Memories>,
    /// There until the memory has come home.
    stream: Mutex<Option<Stream>>,
}

impl<Resp> Home<Resp> for Return
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
