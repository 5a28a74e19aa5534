//! Measuring a piece of work: all toolkits by turns, and a row for each, with numbers or the reason why there are none.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use deltasoap::Differential;
use deltasoap::http::Roots;
use tempfile::TempDir;

use super::calls::{MODES, Mode, Setup};
use super::definition::{LoadDefinition, Operation, Scope, Similarity};
use super::operations;
use super::row::{Layer, Row};
use super::steps::{Step, Work};
use super::toolkits::{Opened, Restarts, Toolkit, Toolkits, outcome};
use crate::engine::{Call, Session};
use crate::load::generate::{Load, Measured, generate};
use crate::load::pace::Arrivals;
use crate::load::server::{Launch, OURS, Server};
use crate::measure::{Bounds, Figures, Plan, measure_each};
use crate::send::{self, Case};
use crate::similar;
use crate::stream::Recipe;
use crate::workload::{Action, Definitions, Workload};

/// How long is measured.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Runs and time of a session.
    pub plan: Plan,
    /// How long a session may take.
    pub bounds: Bounds,
    /// Time of a load.
    pub load: Duration,
    /// Warm-up of a server, at most.
    pub settle: Duration,
}

impl Effort {
    /// What a scope allows.
    pub fn of(scope: Scope) -> Self {
        let millis = Duration::from_millis;
        let effort = |runs, time, (warm_up, most), load, settle| Effort {
            plan: Plan { runs, time: millis(time) },
            bounds: Bounds { warm_up: millis(warm_up), runs: millis(most) },
            load: millis(load),
            settle: millis(settle),
        };
        match scope {
            Scope::Full => effort(15, 500, (5000, 30_000), 5000, 60_000),
            Scope::Quick => effort(5, 50, (250, 1000), 500, 1500),
            Scope::Smoke => effort(1, 0, (0, 1000), 100, 0),
        }
    }
}

/// Everything that measuring needs.
pub struct Bench<'d> {
    definitions: &'d Definitions,
    toolkits: Toolkits,
    restarts: Restarts,
    effort: Effort,
    servers: Servers,
}

impl<'d> Bench<'d> {
    /// For toolkits that have been started; `peers` is where built ones lie.
    ///
    /// # Errors
    /// When it is not known where this program is.
    pub fn new(
        definitions: &'d Definitions,
        toolkits: Toolkits,
        peers: PathBuf,
        effort: Effort,
        is_pinned: bool,
    ) -> Result<Self> {
        let servers = Servers::new(peers.clone(), is_pinned)?;
        Ok(Bench { definitions, toolkits, restarts: Restarts::new(peers), effort, servers })
    }

    /// The toolkits.
    pub fn toolkits(&self) -> &Toolkits {
        &self.toolkits
    }

    /// Measures a piece of work.
    ///
    /// # Errors
    /// When something fails that has nothing to do with any toolkit.
    pub fn measure(&mut self, step: &Step<'_>) -> Result<Vec<Row>> {
        match &step.work {
            Work::Process(workload, n) => Ok(self.process(step, workload, *n)),
            Work::Calls(operation, n) => self.calls(step, operation, *n),
            Work::Load(load) => self.load(step, load),
            Work::Transport(operation, n) => self.transport(step, operation, *n),
            Work::Decode(recipe, _) => Ok(self.decode(step, *recipe)),
            Work::Encode(case, _) => Ok(self.encode(step, case)),
            Work::Differential(operation, n, similarity) => self.differential(step, operation, *n, similarity),
        }
    }

    fn process(&mut self, step: &Step<'_>, workload: &Workload, n: usize) -> Vec<Row> {
        let is_floor = matches!(workload.action, Action::Compare | Action::Copy);
        let (effort, subject) = (self.effort, step.subject());
        let toolkits = self.toolkits.all.iter_mut().filter(|toolkit| !is_floor || toolkit.name == OURS);
        let mut group = Group::default();
        for toolkit in toolkits {
            let layer = if is_floor { Layer::Floor } else { toolkit.layer };
            let name = if is_floor { workload.name.clone() } else { toolkit.name.clone() };
            group.add(subject.row(&name, layer, Mode::Regular.name()), toolkit.open(workload, n));
        }
        let rows = group.measure(effort);
        self.restart(&rows);
        rows
    }

