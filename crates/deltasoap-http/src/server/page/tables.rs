//! Statistics of differential decoding and serialization for each operation, as tables.

use super::super::stats::ServiceStats;
use deltasoap_core::{DifferentialStats, EncodeStats, QName};
use maud::{Markup, html};
use std::cmp::Ordering;

const DECODING: [&str; 9] = [
    "operation",
    "messages",
    "compared",
    "bytes skipped",
    "bytes read",
    "skipped",
    "leaves read again",
    "time saved",
    "bytes kept",
];

const SERIALIZATION: [&str; 9] = [
    "operation",
    "responses",
    "content match",
    "perfect structural match",
    "partial structural match",
    "first time",
    "bytes sent",
    "bytes written",
    "written",
];

/// Renders both tables.
pub(super) fn statistics(stats: &ServiceStats) -> Markup {
    let mut decoding: Vec<_> = stats.operations().filter(|(_, stats)| stats.messages > 0).collect();
    let mut serialization: Vec<_> = stats.responses().filter(|(_, stats)| stats.messages > 0).collect();
    decoding.sort_by(|(a, _), (b, _)| by_name(a, b));
    serialization.sort_by(|(a, _), (b, _)| by_name(a, b));
    let total = stats.snapshot();
    html! {
        section #statistics aria-labelledby="statistics-title" {
            h2 #statistics-title { "Statistics" }
            p { (total.messages) " messages answered, " (total.faults) " of them with a fault." }
            (table(
                "Differential decoding",
                "Requests are compared with earlier ones: bytes that are equal are skipped, the others are read.",
                &DECODING,
                decoding.iter().map(|(name, stats)| decoded(name, stats))
            ))
            (table(
                "Differential serialization",
                "Responses are written over earlier ones: only the bytes that differ are written.",
                &SERIALIZATION,
                serialization.iter().map(|(name, stats)| serialized(name, stats))
            ))
        }
    }
}

/// Compares operations by their order on the page.
pub(crate) fn by_name(a: &QName, b: &QName) -> Ordering {
    (&a.local, &a.namespace).cmp(&(&b.local, &b.namespace))
}

/// Returns a table with a row for each operation that had messages.
fn table(title: &str, about: &str, columns: &[&str], rows: impl ExactSizeIterator<Item = Markup>) -> Markup {
    html! {
        h3 { (title) }
        p.note { (about) }
        @if rows.len() == 0 { p.note { "No messages yet." } } @else { (scrolled(title, columns, rows)) }
    }
}

fn scrolled(title: &str, columns: &[&str], rows: impl Iterator<Item = Markup>) -> Markup {
    html! {
        // A table that is wider than the screen is scrolled, also by keyboard.
        div.scroll role="region" aria-label=(title) tabindex="0" {
            table {
                thead { tr { @for column in columns { th scope="col" { (column) } } } }
                tbody { @for row in rows { (row) } }
            }
        }
    }
}

fn decoded(name: &QName, stats: &DifferentialStats) -> Markup {
    let DifferentialStats { messages, compared, fast_bytes, regular_bytes, leaves, memory, .. } = *stats;
    let net = stats.saved.as_secs_f64() - stats.lost.as_secs_f64();
    html! {
        tr {
            (row_title(name))
            @for number in [messages, compared, fast_bytes, regular_bytes] { td { (number) } }
            td { (percent(fast_bytes, fast_bytes + regular_bytes)) }
            td { (leaves) }
            td { (format!("{:.3}\u{A0}ms", 1000.0 * net)) }
            td { (memory) }
        }
    }
}

fn serialized(name: &QName, stats: &EncodeStats) -> Markup {
    let EncodeStats { messages, content, perfect, partial, first, bytes, written, .. } = *stats;
    html! {
        tr {
            (row_title(name))
            @for number in [messages, content, perfect, partial, first, bytes, written] { td { (number) } }
            td { (percent(written, bytes)) }
        }
    }
}

fn row_title(name: &QName) -> Markup {
    html! { th scope="row" title=(name) { code { (name.local) } } }
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.1}\u{A0}%", 100.0 * part as f64 / whole.max(1) as f64)
}
