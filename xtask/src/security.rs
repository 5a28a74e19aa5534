//! `cargo xtask security`: compares WS-Security with zeep, xmlsec and signxml, in both directions.
//!
//! The comparison is a separate program, `tests/security`, which runs the others in Python.

use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::shell::Profile;
use crate::{python, shell};

pub fn run() -> Result<ExitCode> {
    let lock = shell::root().join("tests/security/requirements.txt");
    let python = python::environment("security", &lock)?;
    let mut test = shell::ours("deltasoap-security-test", Profile::Fast);
    let status = test.arg("--python").arg(python).status().context("cannot start cargo")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
