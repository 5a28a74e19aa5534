//! `cargo xtask memory`: tests the byte kernels, which are the only `unsafe` code, under
//! AddressSanitizer and under Valgrind's memcheck.
//!
//! Both run the unit tests of `deltasoap-xml`. AddressSanitizer detects reads outside of an
//! allocation, memcheck reads of uninitialized memory. Stable Rust includes the former, behind a
//! switch for its own developers.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::{debian, shell, summary};

/// The package with the kernels, and the prefix of their tests' names.
const PACKAGE: &str = "deltasoap-xml";
const KERNELS: &str = "scan::";

/// Configures cargo to build for AddressSanitizer. The target must be given, so that build scripts
/// and macros are not affected.
pub fn sanitize<'c>(cargo: &'c mut Command, flags: &[&str], target: &Path) -> &'c mut Command {
    let flags: Vec<_> = flags.iter().copied().chain(["-Zsanitizer=address"]).collect();
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    cargo.env("RUSTC_BOOTSTRAP", "1").env("CARGO_TARGET_DIR", target)
}

/// Runs both; fails if either finds an error.
pub fn run() -> Result<ExitCode> {
    Ok(summary::close(&[under_sanitizer()?, under_memcheck()?]))
}

fn under_sanitizer() -> Result<bool> {
    println!("=== AddressSanitizer");
    let mut cargo = shell::command("cargo", ["test", "--locked", "-p", PACKAGE, "--lib", "--target", &shell::host()?]);
    passes(sanitize(&mut cargo, &[], &shell::root().join("target/address")))
}

fn under_memcheck() -> Result<bool> {
    println!("=== memcheck");
    debian::install(&["valgrind"])?;
    let mut valgrind = shell::command("valgrind", ["--quiet", "--error-exitcode=99"]);
    // Programs run about thirty times slower: some of the random cases are enough, and the millions
    // of this test are too many.
    valgrind.arg(test_program()?).arg(KERNELS).args(["--skip", "every_byte_at_every_place"]);
    passes(valgrind.env("PROPTEST_CASES", "32"))
}

fn passes(command: &mut Command) -> Result<bool> {
    let status = command.current_dir(shell::root()).status();
    Ok(status.with_context(|| format!("cannot start {}", shell::show(command)))?.success())
}

/// Builds the unit tests of the package; returns the path of the program.
fn test_program() -> Result<PathBuf> {
    let arguments = ["test", "--locked", "-p", PACKAGE, "--lib", "--no-run", "--message-format", "json"];
    let messages = shell::output(shell::command("cargo", arguments).current_dir(shell::root()))?;
    let program = messages.lines().rev().find_map(executable);
    program.context("cargo did not report the test program")
}

/// Returns the program in a message of cargo.
fn executable(message: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    message["executable"].as_str().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_in_a_message_of_cargo() {
        assert_eq!(executable(r#"{"reason":"compiler-artifact","executable":"/a/b"}"#), Some(PathBuf::from("/a/b")));
        assert_eq!(executable(r#"{"reason":"compiler-artifact","executable":null}"#), None);
        assert_eq!(executable("running 3 tests"), None);
    }

    #[test]
    fn flags_are_added_to_those_of_others() {
        let mut cargo = Command::new("cargo");
        sanitize(&mut cargo, &["--cfg=fuzzing"], Path::new("/t"));
        let flags = cargo.get_envs().find(|(name, _)| *name == "CARGO_ENCODED_RUSTFLAGS").unwrap().1;
        assert_eq!(flags.unwrap(), "--cfg=fuzzing\u{1f}-Zsanitizer=address");
    }
}
