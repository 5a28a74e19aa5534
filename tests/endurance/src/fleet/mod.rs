//! `cargo xtask fleet`: a fleet of TR-069 devices calls three servers behind a load balancer, while one
//! server is killed and another one restarted.
//!
//! | part | module |
//! |---|---|
//! | the devices and their messages | [`devices`] |
//! | their sessions, whose answers are checked | [`session`] |
//! | the processes, and their metrics | [`site`] |
//!
//! For each kind of affinity, every device makes a session in each round. In quiet rounds nothing may
//! be lost, and the servers' counters tell what affinity gains. Then servers are killed: requests may be
//! lost, but no answer may be wrong, and no session may be given up. At last servers are restarted, which
//! loses nothing.

mod devices;
mod session;
mod site;

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use deltasoap_load::{Target, runtime};
use deltasoap_test_support::Chance;
use devices::Device;
use serde::Serialize;
use session::{Cookies, Sessions};
use site::{Counts, SERVERS, Settings, Site};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::task::LocalSet;
use tokio::time::sleep;

/// A killed server is started again after this time, and the next trouble follows as much later.
const DOWN: Duration = Duration::from_secs(2);

/// A fleet of devices and three servers behind a load balancer
#[derive(Debug, Args)]
pub struct FleetArguments {
    /// The server: the program of `examples/fleet`
    #[arg(long, value_name = "PROGRAM", default_value = "target/release/example-fleet")]
    server: PathBuf,
    /// Envoy's program; without it, Envoy is left out
    #[arg(long, value_name = "PROGRAM")]
    envoy: Option<PathBuf>,
    /// Number of devices, each with an address of its own
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    devices: u32,
    /// Quiet rounds, in each of which every device makes a session; counters are those of the second half
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(2..))]
    rounds: u32,
    /// Sessions at one time
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    sessions: u32,
    /// MiB of earlier messages that each server keeps
    #[arg(long, default_value_t = 256, value_name = "MIB")]
    memory: u32,
    /// Kinds of affinity; all by default
    #[arg(long, value_enum, value_delimiter = ',')]
    affinity: Vec<Affinity>,
    /// How often a server is killed with SIGKILL
    #[arg(long, default_value_t = 1, value_name = "N")]
    kills: u32,
    /// How often a server is asked to stop and started again
    #[arg(long, default_value_t = 1, value_name = "N")]
    restarts: u32,
    /// Seed of the devices, their order, and which servers end
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// How devices come to servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Affinity {
    /// In turn: devices drop the load balancer's cookie after the session
    None,
    /// By the load balancer's cookie, which devices keep
    Cookie,
    /// By the address of the device
    Source,
    /// By the URL, which names the device
    Url,
    /// By the URL, through Envoy
    EnvoyUrl,
}

impl Affinity {
    const ALL: [Affinity; 5] = [Affinity::None, Affinity::Cookie, Affinity::Source, Affinity::Url, Affinity::EnvoyUrl];

    /// Returns the backend in `haproxy.cfg`.
    fn backend(self) -> &'static str {
        match self {
            Affinity::None | Affinity::Cookie => "by-cookie",
            Affinity::Source => "by-source",
            Affinity::Url | Affinity::EnvoyUrl => "by-url",
        }
    }
}

/// The result for a kind of affinity.
#[derive(Debug, Serialize)]
struct Measured {
    affinity: Affinity,
    /// Share of the bytes of `Inform`s that were skipped, for each quiet round.
    fast: Vec<f64>,
    /// Microseconds to decode an `Inform`, in the second half of the quiet rounds.
    decode_us: f64,
    /// Microseconds of the servers' processor time for each request, in that half.
    cpu_us: f64,
    /// Requests a second, in that half.
    rate: f64,
    /// Bytes of earlier messages that all servers keep, and memories dropped in that half.
    held: f64,
    evictions: f64,
    /// Resident bytes of the largest server, after the quiet rounds.
    resident: u64,
    /// Requests that were answered while nothing ended.
    quiet: u64,
    /// While servers were killed, and while others were restarted.
    killed: Troubled,
    restarted: Troubled,
    /// Share of skipped bytes in the round after the trouble.
    fast_after: f64,
    complaints: Vec<String>,
}

