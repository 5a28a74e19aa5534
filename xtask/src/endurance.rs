//! `cargo xtask endurance`: a server or a gateway under load, with clients that misbehave. The
//! program is in `tests/endurance`; this task builds it and `deltasoap` with optimization, and
//! starts it.

use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::shell::{self, Profile};

/// Arguments of the task.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Arguments {
    /// Arguments of `deltasoap-endurance`; `--help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    more: Vec<String>,
}

/// Runs the task; fails if anything was wrong.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    shell::build(&["deltasoap-cli"], Profile::Release)?;
    let mut endurance = shell::ours("deltasoap-endurance", Profile::Release);
    endurance.arg("--program").arg(shell::built("deltasoap-cli", Profile::Release)).args(&arguments.more);
    let status = endurance.status().context("the program cannot be started")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
