//! Goals on messages of real services: recorded answers of vSphere, read in regular mode.
//!
//! "General routines" is our own decoder without the shortcuts it learns from markup
//! ([`Decoder::without_shortcuts`]): the same code that decides what is an error, and the oracle of
//! the values here.

use std::fmt::Debug;
use std::hint::black_box;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use deltasoap::engine::decode::{Cursor, Decoder, ElementRoot, Step};
use deltasoap::engine::{Buffer, Content, DecodeOptions, Differential, ErrorKind, Typed};
use deltasoap::lexical::DateTime;
use deltasoap::schema::View;
use deltasoap::soap::{Envelope, EnvelopeReader, Head, Receiver, RequestReceiver, decode_request};
use deltasoap::types::{Node, Value};
use deltasoap::{Message, Soap};
use deltasoap_streams::checksum::Checksum;
use deltasoap_streams::vsphere;

use super::goal::Goal;
use super::{Effort, Task, valgrind};
use crate::definitions::{Definitions, peers_folder};
use crate::engine::{Peer, Session, timed};
use crate::measure::measure;
use crate::ring::Ring;
use crate::statistics::Interval;
use crate::stream::inform::{self, Inform};

/// A tree of resource pools.
#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "urn:vim25", qualified, element = "FetchResponse")]
struct ResourceResponse {
    returnval: HostSystemResourceInfo,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "urn:vim25", qualified)]
struct HostSystemResourceInfo {
    key: String,
    config: Option<ResourceConfigSpec>,
    child: Vec<HostSystemResourceInfo>,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "urn:vim25", qualified, rename_all = "camelCase")]
struct ResourceConfigSpec {
    change_version: Option<String>,
    last_modified: Option<String>,
    cpu_allocation: ResourceAllocationInfo,
    memory_allocation: ResourceAllocationInfo,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "urn:vim25", qualified, rename_all = "camelCase")]
struct ResourceAllocationInfo {
    reservation: Option<i64>,
    expandable_reservation: Option<bool>,
    limit: Option<i64>,
    shares: Option<SharesInfo>,
    overhead_limit: Option<i64>,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "urn:vim25", qualified)]
struct SharesInfo {
    shares: i32,
    level: String,
}

/// A list of alarms.
#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "urn:vim25", qualified, element = "FetchResponse")]
pub(super) struct AlarmResponse {
    returnval: Alarms,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "urn:vim25", qualified)]
struct Alarms {
    #[soap(name = "AlarmState")]
    states: Vec<AlarmState>,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "urn:vim25", qualified, rename_all = "camelCase")]
struct AlarmState {
    key: String,
    entity: ManagedObjectReference,
    alarm: ManagedObjectReference,
    overall_status: Status,
    time: DateTime,
    acknowledged: Option<bool>,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "urn:vim25")]
struct ManagedObjectReference {
    #[soap(attribute, name = "type")]
    kind: String,
    #[soap(text)]
    value: String,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "urn:vim25", rename_all = "camelCase")]
enum Status {
    Gray,
    Green,
    Yellow,
    Red,
}

/// The status of an entity.
#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "urn:vim25", qualified, element = "FetchResponse")]
pub(super) struct StatusResponse {
    returnval: Status,
}

/// A series of samples, as sent by monitoring.
#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "urn:vim25", qualified, element = "SeriesResponse")]
struct SeriesResponse {
    time: Vec<i64>,
    value: Vec<f64>,
}

/// Returns the goals. `peers` is the folder of built peers.
pub fn tasks(effort: Effort, peers: Option<PathBuf>) -> Vec<Task> {
    let folder = peers.unwrap_or_else(peers_folder);
    let mut tasks = message_tasks::<ResourceResponse>(effort, "HostSystemResourceInfo", vsphere::resource());
    tasks.extend(message_tasks::<AlarmResponse>(effort, "AlarmState[]", vsphere::alarms()));
    tasks.extend(message_tasks::<StatusResponse>(effort, "EntityStatus", vsphere::status()));
    tasks.extend(message_tasks::<Inform>(effort, "Inform", inform::one()));
    tasks.extend([
        single::<StatusResponse>(effort, ("EntityStatus", vsphere::status()), 145.0),
        single::<Inform>(effort, ("Inform", inform::one()), 199.0),
    ]);
    let name = "real: 20,000 numbers in lists, dynamic value".to_owned();
    tasks.push(Task { name, measure: Box::new(move || series_goal(effort)) });
    for (name, shown, bound) in [("gsoap", "gSOAP", 4.0), ("pugixml", "pugixml", 1.0)] {
        let folder = folder.clone();
        let measure = move || {
            peer_goal(effort, name, bound, &folder)
                .or_else(|error| Ok(Goal::unknown(&format!("at least {bound} × {name}"), format!("{error:#}"))))
        };
        let name = format!("real: HostSystemResourceInfo typed, beside {shown}");
        tasks.push(Task { name, measure: Box::new(measure) });
    }
    tasks
}

