//! Measures a job: all toolkits alternately, with a row for each, which has numbers or the reason
//! why there are none.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use deltasoap::engine::Differential;
use deltasoap_load::Arrivals;

use super::calls::{MODES, Mode, Setup};
use super::definition::{LoadDefinition, Operation, Similarity};
use super::group::{Effort, Group, Measured};
use super::growth::expected;
use super::jobs::{Job, Work};
use super::not_measured::NotMeasured;
use super::operations;
use super::row::{Layer, Row};
use super::servers::{Secrets, Servers, TRANSPORTS, TransportMode};
use super::toolkits::{Opened, Restarts, Toolkits};
use crate::definitions::Definitions;
use crate::encoded::SHARED;
use crate::engine::{Call, Session, prepare_shared};
use crate::load::generate::{self, Load, generate};
use crate::load::server::{OURS, Server};
use crate::send::{self, Case};
use crate::similar;
use crate::stream::Recipe;
use crate::workload::{Action, Workload};

/// The state of measuring.
pub struct Bench<'d> {
    definitions: &'d Definitions,
    toolkits: Toolkits,
    restarts: Restarts,
    effort: Effort,
    servers: Servers,
}

impl<'d> Bench<'d> {
    /// Creates it for toolkits that have been started; `peers` is the folder of built ones.
    ///
    /// # Errors
    /// When the path of this program is unknown.
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

    /// Sets the effort of the following measurements.
    pub fn set_effort(&mut self, effort: Effort) {
        self.effort = effort;
    }

    /// Measures a job; `before` are the rows so far.
    ///
    /// # Errors
    /// When something unrelated to the toolkits fails.
    pub fn measure(&mut self, job: &Job<'_>, before: &[Row]) -> Result<Vec<Row>> {
        match &job.work {
            Work::Process(workload, n) => Ok(self.process(job, before, workload, *n)),
            Work::Calls(operation, n) => self.calls(job, before, operation, *n),
            Work::Load(load) => self.load(job, load),
            Work::Transport(operation, n) => self.transport(job, before, operation, *n),
            Work::Decode(recipe, _) => Ok(self.decode(job, *recipe)),
            Work::Encode(case, _) => Ok(self.encode(job, case)),
            Work::Differential(operation, n, similarity) => self.differential(job, operation, *n, similarity),
        }
    }

    fn process(&mut self, job: &Job<'_>, before: &[Row], workload: &Workload, n: usize) -> Vec<Row> {
        let is_floor = matches!(workload.action, Action::Compare | Action::Copy);
        let (effort, subject, work) = (self.effort, job.subject(), format!("process/{}", workload.name));
        let toolkits = self.toolkits.all.iter_mut().filter(|toolkit| !is_floor || toolkit.name == OURS);
        let mut group = Group::default();
        for toolkit in toolkits {
            let layer = if is_floor { Layer::Floor } else { toolkit.layer };
            let name = if is_floor { workload.name.clone() } else { toolkit.name.clone() };
            let check = effort.ensure_in_time(expected(before, &work, &name, n));
            let check = check.and_then(|()| self.restarts.ensure_not_failed(&name, &work, n));
            let opened = check.and_then(|()| toolkit.open(workload, n));
            group.add(subject.row(&name, layer, Mode::Regular.name()), opened);
            if name == OURS {
                add_shared(&mut group, &subject, workload, n);
            }
        }
        let measured = group.measure(effort);
        self.restarted(measured, (&work, n))
    }

    /// Returns the rows, after restarting peers that failed at that work with `n` items.
    fn restarted(&mut self, measured: Measured, work: (&str, usize)) -> Vec<Row> {
        let done = measured.rows.iter().filter(|row| row.reason.is_none());
        done.for_each(|row| self.restarts.succeeded(&row.engine));
        for (engine, reason) in &measured.failed {
            if let Some(toolkit) = self.toolkits.all.iter_mut().find(|toolkit| toolkit.name == *engine) {
                self.restarts.restart(toolkit, self.definitions, work, reason);
                self.servers.forget(toolkit.server());
            }
        }
        measured.rows
    }

