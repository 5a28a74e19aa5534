//! The output of a replay: a row for each operation, and everything that was not an operation's
//! message.

use super::play::{DeviationCount, Difference, Play, Tally};
use super::types::Types;
use crate::figures::{Saving, fast_share, median_time, megabytes_per_second};
use crate::output::{print_line, report};
use anyhow::Result;
use deltasoap_archive::Skipped;
use deltasoap_cost::measure::BackgroundLoad;
use deltasoap_report::Grid;
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

/// The results of a replay.
pub struct Report {
    pub rows: Vec<Row>,
    /// The sum of all operations.
    total: Option<Row>,
    /// The first play: everything but the times is equal in all plays.
    play: Play,
    /// Files whose names are not those of message files.
    others: Skipped,
    /// The load of other programs, if it makes the times doubtful.
    pub busy: Option<BackgroundLoad>,
}

/// Measurements of the messages of one operation. Times are decode times, medians of all plays.
#[derive(Debug, Serialize, PartialEq)]
pub struct Row {
    /// The body's element.
    pub operation: String,
    /// Number of directories with such messages.
    pub streams: u64,
    pub messages: u64,
    /// Total size of the messages.
    pub bytes: u64,
    pub regular_seconds: f64,
    pub regular_mb_per_second: f64,
    /// What only a comparison of both ways shows.
    #[serde(flatten)]
    pub differential: Option<Gain>,
}

/// The gain of differential decoding. Shares are from 0 to 1, of the bytes in the operations'
/// elements.
#[derive(Debug, Serialize, PartialEq)]
pub struct Gain {
    /// Share of the bytes that equal those of the previous message.
    pub similarity: f64,
    /// Share of the bytes that were skipped.
    pub fast_share: f64,
    pub differential_seconds: f64,
    pub differential_mb_per_second: f64,
    /// Negative if time was lost; `None` if the difference may be chance.
    pub saved_seconds: Option<f64>,
    /// Relative to the time of regular mode.
    #[serde(flatten)]
    pub saving: Saving,
    /// Maximum number of bytes that each stream held beyond its values, summed over the streams.
    pub memory_bytes: u64,
    /// Number of messages that began in fast mode.
    pub compared: u64,
    pub to_regular: u64,
    pub to_fast: u64,
    pub checkpoints: u64,
    pub leaves: u64,
    pub shifted: u64,
}

