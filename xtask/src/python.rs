//! The peers in Python, each in an environment of its own with the versions that its `requirements.txt` pins by their hashes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::{shell, stamp};

/// Builds the peer in `bench/peers/<name>`, with the protocol in `bench/peers/python`; gives the path of its program.
///
/// # Errors
/// When there is no Python 3 with the module venv, or a package cannot be had.
pub fn build(name: &str) -> Result<PathBuf> {
    let folder = shell::workspace(&format!("{name}-bench"))?;
    let (sources, venv) = (shell::root().join("bench/peers").join(name), folder.join("venv"));
    let (lock, python) = (sources.join("requirements.txt"), venv.join("bin/python"));
    stamp::unless_done(&python, std::slice::from_ref(&lock), "venv", || {
        println!("installing {name}");
        make_environment(&venv, &lock)
    })?;
    let program = folder.join("peer");
    write_program(&program, &python, &sources)?;
    Ok(program)
}

fn make_environment(venv: &Path, lock: &Path) -> Result<()> {
    let advice = "a Python 3 with the module venv is needed";
    shell::run(shell::command("python3", ["-m", "venv", "--clear"]).arg(venv)).context(advice)?;
    let python = venv.join("bin/python").to_string_lossy().into_owned();
    let options = ["-m", "pip", "install", "--quiet", "--require-hashes", "--no-deps", "-r"];
    shell::run(shell::command(&python, options).arg(lock))?;
    shell::run(&mut shell::command(&python, ["-m", "pip", "check"]))
}

fn write_program(program: &Path, python: &Path, sources: &Path) -> Result<()> {
    let common = sources.with_file_name("python");
    let definitions = shell::root().join("bench/definitions");
    let script = format!(
        "#!/bin/sh\nPYTHONPATH='{}' PYTHONDONTWRITEBYTECODE=1 exec '{}' -O '{}' '{}' '{}'\n",
        common.display(),
        python.display(),
        sources.join("peer.py").display(),
        definitions.join("suite.wsdl").display(),
        definitions.join("composites.wsdl").display()
    );
    fs::write(program, script).with_context(|| format!("cannot write {}", program.display()))?;
    Ok(fs::set_permissions(program, fs::Permissions::from_mode(0o755))?)
}
