//! Test results, by peer and side.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// The rows of a table: features, by their names in the tests, each with a title.
pub type Rows = &'static [(&'static str, &'static str)];

/// Features tested with the service of `bench.wsdl`: kinds of messages.
pub const MESSAGES: Rows = &[
    ("arrays", "arrays of each type"),
    ("values", "values at the edge"),
    ("similar", "similar messages"),
    ("structs", "structs: absent, nil"),
    ("faults", "typed faults"),
    ("headers", "header blocks"),
    ("utf-16", "UTF-16"),
    ("chunked", "chunked"),
    ("length", "Content-Length"),
    ("gzip", "gzip"),
    ("tls", "TLS"),
    ("mtom", "MTOM"),
    ("one-way", "one-way"),
];

/// Features tested with the services of `types.wsdl` and `encoded.wsdl`: kinds of values.
pub const VALUES: Rows = &[
    ("literal primitives", "literal: primitive types"),
    ("literal nil", "literal: nil, absent"),
    ("literal choice", "literal: choices"),
    ("literal polymorphism", "literal: derived types"),
    ("literal lists", "literal: arrays of each kind"),
    ("literal large", "literal: large arrays"),
    ("literal headers", "literal: header blocks"),
    ("literal faults", "literal: typed faults"),
    ("literal utf-16", "literal: UTF-16"),
    ("encoded primitives", "encoded: primitive types"),
    ("encoded nil", "encoded: nil, absent"),
    ("encoded polymorphism", "encoded: derived types"),
    ("encoded arrays", "encoded: arrays of each kind"),
    ("encoded sparse", "encoded: sparse, partial"),
    ("encoded large", "encoded: large arrays"),
    ("encoded references", "encoded: shared, cyclic"),
    ("encoded headers", "encoded: header blocks"),
    ("encoded faults", "encoded: typed faults"),
];

/// Features tested with the services whose WSDLs our server makes from code.
pub const CODED: Rows = &[
    ("coded structs", "structs, options, lists"),
    ("coded faults", "typed faults"),
    ("coded headers", "header blocks"),
    ("coded one-way", "one-way"),
    ("coded arrays", "arrays in SOAP encoding"),
];

/// The same features, tested with services in Python under ASGI.
pub const ASGI: Rows = &[
    ("coded structs", "Python: structs, options, lists"),
    ("coded faults", "Python: typed faults"),
    ("coded headers", "Python: header blocks"),
    ("coded one-way", "Python: one-way"),
    ("coded arrays", "Python: arrays in SOAP encoding"),
];

/// Features tested through `deltasoap gateway`, with clients in other languages that know only JSON.
pub const JSON: Rows = &[
    ("json structs", "structs: absent, nil"),
    ("json arrays", "arrays"),
    ("json values", "values at the edge"),
    ("json faults", "faults as problems"),
    ("json lines", "lists in lines"),
    ("json one-way", "one-way"),
];

/// Features tested with the service that requires WS-Addressing.
pub const ADDRESSING: Rows = &[("addressing calls", "calls"), ("addressing faults", "faults, refusals")];

/// Features tested with the services that require WS-Security.
pub const SECURITY: Rows = &[
    ("security signed", "signed"),
    ("security encrypted", "signed, encrypted"),
    ("security user", "user and password"),
];

/// Features tested with the TR-069 server: whole sessions.
pub const SESSIONS: Rows = &[("sessions", "sessions of TR-069")];

/// Replaces a test's name if a peer lacks the whole feature.
pub const ALL: &str = "all of it";

/// The versions of SOAP, each with its own rows.
pub const VERSIONS: [&str; 2] = ["1.1", "1.2"];

/// The side that the peer was on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    Client,
    Server,
}

/// One line of a program's output.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TestResult {
    pub soap: String,
    pub feature: String,
    pub test: String,
    pub ok: bool,
    /// The error, if the test failed.
    pub detail: String,
    /// Why the peer does not offer what is tested, if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
}

/// All results of a peer on one side.
#[derive(Debug)]
pub struct Column {
    pub peer: &'static str,
    pub side: Side,
    /// The rows that must have results.
    pub rows: Rows,
    pub results: Vec<TestResult>,
}

impl Column {
    /// Parses the lines of a program's output.
    pub fn parse(peer: &'static str, side: Side, rows: Rows, lines: &str) -> Result<Self> {
        let parse = |line| serde_json::from_str(line).with_context(|| format!("unexpected line for {peer}: {line}"));
        Ok(Column { peer, side, rows, results: lines.lines().map(parse).collect::<Result<_>>()? })
    }

    /// Adds what the peer does not offer. An entry names a feature, which gets a result in each
    /// version, a version, which gets a result for each feature, or the prefix of features, ending
    /// in `*`. Rows that have results already are left alone.
    pub fn note_unsupported(&mut self, unsupported: &[(&str, &str)]) {
        for (feature, reason) in unsupported {
            let missing: Vec<_> = self.missing().into_iter().filter(|row| names(feature, row)).collect();
            self.results.extend(missing.into_iter().map(|(soap, feature)| unsupported_result(soap, feature, reason)));
        }
    }

    /// Returns the rows without results: versions and features.
    pub fn missing(&self) -> Vec<(&'static str, &'static str)> {
        let rows = self.rows.iter().flat_map(|(feature, _)| VERSIONS.map(|soap| (soap, *feature)));
        rows.filter(|(soap, feature)| self.of(soap, feature).next().is_none()).collect()
    }

    /// Adds a result on whether our server has skipped bytes that it had decoded before, in all of
    /// the column's requests.
    pub fn note_comparison(&mut self, fast_bytes: u64) {
        let detail = if fast_bytes == 0 { "no byte of any request was skipped" } else { "" };
        self.results.extend(VERSIONS.map(|soap| TestResult {
            soap: soap.to_owned(),
            feature: "similar".to_owned(),
            test: "requests were read differentially, both versions together".to_owned(),
            ok: fast_bytes > 0,
            detail: detail.to_owned(),
            skipped: None,
        }));
    }

    /// Returns the results of one row.
    pub fn of<'a>(&'a self, soap: &'a str, feature: &'a str) -> impl Iterator<Item = &'a TestResult> {
        self.results.iter().filter(move |result| result.soap == soap && result.feature == feature)
    }
}

/// Returns true if the restriction applies to the row.
fn names(entry: &str, (soap, feature): &(&str, &str)) -> bool {
    match entry.strip_suffix('*') {
        Some(beginning) => feature.starts_with(beginning),
        None => entry == *feature || entry == *soap,
    }
}

fn unsupported_result(soap: &str, feature: &str, reason: &str) -> TestResult {
    let (detail, test) = (String::new(), ALL.to_owned());
    let skipped = Some(reason.to_owned());
    TestResult { soap: soap.to_owned(), feature: feature.to_owned(), test, ok: true, detail, skipped }
}

#[derive(Serialize)]
struct Record<'a> {
    peer: &'a str,
    side: Side,
    #[serde(flatten)]
    result: &'a TestResult,
}

/// Returns every result with its peer and side.
pub fn to_json(columns: &[Column]) -> Result<String> {
    let records = columns
        .iter()
        .flat_map(|column| column.results.iter().map(|result| Record { peer: column.peer, side: column.side, result }));
    Ok(serde_json::to_string_pretty(&records.collect::<Vec<_>>())?)
}
