//! The demo's output: a sentence, and two tables, of requests and of responses, with a row for each
//! stream.

use super::meter::Readings;
use super::per_mode::PerMode;
use crate::cli::StreamName;
use crate::figures::{Saving, fast_share, median_time, megabytes_per_second, per_second, ratio};
use crate::output::{print_line, report};
use anyhow::Result;
use deltasoap::engine::EncodeStats;
use deltasoap_cost::measure::BackgroundLoad;
use deltasoap_http::StatsSnapshot;
use deltasoap_report::Grid;
use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// The measurements of a stream.
pub struct Outcome {
    pub name: StreamName,
    pub kind: Kind,
    /// At least one; everything but the times is nearly the same in all of them.
    pub plays: Vec<PerMode<Readings>>,
    /// The load of other programs, if it makes the times doubtful.
    pub busy: Option<BackgroundLoad>,
}

/// Origin of a stream's messages, which determines what differs from one to the next.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Recorded from a client.
    Recorded,
    /// Derived by a generator from a client's messages.
    Derived,
    /// Arrays in which this percentage of the values changes.
    Changed(u32),
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Recorded => f.write_str("recorded"),
            Kind::Derived => f.write_str("derived"),
            Kind::Changed(percent) => write!(f, "{percent} %"),
        }
    }
}

/// The figures of both services for one stream. Decode times are of requests, encode times of
/// responses, both at the server. Both services got the same number of messages and the same bytes,
/// and answered with the same bytes.
#[derive(Debug, Serialize)]
pub struct Row {
    pub stream: &'static str,
    pub changed: Kind,
    pub messages: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub regular_decode_seconds: f64,
    pub regular_decode_mb_per_second: f64,
    pub differential_decode_seconds: f64,
    pub differential_decode_mb_per_second: f64,
    /// Time of regular decoding divided by that of differential decoding, the median of all plays;
    /// `None` if the difference may be chance.
    pub speed_up: Option<f64>,
    /// Confidence interval of the speed-up.
    pub speed_up_interval: Option<[f64; 2]>,
    /// Share of the bytes in the operations' elements that were skipped, from 0 to 1.
    pub fast_share: f64,
    /// Maximum number of bytes of earlier requests that the differential service held.
    pub memory_bytes: u64,
    pub regular_encode_seconds: f64,
    pub regular_encode_mb_per_second: f64,
    pub differential_encode_seconds: f64,
    pub differential_encode_mb_per_second: f64,
    /// Time of encoding in full divided by that of encoding against templates, as
    /// [`Self::speed_up`].
    pub encode_speed_up: Option<f64>,
    /// Confidence interval of the speed-up.
    pub encode_speed_up_interval: Option<[f64; 2]>,
    /// Shares of the differential service's responses by the way they matched earlier ones, from 0
    /// to 1.
    pub matches: Matches,
    /// Share of the responses' bytes that the differential service encoded anew, from 0 to 1.
    pub written_share: f64,
    /// Maximum number of bytes of templates that the differential service held.
    pub template_bytes: u64,
    pub regular_round_trips_per_second: f64,
    pub differential_round_trips_per_second: f64,
    /// Number of plays of the stream. Counts are those of one play, times and rates the medians of
    /// all plays.
    pub plays: usize,
    /// Confidence level of the speed-ups' intervals, from 0.95 to 1.
    pub confidence: Option<f64>,
    /// The load of other programs, if it makes the times doubtful.
    pub busy: Option<BackgroundLoad>,
    #[serde(skip)]
    savings: Savings,
}

/// The savings of decoding and encoding.
#[derive(Debug, Clone, Copy)]
struct Savings {
    decode: Saving,
    encode: Saving,
}

/// Shares of the match kinds, from 0 to 1; see [`MatchKind`](deltasoap::engine::MatchKind).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Matches {
    pub content: f64,
    pub perfect: f64,
    pub partial: f64,
    pub first: f64,
}

impl Matches {
    fn new(stats: &EncodeStats) -> Self {
        let share = |count: u64| ratio(count as f64, stats.messages as f64);
        Matches {
            content: share(stats.content),
            perfect: share(stats.perfect),
            partial: share(stats.partial),
            first: share(stats.first),
        }
    }
}

