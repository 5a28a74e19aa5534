//! `python`: builds the Python package, installs it into an environment of its own, and tests it:
//! its own tests, zeep's, types and style.

use crate::{python, shell};
use anyhow::{Context, Result};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

#[derive(Args)]
pub struct Arguments {
    /// Only build and install the package, with optimisations
    #[arg(long)]
    release: bool,
    /// Do not run the tests of zeep
    #[arg(long)]
    no_zeep: bool,
}

/// The name of the environment below `.peers/`.
pub const WORKSPACE: &str = "python-package";

/// The name of the package as a peer of the benchmark.
const PEER: &str = "deltasoap-python";

/// Name and version of the source archive whose tests are run.
const ZEEP: &str = "zeep==4.3.3";
const ZEEP_HASH: &str = "sha256:99d5059f92f721020998695fd9c85289ccb03ec5a2398ad49c6dbe43f19cfb94";

/// Builds and tests the package.
///
/// # Errors
/// Returns an error if something is missing that the environment needs, the package cannot be
/// built, or a test fails.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let python = install(WORKSPACE, arguments.release)?;
    if arguments.release {
        return Ok(ExitCode::SUCCESS);
    }
    let tool = |name: &str| python.with_file_name(name).display().to_string();
    let here = |command: &mut Command| shell::run(command.current_dir(shell::root().join("python")));
    here(&mut shell::command("cargo", ["fmt", "--check"]))?;
    here(&mut shell::command("cargo", ["clippy", "--locked", "--quiet", "--", "-D", "warnings"]))?;
    here(&mut shell::command(&tool("ruff"), ["check", "."]))?;
    here(&mut shell::command(&tool("ruff"), ["format", "--check", "."]))?;
    here(&mut shell::command(&tool("mypy"), ["--strict", "-p", "deltasoap"]))?;
    here(&mut shell::command(&tool("stubtest"), ["deltasoap._engine", "--mypy-config-file", "pyproject.toml"]))?;
    // The sources here have no engine: programs that tests start must not import them.
    let mut tests =
        shell::command(&tool("pytest"), ["-q", "tests", "--ignore", "tests/zeep_suite", "--ignore", "tests/engines"]);
    here(tests.env("PYTHONSAFEPATH", "1"))?;
    if !arguments.no_zeep {
        let zeep = zeep_source(&python)?;
        here(shell::command(&tool("python"), ["tests/zeep_suite/run.py"]).arg(zeep))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds the package with optimisations, in an environment of its own, and writes its program as a
/// peer of the benchmark; returns the program's path.
///
/// # Errors
/// As for [`install`].
pub fn build_peer() -> Result<PathBuf> {
    python::write_peer(PEER, &install(&python::workspace(PEER), true)?)
}

/// Builds a wheel and installs it into the environment of a workspace, with what its tests need;
/// returns the path of that Python.
///
/// # Errors
/// Returns an error if Python is missing, a package is unavailable, or the build fails.
pub fn install(workspace: &str, is_release: bool) -> Result<PathBuf> {
    install_with(workspace, &shell::root().join("python/tests/requirements.txt"), is_release)
}

/// Like [`install`], with the packages that another file pins.
///
/// # Errors
/// As for [`install`].
pub fn install_with(workspace: &str, lock: &Path, is_release: bool) -> Result<PathBuf> {
    let package = shell::root().join("python");
    let python = python::environment(workspace, lock)?;
    let wheels = shell::workspace(workspace)?.join("wheels");
    if wheels.exists() {
        std::fs::remove_dir_all(&wheels).with_context(|| format!("{}", wheels.display()))?;
    }
    let maturin = python.with_file_name("maturin").display().to_string();
    let mut build = shell::command(&maturin, ["build", "--locked", "--out"]);
    build.arg(&wheels).current_dir(&package);
    if is_release {
        build.arg("--release");
    }
    shell::run(&mut build)?;
    let wheel = wheel_in(&wheels)?;
    let options = ["-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall"];
    shell::run(shell::command(&python.display().to_string(), options).arg(wheel))?;
    Ok(python)
}

fn wheel_in(folder: &Path) -> Result<PathBuf> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("{}", folder.display()))?;
    let mut files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    files.find(|path| path.extension().is_some_and(|it| it == "whl")).context("maturin made no wheel")
}

/// Fetches the source archive of zeep, whose tests are no part of its wheel; returns its folder.
fn zeep_source(python: &Path) -> Result<PathBuf> {
    let folder = shell::workspace("zeep-source")?;
    let (name, version) = ZEEP.split_once("==").context("a version")?;
    let source = folder.join(format!("{name}-{version}"));
    if source.is_dir() {
        return Ok(source);
    }
    let lock = folder.join("requirements.txt");
    std::fs::write(&lock, format!("{ZEEP} --hash={ZEEP_HASH}\n")).with_context(|| format!("{}", lock.display()))?;
    let python = python.display().to_string();
    let options =
        ["-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--require-hashes", "--dest"];
    shell::run(shell::command(&python, options).arg(&folder).arg("-r").arg(&lock))?;
    let archive = folder.join(format!("{name}-{version}.tar.gz"));
    shell::run(shell::command(&python, ["-m", "tarfile", "-e"]).arg(archive).arg(&folder))?;
    Ok(source)
}
