//! Tests the suite: a record with a report, whatever happens to a peer.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use deltasoap_streams::{arrays, checksum};
use serde_json::Value;
use tempfile::TempDir;

/// Runs a part with our engine and gSOAP's, a fake that knows only the correct answer for ten ints.
fn suite(folder: &Path, part: &str, more: &[&str]) -> Output {
    let program = folder.join("peers/gsoap/peer");
    fs::create_dir_all(folder.join("peers/gsoap")).unwrap();
    fs::write(&program, include_str!("../fake-peer.sh")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_deltasoap-bench"));
    command.args(["suite", "--smoke", "--no-pin", "--engine", "deltasoap", "--engine", "gsoap", "--engine", "xsul"]);
    command.args(["--part", part]).args(more).env("CHECKSUM", checksum::ints(&arrays::ints(10)));
    command.arg("--peers").arg(folder.join("peers")).arg("--record").arg(folder.join("record")).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn rows(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("record/results.jsonl")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    // Each job has an end.
    lines.filter(|line| line["kind"] != "end").collect()
}

fn row<'r>(rows: &'r [Value], name: &str, engine: &str) -> &'r Value {
    let is_it = |row: &&Value| row["row"] == name && row["engine"] == engine;
    rows.iter().find(is_it).unwrap_or_else(|| panic!("no row {name} of {engine}"))
}

#[test]
fn every_toolkit_has_a_row_in_each_piece_of_work() {
    let folder = TempDir::new().unwrap();
    let output = suite(folder.path(), "process", &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let rows = rows(folder.path());
    for name in ["process/decode-ints/10", "process/encode-hard/100"] {
        for engine in ["deltasoap", "gsoap", "xsul"] {
            let row = row(&rows, name, engine);
            assert_eq!(row.as_object().unwrap().len(), 20);
            assert_eq!(row["ns_median"].is_null(), !row["reason"].is_null(), "{row}");
        }
        assert!(row(&rows, name, "deltasoap")["ns_median"].as_u64().unwrap() > 0);
        assert!(row(&rows, name, "xsul")["reason"].as_str().unwrap().contains("not built"));
    }
    assert!(row(&rows, "process/decode-ints/10", "gsoap")["ns_median"] == 1000);
    assert!(row(&rows, "process/decode-ints/100", "gsoap")["reason"].as_str().unwrap().contains("checksum"));
    assert!(row(&rows, "process/encode-hard/100", "gsoap")["reason"].as_str().unwrap().contains("does not offer"));
}

#[test]
fn calls_are_made_in_all_modes_and_transports() {
    let folder = TempDir::new().unwrap();
    for part in ["calls", "transport", "ablation"] {
        let output = suite(folder.path(), part, &["--resume"]);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    let rows = rows(folder.path());
    let ours: Vec<_> = rows.iter().filter(|row| row["engine"] == "deltasoap").collect();
    assert!(ours.iter().all(|row| row["reason"].is_null()), "{ours:?}");
    for mode in ["plain", "gzip", "TLS", "gzip and TLS", "regular", "differential decoding", "differential, both"] {
        assert!(ours.iter().any(|row| row["mode"] == mode), "{mode}");
    }
    for operation in ["echoVoid", "receiveEvents", "sendBase64", "echoStrings"] {
        assert!(ours.iter().any(|row| row["operation"] == operation), "{operation}");
    }
    assert!(
        row(&rows, "calls/echoInts/10", "gsoap")["reason"].as_str().unwrap().contains("no part in the peer protocol")
    );
}

#[test]
fn a_record_has_its_files_and_is_resumed() {
    let folder = TempDir::new().unwrap();
    let output = suite(folder.path(), "load", &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let record = folder.path().join("record");
    let read = |name| fs::read_to_string(record.join(name)).unwrap();
    let environment: Value = serde_json::from_str(&read("environment.json")).unwrap();
    assert_eq!((&environment["scope"], &environment["engines"][2]["name"]), (&"smoke".into(), &"xsul".into()));
    assert_eq!(read("results.csv").lines().count(), rows(folder.path()).len() + 1);
    assert!(read("report.html").contains("not built"));
    let before = read("results.jsonl");
    assert!(suite(folder.path(), "load", &["--resume"]).status.success());
    assert_eq!(read("results.jsonl"), before);
}
