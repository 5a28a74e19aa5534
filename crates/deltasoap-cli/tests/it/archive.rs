//! `deltasoap archive` as a program: its output and exit codes.

use super::{run, stdout, testdata};
use serde_json::Value as Json;
use std::fs;
use std::path::Path;

fn stderr(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn archive(wsdl: &str, captures: &str, tables: &Path, options: &[&str]) -> std::process::Output {
    let wsdl = testdata(wsdl);
    let tables = tables.to_string_lossy().into_owned();
    run(&[&["archive", "--wsdl", &wsdl, &testdata(captures), "-o", &tables], options].concat())
}

#[test]
fn recorded_sessions_become_tables_once() {
    let folder = tempfile::tempdir().expect("a directory");
    let tables = folder.path().join("tables");
    let again =
        || archive("testdata/wsdl/vsphere-fetch.wsdl", "testdata/sequences/vsphere-fetch", &tables, &["--json"]);
    let first = again();
    assert!(first.status.success(), "{}", stderr(&first));
    let json: Json = serde_json::from_str(stdout(&first)).expect("JSON");
    assert!(json["messages"].as_u64() > Some(500) && json["errors"] == 0 && json["continued"] == false, "{json}");
    assert!(tables.join("Fetch.request/part-00000.parquet").exists());
    assert!(tables.join("messages/part-00000.parquet").exists());
    let second: Json = serde_json::from_str(stdout(&again())).expect("JSON");
    assert_eq!((&second["messages"], &second["continued"]), (&json["messages"], &Json::Bool(true)));
    let other = archive("testdata/wsdl/vsphere-fetch.wsdl", "testdata/sequences/vsphere-fetch", &tables, &["--nested"]);
    assert_eq!(other.status.code(), Some(1));
    assert!(stderr(&other).contains("use the same again, or name another directory"), "{}", stderr(&other));
}

#[test]
fn devices_of_tr069_and_their_messages_at_fault() {
    let folder = tempfile::tempdir().expect("a directory");
    let schema = "testdata/wsdl/BroadbandForum+cwmp-data-models/cwmp-1-0.xsd";
    let output = archive(schema, "testdata/sequences/tr069-inform", &folder.path().join("tables"), &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("messages   ") && folder.path().join("tables/Inform.request").exists());
}

#[test]
fn mistakes_say_what_to_do() {
    let folder = tempfile::tempdir().expect("a directory");
    let wsdl = "testdata/wsdl/vsphere-fetch.wsdl";
    let missing = archive(wsdl, "testdata/no/such", folder.path(), &[]);
    assert!(stderr(&missing).contains("name a file or a directory of captures"), "{}", stderr(&missing));
    let none = archive(wsdl, "testdata/licenses/../numbers/README.md", &folder.path().join("a"), &[]);
    assert!(stderr(&none).contains("none of 1 messages could be decoded"), "{}", stderr(&none));
    fs::write(folder.path().join("mine"), "x").expect("a file");
    let taken = archive(wsdl, "testdata/sequences/vsphere-fetch", folder.path(), &[]);
    assert!(stderr(&taken).contains("is not empty, and no archive: name another directory"), "{}", stderr(&taken));
    assert_eq!([missing, none, taken].map(|it| it.status.code()), [Some(1); 3]);
}
