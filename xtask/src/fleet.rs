//! `cargo xtask fleet`: a fleet of devices calls three servers behind a load balancer, of which some
//! end. The program is in `tests/endurance`, the servers and the configurations in `examples/fleet`.
//! This task installs HAProxy (Debian) and Envoy (PyPI), builds the rest with optimization, and starts
//! it.

use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::shell::{self, Profile};
use crate::{debian, python};

/// Arguments of the task.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Arguments {
    /// Arguments of `deltasoap-endurance fleet`; `--help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    more: Vec<String>,
}

/// Runs the task; fails if anything was wrong.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    debian::install(&["haproxy"])?;
    let python = python::environment("fleet", &shell::root().join("tests/endurance/requirements.txt"))?;
    let envoy = python.with_file_name("envoy");
    shell::build(&["example-fleet"], Profile::Release)?;
    let mut fleet = shell::ours("deltasoap-endurance", Profile::Release);
    fleet.arg("fleet").arg("--server").arg(shell::built("example-fleet", Profile::Release));
    let status = fleet.arg("--envoy").arg(envoy).args(&arguments.more).status();
    let status = status.context("the program cannot be started")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
