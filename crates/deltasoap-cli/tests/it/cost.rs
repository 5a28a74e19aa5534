//! `deltasoap cost`, as a user runs it, with few points.

use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

const WSDL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/wsdl/bench.wsdl");
/// A calibration of another machine.
const ELSEWHERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/cost.json");

fn cost(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_deltasoap")).arg("cost").args(arguments).output().expect("it runs")
}

/// Returns the output of a command that succeeds.
fn printed(arguments: &[&str]) -> String {
    let output = cost(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Returns the error of a command that fails.
fn complaint(arguments: &[&str]) -> String {
    let output = cost(arguments);
    assert!(!output.status.success(), "{arguments:?} succeeded");
    String::from_utf8(output.stderr).expect("text")
}

fn json(text: &str) -> Vec<Json> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn folder() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    FOLDER.get_or_init(|| tempfile::tempdir().expect("a folder")).path()
}

/// Returns the output of a measurement; `None` if the measurements are noise, which are saved all
/// the same.
fn measure_or_noise(arguments: &[&str]) -> Option<String> {
    let output = cost(&[&["measure"], arguments].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() || said.contains("the times are noise"), "{said}");
    output.status.success().then(|| String::from_utf8(output.stdout).expect("text"))
}

/// A calibration of this machine, measured once for all tests.
fn measured(mode: &'static str) -> String {
    static REGULAR: OnceLock<PathBuf> = OnceLock::new();
    static DIFFERENTIAL: OnceLock<PathBuf> = OnceLock::new();
    let cell = if mode == "regular" { &REGULAR } else { &DIFFERENTIAL };
    let path = cell.get_or_init(|| {
        let path = folder().join(format!("{mode}.json"));
        let file = path.to_string_lossy().into_owned();
        // With few rounds on a busy machine, times may be noise: then more rounds are measured.
        let is_measured = |rounds: &str| {
            measure_or_noise(&["--few", "--rounds", rounds, "--mode", mode, "--calibration", &file]).is_some()
        };
        assert!(["2", "4", "8", "16"].into_iter().any(is_measured), "{mode}");
        path
    });
    path.to_string_lossy().into_owned()
}

#[test]
fn measuring_shows_the_papers_tables_and_goes_on_where_it_ended() {
    let file = folder().join("goes-on.json").to_string_lossy().into_owned();
    let shown = |text: Option<String>| {
        for title in ["Table 1", "Table 2", "Table 3", "Coefficients of predictions", "R²", "serialize to socket"] {
            assert!(text.iter().all(|text| text.contains(title)), "{title}: {text:?}");
        }
    };
    shown(measure_or_noise(&["--few", "--rounds", "1", "--calibration", &file]));
    shown(Some(printed(&["fit", "--elsewhere", "--calibration", ELSEWHERE])));
    let read = || json(&std::fs::read_to_string(&file).expect("a file").replace('\n', ""))[0].clone();
    let one = read();
    shown(measure_or_noise(&["--few", "--rounds", "2", "--calibration", &file]));
    let two = read();
    assert_eq!((&one["rounds"], &two["rounds"]), (&1.into(), &2.into()));
    let times = |it: &Json| {
        let points = it["points"].as_array().expect("points").iter();
        points.map(|it| it["cpu"].as_array().expect("times").clone()).collect::<Vec<_>>()
    };
    let (before, after) = (times(&one), times(&two));
    // A visit has several batches, except for a message that takes long.
    let is_kept = |(before, after): (&Vec<Json>, &Vec<Json>)| after.len() > before.len();
    assert!(before.len() == after.len() && before.iter().zip(&after).all(is_kept), "all times are kept");
    assert!(before.iter().any(|batches| batches.len() == 3), "of each batch");
    assert_eq!(two["planned"].as_u64(), Some(2));
    let other = complaint(&["measure", "--few", "--rounds", "2", "--mode", "differential", "--calibration", &file]);
    assert!(other.contains("is of regular mode; --fresh starts over"), "{other}");
}

#[test]
fn fits_are_json_and_a_page() {
    let page = folder().join("fit.html");
    let text = printed(&["fit", "--json", "--calibration", &measured("regular"), "--html", &page.to_string_lossy()]);
    let model = &json(&text)[0];
    let line = &model["activities"]["serialize"]["arrays"][0];
    assert_eq!(line[0], "int");
    assert!(line[1]["r_squared"].as_f64().expect("a number") > 0.5, "{line}");
    assert!(
        !model["activities"]["deserialize"]["features"]["fit"]["coefficients"].as_array().expect("some").is_empty()
    );
    let page = std::fs::read_to_string(page).expect("a page");
    assert!((3..=14).all(|number| page.contains(&format!("Figure {number}:"))));
    assert!(page.contains("7.528 (7.") && page.contains("Of 22 claims, "));
    assert!(["<script", "src=", "href=\"http"].iter().all(|part| !page.contains(part)));
}

#[test]
fn messages_of_a_wsdl_are_predicted() {
    let calibration = measured("regular");
    let common = ["predict", "--wsdl", WSDL, "--operation", "echoStrings", "--calibration", &calibration];
    let predict = |more: &[&str]| json(&printed(&[&common[..], &["--json"], more].concat()))[0].clone();
    let (short, long) = (predict(&["--length", "item=5"]), predict(&["--length", "item=500", "--string", "item=40"]));
    let cost = |it: &Json| it["messages"][0]["deserialize"]["cost"].as_f64().expect("a cost");
    assert!(cost(&long) > 2.0 * cost(&short), "{short} {long}");
    assert_eq!(long["messages"][0]["bytes"], 26_701);
    let table = printed(&[&common[..], &["--length", "item=5"]].concat());
    assert!(table.contains("request") && table.contains("assumed characters"), "{table}");
    assert!(table.contains("serialize to socket"), "{table}");
    let send = |it: &Json| it["messages"][0]["send"]["cost"].as_f64().expect("a cost");
    let write = |it: &Json| it["messages"][0]["serialize"]["cost"].as_f64().expect("a cost");
    assert!(send(&long) > write(&long) && send(&short) > write(&short), "the system's part comes on top: {long}");
}

/// Calibrations are not trusted: they may come from anywhere.
#[test]
fn a_calibration_puts_no_markup_into_the_page() {
    let evil = "<script>alert(1)</script>";
    let mut calibration = json(&std::fs::read_to_string(ELSEWHERE).expect("a file").replace('\n', ""))[0].clone();
    calibration["date"] = evil.into();
    for (of, name) in [("machine", "processor"), ("machine", "system"), ("toolkit", "version")] {
        calibration[of][name] = evil.into();
    }
    let folder = tempfile::tempdir().expect("a directory");
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    std::fs::write(path("evil.json"), calibration.to_string()).expect("a file");
    printed(&["fit", "--elsewhere", "--calibration", &path("evil.json"), "--html", &path("evil.html")]);
    let page = std::fs::read_to_string(path("evil.html")).expect("a page");
    assert!(!page.contains("<script") && page.matches("&lt;script").count() >= 4, "{page}");
}

#[test]
fn changes_are_predicted_in_differential_mode() {
    let calibration = measured("differential");
    let request = |changed: &str| {
        let arguments = ["predict", "--json", "--wsdl", WSDL, "--operation", "echoDoubles", "--length", "item=400"];
        let text = printed(&[&arguments[..], &["--changed", changed, "--calibration", &calibration]].concat());
        json(&text)[0]["messages"][0].clone()
    };
    let cost = |it: &Json| it["serialize"]["cost"].as_f64().expect("a cost");
    let (all, none) = (request("item=100"), request("item=0"));
    assert!(cost(&all) > cost(&none));
    let parts = all["parts"].as_array().expect("parts");
    let sum: f64 = parts.iter().map(|part| part["serialize"].as_f64().expect("a cost")).sum();
    assert!(parts.len() == 2 && (sum / cost(&all) - 1.0).abs() < 1e-6, "{all}");
    let percent = complaint(&["predict", "--wsdl", WSDL, "--changed", "item=101", "--calibration", &calibration]);
    assert!(percent.contains("from 0 to 100"), "{percent}");
}

#[test]
fn predictions_are_held_against_the_truth() {
    for (mode, more) in [("regular", &["--wsdl", WSDL][..]), ("differential", &[])] {
        let calibration = measured(mode);
        let page = folder().join(format!("{mode}.html")).to_string_lossy().into_owned();
        let arguments = ["validate", "--json", "--rounds", "1", "--calibration", &calibration, "--html", &page];
        let lines = json(&printed(&[&arguments[..], more].concat()));
        let last = lines.last().expect("a line");
        assert_eq!(last["n"].as_u64().expect("a number") as usize, lines.len() - 1);
        assert!(last["median_error"].as_f64().expect("a part") <= last["p90_error"].as_f64().expect("a part"));
        let number = |it: &Json, name: &str| it[name].as_f64().expect("a number");
        let is_within = |it: &&Json| (number(it, "predicted") - number(it, "measured")).abs() <= number(it, "margin");
        let within = lines[..lines.len() - 1].iter().filter(is_within).count() as f64;
        assert_eq!(number(last, "within"), within / number(last, "n"));
        assert!(lines.len() > 8 && Path::new(&page).exists());
        for activity in ["serialize", "send", "deserialize"] {
            assert!(lines.iter().any(|it| it["activity"] == activity), "{activity}");
        }
    }
}

#[test]
fn operations_with_changes_are_held_against_the_truth() {
    let calibration = measured("differential");
    let validate = |more: &[&str]| {
        let common = ["validate", "--json", "--rounds", "1", "--wsdl", WSDL, "--calibration", &calibration];
        json(&printed(&[&common[..], more].concat()))
    };
    let count = |lines: &[Json], what: &str| {
        lines.iter().filter(|it| it["message"].as_str().is_some_and(|message| message.contains(what))).count()
    };
    let usual = validate(&[]);
    assert!(count(&usual, "changed") > 8 && count(&usual, "request") > count(&usual, "changed") / 2, "{usual:?}");
    let half = validate(&["--changed", "50"]);
    assert_eq!(
        (count(&half, "request") + count(&half, "response"), half.len() - 1),
        (count(&half, "changed"), count(&half, "changed"))
    );
    assert!(count(&half, "5 of 10 values changed") > 0, "{half:?}");
    let regular = measured("regular");
    let refused = complaint(&["validate", "--wsdl", WSDL, "--changed", "5", "--calibration", &regular]);
    assert!(refused.contains("only for differential mode"), "{refused}");
}

#[test]
fn a_plan_answers_the_papers_questions() {
    let calibration = measured("regular");
    let common =
        ["plan", "--wsdl", WSDL, "--operation", "echoStrings", "--length", "item=50", "--calibration", &calibration];
    let plan = |more: &[&str]| json(&printed(&[&common[..], &["--json"], more].concat()))[0].clone();
    let closed = plan(&["--clients", "50", "--think", "0.5", "--service", "2"]);
    let throughput = closed["plan"]["outcome"]["throughput"].as_f64().expect("a rate");
    assert!(throughput > 50.0 && throughput <= 100.0, "{closed}");
    let questions: Vec<_> = closed["answers"].as_array().expect("answers").iter().map(|it| &it["question"]).collect();
    assert_eq!(questions.len(), 4, "{questions:?}");
    let open = plan(&["--rate", "100", "--service", "2", "--bandwidth", "100"]);
    assert_eq!(open["plan"]["outcome"]["throughput"], 100.0);
    let page = folder().join("plan.html").to_string_lossy().into_owned();
    let table = printed(&[&common[..], &["--clients", "50", "--html", &page]].concat());
    assert!(table.contains("The knee is at") && table.contains("30 % more clients"), "{table}");
    assert!(std::fs::read_to_string(&page).expect("a page").contains("Utilisation"));
}

#[test]
fn what_means_nothing_is_refused() {
    let calibration = measured("regular");
    let of = |arguments: &[&str]| complaint(&[arguments, &["--calibration", &calibration]].concat());
    let operation = ["--wsdl", WSDL, "--operation", "echoStrings"];
    let unknown = of(&[&["predict"][..], &operation, &["--length", "itm=5"]].concat());
    assert!(unknown.contains("no message has itm; there are item"), "{unknown}");
    let large = of(&[&["predict"][..], &operation, &["--string", "item=99999999999"]].concat());
    assert!(large.contains("more than 100000000 characters"), "{large}");
    let none = of(&["plan", "--wsdl", WSDL, "--clients", "5"]);
    assert!(none.contains("select an operation with --operation"), "{none}");
    let full = of(&[&["plan"][..], &operation, &["--rate", "1000000", "--service", "2"]].concat());
    assert!(full.contains("it saturates at"), "{full}");
    let clients = of(&[&["plan"][..], &operation, &["--clients", "4000000000"]].concat());
    assert!(clients.contains("at most 100000"), "{clients}");
    let cores = of(&[&["plan"][..], &operation, &["--clients", "100000", "--cores", "1000"]].concat());
    assert!(cores.contains("times that of the cores") && cores.contains("at most 10000000"), "{cores}");
    assert!(complaint(&["measure", "--engine", "nobody"]).contains("cargo xtask peers nobody"));
}

/// A calibration of another machine cannot be used here, but can be shown.
#[test]
fn a_calibration_of_another_machine_is_refused() {
    let refused = complaint(&["predict", "--wsdl", WSDL, "--calibration", ELSEWHERE]);
    assert!(refused.contains("the processor is ") && refused.contains("Some other processor in the file"), "{refused}");
    assert!(complaint(&["fit", "--calibration", ELSEWHERE]).contains("the processor is "));
    assert!(printed(&["fit", "--elsewhere", "--calibration", ELSEWHERE]).contains("Table 3"));
    let none = complaint(&["predict", "--wsdl", WSDL, "--calibration", "/nowhere.json"]);
    assert!(none.contains("`deltasoap cost measure` creates one"), "{none}");
    let format = complaint(&["fit", "--calibration", WSDL]);
    assert!(format.contains("is not a calibration"), "{format}");
}

#[test]
fn too_few_points_are_said() {
    let whole = std::fs::read_to_string(ELSEWHERE).expect("a file");
    let mut calibration: Json = serde_json::from_str(&whole).expect("JSON");
    calibration["points"].as_array_mut().expect("points").truncate(3);
    let path = folder().join("short.json");
    std::fs::write(&path, calibration.to_string()).expect("written");
    let complaint = complaint(&["fit", "--elsewhere", "--calibration", &path.to_string_lossy()]);
    assert!(complaint.contains("points are too few"), "{complaint}");
}

/// Writes the calibration of another machine, with other times.
fn with_times(name: &str, mut time: impl FnMut(&Json) -> Option<f64>, others: Option<f64>) -> String {
    let whole = std::fs::read_to_string(ELSEWHERE).expect("a file");
    let mut calibration: Json = serde_json::from_str(&whole).expect("JSON");
    for point in calibration["points"].as_array_mut().expect("points") {
        if let Some(time) = time(point) {
            point["cpu"] = vec![time].into();
        }
    }
    calibration["others"] = others.into();
    let path = folder().join(name);
    std::fs::write(&path, calibration.to_string()).expect("written");
    path.to_string_lossy().into_owned()
}

/// Times unrelated to the messages, of a machine that did something else.
#[test]
fn noise_is_refused() {
    let mut state = 1_u64;
    let noise = move |_: &Json| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some(1000.0 + (state >> 54) as f64)
    };
    let file = with_times("noise.json", noise, Some(1.5));
    for more in [&[][..], &["--json"]] {
        let output = cost(&[&["fit", "--elsewhere", "--calibration", &file], more].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{said}");
        assert!(said.contains("arrays of int (equation 1): the times are noise: "), "{said}");
        assert!(said.contains("R² is 0.") && said.contains("F is ") && said.contains("on an idle machine"), "{said}");
        assert!(said.contains("processors busy while this was measured"), "{said}");
    }
    let falling = |point: &Json| Some(1e6 - point["workload"]["array"]["length"].as_f64()? * 100.0);
    let file = with_times("falling.json", falling, None);
    let said = complaint(&["fit", "--elsewhere", "--calibration", &file]);
    assert!(said.contains("c1 is -100.0 ± ") && !said.contains("processors busy"), "{said}");
}

/// Noise is found even if the series is a small part of the measurements.
#[test]
fn noise_in_one_series_is_refused() {
    for class in ["int", "double", "text"] {
        let mut state = 1_u64;
        let noise = |point: &Json| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (point["workload"]["fields"]["class"] == class).then_some(500.0 + ((state >> 40) % 50_000) as f64)
        };
        let file = with_times("fields.json", noise, None);
        let said = complaint(&["fit", "--elsewhere", "--calibration", &file]);
        assert!(said.contains("serialize, fields of ") && said.contains(": the times are noise: "), "{said}");
    }
}

