//! `paper`: the tables and figures of the papers on differential deserialization and serialization, drawn from our data.
//!
//! Beside our numbers stand only those that a paper prints, in its text or a table; they are data, in `bench/papers/`. What it claims is
//! judged by tests that stand beside the result ([`deltasoap_report::claim`]), on the paper's sizes, in several repetitions.

mod dds;
mod ds;
mod fresh;
mod lcp;
#[cfg(test)]
mod model;
mod points;
pub mod printed;
mod received;
pub mod scope;
mod section5;
mod sends;
mod study;

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::ValueEnum;
use deltasoap_report::{Exhibit, Page, Verdict, claim};
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
use points::Way;
use scope::Scope;
use sends::Sender;
use study::{Book, Data, Study};

/// What to draw.
#[derive(Debug, clap::Args)]
pub struct PaperArguments {
    /// Leave out most of it: small arrays, few partitions, few runs
    #[arg(long)]
    pub quick: bool,
    /// Measure everything so many times; a claim that holds in some repetitions alone is unstable
    #[arg(long, value_name = "R", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..))]
    pub repetitions: u8,
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

/// Measures and draws.
///
/// # Errors
/// When a value is wrong, or the page cannot be written.
pub fn run(arguments: &PaperArguments, definitions: &Definitions) -> Result<ExitCode> {
    let environment = Environment::prepare();
    environment.warning().iter().for_each(|warning| eprintln!("{warning}"));
    let scope = Scope::new(arguments.quick, &arguments.sizes);
    let repetitions = measured(arguments, definitions, &scope)?;
    let (mut exhibits, verdicts) = draw(Study(&repetitions), arguments, &scope)?;
    if arguments.has(Title::Serialization) {
        exhibits.push(received::exhibit(scope.largest_sent().min(10_000), plan(arguments))?);
    }
    if let Some(file) = &arguments.html {
        let html = page(&exhibits, &verdicts, &environment.to_string());
        fs::write(file, html).with_context(|| format!("cannot write {}", file.display()))?;
        eprintln!("wrote {}", file.display());
    }
    if arguments.json {
        print_json(&repetitions, &verdicts)?;
    } else {
        println!("{environment}\n");
        exhibits.iter().for_each(|exhibit| println!("{}", exhibit.text()));
        println!("## {ALL}\n\n{}\n\n{}", claim::counts(&verdicts), claim::short(&verdicts).markdown());
    }
    Ok(ExitCode::SUCCESS)
}

/// The heading above all claims.
const ALL: &str = "All claims";

/// Milliseconds of a peer, by type and size.
type PeerTimes = HashMap<(Kind, usize), f64>;

/// The exhibits with their verdicts, and all verdicts in one list.
fn draw(study: Study<'_>, arguments: &PaperArguments, scope: &Scope) -> Result<(Vec<Exhibit>, Vec<Verdict>)> {
    let (mut all, mut verdicts) = (Vec::new(), Vec::new());
    for (mut exhibits, book) in papers(study, arguments, scope)? {
        let judged = book.judge(study);
        book.hang(&judged, &mut exhibits);
        all.extend(exhibits);
        verdicts.extend(judged);
    }
    Ok((all, verdicts))
}

/// The papers that were asked for: exhibits without verdicts, and claims.
fn papers(study: Study<'_>, arguments: &PaperArguments, scope: &Scope) -> Result<Vec<(Vec<Exhibit>, Book)>> {
    let mut papers = Vec::new();
    if arguments.has(Title::Deserialization) {
        papers.push((dds::exhibits(study, scope)?, dds::claims(scope)?));
    }
    if arguments.has(Title::Checkpointing) {
        papers.push((lcp::exhibits(study, scope)?, lcp::claims(scope)?));
    }
    if arguments.has(Title::Serialization) {
        papers.push((ds::exhibits(study, scope)?, ds::claims(scope)?));
    }
    Ok(papers)
}

fn plan(arguments: &PaperArguments) -> Plan {
    let time = if arguments.quick { Duration::ZERO } else { Duration::from_millis(20) };
    Plan { runs: if arguments.quick { 5 } else { 10 }, time }
}

/// Everything that exhibits and claims ask for, again and again.
fn measured(arguments: &PaperArguments, definitions: &Definitions, scope: &Scope) -> Result<Vec<Data>> {
    let mut repetitions: Vec<Data> = (0..arguments.repetitions).map(|_| Data::default()).collect();
    for data in &repetitions {
        draw(Study(std::slice::from_ref(data)), arguments, scope)?;
    }
    let mut fresh = repetitions[0].fresh.clone();
    fresh.count()?;
    let folder = arguments.peers.clone().unwrap_or_else(peers_folder);
    let streams: usize = repetitions.iter().map(|data| data.points.streams() + data.sends.cases()).sum();
    let progress = ProgressBar::new(streams as u64);
    progress.set_style(ProgressStyle::with_template("{bar:40} {pos} of {len} streams, {eta}")?);
    for data in &mut repetitions {
        data.fresh = fresh.clone();
        data.points.measure(plan(arguments), || progress.inc(1))?;
        data.sends.measure(plan(arguments), definitions, &folder, || progress.inc(1))?;
        if data.is_gsoap_asked.get() {
            data.gsoap = peer_times(arguments, definitions, &folder, scope)?;
        }
    }
    progress.finish_and_clear();
    Ok(repetitions)
}

/// gSOAP's times for Figure 2, or why there are none.
fn peer_times(
    arguments: &PaperArguments,
    definitions: &Definitions,
    folder: &Path,
    scope: &Scope,
) -> Result<Result<PeerTimes, String>> {
    let definition = definitions.peers.iter().find(|peer| peer.name == "gsoap").context("gSOAP is not defined")?;
    let mut peer = match Peer::start(definition, folder) {
        Ok(peer) => peer,
        Err(error) => return Ok(Err(format!("{error:#}"))),
    };
    let mut times = PeerTimes::new();
    for (kind, workload) in [(Kind::Ints, "decode-ints"), (Kind::Easy, "decode-easy"), (Kind::Hard, "decode-hard")] {
        let workloads = definitions.select(&[workload.to_owned()])?.workloads;
        for &n in &scope.sizes {
            let figures = measure(&mut [peer.prepare(workloads[0], n)?], plan(arguments), || ())?;
            times.extend(figures.iter().map(|figures| ((kind, n), figures.ns_median as f64 / 1e6)));
        }
    }
    Ok(Ok(times))
}

/// All exhibits as one page, after the outcomes of all claims.
fn page(exhibits: &[Exhibit], verdicts: &[Verdict], environment: &str) -> String {
    let mut page = Page::new("The papers' tables and figures, from our data");
    page.paragraph(environment);
    page.section(ALL);
    page.paragraph(&claim::counts(verdicts));
    page.sheet(&claim::short_sheet(verdicts));
    let mut paper = "";
    for exhibit in exhibits {
        if exhibit.paper != paper {
            paper = &exhibit.paper;
            page.section(paper);
        }
        page.exhibit(exhibit);
    }
    page.finish()
}

/// Keys in the order in which they are written.
#[derive(Serialize)]
struct PointLine {
    repetition: usize,
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

/// A message sent. Keys in the order in which they are written.
#[derive(Serialize)]
struct SentLine {
    repetition: usize,
    sender: &'static str,
    values: String,
    n: usize,
    change: String,
    chunk: usize,
    ms: f64,
}

fn print_json(repetitions: &[Data], verdicts: &[Verdict]) -> Result<()> {
    let mut out = io::stdout().lock();
    for (repetition, data) in repetitions.iter().enumerate() {
        let mut all: Vec<_> = data.points.all().collect();
        all.sort_by_key(|(recipe, way, _)| (*recipe, *way));
        for (recipe, way, point) in all {
            let counts = point.counts.as_ref().map(|counts| counts_line(counts, point.regular_percent()));
            let line = PointLine { repetition, ..point_line(recipe, way, point.ms, counts) };
            writeln!(out, "{}", serde_json::to_string(&line)?)?;
        }
        for (case, sender, ms) in data.sends.all() {
            let line = SentLine { repetition, ..sent_line(&case, sender, ms) };
            writeln!(out, "{}", serde_json::to_string(&line)?)?;
        }
    }
    for verdict in verdicts {
        writeln!(out, "{}", serde_json::to_string(verdict)?)?;
    }
    Ok(out.flush()?)
}

fn sent_line(case: &Case, sender: Sender, ms: f64) -> SentLine {
    let sender = match sender {
        Sender::Ours(mode) => mode.name(),
        Sender::Peer(name) => name,
    };
    let (values, change) = (name(case.values), change(case));
    SentLine { repetition: 0, sender, values, n: case.n, change, chunk: case.chunk, ms }
}

fn point_line(recipe: Recipe, way: Way, ms: f64, counts: Option<CountsLine>) -> PointLine {
    PointLine {
        repetition: 0,
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

#[cfg(test)]
mod tests {
    use super::model::{Paper, chaos};
    use super::*;
    use deltasoap_report::Outcome;

    /// The books of all papers, for a run that has all sizes.
    fn books() -> Vec<Book> {
        let scope = Scope::new(false, &[]);
        vec![dds::claims(&scope).unwrap(), lcp::claims(&scope).unwrap(), ds::claims(&scope).unwrap()]
    }

    /// The verdicts of a book on data that a model makes up.
    fn judged(book: &Book, fill: impl Fn(&mut Data)) -> Vec<Verdict> {
        let mut data = Data::default();
        book.judge(Study(std::slice::from_ref(&data)));
        fill(&mut data);
        book.judge(Study(std::slice::from_ref(&data)))
    }

    /// The papers' own numbers, and what they say in words, agree with every claim.
    #[test]
    fn every_claim_agrees_with_what_the_paper_prints() {
        for (book, paper) in books().iter().zip(Paper::ALL) {
            for verdict in judged(book, |data| paper.fill(data)) {
                let (claim, ours) = (&verdict.claim, verdict.ours);
                assert_eq!(
                    verdict.outcome,
                    Outcome::Agrees,
                    "{} {}: {ours:?} {}",
                    claim.paper,
                    claim.key,
                    verdict.why()
                );
            }
        }
    }

    /// No claim is true of all data: for each, one of a few random data sets differs.
    #[test]
    fn every_claim_can_differ() {
        for book in books() {
            let runs: Vec<Vec<Verdict>> = (0..12).map(|seed| judged(&book, |data| chaos(data, seed))).collect();
            for (place, claim) in book.claims().enumerate() {
                let differs = runs.iter().any(|verdicts| verdicts[place].outcome == Outcome::Differs);
                assert!(differs, "{} {}: {:?}", claim.paper, claim.key, runs[0][place]);
            }
        }
    }

    #[test]
    fn keys_are_unique_and_every_verdict_hangs_somewhere() {
        let (scope, data) = (Scope::new(false, &[]), Data::default());
        let arguments = PaperArguments {
            quick: false,
            repetitions: 1,
            sizes: vec![],
            json: false,
            html: None,
            peers: None,
            papers: vec![],
        };
        let (exhibits, verdicts) = draw(Study(std::slice::from_ref(&data)), &arguments, &scope).unwrap();
        let hung: usize = exhibits.iter().map(|exhibit| exhibit.verdicts.len()).sum();
        assert_eq!(hung, verdicts.len());
        let keys: std::collections::BTreeSet<_> =
            verdicts.iter().map(|verdict| (&verdict.claim.paper, &verdict.claim.key)).collect();
        assert_eq!(keys.len(), verdicts.len());
        assert!(verdicts.len() > 70, "{}", verdicts.len());
    }

    /// A quick run has neither 100,000 elements nor what is claimed of them.
    #[test]
    fn a_quick_run_claims_nothing_of_sizes_that_it_has_not() {
        let scope = Scope::new(true, &[]);
        let book = dds::claims(&scope).unwrap();
        let verdicts = judged(&book, |data| Paper::Deserialization.fill(data));
        let of = |key: &str| verdicts.iter().find(|verdict| verdict.claim.key == key).unwrap();
        assert_eq!(of("xor-hard-speedup").outcome, Outcome::NotMeasured);
        assert!(of("xor-hard-speedup").why().contains("this run has 1K, 10K"));
        let least = of("least-speedup");
        assert_eq!((least.outcome, &least.sizes_run), (Outcome::NotMeasured, &vec![1000, 10_000]));
        assert!(least.why().starts_with("agrees at 2 of the paper's 6 sizes"), "{}", least.why());
        assert!(of("table2").why().contains("this run has 1K, 10K"));
        let grid = deltasoap_report::claim::short(&verdicts);
        assert_eq!(grid.rows.len(), book.claims().count());
    }

    /// Three repetitions, of which one differs.
    #[test]
    fn a_verdict_that_flips_is_unstable() {
        let book = dds::claims(&Scope::new(false, &[])).unwrap();
        let mut repetitions: Vec<Data> = (0..3).map(|_| Data::default()).collect();
        book.judge(Study(&repetitions));
        for data in &repetitions {
            book.judge(Study(std::slice::from_ref(data)));
        }
        repetitions[..2].iter_mut().for_each(|data| Paper::Deserialization.fill(data));
        chaos(&mut repetitions[2], 1);
        let verdicts = book.judge(Study(&repetitions));
        let table3 = verdicts.iter().find(|verdict| verdict.claim.key == "table3").unwrap();
        assert_eq!((table3.outcome, &table3.repetitions), (Outcome::Unstable, &vec![true, true, false]));
    }
}
