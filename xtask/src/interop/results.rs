//! Results of tests, by peer and side.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// The rows of the table, in the words of the tests.
pub const FEATURES: [(&str, &str); 13] = [
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

/// The versions of SOAP, each with rows of its own.
pub const VERSIONS: [&str; 2] = ["1.1", "1.2"];

/// Which side the peer was on.
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
    /// What is wrong, if something is.
    pub detail: String,
    /// Why the peer has nothing to be tested, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
}

/// All results of a peer on one side.
#[derive(Debug)]
pub struct Column {
    pub peer: &'static str,
    pub side: Side,
    pub results: Vec<TestResult>,
}

impl Column {
    /// From the lines of a program.
    pub fn parse(peer: &'static str, side: Side, lines: &str) -> Result<Self> {
        let parse = |line| serde_json::from_str(line).with_context(|| format!("unexpected line for {peer}: {line}"));
        Ok(Column { peer, side, results: lines.lines().map(parse).collect::<Result<_>>()? })
    }

    /// Adds a result on whether our server has passed over bytes that it had read before, in all the column's requests.
    pub fn note_comparison(&mut self, fast_bytes: u64) {
        let detail = if fast_bytes == 0 { "no byte of any request was passed over" } else { "" };
        self.results.extend(VERSIONS.map(|soap| TestResult {
            soap: soap.to_owned(),
            feature: "similar".to_owned(),
            test: "requests were read differentially, both versions together".to_owned(),
            ok: fast_bytes > 0,
            detail: detail.to_owned(),
            skipped: None,
        }));
    }

    /// The results of one row.
    pub fn of<'a>(&'a self, soap: &'a str, feature: &'a str) -> impl Iterator<Item = &'a TestResult> {
        self.results.iter().filter(move |result| result.soap == soap && result.feature == feature)
    }
}

#[derive(Serialize)]
struct Record<'a> {
    peer: &'a str,
    side: Side,
    #[serde(flatten)]
    result: &'a TestResult,
}

/// Every result with its peer and side.
pub fn to_json(columns: &[Column]) -> Result<String> {
    let records = columns
        .iter()
        .flat_map(|column| column.results.iter().map(|result| Record { peer: column.peer, side: column.side, result }));
    Ok(serde_json::to_string_pretty(&records.collect::<Vec<_>>())?)
}
