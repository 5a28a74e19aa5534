//! `cargo xtask deny`: checks all dependencies with cargo-deny, by the rules in `deny.toml`.
//!
//! Vulnerabilities are looked up in the database of RustSec, which is fetched from GitHub. Where
//! that cannot be reached, the task says so and checks the rest.

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::shell;
use crate::tool::Tool;

const CARGO_DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2", options: &["--no-default-features"] };

/// What the checks need no network for.
const OFFLINE: [&str; 3] = ["licenses", "bans", "sources"];

/// The workspaces that people use. Fuzz targets and peers are not distributed.
const MANIFESTS: [&str; 2] = ["Cargo.toml", "python/Cargo.toml"];

pub fn run() -> Result<ExitCode> {
    let program = CARGO_DENY.installed()?;
    let mut arguments = [&["check"], &OFFLINE[..]].concat();
    if shell::run(&mut deny(&program, &["fetch", "db"])).is_ok() {
        arguments.push("advisories");
    } else {
        println!("advisories are not checked: RustSec's database cannot be fetched");
    }
    let mut are_fine = true;
    for manifest in MANIFESTS {
        let mut check = deny(&program, &["--manifest-path", manifest]);
        are_fine &= check.args(&arguments).status().context("cannot start cargo-deny")?.success();
    }
    Ok(if are_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn deny(program: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.arg("--locked").args(arguments).current_dir(shell::root());
    command
}
