//! `cargo xtask interop`: clients of other toolkits against our server, and our client against
//! their servers.
//!
//! Each peer is a program of its own in a folder below `tests/interop/`, installed and built below
//! `.peers/`, and communicates with ours only over a socket. Code is generated from the WSDL that
//! our server serves. Each program prints one line of JSON per test; `tests/interop/README.md`
//! documents the format. A test without a line is a failure: nothing is left out silently.

mod authority;
mod axis;
mod cwmp_client;
mod cxf;
pub mod fetch;
mod gateway;
mod gsoap;
mod markdown;
mod maven;
mod metro;
mod mono;
pub mod node_soap;
mod ours;
mod php;
mod process;
mod python;
mod results;
mod spyne;
mod table;
mod vcsim;
mod zeep;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use clap::ValueEnum;

use self::ours::Ours;
pub use self::process::Server;
use self::results::{ADDRESSING, ASGI, CODED, Column, JSON, MESSAGES, Rows, SECURITY, SESSIONS, Side, VALUES};
use crate::stamp;

#[derive(clap::Args)]
pub struct Arguments {
    /// Run only this peer; may be given more than once
    #[arg(long, value_enum, value_name = "NAME")]
    peer: Vec<PeerName>,
    /// Write every result to this file, as a JSON array
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the tables to this file, as Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

/// The toolkits, in the order of the table's columns.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PeerName {
    Zeep,
    Gsoap,
    Cxf,
    NodeSoap,
    /// Only a server
    Spyne,
    Php,
    Axis,
    Mono,
    Metro,
    /// Our package for Python, whose services the other clients call, too
    Python,
    CwmpClient,
    /// Our own client and server, to check the tests themselves
    Deltasoap,
    /// A simulator of vSphere, which the example `vsphere` polls, and generated clients read through
    /// the gateway
    Vcsim,
}

impl PeerName {
    /// Returns the toolkit; `None` for a service that only an example uses.
    fn peer(self) -> Option<Box<dyn Peer>> {
        Some(match self {
            PeerName::Zeep => Box::new(zeep::Zeep),
            PeerName::Gsoap => Box::new(gsoap::Gsoap),
            PeerName::Cxf => Box::new(cxf::Cxf),
            PeerName::NodeSoap => Box::new(node_soap::NodeSoap),
            PeerName::Spyne => Box::new(spyne::Spyne),
            PeerName::Axis => Box::new(axis::Axis),
            PeerName::Mono => Box::new(mono::Mono),
            PeerName::Metro => Box::new(metro::Metro),
            PeerName::Python => Box::new(python::Python),
            PeerName::Php => Box::new(php::Php),
            PeerName::CwmpClient => Box::new(cwmp_client::CwmpClient),
            PeerName::Deltasoap => Box::new(ours::Ourselves),
            PeerName::Vcsim => return None,
        })
    }
}

/// A toolkit.
trait Peer {
    /// Returns the name as it is usually written.
    fn name(&self) -> &'static str;

    /// Installs and builds what is missing.
    fn install(&self, ours: &Ours) -> Result<()>;

    /// Returns its client, if it has one for the table of messages. Three arguments are appended:
    /// the URLs of our server without and with TLS, and the file with the authority's certificate.
    fn client(&self) -> Result<Option<Command>>;

    /// Returns its server, started, and what our client must know about it; if it has one for the
    /// table of messages.
    fn server(&self, ours: &Ours) -> Result<Option<PeerServer>>;

    /// Returns its clients of the value services, which are started with the URLs of `/types` and
    /// `/encoded`, and the features that none of them offers, with reasons; `None` if it has none.
    fn value_clients(&self) -> Result<Option<(Vec<Command>, Unsupported)>> {
        Ok(None)
    }

    /// Returns its client of the services whose WSDLs our server makes from code, which is started
    /// with the URLs of `/orders` and `/sums`, and what it does not offer; `None` if it has none.
    fn coded_client(&self, _: &Ours) -> Result<Option<(Command, Unsupported)>> {
        Ok(None)
    }

