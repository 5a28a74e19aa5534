//! `suite`: the operations of the benchmark suite announced with *Toward Characterizing the
//! Performance of SOAP Toolkits*, for all toolkits on this machine, into a record and its report.
//!
//! [`definition`] reads what to measure, [`mod@jobs`] orders it, [`mod@bench`] measures it with
//! [`toolkits`] and their [`servers`], a [`group`] at a time, with the parts of the other commands;
//! [`growth`] predicts what would take too long, and [`not_measured`] is the reason for a missing
//! number. [`mod@record`] stores [`row`]s. [`operations`] are the messages, [`encoded`] those in
//! SOAP encoding, [`calls`] our client's calls, [`service`] our server. [`report`] creates the
//! report of a record, at once or later: numbers and their presentation are separate.

mod bench;
mod calls;
mod definition;
mod encoded;
mod group;
mod growth;
mod jobs;
mod not_measured;
mod operations;
mod record;
mod report;
mod row;
mod servers;
pub mod service;
mod toolkits;
mod values;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::definitions::{Definitions, peers_folder};
use crate::engine::Peer;
use crate::environment::Environment as Surroundings;
use crate::load::server;
use crate::progress::{Progress, Step};
use crate::record::{Record, SUITE};
use bench::Bench;
use definition::Definition;
use group::Effort;
use jobs::{Job, jobs};
use record::Rows;
use toolkits::Toolkits;

pub use definition::Scope;
pub use record::{EngineNote, Environment, read_environment, write_environment};
pub use report::exhibits;
pub use row::{Part, Row};

/// What to measure, and where to record it.
#[derive(Debug, clap::Args)]
pub struct SuiteArguments {
    /// Fewer sizes, streams and runs: some minutes
    #[arg(long, conflicts_with = "smoke")]
    quick: bool,
    /// The least that shows that everything works: some seconds
    #[arg(long)]
    smoke: bool,
    /// A part (repeatable) [default: all]
    #[arg(long = "part", value_name = "PART")]
    parts: Vec<Part>,
    /// A toolkit (repeatable) [default: all]
    #[arg(long = "engine", value_name = "NAME")]
    engines: Vec<String>,
    /// Have all clients call our server, to compare clients alone
    #[arg(long)]
    our_server: bool,
    /// Folder of built peers [default: .peers in the repository]
    #[arg(long, value_name = "FOLDER")]
    peers: Option<PathBuf>,
    /// Folder of the record [default: bench/record/MACHINE/DATE in the repository]
    #[arg(long, value_name = "FOLDER")]
    record: Option<PathBuf>,
    /// Resume an interrupted record, whose content is not measured again
    #[arg(long)]
    resume: bool,
    /// Measure nothing; write the report of that record again
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["resume", "record"])]
    report: Option<PathBuf>,
    /// File of that report [default: report.html beside the record]
    #[arg(long, value_name = "FILE", requires = "report")]
    html: Option<PathBuf>,
    /// Only print the short tables of that record, in Markdown
    #[arg(long, requires = "report", conflicts_with = "html")]
    markdown: bool,
    /// Let toolkits run on any core
    #[arg(long)]
    no_pin: bool,
}

/// File name of the report in the folder of a record.
const PAGE: &str = "report.html";

