//! Goals on instructions, counted by callgrind: a number that other programs on the machine do not
//! affect.
//!
//! This program starts itself under [`valgrind`](super::valgrind) with the hidden command `once`,
//! which decodes a number of messages. Only instructions inside [`counted_messages`] are counted,
//! so creating the messages is not.

use std::rc::Rc;

use anyhow::{Result, bail};
use deltasoap::engine::Differential;

use super::goal::Goal;
use super::valgrind::{counted, counted_messages};
use super::{Effort, Task, real};
use crate::definitions::Definitions;
use crate::options::{DifferentialArguments, Policy};
use crate::payload::Same;
use crate::stream::lane::{Lane, Setup};
use crate::stream::{Bound, Recipe, Stream, Visitor, with_stream};

/// Which messages to decode.
#[derive(Debug, clap::Args)]
pub struct OnceArguments {
    /// A workload of similar messages
    #[arg(long, value_name = "NAME", default_value = "decode-similar-hard")]
    pub workload: String,
    /// Number of elements in an array
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub size: usize,
    /// Percentage of values that change from message to message
    #[arg(long, value_name = "P", default_value_t = 100, value_parser = clap::value_parser!(u32).range(..=100))]
    pub changed: u32,
    /// Number of parts of an array that have that percentage in their middle
    #[arg(long, value_name = "T", default_value_t = 1)]
    pub partitions: usize,
    /// Number of messages to decode, starting with the first
    #[arg(long, value_name = "N", default_value_t = MESSAGES)]
    pub messages: usize,
    /// A recorded message instead, and how to read it, as `figures --only real` names them:
    /// `EntityStatus, tree`
    #[arg(long, value_name = "NAME")]
    pub real: Option<String>,
    /// Read the recorded message without shortcuts
    #[arg(long, requires = "real")]
    pub general: bool,
    #[command(flatten)]
    pub differential: DifferentialArguments,
}

const MESSAGES: usize = 24;

/// Returns the goal.
pub fn tasks(effort: Effort) -> Vec<Task> {
    let measure = move || {
        let goal = "at most 1.03 × regular";
        match (count(effort, Policy::Leaf), count(effort, Policy::Off)) {
            (Ok(differential), Ok(regular)) => {
                let detail = format!("{differential} and {regular} instructions");
                Ok(Goal::at_most(1.03, "× regular", differential as f64 / regular.max(1) as f64, detail))
            }
            (Err(error), _) | (_, Err(error)) => Ok(Goal::unknown(goal, format!("{error:#}"))),
        }
    };
    vec![Task { name: "instructions, hard doubles, all changed".to_owned(), measure: Box::new(measure) }]
}

/// Counts the instructions for a stream in which everything changes.
fn count(effort: Effort, policy: Policy) -> Result<u64> {
    let (size, messages) = (effort.n.to_string(), effort.large_messages.to_string());
    counted(&["--checkpoints", &crate::options::name(policy), "--size", &size, "--messages", &messages])
}

/// Runs `once`: decodes messages under a profiler.
///
/// # Errors
/// When there is no such workload, or a message cannot be decoded.
pub fn once(arguments: &OnceArguments, definitions: &Definitions) -> Result<()> {
    if let Some(name) = &arguments.real {
        return real::once(name, arguments.general);
    }
    let streams = definitions.select(std::slice::from_ref(&arguments.workload))?.streams;
    let Some(workload) = streams.first() else { bail!("{} is not a stream of similar messages", arguments.workload) };
    let OnceArguments { size: n, changed: percent, partitions, messages, .. } = *arguments;
    let recipe = Recipe { kind: workload.stream, n, percent, partitions };
    with_stream(recipe, Bound::SMALL, Once { differential: arguments.differential.differential(), messages })
}

struct Once {
    differential: Differential,
    messages: usize,
}

impl Visitor for Once {
    type Output = ();

    fn visit<T: Same>(self, stream: Stream<T>) -> Result<()> {
        let mut lane = Lane::new(Rc::new(stream), Setup::new(self.differential));
        let mut result = Ok(());
        counted_messages(&mut || result = lane.advance(self.messages));
        result
    }
}
