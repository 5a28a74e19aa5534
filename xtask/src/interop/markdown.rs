//! The results as Markdown, for `docs/interop.md`: the number of passing tests, and everything that
//! a peer does not offer.

use super::results::{
    ADDRESSING, ASGI, CODED, Column, JSON, MESSAGES, Rows, SECURITY, SESSIONS, Side, TestResult, VALUES, VERSIONS,
};

const HEAD: &str = "# Tests with other toolkits

Written by `cargo xtask interop --markdown docs/interop.md`.
[tests/interop](../tests/interop/README.md) describes the tests. A cell shows the number of tests
that pass; if the peer does not support all of them, it also shows the total. `-` means that the
peer supports none. In a client column, the peer's client calls our server; in a server column, our
client calls the peer's server. vSphere's simulator and CwmpClient, a TR-069 device, exchange other
messages: see [vsphere.md](vsphere.md) and [cwmp.md](cwmp.md).
";

const CODED_INTRODUCTION: &str =
    "These services have no WSDL of their own: our server makes it from Rust types. Each toolkit reads
it under `?wsdl`, generates code or stubs from it, and calls every operation.

";

const ASGI_INTRODUCTION: &str = "The same services as functions in Python, an application of ASGI under uvicorn.

";

const JSON_INTRODUCTION: &str =
    "Clients in TypeScript and Python that openapi-typescript and openapi-python-client make from the
document of `deltasoap gateway` call the servers through the gateway.

";

/// Returns the whole file.
pub fn of(columns: &[Column]) -> String {
    let messages = section("Messages", "", MESSAGES, columns);
    let values = section("Values", "", VALUES, columns);
    let coded = section("WSDLs from code", CODED_INTRODUCTION, CODED, columns);
    let asgi = section("Services in Python", ASGI_INTRODUCTION, ASGI, columns);
    let json = section("JSON through the gateway", JSON_INTRODUCTION, JSON, columns);
    let sessions = section("TR-069 sessions", "", SESSIONS, columns);
    let addressing = section("WS-Addressing", "", ADDRESSING, columns);
    let security = section("WS-Security", "", SECURITY, columns);
    format!("{HEAD}{messages}{values}{coded}{asgi}{json}{addressing}{security}{sessions}{}", unsupported_rows(columns))
}

fn section(title: &str, introduction: &str, rows: Rows, columns: &[Column]) -> String {
    let columns: Vec<_> = columns.iter().filter(|column| column.rows == rows).collect();
    let peers = columns.iter().map(|column| format!("{} {}", column.peer, name(column.side)));
    let titles: Vec<_> = ["".to_owned(), "SOAP".to_owned()].into_iter().chain(peers).collect();
    let mut text =
        format!("\n## {title}\n\n{introduction}{}{}", line(&titles), line(&vec!["---".to_owned(); titles.len()]));
    for (feature, title) in rows {
        for soap in VERSIONS {
            let cells = columns.iter().map(|column| cell(column, soap, feature));
            text += &line(&[(*title).to_owned(), soap.to_owned()].into_iter().chain(cells).collect::<Vec<_>>());
        }
    }
    text
}

fn line(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

fn name(side: Side) -> &'static str {
    if side == Side::Client { "client" } else { "server" }
}

fn cell(column: &Column, soap: &str, feature: &str) -> String {
    let run = column.of(soap, feature).filter(|result| result.skipped.is_none());
    let (all, passed) = (column.of(soap, feature).count(), run.filter(|result| result.ok).count());
    match passed {
        0 => "-".to_owned(),
        passed if passed == all => passed.to_string(),
        passed => format!("{passed} of {all}"),
    }
}

/// Returns a row for each peer, side and reason.
fn unsupported_rows(columns: &[Column]) -> String {
    let titles = ["peer", "side", "unsupported", "reason"].map(str::to_owned);
    let mut text = format!("\n## Unsupported\n\n{}{}", line(&titles), line(&["---"; 4].map(str::to_owned)));
    for column in columns {
        for (reason, features) in by_reason(&column.results) {
            let cells = [column.peer.to_owned(), name(column.side).to_owned(), features.join("; "), reason.to_owned()];
            text += &line(&cells);
        }
    }
    text
}

/// Groups what is missing by reason, in the order of the results.
fn by_reason(results: &[TestResult]) -> Vec<(&str, Vec<String>)> {
    let mut all: Vec<(&str, Vec<String>)> = Vec::new();
    for result in results {
        let Some(reason) = result.skipped.as_deref() else { continue };
        let in_both = results.iter().filter(|other| is_same_test(other, result)).count() == VERSIONS.len();
        let version = if in_both { String::new() } else { format!(" (SOAP {})", result.soap) };
        let feature = format!("{}{version}", titled(result));
        match all.iter_mut().find(|(known, _)| *known == reason) {
            None => all.push((reason, vec![feature])),
            Some((_, others)) if others.contains(&feature) => {}
            Some((_, others)) => others.push(feature),
        }
    }
    all
}

fn is_same_test(one: &TestResult, other: &TestResult) -> bool {
    (&one.feature, &one.test, &one.skipped) == (&other.feature, &other.test, &other.skipped)
}

fn titled(result: &TestResult) -> String {
    let TestResult { feature, test, .. } = result;
    if test == super::results::ALL { feature.clone() } else { format!("{feature}: {test}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(soap: &str, feature: &str, test: &str, skipped: Option<&str>) -> TestResult {
        let [soap, feature, test] = [soap, feature, test].map(str::to_owned);
        TestResult { soap, feature, test, ok: true, detail: String::new(), skipped: skipped.map(str::to_owned) }
    }

    #[test]
    fn unsupported_features_are_listed_once_with_their_reason() {
        let results = vec![
            result("1.1", "mtom", "a", None),
            result("1.1", "mtom", "b", Some("no parts")),
            result("1.2", "mtom", "b", Some("no parts")),
            result("1.2", "tls", "all of it", Some("no parts")),
        ];
        let column = Column { peer: "x", side: Side::Server, rows: MESSAGES, results };
        assert_eq!(cell(&column, "1.1", "mtom"), "1 of 2");
        assert_eq!(cell(&column, "1.2", "mtom"), "-");
        let text = of(&[column]);
        assert!(text.ends_with("| x | server | mtom: b; tls (SOAP 1.2) | no parts |\n"), "{text}");
        assert!(text.contains("| MTOM | 1.1 | 1 of 2 |"), "{text}");
        assert!(text.contains("\n\n## WSDLs from code\n\nThese services"), "{text}");
        assert!(text.contains("calls every operation.\n\n| "), "{text}");
    }
}
