//! Packages from the npm registry, in the versions that a `package-lock.json` pins; and the peer in
//! JavaScript, node-soap.

use std::fs;
use std::path::{Path, PathBuf};

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
    install(&sources, &folder)?;
    let (program, description) = (folder.join("peer"), shell::root().join("bench/definitions/suite.wsdl"));
    let command = format!("exec node '{}' '{}'", folder.join("peer.js").display(), description.display());
    shell::write_program(&program, &command)?;
    Ok(program)
}

/// Installs the packages that a folder of `tests` needs; returns their folder.
///
/// # Errors
/// Returns an error if Node.js is missing, or a package is unavailable.
pub fn packages(name: &str) -> Result<PathBuf> {
    let (sources, folder) = (shell::root().join("tests").join(name), shell::workspace(name)?);
    for name in ["package.json", "package-lock.json"] {
        fs::copy(sources.join(name), folder.join(name)).with_context(|| format!("cannot copy {name}"))?;
    }
    install(&sources, &folder)?;
    Ok(folder.join("node_modules"))
}

/// Installs the packages of a folder's lock file, unless they are there.
///
/// # Errors
/// As for [`packages`].
pub fn install(sources: &Path, folder: &Path) -> Result<()> {
    stamp::build_if_stale(
        &folder.join("node_modules/.package-lock.json"),
        &[sources.join("package-lock.json")],
        "npm ci",
        || {
            println!("installing packages for {}", sources.display());
            node_soap::install_packages(folder)
        },
    )
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
