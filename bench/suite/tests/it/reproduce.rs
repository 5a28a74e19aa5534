//! Tests `deltasoap-bench reproduce` on arrays that are far too small.

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

/// Returns the rows, without the ends of jobs.
fn lines(record: &Path) -> Vec<Value> {
    let text = fs::read_to_string(record.join("results.jsonl")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["kind"] != "end").collect()
}

fn index(record: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(record.join("index.json")).unwrap()).unwrap()
}

/// Returns paper, exhibit and key of each claim; for exhibits without claims an empty key.
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

/// Returns the part of a page that depends on measurements: claims, tables and plots, rows.
fn exhibits(html: &str) -> &str {
    let steps = html.find(">Steps<").expect("a list of steps");
    &html[html.find(">Index<").expect("an index")..steps]
}

/// Returns the rows of `docs/papers.md`: the number of the paper and the table or figure.
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

/// Splits `Tables 1 to 3 and Figures 3 and 4` into single names.
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
    // A second run, with everything recorded, has the same result, also for a single paper.
    let papers = self::index(record)["papers"].clone();
    for more in [&[][..], &["--paper", "1"]] {
        assert_eq!(passed(&reproduce(record, &[&sizes[..], more].concat())), table);
        assert_eq!(self::index(record)["papers"], papers);
        assert!(exhibits(&read("report.html")) == exhibits(&html), "other tables");
        assert_eq!(self::lines(record), lines);
    }
    // There are no claims about counts at these sizes, so nothing compared has to be the same.
    let there = TempDir::new().unwrap();
    fs::copy(record.join("index.json"), there.path().join("index.json")).unwrap();
    let again = reproduce(record, &[&sizes[..], &["--check", there.path().to_str().unwrap(), "--json"]].concat());
    let compared: Vec<Value> = text(&again.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let relations: Vec<&str> = compared.iter().filter_map(|line| line["relation"].as_str()).collect();
    assert_eq!(relations.len(), claims.iter().filter(|claim| !claim.2.is_empty()).count());
    assert!(relations.iter().all(|relation| ["same", "incomparable"].contains(relation)), "{relations:?}");
    assert!(
        text(&again.stderr).contains("no claim about counts or bytes could be compared") && !again.status.success()
    );
    let itself = reproduce(record, &[&sizes[..], &["--check", record.to_str().unwrap()]].concat());
    assert!(text(&itself.stderr).contains("--check needs a record other"), "{}", text(&itself.stderr));
    // Another scope is rejected, unless the record starts over.
    let mut other = Command::new(env!("CARGO_BIN_EXE_deltasoap-bench"));
    let other = other.args(["reproduce", "--no-pin", "--record"]).arg(record).args(sizes).output().unwrap();
    assert!(text(&other.stderr).contains("the scope was quick and is full"), "{}", text(&other.stderr));
}

