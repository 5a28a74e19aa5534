//! The landing page, and the pages that commands write, as a user sees them, in headless Chromium:
//! `cargo xtask browser` starts a server and this program.
//!
//! Each test visits a page in a tab of its own, with its own size and colour scheme, and takes
//! screenshots to look at. During a test the browser must report no errors or warnings,
//! and send requests only to our server.

#![forbid(unsafe_code)]

mod browser;
mod cost;
mod demo;
mod gateway;
mod page;
mod report;
mod tests;
mod visit;

use anyhow::{Context, Result};
use browser::Browser;
use clap::Parser;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tests::{TESTS, Test, Tests};
use visit::Visit;

#[derive(Parser)]
#[command(about = "Tests the landing page, and pages that commands write, in headless Chromium")]
struct Arguments {
    /// Origin of `deltasoap serve`, such as http://127.0.0.1:8080
    origin: String,
    /// Origin of `deltasoap gateway` for its service /bench, whose page is to be tested as well
    #[arg(long)]
    gateway: Option<String>,
    /// The report of a record of the benchmark suite, to be tested as well
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// A page of `deltasoap cost fit --html`, to be tested as well
    #[arg(long, value_name = "FILE")]
    cost: Option<PathBuf>,
    /// A page of `deltasoap demo --report`, to be tested as well
    #[arg(long, value_name = "FILE")]
    demo: Option<PathBuf>,
    /// A page of `deltasoap replay --html`, to be tested as well
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    /// The browser
    #[arg(long, default_value = "chromium")]
    chromium: PathBuf,
    /// Directory for screenshots
    #[arg(long, default_value = "target/browser")]
    screenshots: PathBuf,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(failures) => {
            eprintln!("{failures} tests failed");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs all tests; returns the number of failures.
fn run(arguments: &Arguments) -> Result<usize> {
    std::fs::create_dir_all(&arguments.screenshots).context("cannot create the folder for screenshots")?;
    let mut browser = Browser::start(&arguments.chromium)?;
    let mut failures = run_all(&mut browser, &TESTS, &arguments.origin, &arguments.screenshots);
    if let Some(origin) = &arguments.gateway {
        failures += run_all(&mut browser, &gateway::TESTS, origin, &arguments.screenshots);
    }
    let files: [(&Option<PathBuf>, &Tests); 4] = [
        (&arguments.report, &report::TESTS),
        (&arguments.cost, &cost::TESTS),
        (&arguments.demo, &demo::TESTS),
        (&arguments.replay, &[]),
    ];
    for (file, tests) in files.into_iter().filter_map(|(file, tests)| Some((file.as_ref()?, tests))) {
        let file = file.canonicalize().with_context(|| format!("no {}", file.display()))?;
        println!("{}", file.display());
        let all = [tests, &page::TESTS].concat();
        failures += run_all(&mut browser, &all, &format!("file://{}", file.display()), &arguments.screenshots);
    }
    println!("screenshots are in {}", arguments.screenshots.display());
    Ok(failures)
}

fn run_all(browser: &mut Browser, tests: &Tests, origin: &str, screenshots: &Path) -> usize {
    let run_one = |(name, test): &(&str, Test)| {
        let result = Visit::new(browser, origin, screenshots).and_then(|mut visit| {
            test(&mut visit)?;
            visit.close()
        });
        match &result {
            Ok(()) => println!("ok      {name}"),
            Err(error) => println!("FAILED  {name}: {error:#}"),
        }
        result.is_err()
    };
    tests.iter().map(run_one).filter(|has_failed| *has_failed).count()
}
