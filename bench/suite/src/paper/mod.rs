//! `paper`: the tables and figures of the papers on differential deserialization and serialization,
//! drawn from our data.
//!
//! Our numbers are compared only with those printed in a paper's text or tables; these are data in
//! `bench/papers/`. Its claims are judged by tests that are shown with the result
//! ([`deltasoap_report::claim`]), on the paper's sizes, in several repetitions. Measurements go
//! into a [`Record`], of the command `reproduce` or in memory, and are not repeated if the record
//! has them.

mod dds;
mod ds;
mod fresh;
mod lcp;
#[cfg(test)]
mod model;
mod points;
pub mod printed;
mod received;
mod rows;
pub mod scope;
mod section5;
mod sends;
mod setting;
mod study;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::ValueEnum;
use deltasoap_report::{Exhibit, Page, Verdict, claim};

use crate::definitions::{Definitions, peers_folder};
use crate::engine::{Engine, Peer};
use crate::environment::{Environment, unoptimized};
use crate::measure::{SampleSize, measure};
use crate::progress::{Progress, Step};
use crate::record::Record;
use crate::stream::Recipe;
use crate::workload::Workload;
use rows::{PEER, PeerRow, peer_key};
use scope::Scope;
use study::{Book, Data, Study};

/// What to draw.
#[derive(Debug, clap::Args)]
pub struct PaperArguments {
    /// Skip most of it: small arrays, few partitions, few runs
    #[arg(long)]
    pub quick: bool,
    /// Number of repetitions; a claim that holds in only some of them is unstable
    #[arg(long, value_name = "R", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..))]
    pub repetitions: u8,
    /// Number of elements in an array (repeatable) [default: the papers']
    #[arg(long = "size", value_name = "N")]
    pub sizes: Vec<usize>,
    /// Print one JSON object per line instead of tables: measurements first, then verdicts
    #[arg(long)]
    pub json: bool,
    /// Write a page with plots
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Folder of built peers; figures show gSOAP and XSUL if they are built [default: .peers in the
    /// repository]
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

impl Title {
    /// All papers, in the order of reports.
    pub const ALL: [Title; 3] = [Title::Deserialization, Title::Checkpointing, Title::Serialization];
}

/// Measures and draws all exhibits.
///
/// # Errors
/// When a value is wrong, or the page cannot be written.
pub fn run(arguments: &PaperArguments, definitions: &Definitions) -> Result<ExitCode> {
    let environment = Environment::prepare();
    environment.warning().iter().for_each(|warning| eprintln!("{warning}"));
    let titles = if arguments.papers.is_empty() { Title::ALL.to_vec() } else { arguments.papers.clone() };
    let folder = arguments.peers.clone().unwrap_or_else(peers_folder);
    let scope = Scope::new(arguments.quick, &arguments.sizes);
    let mut record = Record::default();
    let mut papers = Papers::new(
        titles,
        scope,
        usize::from(arguments.repetitions),
        arguments.quick,
        (definitions, folder),
        &record,
    )?;
    let steps: Vec<(Stage, Step)> = papers.remaining_steps(&record);
    let mut progress = Progress::new(steps.iter().map(|(_, step)| step.seconds).sum(), None);
    for (stage, step) in &steps {
        progress.begin(step);
        papers.measure(*stage, &mut record, &progress)?;
        progress.end();
    }
    progress.finish();
    let (exhibits, verdicts) = papers.draw(&record)?;
    if let Some(file) = &arguments.html {
        let html = page(&exhibits, &verdicts, &environment);
        fs::write(file, html).with_context(|| format!("cannot write {}", file.display()))?;
        eprintln!("wrote {}", file.display());
    }
    if arguments.json {
        print_json(&record, &verdicts)?;
    } else {
        println!("{environment}\n");
        exhibits.iter().for_each(|exhibit| println!("{}", exhibit.text()));
        println!("## {ALL}\n\n{}\n\n{}", claim::counts(&verdicts), claim::short(&verdicts).markdown());
    }
    Ok(ExitCode::SUCCESS)
}

/// The heading above all claims.
const ALL: &str = "All claims";

/// A stage of the measurements for the papers, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Counts of streams with new values in each message.
    Counts,
    /// Decoding, by repetition.
    Points(usize),
    /// Decoding by another toolkit, by repetition.
    Peer(usize),
    /// Sending, by repetition.
    Sends(usize),
    /// The effect of stuffing on the receiver.
    Received,
}

/// The measurements for papers, missing and finished.
pub struct Papers<'d> {
    titles: Vec<Title>,
    scope: Scope,
    sample_size: SampleSize,
    repetitions: Vec<Data>,
    definitions: &'d Definitions,
    peers: PathBuf,
}

