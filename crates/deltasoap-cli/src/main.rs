//! The `deltasoap` command.

#![forbid(unsafe_code)]

mod cli;
mod demo;
mod figures;
mod generate;
mod progress;
mod replay;
mod services;

use clap::Parser;
use cli::{Arguments, Task};
use std::io::{self, IsTerminal};
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    log();
    let result = match arguments.task {
        Task::Demo(demo) => demo::run(&demo).await,
        Task::Generate(generate) => generate::run(&generate),
        Task::Replay(replay) => replay::run(&replay),
        Task::Serve(serve) => services::serve(&serve).await,
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Logs to standard error what `RUST_LOG` asks for; warnings by default.
fn log() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    let is_terminal = io::stderr().is_terminal();
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_ansi(is_terminal).init();
}
