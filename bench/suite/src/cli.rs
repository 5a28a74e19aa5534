//! The command line.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::{Parser, Subcommand};

use crate::figures::FiguresArguments;
use crate::figures::instructions::OnceArguments;
use crate::load::mtom::MtomArguments;
use crate::load::{self, LoadArguments};
use crate::options::{DifferentialArguments, SendArguments};
use crate::paper::PaperArguments;
use crate::reproduce::ReproduceArguments;
use crate::suite::service::{self, ServeArguments};
use crate::suite::{self, SuiteArguments};
use crate::workload::Definitions;
use crate::{figures, paper, report, reproduce, run};

#[derive(Parser)]
#[command(name = "deltasoap-bench", version, about = "Measure deltasoap and other SOAP toolkits")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check and time workloads
    Run(RunArguments),
    /// Measure differential decoding and serialization against their goals
    Figures(FiguresArguments),
    /// Decode a stream of similar messages once, for a profiler
    #[command(hide = true)]
    Once(OnceArguments),
    /// Draw the tables and figures of the papers on differential deserialization from our data
    Paper(PaperArguments),
    /// Load servers with many clients, and check every answer
    Load(LoadArguments),
    /// Transfer a large part both ways
    #[command(hide = true)]
    Mtom(MtomArguments),
    /// Measure all toolkits in all areas, into a record with a report
    Suite(SuiteArguments),
    /// Reproduce the five papers: every table, figure and claim, into a record with a report
    Reproduce(ReproduceArguments),
    /// Serve the operations of the suite
    #[command(hide = true)]
    Serve(ServeArguments),
    /// List the workloads and engines
    List,
}

/// What to measure, and how long.
#[derive(clap::Args)]
pub struct RunArguments {
    /// A workload (repeatable) [default: all]
    #[arg(long = "workload", value_name = "NAME")]
    pub workloads: Vec<String>,
    /// Elements in an array; bytes for base64 (repeatable)
    #[arg(long = "size", value_name = "N", default_values_t = [1000, 100_000])]
    pub sizes: Vec<usize>,
    /// A toolkit, or `all` (repeatable)
    #[arg(long = "engine", value_name = "NAME", default_values_t = [String::from("deltasoap")])]
    pub engines: Vec<String>,
    /// Print one JSON object per line instead of a table
    #[arg(long)]
    pub json: bool,
    /// Minimum number of runs of each measurement
    #[arg(long, value_name = "N", default_value = "15")]
    pub runs: NonZeroUsize,
    /// Minimum seconds of each measurement
    #[arg(long, value_name = "S", default_value = "0.5", value_parser = seconds)]
    pub seconds: Duration,
    /// Feed deltasoap's decoder with chunks of this size instead of whole messages; for sent
    /// messages, the size of a template's chunks, `8K` or `32K` in the paper [default there: 32K]
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub chunk: Option<NonZeroUsize>,
    /// Folder of built peers [default: .peers in the repository]
    #[arg(long, value_name = "FOLDER")]
    pub peers: Option<PathBuf>,
    /// Percentage of values that change from message to message in a stream of similar ones
    /// (repeatable) [default: 25; for sent messages 25, 50, 75 and 100, and with `send-shift` 100]
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u32).range(..=100))]
    pub changed: Vec<u32>,
    /// Number of parts of an array that have that percentage in their middle (repeatable)
    #[arg(long, value_name = "T", default_value = "1")]
    pub partitions: Vec<NonZeroUsize>,
    #[command(flatten)]
    pub differential: DifferentialArguments,
    #[command(flatten)]
    pub send: SendArguments,
}

/// Runs the command line.
pub fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let definitions = Definitions::load()?;
    match arguments.command {
        Command::Run(arguments) => run::run(&arguments, &definitions),
        Command::Figures(arguments) => figures::run(&arguments),
        Command::Once(arguments) => {
            figures::instructions::once(&arguments, &definitions)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Paper(arguments) => paper::run(&arguments, &definitions),
        Command::Load(arguments) => load::run(&arguments),
        Command::Mtom(arguments) => load::mtom::run(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Suite(arguments) => suite::run(&arguments, &definitions),
        Command::Reproduce(arguments) => reproduce::run(&arguments, &definitions),
        Command::Serve(arguments) => service::run(&arguments),
        Command::List => {
            println!("{}", report::list(&definitions));
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Parses a number of bytes, in KiB if followed by `K`.
fn bytes(text: &str) -> Result<NonZeroUsize> {
    let (number, unit) = text.strip_suffix(['K', 'k']).map_or((text, 1), |number| (number, 1024));
    let bytes = number.parse::<usize>()?.checked_mul(unit).and_then(NonZeroUsize::new);
    bytes.context("not a size")
}

/// Parses a time in seconds, up to an hour.
pub fn seconds(text: &str) -> Result<Duration> {
    let seconds = Duration::try_from_secs_f64(text.parse()?)?;
    ensure!(seconds <= Duration::from_secs(3600), "more than an hour");
    Ok(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!([bytes("7").unwrap().get(), bytes("8K").unwrap().get()], [7, 8192]);
        assert!(bytes("0").is_err() && bytes("K").is_err() && bytes("99999999999999999999K").is_err());
    }

    #[test]
    fn seconds_are_positive_and_bounded() {
        assert_eq!(seconds("0.25").unwrap(), Duration::from_millis(250));
        assert!(seconds("-1").is_err() && seconds("1e9").is_err() && seconds("NaN").is_err());
    }
}