impl<'d> Papers<'d> {
    /// Collects everything that exhibits and claims need, for a number of repetitions; the record's
    /// measurements are not repeated. The folder is that of built peers.
    ///
    /// # Errors
    /// When a number of a paper is missing from `bench/papers/`.
    pub fn new(
        titles: Vec<Title>,
        scope: Scope,
        repetitions: usize,
        is_quick: bool,
        (definitions, peers): (&'d Definitions, PathBuf),
        record: &Record,
    ) -> Result<Self> {
        let time = if is_quick { Duration::ZERO } else { Duration::from_millis(20) };
        let sample_size = SampleSize { runs: if is_quick { 5 } else { 10 }, time };
        let repetitions = (0..repetitions).map(|_| Data::default()).collect();
        let mut papers = Papers { titles, scope, sample_size, repetitions, definitions, peers };
        for data in &papers.repetitions {
            draw(Study(std::slice::from_ref(data)), &papers.titles, &papers.scope)?;
        }
        for (repetition, data) in papers.repetitions.iter_mut().enumerate() {
            data.points.load_recorded(repetition, record);
            data.sends.load_recorded(repetition, record);
            data.load_recorded_gsoap(repetition, record);
            data.fresh.load_recorded(record);
        }
        Ok(papers)
    }

    /// Returns the keys of everything that is missing.
    #[cfg(test)]
    pub fn keys(&self) -> Vec<String> {
        let of = |(at, data): (usize, &Data)| {
            let sent = data.sends.keys(at).into_iter().map(|(key, _)| key);
            data.points.keys(at).into_iter().chain(sent).chain([peer_key(at, GSOAP)]).collect::<Vec<_>>()
        };
        let counts = self.repetitions.first().map(|data| data.fresh.keys()).unwrap_or_default();
        self.repetitions.iter().enumerate().flat_map(of).chain(counts).collect()
    }

    /// Returns the remaining stages with their approximate durations, as measured on two cores of a
    /// server of 2023.
    pub fn remaining_steps(&self, record: &Record) -> Vec<(Stage, Step)> {
        let (runs, step) = (self.sample_size.runs as f64 + 3.0, |stage, name: String, pieces, seconds| {
            (stage, Step::new(name, pieces, seconds))
        });
        let slack = self.sample_size.time.as_secs_f64();
        let mut steps = Vec::new();
        let streams = self.repetitions.first().map(|data| data.fresh.streams()).unwrap_or_default();
        let seconds = streams.iter().map(|(recipe, settings)| 100.0 * (*settings as f64 + 2.0) * seconds_of(recipe.n));
        steps.push(step(Stage::Counts, "counts of fresh values".to_owned(), streams.len(), seconds.sum()));
        for (at, data) in self.repetitions.iter().enumerate() {
            let which = format!("repetition {} of {}", at + 1, self.repetitions.len());
            let streams = data.points.streams();
            let of = |(recipe, settings): &(Recipe, usize)| {
                *settings as f64 * (runs * seconds_of(recipe.n)).max(slack) + 10.0 * seconds_of(recipe.n)
            };
            let seconds = streams.iter().map(of).sum();
            steps.push(step(Stage::Points(at), format!("messages decoded, {which}"), streams.len(), seconds));
            let is_left = data.is_gsoap_asked.get() && !record.has(&peer_key(at, GSOAP));
            steps.push(step(Stage::Peer(at), format!("gSOAP decodes, {which}"), usize::from(is_left), 10.0));
            let cases = data.sends.cases();
            let seconds = cases as f64 * (0.1 + 8.0 * slack + 4.0 * runs * seconds_of(self.scope.largest_sent() / 3));
            steps.push(step(Stage::Sends(at), format!("messages sent, {which}"), cases, seconds));
        }
        if self.titles.contains(&Title::Serialization) {
            let pieces = received::missing_types(record, self.received());
            steps.push(step(
                Stage::Received,
                "what stuffing does to the receiver".to_owned(),
                pieces,
                0.5 * pieces as f64,
            ));
        }
        steps.retain(|(_, step)| step.pieces > 0);
        steps
    }

    /// Returns the number of values in a message for the effect of stuffing on the receiver.
    fn received(&self) -> usize {
        self.scope.largest_sent().min(10_000)
    }

    /// Measures the rest of a stage, into a record.
    ///
    /// # Errors
    /// When a value is wrong, the record cannot be written, or the time is up.
    pub fn measure(&mut self, stage: Stage, record: &mut Record, progress: &Progress) -> Result<()> {
        let (sample_size, peers) = (self.sample_size, (self.definitions, &*self.peers));
        match stage {
            Stage::Counts => {
                if let Some((first, others)) = self.repetitions.split_first_mut() {
                    first.fresh.count(record, progress)?;
                    others.iter_mut().for_each(|data| data.fresh = first.fresh.clone());
                }
            }
            Stage::Points(at) => self.repetitions[at].points.measure(sample_size, at, record, progress)?,
            Stage::Sends(at) => self.repetitions[at].sends.measure(sample_size, peers, at, record, progress)?,
            Stage::Peer(at) => {
                progress.check_time()?;
                let rows = gsoap_rows(at, sample_size, peers, &self.scope)?;
                record.append(PEER, &peer_key(at, GSOAP), &rows)?;
                self.repetitions[at].load_recorded_gsoap(at, record);
                progress.done();
            }
            Stage::Received => received::measure_all(self.received(), sample_size, record, progress)?,
        }
        Ok(())
    }

    /// Returns the exhibits with their verdicts, and all verdicts in one list. Everything must be
    /// measured before.
    ///
    /// # Errors
    /// When a number of a paper is missing from `bench/papers/`.
    pub fn draw(&self, record: &Record) -> Result<(Vec<Exhibit>, Vec<Verdict>)> {
        let (mut exhibits, verdicts) = draw(Study(&self.repetitions), &self.titles, &self.scope)?;
        if self.titles.contains(&Title::Serialization) {
            exhibits.push(received::exhibit(self.received(), record)?);
        }
        Ok((exhibits, verdicts))
    }
}

/// Returns the approximate seconds for a message with `n` values.
fn seconds_of(n: usize) -> f64 {
    2e-5 + n as f64 * 1.5e-7
}

const GSOAP: &str = "gsoap";

/// Returns the exhibits with their verdicts, and all verdicts in one list.
fn draw(study: Study<'_>, titles: &[Title], scope: &Scope) -> Result<(Vec<Exhibit>, Vec<Verdict>)> {
    let (mut all, mut verdicts) = (Vec::new(), Vec::new());
    for (mut exhibits, book) in papers(study, titles, scope)? {
        let judged = book.judge(study);
        book.attach_verdicts(&judged, &mut exhibits);
        all.extend(exhibits);
        verdicts.extend(judged);
    }
    Ok((all, verdicts))
}

/// Returns the exhibits, without verdicts, and claims of the requested papers.
fn papers(study: Study<'_>, titles: &[Title], scope: &Scope) -> Result<Vec<(Vec<Exhibit>, Book)>> {
    let paper = |title: Title| {
        Ok(match title {
            Title::Deserialization => (dds::exhibits(study, scope)?, dds::claims(scope)?),
            Title::Checkpointing => (lcp::exhibits(study, scope)?, lcp::claims(scope)?),
            Title::Serialization => (ds::exhibits(study, scope)?, ds::claims(scope)?),
        })
    };
    Title::ALL.into_iter().filter(|title| titles.contains(title)).map(paper).collect()
}

/// Measures gSOAP's times for Figure 2, or returns why there are none.
fn gsoap_rows(
    repetition: usize,
    sample_size: SampleSize,
    (definitions, folder): (&Definitions, &Path),
    scope: &Scope,
) -> Result<Vec<PeerRow>> {
    let definition = definitions.peers.iter().find(|peer| peer.name == GSOAP).context("gSOAP is not defined")?;
    let row = |workload: &str, n, ms: Result<f64>| {
        let (toolkit, workload) = (GSOAP.to_owned(), workload.to_owned());
        let (ms, reason) = ms.map_or_else(|error| (None, Some(format!("{error:#}"))), |ms| (Some(ms), None));
        PeerRow { repetition, toolkit, workload, n, ms, reason }
    };
    let mut peer = match Peer::start(definition, folder) {
        Ok(peer) => peer,
        Err(error) => return Ok(vec![row("", 0, Err(error))]),
    };
    let mut rows = Vec::new();
    for (_, workload) in study::GSOAP_WORKLOADS {
        let workloads = definitions.select(&[workload.to_owned()])?.workloads;
        for &n in &scope.sizes {
            let ms = median_ms(&mut peer, workloads[0], n, sample_size);
            let has_failed = ms.is_err();
            rows.push(row(workload, n, ms));
            if has_failed {
                return Ok(rows);
            }
        }
    }
    Ok(rows)
}

/// Returns the median milliseconds of a peer's work.
fn median_ms(peer: &mut Peer, workload: &Workload, n: usize, sample_size: SampleSize) -> Result<f64> {
    let figures = measure(&mut [peer.prepare(workload, n)?], sample_size, || ())?;
    figures.first().map(|figures| figures.ns_median as f64 / 1e6).context("not measured")
}

/// Returns all exhibits as one page, after the outcomes of all claims.
fn page(exhibits: &[Exhibit], verdicts: &[Verdict], environment: &Environment) -> String {
    let mut page = Page::new("The papers' tables and figures, from our data");
    page.paragraph(&environment.to_string());
    environment.warning().into_iter().chain(unoptimized()).for_each(|warning| page.warning(&warning));
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

fn print_json(record: &Record, verdicts: &[Verdict]) -> Result<()> {
    let mut out = io::stdout().lock();
    for line in record.lines() {
        writeln!(out, "{line}")?;
    }
    for verdict in verdicts {
        writeln!(out, "{}", serde_json::to_string(verdict)?)?;
    }
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::model::{Paper, chaos};
    use super::*;
    use deltasoap_report::Outcome;

    /// Returns the books of all papers, for a run with all sizes.
    fn books() -> Vec<Book> {
        let scope = Scope::new(false, &[]);
        vec![dds::claims(&scope).unwrap(), lcp::claims(&scope).unwrap(), ds::claims(&scope).unwrap()]
    }

    /// Returns the verdicts of a book on artificial data.
    fn judged(book: &Book, fill: impl Fn(&mut Data)) -> Vec<Verdict> {
        let mut data = Data::default();
        book.judge(Study(std::slice::from_ref(&data)));
        fill(&mut data);
        book.judge(Study(std::slice::from_ref(&data)))
    }

    /// The papers' own numbers and statements agree with every claim.
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

    /// No claim holds for all data: each differs on one of a few random data sets.
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
        let (exhibits, verdicts) = draw(Study(std::slice::from_ref(&data)), &Title::ALL, &scope).unwrap();
        let hung: usize = exhibits.iter().map(|exhibit| exhibit.verdicts.len()).sum();
        assert_eq!(hung, verdicts.len());
        let keys: std::collections::BTreeSet<_> =
            verdicts.iter().map(|verdict| (&verdict.claim.paper, &verdict.claim.key)).collect();
        assert_eq!(keys.len(), verdicts.len());
        assert!(verdicts.len() > 70, "{}", verdicts.len());
    }

    /// A quick run has no arrays of 100,000 elements, and no claims about them.
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

    /// Three repetitions, one of which differs.
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
