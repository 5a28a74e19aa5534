//! The report as self-contained HTML: tables that scroll on narrow screens, plots that follow the
//! reader's light or dark setting.

use std::fmt::Write;

use anyhow::Result;
use deltasoap_report::{Cell, Emphasis, Exhibit, Page, Sheet, Verdict, claim, number};

use super::losses::Losses;
use super::standings::{Standing, standings};
use super::{Data, exhibits, tables};
use crate::suite::row::{Layer, Part};

/// The page of results, whose section on bias is part of each report.
const BENCHMARKS: &str = include_str!("../../../../../BENCHMARKS.md");

/// Returns the page.
///
/// # Errors
/// When a file of `bench/papers` is malformed.
pub fn html(data: &Data<'_>, losses: &Losses) -> Result<String> {
    let standings = standings(data);
    let exhibits = exhibits::exhibits(data)?;
    let mut page = Page::new("SOAP toolkits, measured");
    summary(&mut page, data, &standings);
    lost(&mut page, &standings, losses);
    paper(&mut page, &exhibits);
    details(&mut page, data, &standings);
    page.section("Bias");
    page.list(bias(BENCHMARKS).iter().map(String::as_str));
    environment(&mut page, data);
    Ok(page.finish())
}

fn summary(page: &mut Page, data: &Data<'_>, standings: &[Standing]) {
    page.section("Summary");
    let machine = &data.environment.machine;
    page.paragraph(&format!(
        "deltasoap {} in regular mode compared with other toolkits, on {} ({} cores), {}. This is a {} record.",
        machine.deltasoap, machine.processor, machine.cores, machine.date, data.environment.scope
    ));
    data.environment.doubts().iter().for_each(|doubt| page.warning(doubt));
    for (part, what) in [(Part::Process, "From memory to memory"), (Part::Calls, "Calls"), (Part::Load, "Load")] {
        page.paragraph(&counted(standings, part, what));
    }
    let goals = exhibits::goals(data);
    if !goals.is_empty() {
        page.sheet(&goals_sheet(&goals));
    }
}

fn lost(page: &mut Page, standings: &[Standing], losses: &Losses) {
    page.section("Rows that we lose");
    let lost: Vec<_> = standings.iter().filter(|standing| standing.is_lost()).collect();
    if lost.is_empty() {
        page.paragraph("None in this record.");
        return;
    }
    let (count, all) = (lost.len(), standings.len());
    page.paragraph(&format!("{count} of {all} rows. The number says how many times as good our result is: below 1, another toolkit is better."));
    let cells = |standing: &&Standing| {
        let why = losses.why(&standing.row, &standing.best.engine).unwrap_or(UNEXPLAINED);
        vec![
            Cell::new(&*standing.row),
            Cell::new(format!("{}{}", standing.best.engine, layer_note(standing.best.layer))),
            Cell { text: number(standing.factor()), mark: Emphasis::Lost },
            Cell::new(why),
        ]
    };
    let header = ["row", "lost to", "times as good", "why"].map(str::to_owned).into();
    let rows = lost.iter().map(cells).collect();
    page.sheet(&Sheet { caption: "Rows that we lose".to_owned(), header, rows, names: 1 });
}

fn paper(page: &mut Page, exhibits: &[Exhibit]) {
    page.section("The paper's tables and figures");
    let verdicts: Vec<Verdict> = exhibits.iter().flat_map(|exhibit| exhibit.verdicts.clone()).collect();
    if let Some(first) = exhibits.first() {
        page.paragraph(&format!(
            "{}. The paper's numbers are from its tables, text and captions; its machines were of 2004. Curves of ours are drawn from the rows below.",
            first.paper
        ));
        page.paragraph(&claim::counts(&verdicts));
    }
    exhibits.iter().for_each(|exhibit| page.exhibit(exhibit));
}