impl Row {
    /// Computes the figures of a stream.
    pub fn new(outcome: &Outcome) -> Self {
        let plays = &outcome.plays;
        let readings = &plays[0];
        let PerMode { regular, differential } = readings.map(|readings| readings.totals);
        let round_trips =
            medians(plays, |readings| readings.elapsed).map(|&time| per_second(regular.messages as f64, time));
        let decode = medians(plays, |readings| readings.totals.decode_time);
        let encode = medians(plays, |readings| readings.totals.encode_time);
        let savings = Savings::new(plays);
        Row {
            stream: outcome.name.label(),
            changed: outcome.kind,
            messages: regular.messages,
            bytes_in: regular.bytes_in,
            bytes_out: regular.bytes_out,
            regular_decode_seconds: decode.regular.as_secs_f64(),
            regular_decode_mb_per_second: megabytes_per_second(regular.bytes_in, decode.regular),
            differential_decode_seconds: decode.differential.as_secs_f64(),
            differential_decode_mb_per_second: megabytes_per_second(differential.bytes_in, decode.differential),
            speed_up: savings.decode.share.map(speed_up),
            speed_up_interval: savings.decode.interval.map(|ends| ends.map(speed_up)),
            fast_share: fast_share(&differential.differential),
            memory_bytes: readings.differential.memory,
            regular_encode_seconds: encode.regular.as_secs_f64(),
            regular_encode_mb_per_second: megabytes_per_second(regular.bytes_out, encode.regular),
            differential_encode_seconds: encode.differential.as_secs_f64(),
            differential_encode_mb_per_second: megabytes_per_second(differential.bytes_out, encode.differential),
            encode_speed_up: savings.encode.share.map(speed_up),
            encode_speed_up_interval: savings.encode.interval.map(|ends| ends.map(speed_up)),
            matches: Matches::new(&differential.encode),
            written_share: ratio(differential.encode.written as f64, differential.encode.bytes as f64),
            template_bytes: readings.differential.template_memory,
            regular_round_trips_per_second: round_trips.regular,
            differential_round_trips_per_second: round_trips.differential,
            plays: plays.len(),
            confidence: savings.decode.confidence,
            busy: outcome.busy,
            savings,
        }
    }

    /// Formats the figures of requests, in the order of [`REQUESTS`].
    fn request_cells(&self) -> [String; REQUESTS.len()] {
        [
            self.stream.to_owned(),
            self.changed.to_string(),
            self.messages.to_string(),
            format!("{:.0}", self.regular_decode_mb_per_second),
            format!("{:.0}", self.differential_decode_mb_per_second),
            self.savings.decode.cell(times),
            percent(self.fast_share),
            kilobytes(self.memory_bytes),
        ]
    }

    /// Formats the figures of responses, in the order of [`RESPONSES`].
    fn response_cells(&self) -> [String; RESPONSES.len()] {
        [
            self.stream.to_owned(),
            self.changed.to_string(),
            self.messages.to_string(),
            format!("{:.0}", self.regular_encode_mb_per_second),
            format!("{:.0}", self.differential_encode_mb_per_second),
            self.savings.encode.cell(times),
            percent(1.0 - self.written_share),
            kilobytes(self.template_bytes),
        ]
    }
}

impl Savings {
    fn new(plays: &[PerMode<Readings>]) -> Self {
        let of = |time: fn(&StatsSnapshot) -> Duration, does_less: fn(&StatsSnapshot) -> bool| {
            let times = plays.iter().map(|play| (time(&play.regular.totals), time(&play.differential.totals)));
            Saving::new(times, plays.iter().any(|play| does_less(&play.differential.totals)))
        };
        Savings {
            decode: of(|totals| totals.decode_time, |totals| totals.differential.fast_bytes > 0),
            encode: of(|totals| totals.encode_time, |totals| totals.encode.written < totals.encode.bytes),
        }
    }
}

/// Returns the medians of a time over all plays.
fn medians(plays: &[PerMode<Readings>], time: fn(&Readings) -> Duration) -> PerMode<Duration> {
    PerMode {
        regular: median_time(plays.iter().map(|play| time(&play.regular))),
        differential: median_time(plays.iter().map(|play| time(&play.differential))),
    }
}

/// Returns the speed-up that corresponds to a saved share of the time.
fn speed_up(saved: f64) -> f64 {
    1.0 / (1.0 - saved)
}

/// Formats the speed-up that corresponds to a saved share of the time.
fn times(saved: f64) -> String {
    format!("{:.2}", speed_up(saved))
}

fn percent(share: f64) -> String {
    format!("{:.0}", share * 100.0)
}

fn kilobytes(bytes: u64) -> String {
    format!("{:.0}", bytes as f64 / 1e3)
}

