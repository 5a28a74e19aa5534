//! The `deltasoap` command, as a library for programs that contain it: the binary of this crate, and
//! the Python package.
//!
//! The only function is [`run`]. What the command does is in its modules, which follow its
//! subcommands.

#![forbid(unsafe_code)]
#![warn(clippy::print_stdout, clippy::print_stderr)]

#[cfg(feature = "archive")]
mod archive;
mod certificate;
mod cli;
mod contract;
mod cost;
mod demo;
#[cfg(test)]
mod documented;
mod figures;
mod files;
mod hangups;
mod listening;
mod output;
mod progress;
mod query;
mod replay;
mod services;
mod telemetry;

use anyhow::Result;
use clap::Parser;
use cli::{Arguments, Task};
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use tokio::runtime::Builder;

/// Number of tasks that a worker of the runtime runs between two looks into the shared queue. When
/// more than 256 tasks are ready, the oldest overflow into that queue; if workers look there
/// rarely, they wait while younger tasks run again and again.
const SHARED_QUEUE: u32 = 1;

/// Exit code of a process that an interrupt (Ctrl-C) ended, as shells report it.
const INTERRUPTED: u8 = 130;

/// Runs the command with these arguments, the first of which is the name of the program, and
/// returns its exit code. What it prints is flushed.
///
/// It ends early when `stop` is ready, at the next point where it waits. Pass
/// [`pending`](std::future::pending) to run it to its end.
///
/// ```
/// let code = deltasoap_cli::run(["deltasoap", "--version"], std::future::pending());
/// assert_eq!(code, 0);
/// ```
pub fn run<A>(arguments: impl IntoIterator<Item = A>, stop: impl Future<Output = ()>) -> u8
where
    A: Into<OsString> + Clone,
{
    let code = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => number(ended(telemetry::start().and_then(|_telemetry| execute(arguments.task, stop)))),
        Err(error) => {
            // If the output is closed, there is nowhere to report it.
            let _ = error.print();
            u8::try_from(error.exit_code()).unwrap_or(1)
        }
    };
    flush();
    code
}

fn execute(task: Task, stop: impl Future<Output = ()>) -> Result<ExitCode> {
    let runtime = Builder::new_multi_thread().enable_all().global_queue_interval(SHARED_QUEUE).build()?;
    let ran = runtime.block_on(async {
        tokio::select! {
            biased;
            ran = perform(task) => Some(ran),
            () = stop => None,
        }
    });
    ran.unwrap_or_else(|| {
        // A task that blocks its thread does not delay the end.
        runtime.shutdown_background();
        Ok(ExitCode::from(INTERRUPTED))
    })
}

/// Reports an error, and returns the exit code.
fn ended(ran: Result<ExitCode>) -> ExitCode {
    ran.unwrap_or_else(|error| {
        if is_broken_pipe(&error) {
            return ExitCode::SUCCESS;
        }
        output::report(format_args!("error: {}", output::with_causes(error.as_ref())));
        ExitCode::FAILURE
    })
}

/// Returns the number of an exit code.
fn number(code: ExitCode) -> u8 {
    (0..=u8::MAX).find(|number| ExitCode::from(*number) == code).unwrap_or(1)
}

/// Writes what is buffered for standard output. A program in another language does not do this when
/// it ends.
#[expect(clippy::disallowed_methods, reason = "nothing is written")]
fn flush() {
    // If the output is closed, there is nowhere to report it.
    let _ = io::stdout().flush();
}

/// Returns true if the reader of standard output has closed it.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

async fn perform(task: Task) -> Result<ExitCode> {
    let done = |()| ExitCode::SUCCESS;
    match task {
        Task::List(list) => contract::list(&list),
        Task::Describe(describe) => contract::describe(&describe).map(done),
        Task::Template(template) => contract::template(&template).map(done),
        Task::Call(call) => contract::call(&call).await,
        #[cfg(feature = "mcp")]
        Task::Mcp(mcp) => contract::mcp(&mcp).await.map(done),
        Task::Mock(mock) => contract::mock(&mock).await.map(done),
        #[cfg(feature = "gateway")]
        Task::Gateway(gateway) => contract::gateway(&gateway).await.map(done),
        #[cfg(feature = "load")]
        Task::Load(load) => contract::load(&load).await,
        #[cfg(feature = "proxy")]
        Task::Proxy(proxy) => contract::proxy(&proxy).await.map(done),
        Task::Validate(validate) => contract::validate(&validate),
        #[cfg(feature = "test")]
        Task::Test(test) => contract::test(&test).await,
        Task::Diff(diff) => contract::diff(&diff),
        Task::Compile(compile) => contract::compile(&compile).map(done),
        Task::Demo(demo) => demo::run(&demo).await.map(done),
        Task::Generate(generate) => contract::generate(&generate),
        Task::Replay(replay) => replay::run(&replay).map(done),
        Task::Serve(serve) => services::serve(&serve).await.map(done),
        Task::Cost(arguments) => cost::run(&arguments.task).await.map(done),
        #[cfg(feature = "archive")]
        Task::Archive(arguments) => archive::run(&arguments).map(done),
        Task::Query(arguments) => query::run(&arguments).await.map(done),
        Task::Completions(completions) => contract::completions(&completions).map(done),
        Task::Man(man) => contract::man(&man).map(done),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_have_their_numbers() {
        for code in [0, 1, 2, 4, 255] {
            assert_eq!(number(ExitCode::from(code)), code);
        }
    }
}