    /// Returns its client of the service that requires WS-Addressing, which is started with the URL
    /// of `/addressed`; `None` if it has none.
    fn addressing_client(&self, _: &Ours) -> Result<Option<Command>> {
        Ok(None)
    }

    /// Returns its server of the service that requires WS-Addressing, started, and what it does not
    /// offer; `None` if it has none.
    fn addressing_server(&self) -> Result<Option<(Server, Unsupported)>> {
        Ok(None)
    }

    /// Returns its client of the services that require WS-Security, which is started with the URL
    /// below which they are, and the folder with the keys, and what it does not offer; `None` if it
    /// has none.
    fn security_client(&self, _: &Ours) -> Result<Option<(Command, Unsupported)>> {
        Ok(None)
    }

    /// Returns its server of the services that require WS-Security, started; `None` if it has none.
    fn security_server(&self, _: &Ours) -> Result<Option<SecurityServer>> {
        Ok(None)
    }

    /// Returns its TR-069 device, which is started with the URL of our server, and what it does not
    /// offer; `None` if it has none.
    fn device(&self, _: &Ours) -> Result<Option<(Command, Unsupported)>> {
        Ok(None)
    }

    /// Returns its value servers, started; `None` if it has none.
    fn value_servers(&self, _: &Ours) -> Result<Option<ValueServers>> {
        Ok(None)
    }
}

/// Features, or single tests as `FEATURE/TEST`, that a peer does not offer, with reasons.
type Unsupported = &'static [(&'static str, &'static str)];

/// Running value servers.
struct ValueServers {
    /// Keeps the servers running.
    _servers: Vec<Server>,
    types: Option<ValueService>,
    encoded: Option<ValueService>,
    unsupported: Unsupported,
}

/// One of the two value services.
struct ValueService {
    url: String,
    /// The version of SOAP, if it supports only one.
    only: Option<&'static str>,
    /// URL at which it answers in UTF-16.
    utf_16: Option<String>,
}

impl ValueService {
    /// Creates a service with both versions of SOAP, in UTF-8.
    fn at(url: impl Into<String>) -> Self {
        ValueService { url: url.into(), only: None, utf_16: None }
    }
}

/// A running server of the services that require WS-Security.
struct SecurityServer {
    server: Server,
    /// How it tells what it requires: by the `policy` of `secured/bank.wsdl`, or in `code`.
    means: &'static str,
    unsupported: Unsupported,
}

/// A running server of a peer.
struct PeerServer {
    /// Keeps the server running.
    server: Server,
    /// Paths of special behaviour, each with the name of the feature that is tested there.
    paths: &'static [(&'static str, &'static str)],
    unsupported: Unsupported,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let chosen = chosen(&arguments.peer);
    if chosen.contains(&PeerName::Vcsim) {
        vcsim::check()?;
    }
    let serves_python = chosen.contains(&PeerName::Python);
    let toolkits: Vec<_> = chosen.into_iter().filter_map(PeerName::peer).collect();
    if toolkits.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let ours = Ours::start()?;
    let asgi = if serves_python { Some(python::serve(&ours)?) } else { None };
    let mut columns = Vec::new();
    for peer in toolkits {
        peer.install(&ours).with_context(|| format!("{} cannot be installed", peer.name()))?;
        columns.extend(test_client(&*peer, &ours)?);
        columns.extend(test_server(&*peer, &ours)?);
        columns.extend(test_value_clients(&*peer, &ours)?);
        columns.extend(test_value_servers(&*peer, &ours)?);
        columns.extend(test_coded_client(&*peer, &ours, &ours.values, CODED)?);
        if let Some(asgi) = &asgi {
            columns.extend(test_coded_client(&*peer, &ours, asgi, ASGI)?);
        }
        columns.extend(test_addressing_client(&*peer, &ours)?);
        columns.extend(test_addressing_server(&*peer, &ours)?);
        columns.extend(test_security_client(&*peer, &ours)?);
        columns.extend(test_security_server(&*peer, &ours)?);
        columns.extend(test_device(&*peer, &ours)?);
    }
    columns.sort_by_key(|column| column.side);
    let write =
        |file: &PathBuf, text| fs::write(file, text).with_context(|| format!("cannot write {}", file.display()));
    if let Some(file) = &arguments.json {
        write(file, results::to_json(&columns)?)?;
    }
    if let Some(file) = &arguments.markdown {
        write(file, markdown::of(&columns))?;
    }
    Ok(table::print(&columns))
}

