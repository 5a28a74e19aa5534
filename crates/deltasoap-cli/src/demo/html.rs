//! The demo's figures as an HTML page: one file that needs no other.

use super::meter::Readings;
use super::plot::{self, DIFFERENTIAL, FIRST, PARTIAL, PERFECT, REGULAR, Series};
use super::report::{LEGEND, Outcome, REQUESTS, RESPONSES, Row};
use crate::figures::median;
use crate::files;
use anyhow::Result;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use plotters::style::RGBColor;
use std::fs;
use std::path::Path;
use std::time::Duration;

const STYLE: &str = "
body { font-family: sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; font-size: 90%; }
th, td { padding: .3em .7em; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; }
svg { max-width: 100%; height: auto; }
p { max-width: 55em; line-height: 1.4; }
";

/// Writes the page, and makes the directory that it stands in.
pub fn write(path: &Path, outcomes: &[Outcome]) -> Result<()> {
    let page = page(outcomes)?.into_string();
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    Ok(files::write(path, page.as_bytes())?)
}

fn page(outcomes: &[Outcome]) -> Result<Markup> {
    let rows: Vec<Row> = outcomes.iter().map(Row::new).collect();
    let times = outcomes.iter().map(times).collect::<Result<Vec<_>>>()?;
    Ok(html! {
        (DOCTYPE)
        html lang="en" {
            head { meta charset="utf-8"; title { "deltasoap demo" } style { (PreEscaped(STYLE)) } }
            body {
                h1 { "deltasoap demo" }
                (table(&REQUESTS, rows.iter().map(Row::request_cells)))
                (table(&RESPONSES, rows.iter().map(Row::response_cells)))
                @for line in LEGEND.lines() { p { (line) } }
                @for row in &rows {
                    @if let Some(busy) = row.busy { p { (row.stream) ": " (busy) " meanwhile: times are doubtful." } }
                }
                (decoding(&rows)?)
                (encoding(&rows)?)
                h2 { "Message by message" }
                p { "Time to decode each message at the server, in the first play. The first one of a stream has none to be compared with." }
                @for time in times { (time) }
            }
        }
    })
}

fn table<const N: usize>(headings: &[&str], rows: impl Iterator<Item = [String; N]>) -> Markup {
    html! {
        table {
            thead { tr { @for heading in headings { th { (heading) } } } }
            tbody { @for cells in rows { tr { @for cell in cells { td { (cell) } } } } }
        }
    }
}

/// A figure of all streams.
fn series(rows: &[Row], label: &'static str, color: RGBColor, figure: fn(&Row) -> f64) -> Series {
    Series { label, color, values: rows.iter().map(figure).collect() }
}

/// The requests of all streams beside each other.
fn decoding(rows: &[Row]) -> Result<Markup> {
    let rates = [
        series(rows, "regular", REGULAR, |row| row.regular_decode_mb_per_second),
        series(rows, "differential", DIFFERENTIAL, |row| row.differential_decode_mb_per_second),
    ];
    let speed_up = [series(rows, "speed-up", DIFFERENTIAL, |row| row.speed_up.unwrap_or(1.0))];
    let fast = [series(rows, "skipped", DIFFERENTIAL, |row| row.fast_share * 100.0)];
    Ok(html! {
        h2 { "Rate of decoding" } (bars("MB/s", rows, &rates)?)
        h2 { "Speed-up" } (bars("times", rows, &speed_up)?)
        h2 { "Bytes in fast mode" } (bars("% of bytes", rows, &fast)?)
    })
}

/// The responses of all streams beside each other.
fn encoding(rows: &[Row]) -> Result<Markup> {
    let rates = [
        series(rows, "in full", REGULAR, |row| row.regular_encode_mb_per_second),
        series(rows, "templates", DIFFERENTIAL, |row| row.differential_encode_mb_per_second),
    ];
    let matches = [
        series(rows, "content", DIFFERENTIAL, |row| row.matches.content * 100.0),
        series(rows, "perfect structural", PERFECT, |row| row.matches.perfect * 100.0),
        series(rows, "partial structural", PARTIAL, |row| row.matches.partial * 100.0),
        series(rows, "first time", FIRST, |row| row.matches.first * 100.0),
    ];
    Ok(html! {
        h2 { "Rate of encoding" } (bars("MB/s", rows, &rates)?)
        h2 { "Matches of responses" } (bars("% of responses", rows, &matches)?)
    })
}

fn bars(unit: &str, rows: &[Row], series: &[Series]) -> Result<Markup> {
    let names: Vec<&str> = rows.iter().map(|row| row.stream).collect();
    Ok(svg(plot::bars(unit, &names, series)?))
}

/// Points of a line at most; of a longer stream, each point is the median of several messages.
const POINTS: usize = 150;

/// The time of each message of a stream.
fn times(outcome: &Outcome) -> Result<Markup> {
    let first = &outcome.plays[0];
    let messages = first.regular.decodes.len();
    let step = messages.div_ceil(POINTS).max(1);
    let line =
        |label, color, readings: &Readings| Series { label, color, values: microseconds(&readings.decodes, step) };
    let lines = [line("regular", REGULAR, &first.regular), line("differential", DIFFERENTIAL, &first.differential)];
    Ok(html! {
        h3 { (outcome.name.label()) }
        @if step > 1 { p { "Each point is the median of " (step) " messages." } }
        (svg(plot::lines("µs", &lines, step)?))
    })
}

fn microseconds(times: &[Duration], step: usize) -> Vec<f64> {
    times.chunks(step).map(|times| median(times.iter().copied()).as_secs_f64() * 1e6).collect()
}

fn svg(text: String) -> Markup {
    PreEscaped(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_no_markup() {
        let evil = "<script>alert(1)</script>";
        let table = table(&[evil], [[evil.to_owned()]].into_iter()).into_string();
        let values = vec![1.0];
        let bars = plot::bars(evil, &[evil], &[Series { label: evil, color: REGULAR, values }]).expect("drawn");
        for page in [table, bars] {
            assert!(!page.contains("<script") && page.contains("&lt;script"), "{page}");
        }
    }

    #[test]
    fn long_streams_are_condensed_by_medians() {
        let times: Vec<_> = [5, 1, 9, 2, 2].map(Duration::from_micros).into();
        assert_eq!(microseconds(&times, 3).iter().map(|time| time.round()).collect::<Vec<_>>(), [5.0, 2.0]);
    }
}
