//! The memory of earlier responses, with the decoders that filled it. The HTTP client keeps the
//! requests.
//!
//! A stream belongs to one operation at one port. It is taken out for a call and returned when the
//! caller drops the response; a call made meanwhile gets a new one.

use crate::Operation;
use deltasoap_core::decode::Decoder;
use deltasoap_core::{Content, DecodeOptions, DifferentialStats, Lease, LeaseOwner, Memory, Value};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of waiting streams, over all operations.
const MAX_STREAMS: usize = 16;

/// The streams of a client and its clones.
#[derive(Debug, Default)]
pub(super) struct Streams(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// A stack of streams: the last one in is the first one out.
    idle: Vec<Stream>,
    decoded: DifferentialStats,
}

/// The earlier responses that the next response of an operation is compared with.
#[derive(Debug)]
pub(super) struct Stream {
    /// The operation's full name.
    pub(super) key: String,
    pub(super) memory: Box<Memory<Value>>,
    pub(super) decoder: Decoder,
    /// The part of the counters that has been counted already.
    pub(super) counted: Counted,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counted {
    decoded: DifferentialStats,
}

impl Streams {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn decoded(&self) -> DifferentialStats {
        self.state().decoded
    }

    /// Returns a stream for a call; a new one if none is waiting.
    pub(super) fn take(&self, operation: &Operation, options: DecodeOptions) -> Stream {
        let key = operation.full_name();
        let mut state = self.state();
        if let Some(index) = state.idle.iter().rposition(|stream| stream.key == key) {
            let stream = state.idle.remove(index);
            return Stream { counted: Counted { decoded: stream.memory.stats() }, ..stream };
        }
        drop(state);
        let vacant = operation.response().map_or(Value::Absent, |(_, content)| Value::vacant(operation.view(content)));
        Stream {
            key,
            memory: Box::new(Memory::new(vacant)),
            decoder: Decoder::new(options),
            counted: Counted::default(),
        }
    }

    pub(super) fn put(&self, stream: Stream) {
        let mut state = self.state();
        let oldest = if state.idle.len() >= MAX_STREAMS { Some(state.idle.remove(0)) } else { None };
        state.idle.push(stream);
        // Large buffers are freed without holding the lock.
        drop(state);
        drop(oldest);
    }

    /// Leases the response to the caller; the stream returns when the lease is dropped.
    pub(super) fn lease(self: &Arc<Self>, stream: Stream) -> Lease<Value> {
        let Stream { key, memory, mut decoder, counted } = stream;
        self.state().decoded += memory.stats() - counted.decoded;
        decoder.reset();
        let rest = Mutex::new(Some((key, decoder, counted)));
        Lease::with_owner(memory, Arc::new(Return { streams: Arc::clone(self), rest }))
    }
}

type Rest = (String, Decoder, Counted);

/// Returns one stream.
struct Return {
    streams: Arc<Streams>,
    /// Present until the memory is returned.
    rest: Mutex<Option<Rest>>,
}

impl LeaseOwner<Value> for Return {
    fn take_back(&self, memory: Box<Memory<Value>>) {
        let rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((key, decoder, counted)) = rest {
            self.streams.put(Stream { key, memory, decoder, counted });
        }
    }
}
