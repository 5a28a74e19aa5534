//! The landing page as a user sees it, in headless Chromium: `cargo xtask browser` starts a server and this program.
//!
//! Each test is a visit to a page of its own tab, of a size and colour scheme of its own, and leaves screenshots for people to look
//! at. Whatever the page does in it, the browser must have nothing to complain about, and ask nobody but our server.

#![forbid(unsafe_code)]

mod browser;
mod tests;
mod visit;

use anyhow::{Context, Result};
use browser::Browser;
use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;
use tests::TESTS;
use visit::Visit;

#[derive(Parser)]
#[command(about = "Tests the landing page in headless Chromium")]
struct Arguments {
    /// Where `deltasoap serve` listens, such as http://127.0.0.1:8080
    origin: String,
    /// The browser
    #[arg(long, default_value = "chromium")]
    chromium: PathBuf,
    /// Where screenshots go
    #[arg(long, default_value = "target/browser")]
    screenshots: PathBuf,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(failures) => {
            eprintln!("{failures} of {} tests failed", TESTS.len());
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs all tests; gives the number of those that failed.
fn run(arguments: &Arguments) -> Result<usize> {
    std::fs::create_dir_all(&arguments.screenshots).context("cannot make the folder of screenshots")?;
    let mut browser = Browser::start(&arguments.chromium)?;
    let mut failures = 0;
    for (name, test) in TESTS {
        let result = Visit::new(&mut browser, &arguments.origin, &arguments.screenshots).and_then(|mut visit| {
            test(&mut visit)?;
            visit.close()
        });
        match result {
            Ok(()) => println!("ok      {name}"),
            Err(error) => {
                failures += 1;
                println!("FAILED  {name}: {error:#}");
            }
        }
    }
    println!("screenshots are in {}", arguments.screenshots.display());
    Ok(failures)
}
