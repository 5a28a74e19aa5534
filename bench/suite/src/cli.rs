//! The command line.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::definitions::Definitions;
use crate::figures::FiguresArguments;
use crate::figures::instructions::OnceArguments;
use crate::load::mtom::MtomArguments;
use crate::load::{self, LoadArguments};
use crate::memories::{self, MemoriesArguments};
use crate::options::RunArguments;
use crate::paper::PaperArguments;
use crate::reproduce::ReproduceArguments;
use crate::security::{self, SecurityArguments};
use crate::suite::service::{self, ServeArguments};
use crate::suite::{self, SuiteArguments};

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
    /// Simulate a server's memories with many clients, for the choice of their bound
    Memories(MemoriesArguments),
    /// Transfer a large part both ways
    #[command(hide = true)]
    Mtom(MtomArguments),
    /// Measure signing and verifying messages, beside WSS4J and zeep with xmlsec
    Security(SecurityArguments),
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
        Command::Memories(arguments) => memories::run(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Mtom(arguments) => load::mtom::run(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Security(arguments) => security::run(&arguments),
        Command::Suite(arguments) => suite::run(&arguments, &definitions),
        Command::Reproduce(arguments) => reproduce::run(&arguments, &definitions),
        Command::Serve(arguments) => service::run(&arguments),
        Command::List => {
            println!("{}", report::list(&definitions));
            Ok(ExitCode::SUCCESS)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }
}
