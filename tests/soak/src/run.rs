//! A run: sequences one after another, and the report.

use crate::Arguments;
use crate::coverage::{Coverage, Line};
use crate::decoder_options::{self, LoweredLimit};
use crate::finding::{self, Info};
use crate::library::Library;
use crate::shrink::shrink;
use crate::subject::{Reading, Subject};
use crate::templates::{Case, foreign};
use crate::trial::{self, Difference, Trial};
use crate::watchdog::{self, Watchdog};
use crate::{cuts, mutate};
use anyhow::{Context, Result};
use deltasoap_report::Grid;
use deltasoap_test_support::Chance;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Runs of at least this length must reach everything that is listed.
const LONG: Duration = Duration::from_secs(290);
/// Interval of progress lines if there is no terminal.
const SHOW: Duration = Duration::from_secs(30);
/// One sequence in this many is sent through templates: it takes as long as several others.
const TEMPLATES: u32 = 16;
/// The description of a panic.
const PANIC: &str = "panic";
/// Maximum number of characters of a result that are shown.
const SHOWN: usize = 2000;

/// The results of a run.
#[derive(Serialize)]
struct Report {
    seed: u64,
    sequences: u64,
    decodes: u64,
    encodes: u64,
    seconds: f64,
    decodes_per_second: f64,
    /// Number of encoded messages that libxml2 parsed as well.
    libxml2: u64,
    wsdls: usize,
    recorded_streams: usize,
    findings: Vec<PathBuf>,
    missing: Vec<String>,
    coverage: Vec<Line>,
}

/// Runs sequences until the time or the number of messages is reached.
///
/// # Errors
/// Returns an error if a finding cannot be saved.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    watchdog::capture_panics();
    if let Some(python) = &arguments.python {
        foreign::start_libxml2(python).with_context(|| format!("cannot start libxml2 with {python}"))?;
    }
    let mut soak = Soak::new(arguments);
    let begin = Instant::now();
    let end = begin + Duration::from_secs_f64(arguments.minutes.clamp(0.0, 1e6) * 60.0);
    let is_over = |soak: &Soak<'_>| match arguments.decodes {
        Some(decodes) => soak.coverage.decodes() >= decodes,
        None => Instant::now() >= end,
    };
    let mut sequence = arguments.sequence.unwrap_or(arguments.from);
    loop {
        soak.sequence(sequence)?;
        sequence += 1;
        if arguments.sequence.is_some() || is_over(&soak) || soak.findings.len() >= arguments.findings {
            break;
        }
    }
    soak.bar.finish_and_clear();
    soak.close(begin.elapsed())
}

/// Replays a finding.
///
/// # Errors
/// Returns an error if there is none.
pub fn replay(folder: &Path, arguments: &Arguments) -> Result<ExitCode> {
    watchdog::capture_panics();
    if let Some(case) = finding::read_case(folder)? {
        return Ok(replay_case(&case, arguments));
    }
    let (info, trial) = finding::read(folder)?;
    let reading =
        info.subject.load(&mut library(arguments)).context("the schema of the finding is not available here")?;
    match check(&reading, &trial, &mut Coverage::default()) {
        None => {
            println!("no difference");
            Ok(ExitCode::SUCCESS)
        }
        Some(difference) => {
            print(&info.subject, &trial, &difference);
            Ok(ExitCode::FAILURE)
        }
    }
}

fn replay_case(case: &Case, arguments: &Arguments) -> ExitCode {
    match case.check(&mut library(arguments)) {
        Ok(_) => {
            println!("no difference");
            ExitCode::SUCCESS
        }
        Err(found) => {
            println!("{:?}\n{found}", case.kind);
            ExitCode::FAILURE
        }
    }
}

/// State that is kept from sequence to sequence.
struct Soak<'a> {
    arguments: &'a Arguments,
    library: Library,
    coverage: Coverage,
    findings: Vec<PathBuf>,
    /// Panics that occurred: one of each is kept.
    panics: BTreeSet<String>,
    bar: ProgressBar,
    /// Time of the last progress line, if there is no terminal.
    shown: Instant,
    watch: Watchdog,
}

