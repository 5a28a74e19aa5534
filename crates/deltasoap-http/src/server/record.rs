//! The service's record of each of its operations: counters, the sizes of its responses, and
//! whether remembering its messages is useful.

use super::schedule::Costs;
use super::stats::{Counted, Times, nanos};
use crate::coding::LearnedEffects;
use crate::sizes::Sizes;
use deltasoap_core::{DifferentialStats, EncodeStats, MatchKind, QName};
use metrics::{Counter, Histogram, Unit, counter, describe_counter, histogram};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// An operation's record.
#[derive(Debug)]
pub(crate) struct Record {
    /// The operation's number within the service.
    number: usize,
    name: QName,
    counters: Counters,
    decode_time: Histogram,
    times: Times,
    encoded: Encoded,
    sizes: Sizes,
    costs: Costs,
    /// Compression results of its responses.
    learned: Arc<LearnedEffects>,
    /// Requests that a handler took for good, so that nothing was returned.
    gone: Streak<8, 64>,
    /// Requests that had nothing in common with the one before.
    unlike: Streak<64, 4>,
    /// Number of consecutive short requests that had a long response.
    long: AtomicU32,
}

/// After this many consecutive long responses to short requests, the next is expected to be long
/// too.
const LONG: u32 = 2;

impl Record {
    /// Returns the record of an operation that is in no service yet.
    pub(crate) fn unregistered(name: QName) -> Self {
        Record {
            number: 0,
            name,
            counters: Counters::default(),
            decode_time: Histogram::noop(),
            times: Times::default(),
            encoded: Encoded::default(),
            sizes: Sizes::default(),
            costs: Costs::default(),
            learned: Arc::default(),
            gone: Streak::default(),
            unlike: Streak::default(),
            long: AtomicU32::new(0),
        }
    }

    pub(crate) fn new(service: &str, number: usize, name: QName) -> Self {
        let (service, operation) = (service.to_owned(), name.to_string());
        let counters = Counters::new(&service, &operation);
        let encoded = Encoded::new(&service, &operation);
        let times = Times::new(&service, &operation);
        let decode_time = histogram!("deltasoap_decode_seconds", "service" => service, "operation" => operation);
        Record { counters, decode_time, times, encoded, number, ..Record::unregistered(name) }
    }

    pub(crate) fn number(&self) -> usize {
        self.number
    }

    pub(crate) fn name(&self) -> &QName {
        &self.name
    }

    /// Returns the operation's counters; memory is not counted here.
    pub(crate) fn differential(&self) -> DifferentialStats {
        self.counters.stats()
    }

    /// Adds the counts of one message.
    pub(crate) fn count(&self, stats: &DifferentialStats) {
        self.counters.add(stats);
    }

    pub(crate) fn count_decode_time(&self, time: Duration) {
        self.decode_time.record(time.as_secs_f64());
    }

    pub(crate) fn times(&self) -> &Times {
        &self.times
    }

    /// Returns statistics of differential serialization for the operation's responses. Responses
    /// written without templates count as sent for the first time.
    pub(crate) fn encode_stats(&self) -> EncodeStats {
        *self.encoded.stats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the counts of one response.
    pub(crate) fn count_encoded(&self, stats: &EncodeStats) {
        self.encoded.add(stats);
    }

    /// Returns the sizes of responses so far.
    pub(crate) fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// Returns the costs of its requests, where they are measured.
    pub(crate) fn costs(&self) -> &Costs {
        &self.costs
    }

    /// Returns the compression results of its responses, where connections decide about
    /// compression.
    pub(crate) fn learned(&self) -> &Arc<LearnedEffects> {
        &self.learned
    }

    /// Records whether the response to a short request was long.
    pub(crate) fn note_long(&self, is_long: bool) {
        if is_long {
            self.long.fetch_add(1, Relaxed);
        } else if self.long.load(Relaxed) != 0 {
            self.long.store(0, Relaxed);
        }
    }

    /// Returns true if the response to a short request is expected to be long.
    pub(crate) fn expects_long(&self) -> bool {
        self.long.load(Relaxed) >= LONG
    }

    /// Records whether a handler returned a request or took it for good.
    pub(crate) fn note_returned(&self, is_returned: bool) {
        self.gone.note(!is_returned);
    }

    /// Records whether a part of a request equalled the one before.
    pub(crate) fn note_alike(&self, is_alike: bool) {
        self.unlike.note(!is_alike);
    }

    /// Returns true if the next request should be read without a memory, and counts it: the request
    /// is not expected to be returned, or to have anything in common with the one before.
    pub(crate) fn skips_memory(&self) -> bool {
        // Not `||`: both count the request.
        self.gone.skips_next() | self.unlike.skips_next()
    }
}

/// Counts consecutive messages for which remembering was useless. After `MIN` of them, it is
/// expected to be useless for the next ones too; one in `TRIAL` is tried nevertheless.
#[derive(Debug, Default)]
struct Streak<const MIN: u32, const TRIAL: u32> {
    useless: AtomicU32,
    /// Number of messages since then, skipped or tried.
    since: AtomicU32,
}

impl<const MIN: u32, const TRIAL: u32> Streak<MIN, TRIAL> {
    fn note(&self, is_useless: bool) {
        if is_useless {
            self.useless.fetch_add(1, Relaxed);
        } else if self.useless.load(Relaxed) != 0 {
            self.useless.store(0, Relaxed);
        }
    }

