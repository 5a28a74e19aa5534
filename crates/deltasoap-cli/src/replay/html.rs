//! The page of a replay: the table, plots, and everything that was not an operation's message.

use super::report::{Gain, LEGEND, Report, Row};
use deltasoap_report::{Chart, Grid, Page};

/// Returns the page.
pub fn page(report: &Report) -> Page {
    let mut page = Page::new("deltasoap replay");
    report.busy.iter().for_each(|busy| page.warning(&busy.warning()));
    page.section("Operations");
    page.grid(&Grid { title: "Messages of each operation".to_owned(), ..report.table() });
    page.prose(LEGEND);
    if report.rows.iter().any(|row| row.differential.is_some()) {
        page.section("Differential decoding");
        charts(&report.rows).iter().for_each(|chart| page.chart(chart));
    }
    for (heading, entries) in report.lists() {
        page.section(heading);
        page.list(entries.iter().map(String::as_str));
    }
    page
}

fn charts(rows: &[Row]) -> [Chart; 2] {
    let operations = || rows.iter().map(|row| row.operation.clone()).collect();
    let gain = |figure: fn(&Gain) -> f64| {
        rows.iter().map(|row| row.differential.as_ref().map_or(f64::NAN, figure)).collect::<Vec<_>>()
    };
    let rates = vec![
        ("in full".to_owned(), rows.iter().map(|row| row.regular_mb_per_second).collect()),
        ("by difference".to_owned(), gain(|gain| gain.differential_mb_per_second)),
    ];
    let shares = vec![
        ("equal".to_owned(), gain(|gain| gain.similarity * 100.0)),
        ("skipped".to_owned(), gain(|gain| gain.fast_share * 100.0)),
    ];
    [
        Chart::bars("Speed of decoding", "operation", "MB/s", operations(), rates),
        Chart::bars("Bytes that equal those of the previous message", "operation", "% of bytes", operations(), shares),
    ]
}
