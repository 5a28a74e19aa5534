//! A directory is played completely, both ways.

use super::*;
use crate::cli::{CheckpointsName, DifferentialArguments, Loading, MatcherName, ToleranceName};
use clap::ValueEnum;
use deltasoap_streams::{arrays, prng, tr069};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn arguments(directory: &Path) -> Replay {
    Replay {
        html: None,
        tolerance: ToleranceName::Unknown,
        paths: vec![directory.to_owned()],
        wsdl: None,
        loading: Loading::default(),
        differential: DifferentialArguments {
            checkpoints: CheckpointsName::Leaf,
            matcher: MatcherName::Compare,
            portion: 64,
            probe: false,
            tune: false,
            no_adaptive: true,
        },
        regular_only: false,
        repeat: 2,
        json: true,
    }
}

fn lines(report: &Report) -> Vec<serde_json::Value> {
    report.json().map(|line| serde_json::from_str(&line.expect("a line")).expect("JSON")).collect()
}

fn of_kind<'a>(lines: &'a [serde_json::Value], kind: &str) -> Vec<&'a serde_json::Value> {
    lines.iter().filter(|line| line["kind"] == kind).collect()
}

const MESSAGES: usize = 12;

/// Writes streams of two devices, one file per message. The first device's fourth message is
/// broken, its sixth is truncated.
fn devices() -> TempDir {
    let root = tempfile::tempdir().expect("a directory");
    for device in [0, 1] {
        let directory = root.path().join(format!("device-{device}"));
        fs::create_dir(&directory).expect("a directory");
        for message in tr069::device_stream(prng::SEED, device).take(MESSAGES) {
            let text = match (device, message.index) {
                (0, 3) => message.xml.replace("<RetryCount>", "<RetryCount>x"),
                (0, 5) => message.xml[..message.xml.len() / 2].to_owned(),
                _ => message.xml,
            };
            fs::write(directory.join(format!("{}.xml", message.index)), text).expect("a file");
        }
    }
    root
}

#[test]
fn every_policy_decodes_devices_with_faults_in_between_as_regular_mode_does() {
    let root = devices();
    for &checkpoints in CheckpointsName::value_variants() {
        let mut arguments = arguments(root.path());
        arguments.differential.checkpoints = checkpoints;
        check_devices(&replay(&arguments, &Types::compiled_in()));
    }
}

fn check_devices(report: &Report) {
    assert!(report.first_difference().is_none(), "{:?}", report.first_difference());
    let lines = lines(report);
    let operations = of_kind(&lines, "operation");
    let sum = |field: &str| operations.iter().map(|row| row[field].as_u64().expect("a count")).sum::<u64>();
    assert_eq!((sum("streams"), sum("messages")), (2, 2 * MESSAGES as u64 - 2));
    let faults = of_kind(&lines, "fault");
    assert_eq!(faults.len(), 2);
    assert!(faults[0]["error"].as_str().expect("text").contains("RetryCount"), "{}", faults[0]);
    assert!(faults[1]["file"].as_str().expect("a path").ends_with("device-0/5.xml"), "{}", faults[1]);
}

#[test]
fn what_is_accepted_beyond_the_schema_is_listed() {
    let root = tempfile::tempdir().expect("a directory");
    let message = arrays::message_ints(&[1, 2, 3]);
    let with = |count| message.replace("</item>", &format!("</item>{}", "<new/>".repeat(count)));
    for (number, text) in [&message, &with(2), &with(1)].into_iter().enumerate() {
        fs::write(root.path().join(format!("{number}.xml")), text).expect("a file");
    }
    let report = replay(&arguments(root.path()), &Types::compiled_in());
    let lines = lines(&report);
    let [deviation] = of_kind(&lines, "deviation")[..] else { panic!("{lines:?}") };
    assert!(deviation["what"].as_str().expect("text").starts_with("unknown element new in /Envelope/Body/sendInts"));
    assert_eq!((deviation["count"].as_u64(), deviation["messages"].as_u64()), (Some(9), Some(2)));
    assert!(deviation["file"].as_str().expect("a path").ends_with("1.xml"), "{deviation}");
    let strict = Replay { tolerance: ToleranceName::Strict, ..arguments(root.path()) };
    let lines = self::lines(&replay(&strict, &Types::compiled_in()));
    assert_eq!((of_kind(&lines, "deviation").len(), of_kind(&lines, "fault").len()), (0, 2));
}

#[test]
fn what_is_no_message_of_a_known_operation_is_listed() {
    let root = tempfile::tempdir().expect("a directory");
    let write = |name: &str, content: &str| fs::write(root.path().join(name), content).expect("a file");
    let message = arrays::message_ints(&[1, 2, 3]);
    write("1.http", &format!("POST /bench HTTP/1.1\r\nHost: here\r\n\r\n{message}"));
    write("2.xml", &message.replace("sendInts", "somethingElse"));
    write("3.xml", "");
    write("notes.md", "no message");
    let report = replay(&arguments(root.path()), &Types::compiled_in());
    let lines = lines(&report);
    assert_eq!(of_kind(&lines, "operation")[0]["operation"], "{urn:bench}sendInts");
    let unknown = of_kind(&lines, "unknown");
    assert_eq!((unknown.len(), &unknown[0]["element"]), (1, &"{urn:bench}somethingElse".into()));
    let mut reasons: Vec<_> = of_kind(&lines, "skipped").iter().map(|line| line["reason"].clone()).collect();
    reasons.sort_by_key(ToString::to_string);
    assert_eq!(reasons, ["empty", "not an .xml, .txt or .http file"]);
}

#[test]
fn the_recorded_sessions_decode_alike_both_ways() {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sequences/vsphere-fetch");
    let report = replay(&Replay { repeat: 1, ..arguments(&recorded) }, &Types::compiled_in());
    assert!(report.first_difference().is_none(), "{:?}", report.first_difference());
    let lines = lines(&report);
    let messages: Vec<_> = of_kind(&lines, "operation").iter().map(|row| row["messages"].as_u64()).collect();
    assert_eq!(messages, [Some(292), Some(292)]);
    assert!(of_kind(&lines, "fault").is_empty());
}

/// NaN is the same value although it does not equal itself; 0 and -0 are different values although
/// they are equal.
#[test]
fn values_are_the_same_when_they_are_written_the_same() {
    let root = tempfile::tempdir().expect("a directory");
    let message = arrays::message_doubles(&[f64::NAN, 0.0, -0.0, f64::INFINITY]);
    fs::write(root.path().join("1.xml"), message).expect("a file");
    let report = replay(&arguments(root.path()), &Types::compiled_in());
    assert!(report.first_difference().is_none());
    assert!(report.has_operations());
}

#[test]
fn regular_mode_alone_reports_no_gain() {
    let root = devices();
    let report = replay(&Replay { regular_only: true, ..arguments(root.path()) }, &Types::compiled_in());
    let lines = lines(&report);
    let operations = of_kind(&lines, "operation");
    assert!(!operations.is_empty() && operations.iter().all(|row| row.get("saved_share").is_none()));
}

#[test]
fn a_directory_without_messages_is_an_error() {
    let root = tempfile::tempdir().expect("a directory");
    assert!(run(&arguments(root.path())).is_err());
}
