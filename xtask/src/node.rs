//! The peer in JavaScript: node-soap, with the versions that `bench/peers/node-soap/package-lock.json` pins.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::interop::node_soap;
use crate::{shell, stamp};

/// Programs and packages lie side by side, since node looks for the one beside the other.
const FILES: [&str; 8] =
    ["package.json", "package-lock.json", "peer.js", "toolkit.js", "server.js", "client.js", "checksum.js", "memory.js"];

/// Builds the peer; gives the path of its program.
pub fn build() -> Result<PathBuf> {
    let (sources, folder) = (shell::root().join("bench/peers/node-soap"), shell::workspace("node-soap-bench")?);
    for name in FILES {
        fs::copy(sources.join(name), folder.join(name)).with_context(|| format!("cannot copy {name}"))?;
    }
    stamp::unless_done(&folder.join("node_modules/soap"), &[sources.join("package-lock.json")], "npm ci", || {
        println!("installing node-soap");
        node_soap::install_packages(&folder)
    })?;
    write_program(&folder)
}

fn write_program(folder: &Path) -> Result<PathBuf> {
    let (program, description) = (folder.join("peer"), shell::root().join("bench/definitions/suite.wsdl"));
    let script = format!("#!/bin/sh\nexec node '{}' '{}'\n", folder.join("peer.js").display(), description.display());
    fs::write(&program, script).with_context(|| format!("cannot write {}", program.display()))?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
    Ok(program)
}
