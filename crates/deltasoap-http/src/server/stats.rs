//! Counters of a service, readable while it runs, and exported through the `metrics` facade.
//!
//! Each counter is kept twice: here, for [`ServiceStats`], and as a handle of the recorder that was
//! installed when the service was built, which costs nothing if there was none.

use super::memory::Cache;
use super::record::Record;
use super::schedule::Scheduler;
use deltasoap_core::{DifferentialStats, EncodeStats, QName};
use metrics::{
    Counter, Gauge, Histogram, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Counters of a service. They only grow; each is exact, but two of them may be read at different
/// times.
///
/// If a recorder of the [`metrics`] facade is installed before the service is built, it gets the
/// same counters, labelled `service` with the service's name and, where stated, `operation` with
/// the operation's:
///
/// - `deltasoap_messages_total`: messages answered
/// - `deltasoap_faults_total`: of these, with a fault
/// - `deltasoap_underway` (gauge): messages that are being read or answered
/// - `deltasoap_refused_total`: messages refused for lack of capacity: see
///   [`SmallFirst`](crate::SmallFirst)
/// - `deltasoap_deviations_total`: accepted deviations from the schema: see
///   [`Tolerance`](deltasoap_core::Tolerance)
/// - `deltasoap_invalid_messages_total`: messages that validation found invalid: see
///   [`Validation`](crate::Validation)
/// - `deltasoap_received_bytes_total`, `deltasoap_sent_bytes_total`: bytes of messages before
///   compression; of received packages, the envelopes alone
/// - `deltasoap_encode_nanoseconds_total`: time spent encoding responses
/// - `deltasoap_request_duration_seconds` (histogram by `operation`): time from the arrival of a
///   request's head to its response, which may still have to be sent; messages without an operation
///   count as `_OTHER`
/// - `deltasoap_handler_duration_seconds` (histogram by `operation`): of that, the time of the
///   handler
/// - `deltasoap_decode_seconds` (histogram by `operation`): time spent decoding a message, without
///   waiting for bytes
/// - `deltasoap_differential_*_total` (by `operation`): the counters of [`DifferentialStats`],
///   times in nanoseconds
/// - `deltasoap_differential_memory_bytes` (gauge): bytes of earlier messages that are kept
/// - `deltasoap_differential_evictions_total`: memories dropped to stay within the bound on bytes
/// - `deltasoap_encode_messages_total` (by `operation` and `match` (`content`, `perfect`,
///   `partial`, `first`)): responses by the way they [match](deltasoap_core::MatchKind) earlier
///   ones
/// - `deltasoap_encode_bytes_total`, `deltasoap_encode_written_bytes_total` (by `operation`): bytes
///   of responses, and how many of them were written anew
/// - `deltasoap_encode_memory_bytes` (gauge): bytes of templates that are kept
/// - `deltasoap_encode_evictions_total`: sets of templates dropped to stay within the bound on
///   bytes
#[derive(Debug, Default)]
pub struct ServiceStats {
    messages: Counted,
    faults: Counted,
    bytes_in: Counted,
    bytes_out: Counted,
    decode_nanos: AtomicU64,
    encode_nanos: Counted,
    refused: Counted,
    deviations: Counted,
    invalid_messages: Counted,
    underway: AtomicU64,
    underway_gauge: Option<Gauge>,
    scheduler: Option<Arc<Scheduler>>,
    memory: Option<Memory>,
    templates: Option<Memory>,
    records: Vec<Arc<Record>>,
    /// Times of messages of no operation.
    other_times: Times,
}

/// The counters of [`ServiceStats`] at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StatsSnapshot {
    /// SOAP messages answered, with a response, a fault or the acceptance of a one-way message.
    pub messages: u64,
    /// Messages answered with a fault.
    pub faults: u64,
    /// Bytes of request bodies received, without their compression.
    pub bytes_in: u64,
    /// Bytes of response bodies written, before they are compressed.
    pub bytes_out: u64,
    /// Time spent decoding, without waiting for bytes.
    pub decode_time: Duration,
    /// Time spent encoding responses.
    pub encode_time: Duration,
    /// Statistics of differential decoding, over all operations. The memory is what the service
    /// keeps at this time, without the memories that handlers hold on lease.
    pub differential: DifferentialStats,
    /// Memories of earlier messages dropped to stay within
    /// [`MemoryBounds::total_bytes`](crate::MemoryBounds).
    pub evictions: u64,
    /// Statistics of differential serialization for responses, over all operations, without faults.
    /// Responses written without templates count as sent for the first time.
    pub encode: EncodeStats,
    /// Bytes of templates that the service keeps at this time.
    pub template_memory: u64,
    /// Sets of templates dropped to stay within [`MemoryBounds::total_bytes`](crate::MemoryBounds).
    pub template_evictions: u64,
    /// Messages currently being read, waiting or being answered.
    pub underway: u64,
    /// Messages among `underway` that hold a slot of
    /// [`Scheduling::SmallFirst`](crate::Scheduling).
    pub working: u64,
    /// Messages among `underway` that wait for a slot.
    pub waiting: u64,
    /// Messages refused with status 503, because there was no slot for them.
    pub refused: u64,
    /// Elements and attributes that were accepted beyond the schema: see
    /// [`Deviation`](deltasoap_core::Deviation).
    pub deviations: u64,
    /// Requests that validation found invalid, accepted or not, and responses if they are
    /// [validated](crate::SoapServiceBuilder::validate_sent).
    pub invalid_messages: u64,
}

