//! The peers in Rust: the workspace `bench/peers/rust-xml`, which has its own lock file.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::shell;

/// Builds a package of the workspace; returns the path of its program.
pub fn build(package: &str) -> Result<PathBuf> {
    let target = shell::workspace("rust-xml")?.join("target");
    shell::run(&mut cargo(package, &target))?;
    Ok(target.join("release").join(package))
}

/// Returns the command that builds it, below a folder.
fn cargo(package: &str, target: &Path) -> Command {
    let mut cargo = shell::command("cargo", ["build", "--release", "--locked", "--package", package]);
    cargo.arg("--manifest-path").arg(sources().join("Cargo.toml")).arg("--target-dir").arg(target);
    cargo
}

fn sources() -> PathBuf {
    shell::root().join("bench/peers/rust-xml")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_package_is_built_from_its_workspace_with_the_lock_file() {
        let command = shell::show(&cargo("quick-xml-peer", Path::new("/peers/target")));
        assert!(command.starts_with("cargo build --release --locked --package quick-xml-peer "), "{command}");
        assert!(command.ends_with("bench/peers/rust-xml/Cargo.toml --target-dir /peers/target"), "{command}");
    }

    #[test]
    fn both_packages_are_locked() {
        let lock = fs::read_to_string(sources().join("Cargo.lock")).unwrap();
        for package in ["quick-xml-peer", "instant-xml-peer"] {
            assert!(lock.contains(&format!("name = \"{package}\"\n")), "{package}");
        }
    }
}
