//! What the demo prints: a row for each stream in each of two tables, of requests and of responses.

use super::both::Both;
use super::meter::Readings;
use crate::cli::StreamName;
use crate::figures::{fast_share, megabytes_per_second, per_second, ratio};
use crate::output::print_line;
use anyhow::Result;
use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{CellAlignment, Table};
use deltasoap::EncodeStats;
use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// What came of a stream.
pub struct Outcome {
    pub name: StreamName,
    pub kind: Kind,
    pub readings: Both<Readings>,
}

/// Where a stream's messages are from, and with that what differs from one to the next.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// As a client sent them.
    Recorded,
    /// As a generator derives them from a client's.
    Derived,
    /// Arrays of which so many of a hundred values change.
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

/// What both services did for one stream. Decode is of requests, encode of responses, both at the server. Both services got
/// the same number of messages and the same bytes, and answered with the same bytes.
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
    /// Time of regular decoding by that of differential decoding.
    pub speed_up: f64,
    /// Share of the bytes in the operations' elements that were skipped, from 0 to 1.
    pub fast_share: f64,
    /// The most bytes of earlier requests that the differential service held.
    pub memory_bytes: u64,
    pub regular_encode_seconds: f64,
    pub regular_encode_mb_per_second: f64,
    pub differential_encode_seconds: f64,
    pub differential_encode_mb_per_second: f64,
    /// Time of writing in full by that of writing against templates.
    pub encode_speed_up: f64,
    /// Shares of the differential service's responses by the way they matched earlier ones, from 0 to 1.
    pub matches: Matches,
    /// Share of the responses' bytes that the differential service wrote anew, from 0 to 1.
    pub written_share: f64,
    /// The most bytes of templates that the differential service held.
    pub template_bytes: u64,
    pub regular_round_trips_per_second: f64,
    pub differential_round_trips_per_second: f64,
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
    /// The figures of a stream.
    pub fn new(outcome: &Outcome) -> Self {
        let Both { regular, differential } = outcome.readings.map(|readings| readings.totals);
        let rate = |readings: &Readings| per_second(readings.totals.messages as f64, readings.elapsed);
        let round_trips = outcome.readings.map(rate);
        let (decode, encode) = (
            Both { regular: regular.decode_time, differential: differential.decode_time },
            Both { regular: regular.encode_time, differential: differential.encode_time },
        );
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
            speed_up: speed_up(decode),
            fast_share: fast_share(&differential.differential),
            memory_bytes: outcome.readings.differential.memory,
            regular_encode_seconds: encode.regular.as_secs_f64(),
            regular_encode_mb_per_second: megabytes_per_second(regular.bytes_out, encode.regular),
            differential_encode_seconds: encode.differential.as_secs_f64(),
            differential_encode_mb_per_second: megabytes_per_second(differential.bytes_out, encode.differential),
            encode_speed_up: speed_up(encode),
            matches: Matches::new(&differential.encode),
            written_share: ratio(differential.encode.written as f64, differential.encode.bytes as f64),
            template_bytes: outcome.readings.differential.template_memory,
            regular_round_trips_per_second: round_trips.regular,
            differential_round_trips_per_second: round_trips.differential,
        }
    }

    /// The figures of requests as text, under [`REQUESTS`].
    pub fn request_cells(&self) -> [String; REQUESTS.len()] {
        [
            self.stream.to_owned(),
            self.changed.to_string(),
            self.messages.to_string(),
            format!("{:.2}", self.bytes_in as f64 / 1e6),
            format!("{:.2}", self.regular_decode_seconds * 1e3),
            format!("{:.0}", self.regular_decode_mb_per_second),
            format!("{:.2}", self.differential_decode_seconds * 1e3),
            format!("{:.0}", self.differential_decode_mb_per_second),
            format!("{:.2}", self.speed_up),
            format!("{:.1}", self.fast_share * 100.0),
            format!("{:.1}", self.memory_bytes as f64 / 1e3),
            format!("{:.0}", self.regular_round_trips_per_second),
            format!("{:.0}", self.differential_round_trips_per_second),
        ]
    }

    /// The figures of responses as text, under [`RESPONSES`].
    pub fn response_cells(&self) -> [String; RESPONSES.len()] {
        let percent = |share: f64| format!("{:.1}", share * 100.0);
        let Matches { content, perfect, partial, first } = self.matches;
        [
            self.stream.to_owned(),
            format!("{:.2}", self.bytes_out as f64 / 1e6),
            format!("{:.2}", self.regular_encode_seconds * 1e3),
            format!("{:.0}", self.regular_encode_mb_per_second),
            format!("{:.2}", self.differential_encode_seconds * 1e3),
            format!("{:.0}", self.differential_encode_mb_per_second),
            format!("{:.2}", self.encode_speed_up),
            percent(content),
            percent(perfect),
            percent(partial),
            percent(first),
            percent(self.written_share),
            format!("{:.1}", self.template_bytes as f64 / 1e3),
        ]
    }
}

/// The regular service's time by the differential one's.
fn speed_up(times: Both<Duration>) -> f64 {
    ratio(times.regular.as_secs_f64(), times.differential.as_secs_f64())
}

/// Headings of the table of requests.
pub const REQUESTS: [&str; 13] = [
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
pub const RESPONSES: [&str; 13] = [
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

/// What the headings mean.
pub const LEGEND: &str = "\
Requests are decoded, responses encoded, both at the server and timed without HTTP. Both services get the same bytes, and give the same.
Changed: of a hundred values, how many differ from the message before; other streams are recorded, or derived from recorded messages.
Fast: share of the operations' bytes that equal those of the message before, and were skipped. Memory: held of earlier messages.
Match: how responses resemble earlier ones; structural matches are perfect where each changed value is as long as before. Written: share
of the bytes that were written anew. Responses of operations that give less than 2 KiB are always written in full.
MB are 10^6 bytes, kB 10^3. Round trips are of one client, the check of the reply included.";

/// Prints the outcomes: two tables, or a line of JSON each.
pub fn print(outcomes: &[Outcome], json: bool) -> Result<()> {
    let rows = outcomes.iter().map(Row::new);
    if json {
        for row in rows {
            print_line(serde_json::to_string(&row)?)?;
        }
        return Ok(());
    }
    let rows: Vec<Row> = rows.collect();
    print_line(format_args!("{}\n", table(REQUESTS, rows.iter().map(Row::request_cells))))?;
    print_line(format_args!("{}\n\n{LEGEND}", table(RESPONSES, rows.iter().map(Row::response_cells))))?;
    Ok(())
}

fn table<const N: usize>(headings: [&str; N], rows: impl Iterator<Item = [String; N]>) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY).set_header(headings);
    table.add_rows(rows);
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap::DifferentialStats;
    use deltasoap_http::StatsSnapshot;

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

    #[test]
    fn figures_are_of_both_services() {
        let stats = DifferentialStats { fast_bytes: 75, regular_bytes: 25, ..DifferentialStats::default() };
        let readings =
            Both { regular: readings(500, DifferentialStats::default()), differential: readings(100, stats) };
        let row = Row::new(&Outcome { name: StreamName::Ints, kind: Kind::Changed(25), readings });
        assert_eq!((row.regular_decode_mb_per_second, row.differential_decode_mb_per_second), (4.0, 20.0));
        assert_eq!((row.speed_up, row.fast_share), (5.0, 0.75));
        assert_eq!((row.regular_encode_mb_per_second, row.regular_round_trips_per_second), (0.0, 5.0));
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
