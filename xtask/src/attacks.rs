//! Runs the attacks that are too large for the tests, and prints a table of them: what was tried,
//! how the attack was answered, time and memory.
//!
//! The attacks are tests; the large ones are ignored by default. Each prints its rows, and fails if
//! a limit is exceeded. All run on this machine and terminate by themselves.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};

use crate::shell::{output, root};

/// File with the table.
const REPORT: &str = "docs/reliability.md";
/// Markers before and after the table.
const MARKS: [&str; 2] = ["<!-- attacks -->\n", "<!-- end of attacks -->"];
const HEADING: &str = "| attack | answer | time | memory |\n|---|---|---|---|\n";

/// Packages, their test programs, the prefix of the tests' names, and whether these tests are
/// ignored by default.
const TESTS: [(&str, &str, &str, bool); 10] = [
    ("deltasoap-cli", "under_attack", "attack_", true),
    ("deltasoap-cli", "under_attack", "what_is_killed", false),
    ("deltasoap-cli", "attacks", "", false),
    ("deltasoap-codegen", "it", "hostile::", false),
    ("deltasoap-http", "it", "page::every_text_is_escaped", false),
    ("deltasoap-http", "alone", "faults::", false),
    ("deltasoap-http", "alone", "neighbours::attack_", true),
    ("deltasoap-http", "alone", "panics::attack_", true),
    ("deltasoap-http", "alone", "hostile_servers::", false),
    ("deltasoap-dynamic", "compiled", "attack_", true),
];

/// Arguments of the task.
#[derive(clap::Args)]
pub struct Arguments {
    /// Write the table into docs/reliability.md
    #[arg(long)]
    record: bool,
}

/// Runs the task; fails if an attack succeeds.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let mut rows = Vec::new();
    for (package, program, names, is_ignored) in TESTS {
        let found = attacks(package, program, names, is_ignored)?;
        ensure!(!found.is_empty(), "{package}'s tests {names} in {program} printed no row");
        rows.extend(found);
    }
    let table = format!("{HEADING}{}\n", rows.join("\n"));
    print!("{table}");
    if arguments.record {
        record(&table)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs the tests with this prefix and returns their rows.
fn attacks(package: &str, program: &str, names: &str, is_ignored: bool) -> Result<Vec<String>> {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(root()).args(["test", "--locked", "-p", package, "--test", program, "--"]);
    command.args([names, "--nocapture", "--test-threads", "1"]);
    if is_ignored {
        command.arg("--ignored");
    }
    let printed = output(&mut command)?;
    Ok(printed.lines().filter_map(row).map(str::to_owned).collect())
}

/// Returns the table row in a line, which may follow the name of a test.
fn row(line: &str) -> Option<&str> {
    let row = &line[line.find("| ")?..];
    row.ends_with('|').then_some(row)
}

/// Writes the table between its markers.
fn record(table: &str) -> Result<()> {
    let path = root().join(REPORT);
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let [begin, end] = MARKS;
    let parts = text.split_once(begin).and_then(|(front, rest)| Some((front, rest.split_once(end)?.1)));
    let (front, rest) = parts.with_context(|| format!("{REPORT} has no place for the table"))?;
    std::fs::write(&path, format!("{front}{begin}{table}{end}{rest}"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_after_names_of_tests() {
        assert_eq!(row("test a ... | b | c | d | e |"), Some("| b | c | d | e |"));
        assert_eq!(row("| b | c | d | |"), Some("| b | c | d | |"));
        assert_eq!(row("test a ... ok"), None);
        assert_eq!(row("a | b"), None);
    }
}
