//! Results of sending: a table for people, JSON lines for programs.

use std::io::{self, Write};

use deltasoap::engine::encode::differential::EncodeStats;
use deltasoap_report::Grid;
use serde::Serialize;

use super::json::Line;
use super::table::megabytes_per_second;
use crate::measure::Figures;
use crate::options::name;
use crate::send::{Action, Case, Mode, Outcome};

const HEADER: [&str; 13] = [
    "workload",
    "values",
    "n",
    "change",
    "chunk",
    "mode",
    "bytes",
    "runs",
    "median µs",
    "spread",
    "MB/s",
    "× regular",
    "match",
];

/// Formats outcomes, each with the name of its workload.
pub fn table(outcomes: &[(&str, Outcome)]) -> String {
    let mut table = Grid::new("", &HEADER, 6);
    for (workload, outcome) in outcomes {
        for (mode, figures) in &outcome.figures {
            table.push(cells(workload, outcome, *mode, figures));
        }
    }
    table.markdown()
}

fn cells(workload: &str, outcome: &Outcome, mode: Mode, figures: &Figures) -> Vec<String> {
    let case = &outcome.case;
    let is_judged = !matches!(mode, Mode::Regular | Mode::Floor);
    let ratio = if is_judged { format!("{:.4}", outcome.ratio(mode, Mode::Regular)) } else { String::new() };
    vec![
        workload.to_owned(),
        name(case.values),
        case.n.to_string(),
        change(case),
        case.chunk.to_string(),
        mode.name().to_owned(),
        figures.bytes.to_string(),
        figures.runs.to_string(),
        format!("{:.2}", figures.ns_median as f64 / 1e3),
        format!("{:.1} %", figures.spread * 100.0),
        format!("{:.0}", megabytes_per_second(figures)),
        ratio,
        figures.templates.as_ref().map_or_else(String::new, kinds),
    ]
}

/// Describes the change between two messages briefly.
pub fn change(case: &Case) -> String {
    let share = format!("{} % in {}", case.percent, case.partitions);
    match case.action {
        Action::ContentMatch => "none".to_owned(),
        Action::First => "first".to_owned(),
        Action::Shared => "first, shared".to_owned(),
        Action::Structural => share,
        Action::Overlaid => format!("overlaid, {share}"),
        Action::Redrawn { field } => format!("redrawn, {share}, in {}", field.name()),
        Action::Rewritten => format!("longest, {share}"),
        Action::Shift { width } => format!("{width} to longest, {share}"),
        Action::Stuffed { width, over, field } => format!("{width} over {over} in {}", field.name()),
    }
}

/// Formats the kinds of matches that occurred.
fn kinds(stats: &EncodeStats) -> String {
    let counts =
        [(stats.content, "content"), (stats.perfect, "perfect"), (stats.partial, "partial"), (stats.first, "first")];
    let found: Vec<&str> = counts.iter().filter(|(count, _)| *count > 0).map(|(_, name)| *name).collect();
    found.join(", ")
}

/// Keys in output order.
#[derive(Serialize)]
struct SendLine<'a> {
    #[serde(flatten)]
    line: Line<'a>,
    values: String,
    change: String,
    changed: u32,
    partitions: usize,
    chunk: usize,
    socket: bool,
    spread: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    templates: Option<TemplateLine>,
}

/// Statistics of templates, averaged per message.
#[derive(Serialize)]
struct TemplateLine {
    ratio_regular: f64,
    content: f64,
    perfect: f64,
    partial: f64,
    first: f64,
    written_bytes: f64,
    moved_bytes: f64,
    leaves: f64,
    shifts: f64,
    steals: f64,
    tag_moves: f64,
    shared_chunks: f64,
}

/// Prints a line for each mode of an outcome.
///
/// # Errors
/// When standard output cannot be written to.
pub fn print_json(workload: &str, outcome: &Outcome, is_sent: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for (mode, figures) in &outcome.figures {
        writeln!(out, "{}", serde_json::to_string(&line(workload, outcome, *mode, figures, is_sent))?)?;
    }
    out.flush()
}

fn line<'a>(workload: &'a str, outcome: &Outcome, mode: Mode, figures: &Figures, socket: bool) -> SendLine<'a> {
    let case = &outcome.case;
    SendLine {
        line: Line::new(workload, "deltasoap", mode.name(), case.n, figures),
        values: name(case.values),
        change: change(case),
        changed: case.percent,
        partitions: case.partitions,
        chunk: case.chunk,
        socket,
        spread: figures.spread,
        templates: figures.templates.as_ref().map(|stats| templates(stats, outcome.ratio(mode, Mode::Regular))),
    }
}

fn templates(stats: &EncodeStats, ratio_regular: f64) -> TemplateLine {
    let each = |count: u64| count as f64 / stats.messages.max(1) as f64;
    TemplateLine {
        ratio_regular,
        content: each(stats.content),
        perfect: each(stats.perfect),
        partial: each(stats.partial),
        first: each(stats.first),
        written_bytes: each(stats.written),
        moved_bytes: each(stats.moved),
        leaves: each(stats.leaves),
        shifts: each(stats.shifts),
        steals: each(stats.steals),
        tag_moves: each(stats.tag_moves),
        shared_chunks: each(stats.shared),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Interval;
    use crate::workload::Values;

    fn outcome() -> Outcome {
        let mut stats = EncodeStats::default();
        (stats.messages, stats.perfect, stats.leaves) = (10, 10, 50);
        let figures = |ns_median, templates| Figures {
            bytes: 2000,
            runs: 15,
            ns_min: 900,
            ns_median,
            spread: 0.015,
            interval: Interval::default(),
            peak_bytes: 1025,
            differential: None,
            templates,
        };
        Outcome {
            case: Case::new(Action::Structural, Values::Hard, 10).changed(25),
            figures: vec![(Mode::Compared, figures(2000, Some(stats))), (Mode::Regular, figures(8000, None))],
        }
    }

    #[test]
    fn ratios_and_matches_are_shown() {
        let table = table(&[("send-structural", outcome())]);
        let line = |index: usize| table.lines().nth(index).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        let common = "| send-structural | hard | 10 | 25 % in 1 | 32768 |";
        assert_eq!(line(2), format!("{common} compared | 2000 | 15 | 2.00 | 1.5 % | 1000 | 0.2500 | perfect |"));
        assert_eq!(line(3), format!("{common} regular | 2000 | 15 | 8.00 | 1.5 % | 250 | | |"));
    }

    #[test]
    fn a_line_says_what_was_sent_and_what_a_template_did() {
        let outcome = outcome();
        let json = |index: usize| {
            let (mode, figures) = &outcome.figures[index];
            serde_json::to_value(line("send-structural", &outcome, *mode, figures, true)).unwrap()
        };
        let compared = json(0);
        assert_eq!((&compared["mode"], &compared["values"]), (&"compared".into(), &"hard".into()));
        assert_eq!((&compared["socket"], &compared["templates"]["leaves"]), (&true.into(), &5.0.into()));
        assert_eq!(compared["templates"]["ratio_regular"], 0.25);
        assert_eq!(json(1).get("templates"), None);
    }
}
