//! `cargo xtask soak`: random streams of messages, read and written in every way beside naive twins. What it does is in
//! `tests/soak`; here it is built with optimization, and started.

use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::shell;

/// Arguments of the task.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Arguments {
    /// Arguments of `deltasoap-soak`; `--help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    more: Vec<String>,
}

/// Runs the task; fails if a difference is found.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let options = ["run", "--quiet", "--profile", "fast", "--locked", "-p", "deltasoap-soak", "--"];
    let mut soak = shell::command("cargo", options);
    let status = soak.args(&arguments.more).current_dir(shell::root()).status().context("cannot start cargo")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