impl<'a> Soak<'a> {
    fn new(arguments: &'a Arguments) -> Self {
        Soak {
            arguments,
            library: library(arguments),
            coverage: Coverage::default(),
            findings: Vec::new(),
            panics: BTreeSet::new(),
            bar: bar(arguments.decodes),
            shown: Instant::now(),
            watch: Watchdog::start(arguments.seed, &arguments.output),
        }
    }

    fn sequence(&mut self, sequence: u64) -> Result<()> {
        self.watch.tick(sequence);
        let mut chance = Chance::new(self.arguments.seed, sequence);
        if chance.one_in(TEMPLATES) {
            return self.send(sequence, &mut chance);
        }
        let subject = Subject::any(&mut chance, &mut self.library);
        let Some(reading) = subject.load(&mut self.library) else { return Ok(()) };
        let base = subject.messages(&mut chance, &mut self.library);
        let trial = draw(&base, &reading, &mut chance);
        self.coverage.count_sequence(subject.source());
        if let Some(difference) = check(&reading, &trial, &mut self.coverage) {
            self.keep(sequence, &subject, &reading, trial, &difference)?;
        }
        self.show(sequence);
        Ok(())
    }

    /// Shows progress: a bar on terminals, otherwise a line from time to time.
    fn show(&mut self, sequence: u64) {
        self.bar.set_position(self.coverage.decodes());
        if self.bar.is_hidden() && self.shown.elapsed() >= SHOW {
            let (decodes, findings) = (self.coverage.decodes(), self.findings.len());
            eprintln!(
                "sequence {sequence}: {decodes} decodes, {} encodes, {findings} differences",
                self.coverage.encodes()
            );
            self.shown = Instant::now();
        }
    }

    /// Sends a stream of values through templates.
    fn send(&mut self, sequence: u64, chance: &mut Chance) -> Result<()> {
        let case = Case::any((self.arguments.seed, sequence), chance, &mut self.library);
        let found = match case.check(&mut self.library) {
            Ok(stats) => {
                self.coverage.count_templates(case.kind.index(), stats);
                return Ok(());
            }
            Err(found) => found,
        };
        self.bar.suspend(|| eprintln!("--seed {} --sequence {sequence}: {}", self.arguments.seed, shown(&found)));
        let small = Case { found, ..case }.shrunk(&mut self.library);
        let folder = self.folder(sequence);
        finding::write_case(&folder, &small)?;
        self.bar.suspend(|| {
            eprintln!("--seed {} --sequence {sequence}, saved in {}", self.arguments.seed, folder.display());
            eprintln!("{:?}\n{}\n", small.kind, shown(&small.found));
        });
        self.findings.push(folder);
        Ok(())
    }

    /// Returns the folder of a finding.
    fn folder(&self, sequence: u64) -> PathBuf {
        self.arguments.output.join(format!("{}-{sequence}", self.arguments.seed))
    }

    /// Shrinks a failing trial, saves it and shows it.
    fn keep(
        &mut self,
        sequence: u64,
        subject: &Subject,
        reading: &Reading,
        trial: Trial,
        difference: &Difference,
    ) -> Result<()> {
        if difference.what == PANIC && !self.panics.insert(difference.found.clone()) {
            return Ok(());
        }
        let mut last = difference.clone();
        let small = shrink(trial, |trial| {
            let found = check(reading, trial, &mut Coverage::default());
            let is_same = found.as_ref().is_some_and(|found| found.class() == difference.class());
            if is_same {
                last = found.unwrap_or_else(|| last.clone());
            }
            is_same
        });
        let folder = self.folder(sequence);
        let info = Info::new((self.arguments.seed, sequence), subject, &small, &last);
        finding::write(&folder, &info, &small.messages)?;
        self.bar.suspend(|| {
            eprintln!("--seed {} --sequence {sequence}, saved in {}", self.arguments.seed, folder.display());
            print(subject, &small, &last);
        });
        self.findings.push(folder);
        Ok(())
    }

