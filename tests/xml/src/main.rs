//! Compares the XML reader with expat and libxml2: verdicts and trees, over the W3C's conformance
//! suite and over mutated messages; and canonical forms with libxml2. `cargo xtask xml` installs
//! the parsers and runs this program.
//!
//! [`reading`] is our side, [`parser`] theirs, [`mutate`] creates documents, [`canonical`] compares
//! canonical forms. [`classes`] knows the intended differences; any other fails the run.
//! `docs/reliability.md` explains each class.

#![forbid(unsafe_code)]

mod canonical;
mod classes;
mod generate;
mod mutate;
mod parser;
mod reading;
mod suite;
mod tally;
mod walk;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Parser as _;
use fastrand::Rng;

use mutate::Mutator;
use parser::{Kind, Parser};
use reading::Reading;
use tally::Tally;

#[derive(clap::Parser)]
#[command(about = "Compares the XML reader with expat and libxml2")]
struct Arguments {
    /// Number of mutated documents
    #[arg(long, default_value_t = 100_000)]
    mutations: u64,
    /// Number of documents whose canonical forms are compared
    #[arg(long, default_value_t = 10_000)]
    canonical: u64,
    /// Seed of the mutations
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A folder with more documents to mutate, in addition to the project's own (repeatable)
    #[arg(long, value_name = "FOLDER")]
    seeds: Vec<PathBuf>,
    /// A Python 3 with lxml
    #[arg(long, default_value = "python3")]
    python: PathBuf,
}

/// Number of documents that are sent to the parsers at one time.
const BATCH: u64 = 512;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<ExitCode> {
    let start = Instant::now();
    let suite = suite::documents()?;
    let documents = suite.iter().map(|(_, document)| document.clone()).collect();
    let mutator = Mutator::new(accepted(messages(&arguments.seeds)?), accepted(documents), arguments.seed);
    let mut comparison = Comparison::new(&arguments.python)?;
    let (names, documents): (Vec<_>, Vec<_>) = suite.into_iter().unzip();
    println!("{} files of the W3C suite", documents.len());
    comparison.batch(&documents, |index| names[index].clone())?;
    comparison.tally.print();
    let of_suite = std::mem::take(&mut comparison.tally);
    println!("\n{} mutations of {} documents, seed {}", arguments.mutations, mutator.seeds(), arguments.seed);
    for first in (0..arguments.mutations).step_by(BATCH as usize) {
        let documents: Vec<_> = (first..arguments.mutations.min(first + BATCH)).map(|n| mutator.document(n)).collect();
        comparison
            .batch(&documents, |index| format!("mutation {} of seed {}", first + index as u64, arguments.seed))?;
    }
    comparison.tally.print();
    let is_canonical = canonical::compare(&arguments.python, &mutator, arguments.canonical, arguments.seed)?;
    println!("\n{} s", start.elapsed().as_secs());
    let is_good = of_suite.is_good() && comparison.tally.is_good() && is_canonical;
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the project's messages, and the files of further folders.
fn messages(folders: &[PathBuf]) -> Result<Vec<Vec<u8>>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let own = ["testdata/messages", "fuzz/seeds/tokenizer"].map(|folder| root.join(folder));
    let mut messages = Vec::new();
    for folder in own.iter().chain(folders) {
        collect(folder, &mut messages)?;
    }
    Ok(messages)
}

/// Keeps the documents that the reader accepts: mutations of others are nearly always refused too.
fn accepted(mut documents: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let (mut reading, mut random) = (Reading::new(), Rng::with_seed(0));
    documents.retain(|document| matches!(reading.read(document, &mut random), Ok(Ok(_))));
    documents
}

/// Adds the XML files in a folder and those below it, sorted by name.
fn collect(folder: &Path, documents: &mut Vec<Vec<u8>>) -> Result<()> {
    let entries = folder.read_dir().with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort_unstable();
    for path in paths {
        if path.is_dir() {
            collect(&path, documents)?;
        } else if path.extension().is_some_and(|extension| extension == "xml") {
            documents.push(std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?);
        }
    }
    Ok(())
}

struct Comparison {
    reading: Reading,
    parsers: Vec<Parser>,
    tally: Tally,
}

impl Comparison {
    fn new(python: &Path) -> Result<Self> {
        let parsers = Kind::ALL.map(|kind| Parser::start(python, kind)).into_iter().collect::<Result<_>>()?;
        Ok(Comparison { reading: Reading::new(), parsers, tally: Tally::default() })
    }

    /// Reads documents on both sides, and compares the results.
    fn batch(&mut self, documents: &[Vec<u8>], name: impl Fn(usize) -> String) -> Result<()> {
        for parser in &mut self.parsers {
            parser.send(documents)?;
        }
        for (index, document) in documents.iter().enumerate() {
            let read = self.reading.read(document, &mut Rng::with_seed(index as u64));
            for parser in &mut self.parsers {
                let answer = parser.answer()?;
                match &read {
                    Ok(ours) => self.tally.note(&name(index), document, ours, parser.kind, &answer),
                    Err(outcomes) => self.tally.note_cut(&name(index), document, outcomes),
                }
            }
        }
        Ok(())
    }
}
