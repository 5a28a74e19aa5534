//! zeep, in its own Python environment: the versions are those of
//! `tests/interop/zeep/requirements.txt`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::ours::Ours;
use super::{Peer, PeerServer, Unsupported, stamp};
use crate::shell;

pub struct Zeep;

impl Peer for Zeep {
    fn name(&self) -> &'static str {
        "zeep"
    }

    fn install(&self, _: &Ours) -> Result<()> {
        let lock = shell::root().join("tests/interop/zeep/requirements.txt");
        let python = python()?;
        stamp::build_if_stale(&python, std::slice::from_ref(&lock), "venv", || {
            println!("installing zeep");
            make_environment(&python, &lock)
        })
    }

    fn client(&self) -> Result<Option<Command>> {
        let client = shell::root().join("tests/interop/zeep/client.py");
        let mut command = Command::new(python()?);
        command.arg(client);
        Ok(Some(command))
    }

    fn value_clients(&self) -> Result<Option<(Vec<Command>, Unsupported)>> {
        let mut command = Command::new(python()?);
        command.arg(shell::root().join("tests/interop/zeep/cases.py"));
        let unsupported = &[
            ("literal utf-16", "it is tested with messages, above"),
            ("encoded*", "it cannot load a WSDL with SOAP encoding without fetching that schema from the network"),
        ];
        Ok(Some((vec![command], unsupported)))
    }

    fn coded_client(&self, _: &Ours) -> Result<Option<(Command, Unsupported)>> {
        let mut command = Command::new(python()?);
        command.arg(shell::root().join("tests/interop/zeep/coded.py"));
        Ok(Some((command, &[])))
    }

    fn addressing_client(&self, _: &Ours) -> Result<Option<Command>> {
        let mut command = Command::new(python()?);
        command.arg(shell::root().join("tests/interop/zeep/addressed.py"));
        Ok(Some(command))
    }

    /// zeep is only a client.
    fn server(&self, _: &Ours) -> Result<Option<PeerServer>> {
        Ok(None)
    }
}

fn python() -> Result<PathBuf> {
    Ok(shell::workspace("zeep")?.join("venv/bin/python"))
}

fn make_environment(python: &Path, lock: &Path) -> Result<()> {
    let venv = shell::workspace("zeep")?.join("venv");
    let advice = "a Python 3 with the module venv is needed";
    shell::run(shell::command("python3", ["-m", "venv", "--clear"]).arg(venv)).context(advice)?;
    let python = python.to_string_lossy();
    // Every package is pinned, so there is nothing to resolve.
    shell::run(shell::command(&python, ["-m", "pip", "install", "--quiet", "--no-deps", "-r"]).arg(lock))?;
    shell::run(&mut shell::command(&python, ["-m", "pip", "check"]))
}
