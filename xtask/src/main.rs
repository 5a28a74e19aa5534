//! `cargo xtask`: what a developer or CI does besides building and testing. One module a task.

mod fuzz;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Tasks of the deltasoap project")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Build the fuzz targets and run them for a while
    Fuzz(fuzz::Arguments),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().task {
        Task::Fuzz(arguments) => fuzz::run(&arguments),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}