    fn calls(&mut self, job: &Job<'_>, before: &[Row], operation: &Operation, n: usize) -> Result<Vec<Row>> {
        let (effort, mut group) = (self.effort, Group::default());
        let transport = TransportMode::plain();
        let work = work_of(operation, &transport);
        self.open_calls(&mut group, (job, before), (operation, n), transport)?;
        let measured = group.measure(effort);
        Ok(self.restarted(measured, (&work, n)))
    }

    /// Returns a session for each SOAP toolkit whose client can call its server by the transport,
    /// and a reason for each other.
    fn open_calls<'s>(
        &'s mut self,
        group: &mut Group<'s>,
        (job, before): (&Job<'_>, &[Row]),
        (operation, n): (&Operation, usize),
        transport: TransportMode<'_>,
    ) -> Result<()> {
        let request = operations::request(operation, n, &Similarity::same())?;
        let (message, checksum) = request.with_context(|| format!("there are no items for {}", operation.name))?;
        let offers = self.toolkits.offers(&operation.name);
        let (subject, plain, work) =
            (job.subject(), work_of(operation, &TransportMode::plain()), work_of(operation, &transport));
        for toolkit in self.toolkits.all.iter_mut().filter(|toolkit| toolkit.layer == Layer::Soap) {
            let row = subject.row(&toolkit.name, toolkit.layer, transport.mode);
            let check = self.effort.ensure_in_time(expected(before, &plain, &toolkit.name, n));
            let check = check.and_then(|()| self.restarts.ensure_not_failed(&toolkit.name, &work, n));
            let server = check.and_then(|()| self.servers.of(toolkit, &operation.name, &offers, &transport));
            let opened = match server {
                Err(not_measured) => Err(not_measured),
                Ok(address) if toolkit.name == OURS => {
                    let roots = transport.secrets.filter(|_| transport.is_tls).map(|secrets| secrets.roots.clone());
                    let setup = Setup { is_gzip: transport.is_gzip, roots, ..Setup::new(address, Mode::Regular) };
                    ours(operation, n, &Similarity::same(), &setup)
                }
                Ok(server) => toolkit.open_call(&Call {
                    operation: &operation.name,
                    n,
                    message: &message,
                    checksum: &checksum,
                    server,
                    transport: transport.for_peer().as_ref(),
                }),
            };
            group.add(row, opened);
        }
        Ok(())
    }

