//! Scheduling: under load, small requests first.
//!
//! Work that takes processor time (decoding, handlers, encoding) is done in *turns*. A request
//! holds a slot while it is ready, and gives it up whenever it waits: for bytes of its sender, or
//! for its handler's I/O. A long request also gives it up between two steps of its work, if another
//! request should go before it. [`queue`] determines the order; [`turn`] enforces it on tasks;
//! [`weights`] learns what operations cost.
//!
//! ```text
//! request ── begin ──> slot? ── free: at once
//!                        └──── else wait, by weight; 503 if the queue is full, or after `wait`
//!               ┌──────────────────────────────────────────────┐
//!    poll with a slot ── pending ──> slot to the next ── woken ── slot? ...
//! ```
//!
//! The scheduler guarantees:
//!
//! - At most `slots` requests proceed at a time, and `express` small ones; large ones never take an
//!   express slot.
//! - A free slot goes to the waiting request that weighs least. Unknown lengths (chunks, gzip)
//!   count as `unknown`.
//! - Younger requests overtake a request for no longer than `overtaken`, all its waits together.
//!   From then on it goes before all younger ones: it can only wait for the work of older requests.
//! - A request that has begun is not refused. One that has not begun after `wait` is answered with
//!   503 and `Retry-After`.
//! - No request waits while there is a slot for it. A request that goes away releases its place at
//!   once.
//!
//! It does not interrupt work in one piece: a handler that computes, and a response that is being
//! written, keep their slot to the end. That is what express slots, and the threads of
//! [`heavy`](super::heavy), are for. A slow request holds no slot while it waits for its sender,
//! and a handler that calls the same service cannot block itself.

mod queue;
mod turn;
mod weights;

pub(crate) use turn::{Busy, Scheduler, Ticket};
pub(crate) use weights::Costs;

use std::time::Duration;

/// The order of requests when there are more than can be processed at one time.
///
/// Default: [`Unordered`](Self::Unordered).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Scheduling {
    /// All requests at once: the runtime schedules the tasks.
    #[default]
    Unordered,
    /// Few requests at once, small ones first.
    SmallFirst(SmallFirst),
}

/// Requests are processed in slots, and wait in the order of their length by `Content-Length`, or
/// of their operation's weight if that is more: the weight that it was
/// [given](crate::Operation::weight), or [learned](Self::weigh).
///
/// A request holds a slot while it is decoded, while its handler computes, and while its response
/// is written; not while it waits for its sender or its handler's I/O. Smaller requests overtake a
/// request for at most [`overtaken`](Self::overtaken), over all its waits together. A request that
/// has not begun after [`wait`](Self::wait), or that finds [`queue`](Self::queue) others waiting to
/// begin, is answered with status 503, a fault and `Retry-After`. A request whose handler has begun
/// is never refused.
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
    /// Maximum number of requests processed at one time, at least 1. Default: the number of
    /// processors.
    pub slots: usize,
    /// Additional slots for small requests only, so that they need not wait for large ones.
    /// Default: the number of processors.
    pub express: usize,
    /// Maximum length of a small request, in bytes. Default 64 KiB.
    pub small: u64,
    /// The assumed length in bytes of a request that announces none, or is compressed. Default 64
    /// KiB + 1: after all small ones, before all with a known larger length.
    pub unknown: u64,
    /// The weight of requests: their length, or also the measured work of their operation.
    /// Default: [`Weigh::Length`].
    pub weigh: Weigh,
    /// Maximum time that smaller requests may overtake a request. Default 250 ms.
    pub overtaken: Duration,
    /// Maximum number of requests that wait to begin. Default 1024.
    pub queue: usize,
    /// Maximum time that a request may wait to begin. Default 10 s.
    pub wait: Duration,
    /// The time after which a refused client is told to retry, in whole seconds. Default 1 s.
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
            weigh: Weigh::default(),
            overtaken: Duration::from_millis(250),
            queue: 1024,
            wait: Duration::from_secs(10),
            retry_after: Duration::from_secs(1),
        }
    }
}

/// The weight of requests, besides the weights that operations were
/// [given](crate::Operation::weight).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Weigh {
    /// The length of the request.
    #[default]
    Length,
    /// The length of the request, or the work of earlier requests of its operation and of about its
    /// length, if that is more. The work is the time that handlers compute (not the time that they
    /// wait) and that responses are written. It is measured for each request, averaged over about
    /// the last eight, and weighs as many bytes as are decoded in that time. So a short request for
    /// a long computation goes after the other short ones without any configuration. If the request
    /// names its operation's action, the work counts from the start, otherwise once its body has
    /// been read: then it may wait again, as with a given weight.
    ///
    /// Times are wall-clock times: where processors are shared with other processes, operations
    /// weigh more.
    ///
    /// As in *Toward Characterizing the Performance of SOAP Toolkits*, section 2.9: the type of
    /// operation indicates the load.
    Operation,
}