/// Goals on the methods of reading one message, each compared with the general routines.
fn message_tasks<T: Message + PartialEq + Debug + 'static>(
    effort: Effort,
    name: &'static str,
    message: &'static [u8],
) -> Vec<Task> {
    let task = |method: Method| {
        let measure = move || method_goal::<T>(effort, method, (name, message));
        Task { name: format!("real: {name}, {}", method.name()), measure: Box::new(measure) }
    };
    METHODS.into_iter().map(task).collect()
}

/// A goal on a single message in megabytes per second, compared with an earlier result.
fn single<T: Message + PartialEq + Debug + 'static>(
    effort: Effort,
    (name, message): (&'static str, &'static [u8]),
    before: f64,
) -> Task {
    let measure = move || {
        let reading = Reading::<T>::new(Method::OneShot, Decoder::new(options()), message)?;
        let mut sessions: [Box<dyn Session>; 1] = [Box::new(reading)];
        let figures = measure(&mut sessions, effort.sample_size, || ())?;
        let ns = figures.first().context("no figures")?.interval;
        let bytes = message.len() as f64 * 1e3;
        let rate = Interval { low: bytes, median: bytes, high: bytes }.by(ns);
        let detail = format!("twice the {before} of before; {} bytes", message.len());
        Ok(Goal::at_least(2.0 * before, "MB/s", rate.median, detail).within(rate))
    };
    Task { name: format!("real: {name}, {}, speed", Method::OneShot.name()), measure: Box::new(measure) }
}

/// The measured methods.
const METHODS: [Method; 4] = [Method::ReusedDecoder, Method::OneShot, Method::Value, Method::Node];

/// A method of reading a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    /// As a type, by a decoder that has already read the same message.
    ReusedDecoder,
    /// As a type, by the function for single messages.
    OneShot,
    /// As a dynamic value, by a decoder that has already read the same message.
    Value,
    /// As a tree.
    Node,
    /// As a type, by a new decoder: the baseline of [`Method::OneShot`].
    NewDecoder,
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Method::ReusedDecoder => "typed, decoder kept",
            Method::OneShot => "typed, one message",
            Method::Value => "dynamic value",
            Method::Node => "tree",
            Method::NewDecoder => "typed, decoder made anew",
        }
    }

    /// Returns the target speedup over the general routines.
    fn bound(self) -> f64 {
        match self {
            Method::ReusedDecoder | Method::OneShot => 2.0,
            Method::Value | Method::Node => 3.0,
            Method::NewDecoder => 1.0,
        }
    }
}

fn options() -> DecodeOptions {
    DecodeOptions { differential: Differential::OFF, ..DecodeOptions::default() }
}

fn method_goal<T: Message + PartialEq + Debug>(
    effort: Effort,
    method: Method,
    (name, message): (&'static str, &'static [u8]),
) -> Result<Goal> {
    let general = if method == Method::OneShot { Method::NewDecoder } else { method };
    let mut sessions: Vec<Box<dyn Session>> = vec![
        Box::new(Reading::<T>::new(method, Decoder::new(options()), message)?),
        Box::new(Reading::<T>::new(general, Decoder::without_shortcuts(options()), message)?),
    ];
    let figures = measure(&mut sessions, effort.sample_size, || ())?;
    let [ours, general] = &figures[..] else { return Err(anyhow::anyhow!("a lane without figures")) };
    let rate = |ns: u64| message.len() as f64 * 1e3 / ns.max(1) as f64;
    let mut detail = format!("{:.0} MB/s, general routines {:.0}", rate(ours.ns_median), rate(general.ns_median));
    // Small runs only show that it works; without valgrind nothing is counted.
    if let Some((ours, general)) = (!effort.is_quick).then(|| instructions_a_byte(name, method, message)).flatten() {
        detail += &format!("; {ours:.2} instructions a byte, general routines {general:.2}");
    }
    let times = general.interval.by(ours.interval);
    Ok(Goal::at_least(method.bound(), "× the general routines", times.median, detail).within(times))
}

/// Returns the instructions per byte of a message, and those of the general routines.
fn instructions_a_byte(name: &str, method: Method, message: &[u8]) -> Option<(f64, f64)> {
    let name = format!("{name}, {}", method.name());
    let count = |arguments: &[&str]| {
        let count = valgrind::counted(arguments).ok()?;
        Some(count as f64 / (COUNTED * message.len()) as f64)
    };
    Some((count(&["--real", &name])?, count(&["--real", &name, "--general"])?))
}

/// Number of messages for counting instructions.
const COUNTED: usize = 16;

