//! The demo's figures as a page that begins with their picture.

use super::meter::Readings;
use super::report::{self, INTRODUCTION, LEGEND, Outcome, Row, headline, requests, responses};
use crate::figures::median_time;
use deltasoap_report::{Chart, Grid, Line, Mark, Page};
use std::time::Duration;

/// Returns the page.
pub fn page(outcomes: &[Outcome]) -> Page {
    let rows: Vec<Row> = outcomes.iter().map(Row::new).collect();
    let mut page = Page::new("deltasoap demo");
    report::busy(&rows).iter().for_each(|busy| page.warning(busy));
    page.chart(&speed_ups(&rows));
    page.prose(&headline(&rows));
    page.prose(INTRODUCTION);
    page.section("Tables");
    page.grid(&Grid { title: "Requests".to_owned(), ..requests(&rows) });
    page.grid(&Grid { title: "Responses".to_owned(), ..responses(&rows) });
    page.prose(LEGEND);
    page.section("Reading requests");
    decoding(&rows).iter().for_each(|chart| page.chart(chart));
    page.section("Writing responses");
    encoding(&rows).iter().for_each(|chart| page.chart(chart));
    page.section("Message by message");
    page.paragraph(
        "The time in which the server reads each request, in the first play. The first request of a stream has no \
         earlier one to be compared with.",
    );
    outcomes.iter().for_each(|outcome| times(&mut page, outcome));
    page
}

/// Returns a figure of all streams.
fn series(rows: &[Row], label: &str, figure: fn(&Row) -> f64) -> (String, Vec<f64>) {
    (label.to_owned(), rows.iter().map(figure).collect())
}

/// Shows the result: how many times as fast as in full.
fn speed_ups(rows: &[Row]) -> Chart {
    let speed_ups = vec![
        series(rows, "requests read", |row| row.speed_up.unwrap_or(1.0)),
        series(rows, "responses written", |row| row.encode_speed_up.unwrap_or(1.0)),
    ];
    bars(
        "How much faster it is to read and write only what differs from the message before (1: as fast as in full)",
        "times as fast",
        rows,
        speed_ups,
    )
}

/// Compares the requests of all streams.
fn decoding(rows: &[Row]) -> [Chart; 2] {
    let rates = vec![
        series(rows, "in full", |row| row.regular_decode_mb_per_second),
        series(rows, "by difference", |row| row.differential_decode_mb_per_second),
    ];
    let fast = vec![series(rows, "skipped", |row| row.fast_share * 100.0)];
    [
        bars("Speed of reading requests", "MB/s", rows, rates),
        bars("Bytes that equal earlier ones, and were skipped", "% of bytes", rows, fast),
    ]
}

/// Compares the responses of all streams.
fn encoding(rows: &[Row]) -> [Chart; 2] {
    let rates = vec![
        series(rows, "in full", |row| row.regular_encode_mb_per_second),
        series(rows, "by difference", |row| row.differential_encode_mb_per_second),
    ];
    let matches = vec![
        series(rows, "same content", |row| row.matches.content * 100.0),
        series(rows, "values of the same lengths", |row| row.matches.perfect * 100.0),
        series(rows, "values of other lengths", |row| row.matches.partial * 100.0),
        series(rows, "no earlier one", |row| row.matches.first * 100.0),
    ];
    [
        bars("Speed of writing responses", "MB/s", rows, rates),
        bars("How responses match earlier ones", "% of responses", rows, matches),
    ]
}

fn bars(title: &str, unit: &str, rows: &[Row], series: Vec<(String, Vec<f64>)>) -> Chart {
    Chart::bars(title, "stream", unit, rows.iter().map(|row| row.stream.to_owned()).collect(), series)
}

/// Maximum number of points of a line; for a longer stream, each point is the median of several
/// messages.
const POINTS: usize = 150;

/// Maximum number of messages that are drawn as dots.
const FEW: usize = 20;

/// Adds the time of each message of a stream.
fn times(page: &mut Page, outcome: &Outcome) {
    let first = &outcome.plays[0];
    let step = first.regular.decodes.len().div_ceil(POINTS).max(1);
    // Dots show that there are only a few messages.
    let mark = if first.regular.decodes.len() <= FEW { Mark::Both } else { Mark::Line };
    let line = |label: &str, readings: &Readings| {
        let heights = microseconds(&readings.decodes, step).into_iter().enumerate();
        let points = heights.map(|(index, time)| ((index * step + 1) as f64, time)).collect();
        Line { name: label.to_owned(), points, mark }
    };
    let lines = vec![line("in full", &first.regular), line("by difference", &first.differential)];
    let across = match step {
        1 => "message".to_owned(),
        _ => format!("message (each point is the median of {step})"),
    };
    page.chart(&Chart::lines(format!("Time to read each request: {}", outcome.name.label()), across, "µs", lines));
}

fn microseconds(times: &[Duration], step: usize) -> Vec<f64> {
    times.chunks(step).map(|times| median_time(times.iter().copied()).as_secs_f64() * 1e6).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_streams_are_condensed_by_medians() {
        let times: Vec<_> = [5, 1, 9, 2, 2].map(Duration::from_micros).into();
        assert_eq!(microseconds(&times, 3).iter().map(|time| time.round()).collect::<Vec<_>>(), [5.0, 2.0]);
    }
}
