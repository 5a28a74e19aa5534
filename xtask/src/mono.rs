//! The peer in C#: .NET's `XmlSerializer` on the Mono that Debian has.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::{composites, debian, shell, stamp};

/// The compiler, which serializers are also compiled with at run time; the runtime with its generational collector; the libraries.
const PACKAGES: [&str; 3] = ["mono-mcs", "mono-runtime-sgen", "libmono-system-xml4.0-cil"];

/// Builds the peer unless it is up to date; gives the path of its program.
pub fn build() -> Result<PathBuf> {
    debian::install(&PACKAGES)?;
    let (sources, folder) = (shell::root().join("bench/peers/mono"), shell::workspace("mono")?);
    let (assembly, program) = (folder.join("peer.exe"), folder.join("peer"));
    let mut files = stamp::files_in(&sources)?;
    files.push(composites::path());
    let version = debian::installed_version(PACKAGES[0])?;
    stamp::unless_done(&assembly, &files, &version, || {
        let composites = folder.join("Composites.cs");
        fs::write(&composites, composites::csharp(&composites::all()?)).context("cannot write the composite types")?;
        shell::run(compiler(&assembly, &files).arg(composites))
    })?;
    shell::write_program(&program, &format!("exec mono --optimize=all '{}'", assembly.display()))?;
    Ok(program)
}

/// What compiles the classes among some files.
fn compiler(assembly: &Path, files: &[PathBuf]) -> Command {
    let classes = files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "cs"));
    let mut compiler = shell::command("mcs", ["-optimize+", "-warnaserror", "-r:System.Xml.dll"]);
    compiler.arg(format!("-out:{}", assembly.display())).args(classes);
    compiler
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_compiled_and_nothing_else() {
        let files = ["Peer.cs", "README.md", "composites.wsdl", "Values.cs"].map(PathBuf::from);
        let command = shell::show(&compiler(Path::new("/mono/peer.exe"), &files));
        assert!(command.ends_with(" -out:/mono/peer.exe Peer.cs Values.cs"), "{command}");
    }
}