    /// Starts peers again that have failed.
    fn restart(&mut self, rows: &[Row]) {
        for row in rows {
            let is_failure = |reason: &&String| !reason.contains("does not offer") && !reason.contains("peer protocol");
            let toolkit = self.toolkits.all.iter_mut().find(|toolkit| toolkit.name == row.engine);
            if let (Some(reason), Some(toolkit)) = (row.reason.as_ref().filter(is_failure), toolkit) {
                self.restarts.restart(toolkit, self.definitions, reason);
                self.servers.forget(&row.engine);
            }
        }
    }

    fn calls(&mut self, step: &Step<'_>, operation: &Operation, n: usize) -> Result<Vec<Row>> {
        let (same, effort, subject) = (Similarity::same(), self.effort, step.subject());
        let request = operations::request(operation, n, &same)?;
        let (message, checksum) = request.with_context(|| format!("there are no items for {}", operation.name))?;
        let mut group = Group::default();
        for toolkit in self.toolkits.all.iter_mut().filter(|toolkit| toolkit.layer == Layer::Soap) {
            let row = subject.row(&toolkit.name, toolkit.layer, Mode::Regular.name());
            let opened = match self.servers.of(toolkit, &operation.name) {
                Err(reason) => Err(reason),
                Ok(address) if toolkit.name == OURS => ours(operation, n, &same, &Setup::new(address, Mode::Regular)),
                Ok(server) => toolkit.open_call(&Call {
                    operation: &operation.name,
                    n,
                    message: &message,
                    checksum: &checksum,
                    server,
                }),
            };
            group.add(row, opened);
        }
        let rows = group.measure(effort);
        self.restart(&rows);
        Ok(rows)
    }

    fn load(&mut self, step: &Step<'_>, load: &LoadDefinition) -> Result<Vec<Row>> {
        let (share, effort, subject) = (load.share()?, self.effort, step.subject());
        let load_of = |time| Load {
            shares: vec![share.clone()],
            changed: 100,
            connections: load.connections,
            open: load.rate.map(|rate| (rate, Arrivals::Poisson)),
            warm_up: Duration::ZERO,
            time,
            threads: 1,
        };
        let mut rows = Vec::new();
        for toolkit in self.toolkits.all.iter().filter(|toolkit| toolkit.layer == Layer::Soap) {
            let modes = if toolkit.name == OURS { &[Mode::Regular, Mode::Both][..] } else { &[Mode::Regular] };
            for &mode in modes {
                let row = subject.row(&toolkit.name, toolkit.layer, mode.name());
                let measured = self
                    .servers
                    .fresh(toolkit, load, mode)
                    .and_then(|server| loaded(&server, load_of, effort).map_err(|error| format!("{error:#}")));
                rows.push(with_load(row, measured));
            }
        }
        Ok(rows)
    }

    fn transport(&mut self, step: &Step<'_>, operation: &Operation, n: usize) -> Result<Vec<Row>> {
        let (effort, subject) = (self.effort, step.subject());
        let secrets = Secrets::new()?;
        let mut servers = Vec::new();
        let mut group = Group::default();
        for (name, is_gzip, is_tls) in TRANSPORTS {
            let row = subject.row(OURS, Layer::Soap, name);
            let options = secrets.options(is_gzip, is_tls);
            let opened = self.servers.ours(Mode::Regular, &options).and_then(|server| {
                let roots = is_tls.then(|| secrets.roots.clone());
                let setup = Setup { is_gzip, roots, ..Setup::new(server.address, Mode::Regular) };
                servers.push(server);
                ours(operation, n, &Similarity::same(), &setup)
            });
            group.add(row, opened);
        }
        let mut rows = group.measure(effort);
        rows.extend(self.others(|name, layer| subject.row(name, layer, "gzip, TLS"), NO_TRANSPORT));
        Ok(rows)
    }

