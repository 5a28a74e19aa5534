//! Counts the instructions of this program under valgrind.

use std::env;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Counts the instructions of `once` with these arguments.
pub fn counted(arguments: &[&str]) -> Result<u64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"]);
    command.arg("--toggle-collect=*counted_messages*").arg(env::current_exe()?).arg("once").args(arguments);
    let output = command.output().context("valgrind cannot be started")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "valgrind has failed: {said}");
    collected(&said).with_context(|| format!("valgrind has counted nothing: {said}"))
}

/// Returns the number in callgrind's line `==123== Collected : 456`.
fn collected(said: &str) -> Option<u64> {
    let (_, count) = said.lines().find_map(|line| line.split_once("Collected :"))?;
    count.trim().parse().ok().filter(|count| *count > 0)
}

/// A frame that profilers find by its name.
#[inline(never)]
pub fn counted_messages(work: &mut dyn FnMut()) {
    work();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_found() {
        assert_eq!(collected("==7== Events    : Ir\n==7== Collected : 1234567\n==7==\n"), Some(1_234_567));
        assert_eq!(collected("==7== Collected : 0\n"), None);
        assert_eq!(collected("nothing"), None);
    }
}
