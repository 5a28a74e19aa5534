//! `paper`: the tables and figures of the papers on differential deserialization and serialization, drawn from our data.
//!
//! Beside our numbers stand only those that a paper prints, in its text or a table; they are data, in `bench/papers/`. Whether
//! the shape agrees is computed, by rules that stand beside the result.

mod dds;
mod ds;
pub mod exhibit;
mod lcp;
mod page;
pub mod plot;
mod points;
pub mod printed;
mod received;
pub mod scope;
mod section5;
mod sends;

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::engine::{Engine, Peer};
use crate::environment::Environment;
use crate::measure::{Plan, measure};
use crate::options::name;
use crate::report::{Counts, change};
use crate::run::peers_folder;
use crate::send::Case;
use crate::stream::{Kind, Recipe};
use crate::workload::Definitions;
use exhibit::{Exhibit, Verdict};
use points::{Points, Way};
use scope::Scope;
use sends::{Sender, Sends};

/// What to draw.
#[derive(Debug, clap::Args)]
pub struct PaperArguments {
    /// Leave out most of it: small arrays, few partitions, few runs
    #[arg(long)]
    pub quick: bool,
    /// Elements in an array (repeatable) [default: the papers']
    #[arg(long = "size", value_name = "N")]
    pub sizes: Vec<usize>,
    /// Print one JSON object a line instead of tables: measurements first, then verdicts
    #[arg(long)]
    pub json: bool,
    /// Write a page with plots
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Where built peers lie; figures show gSOAP and XSUL if they are built [default: .peers in the repository]
    #[arg(long, value_name = "FOLDER")]
    pub peers: Option<PathBuf>,
    /// A paper (repeatable) [default: all]
    #[arg(long = "paper", value_name = "PAPER")]
    pub papers: Vec<Title>,
}

/// A paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Title {
    /// Differential Deserialization for Optimized SOAP Performance
    Deserialization,
    /// Lightweight Checkpointing for Faster SOAP Deserialization
    Checkpointing,
    /// Differential Serialization for Optimized SOAP Performance
    Serialization,
}

impl PaperArguments {
    fn has(&self, title: Title) -> bool {
        self.papers.is_empty() || self.papers.contains(&title)
    }
}

/// Everything that was measured.
#[derive(Default)]
struct Data {
    /// Messages decoded.
    points: Points,
    /// Messages sent.
    sends: Sends,
    /// gSOAP's times of decoding.
    gsoap: PeerTimes,
}

