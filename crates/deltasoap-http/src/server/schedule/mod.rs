//! Scheduling: under load, small requests first.
//!
//! What takes a processor's time (decoding, handlers, encoding) is done in *turns*. A request holds a slot while it can go on, and
//! leaves it whenever it waits: for bytes of its sender, for what its handler waits for. A long one also leaves it between two
//! pieces of its work, if somebody is to go before it. [`queue`] knows who that is; [`turn`] keeps tasks to it.

mod queue;
mod turn;

pub(crate) use turn::{Busy, Scheduler, Ticket};

use std::time::Duration;

/// In which order requests are worked on when there are more than can be.
///
/// Default: [`Unordered`](Self::Unordered).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Scheduling {
    /// All at once: the runtime gives each task its share.
    #[default]
    Unordered,
    /// Few at once, small ones first.
    SmallFirst(SmallFirst),
}

/// Requests are worked on in slots, and wait in the order of the length that they announce by `Content-Length`.
///
/// A request holds a slot while it is decoded, while its handler computes, and while its response is written; not while its
/// sender or its handler keeps it waiting. No request is overtaken by smaller ones for more than [`overtaken`](Self::overtaken),
/// all its waits together. One that has not begun after [`wait`](Self::wait), or that finds [`queue`](Self::queue) others waiting
/// to begin, is answered with status 503, a fault and `Retry-After`; what has begun is never refused.
///
/// ```
/// use deltasoap_http::{Scheduling, SmallFirst};
/// use std::time::Duration;
///
/// let policy = SmallFirst { overtaken: Duration::from_millis(100), ..SmallFirst::default() };
/// let builder = deltasoap_http::SoapService::builder().scheduling(Scheduling::SmallFirst(policy));
/// # let _ = builder;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SmallFirst {
    /// Requests worked on at one time, at least 1. Default: as many as there are processors.
    pub slots: usize,
    /// Slots besides, for small requests alone, so that they need not wait for large ones. Default: as many as there are
    /// processors.
    pub express: usize,
    /// Longest request that is small, in bytes. Default 64 KiB.
    pub small: u64,
    /// The length in bytes that a request counts as which announces none, or comes compressed. Default 64 KiB + 1: behind
    /// all small ones, before all that say how large they are.
    pub unknown: u64,
    /// How long a request may be overtaken by smaller ones. Default 250 ms.
    pub overtaken: Duration,
    /// Most requests that wait to begin. Default 1024.
    pub queue: usize,
    /// How long a request may wait to begin. Default 10 s.
    pub wait: Duration,
    /// What a client that is refused is told to wait before it tries again, in whole seconds. Default 1 s.
    pub retry_after: Duration,
}

impl Default for SmallFirst {
    fn default() -> Self {
        let processors = super::heavy::processors();
        SmallFirst {
            slots: processors,
            express: processors,
            small: 64 << 10,
            unknown: (64 << 10) + 1,
            overtaken: Duration::from_millis(250),
            queue: 1024,
            wait: Duration::from_secs(10),
            retry_after: Duration::from_secs(1),
        }
    }
}
