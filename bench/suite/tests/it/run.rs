//! Tests the program with and without a peer.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use deltasoap_streams::{arrays, checksum};
use tempfile::TempDir;

/// Runs the program on tiny measurements.
fn bench(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deltasoap-bench"));
    command.args(["run", "--size", "10", "--runs", "5", "--seconds", "0"]).args(arguments);
    command
}

/// Runs the program on one workload, with a fake peer that has a fault.
fn with_peer(fault: &str, workload: &str, checksum: &str) -> Output {
    with_peer_in(&TempDir::new().unwrap(), fault, workload, checksum)
}

/// Runs the program with such a fake peer in this folder.
fn with_peer_in(folder: &TempDir, fault: &str, workload: &str, checksum: &str) -> Output {
    let program = folder.path().join("gsoap/peer");
    fs::create_dir(folder.path().join("gsoap")).unwrap();
    fs::write(&program, include_str!("../fake-peer.sh")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = bench(&["--json", "--engine", "all", "--engine", "gsoap", "--workload", workload, "--peers"]);
    command.arg(folder.path()).env("FAULT", fault).env("CHECKSUM", checksum).output().unwrap()
}

fn right_sum() -> String {
    checksum::ints(&arrays::ints(10))
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn parse(line: &str) -> serde_json::Value {
    serde_json::from_str(line).unwrap()
}

#[test]
fn json_is_one_line_a_measurement_and_nothing_else() {
    let output = bench(&["--json", "--size", "0"]).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines: Vec<_> = text(&output.stdout).lines().map(parse).collect();
    let (streams, lines): (Vec<_>, Vec<_>) = lines.into_iter().partition(|line| line.get("messages").is_some());
    let (sends, lines): (Vec<_>, Vec<_>) = lines.into_iter().partition(|line| line.get("socket").is_some());
    assert!(sends.len() > 100 && sends.iter().all(|line| line["workload"].as_str().unwrap().starts_with("send-")));
    assert_eq!(lines.len(), 23 * 2);
    // Eight streams of two sizes, three of one; three modes each.
    assert_eq!(streams.len(), (8 * 2 + 3) * 3);
    for line in &lines {
        assert_eq!(line.as_object().unwrap().len(), 9);
        assert_eq!(
            (&line["engine"], &line["mode"], &line["runs"]),
            (&"deltasoap".into(), &"regular".into(), &5.into())
        );
        assert!(line["ns_min"].as_u64() <= line["ns_median"].as_u64());
    }
    let peak = |workload: &str| lines.iter().find(|line| line["workload"] == workload && line["n"] == 10).unwrap();
    assert!(peak("decode-strings")["peak_bytes"].as_u64().unwrap() >= 10 * 100);
    assert_eq!(peak("floor-copy")["peak_bytes"], 0);
}

/// Decoding takes the value and a buffer that does not grow with the message. The sizes are powers
/// of two, so that a doubling vector has no spare capacity.
#[test]
fn memory_beyond_the_value_does_not_grow_with_the_message() {
    let beyond = |workload: &str, n: u64, element: u64| {
        let size = n.to_string();
        let output = bench(&["--json", "--workload", workload, "--size", &size]).output().unwrap();
        let lines: Vec<_> = text(&output.stdout).lines().map(parse).collect();
        let line = lines.iter().find(|line| line["n"] == n).unwrap();
        line["peak_bytes"].as_u64().unwrap() - n * element
    };
    for (workload, element) in [("decode-ints", 4), ("decode-hard", 8), ("decode-structs", 16), ("decode-strings", 124)]
    {
        let (small, large) = (beyond(workload, 1 << 13, element), beyond(workload, 1 << 17, element));
        assert!(small < 64 << 10 && large <= small + (4 << 10), "{workload}: {small} bytes, then {large}");
    }
}

#[test]
fn the_table_has_a_row_a_measurement() {
    let output = bench(&["--workload", "decode-ints", "--chunk", "16"]).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("| decode-ints | 10 | deltasoap |"));
    assert!(text(&output.stdout).contains("chunks of 16 bytes"));
}

#[test]
fn unknown_names_are_refused() {
    for arguments in [["--workload", "decode-nothing"], ["--engine", "soapgun"]] {
        let output = bench(&arguments).output().unwrap();
        assert!(!output.status.success());
        assert!(text(&output.stderr).contains("there are"), "{}", text(&output.stderr));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_peer_that_is_not_built_is_an_error_only_where_it_was_asked_for() {
    let folder = TempDir::new().unwrap();
    let run = |engine: &str, form: &[&str]| {
        let mut command = bench(&["--workload", "decode-ints", "--engine", engine, "--peers"]);
        command.arg(folder.path()).args(form).output().unwrap()
    };
    assert!(!run("gsoap", &["--json"]).status.success());
    let all = run("all", &["--json"]);
    assert!(all.status.success());
    assert_eq!(text(&all.stdout).lines().count(), 1);
    let table = run("gsoap", &[]);
    assert!(table.status.success());
    for said in [text(&table.stdout), text(&table.stderr)] {
        assert!(said.contains("gsoap is not built: run `cargo xtask peers gsoap`"), "{said}");
    }
}

#[test]
fn a_peer_takes_turns_with_us() {
    for workload in ["decode-ints", "encode-ints"] {
        let output = with_peer("", workload, &right_sum());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let lines: Vec<_> = text(&output.stdout).lines().map(parse).collect();
        assert_eq!((lines.len(), &lines[1]["engine"]), (2, &"gsoap".into()));
        assert_eq!((&lines[1]["ns_median"], &lines[1]["runs"]), (&1000.into(), &5.into()));
        assert_eq!((&lines[1]["peak_bytes"], &lines[1]["bytes"]), (&4096.into(), &lines[0]["bytes"]));
    }
}

/// Five runs take a quarter of a second; five more count, in five batches.
#[test]
fn a_peer_that_asks_for_it_is_warmed_up() {
    let folder = TempDir::new().unwrap();
    let output = with_peer_in(&folder, "cold", "decode-ints", &right_sum());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let counts = fs::read_to_string(folder.path().join("gsoap/counts")).unwrap();
    let warming = counts.lines().count() - (1 + 1 + 5);
    assert!((2..=4).contains(&warming), "{counts}");
}

#[test]
fn workloads_that_a_peer_does_not_offer_are_left_out() {
    let output = with_peer("", "decode-hard", &right_sum());
    assert!(output.status.success());
    assert_eq!(text(&output.stdout).lines().count(), 1);
}

#[test]
fn a_peer_that_is_wrong_is_an_error() {
    let right = right_sum();
    for (fault, workload, sum, complaint) in [
        ("", "decode-ints", "0000000000000000", "wrong values"),
        ("refuses", "decode-ints", &*right, "too hard"),
        ("dies", "decode-ints", &right, "exited without answering"),
        ("lazy", "decode-ints", &right, "runs"),
        ("garbles", "encode-ints", &right, "wrong values"),
        ("rambles", "encode-ints", &right, "unexpected answer"),
        ("silent", "decode-ints", &right, "exited without answering"),
    ] {
        let output = with_peer(fault, workload, sum);
        assert!(!output.status.success(), "{fault:?} was accepted");
        assert!(text(&output.stderr).contains(complaint), "{fault:?}: {}", text(&output.stderr));
    }
}