    /// A row for each other SOAP toolkit, with a reason.
    fn others(&self, row: impl Fn(&str, Layer) -> Row, reason: &str) -> Vec<Row> {
        let others = self.toolkits.all.iter().filter(|toolkit| toolkit.layer == Layer::Soap && toolkit.name != OURS);
        others
            .map(|toolkit| {
                let reason = toolkit.missing().unwrap_or(reason);
                row(&toolkit.name, toolkit.layer).with(Err(reason.to_owned()))
            })
            .collect()
    }

    fn decode(&self, step: &Step<'_>, recipe: Recipe) -> Vec<Row> {
        let subject = step.subject();
        let measured = similar::run(recipe, Differential::default(), None, self.effort.plan, || ());
        match measured {
            Err(error) => vec![subject.row(OURS, Layer::Soap, "differential").with(Err(format!("{error:#}")))],
            Ok(outcome) => similar::MODES
                .into_iter()
                .map(|mode| row_of_mode(&subject, mode.name()).with(Ok(outcome.of(mode).clone())))
                .collect(),
        }
    }

    fn encode(&self, step: &Step<'_>, case: &Case) -> Vec<Row> {
        let subject = step.subject();
        match send::run(*case, &case.modes(), None, self.effort.plan, || ()) {
            Err(error) => vec![subject.row(OURS, Layer::Soap, "compared").with(Err(format!("{error:#}")))],
            Ok(outcome) => outcome
                .figures
                .into_iter()
                .map(|(mode, figures)| row_of_mode(&subject, mode.name()).with(Ok(figures)))
                .collect(),
        }
    }

    /// Our calls in all modes, and gSOAP's beside them, whose messages are the same each time.
    fn differential(
        &mut self,
        step: &Step<'_>,
        operation: &Operation,
        n: usize,
        similarity: &Similarity,
    ) -> Result<Vec<Row>> {
        let (effort, subject) = (self.effort, step.subject());
        let request = operations::request(operation, n, &Similarity::same())?;
        let (message, checksum) = request.with_context(|| format!("there are no items for {}", operation.name))?;
        let mut servers = Vec::new();
        let mut group = Group::default();
        for mode in MODES {
            let opened = self.servers.ours(mode, &[]).and_then(|server| {
                let setup = Setup::new(server.address, mode);
                servers.push(server);
                ours(operation, n, similarity, &setup)
            });
            group.add(subject.row(OURS, Layer::Soap, mode.name()), opened);
        }
        if let Some(toolkit) = self.toolkits.all.iter_mut().find(|toolkit| toolkit.name == REFERENCE) {
            let row = subject.row(&toolkit.name, toolkit.layer, Mode::Regular.name());
            let call = |server| Call { operation: &operation.name, n, message: &message, checksum: &checksum, server };
            let opened = self.servers.of(toolkit, &operation.name).and_then(|server| toolkit.open_call(&call(server)));
            group.add(row, opened);
        }
        let rows = group.measure(effort);
        self.restart(&rows);
        Ok(rows)
    }
}

/// The toolkit that differential calls are compared with.
const REFERENCE: &str = "gsoap";

/// Name, gzip, TLS.
const TRANSPORTS: [(&str, bool, bool); 4] =
    [("plain", false, false), ("gzip", true, false), ("TLS", false, true), ("gzip and TLS", true, true)];

const NO_TRANSPORT: &str = "the peer protocol has no requests for gzip and TLS";

/// Floors understand nothing.
fn row_of_mode(subject: &super::row::Subject<'_>, mode: &str) -> Row {
    let layer = if mode.starts_with("floor") { Layer::Floor } else { Layer::Soap };
    subject.row(OURS, layer, mode)
}

