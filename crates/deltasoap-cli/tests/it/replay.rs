//! `deltasoap replay` as a program: its output and exit codes.

use deltasoap_streams::{prng, tr069};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

fn replay(directory: &Path, options: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deltasoap"));
    command.arg("replay").arg(directory).args(options).output().expect("the program runs")
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("UTF-8")
}

/// Writes one device's messages, of which one is broken.
fn device() -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    for message in tr069::device_stream(prng::SEED, 1).take(12) {
        let text = if message.index == 7 { message.xml.replace("</Event>", "</Evening>") } else { message.xml };
        fs::write(directory.path().join(format!("inform-{}.xml", message.index)), text).expect("a file");
    }
    directory
}

#[test]
fn a_table_of_operations_and_a_list_of_what_was_refused() {
    let directory = device();
    let output = replay(directory.path(), &["--repeat", "1"]);
    assert!(output.status.success(), "{output:?}");
    let text = stdout(&output);
    assert!(text.contains("Inform") && text.contains("time saved %"), "{text}");
    assert!(text.contains("inform-7.xml:") && text.contains("Evening"), "{text}");
}

#[test]
fn lines_of_json() {
    let directory = device();
    for options in [&["--checkpoints", "lightweight", "--portion", "32", "--matcher", "crc32"][..], &["--regular-only"]]
    {
        let output = replay(directory.path(), &[&["--json"], options].concat());
        assert!(output.status.success(), "{output:?}");
        let lines: Vec<serde_json::Value> =
            stdout(&output).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(
            lines.iter().map(|line| line["kind"].as_str()).collect::<Vec<_>>(),
            [Some("operation"), Some("fault")]
        );
        assert_eq!(lines[0]["messages"], 11);
        assert_eq!(lines[0].get("differential_seconds").is_none(), options == ["--regular-only"]);
    }
}

#[test]
fn a_page_with_plots_and_lists() {
    let (directory, other) = (device(), tempfile::tempdir().expect("a directory"));
    let page = other.path().join("new/page.html");
    let output = replay(directory.path(), &["--repeat", "1", "--html", &page.to_string_lossy()]);
    assert!(output.status.success(), "{output:?}");
    let html = fs::read_to_string(page).expect("a page");
    for part in ["Speed of decoding", "<svg", "time saved %", "Refused messages", "inform-7.xml:"] {
        assert!(html.contains(part), "{part}: {html}");
    }
}

#[test]
fn nothing_to_replay_is_an_error() {
    let empty = tempfile::tempdir().expect("a directory");
    let output = replay(empty.path(), &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no message of a known type"));
}

#[test]
fn a_path_that_is_not_there_is_said_so() {
    let directory = tempfile::tempdir().expect("a directory");
    let output = replay(&directory.path().join("nowhere"), &[]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && text.contains("nowhere does not exist"), "{text}");
    assert_eq!(stdout(&output), "");
}
