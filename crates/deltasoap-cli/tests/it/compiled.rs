//! Compiled WSDLs: written, damaged, and used in place of the WSDL.

use super::*;

/// Compiles a WSDL, in a directory that lasts as long as the test.
fn compiled(wsdl: &str) -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("compiled.bin").to_string_lossy().into_owned();
    let output = run(&["compile", wsdl, "-o", &file]);
    assert!(output.status.success() && stdout(&output).contains(" bytes, from "), "{output:?}");
    (directory, file)
}

#[test]
fn a_description_is_not_compiled_onto_itself() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("own.wsdl");
    std::fs::copy(bench(), &file).expect("copied");
    let before = std::fs::read(&file).expect("readable");
    let name = file.to_string_lossy().into_owned();
    let output = run(&["compile", &name, "-o", &name]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("name another file"));
    assert_eq!(std::fs::read(&file).expect("readable"), before);
    assert!(!run(&["generate", &name, "-o", &name]).status.success());
    assert_eq!(std::fs::read(&file).expect("readable"), before);
}

#[test]
fn a_compiled_description_stands_for_its_wsdl_in_every_command() {
    let (directory, file) = compiled(&bench());
    let message = directory.path().join("message.xml");
    let template = run(&["template", &bench(), "echoStruct", "--xml"]);
    std::fs::write(&message, &template.stdout).expect("written");
    let message = message.to_string_lossy();
    let commands: [&[&str]; 6] = [
        &["list", "--json", "WSDL"],
        &["describe", "WSDL"],
        &["template", "WSDL", "echoStruct"],
        &["template", "WSDL", "echoStruct", "--response", "--xml"],
        &["validate", "WSDL", &message],
        // A server contains the text of the WSDL, which the compiled file lacks.
        &["generate", "--no-server", "WSDL"],
    ];
    for command in commands {
        let with =
            |wsdl: &str| run(&command.iter().map(|&it| if it == "WSDL" { wsdl } else { it }).collect::<Vec<_>>());
        let (one, other) = (with(&bench()), with(&file));
        assert_eq!(one.status, other.status, "{command:?}: {}", stderr(&other));
        assert_eq!(without_name(&one, &bench()), without_name(&other, &file), "{command:?}");
    }
}

/// Returns the output without the name of the imported file.
fn without_name(output: &Output, wsdl: &str) -> String {
    let name = Path::new(wsdl).file_name().expect("a name").to_string_lossy();
    stdout(output).replace(wsdl, "WSDL").replace(&*name, "WSDL")
}

#[test]
fn calls_and_mocks_by_a_compiled_description() {
    let (_directory, file) = compiled(&shop());
    let server = serving(&["mock", &file]);
    let template = run(&["template", &file, "Order"]);
    let output = run(&["call", &file, "Order", "--endpoint", &server.url, "-d", stdout(&template)]);
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn a_damaged_compiled_description_is_refused() {
    let (directory, file) = compiled(&shop());
    let mut bytes = std::fs::read(&file).expect("the file");
    bytes.truncate(bytes.len() / 2);
    let half = directory.path().join("half.bin");
    std::fs::write(&half, bytes).expect("a file");
    let output = run(&["list", &half.to_string_lossy()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("incomplete"), "{}", stderr(&output));
}
