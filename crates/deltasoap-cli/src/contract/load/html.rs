//! The page of a load: the table, latencies, and the course over time.

use super::report::{LEGEND, Report, described};
use deltasoap_load::{Series, Stretch, Tally};
use deltasoap_report::{Chart, Grid, Line, Mark, Page};
use std::time::Duration;

/// Maximum number of operations in a plot.
const MAX_LINES: usize = 8;

/// Returns the page.
pub fn page(report: &Report) -> Page {
    let mut page = Page::new("deltasoap load");
    report.held.iter().for_each(|held| page.warning(&format!("Failed: {held}")));
    report.warnings().iter().for_each(|warning| page.warning(warning));
    page.paragraph(&format!("{}. {}", report.url, report.plan));
    page.section("Operations");
    page.grid(&Grid { title: "Requests of each operation".to_owned(), ..report.table() });
    page.paragraph(LEGEND);
    page.section("Latencies");
    page.chart(&latencies(report));
    if let Some(series) = &report.outcome.series {
        page.section("Over time");
        course(series, report.outcome.time).iter().for_each(|chart| page.chart(chart));
    }
    page.section("Errors");
    let failures: Vec<String> = report.failures().map(|(name, failure, all)| described(name, failure, all)).collect();
    match failures.is_empty() {
        true => page.paragraph("There were none."),
        false => page.list(failures.iter().map(String::as_str)),
    }
    page
}

/// Shows the distribution: how slow one request in ten, in a hundred and so on is.
fn latencies(report: &Report) -> Chart {
    let most = report.total.answered() as f64;
    let places: Vec<f64> = (0..=8).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power))).collect();
    let places: Vec<f64> = places.into_iter().filter(|place| *place <= most.max(1.0)).collect();
    let series = |name: &str, tally: &Tally| {
        let at = |place: &f64| match tally.answered() as f64 >= *place {
            true => tally.quantile_us(1.0 - 1.0 / place) / 1e3,
            // So rare a latency was not measured.
            false => f64::NAN,
        };
        (name.to_owned(), places.iter().map(at).collect::<Vec<_>>())
    };
    let all = Some(("all", &report.total)).filter(|_| report.kinds.len() > 1);
    let kinds = report.kinds.iter().map(|(name, tally)| (name.as_str(), tally));
    let measured = all.into_iter().chain(kinds).filter(|(_, tally)| tally.answered() > 0).take(MAX_LINES);
    Chart::curves(
        "The slowest request of so many",
        "requests, of which one is slower",
        "ms",
        &places,
        measured.map(|(name, tally)| series(name, tally)).collect(),
    )
}

/// Shows rate, latencies and errors over time.
fn course(series: &Series, whole: Duration) -> [Chart; 3] {
    let second = |index: usize| index as f64 * series.length.as_secs_f64();
    // The last stretch ends with the load.
    let length = |index: usize| (whole.as_secs_f64() - second(index)).clamp(1e-3, series.length.as_secs_f64());
    let line = |name: &str, figure: &dyn Fn(usize, &Stretch) -> f64| {
        let points = series.stretches.iter().enumerate().map(|(index, it)| (second(index), figure(index, it)));
        Line { name: name.to_owned(), points: points.filter(|(_, it)| it.is_finite()).collect(), mark: Mark::Line }
    };
    let quantile = |share: f64| {
        move |_: usize, it: &Stretch| match it.latencies.len() {
            0 => f64::NAN,
            _ => it.latencies.value_at_quantile(share) as f64 / 1e6,
        }
    };
    let rate = line("answers", &|index, it| it.latencies.len() as f64 / length(index));
    let errors = line("errors", &|index, it| it.failed as f64 / length(index));
    let quantiles = vec![line("p99", &quantile(0.99)), line("p50", &quantile(0.5))];
    [
        Chart::lines("Good answers", "s", "per second", vec![rate]),
        Chart::lines("Latency", "s", "ms", quantiles),
        Chart::lines("Errors", "s", "per second", vec![errors]),
    ]
}
