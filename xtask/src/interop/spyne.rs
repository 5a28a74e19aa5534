//! spyne, in its own Python environment: the versions are those of
//! `tests/interop/spyne/requirements.txt`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::ours::Ours;
use super::process::Server;
use super::{Peer, PeerServer, Unsupported};
use crate::{python, shell};

/// The workspace.
const NAME: &str = "spyne";

/// On Python 3.
const NO_PARTS: &str = "the envelope of a package, if it declares its encoding, is not read";
const UNSUPPORTED: Unsupported = &[
    ("utf-16", "responses have the encoding of the application, not that of the request"),
    ("chunked/a chunked response", "responses have Content-Length"),
    ("gzip", "neither spyne nor its HTTP server decompresses or compresses"),
    ("mtom/echoAttachment as a part, 0 octets", NO_PARTS),
    ("mtom/echoAttachment as a part, 100 octets", NO_PARTS),
    ("mtom/echoAttachment as a part, 100000 octets", NO_PARTS),
    ("mtom/sendAttachment, 1000000 octets", NO_PARTS),
];

pub struct Spyne;

impl Peer for Spyne {
    fn name(&self) -> &'static str {
        "spyne"
    }

    fn install(&self, _: &Ours) -> Result<()> {
        python::environment(NAME, &sources().join("requirements.txt")).map(drop)
    }

    /// spyne is only a server.
    fn client(&self) -> Result<Option<Command>> {
        Ok(None)
    }

    fn server(&self, ours: &Ours) -> Result<Option<PeerServer>> {
        let mut command = Command::new(shell::workspace(NAME)?.join("venv/bin/python"));
        command.env("PYTHONDONTWRITEBYTECODE", "1").arg(sources().join("server.py"));
        command.arg(&ours.certificates.certificate).arg(&ours.certificates.key);
        let server = Server::start(NAME, &mut command, 2)?;
        Ok(Some(PeerServer { server, paths: &[], unsupported: UNSUPPORTED }))
    }
}

fn sources() -> PathBuf {
    shell::root().join("tests/interop/spyne")
}
