//! `report.html`: an index by paper and exhibit, all claims, the exhibits with plots, and the rows
//! behind them.

use std::collections::BTreeMap;

use deltasoap_report::{Cell, Grid, Interval, Page, Sheet, Verdict, claim, number};
use serde_json::Value;

use super::STEP;
use super::index::{Index, PAPERS, Work, verdicts};
use crate::record::{VERDICT, kind};
use crate::suite::Environment;

/// Returns the page of a record.
pub fn html(index: &Index<'_>, environment: &Environment, lines: &[Value]) -> String {
    let mut page = Page::new("Five papers, reproduced");
    let machine = &environment.machine;
    let commit = machine.commit.as_ref().map_or_else(|| "unknown".to_owned(), ToString::to_string);
    page.paragraph(&format!(
        "deltasoap {}, commit {commit}, on {} ({} cores), {}: a {} run.",
        machine.deltasoap, machine.processor, machine.cores, machine.date, environment.scope
    ));
    environment.doubts().iter().for_each(|doubt| page.warning(doubt));
    contents(&mut page, index);
    claims(&mut page, index);
    for work in &index.works {
        exhibits(&mut page, work);
    }
    rows(&mut page, lines);
    steps(&mut page, environment);
    surroundings(&mut page, environment);
    page.finish()
}

fn contents(page: &mut Page, index: &Index<'_>) {
    page.section("Index");
    for work in &index.works {
        page.heading(&title(work));
        page.paragraph(&claim::counts(verdicts(&work.exhibits)));
        let entries: Vec<(String, String)> = work
            .exhibits
            .iter()
            .map(|exhibit| (mark(work, exhibit.name), entry(exhibit.name, &exhibit.verdicts)))
            .collect();
        page.links(entries.iter().map(|(mark, entry)| (&**mark, &**entry)));
    }
}

fn title(work: &Work) -> String {
    format!("{}: {}", work.number(), PAPERS[work.paper])
}

fn mark(work: &Work, exhibit: &str) -> String {
    format!("paper {} {exhibit}", work.number())
}

/// Returns the index entry of an exhibit, with the outcomes of its claims.
fn entry(name: &str, verdicts: &[Verdict]) -> String {
    let outcomes = claim::outcomes(verdicts);
    if outcomes.is_empty() { format!("{name} (no claims)") } else { format!("{name}: {}", outcomes.join(", ")) }
}

fn claims(page: &mut Page, index: &Index<'_>) {
    let all: Vec<Verdict> = index.verdicts().cloned().collect();
    page.section("All claims");
    page.paragraph(&claim::counts(&all));
    page.sheet(&claim::short_sheet(&all));
    let row = |verdict: &Verdict| {
        vec![verdict.claim.paper.clone(), verdict.claim.key.clone(), verdict.claim.statement.clone()]
    };
    let header = ["paper", "key", "claim"].map(str::to_owned).into();
    let keys = Grid { title: "Keys of claims".to_owned(), header, rows: all.iter().map(row).collect(), names: 3 };
    page.folded("Keys, as in index.json and results.jsonl", &[Sheet::from(&keys)]);
}

fn exhibits(page: &mut Page, work: &Work) {
    page.section(&title(work));
    for exhibit in &work.exhibits {
        page.mark(&mark(work, exhibit.name));
        page.exhibit(exhibit);
    }
}

/// Titles of the kinds of lines.
const KINDS: [(&str, &str); 8] = [
    ("point", "Messages decoded (000, 001): medians of repetitions"),
    ("count", "Counts with new values (000): means per message"),
    ("peer", "Decoding by another toolkit (000)"),
    ("sent", "Messages sent (002): medians of repetitions"),
    ("received", "Effect of stuffing on the receiver (002)"),
    ("suite", "Toolkits (003)"),
    ("calibration", "Calibrations (004): medians of repetitions"),
    ("trial", "Predictions (004)"),
];

fn rows(page: &mut Page, lines: &[Value]) {
    page.section("Rows");
    page.paragraph("The rows behind all exhibits. Each single row is in results.jsonl and results.csv.");
    for (of, title) in KINDS {
        let these: Vec<&Value> = lines.iter().filter(|line| kind(line) == of).collect();
        if !these.is_empty() {
            page.folded(title, &[Sheet::from(&merged(title, &these))]);
        }
    }
    let others: Vec<&Value> = lines.iter().filter(|line| !is_known(kind(line))).collect();
    if !others.is_empty() {
        page.folded(OTHERS, &[Sheet::from(&merged(OTHERS, &others))]);
    }
}

/// The title of rows measured by a newer or foreign program.
const OTHERS: &str = "Rows of kinds unknown to this program";

fn is_known(kind: &str) -> bool {
    [STEP, VERDICT].contains(&kind) || KINDS.iter().any(|(known, _)| *known == kind)
}

/// Fields that vary by repetition or message.
const MEASURED: [&str; 7] = ["ms", "cpu_ns", "elapsed_ns", "regular_percent", "to_regular", "futile", "memory"];
/// Fields without information for a table.
const HIDDEN: [&str; 4] = ["kind", "key", "repetition", "visits"];

/// Names and text of fields that are not measured.
type Names = Vec<(String, String)>;

