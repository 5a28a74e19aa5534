//! `engines`: runs the adapters of the Python package for Ray, Dask and Spark from its wheel, with two
//! workers each, of which one is killed; `--figures` measures them.

use crate::{java, python_package, shell};
use anyhow::Result;
use clap::Args;
use std::process::ExitCode;

#[derive(Args)]
pub struct Arguments {
    /// Build with optimisations and measure, instead of the tests
    #[arg(long)]
    figures: bool,
}

/// The name of the environment below `.peers/`.
const WORKSPACE: &str = "engines";

/// Builds the wheel, and runs the tests or the measurements.
///
/// # Errors
/// Returns an error if something is missing that the environment needs, the package cannot be
/// built, or a test fails.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    java::install_runtime()?;
    let tests = shell::root().join("python/tests/engines");
    let python = python_package::install_with(WORKSPACE, &tests.join("requirements.txt"), arguments.figures)?;
    let mut command = match arguments.figures {
        true => shell::command(&python.display().to_string(), ["figures.py"]),
        false => shell::command(&python.with_file_name("pytest").display().to_string(), ["-q", "."]),
    };
    // The sources have no engine: programs that tests start must not import them.
    shell::run(command.current_dir(&tests).env("PYTHONSAFEPATH", "1").env("RAY_USAGE_STATS_ENABLED", "0"))?;
    Ok(ExitCode::SUCCESS)
}