    fn load(&mut self, job: &Job<'_>, load: &LoadDefinition) -> Result<Vec<Row>> {
        let (share, effort, subject) = (load.share()?, self.effort, job.subject());
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
                    .and_then(|server| loaded(&server, load_of, effort).map_err(|error| NotMeasured::failed(&error)));
                rows.push(with_load(row, measured.map_err(NotMeasured::reason)));
            }
        }
        Ok(rows)
    }

    /// Measures one transport after the other, since a toolkit's client does one thing at a time.
    fn transport(&mut self, job: &Job<'_>, before: &[Row], operation: &Operation, n: usize) -> Result<Vec<Row>> {
        let (secrets, effort, mut rows) = (Secrets::new()?, self.effort, Vec::new());
        for transport in TRANSPORTS {
            let transport = TransportMode { secrets: Some(&secrets), ..transport };
            let (work, mut group) = (work_of(operation, &transport), Group::default());
            self.open_calls(&mut group, (job, before), (operation, n), transport)?;
            let measured = group.measure(effort);
            rows.extend(self.restarted(measured, (&work, n)));
            self.servers.forget_all();
        }
        Ok(rows)
    }

    fn decode(&self, job: &Job<'_>, recipe: Recipe) -> Vec<Row> {
        let subject = job.subject();
        let measured = similar::run(recipe, Differential::default(), None, self.effort.sample_size, || ());
        match measured {
            Err(error) => vec![subject.row(OURS, Layer::Soap, "differential").with(Err(format!("{error:#}")))],
            Ok(outcome) => similar::MODES
                .into_iter()
                .map(|mode| row_of_mode(&subject, mode.name()).with(Ok(outcome.of(mode).clone())))
                .collect(),
        }
    }

    fn encode(&self, job: &Job<'_>, case: &Case) -> Vec<Row> {
        let subject = job.subject();
        match send::run(*case, &case.modes(), None, self.effort.sample_size, || ()) {
            Err(error) => vec![subject.row(OURS, Layer::Soap, "compared").with(Err(format!("{error:#}")))],
            Ok(outcome) => outcome
                .figures
                .into_iter()
                .map(|(mode, figures)| row_of_mode(&subject, mode.name()).with(Ok(figures)))
                .collect(),
        }
    }

    /// Measures our calls in all modes, and gSOAP's, whose messages are all the same.
    fn differential(
        &mut self,
        job: &Job<'_>,
        operation: &Operation,
        n: usize,
        similarity: &Similarity,
    ) -> Result<Vec<Row>> {
        let (effort, subject) = (self.effort, job.subject());
        let request = operations::request(operation, n, &Similarity::same())?;
        let (message, checksum) = request.with_context(|| format!("there are no items for {}", operation.name))?;
        let mut servers = Vec::new();
        let mut group = Group::default();
        for mode in MODES {
            let opened = self.servers.ours(mode).and_then(|server| {
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
            let opened = self.servers.of(toolkit, name, &offers, &TransportMode::plain());
            let opened = opened.and_then(|server| toolkit.open_call(&call(server)));
            group.add(row, opened);
        }
        let measured = group.measure(effort);
        Ok(self.restarted(measured, (&job.row, n)))
    }
}

/// Returns the name of an operation's calls, without the number of items.
fn work_of(operation: &Operation, transport: &TransportMode<'_>) -> String {
    let name = &operation.name;
    if transport.name == TransportMode::plain().name {
        format!("calls/{name}")
    } else {
        format!("calls/{name} {}", transport.name)
    }
}

/// Adds our row with shared values, if the workload has them.
fn add_shared(group: &mut Group<'_>, subject: &super::row::Subject<'_>, workload: &Workload, n: usize) {
    let opened = prepare_shared(workload, n).map_err(|error| NotMeasured::failed(&error)).transpose();
    if let Some(opened) = opened {
        group.add(subject.row(OURS, Layer::Soap, SHARED), opened.map(|session| session as Box<dyn Session>));
    }
}

/// The toolkit that differential calls are compared with.
const REFERENCE: &str = "gsoap";

/// Floors do not decode.
fn row_of_mode(subject: &super::row::Subject<'_>, mode: &str) -> Row {
    let layer = if mode.starts_with("floor") { Layer::Floor } else { Layer::Soap };
    subject.row(OURS, layer, mode)
}

impl Similarity {
    /// Returns a stream of equal messages.
    pub fn same() -> Self {
        Similarity { name: String::new(), changed: 0, clusters: 1, change: super::definition::Change::Values }
    }
}

/// Opens calls by our client.
fn ours<'a>(operation: &Operation, n: usize, similarity: &Similarity, setup: &Setup) -> Opened<'a> {
    let opened = operations::open(operation, n, similarity, setup).map_err(|error| NotMeasured::failed(&error))?;
    opened
        .map(|session| session as Box<dyn Session>)
        .ok_or_else(|| NotMeasured::Absent("there are no such items".to_owned()))
}

/// Loads a server until it is warmed up and its throughput is steady, then once more.
fn loaded(server: &Server, load: impl Fn(Duration) -> Load, effort: Effort) -> Result<generate::Measured> {
    let run = |time| generate(server.address, Some(server.pid), &load(time), |_| ());
    let (begin, mut rates) = (std::time::Instant::now(), Vec::new());
    while begin.elapsed() < effort.settle && (begin.elapsed() < server.warm_up || !is_steady(&rates)) {
        rates.push(run(effort.load / 2)?.throughput());
    }
    let measured = run(effort.load)?;
    ensure!(measured.served > 0, "no request was answered");
    ensure!(measured.failed() == 0, "requests failed: {}", measured.failures());
    Ok(measured)
}

/// Returns true if the last three rates are within five percent.
fn is_steady(rates: &[f64]) -> bool {
    let Some(last) = rates.len().checked_sub(3).map(|first| &rates[first..]) else { return false };
    let (low, high) = last.iter().fold((f64::MAX, 0.0_f64), |(low, high), rate| (low.min(*rate), high.max(*rate)));
    high - low <= low * 0.05
}

fn with_load(row: Row, measured: Result<generate::Measured, String>) -> Row {
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
}
