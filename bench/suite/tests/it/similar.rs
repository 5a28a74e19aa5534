//! Tests the streams of similar messages of the program.

use std::process::{Command, Output};

fn bench(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deltasoap-bench"));
    command.args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn lines(output: &Output) -> Vec<serde_json::Value> {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_policy_and_matcher_can_be_chosen() {
    for (checkpoints, matcher) in
        [("full", "xor"), ("differential", "adler32"), ("lightweight", "keyed"), ("leaf", "compare"), ("full", "crc32")]
    {
        let run = "run --json --workload decode-similar-hard --size 20 --runs 5 --seconds 0 --changed 50 --partitions 2 \
                   --portion 32 --probe --tune --no-adaptive --checkpoints";
        let mut arguments: Vec<&str> = run.split_whitespace().collect();
        arguments.extend([checkpoints, "--matcher", matcher]);
        let lines = lines(&bench(&arguments));
        let modes: Vec<&str> = lines.iter().map(|line| line["mode"].as_str().unwrap()).collect();
        assert_eq!(modes, ["differential", "regular", "floor-compare"]);
        let options = &lines[0]["differential"];
        assert_eq!((&options["policy"], &options["matcher"]), (&checkpoints.into(), &matcher.into()));
        assert_eq!((&options["portion"], &lines[0]["partitions"]), (&32.into(), &2.into()));
        assert!(lines.iter().all(|line| line["changed"] == 50 && line["n"] == 20));
    }
}

#[test]
fn without_checkpoints_nothing_is_counted() {
    let run = "run --json --workload decode-similar-ints --size 5 --runs 5 --seconds 0 --checkpoints off";
    let lines = lines(&bench(&run.split(' ').collect::<Vec<_>>()));
    assert!(lines.iter().all(|line| line.get("differential").is_none()));
}

#[test]
fn the_table_has_a_row_a_mode() {
    let run =
        "run --workload decode-similar-structs --size 5 --changed 0 --changed 100 --runs 5 --seconds 0 --chunk 100";
    let output = bench(&run.split(' ').collect::<Vec<_>>());
    let table = text(&output.stdout);
    for row in ["| 0 %     |", "| 100 %   |", "| differential  |", "| floor-compare |"] {
        assert!(table.contains(row), "{row}: {table}");
    }
}

#[test]
fn shares_are_at_most_a_hundred_percent() {
    assert!(!bench(&["run", "--workload", "decode-similar-ints", "--changed", "101"]).status.success());
    assert!(!bench(&["run", "--workload", "decode-similar-ints", "--checkpoints", "some"]).status.success());
}
