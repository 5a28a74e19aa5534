//! The peer in Go: `bench/peers/go`, which needs nothing but Go's standard library.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::{debian, shell, stamp};

/// Builds the peer unless it is up to date; gives the path of its program.
pub fn build() -> Result<PathBuf> {
    let (sources, program) = (shell::root().join("bench/peers/go"), shell::workspace("go")?.join("peer"));
    let version = version()?;
    stamp::unless_done(&program, &stamp::files_in(&sources)?, &version, || {
        println!("building with {version}");
        shell::run(&mut compiler(&sources, &program))
    })?;
    Ok(program)
}

/// What builds the program. Whatever Go is installed is taken: none is fetched.
fn compiler(sources: &Path, program: &Path) -> Command {
    let mut go = shell::command("go", ["build", "-trimpath", "-o"]);
    go.arg(program).arg(".").current_dir(sources).env("GOTOOLCHAIN", "local");
    go
}

/// The version of the Go that is installed, from wherever it comes; Debian's is installed where
/// there is none.
pub fn version() -> Result<String> {
    let version = || shell::output(&mut shell::command("go", ["version"]));
    let text = version().or_else(|_| debian::install(&["golang-go"]).and_then(|()| version()))?;
    Ok(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn nothing_is_fetched_for_a_build() {
        let compiler = compiler(Path::new("/sources"), Path::new("/peers/go/peer"));
        assert_eq!(shell::show(&compiler), "go build -trimpath -o /peers/go/peer .");
        assert_eq!(compiler.get_current_dir(), Some(Path::new("/sources")));
        let toolchain = compiler.get_envs().find(|(name, _)| *name == "GOTOOLCHAIN");
        assert_eq!(toolchain, Some((OsStr::new("GOTOOLCHAIN"), Some(OsStr::new("local")))));
        let module = std::fs::read_to_string(shell::root().join("bench/peers/go/go.mod")).unwrap();
        assert!(!module.contains("require"), "{module}");
    }
}
