//! Apache CXF, from Maven Central: the versions are those of `tests/interop/cxf/pom.xml`.

use std::process::Command;

use anyhow::Result;

use super::maven::MavenPeer;
use super::ours::Ours;
use super::process::Server;
use super::{Peer, PeerServer, SecurityServer, Unsupported, ValueServers, ValueService};
use crate::shell;

pub struct Cxf;

const MAVEN: MavenPeer = MavenPeer("cxf");

const VALUES_UNSUPPORTED: Unsupported = &[("encoded*", "it has no SOAP encoding")];

const ADDRESSING_UNSUPPORTED: Unsupported = &[(
    "addressing faults/declared faults have their action",
    "a service without generated code does not know the faults of its WSDL",
)];

impl Peer for Cxf {
    fn name(&self) -> &'static str {
        "CXF"
    }

    fn install(&self, ours: &Ours) -> Result<()> {
        MAVEN.install(&[("wsdl", &ours.description), ("types", &ours.types), ("orders", &ours.orders)])
    }

    fn client(&self) -> Result<Option<Command>> {
        MAVEN.java("Client").map(Some)
    }

    fn value_clients(&self) -> Result<Option<(Vec<Command>, Unsupported)>> {
        Ok(Some((vec![MAVEN.java("Values")?], VALUES_UNSUPPORTED)))
    }

    fn coded_client(&self, _: &Ours) -> Result<Option<(Command, Unsupported)>> {
        Ok(Some((MAVEN.java("Coded")?, &[("coded arrays", "it has no SOAP encoding")])))
    }

    fn addressing_client(&self, _: &Ours) -> Result<Option<Command>> {
        MAVEN.java("Addressed").map(Some)
    }

    fn addressing_server(&self) -> Result<Option<(Server, Unsupported)>> {
        let mut command = MAVEN.java("AddressedServer")?;
        command.arg(format!("file://{}", shell::root().join("tests/interop/client/addressed.wsdl").display()));
        Ok(Some((Server::start("cxf-addressed", &mut command, 1)?, ADDRESSING_UNSUPPORTED)))
    }

    fn security_client(&self, _: &Ours) -> Result<Option<(Command, Unsupported)>> {
        Ok(Some((MAVEN.java("Secured")?, &[])))
    }

    fn security_server(&self, ours: &Ours) -> Result<Option<SecurityServer>> {
        let server = Server::start("cxf-secured", &mut MAVEN.secured_server(&ours.keys)?, 1)?;
        Ok(Some(SecurityServer { server, means: "policy", unsupported: &[] }))
    }

    fn value_servers(&self, ours: &Ours) -> Result<Option<ValueServers>> {
        let mut command = MAVEN.java("ValuesServer")?;
        command.arg(format!("file://{}", ours.types.display()));
        let server = Server::start("cxf-values", &mut command, 1)?;
        let types = ValueService { utf_16: Some(server.at("/utf-16")), ..ValueService::at(&server.url) };
        Ok(Some(ValueServers {
            _servers: vec![server],
            types: Some(types),
            encoded: None,
            unsupported: VALUES_UNSUPPORTED,
        }))
    }

    fn server(&self, ours: &Ours) -> Result<Option<PeerServer>> {
        let mut command = MAVEN.java("Server")?;
        command.arg(format!("file://{}", ours.description.display()));
        command.arg(&ours.certificates.certificate).arg(&ours.certificates.key);
        let server = Server::start("cxf", &mut command, 2)?;
        let paths = &[("gzip", "/gzip"), ("utf-16", "/utf-16"), ("mtom", "/mtom")];
        Ok(Some(PeerServer { server, paths, unsupported: &[] }))
    }
}
