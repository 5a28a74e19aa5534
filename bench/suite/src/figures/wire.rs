//! Goals on the wire: servers in separate processes under the load of our generator, alternating.
//!
//! Ratios are of medians over a few rounds. The generator has the last core to itself, the server
//! the others.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, ensure};
use deltasoap_load::Arrivals;
use deltasoap_report::statistics::median;

use super::goal::Goal;
use super::{Effort, Task};
use crate::definitions::peers_folder;
use crate::load::generate::{Load, Measured, generate};
use crate::load::mtom;
use crate::load::server::{self, IN_ONE_GO, Launch, OURS, REGULAR, SMALL_FIRST, Server};

/// Connections that keep a server busy.
const BUSY: usize = 16;
/// Number of doubles in a message of about 5 MB.
const LARGE: usize = 156_000;
/// Connections of the mixed load: more than there are large messages at a time.
const MIXED_CONNECTIONS: usize = 64;
/// Fraction of capacity at which scheduling should pay: servers "under high loads" (*Toward
/// Characterizing the Performance of SOAP Toolkits*, 2.9).
const HIGH: f64 = 0.8;
/// Fraction of capacity at which few requests wait for each other, and scheduling can do little.
const HALF: f64 = 0.5;

/// How thoroughly to measure.
#[derive(Debug, Clone, Copy)]
struct Thoroughness {
    rounds: usize,
    time: Duration,
    warm_up: Option<Duration>,
    large: usize,
    megabytes: u64,
}

/// Returns the goals. `peers` is the folder of built peers.
pub fn tasks(effort: Effort, peers: Option<PathBuf>) -> Vec<Task> {
    let folder = peers.unwrap_or_else(peers_folder);
    let full = Thoroughness { rounds: 3, time: Duration::from_secs(2), warm_up: None, large: LARGE, megabytes: 1000 };
    let short = Duration::from_millis(100);
    let quick = Thoroughness { rounds: 1, time: short, warm_up: Some(short), large: LARGE / 10, megabytes: 10 };
    let thoroughness = if effort.is_quick { quick } else { full };
    let bench = Bench { thoroughness, folder };
    let mut tasks = vec![bench.round_trip()];
    for (peer, share) in [("gsoap", 0.5), ("cxf", 0.25)] {
        tasks.extend(["echoDoubles", "sendDoubles"].map(|operation| bench.processor_time(peer, operation, share)));
    }
    tasks.extend(bench.part());
    tasks.extend([bench.mixed(HIGH, Some(3.0)), bench.mixed(HALF, None)]);
    tasks
}

#[derive(Debug, Clone)]
struct Bench {
    thoroughness: Thoroughness,
    folder: PathBuf,
}

impl Bench {
    fn round_trip(&self) -> Task {
        let bench = self.clone();
        task("wire, round trip of echoVoid, beside gSOAP".to_owned(), move || {
            let compared = bench.compare([OURS, "gsoap"], &bench.load("echoVoid", 1));
            judge("at most 1.3 × gSOAP", compared, |[ours, gsoap]| {
                let [ours, gsoap] = [ours, gsoap].map(|runs| median(runs.iter().map(p50)));
                Goal::at_most(1.3, "× gSOAP", ours / gsoap, format!("median {ours:.1} µs, gSOAP {gsoap:.1} µs"))
            })
        })
    }

    fn processor_time(&self, peer: &'static str, operation: &'static str, share: f64) -> Task {
        let bench = self.clone();
        task(format!("wire, processor time of the server, 100 doubles, {operation}, beside {peer}"), move || {
            let load = bench.load(&format!("{operation}:100"), BUSY);
            let compared = bench.compare([OURS, REGULAR, peer], &load);
            judge(&format!("at most {share} × {peer}"), compared, |runs| {
                let [ours, regular, peers] = runs.map(|runs| median(runs.iter().filter_map(Measured::cpu_us)));
                let detail = format!("{ours:.1} µs a request, regular {regular:.1} µs, {peer} {peers:.1} µs");
                Goal::at_most(share, &format!("× {peer}"), ours / peers, detail)
            })
        })
    }

    fn part(&self) -> [Task; 2] {
        let megabytes = self.thoroughness.megabytes;
        let speed = move || {
            let transfer = mtom::measure(megabytes)?;
            let [up, down] = [&transfer.up, &transfer.down].map(|rates| median(rates.iter().copied()));
            let detail = format!("up {up:.0}, down {down:.0}");
            Ok(Goal::at_least(500.0, "MB/s, up and down", up.min(down), detail))
        };
        let memory = move || {
            let bytes = mtom::measure(megabytes)?.peak_bytes;
            let detail = format!("client and server together, part of {megabytes} MB");
            Ok(Goal::at_most(64.0, "MiB resident", bytes as f64 / f64::from(1 << 20), detail))
        };
        [task("wire, part by MTOM".to_owned(), speed), task("wire, part by MTOM, memory".to_owned(), memory)]
    }

