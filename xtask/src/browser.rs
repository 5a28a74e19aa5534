//! `cargo xtask browser`: tests the landing page, and the pages that commands write, in Debian's
//! headless Chromium.
//!
//! The tests are a separate program, `tests/browser`, so that the browser driver is built only for
//! them.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::interop::Server;
use crate::shell::Profile;
use crate::{debian, shell};

/// Time limit for all visits; some seconds are usual. The browser ends with the program that drives
/// it.
const LIMIT: Duration = Duration::from_secs(600);

#[derive(clap::Args)]
pub struct Arguments {
    /// Visit the server at this origin, such as http://127.0.0.1:8080, instead of starting ours
    #[arg(long)]
    origin: Option<String>,
    /// The browser; by default Debian's, which is installed if it is missing
    #[arg(long)]
    chromium: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let chromium = match &arguments.chromium {
        Some(program) => program.clone(),
        None => install()?,
    };
    match &arguments.origin {
        Some(origin) => visit(origin, &chromium),
        None => {
            build()?;
            let server = Server::start("browser", &mut serve(), 1)?;
            let (origin, _) = server.url.rsplit_once('/').context("the service's URL has no path")?;
            visit(origin, &chromium)
        }
    }
}

/// Returns the path of a page, whose folder exists.
fn page(name: &str) -> Result<PathBuf> {
    let folder = shell::root().join("target/browser");
    shell::create_folder(&folder)?;
    Ok(folder.join(name))
}

/// Writes the report of the record in the suite's own tests.
fn report() -> Result<PathBuf> {
    let page = page("report.html")?;
    let mut suite = shell::ours("deltasoap-bench", Profile::Release);
    suite.args(["suite", "--report"]).arg(shell::root().join("bench/suite/tests/record"));
    shell::run(suite.arg("--html").arg(&page))?;
    Ok(page)
}

/// Writes the page of the calibration in the command's own tests. It comes from another machine,
/// which `fit` accepts with an option.
fn cost() -> Result<PathBuf> {
    let page = page("cost.html")?;
    let mut fit = shell::ours("deltasoap-cli", Profile::Release);
    fit.args(["cost", "fit", "--elsewhere", "--calibration"]);
    fit.arg(shell::root().join("crates/deltasoap-cli/tests/data/cost.json"));
    shell::run(fit.arg("--html").arg(&page))?;
    Ok(page)
}

/// Writes the page of a short demo.
fn demo() -> Result<PathBuf> {
    let page = page("demo.html")?;
    let mut demo = shell::ours("deltasoap-cli", Profile::Release);
    demo.args(["demo", "--devices", "2", "--size", "1000", "--report"]);
    shell::run(demo.arg(&page))?;
    Ok(page)
}

/// Writes the page of a replay in which operations have long names, and paths of files do.
fn replay() -> Result<PathBuf> {
    let page = page("replay.html")?;
    let mut replay = shell::ours("deltasoap-cli", Profile::Release);
    replay.arg("replay").arg(shell::root().join("testdata/sequences/tr069-inform"));
    shell::run(replay.arg("--html").arg(&page))?;
    Ok(page)
}

/// Builds our server, which may take longer than the time allowed for its start.
fn build() -> Result<()> {
    shell::build(&["deltasoap-cli"], Profile::Release)
}

/// Returns the command for a gateway to our server's service.
fn gateway(origin: &str) -> Command {
    let mut command = shell::ours("deltasoap-cli", Profile::Release);
    command.arg("gateway").arg(format!("{origin}/bench?wsdl")).args(["--listen", "127.0.0.1:0"]);
    command
}

/// Returns the command for our server.
fn serve() -> Command {
    let mut command = shell::ours("deltasoap-cli", Profile::Release);
    command.args(["serve", "--listen", "127.0.0.1:0"]);
    command
}

/// Installs Chromium, and a font, which Debian's package does not include.
fn install() -> Result<PathBuf> {
    debian::install(&["chromium", "fonts-dejavu-core"])?;
    println!("chromium {}", debian::installed_version("chromium")?);
    Ok(PathBuf::from("/usr/bin/chromium"))
}

fn visit(origin: &str, chromium: &std::path::Path) -> Result<ExitCode> {
    shell::build(&["deltasoap-browser-test"], Profile::Dev)?;
    let gateway = Server::start("gateway", &mut gateway(origin), 1)?;
    let mut tests = shell::ours("deltasoap-browser-test", Profile::Dev);
    tests.arg(origin).arg("--gateway").arg(gateway.url.trim_end_matches('/')).arg("--report").arg(report()?);
    tests.arg("--cost").arg(cost()?);
    tests.arg("--demo").arg(demo()?).arg("--replay").arg(replay()?);
    tests.arg("--chromium").arg(chromium).arg("--screenshots").arg(shell::root().join("target/browser"));
    let is_passed = shell::passes_within(LIMIT, &mut tests)?;
    Ok(if is_passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