/// A message that is under way.
#[derive(Debug)]
pub(crate) struct Underway<'a>(&'a ServiceStats);

impl Drop for Underway<'_> {
    fn drop(&mut self) {
        self.0.underway.fetch_sub(1, Relaxed);
        if let Some(gauge) = &self.0.underway_gauge {
            gauge.decrement(1);
        }
    }
}

/// The exported part of the memory of earlier messages.
#[derive(Debug)]
struct Memory {
    cache: Arc<Cache>,
    held: Gauge,
    evictions: Counter,
}

impl Memory {
    /// Creates the statistics of a service's cache, exported as a gauge and a counter with these
    /// names.
    fn new(service: &str, cache: Arc<Cache>, held: &'static str, evictions: &'static str) -> Self {
        let (held, evictions) =
            (gauge!(held, "service" => service.to_owned()), counter!(evictions, "service" => service.to_owned()));
        Memory { cache, held, evictions }
    }

    fn export(&self) {
        self.held.set(self.cache.held() as f64);
        self.evictions.absolute(self.cache.evicted());
    }
}

impl ServiceStats {
    pub(crate) fn new(
        service: &str,
        cache: Option<Arc<Cache>>,
        templates: Option<Arc<Cache>>,
        records: Vec<Arc<Record>>,
        scheduler: Option<Arc<Scheduler>>,
    ) -> Self {
        describe();
        let counted = |name: &'static str| Counted::new(counter!(name, "service" => service.to_owned()));
        let memory = |cache, held, evictions| Memory::new(service, cache, held, evictions);
        let (held, evictions) = ("deltasoap_differential_memory_bytes", "deltasoap_differential_evictions_total");
        let decode = cache.map(|cache| memory(cache, held, evictions));
        let (held, evictions) = ("deltasoap_encode_memory_bytes", "deltasoap_encode_evictions_total");
        let templates = templates.map(|cache| memory(cache, held, evictions));
        ServiceStats {
            messages: counted("deltasoap_messages_total"),
            faults: counted("deltasoap_faults_total"),
            bytes_in: counted("deltasoap_received_bytes_total"),
            bytes_out: counted("deltasoap_sent_bytes_total"),
            decode_nanos: AtomicU64::new(0),
            encode_nanos: counted("deltasoap_encode_nanoseconds_total"),
            refused: counted("deltasoap_refused_total"),
            deviations: counted("deltasoap_deviations_total"),
            invalid_messages: counted("deltasoap_invalid_messages_total"),
            underway: AtomicU64::new(0),
            underway_gauge: Some(gauge!("deltasoap_underway", "service" => service.to_owned())),
            scheduler,
            memory: decode,
            templates,
            records,
            other_times: Times::new(service, OTHER),
        }
    }

