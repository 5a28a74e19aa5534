//! node-soap, from the npm registry: the versions are those of
//! `tests/interop/node-soap/package-lock.json`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::ours::Ours;
use super::process::Server;
use super::{Peer, PeerServer, SecurityServer, Unsupported, ValueServers, ValueService};
use crate::{debian, node, shell};

pub struct NodeSoap;

/// Debian packages to install if node or npm are missing.
const PACKAGES: [&str; 2] = ["nodejs", "npm"];
/// Minimum major version of Node.js.
const MIN_MAJOR_VERSION: u32 = 20;
const FILES: [&str; 12] = [
    "package.json",
    "package-lock.json",
    "cases.js",
    "client.js",
    "coded.js",
    "secured.js",
    "secured_server.js",
    "server.js",
    "serving.js",
    "signatures.js",
    "values.js",
    "values_server.js",
];

const NO_ENCODING: (&str, &str) = ("encoded*", "it has no arrays of SOAP encoding and no references");
const EMPTY: &str = "if nil is distinguished, an empty element is decoded as null";
const TYPES: &str = "types are attributes with undeclared prefixes";
/// The client's restrictions are in `cases.js`.
const VALUE_SERVER_UNSUPPORTED: Unsupported = &[
    ("literal primitives/empty texts", EMPTY),
    ("literal primitives/a qualified name", "names are text: the declaration of the prefix is not kept"),
    (
        "literal choice/repeated branches in their order",
        "elements with one name become one array: their order among others is lost",
    ),
    ("literal polymorphism/derived types", TYPES),
    ("literal polymorphism/a type derived twice", TYPES),
    ("literal lists/empty arrays", EMPTY),
    ("literal lists/empty arrays in an array", EMPTY),
    ("literal utf-16", "responses are always in UTF-8"),
    NO_ENCODING,
];

const NO_ENCRYPTION: (&str, &str) = ("security encrypted", "it has no encryption");
const SECURITY_SERVER_UNSUPPORTED: Unsupported = &[
    ("security user/a replayed request is refused", "the application has to remember nonces"),
    ("security signed/signed both ways", NO_SIGNED_RESPONSES),
    ("security signed/a changed response is refused", NO_SIGNED_RESPONSES),
    ("security signed/a replayed request is refused", "xml-crypto remembers no signatures"),
    NO_ENCRYPTION,
];
const NO_SIGNED_RESPONSES: &str = "responses are not signed";

impl Peer for NodeSoap {
    fn name(&self) -> &'static str {
        "node-soap"
    }

    /// Programs and packages are in the same folder, since node searches for packages there.
    fn install(&self, _: &Ours) -> Result<()> {
        let (sources, folder) = (shell::root().join("tests/interop/node-soap"), folder()?);
        for name in FILES {
            fs::copy(sources.join(name), folder.join(name)).with_context(|| format!("cannot copy {name}"))?;
        }
        node::install(&sources, &folder)
    }

    fn client(&self) -> Result<Option<Command>> {
        Ok(Some(shell::command("node", [folder()?.join("client.js")])))
    }

    fn value_clients(&self) -> Result<Option<(Vec<Command>, Unsupported)>> {
        let unsupported = &[("literal utf-16", "requests are always in UTF-8"), NO_ENCODING];
        Ok(Some((vec![shell::command("node", [folder()?.join("cases.js")])], unsupported)))
    }

    fn coded_client(&self, _: &Ours) -> Result<Option<(Command, Unsupported)>> {
        let command = shell::command("node", [folder()?.join("coded.js")]);
        Ok(Some((command, &[("coded arrays", NO_ENCODING.1)])))
    }

    fn security_client(&self, _: &Ours) -> Result<Option<(Command, Unsupported)>> {
        Ok(Some((shell::command("node", [folder()?.join("secured.js")]), &[NO_ENCRYPTION])))
    }

    fn security_server(&self, ours: &Ours) -> Result<Option<SecurityServer>> {
        let mut command = shell::command("node", [folder()?.join("secured_server.js")]);
        let server = Server::start("node-soap-secured", command.arg(&ours.secured).arg(&ours.keys), 1)?;
        Ok(Some(SecurityServer { server, means: "code", unsupported: SECURITY_SERVER_UNSUPPORTED }))
    }

    fn value_servers(&self, ours: &Ours) -> Result<Option<ValueServers>> {
        let mut command = shell::command("node", [folder()?.join("values_server.js")]);
        let server = Server::start("node-soap-values", command.arg(&ours.types), 1)?;
        let types = Some(ValueService::at(&server.url));
        Ok(Some(ValueServers { _servers: vec![server], types, encoded: None, unsupported: VALUE_SERVER_UNSUPPORTED }))
    }

    fn server(&self, ours: &Ours) -> Result<Option<PeerServer>> {
        let mut command = shell::command("node", [folder()?.join("server.js")]);
        command.arg(&ours.description).arg(&ours.certificates.certificate).arg(&ours.certificates.key);
        let server = Server::start("node-soap", &mut command, 2)?;
        let unsupported = &[
            ("values/strings that look like CDATA sections", "a string with this prefix is sent as a CDATA section"),
            ("faults/an unknown operation", "it is answered with a stack trace instead of a SOAP message"),
            ("utf-16", "responses are always in UTF-8"),
            ("gzip/responses in gzip", "responses are never compressed"),
            ("mtom", "the whole body of a request is parsed as XML"),
        ];
        Ok(Some(PeerServer { server, paths: &[("length", "/bench/length")], unsupported }))
    }
}

/// Installs the packages of the lock file in a folder, next to it.
pub fn install_packages(folder: &Path) -> Result<()> {
    install_tools()?;
    let options = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
    shell::run(shell::command("npm", options).current_dir(folder))
}

/// Nothing is installed if the tools run, whatever their origin. npm only warns of an outdated
/// Node.js.
fn install_tools() -> Result<()> {
    let version = |program: &str| shell::output(&mut shell::command(program, ["--version"]));
    if version("node").is_err() || version("npm").is_err() {
        debian::install(&PACKAGES)?;
    }
    let version = version("node")?;
    let major = version.trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    ensure!(major >= Some(MIN_MAJOR_VERSION), "node-soap needs Node.js {MIN_MAJOR_VERSION} or later, found {version}");
    Ok(())
}

fn folder() -> Result<PathBuf> {
    shell::workspace("node-soap")
}