/// A line of JSON.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Line<'a> {
    Operation {
        #[serde(flatten)]
        row: &'a Row,
        /// The load of other programs, if it makes the times doubtful.
        busy: Option<BackgroundLoad>,
    },
    /// Messages of an unknown type.
    Unknown { element: &'a str, messages: u64 },
    /// A deviation that was accepted beyond the schema, and the first message that has it.
    Deviation { what: &'a str, count: u64, messages: u64, file: &'a Path },
    /// A message that was refused.
    Fault { file: &'a Path, line: usize, column: usize, offset: u64, error: String },
    /// A message that the two ways decoded differently.
    Difference { file: &'a Path, what: &'a str },
    /// A file without a message.
    Skipped { file: &'a Path, reason: &'a str },
}

impl Report {
    /// Creates the report of one or more plays of the same streams.
    pub fn new(types: &Types, plays: Vec<Play>, others: Skipped, busy: Option<BackgroundLoad>) -> Self {
        let kinds: Vec<usize> = plays.first().map(|play| play.tallies.keys().copied().collect()).unwrap_or_default();
        let row = |kind| Row::new(types[kind].name.to_string(), &tallies(&plays, kind));
        let rows = kinds.into_iter().filter_map(row).collect();
        let totals: Vec<Tally> = plays.iter().map(Play::total).collect();
        let total = Row::new("all".to_owned(), &totals.iter().collect::<Vec<_>>());
        Report { rows, total, play: plays.into_iter().next().unwrap_or_default(), others, busy }
    }

    /// Returns the number of messages that were decoded, of all operations.
    pub fn messages(&self) -> u64 {
        self.rows.iter().map(|row| row.messages).sum()
    }

    pub fn has_operations(&self) -> bool {
        !self.rows.is_empty()
    }

    /// Returns the first message that was decoded differently, and the number of such messages.
    pub fn first_difference(&self) -> Option<(&Difference, usize)> {
        let differences = &self.play.differences;
        Some((differences.first()?, differences.len()))
    }

    /// Prints the report: a table and lists, or a line of JSON for each of their entries.
    pub fn print(&self, json: bool) -> Result<()> {
        if let Some(busy) = self.busy {
            report(format_args!("warning: {}", busy.warning()));
        }
        if json {
            for line in self.json() {
                print_line(line?)?;
            }
            return Ok(());
        }
        print_line(self.table().terminal())?;
        print_line(format_args!("\n{LEGEND}"))?;
        self.lists().into_iter().try_for_each(|(heading, entries)| print_list(heading, &entries))
    }

    /// Returns the table of all operations.
    pub fn table(&self) -> Grid {
        let total = self.total.as_ref().filter(|_| self.rows.len() > 1);
        Grid::new("", &HEADINGS, 1).with(self.rows.iter().chain(total).map(cells))
    }

    /// Returns the report as lines of JSON.
    pub fn json(&self) -> impl Iterator<Item = serde_json::Result<String>> {
        self.lines().map(|line| serde_json::to_string(&line))
    }

    fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let play = &self.play;
        let operations = self.rows.iter().map(|row| Line::Operation { row, busy: self.busy });
        let unknown = play.unknown.iter().map(|(element, &messages)| Line::Unknown { element, messages });
        let faults = play.faults.iter().map(|fault| Line::Fault {
            file: &fault.file,
            line: fault.line,
            column: fault.column,
            offset: fault.error.offset(),
            error: fault.error.to_string(),
        });
        let differences = play
            .differences
            .iter()
            .map(|difference| Line::Difference { file: &difference.file, what: &difference.what });
        let skipped = self.skipped().map(|(reason, file)| Line::Skipped { file, reason });
        let deviations = play.deviations.iter().map(|(what, DeviationCount { count, messages, file, .. })| {
            Line::Deviation { what, count: *count, messages: *messages, file }
        });
        operations.chain(unknown).chain(deviations).chain(faults).chain(differences).chain(skipped)
    }

    /// Returns the files without a message, each with the reason.
    fn skipped(&self) -> impl Iterator<Item = (&str, &Path)> {
        let all = self.others.by_reason().chain(self.play.skipped.by_reason());
        all.flat_map(|(reason, files)| files.iter().map(move |file| (&**reason, file.as_path())))
    }

    /// Returns everything that was not an operation's message: lists with their headings. None is
    /// empty.
    pub fn lists(&self) -> Vec<(&'static str, Vec<String>)> {
        let play = &self.play;
        let unknown = play.unknown.iter().map(|(element, messages)| format!("{element}: {messages}"));
        let deviations = play.deviations.iter().map(|(what, DeviationCount { count, messages, file, .. })| {
            format!("{what}: {count} (messages: {messages}), the first in {}", file.display())
        });
        let faults = play
            .faults
            .iter()
            .map(|fault| format!("{}:{}:{}: {}", fault.file.display(), fault.line, fault.column, fault.error));
        let skipped = self.skipped().map(|(reason, file)| format!("{}: {reason}", file.display()));
        let mut lists = vec![
            ("Messages of unknown operations", unknown.collect::<Vec<_>>()),
            ("Accepted beyond the schema", deviations.collect()),
            ("Refused messages", faults.collect()),
            ("Skipped files", skipped.collect()),
        ];
        lists.retain(|(_, entries)| !entries.is_empty());
        lists
    }
}

/// Returns the tallies of one type in all plays.
fn tallies(plays: &[Play], kind: usize) -> Vec<&Tally> {
    plays.iter().filter_map(|play| play.tallies.get(&kind)).collect()
}

impl Row {
    /// Creates a row from the tallies of all plays; `None` without a play.
    fn new(operation: String, tallies: &[&Tally]) -> Option<Self> {
        let first = *tallies.first()?;
        let regular = median_time(tallies.iter().map(|tally| tally.regular));
        let differential = median_time(tallies.iter().map(|tally| tally.differential));
        Some(Row {
            operation,
            streams: first.streams,
            messages: first.messages,
            bytes: first.bytes,
            regular_seconds: regular.as_secs_f64(),
            regular_mb_per_second: megabytes_per_second(first.bytes, regular),
            differential: (!differential.is_zero()).then(|| Gain::new(tallies, regular, differential)),
        })
    }
}

impl Gain {
    /// Compares the medians of the times. The tallies are those of all plays, at least one;
    /// everything but the times is taken from the first.
    fn new(tallies: &[&Tally], regular: Duration, differential: Duration) -> Self {
        let tally = tallies[0];
        // Comparing is switched off where it does not save time, so what is skipped differs from
        // play to play.
        let is_work_saved = tallies.iter().any(|tally| tally.stats.fast_bytes > 0);
        let saving = Saving::new(tallies.iter().map(|tally| (tally.regular, tally.differential)), is_work_saved);
        Gain {
            similarity: fast_share(&tally.similarity),
            fast_share: fast_share(&tally.stats),
            differential_seconds: differential.as_secs_f64(),
            differential_mb_per_second: megabytes_per_second(tally.bytes, differential),
            saved_seconds: saving.share.map(|share| share * regular.as_secs_f64()),
            saving,
            memory_bytes: tally.stats.memory,
            compared: tally.stats.compared,
            to_regular: tally.stats.to_regular,
            to_fast: tally.stats.to_fast,
            checkpoints: tally.stats.checkpoints,
            leaves: tally.stats.leaves,
            shifted: tally.stats.shifted,
        }
    }
}

