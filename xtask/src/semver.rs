//! `cargo xtask semver`: compares the API of all libraries with that of the last release.
//!
//! cargo-semver-checks takes the last release from its tag, so nothing needs to be published. It
//! does not see macros, generated code or the command.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::shell;
use crate::tool::Tool;

const SEMVER_CHECKS: Tool = Tool { name: "cargo-semver-checks", version: "0.51.0", options: &[] };

pub fn run() -> Result<ExitCode> {
    let tags = ["tag", "--merged", "HEAD", "--sort", "-version:refname", "--list", "v[0-9]*"];
    let tags = shell::output(shell::command("git", tags).current_dir(shell::root()))?;
    let Some(tag) = tags.lines().next() else {
        println!("there is no tag of a release, so there is nothing to compare with");
        return Ok(ExitCode::SUCCESS);
    };
    let mut checks = Command::new(SEMVER_CHECKS.installed()?);
    checks.args(["semver-checks", "--workspace", "--baseline-rev", tag]).current_dir(shell::root());
    let status = checks.status().context("cannot start cargo-semver-checks")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
