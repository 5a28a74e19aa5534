//! `cargo xtask compile-times`: measures the cost of compiling the Rust that is generated for
//! WSDLs.
//!
//! The code of each WSDL becomes a crate of its own, outside the workspace. It is built as a user's
//! crate, with cargo's default release profile. Its dependencies are built before, and do not
//! count.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;

use crate::debian;
use crate::shell::{self, Profile};

#[derive(Args)]
pub struct Arguments {
    /// WSDL files; by default, some of `testdata/wsdl`
    wsdl: Vec<PathBuf>,
}

/// The WSDLs that are measured by default: types of many kinds, and the largest available WSDLs.
const DESCRIPTIONS: [&str; 4] = [
    "types.wsdl",
    "bench.wsdl",
    "FalkTannhaeuser+python-onvif-zeep/wsdl/media.wsdl",
    "FalkTannhaeuser+python-onvif-zeep/wsdl/devicemgmt.wsdl",
];

/// The cost of a build.
struct Cost {
    /// Processor time of all processors, in seconds.
    cpu: f64,
    /// Peak memory of the largest process.
    peak_kib: u64,
}

/// Measures each WSDL, and prints a row for it.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    debian::install(&["time"])?;
    let by_default = || DESCRIPTIONS.iter().map(|path| shell::root().join("testdata/wsdl").join(path)).collect();
    let files: Vec<PathBuf> = if arguments.wsdl.is_empty() { by_default() } else { arguments.wsdl.clone() };
    let folder = shell::root().join("target/compile-times");
    build(&crate_of(&folder, "nothing", "")?)?;
    println!("| description | lines | CPU s | ms a line | peak MB | library, MB |\n|---|---|---|---|---|---|");
    for file in files {
        println!("{}", row(&folder, &file)?);
    }
    Ok(ExitCode::SUCCESS)
}

fn row(folder: &Path, file: &Path) -> Result<String> {
    let stem = file.file_stem().context("a file without a name")?.to_string_lossy();
    let code = generated(file)?;
    let lines = code.lines().count();
    let name = format!("generated-{}", stem.replace(|it: char| !it.is_ascii_alphanumeric(), "-"));
    let package = crate_of(folder, &name, &code)?;
    let Cost { cpu, peak_kib } = build(&package)?;
    let library = folder.join("target/release").join(format!("lib{}.rlib", name.replace('-', "_")));
    let size = fs::metadata(&library).with_context(|| format!("no {}", library.display()))?.len();
    let (per_line, peak, size) = (cpu * 1e3 / lines.max(1) as f64, peak_kib as f64 / 1e3, size as f64 / 1e6);
    Ok(format!("| {stem} | {lines} | {cpu:.1} | {per_line:.2} | {peak:.0} | {size:.1} |"))
}

/// Generates the Rust for a WSDL. Operations that are left out do not matter here.
fn generated(file: &Path) -> Result<String> {
    let output = shell::ours("deltasoap-cli", Profile::Dev).arg("generate").arg(file.canonicalize()?).output()?;
    String::from_utf8(output.stdout).with_context(|| format!("{} gives no text", file.display()))
}

/// Creates a crate with this code; returns its folder.
fn crate_of(folder: &Path, name: &str, code: &str) -> Result<PathBuf> {
    let package = folder.join(name);
    shell::create_folder(&package.join("src"))?;
    let runtime = shell::root().join("crates/deltasoap");
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         deltasoap = {{ path = {runtime:?} }}\n"
    );
    fs::write(package.join("Cargo.toml"), manifest)?;
    fs::write(package.join("src/lib.rs"), code)?;
    fs::copy(shell::root().join("Cargo.lock"), package.join("Cargo.lock"))?;
    Ok(package)
}

/// Builds a crate. Its dependencies are already built, except for the first crate.
fn build(package: &Path) -> Result<Cost> {
    let report = package.join("cost");
    let mut time = shell::command("/usr/bin/time", ["--format", "%U %S %M", "--output"]);
    time.arg(&report).args(["cargo", "build", "--quiet", "--release"]).current_dir(package);
    time.env("CARGO_TARGET_DIR", package.with_file_name("target"));
    // A user does not have the settings of our own builds; above all, incremental builds have a
    // different cost.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text == "CARGO_INCREMENTAL" || text.starts_with("CARGO_PROFILE_") {
            time.env_remove(&name);
        }
    }
    shell::run(&mut time)?;
    cost(&fs::read_to_string(&report)?).context("a report of another form")
}

/// Parses user time, system time and peak memory.
fn cost(report: &str) -> Option<Cost> {
    let mut numbers = report.split_whitespace();
    let cpu = numbers.next()?.parse::<f64>().ok()? + numbers.next()?.parse::<f64>().ok()?;
    Some(Cost { cpu, peak_kib: numbers.next()?.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read() {
        let Cost { cpu, peak_kib } = cost("12.50 0.25 480000\n").unwrap();
        assert_eq!((cpu, peak_kib), (12.75, 480_000));
        assert!(cost("12.50").is_none());
    }

    #[test]
    fn the_descriptions_are_there() {
        assert!(DESCRIPTIONS.iter().all(|path| shell::root().join("testdata/wsdl").join(path).is_file()));
    }
}
