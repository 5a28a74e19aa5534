//! Python environments, each with the versions that a `requirements.txt` pins by their hashes, and
//! the peers that run in them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::{shell, stamp};

/// Builds the peer in `bench/peers/<name>`, with the protocol in `bench/peers/python`; returns the
/// path of its program.
///
/// # Errors
/// Returns an error if Python 3 with the module venv is missing, or a package is unavailable.
pub fn build(name: &str) -> Result<PathBuf> {
    let lock = sources(name).join("requirements.txt");
    write_peer(name, &environment(&workspace(name), &lock)?)
}

/// Writes the program of the peer in `bench/peers/<name>`, which an environment's Python runs;
/// returns its path.
///
/// # Errors
/// Returns an error if it cannot be written.
pub fn write_peer(name: &str, python: &Path) -> Result<PathBuf> {
    let program = shell::workspace(&workspace(name))?.join("peer");
    shell::write_program(&program, &command(python, &sources(name)))?;
    Ok(program)
}

/// Returns the name of a peer's folder below `.peers/`.
pub fn workspace(peer: &str) -> String {
    format!("{peer}-bench")
}

fn sources(peer: &str) -> PathBuf {
    shell::root().join("bench/peers").join(peer)
}

/// Creates an environment with the packages that a file pins, in a workspace; returns the path of
/// its Python.
///
/// # Errors
/// Returns an error if Python 3 with the module venv is missing, or a package is unavailable.
pub fn environment(workspace: &str, lock: &Path) -> Result<PathBuf> {
    let venv = shell::workspace(workspace)?.join("venv");
    let python = venv.join("bin/python");
    stamp::build_if_stale(&python, &[lock.to_owned()], "venv", || {
        println!("installing {workspace}");
        make_environment(&venv, lock)
    })?;
    Ok(python)
}

fn make_environment(venv: &Path, lock: &Path) -> Result<()> {
    let advice = "a Python 3 with the module venv is needed";
    shell::run(shell::command("python3", ["-m", "venv", "--clear"]).arg(venv)).context(advice)?;
    let python = venv.join("bin/python").to_string_lossy().into_owned();
    let options = ["-m", "pip", "install", "--quiet", "--require-hashes", "--no-deps", "-r"];
    shell::run(shell::command(&python, options).arg(lock))?;
    shell::run(&mut shell::command(&python, ["-m", "pip", "check"]))
}

/// Returns the command that starts a peer with access to the protocol, with the optimizer on, and
/// without leaving compiled files in the repository.
fn command(python: &Path, sources: &Path) -> String {
    let common = sources.with_file_name("python");
    let definitions = shell::root().join("bench/definitions");
    format!(
        "PYTHONPATH='{}' PYTHONDONTWRITEBYTECODE=1 exec '{}' -O '{}' '{}' '{}'",
        common.display(),
        python.display(),
        sources.join("peer.py").display(),
        definitions.join("suite.wsdl").display(),
        definitions.join("composites.wsdl").display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_is_run_by_its_own_python_beside_the_protocol() {
        let command = command(Path::new("/venv/bin/python"), Path::new("/peers/zeep"));
        assert!(command.starts_with("PYTHONPATH='/peers/python' "), "{command}");
        assert!(command.contains("exec '/venv/bin/python' -O '/peers/zeep/peer.py' "), "{command}");
    }

    #[test]
    fn what_is_pinned_is_pinned_by_hash() {
        for (folder, count) in [
            ("bench/peers/zeep", 4),
            ("bench/peers/spyne", 4),
            ("tests/interop/spyne", 4),
            ("tests/xml", 1),
            ("tests/security", 10),
        ] {
            let path = shell::root().join(folder).join("requirements.txt");
            let lock = std::fs::read_to_string(path).unwrap();
            let packages: Vec<_> = lock.lines().filter(|line| line.contains("==")).collect();
            assert!(packages.len() >= count && packages.iter().all(|line| line.ends_with('\\')), "{packages:?}");
        }
    }
}