/// What happened while servers ended.
#[derive(Debug, Default, Serialize)]
struct Troubled {
    /// Requests that were answered, and what became of the others.
    answered: u64,
    lost: Vec<(String, u64)>,
    /// Sessions that were begun again, and came to their end.
    repeated: u64,
    /// Seconds from each server's end, or the wish for it, until it served again.
    seconds: Vec<f64>,
}

/// Runs everything; fails if anything was wrong.
///
/// # Errors
/// If the processes cannot be started or watched.
pub fn run(arguments: &FleetArguments) -> Result<ExitCode> {
    ensure!(arguments.server.exists(), "{} does not exist; build it first", arguments.server.display());
    let all = if arguments.affinity.is_empty() { &Affinity::ALL[..] } else { &arguments.affinity };
    let runtime = runtime()?;
    let mut measured = Vec::new();
    for affinity in all {
        if *affinity == Affinity::EnvoyUrl && arguments.envoy.is_none() {
            eprintln!("Envoy is left out: --envoy names its program");
            continue;
        }
        let one = runtime.block_on(LocalSet::new().run_until(measure(arguments, *affinity)))?;
        if !arguments.json {
            print!("{}", one.table());
        }
        measured.push(one);
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&measured)?);
    }
    let complaints = || measured.iter().flat_map(|one| one.complaints.iter().map(move |it| (one.affinity, it)));
    complaints().for_each(|(affinity, complaint)| eprintln!("error: {affinity:?}: {complaint}"));
    Ok(if complaints().next().is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn measure(arguments: &FleetArguments, affinity: Affinity) -> Result<Measured> {
    // Removed after the processes that write to it have ended.
    let folder = tempfile::tempdir()?;
    let settings = Settings {
        example: &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fleet"),
        program: &arguments.server,
        backend: affinity.backend(),
        memory: arguments.memory,
        envoy: arguments.envoy.as_deref().filter(|_| affinity == Affinity::EnvoyUrl),
    };
    let site = Rc::new(Site::start(&settings, folder.path())?);
    let fleet = Fleet::new(arguments, affinity, &site);
    let mut result = quiet(arguments, &fleet).await?;
    let mut chance = Chance::new(arguments.seed, u64::MAX);
    let mut some = |count| (0..count).map(|_| chance.below(SERVERS)).collect::<Vec<_>>();
    let (kills, restarts) = (some(arguments.kills), some(arguments.restarts));
    result.killed = trouble(&fleet, kills, true, &mut result.complaints).await?;
    result.restarted = trouble(&fleet, restarts, false, &mut result.complaints).await?;
    if !result.restarted.lost.is_empty() {
        let losses = result.restarted.losses();
        result.complaints.push(format!("requests were lost while servers were restarted: {losses}"));
    }
    result.fast_after = share(fleet.counted_round().await?.1);
    Ok(result)
}

/// Rounds in which no server ends.
async fn quiet(arguments: &FleetArguments, fleet: &Rc<Fleet>) -> Result<Measured> {
    let (mut fast, mut sessions) = (Vec::new(), Sessions::default());
    let mut at_half = None;
    for round in 0..arguments.rounds {
        if round == arguments.rounds / 2 {
            at_half = Some((fleet.site.counts().await?, Instant::now(), sessions.answered));
        }
        let (of_round, counts) = fleet.counted_round().await?;
        fast.push(share(counts));
        sessions.add(of_round);
    }
    let (before, begin, answered) = at_half.context("a second half")?;
    let counts = fleet.site.counts().await? - before;
    let requests = (sessions.answered - answered) as f64;
    let mut complaints = complaints(&sessions);
    if sessions.lost() > 0 {
        complaints.push(format!("requests were lost although no server ended: {:?}", sessions.lost));
    }
    Ok(Measured {
        affinity: fleet.affinity,
        fast,
        decode_us: 1e6 * counts.decode / counts.informs,
        cpu_us: 1e6 * counts.cpu / requests,
        rate: requests / begin.elapsed().as_secs_f64(),
        held: counts.held,
        evictions: counts.evictions,
        resident: fleet.site.resident().into_iter().max().unwrap_or(0),
        quiet: sessions.answered,
        killed: Troubled::default(),
        restarted: Troubled::default(),
        fast_after: 0.0,
        complaints,
    })
}

/// Rounds in which servers end: they are killed, or asked to stop.
async fn trouble(
    fleet: &Rc<Fleet>,
    servers: Vec<usize>,
    is_killed: bool,
    complained: &mut Vec<String>,
) -> Result<Troubled> {
    if servers.is_empty() {
        return Ok(Troubled::default());
    }
    let ending = tokio::task::spawn_local(end_servers(Rc::clone(&fleet.site), servers, is_killed));
    let mut sessions = Sessions::default();
    while !ending.is_finished() {
        sessions.add(fleet.round().await);
    }
    let seconds = ending.await.context("the servers' end")??;
    complained.extend(complaints(&sessions));
    let Sessions { answered, repeated, lost, .. } = sessions;
    Ok(Troubled { answered, lost: lost.into_iter().collect(), repeated, seconds })
}

/// Ends servers, one after the other, and starts them again. Returns how long each was away.
async fn end_servers(site: Rc<Site>, servers: Vec<usize>, is_killed: bool) -> Result<Vec<f64>> {
    let mut seconds = Vec::new();
    for server in servers {
        sleep(DOWN).await;
        let begin = Instant::now();
        if is_killed {
            site.kill(server)?;
            sleep(DOWN).await;
        }
        site.restart(server).await?;
        seconds.push(begin.elapsed().as_secs_f64());
    }
    // The load balancer must see that all are back.
    sleep(DOWN).await;
    Ok(seconds)
}

fn complaints(sessions: &Sessions) -> Vec<String> {
    let mut complaints: Vec<String> = sessions.wrong.iter().map(|it| format!("a wrong answer: {it}")).collect();
    if sessions.given_up > 0 {
        complaints.push(format!("{} sessions were given up", sessions.given_up));
    }
    complaints
}

fn share(counts: Counts) -> f64 {
    counts.fast / (counts.fast + counts.regular)
}

/// All devices.
struct Fleet {
    affinity: Affinity,
    site: Rc<Site>,
    host: String,
    at_once: usize,
    devices: Vec<Device>,
    state: RefCell<State>,
}

/// What changes from round to round.
struct State {
    chance: Chance,
    round: usize,
    /// The cookies of each device.
    cookies: Vec<Cookies>,
}

impl Fleet {
    fn new(arguments: &FleetArguments, affinity: Affinity, site: &Rc<Site>) -> Rc<Self> {
        let devices: Vec<Device> = (0..arguments.devices as usize).map(|it| Device::new(arguments.seed, it)).collect();
        let cookies = vec![Cookies::default(); devices.len()];
        let state = RefCell::new(State { chance: Chance::seeded(arguments.seed), round: 0, cookies });
        let (site, host) = (Rc::clone(site), site.address.to_string());
        Rc::new(Fleet { affinity, site, host, at_once: arguments.sessions as usize, devices, state })
    }

    /// Has every device make a session, in random order. Returns also what the servers counted.
    async fn counted_round(self: &Rc<Self>) -> Result<(Sessions, Counts)> {
        let before = self.site.counts().await?;
        let sessions = self.round().await;
        Ok((sessions, self.site.counts().await? - before))
    }

    /// Has every device make a session, in random order.
    async fn round(self: &Rc<Self>) -> Sessions {
        let order = Rc::new(RefCell::new(self.order()));
        let worker = |_| {
            let (fleet, order) = (Rc::clone(self), Rc::clone(&order));
            tokio::task::spawn_local(async move {
                let mut sessions = Sessions::default();
                loop {
                    let Some(number) = order.borrow_mut().pop() else { return sessions };
                    sessions.add(fleet.session(number).await);
                }
            })
        };
        let workers: Vec<_> = (0..self.at_once).map(worker).collect();
        let mut sessions = Sessions::default();
        for worker in workers {
            match worker.await {
                Ok(of_one) => sessions.add(of_one),
                Err(error) => sessions.wrong.push(error.to_string()),
            }
        }
        self.state.borrow_mut().round += 1;
        sessions
    }

    /// Returns the numbers of all devices in random order.
    fn order(&self) -> Vec<usize> {
        let mut numbers: Vec<usize> = (0..self.devices.len()).collect();
        let chance = &mut self.state.borrow_mut().chance;
        for last in (1..numbers.len()).rev() {
            numbers.swap(last, chance.between(0, last));
        }
        numbers
    }

    async fn session(&self, number: usize) -> Sessions {
        let device = &self.devices[number];
        let target = Target::plain(self.site.address).source(device.address());
        let (round, mut cookies) = {
            let state = self.state.borrow();
            (state.round, state.cookies[number].clone())
        };
        let sessions = session::make(device, &target, &self.host, round, &mut cookies).await;
        if self.affinity == Affinity::Cookie {
            self.state.borrow_mut().cookies[number] = cookies;
        }
        sessions
    }
}

impl Troubled {
    fn losses(&self) -> String {
        let losses: Vec<String> = self.lost.iter().map(|(what, count)| format!("{count} {what}")).collect();
        if losses.is_empty() { "none".to_owned() } else { losses.join(", ") }
    }
}

impl Measured {
    fn table(&self) -> String {
        let mut out = format!("{:?}\n", self.affinity);
        let mut line = |name: &str, text: String| out.push_str(&format!("  {name:<34} {text}\n"));
        let shares: Vec<String> = self.fast.iter().map(|share| format!("{:.1}", 100.0 * share)).collect();
        line("skipped bytes by round, %", shares.join(" "));
        line("decode, µs an Inform", format!("{:.1}", self.decode_us));
        line("servers' CPU, µs a request", format!("{:.1}", self.cpu_us));
        line("requests a second", format!("{:.0}", self.rate));
        line("kept by all servers, MB", format!("{:.1}, dropped {:.0}", self.held / 1e6, self.evictions));
        line("largest server, MB resident", (self.resident >> 20).to_string());
        line("answered", self.quiet.to_string());
        for (troubled, name) in [(&self.killed, "killed"), (&self.restarted, "restarted")] {
            if troubled.seconds.is_empty() {
                continue;
            }
            line(&format!("{name}: answered, lost"), format!("{}, {}", troubled.answered, troubled.losses()));
            line(&format!("{name}: sessions begun again"), troubled.repeated.to_string());
            let seconds: Vec<String> = troubled.seconds.iter().map(|seconds| format!("{seconds:.2}")).collect();
            line(&format!("{name}: away, s"), seconds.join(" "));
        }
        line("skipped bytes afterwards, %", format!("{:.1}", 100.0 * self.fast_after));
        out
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    /// The guide shows lines of the configuration that is tested.
    #[test]
    fn the_guide_shows_what_runs() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let read = |path: &str| fs::read_to_string(root.join(path)).expect(path);
        let (guide, config) = (read("docs/guide/src/fleets.md"), read("examples/fleet/haproxy.cfg"));
        let config: Vec<&str> = config.lines().map(str::trim).collect();
        let blocks: Vec<&str> = guide.split("```haproxy").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        let mut lines = blocks.iter().flat_map(|block| block.lines()).map(str::trim).filter(|line| !line.is_empty());
        assert!(blocks.len() >= 5);
        assert_eq!(lines.find(|line| !config.contains(line)), None);
    }
}
