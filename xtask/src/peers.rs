//! `cargo xtask peers PEER`: builds a benchmark peer and, with `--check`, tests it. `--all` does so
//! for each peer, and continues if one is unavailable.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use clap::ValueEnum;

use crate::{cpp, debian, go, gsoap, java, mono, node, python, python_package, rust, self_test, summary};

#[derive(clap::Args)]
pub struct Arguments {
    /// The toolkit
    #[arg(required_unless_present = "all")]
    peer: Option<Peer>,
    /// Every toolkit
    #[arg(long, conflicts_with = "peer")]
    all: bool,
    /// Also run the peer on small messages and compare its checksums
    #[arg(long)]
    check: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Peer {
    Gsoap,
    GsoapMultiref,
    GsoapDebian,
    Xsul,
    Cxf,
    Metro,
    Axis,
    AxisStreaming,
    Axis2,
    QuickXml,
    InstantXml,
    Pugixml,
    #[value(name = "libxml2")]
    LibXml2,
    Go,
    Zeep,
    Spyne,
    DeltasoapPython,
    NodeSoap,
    Mono,
}

impl Peer {
    /// Builds the peer unless that has been done; returns the path of its program.
    fn build(self) -> Result<PathBuf> {
        match self {
            Peer::Gsoap => gsoap::build(),
            Peer::GsoapMultiref => gsoap::build_multiref(),
            Peer::GsoapDebian => gsoap::build_packaged(),
            Peer::Xsul => java::XSUL.build(),
            Peer::Cxf => java::CXF.build(),
            Peer::Metro => java::METRO.build(),
            Peer::Axis => java::AXIS.build(),
            Peer::AxisStreaming => java::AXIS_STREAMING.build(),
            Peer::Axis2 => java::AXIS2.build(),
            Peer::QuickXml => rust::build("quick-xml-peer"),
            Peer::InstantXml => rust::build("instant-xml-peer"),
            Peer::Pugixml => cpp::PUGIXML.build(),
            Peer::LibXml2 => cpp::LIBXML2.build(),
            Peer::Go => go::build(),
            Peer::Zeep => python::build("zeep"),
            Peer::Spyne => python::build("spyne"),
            Peer::DeltasoapPython => python_package::build_peer(),
            Peer::NodeSoap => node::build(),
            Peer::Mono => mono::build(),
        }
    }

    /// Returns the peer whose server its client calls.
    fn server(self) -> Self {
        if matches!(self, Peer::Zeep | Peer::DeltasoapPython) { Peer::Spyne } else { self }
    }

    /// Returns its name on the command line.
    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    match arguments.peer {
        Some(peer) => Ok(summary::close(&build(peer, arguments.check)?)),
        None => Ok(summary::close(&all(arguments.check))),
    }
}

/// Builds each peer in turn. A peer that is unavailable or wrong is reported and counted, and the
/// others follow.
fn all(is_checked: bool) -> Vec<bool> {
    let mut outcomes = Vec::new();
    for &peer in Peer::value_variants() {
        let (name, start) = (peer.name(), Instant::now());
        println!("--- {name}");
        outcomes.extend(build(peer, is_checked).unwrap_or_else(|error| failed(&name, &error)));
        println!("--- {name} took {} s", start.elapsed().as_secs());
    }
    outcomes
}

/// Reports a failure. What is missing on this machine is not a peer's failure: it is reported, and
/// not counted.
fn failed(name: &str, error: &anyhow::Error) -> Vec<bool> {
    let is_missing_packages = error.is::<debian::MissingPackages>();
    println!("{name} {}: {error:#}", if is_missing_packages { "SKIPPED, NOT CHECKED" } else { "FAILED" });
    if is_missing_packages { vec![] } else { vec![false] }
}

/// Builds a peer, and returns the results of its checks; the build is one of them.
fn build(peer: Peer, is_checked: bool) -> Result<Vec<bool>> {
    let program = peer.build()?;
    println!("{}", program.display());
    let mut outcomes = vec![true];
    if is_checked {
        let server = peer.server().build()?;
        outcomes.extend(self_test::run(&program, &server)?);
    }
    Ok(outcomes)
}

/// Builds every peer that is available for this machine. A peer that cannot be built is an empty
/// row of the suite, with the reason.
pub fn install() {
    build_each(Peer::value_variants());
}

/// Builds the peers of a full reproduction, like [`install`].
pub fn install_for_papers() {
    build_each(&[Peer::Gsoap, Peer::GsoapMultiref, Peer::Xsul, Peer::Axis, Peer::AxisStreaming, Peer::Mono]);
}

/// Builds the peers of a quick reproduction, like [`install`].
pub fn install_few() {
    build_each(&[Peer::Gsoap, Peer::NodeSoap]);
}

fn build_each(peers: &[Peer]) {
    for peer in peers {
        if let Err(error) = peer.build() {
            eprintln!("{error:#}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell;

    /// The suite's peers are those that can be built, and vice versa.
    #[test]
    fn every_peer_of_the_suite_is_built_here() {
        let text = std::fs::read_to_string(shell::root().join("bench/definitions/engines.toml")).unwrap();
        let built =
            text.lines().filter_map(|line| line.strip_prefix("build = \"cargo xtask peers ")?.strip_suffix('"'));
        let mut built: Vec<_> = built.map(str::to_owned).collect();
        let mut known: Vec<_> = Peer::value_variants().iter().map(|peer| peer.name()).collect();
        built.sort_unstable();
        known.sort_unstable();
        assert_eq!(built, known);
    }
}
