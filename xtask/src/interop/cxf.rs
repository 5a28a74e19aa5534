//! Apache CXF, from Maven Central: the versions are those of `tests/interop/cxf/pom.xml`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::ours::Ours;
use super::process::Server;
use super::{Peer, PeerServer, SecurityServer, Unsupported, ValueServers, ValueService, stamp};
use crate::{java, shell};

pub struct Cxf;

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
        let (sources, build) = (shell::root().join("tests/interop/cxf"), build()?);
        let descriptions = [("wsdl", &ours.description), ("types", &ours.types), ("orders", &ours.orders)];
        let mut files = vec![sources.join("pom.xml")];
        files.extend(descriptions.iter().map(|(_, file)| (*file).clone()));
        files.extend(stamp::files_in(&sources.join("src/main/java/deltasoap/interop"))?);
        stamp::build_if_stale(&build.join("cxf-peer.jar"), &files, "maven", || {
            java::install_tools()?;
            println!("building with Maven (about a minute, the first time some more)");
            let mut maven = shell::command("mvn", ["--batch-mode", "--quiet", "--file"]);
            maven.arg(sources.join("pom.xml")).arg(format!("-Dbuild={}", build.display()));
            maven.args(descriptions.iter().map(|(name, file)| format!("-D{name}={}", file.display())));
            shell::run(maven.arg("package"))
        })
    }

    fn client(&self) -> Result<Option<Command>> {
        java("deltasoap.interop.Client").map(Some)
    }

    fn value_clients(&self) -> Result<Option<(Vec<Command>, Unsupported)>> {
        Ok(Some((vec![java("deltasoap.interop.Values")?], VALUES_UNSUPPORTED)))
    }

    fn coded_client(&self, _: &Ours) -> Result<Option<(Command, Unsupported)>> {
        Ok(Some((java("deltasoap.interop.Coded")?, &[("coded arrays", "it has no SOAP encoding")])))
    }

    fn addressing_client(&self, _: &Ours) -> Result<Option<Command>> {
        java("deltasoap.interop.Addressed").map(Some)
    }

    fn addressing_server(&self) -> Result<Option<(Server, Unsupported)>> {
        let mut command = java("deltasoap.interop.AddressedServer")?;
        command.arg(format!("file://{}", shell::root().join("tests/interop/client/addressed.wsdl").display()));
        Ok(Some((Server::start("cxf-addressed", &mut command, 1)?, ADDRESSING_UNSUPPORTED)))
    }

    fn security_client(&self, _: &Ours) -> Result<Option<(Command, Unsupported)>> {
        Ok(Some((java("deltasoap.interop.Secured")?, &[])))
    }

    fn security_server(&self, ours: &Ours) -> Result<Option<SecurityServer>> {
        let mut command = java("deltasoap.interop.SecuredServer")?;
        command.arg(format!("file://{}", shell::root().join("tests/interop/secured/bank.wsdl").display()));
        let server = Server::start("cxf-secured", command.arg(&ours.keys), 1)?;
        Ok(Some(SecurityServer { server, means: "policy", unsupported: &[] }))
    }

    fn value_servers(&self, ours: &Ours) -> Result<Option<ValueServers>> {
        let mut command = java("deltasoap.interop.ValuesServer")?;
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
        let mut command = java("deltasoap.interop.Server")?;
        command.arg(format!("file://{}", ours.description.display()));
        command.arg(&ours.certificates.certificate).arg(&ours.certificates.key);
        let server = Server::start("cxf", &mut command, 2)?;
        let paths = &[("gzip", "/gzip"), ("utf-16", "/utf-16"), ("mtom", "/mtom")];
        Ok(Some(PeerServer { server, paths, unsupported: &[] }))
    }
}

fn build() -> Result<PathBuf> {
    Ok(shell::workspace("interop-cxf")?.join("build"))
}

fn java(class: &str) -> Result<Command> {
    let build = build()?;
    let path = format!("{0}/cxf-peer.jar:{0}/libraries/*", build.display());
    Ok(shell::command("java", ["-cp", &path, class]))
}
