//! `reproduce`: every table and figure of the five papers from our data, beside what the papers print, with a verdict on each claim.
//!
//! [`plan`] says what is measured and how long it takes; the commands `paper` and `suite` and the crate `deltasoap-cost` measure it, into one
//! [`Record`]: what is there is not measured again. [`mod@page`] and [`index`] make a page for people and a file for programs of a
//! record, and [`mod@check`] compares it with another one. [`mod@expected`] knows how claims come out that do not depend on the machine.

mod check;
mod cost;
mod expected;
mod index;
mod page;
mod plan;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use deltasoap_report::{Verdict, claim};

use crate::course::{Course, Paused, duration};
use crate::environment::{Environment as Surroundings, unoptimized};
use crate::record::{RESULTS, Record, SUITE, VERDICT};
use crate::run::peers_folder;
use crate::suite::{self, Environment, Row, read_environment, settle, write_environment};
use crate::workload::Definitions;
use index::{Index, Work};
use plan::{PAPERS, Plan};

/// What to reproduce, and where to record it.
#[derive(Debug, clap::Args)]
pub struct ReproduceArguments {
    /// Small messages, few repetitions, three toolkits: some minutes. Counts and bytes are the papers' all the same
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// Everything: some hours, which can be done in parts [default]
    #[arg(long)]
    full: bool,
    /// The folder of the record; what it has is not measured again [default: target/reproduce/quick or full in the repository]
    #[arg(long, value_name = "FOLDER")]
    record: Option<PathBuf>,
    /// Begin anew, whatever the record has
    #[arg(long)]
    fresh: bool,
    /// Pause after so many minutes, with exit code 3; the same command goes on
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    minutes: Option<u32>,
    /// A paper, 0 to 4 as in docs/papers.md (repeatable) [default: all]
    #[arg(long = "paper", value_name = "N", value_parser = clap::value_parser!(u8).range(0..PAPERS.len() as i64))]
    papers: Vec<u8>,
    /// Say how the outcomes compare with those of another record; exit code 1 if counts or bytes differ
    #[arg(long, value_name = "FOLDER")]
    check: Option<PathBuf>,
    /// Only say what would be measured, and how long it would take
    #[arg(long)]
    plan: bool,
    /// Print one JSON object a line: verdicts, then what is compared with another record
    #[arg(long)]
    json: bool,
    /// A toolkit to compare with (repeatable) [default: all; with --quick, gSOAP and node-soap]
    #[arg(long = "engine", value_name = "NAME")]
    engines: Vec<String>,
    /// Where built peers lie [default: .peers in the repository]
    #[arg(long, value_name = "FOLDER")]
    peers: Option<PathBuf>,
    /// Let toolkits run on any core
    #[arg(long)]
    no_pin: bool,
    /// Elements in an array (repeatable), for tests
    #[arg(long = "size", value_name = "N", hide = true)]
    sizes: Vec<usize>,
}

/// The page's name in the folder of a record.
const PAGE: &str = "report.html";

/// The exit code where the time was up.
const PAUSED: u8 = 3;

