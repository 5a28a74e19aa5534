//! Metro with WSIT, its WS-Security, from Maven Central: the version is that of
//! `tests/interop/metro/pom.xml`.

use std::process::Command;

use anyhow::Result;

use super::maven::MavenPeer;
use super::ours::Ours;
use super::process::Server;
use super::{Peer, PeerServer, SecurityServer, Unsupported};

/// Only WS-Security is tested: without it, Metro is JAXB like CXF.
pub struct Metro;

const MAVEN: MavenPeer = MavenPeer("metro");

const NO_GCM: (&str, &str) = ("security encrypted", "its suites have only AES-CBC");

const SERVER_UNSUPPORTED: Unsupported = &[
    NO_GCM,
    ("security signed/a replayed request is refused", "it keeps no record of signed messages, only of user names"),
    (
        "security signed/line ends are signed",
        "it verifies signatures as if a carriage return before a line feed were not there",
    ),
];

impl Peer for Metro {
    fn name(&self) -> &'static str {
        "Metro"
    }

    fn install(&self, _: &Ours) -> Result<()> {
        MAVEN.install(&[])
    }

    fn client(&self) -> Result<Option<Command>> {
        Ok(None)
    }

    fn server(&self, _: &Ours) -> Result<Option<PeerServer>> {
        Ok(None)
    }

    fn security_client(&self, _: &Ours) -> Result<Option<(Command, Unsupported)>> {
        Ok(Some((MAVEN.java("Secured")?, &[NO_GCM])))
    }

    fn security_server(&self, ours: &Ours) -> Result<Option<SecurityServer>> {
        let server = Server::start("metro-secured", &mut MAVEN.secured_server(&ours.keys)?, 1)?;
        Ok(Some(SecurityServer { server, means: "policy", unsupported: SERVER_UNSUPPORTED }))
    }
}
