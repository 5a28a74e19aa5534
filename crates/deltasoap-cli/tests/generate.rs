//! `deltasoap generate`, as a user runs it.

use std::process::Command;

const WSDL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/codegen/weather.wsdl");

#[test]
fn code_goes_to_standard_output_or_to_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("weather.rs");
    let printed = Command::new(env!("CARGO_BIN_EXE_deltasoap")).args(["generate", WSDL]).output().expect("it runs");
    let written = Command::new(env!("CARGO_BIN_EXE_deltasoap")).args(["generate", WSDL, "-o"]).arg(&file).status();
    assert!(printed.status.success() && written.expect("it runs").success());
    let code = std::fs::read_to_string(&file).expect("a file");
    assert!(code.contains("pub struct WeatherClient<"));
    assert_eq!(code.as_bytes(), printed.stdout);
}

#[test]
fn what_cannot_be_imported_is_an_error() {
    let output = Command::new(env!("CARGO_BIN_EXE_deltasoap")).args(["generate", "no/such.wsdl"]).output();
    let output = output.expect("it runs");
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("no/such.wsdl"));
}
