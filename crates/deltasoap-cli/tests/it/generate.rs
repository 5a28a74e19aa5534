//! `deltasoap generate`, as a user runs it.

use std::process::{Command, Output};

const WSDL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/codegen/weather.wsdl");
const ARCHIVE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../deltasoap-codegen/tests/data/archive.wsdl");

fn generate(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deltasoap"));
    command.arg("generate").args(arguments).output().expect("it runs")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn code_goes_to_standard_output_or_to_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("weather.rs");
    let printed = generate(&[WSDL, "--offline"]);
    let written = generate(&[WSDL, "-o", &file.to_string_lossy()]);
    assert!(printed.status.success() && written.status.success(), "{written:?}");
    assert!(written.stdout.is_empty() && written.stderr.is_empty() && printed.stderr.is_empty());
    let code = std::fs::read_to_string(&file).expect("a file");
    assert!(code.contains("#[allow(clippy::all") && code.contains("pub struct WeatherClient<"));
    assert_eq!(code.as_bytes(), printed.stdout);
}

#[test]
fn what_is_left_out_is_named() {
    let output = generate(&[ARCHIVE]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("pub struct ArchiveClient<"));
    let said = stderr(&output);
    let warnings = ["left out: Archive.Moved: the service starts it"];
    assert_eq!(said.lines().count(), warnings.len(), "{said}");
    assert!(said.lines().zip(warnings).all(|(line, warning)| line.ends_with(warning)), "{said}");
    assert!(said.contains("error: left out"), "{said}");
    // Operations that are not selected are not missed.
    assert!(generate(&[ARCHIVE, "--operation", "Store"]).status.success());
}

#[test]
fn some_operations_alone() {
    let output = generate(&[WSDL, "--operation", "rained"]);
    let code = String::from_utf8_lossy(&output.stdout);
    assert!(code.contains("fn rained(") && !code.contains("fn forecast("), "{code}");
    let output = generate(&[WSDL, "--operation", "snowed"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("weather.wsdl: there is no operation snowed"), "{output:?}");
}

#[test]
fn enumerations_are_open_on_request() {
    for (arguments, is_open) in [(&[WSDL][..], false), (&[WSDL, "--unknown-enum-values"], true)] {
        let code = generate(arguments).stdout;
        assert_eq!(String::from_utf8_lossy(&code).contains("Unknown(String)"), is_open);
    }
}

#[test]
fn python_on_request() {
    for (arguments, start) in [
        (&["--python"][..], "@dataclass(kw_only=True)\nclass "),
        (&["--python", "--pydantic"], "class Model(BaseModel):"),
        (&["--python", "--stub"], "class WeatherService(Protocol):"),
    ] {
        let output = generate(&[&[WSDL], arguments].concat());
        let code = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        assert!(code.contains(start) && !code.contains("pub "), "{code}");
        assert_eq!(code.contains("class AsyncWeatherClient(AsyncServiceClient):"), !arguments.contains(&"--stub"));
    }
    let types = generate(&[WSDL, "--python", "--no-client"]);
    assert!(types.stderr.is_empty() && !String::from_utf8_lossy(&types.stdout).contains("Client"), "{types:?}");
    for arguments in [&["--pydantic"][..], &["--python", "--serde"], &["--python", "--stub", "--pydantic"]] {
        assert_eq!(generate(&[&[WSDL], arguments].concat()).status.code(), Some(2), "{arguments:?}");
    }
    // What Rust leaves out is left out too.
    assert_eq!(generate(&[ARCHIVE, "--python"]).status.code(), Some(1));
}

#[test]
fn what_cannot_be_imported_or_written_is_an_error() {
    let output = generate(&["no/such.wsdl"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no/such.wsdl cannot be imported"), "{output:?}");
    let output = generate(&[WSDL, "-o", "no/such/folder.rs"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no/such/folder.rs cannot be written"), "{output:?}");
}

/// A file in a sibling of the WSDL's directory: it belongs to the same tree, and `--root` can
/// exclude it.
#[test]
fn files_of_the_tree_are_loaded_unless_the_root_is_narrower() {
    let folder = tempfile::tempdir().expect("a folder");
    let (types, wsdl) = (folder.path().join("types.xsd"), folder.path().join("wsdl/shop.wsdl"));
    let schema = "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:t'>\
                  <xs:element name='Sold' type='xs:int'/></xs:schema>";
    let description = "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/'><types>\
                       <xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'>\
                       <xs:import namespace='urn:t' schemaLocation='../types.xsd'/></xs:schema></types></definitions>";
    std::fs::create_dir(folder.path().join("wsdl")).expect("a folder");
    std::fs::write(types, schema).and_then(|()| std::fs::write(&wsdl, description)).expect("files");
    let wsdl = wsdl.to_string_lossy();
    let whole = generate(&[&wsdl]);
    assert!(String::from_utf8_lossy(&whole.stdout).contains("pub struct Sold("), "{whole:?}");
    assert!(whole.stderr.is_empty(), "{whole:?}");
    let part = generate(&[&wsdl, "--root", &folder.path().join("wsdl").to_string_lossy()]);
    assert!(!String::from_utf8_lossy(&part.stdout).contains("pub struct Sold("), "{part:?}");
    assert!(stderr(&part).contains("types.xsd"), "{part:?}");
}
