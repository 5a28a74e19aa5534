//! The peer in JavaScript: node-soap, with the versions pinned in
//! `bench/peers/node-soap/package-lock.json`.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::interop::node_soap;
use crate::{shell, stamp};

/// Programs and packages are in the same folder, since node searches for packages there.
const FILES: [&str; 8] = [
    "package.json",
    "package-lock.json",
    "peer.js",
    "toolkit.js",
    "server.js",
    "client.js",
    "checksum.js",
    "memory.js",
];

/// Builds the peer; returns the path of its program.
pub fn build() -> Result<PathBuf> {
    let (sources, folder) = (shell::root().join("bench/peers/node-soap"), shell::workspace("node-soap-bench")?);
    for name in FILES {
        fs::copy(sources.join(name), folder.join(name)).with_context(|| format!("cannot copy {name}"))?;
    }
    stamp::build_if_stale(&folder.join("node_modules/soap"), &[sources.join("package-lock.json")], "npm ci", || {
        println!("installing node-soap");
        node_soap::install_packages(&folder)
    })?;
    let (program, description) = (folder.join("peer"), shell::root().join("bench/definitions/suite.wsdl"));
    let command = format!("exec node '{}' '{}'", folder.join("peer.js").display(), description.display());
    shell::write_program(&program, &command)?;
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_peer_is_copied() {
        let sources = shell::root().join("bench/peers/node-soap");
        let files = stamp::files_in(&sources).unwrap();
        let names = files.iter().filter_map(|file| file.file_name()?.to_str());
        let needed: Vec<_> = names.filter(|name| name.ends_with(".js") || name.ends_with(".json")).collect();
        let mut copied = FILES;
        copied.sort_unstable();
        assert_eq!(needed, copied);
    }
}
