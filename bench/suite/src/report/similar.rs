//! Streams of similar messages: a table for people, JSON lines for programs.

use std::io::{self, Write};

use deltasoap::engine::DifferentialStats;
use deltasoap_report::Grid;
use serde::{Deserialize, Serialize};

use super::json::Line;
use super::table::megabytes_per_second;
use crate::measure::Figures;
use crate::options::{DifferentialArguments, name};
use crate::similar::{MODES, Mode, Outcome};

const HEADER: [&str; 14] = [
    "workload",
    "n",
    "changed",
    "parts",
    "mode",
    "bytes",
    "runs",
    "median µs",
    "spread",
    "MB/s",
    "× regular",
    "× floor",
    "fast",
    "switches",
];

/// Formats outcomes, each with the name of its workload.
pub fn table(outcomes: &[(&str, Outcome)]) -> String {
    let mut table = Grid::new("", &HEADER, 5);
    for (workload, outcome) in outcomes {
        for mode in MODES {
            table.push(cells(workload, outcome, mode));
        }
    }
    format!("{}{}", table.markdown(), memory_notes(outcomes))
}

fn cells(workload: &str, outcome: &Outcome, mode: Mode) -> Vec<String> {
    let (figures, recipe) = (outcome.of(mode), outcome.recipe);
    let ratio = |reference: Mode| {
        let ratio = figures.ns_median as f64 / outcome.of(reference).ns_median.max(1) as f64;
        if mode == reference || mode == Mode::Floor { String::new() } else { format!("{ratio:.3}") }
    };
    let counted = |show: fn(&Counts) -> String| Counts::of(figures).as_ref().map_or_else(String::new, show);
    vec![
        workload.to_owned(),
        if recipe.kind.has_sizes() { recipe.n.to_string() } else { String::new() },
        if recipe.kind.is_array() { format!("{} %", recipe.percent) } else { String::new() },
        if recipe.kind.is_array() { recipe.partitions.to_string() } else { String::new() },
        mode.name().to_owned(),
        figures.bytes.to_string(),
        figures.runs.to_string(),
        format!("{:.1}", figures.ns_median as f64 / 1e3),
        format!("{:.1} %", figures.spread * 100.0),
        format!("{:.0}", megabytes_per_second(figures)),
        ratio(Mode::Regular),
        ratio(Mode::Floor),
        counted(|counts| format!("{:.1} %", counts.fast_share() * 100.0)),
        counted(|counts| format!("{:.1}", counts.to_regular + counts.to_fast)),
    ]
}

/// Formats the memory that streams hold between messages.
fn memory_notes(outcomes: &[(&str, Outcome)]) -> String {
    let note = |(workload, outcome): &(&str, Outcome)| {
        let held = Counts::of(outcome.of(Mode::Differential))?.memory;
        Some(format!("\n{workload}, n = {}: {held} bytes are kept for the next message", outcome.recipe.n))
    };
    let mut notes: Vec<String> = outcomes.iter().filter_map(note).collect();
    notes.dedup();
    notes.concat()
}

/// Statistics of differential decoding, averaged per message.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub struct Counts {
    /// Bytes skipped.
    pub fast_bytes: f64,
    /// Bytes read.
    pub regular_bytes: f64,
    /// Switches from fast to regular mode, after something was skipped.
    pub to_regular: f64,
    /// Attempts at fast mode that skipped nothing.
    pub futile: f64,
    /// Switches from regular to fast mode.
    pub to_fast: f64,
    /// Checkpoints created.
    pub checkpoints: f64,
    /// Leaves or flat items read in place.
    pub leaves: f64,
    /// Elements found to be inserted or removed.
    pub shifted: f64,
    /// Bytes held for the next message, without values; not an average.
    pub memory: u64,
}

impl Counts {
    /// Returns the statistics of a session; `None` if it only decodes in regular mode.
    pub fn of(figures: &Figures) -> Option<Self> {
        figures.differential.as_ref().map(Counts::per_message)
    }

    /// Averages statistics per message.
    pub fn per_message(counted: &DifferentialStats) -> Self {
        let each = |count: u64| count as f64 / counted.messages.max(1) as f64;
        Counts {
            fast_bytes: each(counted.fast_bytes),
            regular_bytes: each(counted.regular_bytes),
            to_regular: each(counted.to_regular),
            futile: each(counted.futile),
            to_fast: each(counted.to_fast),
            checkpoints: each(counted.checkpoints),
            leaves: each(counted.leaves),
            shifted: each(counted.shifted),
            memory: counted.memory,
        }
    }

