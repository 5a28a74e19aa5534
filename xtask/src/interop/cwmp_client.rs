//! CwmpClient, a TR-069 device, in its own Python environment: the versions are those of
//! `tests/interop/cwmp-client/requirements.txt`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use super::ours::{Ours, SOAP_11_ONLY};
use super::{Peer, PeerServer, Unsupported, stamp};
use crate::shell;

pub struct CwmpClient;

impl Peer for CwmpClient {
    fn name(&self) -> &'static str {
        "CwmpClient"
    }

    fn install(&self, _: &Ours) -> Result<()> {
        let lock = shell::root().join("tests/interop/cwmp-client/requirements.txt");
        let python = python()?;
        stamp::build_if_stale(&python, std::slice::from_ref(&lock), "venv", || {
            println!("installing CwmpClient");
            let venv = shell::workspace("cwmp-client")?.join("venv");
            let advice = "a Python 3 with the module venv is needed";
            shell::run(shell::command("python3", ["-m", "venv", "--clear"]).arg(venv)).context(advice)?;
            let python = python.to_string_lossy();
            let install = ["-m", "pip", "install", "--quiet", "--no-deps", "-r"];
            shell::run(shell::command(&python, install).arg(&lock))
        })
    }

    /// CwmpClient is only a device.
    fn client(&self) -> Result<Option<Command>> {
        Ok(None)
    }

    fn server(&self, _: &Ours) -> Result<Option<PeerServer>> {
        Ok(None)
    }

    fn device(&self, _: &Ours) -> Result<Option<(Command, Unsupported)>> {
        let mut command = Command::new(python()?);
        command.arg(shell::root().join("tests/interop/cwmp-client/device.py"));
        Ok(Some((command, SOAP_11_ONLY)))
    }
}

fn python() -> Result<PathBuf> {
    Ok(shell::workspace("cwmp-client")?.join("venv/bin/python"))
}
