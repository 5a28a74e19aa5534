//! Builds the fuzz targets in `fuzz/` with coverage instrumentation and runs them with libFuzzer.
//!
//! Stable Rust is enough: the instrumentation is an LLVM pass that `-C passes` enables. The target
//! is given to cargo even if it is the host, so that the flags do not apply to build scripts and
//! procedural macros. New inputs are saved in `fuzz/corpus/TARGET`, failing ones in
//! `fuzz/artifacts/TARGET`; git ignores both.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail, ensure};

use crate::{memory, shell};

/// Flags that libFuzzer's coverage requires.
const FLAGS: [&str; 7] = [
    "--cfg=fuzzing",
    "-Ccodegen-units=1",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// Limits on one run of a target: memory in MiB, seconds and bytes of one input.
const BOUNDS: [&str; 3] = ["-rss_limit_mb=2048", "-timeout=10", "-max_len=8192"];

/// Arguments of the task.
#[derive(clap::Args)]
pub struct Arguments {
    /// Run this target only
    #[arg(long)]
    target: Option<String>,
    /// Time for each target
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Also detect faults that safe code cannot cause
    #[arg(long, value_enum)]
    sanitizer: Option<Sanitizer>,
    /// Print the names of the targets and run none
    #[arg(long)]
    list: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Sanitizer {
    /// Accesses outside of allocations, and to freed ones
    Address,
}

/// Runs the task; fails if a target fails.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let names = selected(arguments.target.as_deref())?;
    if arguments.list {
        println!("{}", names.join("\n"));
        return Ok(ExitCode::SUCCESS);
    }
    let programs = build(arguments.sanitizer)?;
    for name in &names {
        fuzz(name, &programs, arguments.seconds)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz")
}

/// Returns the targets to run: all, or the requested one.
fn selected(wanted: Option<&str>) -> Result<Vec<String>> {
    let names = targets()?;
    match wanted {
        None => Ok(names),
        Some(name) if names.iter().any(|known| known == name) => Ok(vec![name.to_owned()]),
        Some(name) => bail!("no fuzz target `{name}`; available: {}", names.join(", ")),
    }
}

/// Returns the names of all targets: those of the files in `fuzz/targets`.
fn targets() -> Result<Vec<String>> {
    let folder = folder().join("targets");
    let entries = folder.read_dir().with_context(|| format!("cannot read {}", folder.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}

/// Builds all targets; returns the folder of their programs.
fn build(sanitizer: Option<Sanitizer>) -> Result<PathBuf> {
    let (host, mut target) = (shell::host()?, folder().join("target"));
    let mut cargo = shell::command("cargo", ["build", "--release", "--bins", "--target", &host]);
    match sanitizer {
        None => cargo.env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\u{1f}")).env("CARGO_TARGET_DIR", &target),
        Some(Sanitizer::Address) => {
            target.push("address");
            memory::sanitize(&mut cargo, &FLAGS, &target)
        }
    };
    succeed(cargo.current_dir(folder()))?;
    Ok(target.join(host).join("release"))
}

/// Runs one target on its corpus and its seeds.
fn fuzz(name: &str, programs: &Path, seconds: u64) -> Result<()> {
    let corpus = created(folder().join("corpus").join(name))?;
    let artifacts = created(folder().join("artifacts").join(name))?;
    let seeds = folder().join("seeds").join(name);
    let dictionary = folder().join("dictionaries/xml.dict");
    let mut target = Command::new(programs.join(name));
    target.arg(corpus).args(Some(seeds).filter(|seeds| seeds.is_dir())).args(BOUNDS);
    target.arg(format!("-max_total_time={seconds}")).arg(format!("-dict={}", dictionary.display()));
    target.arg(format!("-artifact_prefix={}/", artifacts.display())).arg("-print_final_stats=1");
    succeed(&mut target).with_context(|| format!("fuzz target `{name}`; its input is in {}", artifacts.display()))
}

fn created(folder: PathBuf) -> Result<PathBuf> {
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}

fn succeed(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("cannot start {program}"))?;
    ensure!(status.success(), "{program} ended with {status}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_seeds_and_an_entry_in_the_manifest() {
        let manifest = std::fs::read_to_string(folder().join("Cargo.toml")).unwrap();
        for name in targets().unwrap() {
            assert!(folder().join("seeds").join(&name).is_dir(), "{name}");
            assert!(manifest.contains(&format!("path = \"targets/{name}.rs\"")), "{name}");
        }
        assert!(selected(Some("nonsense")).is_err());
    }
}