    /// Returns the current values of all counters.
    pub fn snapshot(&self) -> StatsSnapshot {
        StatsSnapshot {
            messages: self.messages.value(),
            faults: self.faults.value(),
            bytes_in: self.bytes_in.value(),
            bytes_out: self.bytes_out.value(),
            decode_time: Duration::from_nanos(self.decode_nanos.load(Relaxed)),
            encode_time: Duration::from_nanos(self.encode_nanos.value()),
            differential: self.differential(),
            evictions: self.memory.as_ref().map_or(0, |memory| memory.cache.evicted()),
            encode: self.encode(),
            template_memory: self.templates.as_ref().map_or(0, |memory| memory.cache.held() as u64),
            template_evictions: self.templates.as_ref().map_or(0, |memory| memory.cache.evicted()),
            underway: self.underway.load(Relaxed),
            working: self.scheduler.as_ref().map_or(0, |scheduler| scheduler.held() as u64),
            waiting: self.scheduler.as_ref().map_or(0, |scheduler| scheduler.waiting() as u64),
            refused: self.refused.value(),
            deviations: self.deviations.value(),
            invalid_messages: self.invalid_messages.value(),
        }
    }

    /// Counts a message as under way until the returned value is dropped.
    pub(crate) fn begin(&self) -> Underway<'_> {
        self.underway.fetch_add(1, Relaxed);
        if let Some(gauge) = &self.underway_gauge {
            gauge.increment(1);
        }
        Underway(self)
    }

    /// Counts accepted deviations.
    pub(crate) fn count_deviations(&self, count: u64) {
        self.deviations.add(count);
    }

    /// Counts a message that was validated.
    pub(crate) fn count_invalid(&self, is_invalid: bool) {
        self.invalid_messages.add(is_invalid.into());
    }

    /// Counts a message that was refused for lack of capacity.
    pub(crate) fn count_refused(&self) {
        self.refused.add(1);
    }

    /// Returns statistics of differential decoding for each operation, in the order in which they
    /// were added.
    pub fn operations(&self) -> impl Iterator<Item = (&QName, DifferentialStats)> {
        self.records.iter().map(|record| {
            let memory = self.memory.as_ref().map_or(0, |memory| memory.cache.held_by(record.number()) as u64);
            (record.name(), DifferentialStats { memory, ..record.differential() })
        })
    }

    /// Returns statistics of differential serialization for the responses of each operation, in the
    /// order in which they were added.
    pub fn responses(&self) -> impl Iterator<Item = (&QName, EncodeStats)> {
        self.records.iter().map(|record| (record.name(), record.encode_stats()))
    }

    fn encode(&self) -> EncodeStats {
        let mut sum = EncodeStats::default();
        self.records.iter().for_each(|record| sum += record.encode_stats());
        sum
    }

    fn differential(&self) -> DifferentialStats {
        let mut sum = DifferentialStats::default();
        self.records.iter().for_each(|record| sum += record.differential());
        DifferentialStats { memory: self.memory.as_ref().map_or(0, |memory| memory.cache.held() as u64), ..sum }
    }

    pub(crate) fn count_decoded(&self, bytes: u64, time: Duration) {
        self.bytes_in.add(bytes);
        self.decode_nanos.fetch_add(nanos(time), Relaxed);
    }

    /// Counts the times of a message: of its operation, if it has one, from its arrival to its
    /// response, and that of its handler, if it was called.
    pub(crate) fn count_time(&self, record: Option<&Record>, total: Duration, handler: Option<Duration>) {
        record.map_or(&self.other_times, Record::times).record(total, handler);
    }

    pub(crate) fn count_encoded(&self, time: Duration) {
        self.encode_nanos.add(nanos(time));
    }

    pub(crate) fn count_answered(&self, bytes: u64, is_fault: bool) {
        self.messages.add(1);
        self.bytes_out.add(bytes);
        self.faults.add(u64::from(is_fault));
        self.memory.iter().chain(&self.templates).for_each(Memory::export);
    }
}

