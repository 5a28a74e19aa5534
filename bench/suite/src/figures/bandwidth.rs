//! Compression by bandwidth: the time until a response has been received and read, by the rate of the network, with compression never, always
//! and where it is found to pay (*Toward Characterizing the Performance of SOAP Toolkits*, 2.6).
//!
//! Messages are written beforehand. Client, network and server are in this process. All ways take turns, each on a connection of its own that has
//! carried a long message before and some of its kind, from which adaptive compression learns. The client compares each
//! message with what was to come.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use deltasoap::http::{Client, Compression, ContentCoding, Context as Call, MessageReply, Operation, SoapService};
use deltasoap::soap::Fault;
use deltasoap::{Buffer, Lease, Soap};
use deltasoap_report::Interval;
use deltasoap_streams::{arrays, vsphere};

use super::goal::Goal;
use super::network::Far;
use super::{Effort, Task};
use crate::statistics::median_interval;

/// Rates in Mbit/s.
const RATES: [f64; 4] = [1.0, 10.0, 100.0, 1000.0];
/// Doubles of the message that a connection has carried before.
const BEFORE: usize = 10_000;
/// Messages of its kind that a way learns from.
const LESSONS: usize = 6;

/// Ways of compression.
const WAYS: [(&str, Compression); 5] = [
    ("never", Compression::OFF),
    ("gzip 1", Compression::ALWAYS.level(1)),
    ("gzip 6", Compression::ALWAYS),
    ("zstd", Compression::ALWAYS.coding(ContentCoding::Zstd)),
    ("adaptive", Compression::ADAPTIVE),
];

/// The goals.
pub fn tasks(effort: Effort) -> Vec<Task> {
    let rates = if effort.is_quick { &RATES[2..] } else { &RATES };
    let mut tasks = Vec::new();
    for rate in rates.iter().copied() {
        for (name, message) in messages(effort) {
            tasks.push(Task {
                name: format!("bandwidth: {name} at {rate} Mbit/s, adaptive compression"),
                measure: Box::new(move || measure(effort, rate, message())),
            });
        }
    }
    tasks
}

/// Makes a message.
type Make = Box<dyn Fn() -> String>;

fn messages(effort: Effort) -> Vec<(String, Make)> {
    let doubles = |n| -> (String, Make) {
        (format!("{n} doubles"), Box::new(move || arrays::message_doubles(&arrays::hard_doubles(n))))
    };
    if effort.is_quick {
        return vec![doubles(effort.n)];
    }
    let mut messages: Vec<_> = [100, 10_000, 100_000].into_iter().map(doubles).collect();
    messages.push(("1000 strings".to_owned(), Box::new(|| arrays::message_strings(&arrays::strings(1000)))));
    let resource = || String::from_utf8_lossy(vsphere::resource()).into_owned();
    messages.push(("a tree of resource pools of vSphere".to_owned(), Box::new(resource)));
    messages
}

/// Compares adaptive compression with the best of the others.
fn measure(effort: Effort, rate: f64, message: String) -> Result<Goal> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let bytes = message.len();
    let times = runtime.block_on(timed(effort, rate, message))?;
    let intervals = times.iter().map(|times| median_interval(times)).collect::<Result<Vec<_>>>()?;
    let named = WAYS.iter().map(|(name, _)| name).zip(&intervals);
    let shown =
        named.map(|(name, Interval { low, median, high })| format!("{name} {median:.2} ({low:.2} to {high:.2})"));
    let detail = format!("{bytes} bytes; ms: {}; {} rounds", shown.collect::<Vec<_>>().join(", "), times[0].len());
    let (adaptive, others) = intervals.split_last().expect("there are ways");
    let best = others.iter().min_by(|one, other| one.median.total_cmp(&other.median)).expect("there are others");
    let share = adaptive.by(*best);
    Ok(Goal::at_most(1.1, "× the best of never and always", share.median, detail).within(share))
}

/// Milliseconds of each way.
async fn timed(effort: Effort, rate: f64, message: String) -> Result<[Vec<f64>; WAYS.len()]> {
    let before = arrays::message_doubles(&arrays::hard_doubles(if effort.is_quick { 1000 } else { BEFORE }));
    let messages: Arc<[String; 2]> = Arc::new([before, message]);
    let mut lanes = Vec::new();
    for (_, compression) in WAYS {
        let lane = Lane::open(compression, rate, &messages)?;
        lane.fetch(0).await?;
        let lessons = if compression == Compression::ADAPTIVE { LESSONS } else { 1 };
        for _ in 0..lessons {
            lane.fetch(1).await?;
        }
        lanes.push(lane);
    }
    let mut times = [const { Vec::new() }; WAYS.len()];
    // Rounds for half a minute, but where one alone takes long.
    let (least, most, limit) = if effort.is_quick { (1, 1, 0) } else { (3, 25, 30) };
    let start = Instant::now();
    while times[0].len() < least || times[0].len() < most && start.elapsed() < Duration::from_secs(limit) {
        for (lane, times) in lanes.iter().zip(&mut times) {
            times.push(1e3 * lane.fetch(1).await?.as_secs_f64());
        }
    }
    Ok(times)
}

/// A client and a server, with a network between.
struct Lane {
    client: Client,
    /// What is to come.
    messages: Arc<[String; 2]>,
    expected: Arc<Mutex<usize>>,
    _far: Far,
}

impl Lane {
    fn open(compression: Compression, rate: f64, messages: &Arc<[String; 2]>) -> Result<Self> {
        let served = Arc::clone(messages);
        let fetch = Operation::replying(move |request: Lease<Fetch>, _: Call| {
            let message = served.get(request.which as usize).cloned();
            async move {
                let message = message.ok_or_else(|| Fault::sender("no such message"))?;
                Ok::<_, Fault>(MessageReply::message(Buffer::from(message.into_bytes())))
            }
        });
        let far =
            Far::serve(SoapService::builder().compression(compression).add_operation(fetch).build()?, Some(rate))?;
        let (compared, expected) = (Arc::clone(messages), Arc::new(Mutex::new(0)));
        let which = Arc::clone(&expected);
        let client = Client::builder(&*far.url).timeout(None).inspect(move |bytes| {
            let which = *which.lock().unwrap_or_else(PoisonError::into_inner);
            if bytes == compared[which].as_bytes() { Ok(()) } else { Err("another message".into()) }
        });
        Ok(Lane { client: client.build()?, messages: Arc::clone(messages), expected, _far: far })
    }

    /// The time for a message.
    async fn fetch(&self, which: usize) -> Result<Duration> {
        ensure!(which < self.messages.len(), "no such message");
        *self.expected.lock().unwrap_or_else(PoisonError::into_inner) = which;
        let request = Fetch { which: u32::try_from(which)? };
        let start = Instant::now();
        self.client.send(&request).await?;
        Ok(start.elapsed())
    }
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:bench", element = "fetch")]
struct Fetch {
    which: u32,
}
