//! `cargo xtask soak`: random streams of messages, decoded and encoded in every way and compared
//! with naive twins. The program is in `tests/soak`; this task builds it with optimization and
//! starts it, with libxml2 as a foreign parser if that can be installed.

use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::shell::Profile;
use crate::{debian, shell};

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
    let python = libxml2();
    let mut soak = shell::ours("deltasoap-soak", Profile::Fast);
    let status = soak.args(python).args(&arguments.more).status().context("cannot start cargo")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the argument for a Python with lxml; none, with a warning, if there is none.
fn libxml2() -> Vec<String> {
    match debian::install(&["python3", "python3-lxml"]) {
        Ok(()) => vec!["--python".to_owned(), "/usr/bin/python3".to_owned()],
        Err(error) => {
            eprintln!("warning: libxml2 does not parse the messages: {error:#}");
            Vec::new()
        }
    }
}
