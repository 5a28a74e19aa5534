//! `cargo xtask samples`, `cargo xtask xsts`, `cargo xtask openapi`, `cargo xtask mcp` and `cargo xtask
//! object-store`: checks our samples, our validation, our OpenAPI documents, our tools for models and
//! our reading of object stores with other implementations.
//!
//! The judges are libxml2, the Python packages xmlschema, openapi-spec-validator, mcp and moto, and the
//! npm packages Redocly CLI and MCP Inspector; the programs that call them are in `tests/schema`,
//! `tests/openapi`, `tests/mcp` and `tests/object-store`.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::shell::Profile;
use crate::{node, python, shell};

#[derive(Args)]
pub struct Samples {
    /// WSDLs to sample, besides those of testdata [default: ../shared/corpora/wsdl if it is there]
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Number of operations of each WSDL
    #[arg(long, default_value_t = 2)]
    operations: usize,
    /// Judges: libxml2, xmlschema
    #[arg(long, default_value = "libxml2,xmlschema")]
    validators: String,
    /// Required share of valid messages, in percent
    #[arg(long, default_value_t = 99.5)]
    goal: f64,
}

#[derive(Args)]
pub struct Xsts {
    /// A checkout of the suite: <https://github.com/w3c/xsdtests>
    suite: PathBuf,
    /// Required share of agreement, in percent
    #[arg(long, default_value_t = 99.0)]
    goal: f64,
    /// Only test sets whose path contains this
    #[arg(long, default_value = "")]
    only: String,
    /// Write the disagreements to this file, as JSON
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
}

#[derive(Args)]
pub struct OpenApi {
    /// WSDLs to describe, besides those of testdata [default: ../shared/corpora/wsdl if it is
    /// there]
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
}

/// Validates OpenAPI documents.
pub fn openapi(arguments: &OpenApi) -> Result<ExitCode> {
    let redocly = node::packages("openapi")?.join("@redocly/cli/bin/cli.js");
    let mut command = program("openapi", "validate.py")?;
    command.arg("--redocly").arg(redocly);
    status(command.args(folders(arguments.corpus.as_deref())))
}

/// Validates samples.
pub fn samples(arguments: &Samples) -> Result<ExitCode> {
    let mut command = program("schema", "samples.py")?;
    command.arg("--builtin").arg(shell::root().join("crates/deltasoap-wsdl/src/builtin"));
    command.arg("--operations").arg(arguments.operations.to_string()).arg("--validators").arg(&arguments.validators);
    command.arg("--goal").arg(arguments.goal.to_string());
    command.args(folders(arguments.corpus.as_deref()));
    status(&mut command)
}

/// Returns the folders of WSDLs: those of the test data, and more.
fn folders(corpus: Option<&Path>) -> Vec<PathBuf> {
    let usual = shell::root().join("../shared/corpora/wsdl");
    let corpus = corpus.map(Path::to_owned).or_else(|| Some(usual).filter(|folder| folder.is_dir()));
    std::iter::once(shell::root().join("testdata/wsdl")).chain(corpus).collect()
}

/// Runs the instance tests of the suite.
pub fn xsts(arguments: &Xsts) -> Result<ExitCode> {
    if !arguments.suite.join("suite.xml").is_file() {
        bail!("{} contains no suite.xml: clone https://github.com/w3c/xsdtests there", arguments.suite.display());
    }
    let mut command = program("schema", "xsts.py")?;
    command.arg("--goal").arg(arguments.goal.to_string()).arg("--only").arg(&arguments.only);
    if let Some(list) = &arguments.list {
        command.arg("--list").arg(list);
    }
    status(command.arg(&arguments.suite))
}

/// Drives `deltasoap mcp` with clients of others.
pub fn mcp() -> Result<ExitCode> {
    let inspector = node::packages("mcp")?.join("@modelcontextprotocol/inspector/cli/build/cli.js");
    let mut command = program("mcp", "drive.py")?;
    command.arg("--inspector").arg(inspector);
    status(command.arg(shell::root().join("crates/deltasoap-dynamic/tests/data/shop.wsdl")))
}

/// Reads captures with `deltasoap archive` from a server of S3.
pub fn object_store() -> Result<ExitCode> {
    shell::build_with(&["deltasoap-cli"], &["deltasoap-cli/object-store"], Profile::Dev)?;
    let mut command = driven("object-store", "drive.py")?;
    let paths = ["testdata/captures", "crates/deltasoap-dynamic/tests/data/shop.wsdl"];
    status(command.args(paths.map(|path| shell::root().join(path))))
}

/// Returns the command of a program in a folder of `tests`, with the path of our command.
fn program(folder: &str, name: &str) -> Result<Command> {
    shell::build(&["deltasoap-cli"], Profile::Dev)?;
    driven(folder, name)
}

/// Returns the same; our command is there already.
fn driven(folder: &str, name: &str) -> Result<Command> {
    let sources = shell::root().join("tests").join(folder);
    let python = python::environment(folder, &sources.join("requirements.txt"))?;
    let mut command = Command::new(python);
    let deltasoap = shell::root().join("target/debug/deltasoap");
    command.env("PYTHONDONTWRITEBYTECODE", "1").arg(sources.join(name)).arg("--deltasoap").arg(deltasoap);
    Ok(command)
}

/// Runs a program to completion, and shows its output.
fn status(command: &mut Command) -> Result<ExitCode> {
    let status = command.status().with_context(|| format!("cannot start {}", shell::show(command)))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_data_comes_first_and_then_what_is_asked_for() {
        let folders = folders(Some(Path::new("/wsdls")));
        assert_eq!(folders, [shell::root().join("testdata/wsdl"), PathBuf::from("/wsdls")]);
    }

    #[test]
    fn the_judges_are_pinned_by_hash() {
        let lock = std::fs::read_to_string(shell::root().join("tests/schema/requirements.txt")).unwrap();
        let packages: Vec<_> = lock.lines().filter(|line| line.contains("==")).collect();
        assert!(packages.len() == 3 && packages.iter().all(|line| line.ends_with('\\')), "{packages:?}");
        let lock = std::fs::read_to_string(shell::root().join("tests/openapi/requirements.txt")).unwrap();
        let packages: Vec<_> = lock.lines().filter(|line| line.contains("==")).collect();
        let is_judge = |line: &&str| line.starts_with("openapi-spec-validator==");
        assert!(packages.iter().any(is_judge) && packages.iter().all(|line| line.ends_with('\\')), "{packages:?}");
    }
}
