//! Compression by bandwidth: the time to receive and read a response, by the rate of the network,
//! with compression off, on, and adaptive (*Toward Characterizing the Performance of SOAP
//! Toolkits*, 2.6).
//!
//! Messages are written beforehand. Client, network and server share this process and its
//! processors; the network has no delay except that of its rate ([`network`](super::network)). The
//! compression settings alternate. Each has its own connection, which has already carried a long
//! message and some of the measured kind, from which adaptive compression learns. The client
//! compares each message with the expected one. A network faster than its rate, or a setting that
//! did not compress, is an error.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use deltasoap::engine::Buffer;
use deltasoap::server::{MessageReply, Operation};
use deltasoap::transport::{Compression, ContentCoding};
use deltasoap::{Client, Fault, Lease, Soap, SoapService};
use deltasoap_report::Interval;
use deltasoap_streams::{arrays, vsphere};

use super::goal::Goal;
use super::network::{LATE, RemoteServer, bytes_a_second};
use super::{Effort, Task};
use crate::statistics::median_interval;

/// Rates in Mbit/s.
const RATES: [f64; 4] = [1.0, 10.0, 100.0, 1000.0];
/// Number of doubles in the message that a connection carries first.
const BEFORE: usize = 10_000;
/// Number of messages of the measured kind that adaptive compression learns from.
const LESSONS: usize = 6;
/// Messages that take longer than this uncompressed, in seconds, are skipped.
const MAX_SECONDS: f64 = 10.0;

/// Compression settings.
const SETTINGS: [(&str, Compression); 5] = [
    ("never", Compression::OFF),
    ("gzip 1", Compression::ALWAYS.level(1)),
    ("gzip 6", Compression::ALWAYS),
    ("zstd", Compression::ALWAYS.coding(ContentCoding::Zstd)),
    ("adaptive", Compression::ADAPTIVE),
];

/// Returns the goals.
pub fn tasks(effort: Effort) -> Vec<Task> {
    let rates = if effort.is_quick { &RATES[2..] } else { &RATES };
    let messages = messages(effort);
    let mut tasks = Vec::new();
    for rate in rates.iter().copied() {
        let short = messages.iter().filter(|(_, message)| message.len() as f64 <= MAX_SECONDS * bytes_a_second(rate));
        tasks.extend(short.cloned().map(|(name, message)| Task {
            name: format!("bandwidth: {name} at {rate} Mbit/s, adaptive compression"),
            measure: Box::new(move || measure(effort, rate, message)),
        }));
    }
    tasks
}

fn messages(effort: Effort) -> Vec<(String, Arc<str>)> {
    let doubles = |n| (format!("{n} doubles"), arrays::message_doubles(&arrays::hard_doubles(n)).into());
    if effort.is_quick {
        return vec![doubles(effort.n)];
    }
    let mut messages: Vec<_> = [100, 10_000, 100_000].into_iter().map(doubles).collect();
    messages.push(("1000 strings".to_owned(), arrays::message_strings(&arrays::strings(1000)).into()));
    let resource = String::from_utf8_lossy(vsphere::resource()).into();
    messages.push(("a tree of resource pools of vSphere".to_owned(), resource));
    messages
}

/// Compares adaptive compression with the best other setting.
fn measure(effort: Effort, rate: f64, message: Arc<str>) -> Result<Goal> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let bytes = message.len();
    let runs = runtime.block_on(timed(effort, rate, message))?;
    let intervals = runs.iter().map(|run| median_interval(&run.ms)).collect::<Result<Vec<_>>>()?;
    let (adaptive, others) = intervals.split_last().context("no ways")?;
    let best = others.iter().min_by(|one, other| one.median.total_cmp(&other.median)).context("one way")?;
    let shown = SETTINGS.iter().zip(&runs).zip(&intervals).map(|(((name, _), run), Interval { low, median, high })| {
        format!("{name} {median:.2} ({low:.2} to {high:.2}; {} bytes)", run.carried)
    });
    let shown: Vec<_> = shown.collect();
    let detail = format!("{bytes} bytes; ms and bytes carried: {}; {} rounds", shown.join(", "), runs[0].ms.len());
    let share = adaptive.by(*best);
    Ok(Goal::at_most(1.1, "× the best of never and always", share.median, detail).within(share))
}