fn details(page: &mut Page, data: &Data<'_>, standings: &[Standing]) {
    page.section("Who wins");
    page.folded("All rows", &[tables::wins(standings)]);
    page.section("From memory to memory");
    page.paragraph("Milliseconds of a message. A star marks the best; the memory floors do not compete.");
    for sheet in tables::times(data, Part::Process) {
        page.folded(&sheet.caption.clone(), &[sheet]);
    }
    page.folded("Memory", &[tables::memory(data)]);
    page.section("Calls");
    page.paragraph(
        "Milliseconds of a call of each toolkit's client to its own server, over loopback, connections kept alive.",
    );
    for sheet in tables::times(data, Part::Calls) {
        page.folded(&sheet.caption.clone(), &[sheet]);
    }
    page.section("Load");
    tables::loads(data).iter().for_each(|sheet| page.sheet(sheet));
    page.section("gzip, TLS, differential work");
    page.sheet(&tables::transports(data));
    tables::ablations(data).iter().for_each(|sheet| page.sheet(sheet));
}

fn environment(page: &mut Page, data: &Data<'_>) {
    page.section("Environment");
    let machine = &data.environment.machine;
    let pairs = [
        ("processor", machine.processor.clone()),
        ("cores", machine.cores.to_string()),
        ("memory", format!("{} MiB", machine.memory_kib / 1024)),
        ("system", machine.system.clone()),
        ("placement", machine.placement.clone()),
        ("load at the start", machine.load.to_string()),
        ("date", machine.date.clone()),
        ("compiler", machine.compiler.clone()),
    ];
    let rows = pairs.into_iter().map(|(name, value)| vec![Cell::new(name), Cell::new(value)]).collect();
    let header = ["what", "value"].map(str::to_owned).into();
    page.sheet(&Sheet { caption: "Machine".to_owned(), header, rows, names: 1 });
    page.sheet(&tables::engines(data));
}

fn goals_sheet(goals: &[exhibits::Goal]) -> Sheet {
    let cells = |goal: &exhibits::Goal| {
        let reached = if goal.ours >= goal.minimum { "yes" } else { "no" };
        let minimum = format!("at least {}", goal.minimum);
        vec![Cell::new(&*goal.what), Cell::number(goal.ours), Cell::new(minimum), Cell::new(reached)]
    };
    Sheet {
        caption: "Goals of this project, for 100,000 items".to_owned(),
        header: ["what", "here", "goal", "reached"].map(str::to_owned).into(),
        rows: goals.iter().map(cells).collect(),
        names: 1,
    }
}

const UNEXPLAINED: &str = "not explained";

fn layer_note(layer: Layer) -> &'static str {
    if layer == Layer::Xml { " (XML alone)" } else { "" }
}

fn counted(standings: &[Standing], part: Part, what: &str) -> String {
    let all = standings.iter().filter(|standing| standing.part == part);
    let (lost, won): (Vec<_>, Vec<_>) = all.partition(|standing| standing.is_lost());
    let factors: Vec<f64> = won.iter().map(|standing| standing.factor()).collect();
    let mut text = String::new();
    // Writing to a string never fails.
    let _ = write!(text, "{what}: first in {} of {} rows", won.len(), won.len() + lost.len());
    if let (Some(low), Some(high)) = (minimum(&factors), maximum(&factors)) {
        let _ = write!(text, ", by factors of {} to {}", number(low), number(high));
    }
    text + "."
}

fn minimum(numbers: &[f64]) -> Option<f64> {
    numbers.iter().copied().reduce(f64::min)
}

fn maximum(numbers: &[f64]) -> Option<f64> {
    numbers.iter().copied().reduce(f64::max)
}

/// Returns the items of the section on bias in a Markdown text, as plain text.
fn bias(markdown: &str) -> Vec<String> {
    let section = markdown.split("\n## Bias\n").nth(1).unwrap_or_default();
    let section = section.split("\n## ").next().unwrap_or_default();
    let items = section.split("\n- ").skip(1);
    items.map(|item| item.split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bias_is_that_of_the_documentation() {
        let items = bias(BENCHMARKS);
        assert!(items.len() > 5 && items[0].starts_with("We wrote both"), "{items:?}");
        assert!(items.iter().all(|item| !item.contains(['\n', '`'])));
        assert_eq!(bias("x\n## Bias\n\nWhat:\n\n- a `b`\n  c\n- d\n\n## Next\n\n- e"), ["a b c", "d"]);
    }

    #[test]
    fn rows_are_counted() {
        assert_eq!(counted(&[], Part::Calls, "Calls"), "Calls: first in 0 of 0 rows.");
    }
}
