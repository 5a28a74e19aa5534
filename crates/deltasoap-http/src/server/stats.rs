//! Counters of a service, readable while it runs.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// What a service did so far. Counters only grow; each is exact, but two of them may be read at different times.
#[derive(Debug, Default)]
pub struct ServiceStats {
    messages: AtomicU64,
    faults: AtomicU64,
    bytes_in: AtomicU64,
    bytes_out: AtomicU64,
    decode_nanos: AtomicU64,
    encode_nanos: AtomicU64,
}

/// The counters of [`ServiceStats`] at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StatsSnapshot {
    /// SOAP messages answered, with a response, a fault or the acceptance of a one-way message.
    pub messages: u64,
    /// Messages answered with a fault.
    pub faults: u64,
    /// Bytes of request bodies received.
    pub bytes_in: u64,
    /// Bytes of response bodies written.
    pub bytes_out: u64,
    /// Time spent decoding, without waiting for bytes.
    pub decode_time: Duration,
    /// Time spent encoding responses.
    pub encode_time: Duration,
}

impl ServiceStats {
    /// All counters now.
    pub fn snapshot(&self) -> StatsSnapshot {
        StatsSnapshot {
            messages: self.messages.load(Relaxed),
            faults: self.faults.load(Relaxed),
            bytes_in: self.bytes_in.load(Relaxed),
            bytes_out: self.bytes_out.load(Relaxed),
            decode_time: Duration::from_nanos(self.decode_nanos.load(Relaxed)),
            encode_time: Duration::from_nanos(self.encode_nanos.load(Relaxed)),
        }
    }

    pub(crate) fn count_decoded(&self, bytes: u64, time: Duration) {
        self.bytes_in.fetch_add(bytes, Relaxed);
        self.decode_nanos.fetch_add(nanos(time), Relaxed);
    }

    pub(crate) fn count_encoded(&self, time: Duration) {
        self.encode_nanos.fetch_add(nanos(time), Relaxed);
    }

    pub(crate) fn count_answered(&self, bytes: u64, is_fault: bool) {
        self.messages.fetch_add(1, Relaxed);
        self.bytes_out.fetch_add(bytes, Relaxed);
        self.faults.fetch_add(u64::from(is_fault), Relaxed);
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
