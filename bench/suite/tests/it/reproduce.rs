//! `deltasoap-bench reproduce`, on arrays that are far too small.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

fn command(record: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deltasoap-bench"));
    command.args([
        "reproduce",
        "--quick",
        "--no-pin",
        "--peers",
        "nowhere",
        "--engine",
        "deltasoap",
        "--engine",
        "gsoap",
    ]);
    command.args(arguments).arg("--record").arg(record);
    command
}

fn reproduce(record: &Path, arguments: &[&str]) -> Output {
    command(record, arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn passed(output: &Output) -> String {
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

fn lines(record: &Path) -> Vec<Value> {
    let text = fs::read_to_string(record.join("results.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn index(record: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(record.join("index.json")).unwrap()).unwrap()
}

/// Paper, exhibit and key of each claim; of exhibits without claims an empty key.
fn claims(index: &Value) -> Vec<(String, String, String)> {
    let mut all = Vec::new();
    for paper in index["papers"].as_array().unwrap() {
        for exhibit in paper["exhibits"].as_array().unwrap() {
            let of = |key: &Value| {
                [&paper["paper"], &exhibit["exhibit"], key].map(|text| text.as_str().unwrap_or_default().to_owned())
            };
            all.push(of(&Value::Null).into());
            all.extend(exhibit["claims"].as_array().unwrap().iter().map(|claim| of(&claim["key"]).into()));
        }
    }
    all
}

/// What `docs/papers.md` has a row for: the number of the paper and the table or figure.
fn documented() -> Vec<(String, String)> {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/papers.md")).unwrap();
    let mut all = Vec::new();
    for (paper, section) in text.split("\n## ").skip(1).enumerate() {
        let rows = section.lines().filter_map(|line| line.strip_prefix("| ")?.split([':', ',']).next());
        for row in rows.filter(|row| row.starts_with("Figure") || row.starts_with("Table")) {
            let what = row.split(" | ").next().unwrap().replace(';', " and");
            all.extend(named(&what).into_iter().map(|name| (format!("{paper:03}"), name)));
        }
    }
    all
}

/// `Tables 1 to 3 and Figures 3 and 4` one by one.
fn named(text: &str) -> Vec<String> {
    let (mut all, mut kind, mut before, mut is_range) = (Vec::new(), String::new(), 0, false);
    for word in text.split_whitespace() {
        match word.parse::<u32>() {
            Ok(number) => {
                let first = if is_range { before + 1 } else { number };
                all.extend((first..=number).map(|number| format!("{kind} {number}")));
                (before, is_range) = (number, false);
            }
            Err(_) if word == "to" => is_range = true,
            Err(_) if word.starts_with("Figure") || word.starts_with("Table") => {
                kind = word.trim_end_matches('s').to_owned();
            }
            Err(_) => {}
        }
    }
    all
}

#[test]
fn ranges_of_exhibits_are_counted_out() {
    assert_eq!(named("Tables 1 and 3 and Figures 3 to 5"), ["Table 1", "Table 3", "Figure 3", "Figure 4", "Figure 5"]);
}

#[test]
fn all_five_papers_come_out_whole_and_nothing_is_measured_twice() {
    let folder = TempDir::new().unwrap();
    let record = folder.path();
    let sizes = ["--size", "20", "--size", "50"];
    let table = passed(&reproduce(record, &sizes));
    let read = |name: &str| fs::read_to_string(record.join(name)).unwrap();
    let (lines, html, claims) = (lines(record), read("report.html"), claims(&index(record)));
    let kinds: BTreeSet<&str> = lines.iter().map(|line| line["kind"].as_str().unwrap_or("suite")).collect();
    let expected = ["calibration", "count", "peer", "point", "received", "sent", "step", "suite", "trial", "verdict"];
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), expected);
    assert_eq!(read("results.csv").lines().count(), lines.len() + 1);
    assert!(claims.len() > 150 && table.contains("| Cost model ") && table.contains("| Toolkits "), "{table}");
    for (paper, exhibit, key) in &claims {
        assert!(html.contains(&key.replace('&', "&amp;")), "{paper}, {exhibit}: {key}");
    }
    for (paper, exhibit) in documented() {
        assert!(claims.iter().any(|claim| (&claim.0, &claim.1) == (&paper, &exhibit)), "{paper}, {exhibit}");
        let mark = format!("paper-{paper}-{}", exhibit.to_lowercase().replace(' ', "-"));
        assert!(html.contains(&format!("<a id=\"{mark}\">")) && html.contains(&format!("href=\"#{mark}\"")), "{mark}");
    }
    let environment: Value = serde_json::from_str(&read("environment.json")).unwrap();
    assert!(environment["steps"].as_array().unwrap().iter().all(|step| step["load_before"].is_number()));
    assert!(environment["profile"].as_str().unwrap().contains("opt-level"));
    assert_eq!(environment["engines"][1]["name"], "gsoap");
    // Once more: everything is there, and the same comes out.
    let again = reproduce(record, &[&sizes[..], &["--check", record.to_str().unwrap(), "--json"]].concat());
    let compared = passed(&again);
    let relations: Vec<Value> =
        compared.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["relation"].clone()).collect();
    let compared: Vec<&str> = relations.iter().filter_map(Value::as_str).collect();
    assert_eq!(compared.len(), claims.iter().filter(|claim| !claim.2.is_empty()).count());
    // Nothing at these sizes, unless the calibration was more than noise.
    assert!(compared.iter().all(|relation| ["same", "incomparable"].contains(relation)), "{compared:?}");
    assert_eq!(fs::read_to_string(record.join("results.jsonl")).unwrap().lines().count(), lines.len());
    // Not with another scope, unless it begins anew.
    let mut other = Command::new(env!("CARGO_BIN_EXE_deltasoap-bench"));
    let other = other.args(["reproduce", "--no-pin", "--record"]).arg(record).args(sizes).output().unwrap();
    assert!(text(&other.stderr).contains("the scope was quick and is full"), "{}", text(&other.stderr));
}

#[test]
fn what_was_killed_goes_on_where_it_was() {
    let folder = TempDir::new().unwrap();
    let arguments = ["--paper", "0", "--size", "300"];
    let mut killed = command(folder.path(), &arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let results = folder.path().join("results.jsonl");
    let begin = Instant::now();
    let has_some = || fs::read_to_string(&results).is_ok_and(|text| text.matches("\"kind\":\"point\"").count() >= 3);
    while !has_some() && begin.elapsed() < Duration::from_secs(120) {
        sleep(Duration::from_millis(5));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    let before = fs::read_to_string(&results).unwrap();
    assert!(!before.contains("\"kind\":\"verdict\"") && !folder.path().join("report.html").exists());
    passed(&reproduce(folder.path(), &arguments));
    let after = fs::read_to_string(&results).unwrap();
    let whole = before.rsplit_once('\n').unwrap().0;
    assert!(after.starts_with(whole), "what was measured is kept");
    let points = lines(folder.path()).into_iter().filter(|line| line["kind"] == "point");
    let keys: Vec<String> = points.map(|line| line["key"].as_str().unwrap().to_owned()).collect();
    assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len(), "nothing was measured twice");
}

#[test]
fn a_plan_is_told_and_nothing_is_measured() {
    let folder = TempDir::new().unwrap();
    let plan = reproduce(folder.path(), &["--plan", "--paper", "0"]);
    assert!(text(&plan.stderr).contains("in all, about") && !folder.path().join("results.jsonl").exists());
}

/// A record in which sizes and times are made up: every line says 10,000 instead of 20.
fn doctored(from: &Path, to: &Path, slower: f64) {
    fs::create_dir_all(to).unwrap();
    fs::copy(from.join("environment.json"), to.join("environment.json")).unwrap();
    let mut all = String::new();
    for mut line in lines(from).into_iter().filter(|line| line["kind"] == "point") {
        line["key"] = line["key"].as_str().unwrap().replace("/hard/20/", "/hard/10000/").into();
        if line["counts"].is_object() {
            line["ms"] = (line["ms"].as_f64().unwrap() * slower).into();
        }
        all += &(line.to_string() + "\n");
    }
    fs::write(to.join("results.jsonl"), all).unwrap();
}

#[test]
fn another_record_may_have_other_times() {
    let folder = TempDir::new().unwrap();
    let of = |name: &str| folder.path().join(name);
    let paper = ["--paper", "1", "--size"];
    passed(&reproduce(&of("real"), &[&paper[..], &["20"]].concat()));
    for (name, slower) in [("one", 1.0), ("slow", 9.0)] {
        doctored(&of("real"), &of(name), slower);
        passed(&reproduce(&of(name), &[&paper[..], &["10000"]].concat()));
        let one = of("one");
        let checked = reproduce(&of(name), &[&paper[..], &["10000", "--check", one.to_str().unwrap()]].concat());
        assert!(passed(&checked).contains(" 0 differ in counts"));
    }
    let nothing = reproduce(&of("one"), &["--paper", "1", "--size", "10000", "--check", "nowhere"]);
    assert!(!nothing.status.success() && text(&nothing.stderr).contains("cannot compare with nowhere"));
}