    /// A goal on large messages that keep small ones waiting, unless the server schedules them: an
    /// open loop at a share of the rate that the server reaches in a closed one.
    fn mixed(&self, share: f64, goal: Option<f64>) -> Task {
        let bench = self.clone();
        let percent = 100.0 * share;
        task(
            format!("wire, small requests beside 1 % of 5 MB, {percent:.0} % of capacity, small ones first"),
            move || {
                judge("times as short, 99th percentile", bench.at_share(share), |(compared, rates)| {
                    let of =
                        |quantile| compared.each_ref().map(|runs| median(runs.iter().map(|run| small(run, quantile))));
                    let ([in_one_go, ours, first], [_, p50, first_p50]) = (of(0.99), of(0.5));
                    let detail = format!(
                        "99th percentile in one go {in_one_go:.0} µs, in turns {ours:.0}, small ones first {first:.0}; medians of these \
                     {p50:.0} and {first_p50:.0}; {:.0} requests/s",
                        median(rates.into_iter())
                    );
                    let (measured, unit) = (in_one_go / first, "times as short as in one go, 99th percentile");
                    match goal {
                        Some(goal) => Goal::at_least(goal, unit, measured, detail),
                        None => Goal::reported(unit, measured, detail),
                    }
                })
            },
        )
    }

    /// Measures mixed loads of our server without scheduling, with its default (taking turns), and
    /// with small requests first; returns them with their rates. The default server's capacity is
    /// measured again in each round, since it varies on a virtual machine.
    fn at_share(&self, share: f64) -> Result<([Vec<Measured>; 3], Vec<f64>)> {
        let mut closed = self.load("echoDoubles:10=99", MIXED_CONNECTIONS);
        closed.shares.push(format!("sendDoubles:{}=1", self.thoroughness.large).parse()?);
        let servers = self.start([IN_ONE_GO, OURS, SMALL_FIRST], &closed)?;
        let mut runs = [const { Vec::new() }; 3];
        let mut rates = Vec::new();
        for _ in 0..self.thoroughness.rounds {
            // At least one per second, even if a short measurement got no answer.
            let rate = (share * measure(&servers[1], &closed)?.throughput()).max(1.0);
            let open = Load { open: Some((rate, Arrivals::Poisson)), ..closed.clone() };
            for (server, runs) in servers.iter().zip(&mut runs) {
                runs.push(measure(server, &open)?);
            }
            rates.push(rate);
        }
        Ok((runs, rates))
    }

    fn load(&self, message: &str, connections: usize) -> Load {
        let Thoroughness { time, warm_up, .. } = self.thoroughness;
        Load {
            shares: vec![message.parse().expect("it is a kind of message")],
            changed: 100,
            connections,
            open: None,
            warm_up: warm_up.unwrap_or(Duration::from_millis(500)),
            time,
            threads: 1,
        }
    }

    /// Loads servers alternately.
    fn compare<const N: usize>(&self, names: [&str; N], load: &Load) -> Result<[Vec<Measured>; N]> {
        let servers = self.start(names, load)?;
        let mut runs = [const { Vec::new() }; N];
        for _ in 0..self.thoroughness.rounds {
            for (server, runs) in servers.iter().zip(&mut runs) {
                runs.push(measure(server, load)?);
            }
        }
        Ok(runs)
    }

    /// Starts servers for a load; JIT-compiled ones are warmed up.
    fn start<const N: usize>(&self, names: [&str; N], load: &Load) -> Result<Vec<Server>> {
        let launch = Launch {
            program: server::our_program()?,
            options: Vec::new(),
            peers: self.folder.clone(),
            connections: load.connections + 1,
            transport: None,
            is_pinned: true,
        };
        let servers: Vec<Server> = names.iter().map(|name| launch.start(name)).collect::<Result<_>>()?;
        for server in &servers {
            let warm_up = self.thoroughness.warm_up.unwrap_or(server.warm_up);
            measure(server, &Load { time: warm_up, ..load.clone() })?;
        }
        Ok(servers)
    }
}

fn measure(server: &Server, load: &Load) -> Result<Measured> {
    let measured = generate(server.address, Some(server.pid), load, |_| ())?;
    ensure!(measured.failed() == 0, "{} requests to {} failed", measured.failed(), server.name);
    Ok(measured)
}

fn task(name: String, measure: impl FnOnce() -> Result<Goal> + 'static) -> Task {
    Task { name, measure: Box::new(measure) }
}

/// Judges a comparison, or returns an unknown goal with the reason if there was nothing to compare
/// with.
fn judge<T>(goal: &str, compared: Result<T>, judge: impl FnOnce(T) -> Goal) -> Result<Goal> {
    Ok(match compared {
        Ok(compared) => judge(compared),
        Err(error) => Goal::unknown(goal, format!("{error:#}")),
    })
}

fn p50(measured: &Measured) -> f64 {
    small(measured, 0.5)
}

/// Returns a latency of the first kind of message.
fn small(measured: &Measured, share: f64) -> f64 {
    measured.tallies[0].1.quantile_us(share)
}