#[test]
fn a_killed_run_resumes_where_it_was() {
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
fn a_plan_is_printed_and_nothing_is_measured() {
    let folder = TempDir::new().unwrap();
    let plan = reproduce(folder.path(), &["--plan", "--paper", "0"]);
    assert!(text(&plan.stderr).contains("in all, about") && !folder.path().join("results.jsonl").exists());
}

#[test]
fn a_comparison_reports_missing_counts_and_a_missing_record() {
    let folder = TempDir::new().unwrap();
    let (here, there) = (folder.path().join("here"), folder.path().join("there"));
    let check = |other: &Path| reproduce(&here, &["--paper", "1", "--size", "20", "--check", other.to_str().unwrap()]);
    let nothing = check(Path::new("nowhere"));
    assert!(!nothing.status.success() && text(&nothing.stderr).contains("cannot compare with nowhere"));
    assert!(!here.exists(), "it is told before anything is measured");
    // A session that was killed before it measured anything leaves nothing to resume.
    fs::create_dir_all(&here).unwrap();
    fs::write(here.join("results.jsonl"), "").unwrap();
    passed(&reproduce(&here, &["--paper", "1", "--size", "20"]));
    // The same verdicts, except the one on memory, which was measured there.
    let mut index = index(&here);
    let exhibits = index["papers"][0]["exhibits"].as_array_mut().unwrap();
    let claims = exhibits.iter_mut().flat_map(|exhibit| exhibit["claims"].as_array_mut().unwrap());
    let memory = claims.into_iter().find(|claim| claim["key"] == "memory-of-fcp").unwrap();
    assert_eq!(memory["outcome"], "not-measured");
    memory["outcome"] = "differs".into();
    index["commit"] = "0123abcd".into();
    fs::create_dir_all(&there).unwrap();
    fs::write(there.join("index.json"), index.to_string()).unwrap();
    let checked = check(&there);
    let errors = text(&checked.stderr);
    assert!(
        errors.contains("memory-of-fcp: ") && errors.contains(" has counts or bytes that are missing here"),
        "{errors}"
    );
    assert!(errors.contains("no claim about counts or bytes could be compared") && !checked.status.success());
    let table = text(&checked.stdout);
    assert!(table.contains("There: commit 0123abcd, a quick run.") && table.contains(" 0 differ in counts"), "{table}");
}

/// A peer that sends its hello and exits.
#[cfg(unix)]
fn lame_peer(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;

    let program = folder.join("gsoap/peer");
    fs::create_dir_all(folder.join("gsoap")).unwrap();
    let workloads = ["decode-ints", "decode-easy", "decode-hard", "send-ints", "send-hard", "send-structs"];
    let hello = serde_json::json!({"peer": "lame", "version": "1", "workloads": workloads});
    fs::write(&program, format!("#!/bin/sh\nread -r request\necho '{hello}'\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(unix)]
#[test]
fn a_toolkit_that_fails_is_left_out_and_one_that_comes_is_measured() {
    let folder = TempDir::new().unwrap();
    let (record, peers) = (folder.path().join("record"), folder.path().join("peers"));
    let arguments = ["--paper", "0", "--paper", "2", "--size", "20"];
    let run = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_deltasoap-bench"));
        command
            .args(["reproduce", "--quick", "--no-pin", "--engine", "deltasoap", "--engine", "gsoap"])
            .args(arguments);
        passed(&command.arg("--peers").arg(&peers).arg("--record").arg(&record).output().unwrap());
        let all = lines(&record).into_iter().filter(|line| line["toolkit"] == "gsoap" || line["sender"] == "gsoap");
        let reasons: BTreeSet<String> =
            all.map(|line| line["reason"].as_str().unwrap_or_default().to_owned()).collect();
        (reasons, fs::read_to_string(record.join("results.jsonl")).unwrap())
    };
    let (reasons, _) = run();
    assert!(reasons.len() == 1 && reasons.first().unwrap().contains("not built"), "{reasons:?}");
    lame_peer(&peers);
    let (reasons, text) = run();
    assert!(
        !reasons.is_empty() && reasons.iter().all(|reason| !reason.is_empty() && !reason.contains("not built")),
        "{reasons:?}"
    );
    assert!(
        fs::read_to_string(record.join("report.html"))
            .unwrap()
            .replace("&quot;", "\"")
            .contains(reasons.first().unwrap()),
        "{reasons:?}"
    );
    assert_eq!(run().1, text, "what failed is not tried again");
}

#[test]
fn rows_of_another_program_are_added_if_asked_for_alone() {
    let folder = TempDir::new().unwrap();
    let arguments = |paper, more: &[&'static str]| [&["--paper", paper, "--size", "20"], more].concat();
    passed(&reproduce(folder.path(), &arguments("1", &[])));
    let path = folder.path().join("environment.json");
    let mut environment: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    environment["program"] = "another".into();
    fs::write(&path, environment.to_string()).unwrap();
    let before = fs::read(folder.path().join("results.jsonl")).unwrap();
    let refused = reproduce(folder.path(), &arguments("4", &[]));
    let errors = text(&refused.stderr);
    assert!(
        !refused.status.success()
            && errors.contains("(its checksum) was another and is ")
            && errors.contains("--mixed"),
        "{errors}"
    );
    assert_eq!(fs::read(folder.path().join("results.jsonl")).unwrap(), before);
    // Drawing again adds nothing.
    passed(&reproduce(folder.path(), &arguments("1", &[])));
    passed(&reproduce(folder.path(), &arguments("4", &["--mixed"])));
    let index = index(folder.path());
    assert!(index["doubts"][0].as_str().unwrap().contains("are mixed: the program"), "{}", index["doubts"]);
    assert_eq!(index["papers"].as_array().unwrap().len(), 2, "both papers are drawn");
}