/// Headings of the table of requests.
const REQUESTS: [&str; 8] = [
    "requests\nread",
    "changed",
    "messages",
    "MB/s\nin full",
    "MB/s by\ndifference",
    "times as fast",
    "same\n%",
    "memory\nkB",
];

/// Headings of the table of responses.
const RESPONSES: [&str; 8] = [
    "responses\nwritten",
    "changed",
    "messages",
    "MB/s\nin full",
    "MB/s by\ndifference",
    "times as fast",
    "same\n%",
    "memory\nkB",
];

/// What is shown.
pub const INTRODUCTION: &str = "\
Clients send the same messages to two servers, over HTTP. One reads and writes every message in
full; the other keeps earlier messages, and reads and writes only the differences. Every reply is
checked: both servers must send the same bytes.";

/// Explanation of the headings.
pub const LEGEND: &str = "\
tr069: devices report to their server. vsphere: recorded clients of vCenter. Others: arrays.
Changed: part of an array's values that differ from the message before; other streams are recorded,
or derived from recorded messages. MB/s: 10^6 bytes per second in the server, without HTTP.
Times as fast: median of all plays and its confidence interval (95 % or more). No difference: 1 is
in the interval, or no work was saved. Same: part of the bytes that equal earlier ones, and were not
read or written again. Memory: held for earlier messages. Responses of operations that return less
than 2 KiB are always written in full.";

/// Prints the outcomes: two tables, or a line of JSON each.
pub fn print(outcomes: &[Outcome], json: bool) -> Result<()> {
    let rows: Vec<Row> = outcomes.iter().map(Row::new).collect();
    if json {
        return rows.iter().try_for_each(|row| print_line(serde_json::to_string(row)?));
    }
    print_line(format_args!("{}\n", headline(&rows)))?;
    print_line(format_args!("{}\n", requests(&rows).terminal()))?;
    print_line(format_args!("{}\n\n{LEGEND}", responses(&rows).terminal()))?;
    if let Some(busy) = busy(&rows) {
        report(format_args!("\nwarning: {busy}"));
    }
    Ok(())
}

/// Returns the result in a sentence: what was fastest, and what was slower than in full.
pub fn headline(rows: &[Row]) -> String {
    let best = |speed_up: fn(&Row) -> Option<f64>, verb: &str| {
        let best = rows.iter().max_by(|a, b| speed_up(a).unwrap_or(1.0).total_cmp(&speed_up(b).unwrap_or(1.0)))?;
        let times = speed_up(best).filter(|&times| times > 1.0)?;
        Some(format!("{verb} up to {times:.1} times as fast ({})", best.stream))
    };
    let best = [best(|row| row.speed_up, "read"), best(|row| row.encode_speed_up, "written")];
    let best: Vec<_> = best.into_iter().flatten().collect();
    let first = match best.is_empty() {
        true => "No stream was faster by difference.".to_owned(),
        false => format!("By difference, messages are {}.", best.join(", and\n")),
    };
    let slower = |speed_up: fn(&Row) -> Option<f64>, what: &'static str| {
        let is_slower = move |row: &&Row| speed_up(row).is_some_and(|times| times < 1.0);
        rows.iter()
            .filter(is_slower)
            .map(move |row| format!("{what} of {} ({:.2} times as fast)", row.stream, speed_up(row).unwrap_or(1.0)))
    };
    let slower: Vec<_> =
        slower(|row| row.speed_up, "requests").chain(slower(|row| row.encode_speed_up, "responses")).collect();
    match slower.is_empty() {
        true => first,
        false => format!("{first}\nSlower than in full: {}.", slower.join(",\n")),
    }
}

/// Returns a warning if other programs made the times doubtful.
pub fn busy(rows: &[Row]) -> Option<String> {
    let busiest = rows.iter().filter_map(|row| row.busy).max_by(|a, b| a.others.total_cmp(&b.others))?;
    let streams: Vec<_> = rows.iter().filter(|row| row.busy.is_some()).map(|row| row.stream).collect();
    Some(format!("{}: {}", streams.join(", "), busiest.warning()))
}

/// Returns the table of requests.
pub fn requests(rows: &[Row]) -> Grid {
    Grid::new("", &REQUESTS, 1).with(rows.iter().map(Row::request_cells))
}