/// Merges rows that differ only in measured fields.
fn merged(title: &str, lines: &[&Value]) -> Grid {
    let mut header: Vec<String> = Vec::new();
    let mut groups: BTreeMap<Names, Vec<(String, f64)>> = BTreeMap::new();
    let mut order = Vec::new();
    for line in lines {
        let (mut names, mut numbers) = (Vec::new(), Vec::new());
        for (name, value) in flat(line) {
            // `message` is a number, or a name that is worth showing.
            let is_hidden = HIDDEN.contains(&&*name) || (name == "message" && !value.is_string());
            if MEASURED.contains(&&*name) {
                numbers.extend(value.as_f64().map(|number| (name, number)));
            } else if !is_hidden {
                names.push((name, text(value)));
            }
        }
        for name in names.iter().map(|it| &it.0).chain(numbers.iter().map(|it| &it.0)) {
            if !header.contains(name) {
                header.push(name.clone());
            }
        }
        if !groups.contains_key(&names) {
            order.push(names.clone());
        }
        groups.entry(names).or_default().extend(numbers);
    }
    let cell = |names: &[(String, String)], name: &String| {
        let known = names.iter().find(|(known, _)| known == name).map(|(_, text)| text.clone());
        known.unwrap_or_else(|| measured(&groups[names], name))
    };
    let rows = order.iter().map(|names| header.iter().map(|name| cell(names, name)).collect()).collect();
    Grid { title: title.to_owned(), header, rows, names: 1 }
}

/// Returns the fields of a line; of differential statistics only those that tables show.
fn flat(line: &Value) -> Vec<(String, &Value)> {
    let fields = line.as_object().into_iter().flatten();
    let mut all = Vec::new();
    for (name, value) in fields {
        match value.as_object() {
            None if name == "counts" => {}
            None => all.push((name.clone(), value)),
            Some(inner) => {
                all.extend(
                    inner
                        .iter()
                        .filter(|(name, _)| MEASURED.contains(&&***name))
                        .map(|(name, value)| (name.clone(), value)),
                );
            }
        }
    }
    all
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Formats the median of a measured field, and the minimum and maximum of several.
fn measured(numbers: &[(String, f64)], name: &str) -> String {
    let these: Vec<f64> = numbers.iter().filter(|(known, _)| known == name).map(|(_, number)| *number).collect();
    match Interval::from_numbers(&these) {
        None => String::new(),
        Some(it) if it.low == it.high => number(it.median),
        Some(it) => format!("{} ({} to {})", number(it.median), number(it.low), number(it.high)),
    }
}

fn steps(page: &mut Page, environment: &Environment) {
    page.section("Steps");
    let row = |note: &crate::progress::StepNote| {
        let numbers = [note.seconds, note.load_before, note.load_after].map(number);
        [vec![note.step.clone(), note.date.clone()], numbers.to_vec()].concat()
    };
    let header = ["step", "date", "seconds", "load before", "load after"].map(str::to_owned).into();
    let rows = environment.steps.iter().map(row).collect();
    page.grid(&Grid {
        title: "Steps by date; the load is the average over a minute".to_owned(),
        header,
        rows,
        names: 1,
    });
}

fn surroundings(page: &mut Page, environment: &Environment) {
    page.section("Environment");
    let machine = &environment.machine;
    let pairs = [
        ("processor", machine.processor.clone()),
        ("cores", machine.cores.to_string()),
        ("memory", format!("{} MiB", machine.memory_kib / 1024)),
        ("system", machine.system.clone()),
        ("frequency governor", machine.governor.clone().unwrap_or_else(|| "unknown".to_owned())),
        ("placement", machine.placement.clone()),
        ("compiler", machine.compiler.clone()),
        ("profile", machine.profile.clone()),
    ];
    let rows = pairs.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
    let header = || ["what", "value"].map(str::to_owned).into();
    page.grid(&Grid { title: "Machine and program".to_owned(), header: header(), rows, names: 1 });
    let row = |note: &crate::suite::EngineNote| {
        let value = note.version.clone().or_else(|| note.reason.clone()).unwrap_or_default();
        vec![Cell::new(&*note.name), Cell::new(value)]
    };
    let rows = environment.engines.iter().map(row).collect();
    page.sheet(&Sheet { caption: "Toolkits".to_owned(), header: header(), rows, names: 1 });
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn repetitions_become_one_row_and_messages_one_mean() {
        let lines = [
            json!({"kind": "point", "key": "a", "repetition": 0, "n": 5, "ms": 1.0, "counts": {"memory": 7, "leaves": 3}}),
            json!({"kind": "point", "key": "b", "repetition": 1, "n": 5, "ms": 3.0, "counts": {"memory": 7, "leaves": 4}}),
            json!({"kind": "point", "key": "c", "repetition": 0, "n": 6, "ms": 9.0, "counts": null}),
        ];
        let grid = merged("rows", &lines.iter().collect::<Vec<_>>());
        assert_eq!(grid.header, ["n", "ms", "memory"]);
        assert_eq!(grid.rows[0][..3], ["5", "2.00 (1.00 to 3.00)", "7.00"]);
        assert_eq!(grid.rows[1][..3], ["6", "9.00", ""]);
    }

    #[test]
    fn rows_of_an_unknown_kind_are_shown() {
        let mut page = Page::new("rows");
        rows(
            &mut page,
            &[json!({"kind": "guess", "n": 77}), json!({"kind": "step"}), json!({"kind": "count", "n": 5})],
        );
        let html = page.finish();
        assert!(html.contains(OTHERS) && html.contains("77") && html.contains("Counts with new values"));
    }

    #[test]
    fn an_exhibit_says_how_its_claims_come_out() {
        assert_eq!(entry("Figure 1", &[]), "Figure 1 (no claims)");
    }
}