/// Measures, records and reports.
///
/// # Errors
/// When an argument has an unknown name, or the record cannot be written. A failing toolkit is not
/// an error but a row.
pub fn run(arguments: &SuiteArguments, definitions: &Definitions) -> Result<ExitCode> {
    if let Some(folder) = &arguments.report {
        let (environment, rows) = record::read(folder)?;
        if arguments.markdown {
            println!("{}", report::short(&environment, &rows)?.trim_end());
            return Ok(ExitCode::SUCCESS);
        }
        let page = arguments.html.clone().unwrap_or_else(|| folder.join(PAGE));
        report::write(&page, &environment, &rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (surroundings, is_pinned) = prepare_environment(arguments.no_pin)?;
    let folder = arguments.record.clone().unwrap_or_else(|| folder_of(&surroundings));
    let warning = surroundings.warning();
    warning.iter().for_each(|warning| eprintln!("{warning}"));
    let share = Share { name: "the suite", scope: arguments.scope(), parts: arguments.parts.clone() };
    let peers = arguments.peers.clone().unwrap_or_else(peers_folder);
    let mut suite = Suite::new(vec![share], arguments.engines.clone(), (definitions, peers), is_pinned)?;
    let mut record = Record::open(&folder, arguments.resume)?;
    let engines = suite.start_calling(arguments.our_server)?;
    let steps = suite.remaining_steps(&record)?;
    let mut progress = Progress::new(steps.iter().map(|(_, step)| step.seconds).sum(), None);
    let mut notes = Vec::new();
    for (share, step) in &steps {
        progress.begin(step);
        suite.measure(*share, &mut record, &progress)?;
        notes.extend(progress.end());
    }
    progress.finish();
    let environment = Environment {
        machine: surroundings.machine(),
        scope: format!("{:?}", arguments.scope()).to_lowercase(),
        parts: arguments.parts.clone(),
        engines,
        warning,
        steps: notes,
    };
    record.close()?;
    write_environment(&folder, &environment)?;
    let rows: Vec<Row> = record.all(SUITE);
    report::write(&folder.join(PAGE), &environment, &rows)?;
    Ok(if is_ours_whole(&rows) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Reads the environment, and pins this program and its children to the toolkits' core; returns
/// whether they have their own core.
///
/// # Errors
/// When the system does not allow it.
pub fn prepare_environment(no_pin: bool) -> Result<(Surroundings, bool)> {
    server::remember_cores();
    server::raise_file_limit();
    let is_pinned = !no_pin && std::thread::available_parallelism()?.get() > 1;
    let placement =
        if is_pinned { "clients and toolkits on the last core, servers on the others" } else { "not pinned to cores" };
    let surroundings = Surroundings::detect(placement.to_owned());
    // In this order: after pinning, there seems to be only one core.
    if is_pinned {
        server::pin_to_last()?;
    }
    Ok((surroundings, is_pinned))
}

/// Some parts of the suite in a scope.
#[derive(Debug, Clone)]
pub struct Share {
    /// The name, in the plan and above the progress bar.
    pub name: &'static str,
    /// The extent of its measurements.
    pub scope: Scope,
    /// The parts; all if empty.
    pub parts: Vec<Part>,
}

/// The suite during its measurement.
pub struct Suite<'d> {
    shares: Vec<Share>,
    engines: Vec<String>,
    definition: Definition,
    definitions: &'d Definitions,
    peers: PathBuf,
    is_pinned: bool,
    bench: Option<Bench<'d>>,
}

impl<'d> Suite<'d> {
    /// Creates the suite from its shares and the names of toolkits; all of them if there are no
    /// names. The folder is that of built peers.
    ///
    /// # Errors
    /// When the definition is malformed.
    pub fn new(
        shares: Vec<Share>,
        engines: Vec<String>,
        (definitions, peers): (&'d Definitions, PathBuf),
        is_pinned: bool,
    ) -> Result<Self> {
        let definition = Definition::load()?;
        Ok(Suite { shares, engines, definition, definitions, peers, is_pinned, bench: None })
    }

    /// Starts the toolkits; returns their notes for the record.
    ///
    /// # Errors
    /// When a name is unknown.
    pub fn start(&mut self) -> Result<Vec<EngineNote>> {
        self.start_calling(false)
    }

    /// Starts the toolkits like [`start`](Self::start), all of them as clients of our server if it
    /// is requested.
    ///
    /// # Errors
    /// When a name is unknown.
    fn start_calling(&mut self, is_ours: bool) -> Result<Vec<EngineNote>> {
        let mut toolkits = Toolkits::start(self.definitions, &self.engines, &self.peers)?;
        if is_ours {
            toolkits.call_ours()?;
        }
        let notes = toolkits.notes();
        let effort = Effort::for_scope(Scope::Smoke);
        self.bench = Some(Bench::new(self.definitions, toolkits, self.peers.clone(), effort, self.is_pinned)?);
        Ok(notes)
    }

    /// Returns the unfinished shares, by index.
    ///
    /// # Errors
    /// When the definition has an unknown name.
    pub fn remaining_steps(&self, record: &Record) -> Result<Vec<(usize, Step)>> {
        let mut steps = Vec::new();
        for (place, share) in self.shares.iter().enumerate() {
            let pieces = self.remaining_jobs(share, record)?.len();
            let seconds = pieces as f64 * self.present() as f64 * seconds_of(share.scope);
            steps.push((place, Step::new(share.name, pieces, seconds)));
        }
        steps.retain(|(_, step)| step.pieces > 0);
        Ok(steps)
    }

    /// Returns the number of toolkits that can be started, including ours.
    fn present(&self) -> usize {
        let is_asked = |name: &String| self.engines.is_empty() || self.engines.contains(name);
        let peers = self.definitions.peers.iter();
        1 + peers.filter(|peer| is_asked(&peer.name) && Peer::is_built(peer, &self.peers)).count()
    }

    /// Returns the names of all jobs.
    #[cfg(test)]
    pub fn keys(&self) -> Vec<String> {
        let jobs = self.shares.iter().map(|share| self.remaining_jobs(share, &Record::default()).unwrap());
        jobs.flatten().map(|job| job.row).collect()
    }

    fn remaining_jobs(&self, share: &Share, record: &Record) -> Result<Vec<Job<'_>>> {
        let mut jobs = jobs(&self.definition, self.definitions, share.scope, &share.parts)?;
        jobs.retain(|job| !record.has(&job.row));
        Ok(jobs)
    }

    /// Measures the rest of a share, into a record.
    ///
    /// # Errors
    /// When an argument has an unknown name, the record cannot be written, or the time is up. A
    /// failing toolkit is not an error but a row.
    pub fn measure(&mut self, share: usize, record: &mut Record, progress: &Progress) -> Result<()> {
        if self.bench.is_none() {
            self.start()?;
        }
        let mut bench = self.bench.take().context("no toolkits were started")?;
        let share = &self.shares[share];
        bench.set_effort(Effort::for_scope(share.scope));
        let remaining_jobs = self.remaining_jobs(share, record)?;
        let mut rows = Rows::new(record);
        for job in remaining_jobs {
            progress.check_time()?;
            let measured = bench.measure(&job, rows.rows()).with_context(|| job.row.clone())?;
            rows.append(&job.row, measured)?;
            progress.done();
        }
        self.bench = Some(bench);
        Ok(())
    }
}

/// Returns the approximate seconds per job and toolkit.
fn seconds_of(scope: Scope) -> f64 {
    match scope {
        Scope::Full => 1.3,
        Scope::Quick => 0.25,
        Scope::Smoke => 0.1,
    }
}

/// Returns our name and those of the toolkits that stand for the paper's.
///
/// # Errors
/// When the definition is malformed.
pub fn toolkits_of_the_paper() -> Result<Vec<String>> {
    let theirs = Definition::load()?.paper_toolkit.into_iter().map(|toolkit| toolkit.engine);
    Ok(std::iter::once(server::OURS.to_owned()).chain(theirs).collect())
}

impl SuiteArguments {
    fn scope(&self) -> Scope {
        match (self.quick, self.smoke) {
            (_, true) => Scope::Smoke,
            (true, _) => Scope::Quick,
            _ => Scope::Full,
        }
    }
}

/// Returns `bench/record/MACHINE/DATE` in the repository that this program was built in.
pub fn folder_of(surroundings: &Surroundings) -> PathBuf {
    let machine = surroundings.machine();
    let name = slug(&format!("{} {} cores", machine.processor, machine.cores));
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../record").join(name).join(machine.date)
}

/// Returns letters and digits in lower case, with everything else as hyphens.
fn slug(text: &str) -> String {
    let words: Vec<_> = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.join("-").to_lowercase()
}

/// Returns true if deltasoap has no failures.
pub fn is_ours_whole(rows: &[Row]) -> bool {
    let failed: Vec<_> = rows.iter().filter(|row| row.engine == server::OURS && row.reason.is_some()).collect();
    for row in &failed {
        eprintln!("{}, {}: {}", row.row, row.mode, row.reason.as_deref().unwrap_or_default());
    }
    failed.is_empty()
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn folders_have_plain_names() {
        assert_eq!(slug("AMD EPYC 7B13 (R), 2 cores"), "amd-epyc-7b13-r-2-cores");
    }
}
