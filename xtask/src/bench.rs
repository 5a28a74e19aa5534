//! `cargo xtask bench`: installs the peers that are available for this machine, and runs the
//! benchmark suite over all of them.

use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::shell::Profile;
use crate::{peers, shell};

#[derive(clap::Args)]
pub struct Arguments {
    /// Use fewer sizes, streams and runs: some minutes instead of an hour or two
    #[arg(long, conflicts_with = "smoke")]
    quick: bool,
    /// Do the minimum that shows that everything works: some seconds
    #[arg(long)]
    smoke: bool,
    /// Use the peers that are already built, and build none
    #[arg(long)]
    no_install: bool,
    /// Further arguments of `deltasoap-bench suite`
    #[arg(last = true, value_name = "ARGUMENT")]
    more: Vec<String>,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    if !arguments.no_install {
        peers::install();
    }
    let mut suite = shell::ours("deltasoap-bench", Profile::Release);
    suite.arg("suite");
    if arguments.quick {
        suite.arg("--quick");
    }
    if arguments.smoke {
        suite.arg("--smoke");
    }
    let status = suite.args(&arguments.more).status().context("cannot start cargo")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