    fn close(self, time: Duration) -> Result<ExitCode> {
        let (wsdls, recorded_streams) = self.library.sizes();
        let report = Report {
            seed: self.arguments.seed,
            sequences: self.coverage.sequences(),
            decodes: self.coverage.decodes(),
            encodes: self.coverage.encodes(),
            seconds: time.as_secs_f64(),
            decodes_per_second: self.coverage.decodes() as f64 / time.as_secs_f64(),
            libxml2: foreign::compared().libxml2,
            wsdls,
            recorded_streams,
            findings: self.findings,
            missing: if time >= LONG { self.coverage.missing() } else { Vec::new() },
            coverage: self.coverage.lines(),
        };
        match self.arguments.json {
            true => println!("{}", serde_json::to_string_pretty(&report)?),
            false => report.print(),
        }
        Ok(if report.findings.is_empty() && report.missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

impl Report {
    fn print(&self) {
        let rows = self.coverage.iter().map(|Line { what, count }| [what.clone(), count.to_string()]);
        println!("{}", Grid::new("", &["reached", "count"], 1).with(rows).markdown());
        println!(
            "seed {}: {} sequences, {} decodes, {} encodes ({} read by libxml2), {:.0} s, {:.0} decodes/s, {} WSDLs, {} recorded streams, {} differences",
            self.seed,
            self.sequences,
            self.decodes,
            self.encodes,
            self.libxml2,
            self.seconds,
            self.decodes_per_second,
            self.wsdls,
            self.recorded_streams,
            self.findings.len()
        );
        for missing in &self.missing {
            println!("never reached: {missing}");
        }
    }
}

fn draw(base: &[String], reading: &Reading, chance: &mut Chance) -> Trial {
    let tolerance = chance.below(6) / 2;
    // The check will find the panic again.
    let is_good = |text: &str| watchdog::guarded(|| reading.is_good(text, trial::tolerance(tolerance))).unwrap_or(true);
    let messages = mutate::stream(base, chance, is_good);
    let cuts = cuts::all(&messages, chance);
    let (ways, lowered) = (decoder_options::several(chance), LoweredLimit::any(chance));
    let is_rough = chance.one_in(8);
    let broken_off = messages.iter().map(|_| is_rough && chance.one_in(4)).collect();
    Trial { messages, cuts, broken_off, ways, lowered, is_shared: chance.one_in(2), tolerance }
}

/// Checks a trial; a panic is a difference too.
fn check(reading: &Reading, trial: &Trial, coverage: &mut Coverage) -> Option<Difference> {
    watchdog::guarded(|| reading.check(trial, coverage)).unwrap_or_else(|panic| {
        Some(Difference { message: 0, way: None, what: PANIC, expected: String::new(), found: panic })
    })
}

/// Opens the repository's own data, and that of an additional folder if it exists.
fn library(arguments: &Arguments) -> Library {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let corpus = arguments.corpus.clone().unwrap_or_else(|| root.join("../shared/corpora"));
    Library::open(&[("testdata", root.join("testdata")), ("corpus", corpus)])
}

fn bar(decodes: Option<u64>) -> ProgressBar {
    const TEMPLATE: &str = "{elapsed_precise} {pos} decodes, {per_sec}";
    let bar = ProgressBar::with_draw_target(decodes, ProgressDrawTarget::stderr());
    bar.with_style(ProgressStyle::with_template(TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_spinner()))
}

fn print(subject: &Subject, trial: &Trial, difference: &Difference) {
    eprintln!("{}: {subject:?}", difference.what);
    eprintln!("ways: {:?}\nlimit: {:?}, shared: {}", trial.ways, trial.lowered, trial.is_shared);
    for (message, cuts) in trial.messages.iter().zip(&trial.cuts) {
        eprintln!("   {:?} {}", cuts, shown(&String::from_utf8_lossy(message)));
    }
    let (expected, found) = (&difference.expected, &difference.found);
    let place = expected.bytes().zip(found.bytes()).take_while(|(one, other)| one == other).count().saturating_sub(100);
    eprintln!(
        "message {}\nexpected: {}\n   found: {}\n",
        difference.message,
        from(expected, place),
        from(found, place)
    );
}

fn from(text: &str, place: usize) -> String {
    let skipped: String = text.chars().skip(place).collect();
    if place == 0 { shown(text) } else { format!("...{}", shown(&skipped)) }
}

fn shown(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}