/// Returns the table of responses.
pub fn responses(rows: &[Row]) -> Grid {
    Grid::new("", &RESPONSES, 1).with(rows.iter().map(Row::response_cells))
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap::engine::DifferentialStats;

    fn readings(decode: u64, differential: DifferentialStats) -> Readings {
        let totals = StatsSnapshot {
            messages: 10,
            bytes_in: 2_000_000,
            decode_time: Duration::from_millis(decode),
            differential,
            ..StatsSnapshot::default()
        };
        Readings { totals, elapsed: Duration::from_secs(2), ..Readings::default() }
    }

    /// Creates the row of plays with these decode times; `fast_bytes` were skipped.
    fn row(times: &[(u64, u64)], fast_bytes: u64) -> Row {
        let stats = DifferentialStats { fast_bytes, regular_bytes: 25, ..DifferentialStats::default() };
        let play = |&(regular, differential): &(u64, u64)| PerMode {
            regular: readings(regular, DifferentialStats::default()),
            differential: readings(differential, stats),
        };
        let plays = times.iter().map(play).collect();
        Row::new(&Outcome { name: StreamName::Ints, kind: Kind::Changed(25), plays, busy: None })
    }

    #[test]
    fn figures_are_of_both_services() {
        let row = row(&[(500, 100), (500, 100), (400, 110), (500, 100), (600, 100), (500, 90)], 75);
        assert_eq!((row.regular_decode_mb_per_second, row.differential_decode_mb_per_second), (4.0, 20.0));
        assert_eq!((row.speed_up.map(f64::round), row.fast_share), (Some(5.0), 0.75));
        assert_eq!(row.request_cells()[5], "5.00 (3.64 to 6.00)");
        assert_eq!((row.regular_encode_mb_per_second, row.regular_round_trips_per_second), (0.0, 5.0));
    }

    #[test]
    fn noise_is_no_speed_up() {
        let chance = row(&[(500, 400), (500, 400), (400, 410), (500, 400), (600, 400), (500, 390)], 75);
        let nothing_skipped = row(&[(500, 400); 6], 0);
        for row in [chance, nothing_skipped] {
            assert_eq!((row.speed_up, row.request_cells()[5].as_str()), (None, "no difference"));
            assert!(row.speed_up_interval.is_some() && row.response_cells()[5] == "no difference");
        }
    }

    #[test]
    fn the_headline_names_the_best_and_what_is_slower() {
        let fast = row(&[(500, 100); 6], 75);
        assert_eq!(headline(&[fast]), "By difference, messages are read up to 5.0 times as fast (ints).");
        let slow = row(&[(100, 200); 6], 75);
        let expected = "No stream was faster by difference.\n\
            Slower than in full: requests of ints (0.50 times as fast).";
        assert_eq!(headline(&[slow]), expected);
    }

    #[test]
    fn one_warning_tells_of_other_programs() {
        let quiet = row(&[(500, 100); 6], 75);
        let busy_row = |others| Row { busy: Some(BackgroundLoad { others, cores: 2 }), ..row(&[(500, 100); 6], 75) };
        let warning = busy(&[quiet, busy_row(0.5), busy_row(1.5)]).expect("a warning");
        assert!(warning.contains("1.50 of 2") && warning.starts_with("ints, ints: "), "{warning}");
        assert_eq!(busy(&[]), None);
    }

    /// A terminal is at least 80 to 100 columns wide.
    #[test]
    fn every_line_has_at_most_100_columns() {
        let mut row = row(&[(500_000, 40_000), (400_000, 40_000)].repeat(3), 75);
        (row.stream, row.messages, row.memory_bytes, row.template_bytes) =
            ("tr069-shared", 99_999, 99_999_999, 99_999_999);
        row.changed = Kind::Derived;
        row.savings.encode = row.savings.decode;
        let tables =
            [requests(std::slice::from_ref(&row)).terminal(), responses(std::slice::from_ref(&row)).terminal()];
        let tables = tables.map(|table| table.to_string());
        let rows = [row];
        for text in [INTRODUCTION, LEGEND, &headline(&rows), &tables[0], &tables[1]] {
            assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        }
    }

    #[test]
    fn shares_of_match_kinds_are_of_all_responses() {
        let mut stats = EncodeStats::default();
        (stats.messages, stats.content, stats.partial, stats.first) = (8, 4, 3, 1);
        let shares = Matches { content: 0.5, perfect: 0.0, partial: 0.375, first: 0.125 };
        assert_eq!(Matches::new(&stats), shares);
        assert_eq!(Matches::new(&EncodeStats::default()).first, 0.0);
    }
}
