//! The peer in Go: `bench/peers/go`, which needs only Go's standard library.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::{debian, shell, stamp};

/// Builds the peer unless it is up to date; returns the path of its program.
pub fn build() -> Result<PathBuf> {
    let (sources, program) = (shell::root().join("bench/peers/go"), shell::workspace("go")?.join("peer"));
    let version = version()?;
    stamp::build_if_stale(&program, &stamp::files_in(&sources)?, &version, || {
        println!("building with {version}");
        shell::run(&mut compiler(&sources, &program))
    })?;
    Ok(program)
}

/// Returns the command that builds the program. It uses the installed Go, and downloads none.
fn compiler(sources: &Path, program: &Path) -> Command {
    let mut go = shell::command("go", ["build", "-trimpath", "-o"]);
    go.arg(program).arg(".").current_dir(sources).env("GOTOOLCHAIN", "local");
    go
}

/// Returns the version of the installed Go, whatever its origin; installs Debian's if there is
/// none.
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
