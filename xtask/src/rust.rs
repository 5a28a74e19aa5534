//! The peers in Rust: the workspace `bench/peers/rust-xml`, which has a lock file of its own.

use std::path::PathBuf;

use anyhow::Result;

use crate::shell;

/// Builds a package of the workspace; gives the path of its program.
pub fn build(package: &str) -> Result<PathBuf> {
    let target = shell::workspace("rust-xml")?.join("target");
    let manifest = shell::root().join("bench/peers/rust-xml/Cargo.toml");
    let mut cargo =
        shell::command("cargo", ["build", "--release", "--locked", "--package", package, "--manifest-path"]);
    shell::run(cargo.arg(manifest).arg("--target-dir").arg(&target))?;
    Ok(target.join("release").join(package))
}
