//! Errors of the compiler for mistakes with handlers, calls and faults name the mistake.

#![cfg(all(feature = "client", feature = "server"))]

use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn mistakes_with_handlers_are_named() {
    check("handlers.rs", 12);
}

#[test]
fn mistakes_with_faults_are_named() {
    check("faults.rs", 5);
    // The compiler compares values only where types are right.
    check("same_faults.rs", 1);
}

/// Lines of the program that are wrong say what the compiler must say about them.
fn check(program: &str, mistakes: usize) {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui").join(program);
    let text = std::fs::read_to_string(&program).expect("a program");
    let errors = compile(&program);
    let file = program.file_name().expect("a name").to_string_lossy();
    let comment = |line: &'_ str| [", // ", "; // "].iter().find_map(|it| Some(line.split_once(it)?.1.to_owned()));
    let expected = text.lines().enumerate().filter_map(|(line, text)| Some((line + 1, comment(text)?)));
    let expected = expected.collect::<Vec<_>>();
    let mut right = BTreeSet::new();
    for (line, expected) in &expected {
        let place = format!("{file}:{line}:");
        let found = errors.lines().filter(|error| error.contains(&place)).collect::<Vec<_>>();
        assert!(found.iter().any(|error| error.contains(expected)), "line {line}: {expected}\nof {errors}");
        right.extend(found);
    }
    let others = errors.lines().filter(|line| line.contains(": error") && !right.contains(line)).collect::<Vec<_>>();
    assert!(others.is_empty(), "{others:#?}");
    assert_eq!(expected.len(), mistakes);
}

/// Returns the errors of a program, one per line. The compiler is called as Cargo called it for
/// this test.
fn compile(program: &Path) -> String {
    let dependencies = env::current_exe().expect("a path").parent().expect("a folder").to_owned();
    let output = Command::new(env::var_os("RUSTC").unwrap_or("rustc".into()))
        .arg(program)
        .args(["--edition", "2024", "--error-format", "short", "--emit", "metadata", "--out-dir"])
        .arg(env!("CARGO_TARGET_TMPDIR"))
        .args(["-L", &format!("dependency={}", dependencies.display())])
        .args(["--extern", &format!("deltasoap={}", runtime(&dependencies).display())])
        .output()
        .expect("rustc runs");
    assert!(!output.status.success());
    String::from_utf8(output.stderr).expect("UTF-8")
}

/// Returns the library that was built last.
fn runtime(dependencies: &Path) -> PathBuf {
    let entries = dependencies.read_dir().expect("a directory").map(|entry| entry.expect("an entry").path());
    let is_runtime = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libdeltasoap-") && name.ends_with(".rlib")
    };
    let built = |path: &PathBuf| path.metadata().and_then(|metadata| metadata.modified()).ok();
    entries.filter(is_runtime).max_by_key(built).expect("the runtime is built")
}