pub(crate) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The operation in the labels of messages that have none: malformed and refused ones.
const OTHER: &str = "_OTHER";

/// Exported histograms of the times of messages.
#[derive(Debug)]
pub(crate) struct Times {
    total: Histogram,
    handler: Histogram,
}

impl Default for Times {
    fn default() -> Self {
        Times { total: Histogram::noop(), handler: Histogram::noop() }
    }
}

impl Times {
    pub(crate) fn new(service: &str, operation: &str) -> Self {
        let labels = [("service", service.to_owned()), ("operation", operation.to_owned())];
        Times {
            total: histogram!("deltasoap_request_duration_seconds", &labels),
            handler: histogram!("deltasoap_handler_duration_seconds", &labels),
        }
    }

    fn record(&self, total: Duration, handler: Option<Duration>) {
        self.total.record(total);
        if let Some(handler) = handler {
            self.handler.record(handler);
        }
    }
}

/// Gives the recorder the descriptions of all metrics.
fn describe() {
    use metrics::Unit::{Bytes, Nanoseconds, Seconds};
    describe_counter!("deltasoap_messages_total", "Messages answered");
    describe_counter!("deltasoap_faults_total", "Messages answered with a fault");
    describe_gauge!("deltasoap_underway", "Messages that are being read or answered");
    describe_counter!("deltasoap_refused_total", "Messages refused for lack of capacity");
    describe_counter!("deltasoap_deviations_total", "Accepted deviations from the schema");
    describe_counter!("deltasoap_invalid_messages_total", "Messages that validation found invalid");
    describe_counter!("deltasoap_received_bytes_total", Bytes, "Bytes of requests before compression");
    describe_counter!("deltasoap_sent_bytes_total", Bytes, "Bytes of responses before compression");
    describe_counter!("deltasoap_encode_nanoseconds_total", Nanoseconds, "Time spent encoding responses");
    describe_histogram!(
        "deltasoap_request_duration_seconds",
        Seconds,
        "Time from the arrival of a request's head to its response, by operation"
    );
    describe_histogram!("deltasoap_handler_duration_seconds", Seconds, "Time of handlers, by operation");
    describe_histogram!("deltasoap_decode_seconds", Seconds, "Time spent decoding a message, by operation");
    describe_gauge!("deltasoap_differential_memory_bytes", Bytes, "Bytes of earlier requests that are kept");
    describe_counter!("deltasoap_differential_evictions_total", "Memories dropped for the bound on bytes");
    describe_counter!("deltasoap_encode_messages_total", "Responses by operation and by match with earlier ones");
    describe_counter!("deltasoap_encode_bytes_total", Bytes, "Bytes of responses, by operation");
    describe_counter!("deltasoap_encode_written_bytes_total", Bytes, "Bytes of responses written anew, by operation");
    describe_gauge!("deltasoap_encode_memory_bytes", Bytes, "Bytes of templates that are kept");
    describe_counter!("deltasoap_encode_evictions_total", "Sets of templates dropped for the bound on bytes");
    super::record::describe();
}

/// A counter and its exported twin.
#[derive(Debug)]
pub(crate) struct Counted {
    value: AtomicU64,
    exported: Counter,
}

impl Default for Counted {
    fn default() -> Self {
        Counted::new(Counter::noop())
    }
}

impl Counted {
    pub(crate) fn new(exported: Counter) -> Self {
        Counted { value: AtomicU64::new(0), exported }
    }

    pub(crate) fn value(&self) -> u64 {
        self.value.load(Relaxed)
    }

    pub(crate) fn add(&self, count: u64) {
        if count > 0 {
            self.value.fetch_add(count, Relaxed);
            self.exported.increment(count);
        }
    }
}
