//! `cargo xtask check`: the fast checks, for use during development: formatting, lints, tests,
//! documentation.
//!
//! `.ci/run` has the same steps and more; a test compares the two.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};

use crate::shell;

/// The arguments of cargo for each step.
const STEPS: [&str; 4] = [
    "fmt --all --check",
    "clippy --workspace --all-targets --locked -- -D warnings",
    "test --workspace --locked",
    "doc --workspace --no-deps --locked",
];

/// Runs the steps in order, until one fails.
pub fn run() -> Result<ExitCode> {
    for step in STEPS {
        println!("=== cargo {step}");
        let start = Instant::now();
        let mut cargo = shell::command("cargo", step.split(' '));
        cargo.env("RUSTDOCFLAGS", "-D warnings").current_dir(shell::root());
        if !cargo.status().context("cannot start cargo")?.success() {
            eprintln!("failed: cargo {step}");
            return Ok(ExitCode::FAILURE);
        }
        println!("=== done in {} s", start.elapsed().as_secs());
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tier(name: &str) -> String {
        std::fs::read_to_string(shell::root().join(".ci").join(name)).unwrap()
    }

    #[test]
    fn each_tier_contains_the_one_below() {
        let run = tier("run");
        for step in STEPS {
            assert!(run.lines().any(|line| line.ends_with(&format!("step cargo {step}"))), "{step}");
        }
        assert!(tier("full").lines().any(|line| line == "step .ci/run"));
    }
}