#[test]
fn a_machine_that_was_busy_is_said() {
    let file = with_times("busy.json", |_| None, Some(1e3));
    let text = printed(&["fit", "--elsewhere", "--calibration", &file]);
    assert!(text.contains("note: other programs kept 1000.00 of "), "{text}");
    let page = folder().join("busy.html");
    printed(&["fit", "--elsewhere", "--calibration", &file, "--html", &page.to_string_lossy()]);
    let html = std::fs::read_to_string(page).expect("a page");
    let warning = html.find("class=\"warning\"").expect("a warning");
    assert!(html[warning..].contains("kept 1000.00 of ") && warning < html.find("<main").expect("content"));
    let model = &json(&printed(&["fit", "--elsewhere", "--json", "--calibration", &file]))[0];
    assert_eq!(model["busy"]["others"], 1e3);
    let idle = printed(&["fit", "--elsewhere", "--calibration", ELSEWHERE]);
    assert!(!idle.contains("processors busy"), "{idle}");
    let measured = std::fs::read_to_string(measured("regular")).expect("a file");
    assert!(measured.contains("\"others\":") && !measured.contains("\"others\":null"), "what others did is measured");
}

/// Predictions from it carry the warning, too.
#[test]
fn a_calibration_that_ended_early_is_said() {
    let change = |from: &str, name: &str| {
        let mut calibration = json(&std::fs::read_to_string(from).expect("a file").replace('\n', ""))[0].clone();
        (calibration["rounds"], calibration["planned"]) = (3.into(), 12.into());
        let path = folder().join(name);
        std::fs::write(&path, calibration.to_string()).expect("written");
        path.to_string_lossy().into_owned()
    };
    let file = change(ELSEWHERE, "ended-early.json");
    let text = printed(&["fit", "--elsewhere", "--calibration", &file]);
    assert!(text.contains("note: only 3 of 12 rounds were measured"), "{text}");
    assert!(!printed(&["fit", "--elsewhere", "--calibration", ELSEWHERE]).contains("rounds were measured"));
    let file = change(&measured("regular"), "ended-early-here.json");
    let predicted = cost(&["predict", "--wsdl", WSDL, "--operation", "echoInts", "--calibration", &file]);
    let said = String::from_utf8(predicted.stderr).expect("text");
    assert!(predicted.status.success() && said.contains("only 3 of 12 rounds were measured"), "{said}");
}