/// Runs `once --real`: reads a recorded message several times under a profiler.
///
/// # Errors
/// When no message or method of reading has this name.
pub fn once(name: &str, is_general: bool) -> Result<()> {
    let (message, method) = name.split_once(", ").unwrap_or((name, ""));
    let method = METHODS
        .into_iter()
        .find(|it| it.name() == method)
        .with_context(|| format!("{name}: no such method of reading"))?;
    match message {
        "HostSystemResourceInfo" => read_some::<ResourceResponse>(method, is_general, vsphere::resource()),
        "AlarmState[]" => read_some::<AlarmResponse>(method, is_general, vsphere::alarms()),
        "EntityStatus" => read_some::<StatusResponse>(method, is_general, vsphere::status()),
        "Inform" => read_some::<Inform>(method, is_general, inform::one()),
        _ => bail!("{name}: no such message"),
    }
}

fn read_some<T: Message>(method: Method, is_general: bool, message: &[u8]) -> Result<()> {
    let method = if is_general && method == Method::OneShot { Method::NewDecoder } else { method };
    let mut decoder = if is_general { Decoder::without_shortcuts(options()) } else { Decoder::new(options()) };
    let mut read = |count: usize| {
        (0..count).try_for_each(|_| read::<T>(method, &mut decoder, message).map(|value| drop(black_box(value))))
    };
    // Names and markup are learned before.
    read(4)?;
    let mut result = Ok(());
    valgrind::counted_messages(&mut || result = read(COUNTED));
    result
}

/// A goal on lists of numbers as a dynamic value, which stores them contiguously
/// ([`Value::Column`]), compared with a typed value, which does so too.
fn series_goal(effort: Effort) -> Result<Goal> {
    const SAMPLES: usize = 10_000;
    let time = (0..SAMPLES as i64).map(|index| 1_764_000_000_000 + 20_000 * index).collect();
    let value = SeriesResponse { time, value: deltasoap_streams::arrays::hard_doubles(SAMPLES) };
    let message = Envelope::new(&value).write(Buffer::default())?;
    let mut sessions: Vec<Box<dyn Session>> = vec![
        Box::new(Reading::<SeriesResponse>::new(Method::Value, Decoder::new(options()), message.as_slice())?),
        Box::new(Reading::<SeriesResponse>::new(Method::ReusedDecoder, Decoder::new(options()), message.as_slice())?),
    ];
    let figures = measure(&mut sessions, effort.sample_size, || ())?;
    let [ours, typed] = &figures[..] else { return Err(anyhow::anyhow!("a lane without figures")) };
    let rate = |ns: u64| message.as_slice().len() as f64 * 1e3 / ns.max(1) as f64;
    let detail = format!("{:.0} MB/s, typed {:.0}", rate(ours.ns_median), rate(typed.ns_median));
    let times = ours.interval.by(typed.interval);
    Ok(Goal::at_most(1.1, "× typed", times.median, detail).within(times))
}

fn peer_goal(effort: Effort, name: &str, bound: f64, folder: &std::path::Path) -> Result<Goal> {
    let message = vsphere::resource();
    let definitions = Definitions::load()?;
    let definition = definitions.peers.iter().find(|peer| peer.name == name).context("no such peer")?;
    let value: ResourceResponse = decode_request(message)?.1;
    let mut peer = Peer::start(definition, folder)?;
    let checksum = checksum_of(&value.returnval);
    let ours = Reading::<ResourceResponse>::new(Method::ReusedDecoder, Decoder::new(options()), message)?;
    let mut sessions =
        vec![Box::new(ours) as Box<dyn Session>, peer.prepare_message("decode-resource", message, &checksum)?];
    let figures = measure(&mut sessions, effort.sample_size, || ())?;
    let [ours, theirs] = &figures[..] else { return Err(anyhow::anyhow!("a lane without figures")) };
    let rate = |ns: u64| message.len() as f64 * 1e3 / ns.max(1) as f64;
    let detail = format!("{:.0} MB/s, {name} {:.0}", rate(ours.ns_median), rate(theirs.ns_median));
    let times = theirs.interval.by(ours.interval);
    Ok(Goal::at_least(bound, &format!("× {name}"), times.median, detail).within(times))
}

/// Calculates the checksum of `bench/peers/PROTOCOL.md`.
fn checksum_of(resource: &HostSystemResourceInfo) -> String {
    let mut sum = Checksum::new();
    add(&mut sum, resource);
    sum.hex()
}

