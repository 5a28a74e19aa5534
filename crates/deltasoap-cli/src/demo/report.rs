//! What the demo prints.

use anyhow::Result;
use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{CellAlignment, Table};
use deltasoap_http::StatsSnapshot;
use serde::Serialize;
use std::time::Duration;

/// What one stream did. Decode is of requests, encode of responses, both at the server.
#[derive(Debug, Serialize)]
pub struct Row {
    stream: &'static str,
    messages: u64,
    bytes_in: u64,
    bytes_out: u64,
    decode_seconds: f64,
    decode_mb_per_second: f64,
    encode_seconds: f64,
    encode_mb_per_second: f64,
    round_trips_per_second: f64,
}

impl Row {
    pub fn new(stream: &'static str, stats: StatsSnapshot, elapsed: Duration) -> Self {
        Row {
            stream,
            messages: stats.messages,
            bytes_in: stats.bytes_in,
            bytes_out: stats.bytes_out,
            decode_seconds: stats.decode_time.as_secs_f64(),
            decode_mb_per_second: megabytes_per_second(stats.bytes_in, stats.decode_time),
            encode_seconds: stats.encode_time.as_secs_f64(),
            encode_mb_per_second: megabytes_per_second(stats.bytes_out, stats.encode_time),
            round_trips_per_second: per_second(stats.messages as f64, elapsed),
        }
    }
}

fn megabytes_per_second(bytes: u64, time: Duration) -> f64 {
    per_second(bytes as f64 / 1e6, time)
}

/// Zero for no time: nothing was done then.
fn per_second(amount: f64, time: Duration) -> f64 {
    if time.is_zero() { 0.0 } else { amount / time.as_secs_f64() }
}

/// Prints the rows: a table, or a line of JSON each.
pub fn print(rows: &[Row], json: bool) -> Result<()> {
    if json {
        for row in rows {
            println!("{}", serde_json::to_string(row)?);
        }
        return Ok(());
    }
    println!("{}", table(rows));
    println!("\nDecode is of requests and encode of responses, both at the server, without HTTP. MB are 10^6 bytes.");
    Ok(())
}

const HEADINGS: [&str; 9] =
    ["stream", "messages", "MB in", "MB out", "decode ms", "decode MB/s", "encode ms", "encode MB/s", "round trips/s"];

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY).set_header(HEADINGS);
    for row in rows {
        table.add_row([
            row.stream.to_owned(),
            row.messages.to_string(),
            format!("{:.2}", row.bytes_in as f64 / 1e6),
            format!("{:.2}", row.bytes_out as f64 / 1e6),
            format!("{:.2}", row.decode_seconds * 1e3),
            format!("{:.0}", row.decode_mb_per_second),
            format!("{:.2}", row.encode_seconds * 1e3),
            format!("{:.0}", row.encode_mb_per_second),
            format!("{:.0}", row.round_trips_per_second),
        ]);
    }
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_amount_by_time() {
        let stats = StatsSnapshot {
            messages: 10,
            bytes_in: 2_000_000,
            decode_time: Duration::from_millis(500),
            ..StatsSnapshot::default()
        };
        let row = Row::new("s", stats, Duration::from_secs(2));
        assert_eq!((row.decode_mb_per_second, row.encode_mb_per_second, row.round_trips_per_second), (4.0, 0.0, 5.0));
    }
}
