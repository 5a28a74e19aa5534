//! `cargo xtask security`: compares WS-Security with zeep, xmlsec and signxml, in both directions,
//! and measures it beside WSS4J and zeep.
//!
//! The comparison is a separate program, `tests/security`, which runs the others in Python. The
//! measurement is `deltasoap-bench security`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::shell::Profile;
use crate::{java, python, shell};

#[derive(clap::Args)]
pub struct Arguments {
    /// Measure, instead of comparing results; needs Java
    #[arg(long)]
    figures: bool,
    /// Further arguments of `deltasoap-bench security`
    #[arg(last = true, requires = "figures", value_name = "ARGUMENT")]
    more: Vec<String>,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let lock = shell::root().join("tests/security/requirements.txt");
    let python = python::environment("security", &lock)?;
    let mut command = if arguments.figures {
        build_peer(&python)?;
        java::WSS4J.build()?;
        let mut bench = shell::ours("deltasoap-bench", Profile::Release);
        bench.arg("security").args(&arguments.more);
        bench
    } else {
        let mut test = shell::ours("deltasoap-security-test", Profile::Fast);
        test.arg("--python").arg(python);
        test
    };
    let status = command.status().context("cannot start cargo")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Writes the program of zeep as a peer, in the environment of the tests.
fn build_peer(python: &Path) -> Result<PathBuf> {
    let program = shell::workspace("zeep-xmlsec")?.join("peer");
    let source = shell::root().join("bench/peers/zeep-xmlsec/peer.py");
    let protocol = shell::root().join("bench/peers/python");
    let command = format!(
        "PYTHONPATH='{}' PYTHONDONTWRITEBYTECODE=1 exec '{}' -O '{}'",
        protocol.display(),
        python.display(),
        source.display()
    );
    shell::write_program(&program, &command)?;
    Ok(program)
}
