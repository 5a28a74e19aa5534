//! deltasoap for Python, from a wheel of this repository: its face of zeep runs the programs of
//! zeep, and its ASGI application serves what clients of other toolkits call.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::ours::Ours;
use super::process::Server;
use super::{Peer, PeerServer, Unsupported};
use crate::{python_package, shell};

pub struct Python;

impl Peer for Python {
    fn name(&self) -> &'static str {
        "deltasoap for Python"
    }

    /// [`serve`] installs it.
    fn install(&self, _: &Ours) -> Result<()> {
        Ok(())
    }

    fn client(&self) -> Result<Option<Command>> {
        as_zeep("client.py").map(Some)
    }

    fn value_clients(&self) -> Result<Option<(Vec<Command>, Unsupported)>> {
        let unsupported = &[
            ("literal utf-16", "it is tested with messages, above"),
            ("encoded*", "the program is zeep's, which has no values in SOAP encoding"),
        ];
        Ok(Some((vec![as_zeep("cases.py")?], unsupported)))
    }

    fn coded_client(&self, _: &Ours) -> Result<Option<(Command, Unsupported)>> {
        Ok(Some((as_zeep("coded.py")?, &[])))
    }

    fn addressing_client(&self, _: &Ours) -> Result<Option<Command>> {
        as_zeep("addressed.py").map(Some)
    }

    /// Its server has tables of its own: other clients call it.
    fn server(&self, _: &Ours) -> Result<Option<PeerServer>> {
        Ok(None)
    }
}

/// Installs the package, and starts the services `/orders` and `/sums` as an application of ASGI.
pub fn serve(ours: &Ours) -> Result<Server> {
    python_package::install(python_package::WORKSPACE, false)?;
    let mut command = Command::new(python()?);
    command.arg(sources().join("server.py")).args(["/orders?wsdl", "/sums?wsdl"].map(|path| ours.values.at(path)));
    Server::start(python_package::WORKSPACE, &mut command, 1)
}

/// Returns the command of a program of zeep, with other imports.
fn as_zeep(program: &str) -> Result<Command> {
    let mut command = Command::new(python()?);
    command.arg(sources().join("as_zeep.py")).arg(sources().with_file_name("zeep").join(program));
    Ok(command)
}

fn sources() -> PathBuf {
    shell::root().join("tests/interop/python")
}

fn python() -> Result<PathBuf> {
    Ok(shell::workspace(python_package::WORKSPACE)?.join("venv/bin/python"))
}
