//! The XML libraries in C and C++: Debian's packages, and one program for each.

use std::path::PathBuf;

use anyhow::Result;

use crate::{debian, shell, stamp};

/// A peer whose program is `bench/peers/<name>/peer.cpp`.
#[derive(Debug)]
pub struct CppPeer {
    name: &'static str,
    package: &'static str,
    /// Compiler flags for the library.
    flags: &'static [&'static str],
}

pub const PUGIXML: CppPeer = CppPeer { name: "pugixml", package: "libpugixml-dev", flags: &["-lpugixml"] };

pub const LIBXML2: CppPeer =
    CppPeer { name: "libxml2", package: "libxml2-dev", flags: &["-I/usr/include/libxml2", "-lxml2"] };

/// The usual highest optimization, for the baseline of the architecture, as for gSOAP.
const FLAGS: [&str; 3] = ["-std=c++17", "-O3", "-DNDEBUG"];

impl CppPeer {
    /// Builds the peer unless it is up to date; returns the path of its program.
    pub fn build(&self) -> Result<PathBuf> {
        debian::install(&["g++", self.package])?;
        let (peers, program) = (shell::root().join("bench/peers"), shell::workspace(self.name)?.join("peer"));
        let (source, common) = (peers.join(self.name).join("peer.cpp"), peers.join("cpp"));
        let mut inputs = stamp::files_in(&common)?;
        inputs.extend([source.clone(), peers.join("gsoap/memory.h")]);
        let version = debian::installed_version(self.package)?;
        stamp::build_if_stale(&program, &inputs, &format!("{version} {FLAGS:?} {:?}", self.flags), || {
            let mut compiler = shell::command("g++", FLAGS);
            compiler.arg("-I").arg(&common).arg(&source).arg("-o").arg(&program);
            shell::run(compiler.args(self.flags))
        })?;
        Ok(program)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_library_has_its_program() {
        for peer in [PUGIXML, LIBXML2] {
            assert!(shell::root().join("bench/peers").join(peer.name).join("peer.cpp").exists(), "{}", peer.name);
            assert!(peer.flags.iter().any(|flag| flag.starts_with("-l")), "{}", peer.name);
        }
    }
}
