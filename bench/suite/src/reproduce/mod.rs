//! `reproduce`: every table and figure of the five papers from our data, beside what the papers
//! print, with a verdict on each claim.
//!
//! [`plan`] defines what is measured and how long it takes; the commands `paper` and `suite` and
//! the crate `deltasoap-cost` measure it, into one [`Record`], whose content is not measured again.
//! [`mod@page`] and [`index`] turn a record into a page for people and a file for programs, and
//! [`mod@check`] compares it with another one. [`mod@expected`] knows the outcomes of claims that
//! do not depend on the machine, and [`mod@session`] decides what can be added to a record.

mod check;
mod cost;
mod expected;
mod index;
mod page;
mod plan;
mod session;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use deltasoap_report::{Verdict, claim};

use crate::definitions::{Definitions, peers_folder};
use crate::environment::{Environment as Surroundings, unoptimized};
use crate::progress::{Paused, Progress, duration};
use crate::record::{RESULTS, Record, SUITE, VERDICT};
use crate::suite::{self, Environment, Row, prepare_environment, write_environment};
use check::OtherRecord;
use index::{Index, PAPERS, Work};
use plan::{Plan, drawable};
use session::Session;

/// What to reproduce, and where to record it.
#[derive(Debug, Clone, clap::Args)]
pub struct ReproduceArguments {
    /// Small messages, few repetitions, three toolkits: some minutes. Claims about counts and bytes
    /// are judged nevertheless
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// The papers' sizes: an hour or two, which can be split (the default)
    #[arg(long)]
    full: bool,
    /// Folder of the record, whose content is not measured again [default: target/reproduce/quick
    /// or full in the repository]
    #[arg(long, value_name = "FOLDER")]
    record: Option<PathBuf>,
    /// Start over, ignoring the record's content
    #[arg(long)]
    fresh: bool,
    /// Add rows to the record of another program, or of other toolkits; the report notes it
    #[arg(long, conflicts_with = "fresh")]
    mixed: bool,
    /// Pause after this many minutes, with exit code 3; the same command resumes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    minutes: Option<u32>,
    /// A paper, 0 to 4 as in docs/papers.md (repeatable) [default: all]
    #[arg(long = "paper", value_name = "N", value_parser = clap::value_parser!(u8).range(0..PAPERS.len() as i64))]
    papers: Vec<u8>,
    /// Compare the outcomes with those of another record; exit code 1 if counts or bytes differ, or
    /// none can be compared
    #[arg(long, value_name = "FOLDER")]
    check: Option<PathBuf>,
    /// Only print what would be measured, and how long it would take
    #[arg(long)]
    plan: bool,
    /// Print one JSON object per line: verdicts, then the comparison with another record
    #[arg(long)]
    json: bool,
    /// A toolkit to compare with (repeatable) [default: those of the paper; with --quick, gSOAP and
    /// node-soap]
    #[arg(long = "engine", value_name = "NAME")]
    engines: Vec<String>,
    /// Folder of built peers [default: .peers in the repository]
    #[arg(long, value_name = "FOLDER")]
    peers: Option<PathBuf>,
    /// Let toolkits run on any core
    #[arg(long)]
    no_pin: bool,
    /// Number of elements in an array (repeatable), for tests
    #[arg(long = "size", value_name = "N", hide = true)]
    sizes: Vec<usize>,
}

/// File name of the page.
const PAGE: &str = "report.html";

/// The exit code when the time is up.
const PAUSED: u8 = 3;

/// Measures, records, reports and compares.
///
/// # Errors
/// When the record is of another machine or program or cannot be written, or a value is wrong. A
/// failing toolkit is not an error.
pub fn run(arguments: &ReproduceArguments, definitions: &Definitions) -> Result<ExitCode> {
    let folder = arguments.folder();
    if arguments.plan {
        let record = arguments.known(definitions)?;
        show_plan(&Plan::new(arguments, (definitions, &folder, false), &record)?, &record)?;
        return Ok(ExitCode::SUCCESS);
    }
    ensure_another(arguments.check.as_deref(), &folder)?;
    let other = arguments.check.as_deref().map(OtherRecord::read).transpose()?;
    let (surroundings, is_pinned) = prepare_environment(arguments.no_pin)?;
    let mut session = arguments.session(definitions, &surroundings)?;
    let has_results = folder.join(RESULTS).exists();
    let mut record = Record::open(&folder, !arguments.is_new())?;
    // An existing but empty result file is that of a session that was killed in its first
    // calibration.
    if arguments.fresh || !has_results {
        cost::forget(&folder)?;
    }
    let forgotten = session::forget_missing(&mut record, definitions, &arguments.peers())?;
    if forgotten > 0 {
        eprintln!("a toolkit that was missing in {forgotten} jobs is now available: they are measured again");
    }
    let mut plan = Plan::new(arguments, (definitions, &folder, is_pinned), &record)?;
    show_plan(&plan, &record)?;
    if !plan.remaining_steps(&record)?.is_empty() {
        plan.start(&record)?.into_iter().for_each(|engines| session.note_engines(engines));
        session.admit(arguments.mixed, &folder)?;
        surroundings.warning().into_iter().chain(unoptimized()).for_each(|warning| {
            eprintln!("{warning}");
            session.warn(&warning);
        });
    }
    let mut environment = session.environment;
    write_environment(&folder, &environment)?;
    let outcome = measure(&mut plan, &mut record, arguments.minutes);
    environment.steps = record.all(STEP);
    write_environment(&folder, &environment)?;
    match outcome {
        Err(error) if error.is::<Paused>() => {
            eprintln!("{error}");
            return Ok(ExitCode::from(PAUSED));
        }
        outcome => outcome?,
    }
    conclude(arguments, definitions, &mut record, (&environment, other))
}