/// Measures, records, reports and compares.
///
/// # Errors
/// When the record is of another machine or program, cannot be written, or a value is wrong. A toolkit that fails is no error.
pub fn run(arguments: &ReproduceArguments, definitions: &Definitions) -> Result<ExitCode> {
    let folder = arguments.folder();
    if arguments.plan {
        let record = if arguments.fresh { Record::default() } else { Record::look(&folder) };
        show_plan(&Plan::new(arguments, (definitions, &folder, false), &record)?, &record)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (surroundings, is_pinned) = settle(arguments.no_pin)?;
    let warnings: Vec<String> = surroundings.warning().into_iter().chain(unoptimized()).collect();
    warnings.iter().for_each(|warning| eprintln!("{warning}"));
    let mut environment = begun(arguments, &folder, &surroundings)?;
    let mut record = Record::open(&folder, !arguments.fresh)?;
    let mut plan = Plan::new(arguments, (definitions, &folder, is_pinned), &record)?;
    if arguments.fresh {
        plan.forget()?;
    }
    show_plan(&plan, &record)?;
    environment.engines = plan.start(&record)?.unwrap_or(environment.engines);
    environment.warning = Some(warnings.join("; ")).filter(|text| !text.is_empty());
    write_environment(&folder, &environment)?;
    match measure(&mut plan, &mut record, arguments.minutes) {
        Err(error) if error.is::<Paused>() => {
            eprintln!("{error}");
            return Ok(ExitCode::from(PAUSED));
        }
        outcome => outcome?,
    }
    environment.steps = record.all(STEP);
    write_environment(&folder, &environment)?;
    let works = plan.draw(&record, &environment)?;
    let index = Index::new(&environment, works);
    write(&folder, &mut record, &index, &environment)?;
    let is_expected = report(&index, &folder, arguments.json)?;
    let is_whole = suite::is_ours_whole(&record.all::<Row>(SUITE));
    let is_alike = arguments.check.as_ref().map_or(Ok(true), |other| check::run(&index, other, arguments.json))?;
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
}

/// The kind of notes on steps.
const STEP: &str = "step";

/// What all measurements of the record have in common: as it was when the record was begun, if it can be gone on with.
fn begun(arguments: &ReproduceArguments, folder: &Path, surroundings: &Surroundings) -> Result<Environment> {
    let here = Environment {
        machine: surroundings.machine(),
        scope: arguments.scope().to_owned(),
        parts: vec![],
        engines: vec![],
        warning: None,
        steps: vec![],
    };
    if arguments.fresh || !folder.join(RESULTS).exists() {
        return Ok(here);
    }
    let known = read_environment(folder).with_context(|| format!("{ADVICE}{}", folder.display()))?;
    let (one, other) = (&known.machine, &here.machine);
    let pairs = [
        ("the scope", known.scope.clone(), here.scope.clone()),
        ("the processor", one.processor.clone(), other.processor.clone()),
        ("the number of cores", one.cores.to_string(), other.cores.to_string()),
        ("the program (its checksum)", one.program.clone(), other.program.clone()),
    ];
    for (what, there, here) in pairs {
        ensure!(there == here, "{ADVICE}{}: {what} was {there} and is {here}", folder.display());
    }
    Ok(known)
}

const ADVICE: &str = "cannot go on (--fresh begins anew) with the record in ";

fn show_plan(plan: &Plan<'_>, record: &Record) -> Result<()> {
    let legs = plan.legs(record)?;
    for (_, leg) in &legs {
        eprintln!("{:>8}  {}", duration(leg.seconds), leg.name);
    }
    let all = legs.iter().fold(0.0, |all, (_, leg)| all + leg.seconds);
    eprintln!("{:>8}  in all, about", duration(all));
    Ok(())
}

fn measure(plan: &mut Plan<'_>, record: &mut Record, minutes: Option<u32>) -> Result<()> {
    let legs = plan.legs(record)?;
    let most = minutes.map(|minutes| Duration::from_secs(60 * u64::from(minutes)));
    let mut course = Course::new(legs.iter().map(|(_, leg)| leg.seconds).sum(), most);
    for (stage, leg) in &legs {
        course.begin(leg);
        let outcome = plan.measure(*stage, record, &course);
        if let Some(note) = course.end() {
            record.append(STEP, &format!("{STEP}/{}", note.step), &[note])?;
        }
        outcome?;
    }
    course.finish();
    Ok(())
}

/// Writes everything that is made of a record.
fn write(folder: &Path, record: &mut Record, index: &Index<'_>, environment: &Environment) -> Result<()> {
    for verdict in index.verdicts() {
        record.append(VERDICT, &format!("{VERDICT}/{}/{}", verdict.claim.paper, verdict.claim.key), &[verdict])?;
    }
    record.close()?;
    index.write(folder)?;
    let html = page::html(index, environment, record.lines());
    fs::write(folder.join(PAGE), html).with_context(|| format!("cannot write {PAGE}"))
}

/// Prints the outcomes; says whether those that do not depend on the machine are as they should be.
fn report(index: &Index<'_>, folder: &Path, is_json: bool) -> Result<bool> {
    let verdicts: Vec<Verdict> = index.verdicts().cloned().collect();
    if is_json {
        for verdict in &verdicts {
            println!("{}", serde_json::to_string(verdict)?);
        }
    } else {
        println!("{}\n\n{}", claim::short(&verdicts).markdown(), claim::counts(&verdicts));
    }
    eprintln!("the report is {}", folder.join(PAGE).display());
    let surprises = expected::surprises(&verdicts)?;
    surprises.iter().for_each(|surprise| eprintln!("error: {surprise}"));
    Ok(surprises.is_empty())
}

/// What makes the times of a record doubtful.
fn doubts(environment: &Environment) -> Vec<String> {
    let most = |at: usize| if at == 0 { QUIET } else { QUIET + OWN };
    let steps = environment.steps.iter().enumerate();
    let busy: Vec<String> = steps
        .filter(|(at, note)| note.load_before > most(*at))
        .map(|(_, note)| format!("{} ({})", note.step, note.load_before))
        .collect();
    let busy = (!busy.is_empty())
        .then(|| format!("other programs ran before these steps, with the load in parentheses: {}", busy.join(", ")));
    environment.warning.clone().into_iter().chain(busy).collect()
}

/// The load of a machine that does nothing else.
const QUIET: f64 = 0.5;

/// What the step before leaves behind: this program, and a server.
const OWN: f64 = 2.0;

impl Work {
    /// The number of the paper, as in the titles of sections.
    fn number(&self) -> String {
        format!("{:03}", self.paper)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::StepNote;

    #[test]
    fn a_busy_machine_is_told_and_the_own_load_is_none() {
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/record");
        let known = Environment { warning: None, ..read_environment(&sample).unwrap() };
        let note = |load_before: f64| StepNote {
            step: "a step".to_owned(),
            date: "2026-01-31".to_owned(),
            seconds: 1.0,
            load_before,
            load_after: 1.0,
        };
        let doubts_of = |loads: &[f64]| {
            doubts(&Environment { steps: loads.iter().map(|load| note(*load)).collect(), ..known.clone() })
        };
        assert!(doubts_of(&[0.4, 1.9, 2.4]).is_empty());
        assert!(doubts_of(&[0.6, 1.9])[0].ends_with(": a step (0.6)"));
        assert!(doubts_of(&[0.4, 3.0])[0].ends_with(": a step (3)"));
    }
}
