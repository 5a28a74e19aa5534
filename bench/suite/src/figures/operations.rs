//! A goal on short requests with much work: requests with little work should not wait for them.
//!
//! The server is in this process, on all cores except the last, with two operations: one that does
//! nothing, and one whose requests are as short but compute for milliseconds. The generator is that
//! of the other loads. Small requests go first in both servers; one weighs requests by their
//! length, the other by the time their operation took before (*Toward Characterizing the
//! Performance of SOAP Toolkits*, 2.9).

use std::hint::black_box;
use std::net::SocketAddr;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use deltasoap::server::{Operation, Scheduling, ServerHandle, SmallFirst, Weigh};
use deltasoap::{Fault, Lease, Server, Soap, SoapService};
use deltasoap_load::Arrivals;
use deltasoap_report::statistics::median;
use deltasoap_streams::prng::SplitMix64;

use super::goal::Goal;
use super::{Effort, Task};
use crate::load::generate::{Load, Measured, generate};
use crate::load::server;

/// Computing time of a request with much work.
const WORK: Duration = Duration::from_millis(5);
/// Requests with little work, and those with much.
const SHARES: [&str; 2] = ["echoVoid=95", "sendInts:1=5"];
const CONNECTIONS: usize = 64;
/// Fraction of the rate at which the server answers in a closed loop.
const HIGH: f64 = 0.8;

/// Returns the goals.
pub fn tasks(effort: Effort) -> Vec<Task> {
    let measure = move || {
        let goal = "at least 3 times as short, 99th percentile";
        Ok(compare(effort).unwrap_or_else(|error| Goal::unknown(goal, format!("{error:#}"))))
    };
    let name =
        "wire, requests with little to do beside 5 % as short with 5 ms, 80 % of capacity, by operation".to_owned();
    vec![Task { name, measure: Box::new(measure) }]
}

fn compare(effort: Effort) -> Result<Goal> {
    let (rounds, time) = if effort.is_quick { (1, 100) } else { (3, 4000) };
    let time = Duration::from_millis(time);
    let closed = Load {
        shares: SHARES.iter().map(|share| share.parse()).collect::<Result<_>>()?,
        changed: 100,
        connections: CONNECTIONS,
        open: None,
        warm_up: time / 4,
        time,
        threads: 1,
    };
    let steps = steps_of(WORK);
    let servers = [Weigh::Length, Weigh::Operation].map(|weigh| Serving::start(weigh, steps));
    let [by_length, by_operation] = servers;
    let servers = [by_length?, by_operation?];
    let (mut runs, mut rates) = ([const { Vec::new() }; 2], Vec::new());
    for _ in 0..rounds {
        let rate = (HIGH * measure(&servers[0], &closed)?.throughput()).max(1.0);
        let open = Load { open: Some((rate, Arrivals::Poisson)), ..closed.clone() };
        for (server, runs) in servers.iter().zip(&mut runs) {
            runs.push(measure(server, &open)?);
        }
        rates.push(rate);
    }
    let of = |kind: usize, share: f64| {
        runs.each_ref().map(|runs| median(runs.iter().map(|run| run.tallies[kind].1.quantile_us(share) / 1e3)))
    };
    let ([length, operation], [length_half, operation_half]) = (of(0, 0.99), of(0, 0.5));
    let [length_heavy, operation_heavy] = of(1, 0.99);
    let detail = format!(
        "99th percentile by length {length:.1} ms, by operation {operation:.1}; medians {length_half:.2} and {operation_half:.2} ms; \
         99th percentile of those with much to do {length_heavy:.0} and {operation_heavy:.0} ms; {:.0} requests/s",
        median(rates.into_iter())
    );
    Ok(Goal::at_least(3.0, "times as short as by length, 99th percentile", length / operation, detail))
}

fn measure(server: &Serving, load: &Load) -> Result<Measured> {
    let measured = generate(server.address, None, load, |_| ())?;
    ensure!(measured.failed() == 0, "{} requests failed: {}", measured.failed(), measured.failures());
    Ok(measured)
}

/// Returns the number of computing steps in a time.
fn steps_of(time: Duration) -> u64 {
    let (start, mut steps) = (Instant::now(), 0);
    while start.elapsed() < time {
        compute(1000);
        steps += 1000;
    }
    steps
}

fn compute(steps: u64) {
    let mut random = SplitMix64::new(steps);
    (0..steps).for_each(|_| _ = black_box(random.next_u64()));
}

/// A server on the other cores; stopped when dropped.
struct Serving {
    address: SocketAddr,
    handle: ServerHandle,
    thread: Option<JoinHandle<Result<()>>>,
}

impl Serving {
    fn start(weigh: Weigh, steps: u64) -> Result<Self> {
        let (sender, receiver) = channel();
        let thread = thread::spawn(move || serve(weigh, steps, &sender));
        match receiver.recv() {
            Ok((address, handle)) => Ok(Serving { address, handle, thread: Some(thread) }),
            Err(_) => {
                thread.join().expect("serving does not panic")?;
                anyhow::bail!("the server has ended")
            }
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.handle.shutdown();
        // Errors show up in the requests.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn serve(weigh: Weigh, steps: u64, started: &Sender<(SocketAddr, ServerHandle)>) -> Result<()> {
    server::pin_to_others()?;
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
    runtime.block_on(async {
        let server = Server::bind("127.0.0.1:0").await?;
        let service = SoapService::builder()
            .scheduling(Scheduling::SmallFirst(SmallFirst { weigh, ..SmallFirst::default() }))
            .add_operation(Operation::new(void).action("urn:bench#echoVoid"))
            .add_operation(
                Operation::new(move |ints: Lease<Ints>| async move { Ok::<_, Fault>(busy(&ints, steps)) })
                    .action("urn:bench#sendInts"),
            )
            .build()?;
        started.send((server.local_addr()?, server.handle())).context("nobody waits for the server")?;
        Ok(server.serve(service).await?)
    })
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:bench", element = "echoVoid")]
struct Void {}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:bench", element = "echoVoidResponse")]
struct VoidResponse {}

async fn void(_: Lease<Void>) -> Result<VoidResponse, Fault> {
    Ok(VoidResponse {})
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:bench", element = "sendInts")]
struct Ints {
    item: Vec<i32>,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:bench", element = "sendIntsResponse")]
struct IntsResponse {
    count: i32,
}

fn busy(ints: &Ints, steps: u64) -> IntsResponse {
    compute(steps);
    IntsResponse { count: i32::try_from(ints.item.len()).unwrap_or(i32::MAX) }
}