/// Measures and draws.
///
/// # Errors
/// When a value is wrong, or the page cannot be written.
pub fn run(arguments: &PaperArguments, definitions: &Definitions) -> Result<ExitCode> {
    let environment = Environment::prepare();
    environment.warning().iter().for_each(|warning| eprintln!("{warning}"));
    let scope = Scope::new(arguments.quick, &arguments.sizes);
    let data = measured(arguments, definitions, &scope)?;
    let mut exhibits = draw(&data, arguments, &scope)?;
    if arguments.has(Title::Serialization) {
        exhibits.push(received::exhibit(scope.largest_sent().min(10_000), plan(arguments))?);
    }
    if let Some(file) = &arguments.html {
        let html = page::html(&exhibits, &environment.to_string())?;
        fs::write(file, html).with_context(|| format!("cannot write {}", file.display()))?;
        eprintln!("wrote {}", file.display());
    }
    if arguments.json {
        print_json(&data, &exhibits)?;
    } else {
        println!("{environment}\n");
        exhibits.iter().for_each(|exhibit| println!("{}", exhibit.text()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Milliseconds of a peer, by type and size.
type PeerTimes = HashMap<(Kind, usize), f64>;

fn draw(data: &Data, arguments: &PaperArguments, scope: &Scope) -> Result<Vec<Exhibit>> {
    let peer = |kind, n| data.gsoap.get(&(kind, n)).copied();
    let mut exhibits = Vec::new();
    if arguments.has(Title::Deserialization) {
        exhibits.extend(dds::exhibits(&data.points, scope, &peer)?);
    }
    if arguments.has(Title::Checkpointing) {
        exhibits.extend(lcp::exhibits(&data.points, scope)?);
    }
    if arguments.has(Title::Serialization) {
        exhibits.extend(ds::exhibits(&data.sends, scope)?);
    }
    Ok(exhibits)
}

fn plan(arguments: &PaperArguments) -> Plan {
    let time = if arguments.quick { Duration::ZERO } else { Duration::from_millis(20) };
    Plan { runs: if arguments.quick { 5 } else { 10 }, time }
}

/// Everything that the exhibits ask for.
fn measured(arguments: &PaperArguments, definitions: &Definitions, scope: &Scope) -> Result<Data> {
    let mut data = Data::default();
    draw(&data, arguments, scope)?;
    let folder = arguments.peers.clone().unwrap_or_else(peers_folder);
    let progress = ProgressBar::new((data.points.streams() + data.sends.cases()) as u64);
    progress.set_style(ProgressStyle::with_template("{bar:40} {pos} of {len} streams, {eta}")?);
    data.points.measure(plan(arguments), || progress.inc(1))?;
    data.sends.measure(plan(arguments), definitions, &folder, || progress.inc(1))?;
    progress.finish_and_clear();
    if arguments.has(Title::Deserialization) {
        data.gsoap = peer_times(arguments, definitions, &folder, scope)?;
    }
    Ok(data)
}

/// gSOAP's times for Figure 2; none if it is not built.
fn peer_times(
    arguments: &PaperArguments,
    definitions: &Definitions,
    folder: &Path,
    scope: &Scope,
) -> Result<PeerTimes> {
    let definition = definitions.peers.iter().find(|peer| peer.name == "gsoap");
    let Some(mut peer) = definition.and_then(|definition| Peer::start(definition, folder).ok()) else {
        return Ok(PeerTimes::new());
    };
    let mut times = PeerTimes::new();
    for (kind, workload) in [(Kind::Ints, "decode-ints"), (Kind::Easy, "decode-easy"), (Kind::Hard, "decode-hard")] {
        let workloads = definitions.select(&[workload.to_owned()])?.workloads;
        for &n in &scope.sizes {
            let figures = measure(&mut [peer.prepare(workloads[0], n)?], plan(arguments), || ())?;
            times.extend(figures.iter().map(|figures| ((kind, n), figures.ns_median as f64 / 1e6)));
        }
    }
    Ok(times)
}

/// Keys in the order in which they are written.
#[derive(Serialize)]
struct PointLine {
    values: String,
    n: usize,
    changed: u32,
    partitions: usize,
    policy: String,
    matcher: String,
    portion: u32,
    refinement: String,
    condition: String,
    ms: f64,
    counts: Option<CountsLine>,
}

#[derive(Serialize)]
struct CountsLine {
    regular_percent: f64,
    to_regular: f64,
    futile: f64,
    to_fast: f64,
    checkpoints: f64,
    memory: u64,
}

#[derive(Serialize)]
struct VerdictLine<'a> {
    paper: &'a str,
    exhibit: &'a str,
    #[serde(flatten)]
    verdict: &'a Verdict,
}

/// A message sent. Keys in the order in which they are written.
#[derive(Serialize)]
struct SentLine {
    sender: &'static str,
    values: String,
    n: usize,
    change: String,
    chunk: usize,
    ms: f64,
}

fn print_json(data: &Data, exhibits: &[Exhibit]) -> Result<()> {
    let mut out = io::stdout().lock();
    let mut all: Vec<_> = data.points.all().collect();
    all.sort_by_key(|(recipe, way, _)| (*recipe, *way));
    for (recipe, way, point) in all {
        let counts = point.counts.as_ref().map(|counts| counts_line(counts, point.regular_percent()));
        writeln!(out, "{}", serde_json::to_string(&point_line(recipe, way, point.ms, counts))?)?;
    }
    for (case, sender, ms) in data.sends.all() {
        writeln!(out, "{}", serde_json::to_string(&sent_line(&case, sender, ms))?)?;
    }
    for exhibit in exhibits {
        for verdict in &exhibit.verdicts {
            let line = VerdictLine { paper: &exhibit.paper, exhibit: exhibit.name, verdict };
            writeln!(out, "{}", serde_json::to_string(&line)?)?;
        }
    }
    Ok(out.flush()?)
}

fn sent_line(case: &Case, sender: Sender, ms: f64) -> SentLine {
    let sender = match sender {
        Sender::Ours(mode) => mode.name(),
        Sender::Peer(name) => name,
    };
    SentLine { sender, values: name(case.values), n: case.n, change: change(case), chunk: case.chunk, ms }
}

fn point_line(recipe: Recipe, way: Way, ms: f64, counts: Option<CountsLine>) -> PointLine {
    PointLine {
        values: format!("{:?}", recipe.kind).to_lowercase(),
        n: recipe.n,
        changed: recipe.percent,
        partitions: recipe.partitions,
        policy: name(way.policy),
        matcher: name(way.matcher),
        portion: way.portion,
        refinement: format!("{:?}", way.refinement).to_lowercase(),
        condition: format!("{:?}", way.condition).to_lowercase(),
        ms,
        counts,
    }
}

fn counts_line(counts: &Counts, regular_percent: f64) -> CountsLine {
    CountsLine {
        regular_percent,
        to_regular: counts.to_regular,
        futile: counts.futile,
        to_fast: counts.to_fast,
        checkpoints: counts.checkpoints,
        memory: counts.memory,
    }
}
