//! The demo's figures as a page with plots.

use super::meter::Readings;
use super::report::{self, INTRODUCTION, LEGEND, Outcome, Row, headline, requests, responses};
use crate::figures::median_time;
use deltasoap_report::{Chart, Grid, Line, Mark, Page};
use std::time::Duration;

/// Returns the page.
pub fn page(outcomes: &[Outcome]) -> Page {
    let rows: Vec<Row> = outcomes.iter().map(Row::new).collect();
    let mut page = Page::new("deltasoap demo");
    headline(&rows).lines().for_each(|line| page.paragraph(line));
    page.chart(&speed_ups(&rows));
    report::busy(&rows).iter().for_each(|busy| page.warning(busy));
    page.section("Figures");
    page.prose(INTRODUCTION);
    page.grid(&Grid { title: "Requests".to_owned(), ..requests(&rows) });
    page.grid(&Grid { title: "Responses".to_owned(), ..responses(&rows) });
    page.prose(LEGEND);
    page.section("Decoding");
    decoding(&rows).iter().for_each(|chart| page.chart(chart));
    page.section("Encoding");
    encoding(&rows).iter().for_each(|chart| page.chart(chart));
    page.section("Message by message");
    page.paragraph("Time to decode each message at the server, in the first play. The first message of a stream has no earlier one to be compared with.");
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
    bars("Speed of working on differences; 1 is the speed in full", "times", rows, speed_ups)
}

/// Compares the requests of all streams.
fn decoding(rows: &[Row]) -> [Chart; 2] {
    let rates = vec![
        series(rows, "in full", |row| row.regular_decode_mb_per_second),
        series(rows, "differences", |row| row.differential_decode_mb_per_second),
    ];
    let fast = vec![series(rows, "skipped", |row| row.fast_share * 100.0)];
    [bars("Rate of decoding", "MB/s", rows, rates), bars("Bytes skipped", "% of bytes", rows, fast)]
}

/// Compares the responses of all streams.
fn encoding(rows: &[Row]) -> [Chart; 2] {
    let rates = vec![
        series(rows, "in full", |row| row.regular_encode_mb_per_second),
        series(rows, "differences", |row| row.differential_encode_mb_per_second),
    ];
    let matches = vec![
        series(rows, "content", |row| row.matches.content * 100.0),
        series(rows, "perfect structural", |row| row.matches.perfect * 100.0),
        series(rows, "partial structural", |row| row.matches.partial * 100.0),
        series(rows, "first time", |row| row.matches.first * 100.0),
    ];
    [bars("Rate of encoding", "MB/s", rows, rates), bars("Matches of responses", "% of responses", rows, matches)]
}

fn bars(title: &str, unit: &str, rows: &[Row], series: Vec<(String, Vec<f64>)>) -> Chart {
    Chart::bars(title, "stream", unit, rows.iter().map(|row| row.stream.to_owned()).collect(), series)
}

/// Maximum number of points of a line; for a longer stream, each point is the median of several
/// messages.
const POINTS: usize = 150;

/// Adds the time of each message of a stream.
fn times(page: &mut Page, outcome: &Outcome) {
    let first = &outcome.plays[0];
    let step = first.regular.decodes.len().div_ceil(POINTS).max(1);
    let line = |label: &str, readings: &Readings| {
        let heights = microseconds(&readings.decodes, step).into_iter().enumerate();
        let points = heights.map(|(index, time)| ((index * step + 1) as f64, time)).collect();
        Line { name: label.to_owned(), points, mark: Mark::Line }
    };
    let lines = vec![line("in full", &first.regular), line("differences", &first.differential)];
    if step > 1 {
        page.paragraph(&format!("Each point is the median of {step} messages."));
    }
    page.chart(&Chart::lines(outcome.name.label(), "message", "µs", lines));
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
