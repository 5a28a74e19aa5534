//! `cargo xtask peers PEER`: builds a benchmark peer and, with `--check`, tests it.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::ValueEnum;

use crate::{check, gsoap, java};

#[derive(clap::Args)]
pub struct Arguments {
    /// The toolkit
    peer: Peer,
    /// Also run the peer on small messages and compare its checksums
    #[arg(long)]
    check: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Peer {
    Gsoap,
    Xsul,
    Cxf,
}

impl Peer {
    /// Builds the peer unless that has been done; gives the path of its program.
    fn build(self) -> Result<PathBuf> {
        match self {
            Peer::Gsoap => gsoap::build(),
            Peer::Xsul => java::XSUL.build(),
            Peer::Cxf => java::CXF.build(),
        }
    }
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let program = arguments.peer.build()?;
    println!("{}", program.display());
    if arguments.check { check::run(&program) } else { Ok(ExitCode::SUCCESS) }
}

/// Builds every peer that this machine can have. One that cannot be built is an empty row of the suite, with its reason.
pub fn install() {
    for peer in Peer::value_variants() {
        if let Err(error) = peer.build() {
            eprintln!("{error:#}");
        }
    }
}