#[test]
fn a_calibration_of_another_version_is_refused() {
    let mut calibration =
        json(&std::fs::read_to_string(measured("regular")).expect("a file").replace('\n', ""))[0].clone();
    calibration["toolkit"]["version"] = "0.0.1".into();
    let path = folder().join("older.json");
    std::fs::write(&path, calibration.to_string()).expect("written");
    let file = path.to_string_lossy();
    for command in [
        &["predict", "--wsdl", WSDL][..],
        &["validate"],
        &["plan", "--wsdl", WSDL, "--operation", "echoInts", "--clients", "2"],
        &["measure", "--few"],
    ] {
        let refused = complaint(&[command, &["--calibration", &file]].concat());
        assert!(refused.contains("the toolkit's version is ") && refused.contains("0.0.1 in the file"), "{refused}");
    }
}

#[test]
fn a_negative_intercept_is_explained() {
    let grows = |point: &Json| Some(point["workload"]["array"]["length"].as_f64()?.powi(2) + 1.0);
    let file = with_times("grows.json", grows, None);
    let fitted = printed(&["fit", "--elsewhere", "--calibration", &file]);
    assert!(fitted.contains("note: serialize, arrays of int (equation 1): the intercept is negative"), "{fitted}");
}

#[test]
fn a_type_without_an_end_is_said() {
    let shop = concat!(env!("CARGO_MANIFEST_DIR"), "/../deltasoap-dynamic/tests/data/shop.wsdl");
    let optional = "<xs:element name=\"category\" type=\"tns:Category\" minOccurs=\"0\" maxOccurs=\"unbounded\"/>";
    let required = "<xs:element name=\"category\" type=\"tns:Category\"/>";
    let wsdl = std::fs::read_to_string(shop).expect("a file").replace(optional, required);
    assert!(wsdl.contains(required));
    let path = folder().join("endless.wsdl");
    std::fs::write(&path, wsdl).expect("written");
    let output = cost(&["predict", "--wsdl", &path.to_string_lossy(), "--calibration", &measured("regular")]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("requires itself, so no message can contain it"), "{said}");
}