    /// Returns the fraction of bytes that were skipped.
    pub fn fast_share(&self) -> f64 {
        self.fast_bytes / (self.fast_bytes + self.regular_bytes).max(1.0)
    }
}

/// Keys in output order.
#[derive(Serialize)]
struct StreamLine<'a> {
    #[serde(flatten)]
    line: Line<'a>,
    messages: usize,
    changed: u32,
    partitions: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    differential: Option<DifferentialLine>,
}

#[derive(Serialize)]
struct DifferentialLine {
    policy: String,
    matcher: String,
    portion: u32,
    ratio_regular: f64,
    ratio_floor: f64,
    #[serde(flatten)]
    counts: Counts,
}

/// Prints a line for each mode of an outcome.
///
/// # Errors
/// When standard output cannot be written to.
pub fn print_json(workload: &str, outcome: &Outcome, options: &DifferentialArguments) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for mode in MODES {
        writeln!(out, "{}", serde_json::to_string(&line(workload, outcome, options, mode))?)?;
    }
    out.flush()
}

fn line<'a>(workload: &'a str, outcome: &Outcome, options: &DifferentialArguments, mode: Mode) -> StreamLine<'a> {
    let (figures, recipe) = (outcome.of(mode), outcome.recipe);
    StreamLine {
        line: Line::new(workload, "deltasoap", mode.name(), recipe.n, figures),
        messages: outcome.messages,
        changed: recipe.percent,
        partitions: recipe.partitions,
        differential: Counts::of(figures).map(|counts| DifferentialLine {
            policy: name(options.checkpoints),
            matcher: name(options.matcher),
            portion: options.portion.get(),
            ratio_regular: outcome.ratio_to(Mode::Regular),
            ratio_floor: outcome.ratio_to(Mode::Floor),
            counts,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Interval;
    use crate::stream::{Kind, Recipe};
    use deltasoap::engine::DifferentialStats;

    fn outcome() -> Outcome {
        let figures = |ns_median, differential| Figures {
            bytes: 2000,
            runs: 15,
            ns_min: 900,
            ns_median,
            spread: 0.015,
            interval: Interval::default(),
            peak_bytes: 1025,
            differential,
            templates: None,
        };
        let counted = DifferentialStats {
            messages: 10,
            fast_bytes: 15_000,
            regular_bytes: 5000,
            to_regular: 20,
            to_fast: 10,
            memory: 77,
            ..DifferentialStats::default()
        };
        let recipe = Recipe { kind: Kind::Hard, n: 10, percent: 25, partitions: 2 };
        Outcome {
            recipe,
            messages: 16,
            figures: [figures(2000, Some(counted)), figures(8000, None), figures(500, None)],
        }
    }

    #[test]
    fn ratios_shares_and_switches_are_shown() {
        let table = table(&[("decode-similar-hard", outcome())]);
        let line = |index: usize| table.lines().nth(index).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        let common = "| decode-similar-hard | 10 | 25 % | 2 |";
        assert_eq!(
            line(2),
            format!("{common} differential | 2000 | 15 | 2.0 | 1.5 % | 1000 | 0.250 | 4.000 | 75.0 % | 3.0 |")
        );
        assert_eq!(line(3), format!("{common} regular | 2000 | 15 | 8.0 | 1.5 % | 250 | | 16.000 | | |"));
        assert_eq!(line(4), format!("{common} floor-compare | 2000 | 15 | 0.5 | 1.5 % | 4000 | | | | |"));
        assert!(line(5).ends_with("n = 10: 77 bytes are kept for the next message"));
    }

    #[test]
    fn a_line_says_how_and_what_came_out() {
        use clap::{Args, Command, FromArgMatches};
        let command = DifferentialArguments::augment_args(Command::new("test"));
        let options = DifferentialArguments::from_arg_matches(&command.get_matches_from(["test"])).unwrap();
        let json = |mode| serde_json::to_value(line("w", &outcome(), &options, mode)).unwrap();
        let differential = json(Mode::Differential);
        assert_eq!((&differential["mode"], &differential["changed"]), (&"differential".into(), &25.into()));
        assert_eq!(differential["differential"]["policy"], "leaf");
        assert_eq!(differential["differential"]["ratio_regular"], 0.25);
        assert_eq!(differential["differential"]["to_fast"], 1.0);
        let regular = json(Mode::Regular);
        assert_eq!((regular["mode"].as_str(), regular.get("differential")), (Some("regular"), None));
    }
}