fn chosen(peers: &[PeerName]) -> Vec<PeerName> {
    let all = PeerName::value_variants().iter().copied();
    all.filter(|name| peers.is_empty() || peers.contains(name)).collect()
}

/// Calls our server with the peer's client, and checks whether requests were compared with earlier
/// ones.
fn test_client(peer: &dyn Peer, ours: &Ours) -> Result<Option<Column>> {
    let Some(mut command) = peer.client()? else { return Ok(None) };
    println!("calling our server with {}", peer.name());
    let before = ours.fast_bytes()?;
    let lines = process::output(command.arg(&ours.plain.url).arg(&ours.secure.url).arg(ours.authority()))?;
    let mut column = Column::parse(peer.name(), Side::Client, MESSAGES, &lines)?;
    column.note_comparison(ours.fast_bytes()? - before);
    Ok(Some(column))
}

/// Calls the peer's server with our client, and with clients of JSON through the gateway.
fn test_server(peer: &dyn Peer, ours: &Ours) -> Result<Vec<Column>> {
    let Some(served) = peer.server(ours)? else { return Ok(Vec::new()) };
    println!("calling the server of {} with our client", peer.name());
    let mut command = ours.client();
    command.arg(&served.server.url).arg("--ca").arg(ours.authority());
    for (feature, path) in served.paths {
        command.arg("--at").arg(format!("{feature}={}", served.server.at(path)));
    }
    if let Some(url) = &served.server.secure_url {
        command.arg("--at").arg(format!("tls={url}"));
    }
    for (feature, reason) in served.unsupported {
        command.arg("--lacks").arg(format!("{feature}={reason}"));
    }
    let messages = Column::parse(peer.name(), Side::Server, MESSAGES, &process::output(&mut command)?)?;
    println!("calling the server of {} through the gateway", peer.name());
    let lines = gateway::call(ours, &served.server.url)?;
    Ok(vec![messages, Column::parse(peer.name(), Side::Server, JSON, &lines)?])
}

/// Has the peer's clients fetch every case from our server, and send it back.
fn test_value_clients(peer: &dyn Peer, ours: &Ours) -> Result<Option<Column>> {
    let Some((commands, unsupported)) = peer.value_clients()? else { return Ok(None) };
    println!("exchanging values with clients of {}", peer.name());
    let mut lines = String::new();
    for mut command in commands {
        command.arg(ours.values.at("/types")).arg(ours.values.at("/encoded"));
        lines += &process::output(&mut command)?;
    }
    let mut column = Column::parse(peer.name(), Side::Client, VALUES, &lines)?;
    column.note_unsupported(unsupported);
    Ok(Some(column))
}

/// Has the peer's servers echo every case.
fn test_value_servers(peer: &dyn Peer, ours: &Ours) -> Result<Option<Column>> {
    let Some(served) = peer.value_servers(ours)? else { return Ok(None) };
    println!("exchanging values with the server of {}", peer.name());
    let mut lines = String::new();
    for (option, service) in [("--types", &served.types), ("--encoded", &served.encoded)] {
        let Some(service) = service else { continue };
        lines += &process::output(&mut echoing(option, service, served.unsupported, ours))?;
    }
    let mut column = Column::parse(peer.name(), Side::Server, VALUES, &lines)?;
    column.note_unsupported(served.unsupported);
    Ok(Some(column))
}

