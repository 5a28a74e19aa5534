//! The peer in Go: `bench/peers/go`, which needs nothing but Go's standard library.

use std::path::PathBuf;

use anyhow::Result;

use crate::{debian, shell, stamp};

/// Builds the peer unless it is up to date; gives the path of its program.
pub fn build() -> Result<PathBuf> {
    let (sources, program) = (shell::root().join("bench/peers/go"), shell::workspace("go")?.join("peer"));
    let version = version()?;
    stamp::unless_done(&program, &stamp::files_in(&sources)?, &version, || {
        println!("building with {version}");
        // Whatever Go is installed is taken: none is fetched.
        let mut go = shell::command("go", ["build", "-trimpath", "-o"]);
        shell::run(go.arg(&program).arg(".").current_dir(&sources).env("GOTOOLCHAIN", "local"))
    })?;
    Ok(program)
}

/// Of the Go that is installed, from wherever it comes; Debian's where there is none.
fn version() -> Result<String> {
    let version = || shell::output(&mut shell::command("go", ["version"]));
    let text = version().or_else(|_| debian::install(&["golang-go"]).and_then(|()| version()))?;
    Ok(text.trim().to_owned())
}