impl Similarity {
    /// Each message is the same.
    pub fn same() -> Self {
        Similarity { name: String::new(), changed: 0, clusters: 1, change: super::definition::Change::Values }
    }
}

/// Calls by our client.
fn ours<'a>(operation: &Operation, n: usize, similarity: &Similarity, setup: &Setup) -> Opened<'a> {
    let opened = operations::open(operation, n, similarity, setup).map_err(|error| format!("{error:#}"))?;
    opened.map(|session| session as Box<dyn Session>).ok_or_else(|| "there are no such items".to_owned())
}

/// Rows whose sessions take turns.
#[derive(Default)]
struct Group<'a> {
    rows: Vec<(Row, Option<String>)>,
    sessions: Vec<Box<dyn Session + 'a>>,
}

impl<'a> Group<'a> {
    fn add(&mut self, row: Row, opened: Opened<'a>) {
        match opened {
            Ok(session) => {
                self.rows.push((row, None));
                self.sessions.push(session);
            }
            Err(reason) => self.rows.push((row, Some(reason))),
        }
    }

    fn measure(mut self, effort: Effort) -> Vec<Row> {
        let mut figures = measure_each(&mut self.sessions, effort.plan, effort.bounds).into_iter();
        let mut next = || -> Result<Figures> { figures.next().context("not measured")? };
        self.rows.into_iter().map(|(row, reason)| row.with(reason.map_or_else(|| outcome(next()), Err))).collect()
    }
}

/// Servers, each a process of its own on the cores that the clients leave alone.
struct Servers {
    program: PathBuf,
    peers: PathBuf,
    is_pinned: bool,
    /// Those of the calls, by toolkit.
    running: HashMap<String, Result<Server, String>>,
}

impl Servers {
    fn new(peers: PathBuf, is_pinned: bool) -> Result<Self> {
        let program = std::env::current_exe().context("it is not known where this program is")?;
        Ok(Servers { program, peers, is_pinned, running: HashMap::new() })
    }

    /// Where the server of a toolkit listens that is called by its client, one connection at a time.
    fn of(&mut self, toolkit: &Toolkit, operation: &str) -> Result<SocketAddr, String> {
        toolkit.can_call(operation)?;
        offered(toolkit, operation)?;
        if !self.running.contains_key(&toolkit.name) {
            let server = self.launch(1, regular()).start(&toolkit.name).map_err(|error| format!("{error:#}"));
            self.running.insert(toolkit.name.clone(), server);
        }
        match &self.running[&toolkit.name] {
            Ok(server) => Ok(server.address),
            Err(reason) => Err(reason.clone()),
        }
    }

    /// Ends the server of a toolkit, if there is one.
    fn forget(&mut self, name: &str) {
        self.running.remove(name);
    }

    /// A server that has served nobody yet.
    fn fresh(&self, toolkit: &Toolkit, load: &LoadDefinition, mode: Mode) -> Result<Server, String> {
        offered(toolkit, load.operation())?;
        // One more, for the messages that are tried out.
        let launch = self.launch(load.connections + 1, options(mode));
        launch.start(&toolkit.name).map_err(|error| format!("{error:#}"))
    }

    /// A server of ours.
    fn ours(&self, mode: Mode, more: &[String]) -> Result<Server, String> {
        let options = [options(mode), more.to_vec()].concat();
        self.launch(1, options).start(OURS).map_err(|error| format!("{error:#}"))
    }

    fn launch(&self, connections: usize, options: Vec<String>) -> Launch {
        let (program, peers) = (self.program.clone(), self.peers.clone());
        Launch { program, options, peers, connections, is_pinned: self.is_pinned }
    }
}

