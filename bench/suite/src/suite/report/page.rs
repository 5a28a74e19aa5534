//! The report as HTML: tables that scroll on a narrow screen, plots that turn dark with the reader's choice, nothing from elsewhere.

use std::fmt::Write;

use anyhow::Result;

use super::losses::Losses;
use super::sheet::{Cell, Mark, Sheet, number};
use super::standings::{Standing, standings};
use super::{Data, exhibits, tables};
use crate::paper::exhibit::{Chart, Exhibit, Verdict, verdict_grid};
use crate::paper::plot;
use crate::suite::row::{Layer, Part};

const STYLE: &str = include_str!("style.css");
const BENCHMARKS: &str = include_str!("../../../../../BENCHMARKS.md");

/// Writes the page.
///
/// # Errors
/// When a plot cannot be drawn.
pub fn html(data: &Data<'_>, losses: &Losses) -> Result<String> {
    let standings = standings(data);
    let mut page = Page::default();
    page.begin();
    page.summary(data, &standings);
    page.lost(&standings, losses);
    page.exhibits(&exhibits::exhibits(data)?)?;
    page.details(data, &standings);
    page.bias();
    page.environment(data);
    Ok(page.end())
}

#[derive(Default)]
struct Page {
    text: String,
}

/// Sections, by their anchors.
const SECTIONS: [(&str, &str); 10] = [
    ("summary", "Summary"),
    ("lost", "Rows that we lose"),
    ("paper", "The paper's tables and figures"),
    ("rows", "Who wins"),
    ("process", "From memory to memory"),
    ("calls", "Calls"),
    ("load", "Load"),
    ("ablation", "gzip, TLS, differential work"),
    ("bias", "Bias"),
    ("environment", "Environment"),
];

