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
use super::toolkits::{Offers, Opened, Restarts, Toolkit, Toolkits, outcome};
use crate::engine::{Call, Session, Transport};
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
            Scope::Quick => effort(5, 30, (100, 300), 300, 700),
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
            let is_failure = |reason: &&String| {
                !reason.contains("does not offer")
                    && !reason.contains("peer protocol")
                    && !reason.contains("not asked for")
            };
            let toolkit = self.toolkits.all.iter_mut().find(|toolkit| toolkit.name == row.engine);
            if let (Some(reason), Some(toolkit)) = (row.reason.as_ref().filter(is_failure), toolkit) {
                self.restarts.restart(toolkit, self.definitions, reason);
                self.servers.forget(toolkit.server());
            }
        }
    }

    fn calls(&mut self, step: &Step<'_>, operation: &Operation, n: usize) -> Result<Vec<Row>> {
        let (effort, mut group) = (self.effort, Group::default());
        self.open_calls(&mut group, step, (operation, n), Way::plain())?;
        let rows = group.measure(effort);
        self.restart(&rows);
        Ok(rows)
    }

    /// A session for each SOAP toolkit whose client can call its server that way, a reason for each other.
    fn open_calls<'s>(
        &'s mut self,
        group: &mut Group<'s>,
        step: &Step<'_>,
        (operation, n): (&Operation, usize),
        way: Way<'_>,
    ) -> Result<()> {
        let request = operations::request(operation, n, &Similarity::same())?;
        let (message, checksum) = request.with_context(|| format!("there are no items for {}", operation.name))?;
        let offers = self.toolkits.offers(&operation.name);
        let subject = step.subject();
        for toolkit in self.toolkits.all.iter_mut().filter(|toolkit| toolkit.layer == Layer::Soap) {
            let row = subject.row(&toolkit.name, toolkit.layer, way.mode);
            let opened = match self.servers.of(toolkit, &operation.name, &offers, &way) {
                Err(reason) => Err(reason),
                Ok(address) if toolkit.name == OURS => {
                    let roots = way.secrets.filter(|_| way.is_tls).map(|secrets| secrets.roots.clone());
                    let setup = Setup { is_gzip: way.is_gzip, roots, ..Setup::new(address, Mode::Regular) };
                    ours(operation, n, &Similarity::same(), &setup)
                }
                Ok(server) => toolkit.open_call(&Call {
                    operation: &operation.name,
                    n,
                    message: &message,
                    checksum: &checksum,
                    server,
                    transport: way.transport().as_ref(),
                }),
            };
            group.add(row, opened);
        }
        Ok(())
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

    /// Way by way, since a toolkit's client does one thing at a time.
    fn transport(&mut self, step: &Step<'_>, operation: &Operation, n: usize) -> Result<Vec<Row>> {
        let (secrets, effort, mut rows) = (Secrets::new()?, self.effort, Vec::new());
        for way in WAYS {
            let way = Way { secrets: Some(&secrets), ..way };
            let mut group = Group::default();
            self.open_calls(&mut group, step, (operation, n), way)?;
            let measured = group.measure(effort);
            self.restart(&measured);
            self.servers.forget_all();
            rows.extend(measured);
        }
        Ok(rows)
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
        let offers = self.toolkits.offers(&operation.name);
        if let Some(toolkit) = self.toolkits.all.iter_mut().find(|toolkit| toolkit.name == REFERENCE) {
            let row = subject.row(&toolkit.name, toolkit.layer, Mode::Regular.name());
            let name = &*operation.name;
            let call =
                |server| Call { operation: name, n, message: &message, checksum: &checksum, server, transport: None };
            let opened = self.servers.of(toolkit, name, &offers, &Way::plain());
            let opened = opened.and_then(|server| toolkit.open_call(&call(server)));
            group.add(row, opened);
        }
        let rows = group.measure(effort);
        self.restart(&rows);
        Ok(rows)
    }
}

/// The toolkit that differential calls are compared with.
const REFERENCE: &str = "gsoap";

/// How a client and its server speak to each other.
#[derive(Clone, Copy)]
struct Way<'s> {
    /// The name in rows.
    mode: &'static str,
    /// The name in the peer protocol.
    name: &'static str,
    is_gzip: bool,
    is_tls: bool,
    /// What TLS needs.
    secrets: Option<&'s Secrets>,
}

const WAYS: [Way<'_>; 4] = [
    Way { mode: "plain", name: "plain", is_gzip: false, is_tls: false, secrets: None },
    Way { mode: "gzip", name: "gzip", is_gzip: true, is_tls: false, secrets: None },
    Way { mode: "TLS", name: "tls", is_gzip: false, is_tls: true, secrets: None },
    Way { mode: "gzip and TLS", name: "gzip+tls", is_gzip: true, is_tls: true, secrets: None },
];

impl Way<'_> {
    /// As it is wherever transports are not of interest.
    fn plain() -> Self {
        Way { mode: Mode::Regular.name(), ..WAYS[0] }
    }

    /// What a peer is told; nothing where it cannot have been told anything else.
    fn transport(&self) -> Option<Transport> {
        let secrets = self.secrets?;
        Some(Transport { name: self.name, folder: secrets.folder.path().to_owned() })
    }

    /// The options of our server.
    fn options(&self) -> Vec<String> {
        let secrets = self.secrets.map_or_else(Vec::new, |secrets| secrets.options(self.is_gzip, self.is_tls));
        [options(Mode::Regular), secrets].concat()
    }
}

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
    fn of(&mut self, toolkit: &Toolkit, operation: &str, offers: &Offers, way: &Way<'_>) -> Result<SocketAddr, String> {
        toolkit.can_call(operation)?;
        toolkit.can_speak(way.name)?;
        let name = toolkit.server();
        let missing = || Err(format!("the server that its client calls, {name}, is not asked for"));
        offers.get(name).cloned().unwrap_or_else(missing)?;
        if !self.running.contains_key(name) {
            let launch = Launch { transport: way.transport(), ..self.launch(1, way.options()) };
            let server = launch.start(name).map_err(|error| format!("{error:#}"));
            self.running.insert(name.to_owned(), server);
        }
        match &self.running[name] {
            Ok(server) => Ok(server.address),
            Err(reason) => Err(reason.clone()),
        }
    }

    /// Ends the server of a toolkit, if there is one.
    fn forget(&mut self, name: &str) {
        self.running.remove(name);
    }

    /// Ends all of them.
    fn forget_all(&mut self) {
        self.running.clear();
    }

    /// A server that has served nobody yet.
    fn fresh(&self, toolkit: &Toolkit, load: &LoadDefinition, mode: Mode) -> Result<Server, String> {
        toolkit.offers(load.operation())?;
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
        Launch { program, options, peers, connections, transport: None, is_pinned: self.is_pinned }
    }
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
        let key = made.signing_key.serialize_pem();
        std::fs::write(folder.path().join("key.pem"), &key)?;
        std::fs::write(folder.path().join("identity.pem"), key + &certificate)?;
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

/// Loads a server as long as it wants to be warmed up and until it answers as many requests as before, then once more.
fn loaded(server: &Server, load: impl Fn(Duration) -> Load, effort: Effort) -> Result<Measured> {
    let run = |time| generate(server.address, Some(server.pid), &load(time), |_| ());
    let (begin, mut rates) = (std::time::Instant::now(), Vec::new());
    while begin.elapsed() < effort.settle && (begin.elapsed() < server.warm_up || !is_steady(&rates)) {
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
