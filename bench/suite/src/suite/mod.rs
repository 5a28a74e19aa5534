//! `suite`: the operations of the benchmark suite that was announced with *Toward Characterizing the Performance of SOAP Toolkits*,
//! over all toolkits that this machine has, into a record and its report.
//!
//! [`definition`] reads what there is to measure, [`mod@steps`] puts it in order, [`mod@bench`] measures it over [`toolkits`] and their
//! [`servers`], a [`group`] at a time, by means of the parts that the other commands have too; [`growth`] tells what would take too long, and
//! [`lack`] is why there is nothing to measure. [`record`] keeps [`row`]s. [`operations`] are the messages, [`encoded`] those in SOAP encoding, [`calls`] our client's calls, [`service`] our
//! server. [`report`] makes the report of a record, now or later: numbers and their presentation are apart.

mod bench;
mod calls;
mod definition;
mod encoded;
mod group;
mod growth;
mod lack;
mod operations;
mod record;
mod report;
mod row;
mod servers;
pub mod service;
mod steps;
mod toolkits;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};

use crate::environment::Environment as Surroundings;
use crate::load::server;
use crate::run::peers_folder;
use crate::workload::Definitions;
use bench::{Bench, Effort};
use definition::{Definition, Scope};
use record::{Environment, Record};
use row::{Part, Row};
use steps::{Step, steps};
use toolkits::Toolkits;

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
    /// Where built peers lie [default: .peers in the repository]
    #[arg(long, value_name = "FOLDER")]
    peers: Option<PathBuf>,
    /// The folder of the record [default: bench/record/MACHINE/DATE in the repository]
    #[arg(long, value_name = "FOLDER")]
    record: Option<PathBuf>,
    /// Go on with an interrupted record: what it has is not measured again
    #[arg(long)]
    resume: bool,
    /// Measure nothing: write the report of that record again
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["resume", "record"])]
    report: Option<PathBuf>,
    /// Where that report goes [default: report.html beside the record]
    #[arg(long, value_name = "FILE", requires = "report")]
    html: Option<PathBuf>,
    /// Only print the short tables of that record, in Markdown
    #[arg(long, requires = "report", conflicts_with = "html")]
    markdown: bool,
    /// Let toolkits run on any core
    #[arg(long)]
    no_pin: bool,
}

/// The report's name in the folder of a record.
const PAGE: &str = "report.html";

/// Measures, records and reports.
///
/// # Errors
/// When an argument names something unknown, or the record cannot be written. A toolkit that fails is no error, but a row.
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
    server::look_at_cores();
    server::raise_file_limit();
    let is_pinned = !arguments.no_pin && std::thread::available_parallelism()?.get() > 1;
    let placement =
        if is_pinned { "clients and toolkits on the last core, servers on the others" } else { "not pinned to cores" };
    let surroundings = Surroundings::look(placement.to_owned());
    // In this order: afterwards there seems to be one core.
    if is_pinned {
        server::pin_to_last()?;
    }
    let folder = arguments.record.clone().unwrap_or_else(|| folder_of(&surroundings));
    let (environment, rows) = measured(arguments, definitions, &surroundings, &folder, is_pinned)?;
    report::write(&folder.join(PAGE), &environment, &rows)?;
    Ok(if is_ours_whole(&rows) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn measured(
    arguments: &SuiteArguments,
    definitions: &Definitions,
    surroundings: &Surroundings,
    folder: &Path,
    is_pinned: bool,
) -> Result<(Environment, Vec<Row>)> {
    let warning = surroundings.warning();
    warning.iter().for_each(|warning| eprintln!("{warning}"));
    let (definition, scope) = (Definition::load()?, arguments.scope());
    let peers = arguments.peers.clone().unwrap_or_else(peers_folder);
    let toolkits = Toolkits::start(definitions, &arguments.engines, &peers)?;
    let mut bench = Bench::new(definitions, toolkits, peers, Effort::of(scope), is_pinned)?;
    let mut record = Record::open(folder, arguments.resume)?;
    all(&mut bench, &mut record, &steps(&definition, definitions, scope, &arguments.parts)?)?;
    let environment = Environment {
        machine: surroundings.machine(),
        scope: format!("{scope:?}").to_lowercase(),
        parts: arguments.parts.clone(),
        engines: bench.toolkits().notes(),
        warning,
    };
    let rows = record.close(&environment)?;
    Ok((environment, rows))
}

/// Does what has not been recorded yet.
fn all(bench: &mut Bench<'_>, record: &mut Record, steps: &[Step<'_>]) -> Result<()> {
    let left: Vec<_> = steps.iter().filter(|step| !record.has(&step.row)).collect();
    let progress = ProgressBar::new(left.len() as u64);
    progress.set_style(ProgressStyle::with_template("{msg:56!} {bar:30} {pos}/{len}, {eta} left")?);
    for step in left {
        progress.set_message(step.row.clone());
        let rows = bench.measure(step, record.rows()).with_context(|| step.row.clone())?;
        record.append(rows)?;
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(())
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

/// `bench/record/MACHINE/DATE` in the repository that this program was built in.
fn folder_of(surroundings: &Surroundings) -> PathBuf {
    let machine = surroundings.machine();
    let name = slug(&format!("{} {} cores", machine.processor, machine.cores));
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../record").join(name).join(machine.date)
}

/// Letters and digits in lower case, everything else a hyphen.
fn slug(text: &str) -> String {
    let words: Vec<_> = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.join("-").to_lowercase()
}

/// True if deltasoap did everything.
fn is_ours_whole(rows: &[Row]) -> bool {
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
