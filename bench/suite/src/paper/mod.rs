//! `paper`: the tables and figures of the two papers on differential deserialization, drawn from our data.
//!
//! Beside our numbers stand only those that a paper prints, in its text or a table; they are data, in `bench/papers/`. Whether
//! the shape agrees is computed, by rules that stand beside the result.

mod dds;
mod exhibit;
mod lcp;
mod page;
mod plot;
mod points;
mod printed;
mod scope;

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::engine::{Engine, Peer};
use crate::environment::Environment;
use crate::measure::{Plan, measure};
use crate::options::name;
use crate::report::Counts;
use crate::run::peers_folder;
use crate::stream::{Kind, Recipe};
use crate::workload::Definitions;
use exhibit::{Exhibit, Verdict};
use points::{Points, Way};
use scope::Scope;

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
    /// Where built peers lie; Figure 2 shows gSOAP if it is built [default: .peers in the repository]
    #[arg(long, value_name = "FOLDER")]
    pub peers: Option<PathBuf>,
}

/// Measures and draws.
///
/// # Errors
/// When a value is wrong, or the page cannot be written.
pub fn run(arguments: &PaperArguments, definitions: &Definitions) -> Result<ExitCode> {
    let environment = Environment::prepare();
    environment.warning().iter().for_each(|warning| eprintln!("{warning}"));
    let scope = Scope::new(arguments.quick, &arguments.sizes);
    let gsoap = peer_times(arguments, definitions, &scope)?;
    let points = measured(arguments, &scope)?;
    let exhibits = draw(&points, &scope, &gsoap)?;
    if let Some(file) = &arguments.html {
        let html = page::html(&exhibits, &environment.to_string())?;
        fs::write(file, html).with_context(|| format!("cannot write {}", file.display()))?;
        eprintln!("wrote {}", file.display());
    }
    if arguments.json {
        print_json(&points, &exhibits)?;
    } else {
        println!("{environment}\n");
        exhibits.iter().for_each(|exhibit| println!("{}", exhibit.text()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Milliseconds of a peer, by type and size.
type PeerTimes = HashMap<(Kind, usize), f64>;

fn draw(points: &Points, scope: &Scope, gsoap: &PeerTimes) -> Result<Vec<Exhibit>> {
    let peer = |kind, n| gsoap.get(&(kind, n)).copied();
    let mut exhibits = dds::exhibits(points, scope, &peer)?;
    exhibits.extend(lcp::exhibits(points, scope)?);
    Ok(exhibits)
}

fn plan(arguments: &PaperArguments) -> Plan {
    let time = if arguments.quick { Duration::ZERO } else { Duration::from_millis(20) };
    Plan { runs: if arguments.quick { 5 } else { 10 }, time }
}

/// Everything that the exhibits ask for.
fn measured(arguments: &PaperArguments, scope: &Scope) -> Result<Points> {
    let mut points = Points::default();
    draw(&points, scope, &PeerTimes::new())?;
    let progress = ProgressBar::new(points.streams() as u64);
    progress.set_style(ProgressStyle::with_template("{bar:40} {pos} of {len} streams, {eta}")?);
    points.measure(plan(arguments), || progress.inc(1))?;
    progress.finish_and_clear();
    Ok(points)
}

/// gSOAP's times for Figure 2; none if it is not built.
fn peer_times(arguments: &PaperArguments, definitions: &Definitions, scope: &Scope) -> Result<PeerTimes> {
    let folder = arguments.peers.clone().unwrap_or_else(peers_folder);
    let definition = definitions.peers.iter().find(|peer| peer.name == "gsoap");
    let Some(mut peer) = definition.and_then(|definition| Peer::start(definition, &folder).ok()) else {
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
    condition: String,
    ms: f64,
    counts: Option<CountsLine>,
}

#[derive(Serialize)]
struct CountsLine {
    regular_percent: f64,
    to_regular: f64,
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

fn print_json(points: &Points, exhibits: &[Exhibit]) -> Result<()> {
    let mut out = io::stdout().lock();
    let mut all: Vec<_> = points.all().collect();
    all.sort_by_key(|(recipe, way, _)| (*recipe, *way));
    for (recipe, way, point) in all {
        let counts = point.counts.as_ref().map(|counts| counts_line(counts, point.regular_percent()));
        writeln!(out, "{}", serde_json::to_string(&point_line(recipe, way, point.ms, counts))?)?;
    }
    for exhibit in exhibits {
        for verdict in &exhibit.verdicts {
            let line = VerdictLine { paper: &exhibit.paper, exhibit: exhibit.name, verdict };
            writeln!(out, "{}", serde_json::to_string(&line)?)?;
        }
    }
    Ok(out.flush()?)
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
        condition: format!("{:?}", way.condition).to_lowercase(),
        ms,
        counts,
    }
}

fn counts_line(counts: &Counts, regular_percent: f64) -> CountsLine {
    CountsLine {
        regular_percent,
        to_regular: counts.to_regular,
        to_fast: counts.to_fast,
        checkpoints: counts.checkpoints,
        memory: counts.memory,
    }
}
