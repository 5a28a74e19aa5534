//! Tests the sending workloads of the program.

use std::process::{Command, Output};

fn bench(arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deltasoap-bench"));
    command.args(["run", "--runs", "5", "--seconds", "0"]).args(arguments.split_whitespace()).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn lines(arguments: &str) -> Vec<serde_json::Value> {
    let output = bench(&format!("--json {arguments}"));
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the values of a key, each once, in order.
fn all(lines: &[serde_json::Value], key: &str) -> Vec<String> {
    let mut found: Vec<String> = lines.iter().map(|line| line[key].to_string().replace('"', "")).collect();
    found.dedup();
    found
}

#[test]
fn every_workload_is_right_for_all_values_and_small_chunks() {
    for workload in ["content-match", "structural", "shift", "stuffed", "first", "overlaid"] {
        let lines = lines(&format!("--workload send-{workload} --size 1 --size 37 --chunk 300 --partitions 3"));
        let kinds = if workload == "stuffed" {
            &["hard", "ints", "structs"][..]
        } else {
            &["hard", "ints", "structs", "strings"]
        };
        assert_eq!(all(&lines, "values"), kinds, "{workload}");
        assert!(lines.iter().all(|line| line["chunk"] == 300 && line["ns_median"].is_u64()));
        assert!(lines.iter().any(|line| line["mode"] == "compared" && line["templates"]["ratio_regular"].is_number()));
    }
}

#[test]
fn shares_widths_and_rooms_can_be_chosen() {
    let structural = lines("--workload send-structural --values hard --size 40 --changed 25 --changed 100");
    assert_eq!(all(&structural, "change"), ["25 % in 1", "100 % in 1"]);
    let shift = lines("--workload send-shift --values structs --size 40 --width 36 --changed 50 --chunk 8K");
    assert_eq!(all(&shift, "change"), ["36 to longest, 50 % in 1"]);
    assert_eq!(all(&shift, "chunk"), ["8192"]);
    let stuffed = lines("--workload send-stuffed --values hard --size 40 --stuffing intermediate --stuffing tag-shift");
    assert_eq!(all(&stuffed, "change"), ["1 over 1 in 18", "1 over 24 in maximal"]);
}

#[test]
fn messages_arrive_at_a_server() {
    for workload in ["content-match", "shift", "overlaid"] {
        let lines = lines(&format!("--workload send-{workload} --socket --size 300 --chunk 1K"));
        assert!(lines.iter().all(|line| line["socket"] == true && line["mode"] != "floor-compare"), "{workload}");
    }
}

#[test]
fn the_table_has_a_row_a_mode() {
    let output = bench("--workload send-content-match --values ints --size 10");
    let table = text(&output.stdout);
    for row in ["| tracked ", "| compared ", "| regular ", "| floor-compare "] {
        assert!(table.contains(row), "{row}: {table}");
    }
}

#[test]
fn what_is_unknown_is_refused() {
    for arguments in ["--values nothing", "--stuffing loose", "--chunk 0", "--changed 101"] {
        assert!(!bench(&format!("--workload send-stuffed {arguments}")).status.success(), "{arguments}");
    }
}