impl Page {
    fn begin(&mut self) {
        let links: String =
            SECTIONS.iter().map(|(id, title)| format!("<li><a href=\"#{id}\">{title}</a></li>")).collect();
        self.add(&format!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><meta name=\"color-scheme\" content=\"light dark\">\
             <title>SOAP toolkits, measured</title><link rel=\"icon\" href=\"data:,\"><style>{STYLE}</style></head><body>\
             <a class=\"skip\" href=\"#summary\">To the summary</a><header><h1>SOAP toolkits, measured</h1>\
             <nav aria-label=\"Sections\"><ul>{links}</ul></nav></header><main>"
        ));
    }

    fn end(mut self) -> String {
        self.add("</main></body></html>\n");
        self.text
    }

    fn add(&mut self, html: &str) {
        self.text.push_str(html);
    }

    fn heading(&mut self, id: &str) {
        let title = SECTIONS.iter().find(|(known, _)| *known == id).map_or(id, |(_, title)| title);
        self.add(&format!("<h2 id=\"{id}\">{title}</h2>"));
    }

    fn paragraph(&mut self, text: &str) {
        self.add(&format!("<p>{}</p>", escape(text)));
    }

    fn sheets(&mut self, sheets: &[Sheet]) {
        sheets.iter().for_each(|sheet| self.add(&sheet.html()));
    }

    fn summary(&mut self, data: &Data<'_>, standings: &[Standing]) {
        self.heading("summary");
        let machine = &data.environment.machine;
        self.paragraph(&format!(
            "deltasoap {} in regular mode beside other toolkits, each as itself, on {} ({} cores), {}. This is a {} record.",
            machine.deltasoap, machine.processor, machine.cores, machine.date, data.environment.scope
        ));
        if let Some(warning) = &data.environment.warning {
            self.add(&format!("<p class=\"warning\">{}</p>", escape(warning)));
        }
        for (part, what) in [(Part::Process, "from memory to memory"), (Part::Calls, "calls"), (Part::Load, "load")] {
            self.paragraph(&counted(standings, part, what));
        }
        let goals = exhibits::goals(data);
        if !goals.is_empty() {
            self.add(&goals_sheet(&goals).html());
        }
    }

    fn verdicts(&mut self, verdicts: &[Verdict]) {
        self.add(&Sheet::from(&verdict_grid(verdicts)).html());
    }

    fn lost(&mut self, standings: &[Standing], losses: &Losses) {
        self.heading("lost");
        let lost: Vec<_> = standings.iter().filter(|standing| standing.is_lost()).collect();
        if lost.is_empty() {
            self.paragraph("None in this record.");
            return;
        }
        self.paragraph(&format!(
            "{} of {} rows. The number says how many times as good ours is.",
            lost.len(),
            standings.len()
        ));
        let cells = |standing: &&Standing| {
            let why = losses.why(&standing.row, &standing.best.engine).unwrap_or(UNEXPLAINED);
            vec![
                Cell::new(&*standing.row),
                Cell::new(format!("{}{}", standing.best.engine, layer_note(standing.best.layer))),
                Cell { text: number(standing.factor()), mark: Mark::Lost },
                Cell::new(why),
            ]
        };
        let header = ["row", "to whom", "times as good", "why"].map(str::to_owned).into();
        let rows = lost.iter().map(cells).collect();
        self.add(&Sheet { caption: "rows that are lost".to_owned(), header, rows, names: 1 }.html());
    }

    fn exhibits(&mut self, exhibits: &[Exhibit]) -> Result<()> {
        self.heading("paper");
        if let Some(first) = exhibits.first() {
            self.paragraph(&format!(
                "{}. The paper's numbers are from its tables, text and captions; its machines were of 2004. Curves of ours are drawn from the rows below.",
                first.paper
            ));
        }
        exhibits.iter().try_for_each(|exhibit| self.exhibit(exhibit))
    }

    fn exhibit(&mut self, exhibit: &Exhibit) -> Result<()> {
        self.add(&format!("<section><h3>{}</h3>", exhibit.name));
        self.paragraph(&exhibit.caption);
        exhibit.charts.iter().try_for_each(|chart| self.chart(chart))?;
        exhibit.grids.iter().for_each(|grid| self.add(&Sheet::from(grid).html()));
        if !exhibit.verdicts.is_empty() {
            self.verdicts(&exhibit.verdicts);
        }
        self.add("</section>");
        Ok(())
    }

    /// A plot. Who cannot see it is told that the table below has its numbers.
    fn chart(&mut self, chart: &Chart) -> Result<()> {
        let names: Vec<_> = chart.series.iter().map(|(name, _)| name.as_str()).collect();
        let label = format!("{}: {}. The numbers are in the table below.", chart.title, names.join(", "));
        let svg = plot::svg(chart)?.replacen("<svg ", "<svg aria-hidden=\"true\" ", 1);
        self.add(&format!(
            "<figure class=\"scroll plot\" role=\"img\" tabindex=\"0\" aria-label=\"{}\">{svg}</figure>",
            escape(&label)
        ));
        Ok(())
    }

    fn details(&mut self, data: &Data<'_>, standings: &[Standing]) {
        self.heading("rows");
        self.folded("all rows", &[tables::wins(standings)]);
        self.heading("process");
        self.paragraph("Milliseconds of a message. A star marks the best; what memory allows is no contestant.");
        for sheet in tables::times(data, Part::Process) {
            self.folded(&sheet.caption.clone(), &[sheet]);
        }
        self.folded("memory", &[tables::memory(data)]);
        self.heading("calls");
        self.paragraph(
            "Milliseconds of a call of each toolkit's client to its own server, over loopback, connections kept alive.",
        );
        for sheet in tables::times(data, Part::Calls) {
            self.folded(&sheet.caption.clone(), &[sheet]);
        }
        self.heading("load");
        self.sheets(&tables::loads(data));
        self.heading("ablation");
        self.sheets(&[tables::transports(data)]);
        self.sheets(&tables::ablations(data));
    }

    /// Tables that are shown when they are asked for.
    fn folded(&mut self, title: &str, sheets: &[Sheet]) {
        self.add(&format!("<details><summary>{}</summary>", escape(title)));
        self.sheets(sheets);
        self.add("</details>");
    }

    fn bias(&mut self) {
        self.heading("bias");
        let items: String = bias(BENCHMARKS).iter().map(|item| format!("<li>{}</li>", escape(item))).collect();
        self.add(&format!("<ul>{items}</ul>"));
    }

    fn environment(&mut self, data: &Data<'_>) {
        self.heading("environment");
        let machine = &data.environment.machine;
        let pairs = [
            ("processor", machine.processor.clone()),
            ("cores", machine.cores.to_string()),
            ("memory", format!("{} MiB", machine.memory_kib / 1024)),
            ("system", machine.system.clone()),
            ("what ran where", machine.placement.clone()),
            ("load when it began", machine.load.to_string()),
            ("date", machine.date.clone()),
            ("compiler", machine.compiler.clone()),
        ];
        let rows = pairs.into_iter().map(|(name, value)| vec![Cell::new(name), Cell::new(value)]).collect();
        let header = ["what", "value"].map(str::to_owned).into();
        self.add(&Sheet { caption: "machine".to_owned(), header, rows, names: 1 }.html());
        self.sheets(&[tables::engines(data)]);
    }
}

fn goals_sheet(goals: &[Verdict]) -> Sheet {
    let cells = |goal: &Verdict| {
        let reached = if goal.agrees { "yes" } else { "no" };
        vec![Cell::new(&*goal.claim), Cell::number(goal.ours), Cell::new(&*goal.rule), Cell::new(reached)]
    };
    Sheet {
        caption: "goals of this project, for 100,000 items".to_owned(),
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
    // Writing to a string does not fail.
    let _ = write!(text, "{what}: first in {} of {} rows", won.len(), won.len() + lost.len());
    if let (Some(low), Some(high)) = (least(&factors), most(&factors)) {
        let _ = write!(text, ", by factors of {} to {}", number(low), number(high));
    }
    text + "."
}

fn least(numbers: &[f64]) -> Option<f64> {
    numbers.iter().copied().reduce(f64::min)
}

fn most(numbers: &[f64]) -> Option<f64> {
    numbers.iter().copied().reduce(f64::max)
}

/// The items of the section on bias in a Markdown text, without its marks.
fn bias(markdown: &str) -> Vec<String> {
    let section = markdown.split("\n## Bias\n").nth(1).unwrap_or_default();
    let section = section.split("\n## ").next().unwrap_or_default();
    let items = section.split("\n- ").skip(1);
    items.map(|item| item.split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "")).collect()
}

/// Text for HTML, also for attributes in double quotes.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
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
        assert_eq!(counted(&[], Part::Calls, "calls"), "calls: first in 0 of 0 rows.");
    }
}
