//! The demo's output: two tables, of requests and of responses, with a row for each stream.

use super::meter::Readings;
use super::per_mode::PerMode;
use crate::cli::StreamName;
use crate::figures::{Saving, fast_share, median_time, megabytes_per_second, per_second, ratio};
use crate::output::{print_line, report};
use anyhow::Result;
use deltasoap::EncodeStats;
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
    /// What other programs did meanwhile, if that makes the times doubtful.
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
    /// What other programs did meanwhile, if that makes the times doubtful.
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

/// Shares of the match kinds, from 0 to 1; see [`MatchKind`](deltasoap::MatchKind).
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
            format!("{:.2}", self.bytes_in as f64 / 1e6),
            format!("{:.2}", self.regular_decode_seconds * 1e3),
            format!("{:.0}", self.regular_decode_mb_per_second),
            format!("{:.2}", self.differential_decode_seconds * 1e3),
            format!("{:.0}", self.differential_decode_mb_per_second),
            self.savings.decode.cell(times),
            format!("{:.1}", self.fast_share * 100.0),
            format!("{:.1}", self.memory_bytes as f64 / 1e3),
            format!("{:.0}", self.regular_round_trips_per_second),
            format!("{:.0}", self.differential_round_trips_per_second),
        ]
    }

    /// Formats the figures of responses, in the order of [`RESPONSES`].
    fn response_cells(&self) -> [String; RESPONSES.len()] {
        let percent = |share: f64| format!("{:.1}", share * 100.0);
        let Matches { content, perfect, partial, first } = self.matches;
        [
            self.stream.to_owned(),
            format!("{:.2}", self.bytes_out as f64 / 1e6),
            format!("{:.2}", self.regular_encode_seconds * 1e3),
            format!("{:.0}", self.regular_encode_mb_per_second),
            format!("{:.2}", self.differential_encode_seconds * 1e3),
            format!("{:.0}", self.differential_encode_mb_per_second),
            self.savings.encode.cell(times),
            percent(content),
            percent(perfect),
            percent(partial),
            percent(first),
            percent(self.written_share),
            format!("{:.1}", self.template_bytes as f64 / 1e3),
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

/// Headings of the table of requests.
const REQUESTS: [&str; 13] = [
    "requests",
    "changed",
    "messages",
    "MB in",
    "regular\nms",
    "regular\nMB/s",
    "differential\nms",
    "differential\nMB/s",
    "speed-up",
    "fast %",
    "memory\nkB",
    "regular\nround trips/s",
    "differential\nround trips/s",
];

/// Headings of the table of responses.
const RESPONSES: [&str; 13] = [
    "responses",
    "MB out",
    "in full\nms",
    "in full\nMB/s",
    "templates\nms",
    "templates\nMB/s",
    "speed-up",
    "content\nmatch %",
    "perfect\nstructural %",
    "partial\nstructural %",
    "first\ntime %",
    "written %",
    "memory\nkB",
];

/// Explanation of the headings.
pub const LEGEND: &str = "\
Each stream is played nine times, with new servers: counts are those of one play, times and rates the medians of all. Speed-up: the median of
all plays, with its confidence interval (95 % or more). No difference: that interval has 1 in it, or nothing that takes
time was saved.
Requests are decoded, responses encoded, both at the server and timed without HTTP. Both services get and return the same bytes.
Changed: percentage of the values that differ from the previous message; other streams are recorded, or derived from recorded messages.
Fast: share of the operations' bytes that equal those of the previous message, and were skipped. Memory: held for earlier messages.
Match: how responses resemble earlier ones; structural matches are perfect if each changed value keeps its length. Written: share
of the bytes that were encoded anew. Responses of operations that return less than 2 KiB are always encoded in full.
MB are 10^6 bytes, kB 10^3. Round trips are those of one client, including the check of the reply.";

/// Prints the outcomes: two tables, or a line of JSON each.
pub fn print(outcomes: &[Outcome], json: bool) -> Result<()> {
    let rows = outcomes.iter().map(Row::new);
    for Outcome { name, busy, .. } in outcomes {
        if let Some(busy) = busy {
            report(format_args!("warning: stream {}: {}", name.label(), busy.warning()));
        }
    }
    if json {
        for row in rows {
            print_line(serde_json::to_string(&row)?)?;
        }
        return Ok(());
    }
    let rows: Vec<Row> = rows.collect();
    print_line(format_args!("{}\n", requests(&rows).terminal()))?;
    print_line(format_args!("{}\n\n{LEGEND}", responses(&rows).terminal()))?;
    Ok(())
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
    use deltasoap::DifferentialStats;

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
        assert_eq!(row.request_cells()[8], "5.00 (3.64 to 6.00)");
        assert_eq!((row.regular_encode_mb_per_second, row.regular_round_trips_per_second), (0.0, 5.0));
    }

    #[test]
    fn noise_is_no_speed_up() {
        let chance = row(&[(500, 400), (500, 400), (400, 410), (500, 400), (600, 400), (500, 390)], 75);
        let nothing_skipped = row(&[(500, 400); 6], 0);
        for row in [chance, nothing_skipped] {
            assert_eq!((row.speed_up, row.request_cells()[8].as_str()), (None, "no difference"));
            assert!(row.speed_up_interval.is_some() && row.response_cells()[6] == "no difference");
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