    /// Returns true if the next message should be skipped, and counts it.
    fn skips_next(&self) -> bool {
        let is_expected = self.useless.load(Relaxed) >= MIN;
        is_expected && !(self.since.fetch_add(1, Relaxed).wrapping_add(1)).is_multiple_of(TRIAL)
    }
}

/// Counters of differential serialization, and their exported twins.
#[derive(Debug)]
struct Encoded {
    stats: Mutex<EncodeStats>,
    /// Messages by match kind, in the order of [`KINDS`].
    messages: [Counter; 4],
    bytes: Counter,
    written: Counter,
}

const KINDS: [MatchKind; 4] =
    [MatchKind::Content, MatchKind::PerfectStructural, MatchKind::PartialStructural, MatchKind::FirstTime];

impl Default for Encoded {
    fn default() -> Self {
        let noop = Counter::noop;
        Encoded { stats: Mutex::default(), messages: std::array::from_fn(|_| noop()), bytes: noop(), written: noop() }
    }
}

impl Encoded {
    fn new(service: &str, operation: &str) -> Self {
        let labels = [("service", service.to_owned()), ("operation", operation.to_owned())];
        let messages = KINDS.map(|kind| {
            let [service, operation] = labels.clone();
            counter!("deltasoap_encode_messages_total", &[service, operation, ("match", kind.name().to_owned())])
        });
        Encoded {
            messages,
            bytes: counter!("deltasoap_encode_bytes_total", &labels),
            written: counter!("deltasoap_encode_written_bytes_total", &labels),
            stats: Mutex::default(),
        }
    }

    fn add(&self, stats: &EncodeStats) {
        *self.stats.lock().unwrap_or_else(PoisonError::into_inner) += *stats;
        let kinds = [stats.content, stats.perfect, stats.partial, stats.first];
        self.messages
            .iter()
            .zip(kinds)
            .filter(|(_, count)| *count > 0)
            .for_each(|(counter, count)| counter.increment(count));
        self.bytes.increment(stats.bytes);
        self.written.increment(stats.written);
    }
}

/// Counters for the fields of [`DifferentialStats`].
macro_rules! counters {
    (numbers: $($number:ident),*; times: $($time:ident),*) => {
        #[derive(Debug, Default)]
        struct Counters {
            $($number: Counted,)*
            $($time: Counted,)*
        }

        /// Gives the recorder the descriptions of these counters.
        pub(super) fn describe() {
            $(describe_counter!(
                concat!("deltasoap_differential_", stringify!($number), "_total"),
                concat!("Differential decoding, by operation: DifferentialStats::", stringify!($number))
            );)*
            $(describe_counter!(
                concat!("deltasoap_differential_", stringify!($time), "_nanoseconds_total"),
                Unit::Nanoseconds,
                concat!("Differential decoding, by operation: DifferentialStats::", stringify!($time))
            );)*
        }

        impl Counters {
            fn new(service: &str, operation: &str) -> Self {
                let counted = |name: &'static str| {
                    let (service, operation) = (service.to_owned(), operation.to_owned());
                    Counted::new(counter!(name, "service" => service, "operation" => operation))
                };
                Counters {
                    $($number: counted(concat!("deltasoap_differential_", stringify!($number), "_total")),)*
                    $($time: counted(concat!("deltasoap_differential_", stringify!($time), "_nanoseconds_total")),)*
                }
            }

            fn add(&self, stats: &DifferentialStats) {
                $(self.$number.add(stats.$number);)*
                $(self.$time.add(nanos(stats.$time));)*
            }

            fn stats(&self) -> DifferentialStats {
                DifferentialStats {
                    $($number: self.$number.value(),)*
                    $($time: Duration::from_nanos(self.$time.value()),)*
                    memory: 0,
                }
            }
        }
    };
}

counters! {
    numbers: messages, compared, fast_bytes, regular_bytes, to_regular, futile, to_fast, checkpoints, leaves, shifted, realigned, mended,
        restored, restarted, false_matches;
    times: saved, lost
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_is_what_is_read() {
        let record = Record::unregistered(QName::new("", "a"));
        let stats = DifferentialStats {
            messages: 1,
            compared: 2,
            fast_bytes: 3,
            regular_bytes: 4,
            to_regular: 5,
            futile: 6,
            to_fast: 7,
            checkpoints: 8,
            leaves: 9,
            shifted: 10,
            realigned: 11,
            mended: 12,
            restored: 13,
            restarted: 14,
            false_matches: 15,
            memory: 0,
            saved: Duration::from_nanos(16),
            lost: Duration::from_nanos(17),
        };
        record.count(&stats);
        assert_eq!(record.differential(), stats);
    }

    #[test]
    fn one_long_response_does_not_make_the_next_expected() {
        let record = Record::unregistered(QName::new("", "a"));
        for (is_long, expected) in
            [(true, false), (false, false), (true, false), (true, true), (true, true), (false, false)]
        {
            record.note_long(is_long);
            assert_eq!(record.expects_long(), expected);
        }
    }

    #[test]
    fn what_is_useless_is_tried_now_and_then() {
        let streak = Streak::<8, 64>::default();
        for _ in 0..8 {
            assert!(!streak.skips_next());
            streak.note(true);
        }
        // Trials are useless too.
        let is_trial = |_: &u32| {
            !streak.skips_next() && {
                streak.note(true);
                true
            }
        };
        assert_eq!((0..10 * 64).filter(is_trial).count(), 10);
        streak.note(false);
        assert!(!streak.skips_next());
    }

    #[test]
    fn requests_that_are_kept_or_unlike_need_no_memory() {
        let record = Record::unregistered(QName::new("", "a"));
        (0..8).for_each(|_| record.note_returned(false));
        assert!(record.skips_memory());
        record.note_returned(true);
        assert!(!record.skips_memory());
        (0..65).for_each(|_| record.note_alike(false));
        assert!(record.skips_memory());
        record.note_alike(true);
        assert!(!record.skips_memory());
    }
}
