//! Goals on servers under load: the cost of differential mode without similar messages, use of both
//! cores, memory per connection.
//!
//! Servers are separate processes, as in [`wire`](super::wire). Compared servers alternate, and
//! each round gives a ratio. The interval is that of the ratios' median.

use std::cell::OnceCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::goal::Goal;
use super::{Effort, Task};
use crate::definitions::peers_folder;
use crate::load::generate::{Load, Measured, generate, idle};
use crate::load::server::{self, Launch, OURS, REGULAR, Server};
use crate::statistics::{Interval, median_interval};

/// Connections that keep a server busy.
const BUSY: usize = 16;
/// Messages without similar ones.
const DISSIMILAR: [&str; 3] = ["echoDoubles:100", "sendDoubles:100", "sendStrings:1000"];
/// A 99 KB message; idle connections have sent one.
const LONG: &str = "sendInts:5900";
const IDLE: usize = 100;
/// Kilobytes that a connection kept before the limit.
const BEFORE: u32 = 235;
/// Kilobytes that it may keep: slightly more than the message.
const MAX_KILOBYTES: f64 = 130.0;

#[derive(Debug, Clone)]
struct Bench {
    folder: PathBuf,
    rounds: usize,
    time: Duration,
    warm_up: Duration,
    idle: usize,
}

/// Returns the goals. `peers` is the folder of built peers.
pub fn tasks(effort: Effort, peers: Option<PathBuf>) -> Vec<Task> {
    let folder = peers.unwrap_or_else(peers_folder);
    let (time, warm_up) = (Duration::from_millis(700), Duration::from_millis(300));
    let full = Bench { folder, rounds: 10, time, warm_up, idle: IDLE };
    let short = Duration::from_millis(50);
    let bench = match effort.is_quick {
        true => Bench { rounds: 1, time: short, warm_up: short, idle: 2, ..full },
        false => full,
    };
    let mut tasks: Vec<Task> = DISSIMILAR.map(|message| bench.dissimilar(message)).into();
    tasks.extend(bench.both_cores());
    tasks.push(bench.kept());
    tasks
}

/// Rounds of two servers.
type Rounds = Vec<[Measured; 2]>;

impl Bench {
    fn dissimilar(&self, message: &'static str) -> Task {
        let bench = self.clone();
        task(format!("real: load, {message}, all changed, default beside regular"), move || {
            let goal = "at least 0.98 × regular's requests a second";
            judge(goal, bench.rounds([OURS, REGULAR], message, true), |rounds| {
                let rate = interval(&rounds, Measured::throughput)?;
                let cpu = interval(&rounds, |measured| measured.cpu_us().unwrap_or(f64::NAN));
                let [ours, regular] = both(&rounds, Measured::throughput)?;
                let cpu = cpu.map_or_else(|_| String::new(), |cpu| format!(", processor time {:.3} ×", cpu.median));
                let detail = format!("{ours:.0} requests/s, regular {regular:.0}{cpu}");
                Ok(Goal::at_least(0.98, "× regular's requests a second", rate.median, detail).within(rate))
            })
        })
    }

    /// Generator and servers may use any core.
    fn both_cores(&self) -> [Task; 2] {
        let (bench, shared) = (self.clone(), Rc::new(OnceCell::new()));
        let (again, kept) = (bench.clone(), shared.clone());
        let name = |what| format!("real: echoVoid, {BUSY} connections, both cores, {what}, beside gSOAP");
        let median = task(name("median"), move || {
            judge("at most 1.2 × gSOAP", bench.void(&shared), |rounds| {
                let p50 = |measured: &Measured| measured.tallies[0].1.quantile_us(0.5);
                let [ours, gsoap] = both(rounds, p50)?;
                let detail = format!("{ours:.1} µs, gSOAP {gsoap:.1}");
                let times = interval(rounds, p50)?;
                Ok(Goal::at_most(1.2, "× gSOAP", times.median, detail).within(times))
            })
        });
        let rate = task(name("requests a second"), move || {
            judge("at least 1 × gSOAP", again.void(&kept), |rounds| {
                let [ours, gsoap] = both(rounds, Measured::throughput)?;
                let detail = format!("{ours:.0} requests/s, gSOAP {gsoap:.0}");
                let times = interval(rounds, Measured::throughput)?;
                Ok(Goal::at_least(1.0, "× gSOAP", times.median, detail).within(times))
            })
        });
        [median, rate]
    }

