//! `figures`: measures differential decoding and serialization, and judges each goal.
//!
//! Goals are ratios of times measured alternately in one run, so that they mean the same on every
//! machine. "Floor" is the comparison of a message with an equal one, "regular" our own decoding of
//! the same messages in regular mode.

mod arrays;
mod bandwidth;
mod connections;
mod fresh;
mod goal;
pub mod instructions;
mod memory;
mod network;
mod operations;
mod overlap;
mod packed;
mod pairs;
mod real;
mod sends;
mod streams;
mod templates;
mod valgrind;
mod wire;
mod wsdl;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use indicatif::ProgressBar;

use crate::environment::Environment;
use crate::load::server;
use crate::measure::SampleSize;
use goal::{Goal, table};

/// How thoroughly to measure.
#[derive(Debug, clap::Args)]
pub struct FiguresArguments {
    /// Small arrays and few runs: shows that it works, not how fast
    #[arg(long)]
    pub quick: bool,
    /// Number of elements in an array [default: 100000, the goals' size]
    #[arg(long, value_name = "N")]
    pub size: Option<usize>,
    /// Number of pairs of streams for an interval [default: 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    pub pairs: Option<u32>,
    /// Print one JSON object per line instead of a table
    #[arg(long)]
    pub json: bool,
    /// Skip the goals whose names do not contain this
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// Folder of built peers; sending is compared with gSOAP, and servers with those of gSOAP and
    /// CXF, if they are built [default: .peers in the repository]
    #[arg(long, value_name = "FOLDER")]
    pub peers: Option<PathBuf>,
    /// Folder of large WSDLs: import and loading are measured for those above 1 MB [default: the
    /// largest of the repository]
    #[arg(long, value_name = "FOLDER")]
    pub descriptions: Option<PathBuf>,
}

/// How thoroughly to measure.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Number of elements in an array.
    pub n: usize,
    /// Runs of a stream.
    pub sample_size: SampleSize,
    /// Number of pairs of streams.
    pub pairs: usize,
    /// Number of messages with large arrays in each stream of a pair.
    pub large_messages: usize,
    /// Minimum number of small messages in each stream of a pair.
    pub small_messages: usize,
    /// True if the run only shows that everything works.
    pub is_quick: bool,
}

impl Effort {
    fn new(arguments: &FiguresArguments) -> Self {
        let full = Effort {
            n: 100_000,
            sample_size: SampleSize { runs: 25, time: Duration::from_millis(400) },
            pairs: 100,
            large_messages: 24,
            small_messages: 1000,
            is_quick: false,
        };
        let quick = Effort {
            n: 1000,
            sample_size: SampleSize { runs: 5, time: Duration::ZERO },
            pairs: 5,
            large_messages: 4,
            small_messages: 1,
            is_quick: true,
        };
        let effort = if arguments.quick { quick } else { full };
        Effort {
            n: arguments.size.unwrap_or(effort.n),
            pairs: arguments.pairs.map_or(effort.pairs, |pairs| pairs as usize),
            ..effort
        }
    }
}

/// A goal to measure. Goals that are measured together are adjacent.
pub struct Task {
    /// The measured quantity.
    pub name: String,
    /// Measures the goal.
    pub measure: Box<dyn FnOnce() -> Result<Goal>>,
}

/// Measures and judges all goals.
///
/// # Errors
/// When a value is wrong, or a message cannot be decoded.
pub fn run(arguments: &FiguresArguments) -> Result<ExitCode> {
    server::remember_cores();
    let environment = Environment::prepare();
    environment.warning().iter().for_each(|warning| eprintln!("{warning}"));
    let mut tasks = all(Effort::new(arguments), arguments);
    tasks.retain(|task| arguments.only.as_ref().is_none_or(|text| task.name.contains(text)));
    let progress = ProgressBar::new(tasks.len() as u64);
    let mut goals = Vec::new();
    for task in tasks {
        let goal = (task.measure)()?.named(task.name);
        if arguments.json {
            progress.suspend(|| print_line(&goal))?;
        }
        goals.push(goal);
        progress.inc(1);
    }
    progress.finish_and_clear();
    if !arguments.json {
        println!("{environment}\n{}", table(&goals));
    }
    Ok(ExitCode::SUCCESS)
}

fn all(effort: Effort, arguments: &FiguresArguments) -> Vec<Task> {
    let peers = arguments.peers.clone();
    let mut tasks = streams::tasks(effort);
    tasks.extend(pairs::tasks(effort));
    tasks.extend(instructions::tasks(effort));
    tasks.extend(memory::tasks(effort));
    tasks.extend(real::tasks(effort, peers.clone()));
    tasks.extend(arrays::tasks(effort, peers.clone()));
    tasks.extend(packed::tasks(effort));
    tasks.extend(bandwidth::tasks(effort));
    tasks.extend(overlap::tasks(effort));
    tasks.extend(fresh::tasks(effort));
    tasks.extend(templates::tasks(effort));
    tasks.extend(connections::tasks(effort, peers.clone()));
    tasks.extend(sends::tasks(effort, peers.clone()));
    tasks.extend(wire::tasks(effort, peers));
    tasks.extend(operations::tasks(effort));
    tasks.extend(wsdl::tasks(effort, arguments.descriptions.clone()));
    tasks
}

fn print_line(goal: &Goal) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string(goal)?)?;
    out.flush()
}
