//! `deltasoap-bench paper`, on arrays that are far too small.

use std::process::Command;

use tempfile::TempDir;

fn paper(arguments: &[&str]) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deltasoap-bench"));
    let output = command.args(["paper", "--quick", "--size", "50", "--size", "20"]).args(arguments).output().unwrap();
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
            assert!(html.contains(&format!("<h2>{exhibit}</h2>")), "{exhibit}");
        }
    }
    assert!(html.matches("<svg").count() >= 10 && !html.contains("NaN"));
    assert!(text.contains("Section 4.5") && text.contains("Section 5") && text.contains("Dummy"));
    assert!(text.contains("LCP, no shortcuts") && text.contains("both without our shortcuts"));
    let is_serialization = |line: &&str| line.contains("Differential Serialization") && line.starts_with("## ");
    assert_eq!(text.lines().filter(is_serialization).count(), 12 + 2);
    assert!(text.contains("XSUL") && text.contains("No row: xsul is not built"));
    assert!(html.contains("worst-case shifting") && html.contains("<circle"));
}

#[test]
fn json_has_the_points_and_the_verdicts() {
    let (text, _) = paper(&["--json", "--peers", "nowhere"]);
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (sends, lines): (Vec<_>, Vec<_>) = lines.into_iter().partition(|line| line.get("sender").is_some());
    let (points, verdicts): (Vec<_>, Vec<_>) = lines.iter().partition(|line| line.get("policy").is_some());
    assert!(sends.len() > 100 && sends.iter().all(|line| line["ms"].as_f64().unwrap() > 0.0));
    assert!(points.len() > 100 && verdicts.len() > 10, "{} points, {} verdicts", points.len(), verdicts.len());
    assert!(points.iter().all(|point| point["ms"].as_f64().unwrap() > 0.0));
    let full = points.iter().find(|point| point["policy"] == "full").unwrap();
    assert!(full["counts"]["regular_percent"].is_number());
    for (key, value) in [("condition", "noshortcuts"), ("refinement", "probe"), ("refinement", "tune")] {
        assert!(points.iter().any(|point| point["policy"] != "off" && point[key] == value), "{key}: {value}");
    }
    assert!(verdicts.iter().all(|verdict| verdict["agrees"].is_boolean() && verdict["rule"].is_string()));
}

#[test]
fn a_paper_can_be_chosen() {
    let (text, _) = paper(&["--paper", "serialization", "--peers", "nowhere"]);
    assert!(text.contains("Figure 12") && !text.contains("Table 3"));
}
