//! `cargo xtask interop`: clients of other toolkits against our server.
//!
//! So far one: zeep, in a Python environment of its own below `.peers/zeep/`. Our server and the client are
//! processes of their own and meet only on a socket.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::server::Server;
use crate::{shell, summary};

#[derive(clap::Args)]
pub struct Arguments {
    /// Test the service at this URL instead of starting our server
    #[arg(long)]
    url: Option<String>,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let python = install_zeep()?;
    let results = match &arguments.url {
        Some(url) => call_with_zeep(&python, url)?,
        None => call_with_zeep(&python, &Server::start()?.url)?,
    };
    print_table(&results);
    Ok(summary::close(&results.iter().map(|result| result.ok).collect::<Vec<_>>()))
}

/// Makes the Python environment unless it is up to date; gives the path of its interpreter.
fn install_zeep() -> Result<PathBuf> {
    let folder = shell::workspace("zeep")?;
    let python = folder.join("venv/bin/python");
    let lock = shell::root().join("tests/interop/zeep/requirements.txt");
    let pins = std::fs::read_to_string(&lock).with_context(|| format!("cannot read {}", lock.display()))?;
    let stamp = folder.join("stamp");
    if !(python.exists() && shell::is_stamped(&stamp, &pins)) {
        println!("installing zeep");
        make_environment(&folder.join("venv"), &python, &lock)?;
        std::fs::write(stamp, pins)?;
    }
    Ok(python)
}

fn make_environment(venv: &Path, python: &Path, lock: &Path) -> Result<()> {
    let advice = "a Python 3 with the module venv is needed";
    shell::run(shell::command("python3", ["-m", "venv", "--clear"]).arg(venv)).context(advice)?;
    let python = python.to_string_lossy();
    // Every package is pinned, so that nothing is left to resolve.
    shell::run(shell::command(&python, ["-m", "pip", "install", "--quiet", "--no-deps", "-r"]).arg(lock))?;
    shell::run(&mut shell::command(&python, ["-m", "pip", "check"]))
}

/// One line of the client's output.
#[derive(Deserialize)]
struct TestResult {
    soap: String,
    test: String,
    ok: bool,
    detail: String,
}

fn call_with_zeep(python: &Path, url: &str) -> Result<Vec<TestResult>> {
    let client = shell::root().join("tests/interop/zeep/client.py");
    println!("calling {url} with zeep");
    let lines = shell::output(Command::new(python).arg(client).arg(url))?;
    lines.lines().map(parse_result).collect()
}

fn parse_result(line: &str) -> Result<TestResult> {
    serde_json::from_str(line).with_context(|| format!("unexpected line of the client: {line}"))
}

fn print_table(results: &[TestResult]) {
    let width = results.iter().map(|result| result.test.chars().count()).max().unwrap_or(0);
    for TestResult { soap, test, ok, detail } in results {
        let outcome = if *ok { "ok" } else { "FAILED" };
        println!("{}", format!("SOAP {soap}  {test:width$}  {outcome}  {detail}").trim_end());
    }
}
