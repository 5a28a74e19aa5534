//! `cargo xtask interop`: clients of other toolkits against our server.
//!
//! So far one: zeep, in a Python environment of its own below `.peers/zeep/`. Our server and the client are
//! processes of their own and meet only on a socket.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::{shell, summary};

/// Starts the server of `testdata/wsdl/bench.wsdl`. On Unix cargo becomes the program that it runs, so that
/// killing this process kills the server.
const SERVER: &[&str] = &["cargo", "run", "--release", "-p", "deltasoap-cli", "--", "serve", "--listen", "127.0.0.1:0"];
/// The server says where it is in a line of its standard output that begins so.
const ANNOUNCEMENT: &str = "listening on ";

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

/// Our server; killed when dropped.
struct Server {
    process: Child,
    url: String,
    /// Kept open, so that the server may go on writing.
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start() -> Result<Self> {
        let [program, arguments @ ..] = SERVER else { unreachable!("the command has a program") };
        let mut command = shell::command(program, arguments);
        let mut process = command.current_dir(shell::root()).stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let output = process.stdout.take().context("the server has no standard output")?;
        let mut server = Server { process, url: String::new(), output: BufReader::new(output) };
        server.url = server.announced_url()?;
        Ok(server)
    }

    fn announced_url(&mut self) -> Result<String> {
        let mut line = String::new();
        while self.output.read_line(&mut line)? > 0 {
            if let Some(url) = line.strip_prefix(ANNOUNCEMENT) {
                return Ok(url.trim().to_owned());
            }
            line.clear();
        }
        bail!("the server has ended without a line that begins with {ANNOUNCEMENT:?}")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail only if the process has ended, which is what they are for.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
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
