//! Tests `deltasoap-bench paper` on arrays that are far too small.

use std::process::Command;

use tempfile::TempDir;

fn paper(arguments: &[&str]) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deltasoap-bench"));
    let output = command
        .args(["paper", "--quick", "--repetitions", "2", "--size", "50", "--size", "20"])
        .args(arguments)
        .output()
        .unwrap();
    let (text, errors) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{errors}");
    (text, errors)
}

#[test]
fn every_exhibit_is_drawn() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("paper.html");
    let (text, _) = paper(&["--html", file.to_str().unwrap(), "--peers", folder.path().to_str().unwrap()]);
    let html = std::fs::read_to_string(file).unwrap();
    for (paper, exhibits) in [
        ("Differential Deserialization", ["Figure 2", "Figure 3", "Figure 4", "Figure 5", "Table 2", "Table 3"]),
        ("Lightweight Checkpointing", ["Figure 2", "Figure 3", "Figure 4", "Figure 5", "Table 1", "Table 1"]),
    ] {
        for exhibit in exhibits {
            let title = |line: &str| line.contains(paper) && line.ends_with(exhibit);
            assert!(text.lines().any(title), "{paper}, {exhibit}");
            assert!(html.contains(&format!("<h3>{exhibit}</h3>")), "{exhibit}");
        }
    }
    assert!(html.matches("<svg").count() >= 10 && !html.contains("NaN"));
    assert!(text.contains("Section 4.5") && text.contains("Section 5") && text.contains("Dummy"));
    assert!(text.contains("LCP, no shortcuts") && text.contains("both without our shortcuts"));
    let is_serialization = |line: &&str| line.contains("Differential Serialization") && line.starts_with("## ");
    assert_eq!(text.lines().filter(is_serialization).count(), 12 + 2);
    assert!(text.contains("XSUL") && text.contains("No row: xsul is not built"));
    assert!(html.contains("worst-case shifting") && html.contains("<circle"));
    assert!(text.contains("## All claims") && html.contains("All claims</a>"));
    // None of the papers' sizes was measured, and no verdict claims otherwise.
    assert!(
        text.contains(" were not measured.") && !text.contains(" agree, ") && text.contains("this run has 20, 50"),
        "{text}"
    );
}

#[test]
fn json_has_the_points_and_the_verdicts() {
    let (text, _) = paper(&["--json", "--peers", "nowhere"]);
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (sends, lines): (Vec<_>, Vec<_>) = lines.into_iter().partition(|line| line.get("sender").is_some());
    let is_point = |line: &&serde_json::Value| line["kind"] == "point";
    let points: Vec<_> = lines.iter().filter(is_point).collect();
    let verdicts: Vec<_> = lines.iter().filter(|line| line.get("outcome").is_some()).collect();
    let is_there = |line: &&serde_json::Value| line["reason"].is_null();
    assert!(sends.len() > 100 && sends.iter().filter(is_there).all(|line| line["ms"].as_f64().unwrap() > 0.0));
    assert!(
        sends.iter().any(|line| line["sender"] == "xsul" && line["reason"].as_str().unwrap().contains("not built"))
    );
    assert!(points.len() > 100 && verdicts.len() > 10, "{} points, {} verdicts", points.len(), verdicts.len());
    assert!(points.iter().all(|point| point["ms"].as_f64().unwrap() > 0.0));
    let full = points.iter().find(|point| point["policy"] == "full").unwrap();
    assert!(full["regular_percent"].is_number() && full["counts"]["memory"].is_number());
    for (key, value) in [("condition", "noshortcuts"), ("refinement", "probe"), ("refinement", "tune")] {
        assert!(points.iter().any(|point| point["policy"] != "off" && point[key] == value), "{key}: {value}");
    }
    assert!(verdicts.iter().all(|verdict| verdict["outcome"].is_string() && verdict["agrees_if"].is_string()));
    assert!(points.iter().any(|point| point["repetition"] == 1) && sends.iter().any(|sent| sent["repetition"] == 1));
}

/// The smallest of the papers' sizes is cheap.
#[test]
fn a_claim_is_judged_on_the_papers_sizes() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deltasoap-bench"));
    let arguments =
        ["paper", "--quick", "--repetitions", "2", "--size", "1000", "--json", "--paper", "deserialization"];
    let output = command.args(arguments).args(["--peers", "nowhere"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let verdict = |key: &str| -> serde_json::Value {
        let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        lines.into_iter().find(|line| line["key"] == key).unwrap_or_else(|| panic!("{key}: {text}"))
    };
    let least = verdict("least-speedup");
    assert_eq!(least["sizes_run"], serde_json::json!([1000]));
    assert_eq!(least["repetitions"].as_array().unwrap().len(), 2);
    assert!(least["ours"]["low"].as_f64().unwrap() <= least["ours"]["high"].as_f64().unwrap());
    // One size of six cannot confirm a claim.
    assert!(["differs", "not-measured"].contains(&least["outcome"].as_str().unwrap()), "{least}");
    assert_eq!(verdict("table2")["outcome"], "not-measured");
    assert_eq!(verdict("xor-hard-speedup")["outcome"], "not-measured");
    assert!(verdict("baseline")["reason"].as_str().unwrap().contains("cargo xtask peers gsoap"));
}

#[test]
fn a_paper_can_be_chosen() {
    let (text, _) = paper(&["--paper", "serialization", "--peers", "nowhere"]);
    assert!(text.contains("Figure 12") && !text.contains("Table 3"));
}