/// Explanation of the headings.
pub const LEGEND: &str = "\
Times are of decoding, and of releasing what was decoded, without reading files: medians of all plays. Shares are of the bytes in the operations' elements.
Time saved: the median of all plays, with its confidence interval (95 % or more). No difference: that interval has zero in it,
or nothing that takes time was skipped.
Similar: equal to the bytes of the previous message. Fast: skipped.
Memory: the maximum that each stream held beyond its values, in total. MB are 10^6 bytes, kB 10^3.";

const HEADINGS: [&str; 10] = [
    "operation",
    "streams",
    "messages",
    "MB",
    "similar %",
    "fast %",
    "regular ms",
    "differential ms",
    "time saved %",
    "memory kB",
];

fn cells(row: &Row) -> [String; 10] {
    let gain = |figure: fn(&Gain) -> String| row.differential.as_ref().map_or_else(|| "-".to_owned(), figure);
    [
        row.operation.clone(),
        row.streams.to_string(),
        row.messages.to_string(),
        format!("{:.2}", row.bytes as f64 / 1e6),
        gain(|gain| format!("{:.1}", gain.similarity * 100.0)),
        gain(|gain| format!("{:.1}", gain.fast_share * 100.0)),
        format!("{:.3}", row.regular_seconds * 1e3),
        gain(|gain| format!("{:.3}", gain.differential_seconds * 1e3)),
        gain(|gain| gain.saving.cell(|share| format!("{:.1}", share * 100.0))),
        gain(|gain| format!("{:.1}", gain.memory_bytes as f64 / 1e3)),
    ]
}

/// Maximum number of entries of a list that are printed.
const LISTED: usize = 20;

/// Prints a list under a heading, truncated if it is long.
fn print_list(heading: &str, entries: &[String]) -> Result<()> {
    print_line(format_args!("\n{heading}:"))?;
    entries.iter().take(LISTED).try_for_each(|entry| print_line(format_args!("  {entry}")))?;
    match entries.len().saturating_sub(LISTED) {
        0 => Ok(()),
        more => print_line(format_args!("  and {more} more, all of them with --json")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap::engine::DifferentialStats;

    fn tally(regular: u64, differential: u64) -> Tally {
        let (regular, differential) = (Duration::from_millis(regular), Duration::from_millis(differential));
        Tally { messages: 2, bytes: 2_000_000, regular, differential, ..Tally::default() }
    }

    /// Creates the row of plays with these times; `fast_bytes` were skipped.
    fn row(times: &[(u64, u64)], fast_bytes: u64) -> Row {
        let stats = DifferentialStats { fast_bytes, regular_bytes: 10, ..DifferentialStats::default() };
        let tallies: Vec<_> = times.iter().map(|&(one, other)| Tally { stats, ..tally(one, other) }).collect();
        Row::new("x".to_owned(), &tallies.iter().collect::<Vec<_>>()).expect("a row")
    }

    #[test]
    fn times_are_the_medians_of_all_plays() {
        let row = row(&[(500, 90), (200, 100), (400, 800)], 90);
        assert_eq!((row.regular_seconds, row.regular_mb_per_second), (0.4, 5.0));
        let gain = row.differential.expect("a gain");
        assert_eq!((gain.differential_seconds, gain.saved_seconds), (0.1, None), "three plays are no proof");
    }

    #[test]
    fn what_is_saved_is_the_median_of_all_plays_with_its_interval() {
        let row = row(&[(400, 100), (200, 60), (400, 104), (100, 25), (400, 80), (800, 400)], 90);
        assert_eq!(cells(&row)[8], "74.5 (50.0 to 80.0)");
        let json = serde_json::to_value(&row).expect("JSON");
        assert!((json["saved_share"].as_f64().expect("a share") - 0.745).abs() < 1e-9, "{json}");
        assert!((json["saved_interval"][1].as_f64().expect("an end") - 0.8).abs() < 1e-9, "{json}");
        assert!((json["saved_seconds"].as_f64().expect("seconds") - 0.745 * 0.4).abs() < 1e-9, "{json}");
    }

    /// Nothing was skipped, yet it was faster in most plays, or in all of them.
    #[test]
    fn noise_saves_nothing() {
        for (times, fast_bytes) in
            [([(400, 300), (400, 350), (400, 300), (400, 310), (400, 405), (400, 300)], 90), ([(400, 300); 6], 0)]
        {
            let row = row(&times, fast_bytes);
            assert_eq!(cells(&row)[8], "no difference");
            let json = serde_json::to_value(&row).expect("JSON");
            assert!(json["saved_share"].is_null() && json["saved_interval"].is_array(), "{json}");
        }
    }

    #[test]
    fn regular_mode_alone_has_no_gain() {
        let row = Row::new("x".to_owned(), &[&tally(500, 0)]).expect("a row");
        assert_eq!(row.differential, None);
        assert_eq!(cells(&row)[7], "-");
    }
}
