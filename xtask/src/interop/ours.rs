//! Our own programs: `deltasoap serve`, and `tests/interop/client`, which contains the client and
//! the value server.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::process::Server;
use super::{Peer, PeerServer, Unsupported, ValueServers, ValueService, authority, fetch};
use crate::shell::{self, Profile};

/// Our server, in two instances: without and with TLS.
pub struct Ours {
    pub plain: Server,
    pub secure: Server,
    /// The value server.
    pub values: Server,
    pub certificates: authority::Files,
    /// The folder with the keys of the services that require WS-Security, which the value server
    /// makes.
    pub keys: PathBuf,
    /// The WSDL as served, for code generators: a file that is the same in each run.
    pub description: PathBuf,
    /// The WSDLs of the value services.
    pub types: PathBuf,
    pub encoded: PathBuf,
    /// The WSDLs that are made from code: in document style, and in SOAP encoding.
    pub orders: PathBuf,
    pub sums: PathBuf,
    /// The WSDL from code of those services that require WS-Security without a policy.
    pub secured: PathBuf,
}

/// Both have the development profile, with its checks, and are built by `cargo test` already.
const PACKAGES: [&str; 2] = ["deltasoap-cli", "deltasoap-interop"];
/// Minimum size in bytes of gzipped responses of our server, for clients that accept gzip.
const GZIP_FROM: &str = "1000";

impl Ours {
    /// Builds both programs and starts the servers.
    pub fn start() -> Result<Self> {
        build()?;
        let certificates = authority::make(&shell::workspace("interop")?)?;
        let plain = Server::start("deltasoap", serve().args(["--gzip-from", GZIP_FROM]), 1)?;
        let mut secure = serve();
        secure.arg("--tls-cert").arg(&certificates.certificate).arg("--tls-key").arg(&certificates.key);
        let mut secure = Server::start("deltasoap-tls", &mut secure, 1)?;
        // The certificate has both names; some clients do not look for an address in it.
        secure.url = secure.url.replace("127.0.0.1", "localhost");
        let keys = shell::workspace("interop")?.join("keys");
        let mut values = command("deltasoap-interop");
        let values = Server::start("deltasoap-values", values.arg("--serve-values").arg(&keys), 1)?;
        let description = fetch_description(&plain, "bench")?;
        let (types, encoded) = (fetch_description(&values, "types")?, fetch_description(&values, "encoded")?);
        let (orders, sums) = (fetch_description(&values, "orders")?, fetch_description(&values, "sums")?);
        let secured = fetch_description(&values, "secured/users")?;
        Ok(Ours { plain, secure, values, certificates, keys, description, types, encoded, orders, sums, secured })
    }

    /// Returns the file with the authority's certificate.
    pub fn authority(&self) -> &Path {
        &self.certificates.authority
    }

    /// Returns the command of our client, without arguments.
    pub fn client(&self) -> Command {
        command("deltasoap-interop")
    }

    /// Returns the bytes of requests that differential decoding has skipped since the server
    /// started.
    pub fn fast_bytes(&self) -> Result<u64> {
        let metrics = fetch::get(&self.plain.at("/metrics"))?;
        let lines = metrics.lines().filter(|line| line.starts_with("deltasoap_differential_fast_bytes_total{"));
        Ok(lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum())
    }
}

fn build() -> Result<()> {
    println!("building our server and client");
    shell::build(&PACKAGES, Profile::Dev)
}

fn serve() -> Command {
    let mut command = Command::new(program("deltasoap"));
    command.args(["serve", "--listen", "127.0.0.1:0"]);
    command
}

/// Returns the command of one of our programs.
pub fn command(name: &str) -> Command {
    Command::new(program(name))
}

/// Returns the path of a program of the development profile, which is ours too: next to this
/// program.
fn program(name: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    own.with_file_name(name)
}

/// Downloads a WSDL, and replaces the address in it by a fixed one.
fn fetch_description(server: &Server, name: &str) -> Result<PathBuf> {
    let wsdl = fetch::get(&server.at(&format!("/{name}?wsdl")))?.replace(&server.at(""), "http://localhost");
    let file = shell::workspace("interop")?.join(name.replace('/', "-")).with_extension("wsdl");
    fs::write(&file, wsdl).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(file)
}

/// What TR-069 devices do not offer.
pub const SOAP_11_ONLY: Unsupported = &[("1.2", "TR-069 uses only SOAP 1.1")];

/// Our client against our server: failures here are errors of the tests, or of both.
pub struct Ourselves;

impl Peer for Ourselves {
    fn name(&self) -> &'static str {
        "deltasoap"
    }

    fn install(&self, _: &Ours) -> Result<()> {
        Ok(())
    }

    fn client(&self) -> Result<Option<Command>> {
        Ok(None)
    }

    fn server(&self, ours: &Ours) -> Result<Option<PeerServer>> {
        let mut server = Server::start("deltasoap-itself", serve().args(["--gzip-from", GZIP_FROM]), 1)?;
        server.secure_url = Some(ours.secure.url.clone());
        let unsupported = &[
            ("utf-16", "responses are always in UTF-8"),
            (
                "chunked/a chunked response",
                "responses of known length have Content-Length; gzip and streamed parts are chunked",
            ),
        ];
        Ok(Some(PeerServer { server, paths: &[], unsupported }))
    }

    fn coded_client(&self, ours: &Ours) -> Result<Option<(Command, Unsupported)>> {
        let mut command = ours.client();
        command.arg("--ca").arg(ours.authority()).arg("--coded");
        Ok(Some((command, &[])))
    }

    fn addressing_client(&self, ours: &Ours) -> Result<Option<Command>> {
        let mut command = ours.client();
        command.arg("--ca").arg(ours.authority()).arg("--addressed");
        Ok(Some(command))
    }

    fn security_client(&self, ours: &Ours) -> Result<Option<(Command, Unsupported)>> {
        let mut command = ours.client();
        command.arg("--ca").arg(ours.authority()).arg("--secured");
        Ok(Some((command, &[])))
    }

    fn device(&self, ours: &Ours) -> Result<Option<(Command, Unsupported)>> {
        let mut command = ours.client();
        command.arg("--ca").arg(ours.authority()).arg("--sessions");
        Ok(Some((command, SOAP_11_ONLY)))
    }

    fn value_servers(&self, ours: &Ours) -> Result<Option<ValueServers>> {
        let service = |path| Some(ValueService::at(ours.values.at(path)));
        let (types, encoded) = (service("/types"), service("/encoded"));
        let unsupported = &[("literal utf-16", "responses are always in UTF-8")];
        Ok(Some(ValueServers { _servers: Vec::new(), types, encoded, unsupported }))
    }
}