/// Rejects a comparison of a record with itself.
fn ensure_another(other: Option<&Path>, folder: &Path) -> Result<()> {
    let is_same = |other: &Path| matches!((other.canonicalize(), folder.canonicalize()), (Ok(a), Ok(b)) if a == b);
    ensure!(!other.is_some_and(is_same), "--check needs a record other than {}", folder.display());
    Ok(())
}

/// Draws, reports and compares a record.
fn conclude(
    arguments: &ReproduceArguments,
    definitions: &Definitions,
    record: &mut Record,
    (environment, other): (&Environment, Option<OtherRecord>),
) -> Result<ExitCode> {
    let folder = arguments.folder();
    let papers = drawable(arguments, (definitions, &folder), record)?;
    let whole = Plan::new(&ReproduceArguments { papers, ..arguments.clone() }, (definitions, &folder, false), record)?;
    let index = Index::new(environment, whole.draw(record, environment)?);
    write(&folder, record, &index, environment)?;
    let is_expected = report(&index, &folder, arguments)?;
    let is_whole = suite::is_ours_whole(&record.all::<Row>(SUITE));
    let is_alike = other.map_or(Ok(true), |other| other.compare(&index, arguments.json))?;
    Ok(if is_expected && is_whole && is_alike { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl ReproduceArguments {
    fn folder(&self) -> PathBuf {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        self.record.clone().unwrap_or_else(|| root.join("target/reproduce").join(self.scope()))
    }

    fn scope(&self) -> &'static str {
        if self.quick { "quick" } else { "full" }
    }

    fn has(&self, paper: usize) -> bool {
        self.papers.is_empty() || self.papers.iter().any(|asked| usize::from(*asked) == paper)
    }

    fn peers(&self) -> PathBuf {
        self.peers.clone().unwrap_or_else(peers_folder)
    }

    /// Returns true if there is nothing to resume, or the user starts over.
    fn is_new(&self) -> bool {
        let results = fs::metadata(self.folder().join(RESULTS));
        // An unreadable record is no reason to start over.
        let is_missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        self.fresh || results.map_or_else(|error| is_missing(&error), |file| file.len() == 0)
    }

    /// Returns the record, whose content need not be measured.
    fn known(&self, definitions: &Definitions) -> Result<Record> {
        let mut record = if self.is_new() { Record::default() } else { Record::load(&self.folder())? };
        session::forget_missing(&mut record, definitions, &self.peers())?;
        Ok(record)
    }

    /// Returns this session. One that adds rows must match the earlier ones; one that only draws
    /// need not.
    fn session(&self, definitions: &Definitions, surroundings: &Surroundings) -> Result<Session> {
        let (folder, first) = (self.folder(), Session::first(surroundings, self.scope()));
        if self.is_new() {
            return Ok(first);
        }
        let mut session = Session::another(first, &folder)?;
        let record = self.known(definitions)?;
        if !Plan::new(self, (definitions, &folder, false), &record)?.remaining_steps(&record)?.is_empty() {
            session.admit(self.mixed, &folder)?;
        }
        Ok(session)
    }
}

/// The kind of notes on steps.
const STEP: &str = "step";

fn show_plan(plan: &Plan<'_>, record: &Record) -> Result<()> {
    let steps = plan.remaining_steps(record)?;
    for (_, step) in &steps {
        eprintln!("{:>8}  {}", duration(step.seconds), step.name);
    }
    let all = steps.iter().fold(0.0, |all, (_, step)| all + step.seconds);
    eprintln!("{:>8}  in all, about", duration(all));
    Ok(())
}

fn measure(plan: &mut Plan<'_>, record: &mut Record, minutes: Option<u32>) -> Result<()> {
    let steps = plan.remaining_steps(record)?;
    let most = minutes.map(|minutes| Duration::from_secs(60 * u64::from(minutes)));
    let mut progress = Progress::new(steps.iter().map(|(_, step)| step.seconds).sum(), most);
    for (stage, step) in &steps {
        progress.begin(step);
        let outcome = plan.measure(*stage, record, &progress);
        if let Some(note) = progress.end() {
            record.append(STEP, &format!("{STEP}/{}", note.step), &[note])?;
        }
        outcome.inspect_err(|_| progress.finish())?;
    }
    progress.finish();
    Ok(())
}

/// Writes all files derived from a record.
fn write(folder: &Path, record: &mut Record, index: &Index<'_>, environment: &Environment) -> Result<()> {
    for verdict in index.verdicts() {
        record.append(VERDICT, &format!("{VERDICT}/{}/{}", verdict.claim.paper, verdict.claim.key), &[verdict])?;
    }
    record.close()?;
    index.write(folder)?;
    let html = page::html(index, environment, record.lines());
    fs::write(folder.join(PAGE), html).with_context(|| format!("cannot write {PAGE}"))
}

/// Prints the outcomes; returns true if those that do not depend on the machine are as expected.
fn report(index: &Index<'_>, folder: &Path, arguments: &ReproduceArguments) -> Result<bool> {
    let verdicts: Vec<Verdict> = index.verdicts().cloned().collect();
    if arguments.json {
        for verdict in &verdicts {
            println!("{}", serde_json::to_string(verdict)?);
        }
    } else {
        println!("{}\n\n{}", claim::short(&verdicts).markdown(), claim::counts(&verdicts));
    }
    eprintln!("the report is {}", folder.join(PAGE).display());
    let surprises = expected::surprises(&verdicts, arguments.sizes.is_empty())?;
    surprises.iter().for_each(|surprise| eprintln!("error: {surprise}"));
    Ok(surprises.is_empty())
}

impl Work {
    /// Returns the number of the paper, as in section titles.
    fn number(&self) -> String {
        format!("{:03}", self.paper)
    }
}