/// An error where a toolkit's server does not have an operation.
fn offered(toolkit: &Toolkit, operation: &str) -> Result<(), String> {
    match (toolkit.missing(), toolkit.operations()) {
        (Some(reason), _) => Err(reason.to_owned()),
        (None, Some([])) => Err("its server has no part in the peer protocol".to_owned()),
        (None, Some(operations)) if !operations.iter().any(|known| known == operation) => {
            Err(format!("its server does not offer {operation}"))
        }
        _ => Ok(()),
    }
}

fn regular() -> Vec<String> {
    options(Mode::Regular)
}

fn options(mode: Mode) -> Vec<String> {
    vec!["--mode".to_owned(), crate::options::name(mode)]
}

/// A certificate for this machine, and who vouches for it: itself.
struct Secrets {
    folder: TempDir,
    roots: Roots,
}

impl Secrets {
    fn new() -> Result<Self> {
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()])?;
        let (folder, certificate) = (tempfile::tempdir()?, made.cert.pem());
        std::fs::write(folder.path().join("certificate.pem"), &certificate)?;
        std::fs::write(folder.path().join("key.pem"), made.signing_key.serialize_pem())?;
        Ok(Secrets { folder, roots: Roots::from_pem(certificate)? })
    }

    /// Our server's options.
    fn options(&self, is_gzip: bool, is_tls: bool) -> Vec<String> {
        let file = |name: &str| self.path(name).display().to_string();
        let mut options = if is_gzip { vec!["--gzip".to_owned()] } else { vec![] };
        if is_tls {
            options.extend(["--tls-cert".to_owned(), file("certificate.pem"), "--tls-key".to_owned(), file("key.pem")]);
        }
        options
    }

    fn path(&self, name: &str) -> PathBuf {
        Path::new(self.folder.path()).join(name)
    }
}

/// Loads a server until it answers as many requests as before, then once more.
fn loaded(server: &Server, load: impl Fn(Duration) -> Load, effort: Effort) -> Result<Measured> {
    let run = |time| generate(server.address, Some(server.pid), &load(time), |_| ());
    let (begin, mut rates) = (std::time::Instant::now(), Vec::new());
    while begin.elapsed() < effort.settle && !is_steady(&rates) {
        rates.push(run(effort.load / 2)?.throughput());
    }
    let measured = run(effort.load)?;
    ensure!(measured.served > 0, "no request was answered");
    ensure!(measured.failed() == 0, "{} requests failed", measured.failed());
    Ok(measured)
}

/// True if the last three rates lie within five per cent.
fn is_steady(rates: &[f64]) -> bool {
    let Some(last) = rates.len().checked_sub(3).map(|first| &rates[first..]) else { return false };
    let (low, high) = last.iter().fold((f64::MAX, 0.0_f64), |(low, high), rate| (low.min(*rate), high.max(*rate)));
    high - low <= low * 0.05
}

fn with_load(row: Row, measured: Result<Measured, String>) -> Row {
    let measured = match measured {
        Ok(measured) => measured,
        Err(reason) => return row.with(Err(reason)),
    };
    let ns = |share| measured.tallies.first().map(|(_, tally)| (tally.quantile_us(share) * 1e3) as u64);
    Row {
        runs: measured.tallies.first().map(|(_, tally)| tally.latencies.len()),
        ns_median: ns(0.5),
        ns_p99: ns(0.99),
        ns_p999: ns(0.999),
        per_second: Some(measured.throughput().round()),
        cpu_us: measured.cpu_us().map(|us| (us * 10.0).round() / 10.0),
        peak_bytes: measured.usage.map(|[_, after]| after.peak),
        ..row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_steady_when_it_stays() {
        assert!(!is_steady(&[100.0, 100.0]) && is_steady(&[10.0, 100.0, 103.0, 101.0]));
        assert!(!is_steady(&[100.0, 103.0, 110.0]));
    }

    #[test]
    fn transports_have_their_options() {
        let secrets = Secrets::new().unwrap();
        assert!(secrets.options(false, false).is_empty());
        assert_eq!(secrets.options(true, true).len(), 5);
    }
}