fn add(sum: &mut Checksum, resource: &HostSystemResourceInfo) {
    sum.string(&resource.key);
    let config = resource.config.as_ref();
    for allocation in [config.map(|config| &config.cpu_allocation), config.map(|config| &config.memory_allocation)] {
        let number = |of: fn(&ResourceAllocationInfo) -> Option<i64>| allocation.and_then(of).unwrap_or_default();
        let shares = allocation.and_then(|allocation| allocation.shares.as_ref());
        sum.bytes(&number(|it| it.reservation).to_le_bytes());
        sum.int(i32::from(allocation.and_then(|it| it.expandable_reservation).unwrap_or_default()));
        sum.bytes(&number(|it| it.limit).to_le_bytes());
        sum.int(shares.map_or(0, |shares| shares.shares));
        sum.string(shares.map_or("", |shares| &shares.level));
        sum.bytes(&number(|it| it.overhead_limit).to_le_bytes());
    }
    resource.child.iter().for_each(|child| add(sum, child));
}

/// Reads one message repeatedly.
struct Reading<T> {
    method: Method,
    decoder: Decoder,
    ring: Ring,
    expected: Read<T>,
    last: Option<Read<T>>,
}

/// The result of reading.
#[derive(Debug, PartialEq)]
enum Read<T> {
    Typed(T),
    Dynamic(Value),
    Tree(Node),
}

impl<T: Message + PartialEq + Debug> Reading<T> {
    /// The result is compared with that of the general routines.
    fn new(method: Method, decoder: Decoder, message: &[u8]) -> Result<Self> {
        let expected = read(method, &mut Decoder::without_shortcuts(options()), message)?;
        Ok(Reading { method, decoder, ring: Ring::new(message), expected, last: None })
    }
}

impl<T: Message + PartialEq + Debug> Session for Reading<T> {
    fn bytes(&self) -> usize {
        self.ring.message_len()
    }

    /// A small message takes less time than reading the clock, so a run reads several.
    fn messages_per_run(&self) -> usize {
        (64_usize << 10).div_ceil(self.ring.message_len())
    }

    fn run(&mut self, count: usize) -> Result<Vec<u64>> {
        let messages = self.messages_per_run();
        let mut times = Vec::with_capacity(count);
        for _ in 0..count {
            let (ns, result) = timed(|| {
                (0..messages).try_for_each(|_| -> Result<()> {
                    self.last = Some(black_box(read(self.method, &mut self.decoder, self.ring.next())?));
                    Ok(())
                })
            });
            result?;
            times.push(ns);
        }
        Ok(times)
    }

    fn check(&mut self) -> Result<()> {
        ensure!(self.last.as_ref() == Some(&self.expected), "another value than the general routines read");
        Ok(())
    }

    fn peak_bytes(&mut self) -> Result<u64> {
        Ok(0)
    }
}

fn read<T: Message>(method: Method, decoder: &mut Decoder, message: &[u8]) -> Result<Read<T>> {
    Ok(match method {
        Method::ReusedDecoder => {
            let mut reader = EnvelopeReader::new(RequestReceiver::<T>::default());
            decoder.decode(&mut reader, message)?;
            Read::Typed(reader.into_parts().1.into_memory().into_value())
        }
        Method::OneShot => Read::Typed(decode_request(message)?.1),
        Method::Value => {
            let mut reader = EnvelopeReader::new(Dynamic { view: T::view(), value: Value::Absent });
            decoder.decode(&mut reader, message)?;
            Read::Dynamic(reader.into_parts().1.value)
        }
        Method::Node => {
            let mut root = ElementRoot::<Node>::new(Node::view());
            decoder.decode(&mut root, message)?;
            Read::Tree(root.value)
        }
        Method::NewDecoder => read(Method::ReusedDecoder, &mut Decoder::without_shortcuts(options()), message)?,
    })
}

/// Accepts the body's element as a dynamic value.
#[derive(Debug)]
struct Dynamic<'v> {
    view: View<'v>,
    value: Value,
}

impl Receiver for Dynamic<'_> {
    fn open_body(&mut self, _: &Head, _: &str, _: &str) -> Result<(), ErrorKind> {
        Ok(())
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        self.value.decode(cursor, self.view)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_reads_what_the_general_routines_read() {
        let check = |method| {
            let mut reading =
                Reading::<AlarmResponse>::new(method, Decoder::new(options()), vsphere::alarms()).expect("readable");
            (0..3).for_each(|_| {
                reading.run(1).expect("read");
                reading.check().expect("the same");
            });
        };
        METHODS.into_iter().for_each(check);
    }

    #[test]
    fn the_checksum_covers_all_pools() {
        let value: ResourceResponse = decode_request(vsphere::resource()).expect("readable").1;
        let count = |resource: &HostSystemResourceInfo| -> usize {
            fn count(resource: &HostSystemResourceInfo) -> usize {
                1 + resource.child.iter().map(count).sum::<usize>()
            }
            count(resource)
        };
        assert_eq!(count(&value.returnval), 354);
        assert_eq!(checksum_of(&value.returnval).len(), 16);
    }
}
