//! The `deltasoap` command.

#![forbid(unsafe_code)]

mod cli;
mod demo;
mod figures;
mod progress;
mod replay;
mod services;

use clap::Parser;
use cli::{Arguments, Task};
use std::io::{self, IsTerminal};
use std::process::ExitCode;
use tokio::runtime::Builder;
use tracing_subscriber::EnvFilter;

/// How often a worker of the runtime looks into the queue that all share: in front of each task. Tasks overflow into it when more
/// than 256 are ready, oldest first; looked at seldom, they wait while younger ones run again and again.
const SHARED_QUEUE: u32 = 1;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    log();
    let runtime = Builder::new_multi_thread().enable_all().global_queue_interval(SHARED_QUEUE).build();
    match runtime.map_err(anyhow::Error::from).and_then(|runtime| runtime.block_on(run(arguments.task))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(task: Task) -> anyhow::Result<()> {
    match task {
        Task::Demo(demo) => demo::run(&demo).await,
        Task::Replay(replay) => replay::run(&replay),
        Task::Serve(serve) => services::serve(&serve).await,
    }
}

/// Logs to standard error what `RUST_LOG` asks for; warnings by default.
fn log() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    let is_terminal = io::stderr().is_terminal();
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_ansi(is_terminal).init();
}
