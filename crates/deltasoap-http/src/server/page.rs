//! What a browser sees: the description, or a short page that lists the operations.

use super::dispatch::Table;
use super::operation::Operation;
use super::stats::ServiceStats;
use deltasoap_core::{Buffer, DifferentialStats, EncodeStats, QName};
use deltasoap_xml::Escape;
use http::Uri;
use http::header::{HOST, HeaderMap};
use http::uri::Authority;
use std::fmt::Write as _;

/// True for a request for the description: `?wsdl`, in any case.
pub(crate) fn is_for_description(uri: &Uri) -> bool {
    uri.query().is_some_and(|query| ["wsdl", "singlewsdl"].iter().any(|word| query.eq_ignore_ascii_case(word)))
}

/// The URL that a request was sent to, without its query; `None` if the request names no host.
pub(crate) fn own_url(uri: &Uri, headers: &HeaderMap, scheme: &str) -> Option<String> {
    let from_header = || headers.get(HOST)?.to_str().ok()?.parse::<Authority>().ok();
    let authority = uri.authority().cloned().or_else(from_header)?;
    Some(format!("{}://{authority}{}", uri.scheme_str().unwrap_or(scheme), uri.path()))
}

/// The page that lists the operations, and what differential decoding and serialization did for each.
pub(crate) fn listing(name: &str, operations: &Table, has_description: bool, stats: &ServiceStats) -> String {
    let mut operations: Vec<&Operation> = operations.iter().collect();
    operations.sort_by(|a, b| (&a.name().local, &a.name().namespace).cmp(&(&b.name().local, &b.name().namespace)));
    let title = escape(name);
    let mut page = format!("<!DOCTYPE html>\n<html lang=\"en\">\n<title>{title}</title>\n<h1>{title}</h1>\n");
    if has_description {
        page.push_str("<p><a href=\"?wsdl\">WSDL</a></p>\n");
    }
    page.push_str("<ul>\n");
    operations.iter().for_each(|operation| list_operation(&mut page, operation));
    page.push_str("</ul>\n");
    push_differential(&mut page, stats);
    push_encode(&mut page, stats);
    page.push_str("</html>\n");
    page
}

/// How numbers stand in tables.
const STYLE: &str = "<style>td { text-align: right; padding: 0 .5em; font-variant-numeric: tabular-nums } \
    td:first-child { text-align: left } th { padding: 0 .5em }</style>\n";

const COLUMNS: [&str; 9] = [
    "operation",
    "messages",
    "compared",
    "skipped, bytes",
    "read, bytes",
    "skipped",
    "leaves read again",
    "time saved",
    "kept, bytes",
];

/// The table of what differential decoding did.
fn push_differential(page: &mut String, stats: &ServiceStats) {
    page.push_str(STYLE);
    open_table(page, "Differential decoding", &COLUMNS);
    for (name, stats) in stats.operations() {
        push_row(page, name, &stats);
    }
    page.push_str("</table>\n");
}

/// A heading, and the first row of a table.
fn open_table(page: &mut String, title: &str, columns: &[&str]) {
    let _ = write!(page, "<h2>{title}</h2>\n<table>\n<tr>");
    columns.iter().for_each(|column| _ = write!(page, "<th>{column}</th>"));
    page.push_str("</tr>\n");
}

const ENCODE_COLUMNS: [&str; 9] = [
    "operation",
    "responses",
    "content match",
    "perfect structural match",
    "partial structural match",
    "first time",
    "sent, bytes",
    "written, bytes",
    "written",
];

/// The table of what differential serialization did.
fn push_encode(page: &mut String, stats: &ServiceStats) {
    open_table(page, "Differential serialization", &ENCODE_COLUMNS);
    for (name, stats) in stats.responses() {
        push_encode_row(page, name, &stats);
    }
    page.push_str("</table>\n");
}

fn push_encode_row(page: &mut String, name: &QName, stats: &EncodeStats) {
    let EncodeStats { messages, content, perfect, partial, first, bytes, written, .. } = *stats;
    let _ = write!(page, "<tr><td><code>{}</code></td>", escape(&name.to_string()));
    for number in [messages, content, perfect, partial, first, bytes, written] {
        let _ = write!(page, "<td>{number}</td>");
    }
    let _ = writeln!(page, "<td>{:.1}&nbsp;%</td></tr>", 100.0 * written as f64 / bytes.max(1) as f64);
}

fn push_row(page: &mut String, name: &QName, stats: &DifferentialStats) {
    let share = stats.fast_bytes as f64 / (stats.fast_bytes + stats.regular_bytes).max(1) as f64;
    let net = stats.saved.as_secs_f64() - stats.lost.as_secs_f64();
    let _ = write!(page, "<tr><td><code>{}</code></td>", escape(&name.to_string()));
    for number in [stats.messages, stats.compared, stats.fast_bytes, stats.regular_bytes] {
        let _ = write!(page, "<td>{number}</td>");
    }
    let _ = write!(page, "<td>{:.1}&nbsp;%</td><td>{}</td>", 100.0 * share, stats.leaves);
    let _ = writeln!(page, "<td>{:.3}&nbsp;ms</td><td>{}</td></tr>", 1000.0 * net, stats.memory);
}

/// One line of the list; writing into a `String` cannot fail.
fn list_operation(page: &mut String, operation: &Operation) {
    let one_way = if operation.is_one_way() { " (one-way)" } else { "" };
    let _ = write!(page, "<li><code>{}</code>{one_way}", escape(&operation.name().to_string()));
    if !operation.described_action().is_empty() {
        let _ = write!(page, ", action <code>{}</code>", escape(operation.described_action()));
    }
    page.push_str("</li>\n");
}

/// Text as it stands in XML or HTML, also between quotes of either kind.
pub(crate) fn escape(text: &str) -> String {
    let mut buffer = Buffer::new();
    buffer.push_text(text, Escape::Attribute);
    String::from_utf8_lossy(buffer.as_slice()).replace('\'', "&#39;")
}