/// Has the peer's client read the WSDLs that our server makes from code, and call the operations, in
/// that server or in Python's.
fn test_coded_client(peer: &dyn Peer, ours: &Ours, server: &Server, rows: Rows) -> Result<Option<Column>> {
    let Some((mut command, unsupported)) = peer.coded_client(ours)? else { return Ok(None) };
    let place = if rows == ASGI { " and functions in Python" } else { "" };
    println!("calling services with WSDLs from code{place} with {}", peer.name());
    let lines = process::output(command.arg(server.at("/orders")).arg(server.at("/sums")))?;
    let mut column = Column::parse(peer.name(), Side::Client, rows, &lines)?;
    column.note_unsupported(unsupported);
    Ok(Some(column))
}

/// Calls our service that requires WS-Addressing with the peer's client.
fn test_addressing_client(peer: &dyn Peer, ours: &Ours) -> Result<Option<Column>> {
    let Some(mut command) = peer.addressing_client(ours)? else { return Ok(None) };
    println!("calling our server by WS-Addressing with {}", peer.name());
    let lines = process::output(command.arg(ours.values.at("/addressed")))?;
    Column::parse(peer.name(), Side::Client, ADDRESSING, &lines).map(Some)
}

/// Calls the peer's service that requires WS-Addressing with our client.
fn test_addressing_server(peer: &dyn Peer, ours: &Ours) -> Result<Option<Column>> {
    let Some((server, unsupported)) = peer.addressing_server()? else { return Ok(None) };
    println!("calling the server of {} by WS-Addressing with our client", peer.name());
    let mut command = ours.client();
    command.arg("--ca").arg(ours.authority()).args(["--addressed", &server.url]);
    for (feature, reason) in unsupported {
        command.arg("--lacks").arg(format!("{feature}={reason}"));
    }
    Column::parse(peer.name(), Side::Server, ADDRESSING, &process::output(&mut command)?).map(Some)
}

/// Calls our services that require WS-Security with the peer's client.
fn test_security_client(peer: &dyn Peer, ours: &Ours) -> Result<Option<Column>> {
    let Some((mut command, unsupported)) = peer.security_client(ours)? else { return Ok(None) };
    println!("calling our server by WS-Security with {}", peer.name());
    let lines = process::output(command.arg(ours.values.at("/secured")).arg(&ours.keys))?;
    let mut column = Column::parse(peer.name(), Side::Client, SECURITY, &lines)?;
    column.note_unsupported(unsupported);
    Ok(Some(column))
}

/// Calls the peer's services that require WS-Security with our client.
fn test_security_server(peer: &dyn Peer, ours: &Ours) -> Result<Option<Column>> {
    let Some(SecurityServer { server, means, unsupported }) = peer.security_server(ours)? else { return Ok(None) };
    println!("calling the server of {} by WS-Security with our client", peer.name());
    let mut command = ours.client();
    command.arg("--ca").arg(ours.authority()).args(["--secured", &server.url]).arg(&ours.keys);
    command.args(["--secured-by", means]);
    for (feature, reason) in unsupported {
        command.arg("--lacks").arg(format!("{feature}={reason}"));
    }
    Column::parse(peer.name(), Side::Server, SECURITY, &process::output(&mut command)?).map(Some)
}

/// Has the peer's device conduct sessions with our server.
fn test_device(peer: &dyn Peer, ours: &Ours) -> Result<Option<Column>> {
    let Some((mut command, unsupported)) = peer.device(ours)? else { return Ok(None) };
    println!("having sessions of TR-069 with {}", peer.name());
    let lines = process::output(command.arg(ours.plain.at("/cwmp")))?;
    let mut column = Column::parse(peer.name(), Side::Client, SESSIONS, &lines)?;
    column.note_unsupported(unsupported);
    Ok(Some(column))
}

/// Returns the command of our client for one of the value services.
fn echoing(option: &str, service: &ValueService, unsupported: Unsupported, ours: &Ours) -> Command {
    let mut command = ours.client();
    command.arg("--ca").arg(ours.authority()).args([option, &service.url]).args(["--ours", &ours.values.at("")]);
    command.args(service.only.iter().flat_map(|version| ["--only", version]));
    command.args(service.utf_16.iter().flat_map(|url| ["--at".to_owned(), format!("utf-16={url}")]));
    for (feature, reason) in unsupported {
        command.arg("--lacks").arg(format!("{feature}={reason}"));
    }
    command
}