    /// Returns the rounds, measured once for both goals.
    fn void<'r>(&self, rounds: &'r OnceCell<Rounds>) -> Result<&'r Rounds> {
        if rounds.get().is_none() {
            let measured = self.rounds([OURS, "gsoap"], "echoVoid", false)?;
            // The cell was empty just before.
            let _ = rounds.set(measured);
        }
        rounds.get().context("nothing was measured")
    }

    /// Measures a server's memory per connection, with many connections that have sent one long
    /// message.
    fn kept(&self) -> Task {
        let bench = self.clone();
        task(format!("real: memory of an idle connection behind a message of 99 KB, was {BEFORE} KB"), move || {
            let of = |name: &str| -> Result<f64> {
                let server = bench.start(name, bench.idle * 2, true)?;
                let bytes = idle(server.address, server.pid, &LONG.parse()?, bench.idle)?;
                Ok(bytes / 1e3)
            };
            let goal = format!("at most {MAX_KILOBYTES} KB");
            judge(&goal, of(OURS).and_then(|ours| Ok((ours, of(REGULAR)?))), |(ours, regular)| {
                let gsoap = of("gsoap").map_or_else(|error| format!("{error:#}"), |gsoap| format!("{gsoap:.0}"));
                Ok(Goal::at_most(MAX_KILOBYTES, "KB", ours, format!("regular {regular:.0}, gSOAP {gsoap}")))
            })
        })
    }

    fn rounds(&self, names: [&str; 2], message: &str, is_pinned: bool) -> Result<Rounds> {
        let load = Load {
            shares: vec![message.parse()?],
            changed: 100,
            connections: BUSY,
            open: None,
            warm_up: self.warm_up,
            time: self.time,
            threads: 1,
        };
        let [one, other] = names.map(|name| self.start(name, BUSY, is_pinned));
        let servers = [one?, other?];
        let mut rounds = Vec::new();
        for round in 0..self.rounds {
            let measure = |place: usize| measure(&servers[place], &load, is_pinned);
            rounds.push(match round % 2 {
                0 => {
                    let first = measure(0)?;
                    [first, measure(1)?]
                }
                _ => {
                    let second = measure(1)?;
                    [measure(0)?, second]
                }
            });
        }
        Ok(rounds)
    }

    fn start(&self, name: &str, connections: usize, is_pinned: bool) -> Result<Server> {
        let launch = Launch {
            program: server::our_program()?,
            options: Vec::new(),
            peers: self.folder.clone(),
            connections: connections + 1,
            transport: None,
            is_pinned,
        };
        if is_pinned { launch.start(name) } else { server::on_all_cores(|| launch.start(name))? }
    }
}

fn measure(server: &Server, load: &Load, is_pinned: bool) -> Result<Measured> {
    let (address, pid) = (server.address, server.pid);
    let work = || generate(address, Some(pid), load, |_| ());
    let measured = if is_pinned { work() } else { server::on_all_cores(work)? }?;
    ensure!(measured.failed() == 0, "{} requests to {} failed", measured.failed(), server.name);
    Ok(measured)
}

fn task(name: String, measure: impl FnOnce() -> Result<Goal> + 'static) -> Task {
    Task { name, measure: Box::new(measure) }
}

/// Judges a comparison, or returns an unknown goal with the reason if there was nothing to compare
/// with.
fn judge<T>(goal: &str, compared: Result<T>, judge: impl FnOnce(T) -> Result<Goal>) -> Result<Goal> {
    compared.and_then(judge).or_else(|error| Ok(Goal::unknown(goal, format!("{error:#}"))))
}

/// Returns the interval of the ratio of the first server's number to the second's.
fn interval(rounds: &[[Measured; 2]], number: impl Fn(&Measured) -> f64) -> Result<Interval> {
    let ratios: Vec<f64> = rounds.iter().map(|[one, other]| number(one) / number(other)).collect();
    median_interval(&ratios)
}

/// Returns the medians of both servers' numbers.
fn both(rounds: &[[Measured; 2]], number: impl Fn(&Measured) -> f64) -> Result<[f64; 2]> {
    let of = |place: usize| median_interval(&rounds.iter().map(|pair| number(&pair[place])).collect::<Vec<_>>());
    Ok([of(0)?.median, of(1)?.median])
}