/// The results of a compression setting.
struct Run {
    /// Milliseconds, by round.
    ms: Vec<f64>,
    /// Bytes of a response, with its headers, on the network in the last round.
    carried: u64,
}

/// Measures all compression settings.
async fn timed(effort: Effort, rate: f64, message: Arc<str>) -> Result<Vec<Run>> {
    let before = arrays::message_doubles(&arrays::hard_doubles(if effort.is_quick { 1000 } else { BEFORE }));
    let bytes = message.len() as u64;
    let least_time = Duration::from_secs_f64(bytes as f64 / bytes_a_second(rate)).saturating_sub(LATE);
    let messages = Arc::new([before.into(), message]);
    let (mut lanes, mut runs) = (Vec::new(), Vec::new());
    for (_, compression) in SETTINGS {
        let lane = Lane::open(compression, rate, &messages)?;
        lane.fetch(0).await?;
        let lessons = if compression == Compression::ADAPTIVE { LESSONS } else { 1 };
        for _ in 0..lessons {
            lane.fetch(1).await?;
        }
        lanes.push((lane, compression));
        runs.push(Run { ms: Vec::new(), carried: 0 });
    }
    // Rounds for half a minute, but at least five.
    let (least, most, limit) = if effort.is_quick { (1, 1, 0) } else { (5, 25, 30) };
    let start = Instant::now();
    while runs[0].ms.len() < least || runs[0].ms.len() < most && start.elapsed() < Duration::from_secs(limit) {
        for (index, (lane, compression)) in lanes.iter().enumerate() {
            let (time, carried) = lane.fetch(1).await?;
            let is_as_meant = match *compression {
                Compression::OFF => carried >= bytes && time >= least_time,
                Compression::ADAPTIVE => true,
                _ => carried < runs[0].carried,
            };
            ensure!(is_as_meant, "{}: {carried} bytes were carried in {time:?}", SETTINGS[index].0);
            runs[index].ms.push(1e3 * time.as_secs_f64());
            runs[index].carried = carried;
        }
    }
    Ok(runs)
}

/// A client and a server, with a network between.
struct Lane {
    client: Client,
    /// The index of the expected message.
    expected: Arc<AtomicUsize>,
    remote: RemoteServer,
}

impl Lane {
    fn open(compression: Compression, rate: f64, messages: &Arc<[Arc<str>; 2]>) -> Result<Self> {
        let served = Arc::clone(messages);
        let fetch = Operation::new(move |request: Lease<Fetch>| {
            let message = served.get(request.which as usize).cloned();
            async move {
                let message = message.ok_or_else(|| Fault::sender("no such message"))?;
                Ok::<_, Fault>(MessageReply::message(Buffer::from(message.as_bytes().to_vec())))
            }
        });
        let remote = RemoteServer::serve(
            SoapService::builder().compression(compression).add_operation(fetch).build()?,
            Some(rate),
        )?;
        let (compared, expected) = (Arc::clone(messages), Arc::new(AtomicUsize::new(0)));
        let which = Arc::clone(&expected);
        let client = Client::builder(&*remote.url).timeout(None).inspect(move |bytes| {
            if bytes == compared[which.load(Relaxed)].as_bytes() { Ok(()) } else { Err("another message".into()) }
        });
        Ok(Lane { client: client.build()?, expected, remote })
    }

    /// Returns the time for a message, and the bytes carried for it.
    async fn fetch(&self, which: u32) -> Result<(Duration, u64)> {
        self.expected.store(which as usize, Relaxed);
        let before = self.remote.carried();
        let start = Instant::now();
        self.client.send(&Fetch { which }).await?;
        Ok((start.elapsed(), self.remote.carried() - before))
    }
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:bench", element = "fetch")]
struct Fetch {
    which: u32,
}
