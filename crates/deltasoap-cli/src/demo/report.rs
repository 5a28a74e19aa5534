//! What the demo prints: a row for each stream.

use super::both::Both;
use super::meter::Readings;
use crate::cli::StreamName;
use crate::figures::{fast_share, megabytes_per_second, per_second, ratio};
use anyhow::Result;
use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{CellAlignment, Table};
use serde::Serialize;
use std::fmt;

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
/// the same number of messages and the same bytes.
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
    /// The most bytes of earlier messages that the differential service held.
    pub memory_bytes: u64,
    pub encode_seconds: f64,
    pub encode_mb_per_second: f64,
    pub regular_round_trips_per_second: f64,
    pub differential_round_trips_per_second: f64,
}

impl Row {
    /// The figures of a stream.
    pub fn new(outcome: &Outcome) -> Self {
        let Both { regular, differential } = outcome.readings.map(|readings| readings.totals);
        let rate = |readings: &Readings| per_second(readings.totals.messages as f64, readings.elapsed);
        let round_trips = outcome.readings.map(rate);
        Row {
            stream: outcome.name.label(),
            changed: outcome.kind,
            messages: regular.messages,
            bytes_in: regular.bytes_in,
            bytes_out: regular.bytes_out,
            regular_decode_seconds: regular.decode_time.as_secs_f64(),
            regular_decode_mb_per_second: megabytes_per_second(regular.bytes_in, regular.decode_time),
            differential_decode_seconds: differential.decode_time.as_secs_f64(),
            differential_decode_mb_per_second: megabytes_per_second(differential.bytes_in, differential.decode_time),
            speed_up: ratio(regular.decode_time.as_secs_f64(), differential.decode_time.as_secs_f64()),
            fast_share: fast_share(&differential.differential),
            memory_bytes: outcome.readings.differential.memory,
            encode_seconds: differential.encode_time.as_secs_f64(),
            encode_mb_per_second: megabytes_per_second(differential.bytes_out, differential.encode_time),
            regular_round_trips_per_second: round_trips.regular,
            differential_round_trips_per_second: round_trips.differential,
        }
    }

    /// The figures as text, under [`HEADINGS`].
    pub fn cells(&self) -> [String; HEADINGS.len()] {
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
            format!("{:.0}", self.encode_mb_per_second),
            format!("{:.0}", self.regular_round_trips_per_second),
            format!("{:.0}", self.differential_round_trips_per_second),
        ]
    }
}

/// Headings of the table.
pub const HEADINGS: [&str; 14] = [
    "stream",
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
    "encode\nMB/s",
    "regular\nround trips/s",
    "differential\nround trips/s",
];

/// What the headings mean.
pub const LEGEND: &str = "\
Regular and differential: decoding of requests at the server, without HTTP; encode is of responses. Both services get the same bytes.
Changed: of a hundred values, how many differ from the message before; other streams are recorded, or derived from recorded messages.
Fast: share of the operations' bytes that equal those of the message before, and were skipped. Memory: held of earlier messages.
MB are 10^6 bytes, kB 10^3. Round trips are of one client, the check of the reply included.";

/// Prints the outcomes: a table, or a line of JSON each.
pub fn print(outcomes: &[Outcome], json: bool) -> Result<()> {
    let rows = outcomes.iter().map(Row::new);
    if json {
        for row in rows {
            println!("{}", serde_json::to_string(&row)?);
        }
        return Ok(());
    }
    println!("{}\n\n{LEGEND}", table(rows));
    Ok(())
}

fn table(rows: impl Iterator<Item = Row>) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY).set_header(HEADINGS);
    table.add_rows(rows.map(|row| row.cells()));
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap::DifferentialStats;
    use deltasoap_http::StatsSnapshot;
    use std::time::Duration;

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
        assert_eq!((row.encode_mb_per_second, row.regular_round_trips_per_second), (0.0, 5.0));
    }
}
