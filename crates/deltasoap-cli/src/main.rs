//! The `deltasoap` command.

#![forbid(unsafe_code)]
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod cli;
mod contract;
mod cost;
mod demo;
#[cfg(test)]
mod documented;
mod figures;
mod files;
mod output;
mod progress;
mod replay;
mod services;

use anyhow::Result;
use clap::Parser;
use cli::{Arguments, Task};
use std::io::{self, IsTerminal};
use std::process::ExitCode;
use tokio::runtime::Builder;
use tracing_subscriber::EnvFilter;

/// Number of tasks that a worker of the runtime runs between two looks into the shared queue. When
/// more than 256 tasks are ready, the oldest overflow into that queue; if workers look there
/// rarely, they wait while younger tasks run again and again.
const SHARED_QUEUE: u32 = 1;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    log();
    let runtime = Builder::new_multi_thread().enable_all().global_queue_interval(SHARED_QUEUE).build();
    let ran = runtime.map_err(anyhow::Error::from).and_then(|runtime| runtime.block_on(run(arguments.task)));
    ran.unwrap_or_else(|error| {
        if is_broken_pipe(&error) {
            return ExitCode::SUCCESS;
        }
        output::report(format_args!("error: {}", output::with_causes(error.as_ref())));
        ExitCode::FAILURE
    })
}

/// Returns true if the reader of standard output has closed it.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

async fn run(task: Task) -> Result<ExitCode> {
    let done = |()| ExitCode::SUCCESS;
    match task {
        Task::List(list) => contract::list(&list),
        Task::Describe(describe) => contract::describe(&describe).map(done),
        Task::Template(template) => contract::template(&template).map(done),
        Task::Call(call) => contract::call(&call).await,
        Task::Mock(mock) => contract::mock(&mock).await.map(done),
        Task::Validate(validate) => contract::validate(&validate),
        Task::Compile(compile) => contract::compile(&compile).map(done),
        Task::Demo(demo) => demo::run(&demo).await.map(done),
        Task::Generate(generate) => contract::generate(&generate),
        Task::Replay(replay) => replay::run(&replay).map(done),
        Task::Serve(serve) => services::serve(&serve).await.map(done),
        Task::Cost(arguments) => cost::run(&arguments.task).await.map(done),
        Task::Completions(completions) => contract::completions(&completions).map(done),
        Task::Man(man) => contract::man(&man).map(done),
    }
}

/// Logs to standard error at the levels that `RUST_LOG` selects; warnings by default.
#[expect(clippy::disallowed_methods, reason = "the subscriber colours lines itself, and escapes what they hold")]
fn log() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    let is_terminal = io::stderr().is_terminal();
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_ansi(is_terminal).init();
}
