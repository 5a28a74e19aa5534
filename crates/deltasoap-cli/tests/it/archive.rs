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
    fs::create_dir(folder.path().join("notes")).expect("a directory");
    fs::write(folder.path().join("notes/day.md"), "x").expect("a file");
    let notes = folder.path().join("notes").to_string_lossy().into_owned();
    let empty = archive(wsdl, &notes, &folder.path().join("b"), &[]);
    assert!(stderr(&empty).contains("1 files skipped (not an .xml, .txt or .http file)"), "{}", stderr(&empty));
    assert!(stderr(&empty).contains(&format!("no captures in {notes}: name directories")), "{}", stderr(&empty));
    assert_eq!([missing, none, taken, empty].map(|it| it.status.code()), [Some(1); 4]);
}

#[test]
fn a_plan_is_compared_with_all_captures() {
    let wsdl = testdata("testdata/wsdl/vsphere-fetch.wsdl");
    let captures = testdata("testdata/sequences/vsphere-fetch");
    let plan = |options: &[&str]| {
        let plan = ["cost", "plan", "--wsdl", &wsdl, "--json", "--archive"];
        let output = run(&[&plan, options].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        serde_json::from_str::<Json>(stdout(&output)).expect("JSON")
    };
    let checked = plan(&[&captures, "--sample", "1000000", "--validate"]);
    let (planned, all) = (&checked["plan"], &checked["validation"]);
    assert_eq!((planned["volume"]["messages"].as_f64(), all["messages"].as_f64()), (Some(584.0), Some(584.0)));
    assert!(all["output"].as_f64() > Some(10_000.0) && all["seconds"].as_f64() > Some(0.0), "{all}");
    assert!(planned["output"][1].as_f64() > Some(10_000.0), "{planned}");
    // Without captures, messages are made.
    let made = plan(&["--sample", "200000", "--messages", "1e9", "--bytes", "1TB", "--nodes", "4", "--cores", "8"]);
    assert_eq!(made["plan"]["volume"]["bytes"].as_f64(), Some(1e12));
    let hours = |key: &str| made["plan"][key][1].as_f64().expect("hours");
    assert!((hours("core_hours") / hours("hours") - 32.0).abs() < 1e-6, "{made}");
    let error = run(&["cost", "plan", "--wsdl", &wsdl, "--archive", &captures]);
    assert!(stderr(&error).contains("give the volume: --messages, --bytes, or both"), "{}", stderr(&error));
    let empty = tempfile::tempdir().expect("a directory");
    let error =
        run(&["cost", "plan", "--wsdl", &wsdl, "--messages", "1", "--archive", &empty.path().to_string_lossy()]);
    assert!(stderr(&error).contains("no captures: name files or directories"), "{}", stderr(&error));
    for ignored in
        [&["--nested", "--clients", "1"][..], &["--messages", "5", "--rate", "1"], &["--archive", "--length", "item=3"]]
    {
        let refused = run(&[&["cost", "plan", "--wsdl", &wsdl][..], ignored].concat());
        assert_eq!(refused.status.code(), Some(2), "{ignored:?}: {}", stderr(&refused));
    }
}

#[cfg(not(feature = "query"))]
#[test]
fn a_build_without_queries_says_how_to_get_them() {
    let output = run(&["query", "tables", "select 1"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("cargo install deltasoap-cli --features query"), "{}", stderr(&output));
}

#[cfg(feature = "query")]
#[test]
fn a_query_prints_and_writes_rows() {
    let folder = tempfile::tempdir().expect("a directory");
    let tables = folder.path().join("tables");
    archive("testdata/wsdl/vsphere-fetch.wsdl", "testdata/sequences/vsphere-fetch", &tables, &[]);
    let tables = tables.to_string_lossy().into_owned();
    let sql = "select direction, count(*) as messages from messages group by direction order by direction";
    let table = run(&["query", &tables, sql]);
    let lines: Vec<_> =
        stdout(&table).lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert!(lines.contains(&"request 292".to_owned()) && lines.contains(&"response 292".to_owned()), "{lines:?}");
    let csv = run(&["query", &tables, sql, "--csv"]);
    assert_eq!(stdout(&csv), "direction,messages\nrequest,292\nresponse,292\n");
    let json = run(&["query", &tables, sql, "--json"]);
    assert_eq!(stdout(&json).lines().next(), Some("{\"direction\":\"request\",\"messages\":292}"));
    let file = folder.path().join("out.parquet").to_string_lossy().into_owned();
    let written = run(&["query", &tables, "select * from \"Fetch.request\"", "-o", &file]);
    assert!(written.status.success() && Path::new(&file).exists(), "{}", stderr(&written));
    let unknown = run(&["query", &tables, "select * from Fetch.request"]);
    assert!(stderr(&unknown).contains("write \"Fetch.request\""), "{}", stderr(&unknown));
}
