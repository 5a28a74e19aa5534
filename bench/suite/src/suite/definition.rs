//! The definition of the suite: `bench/definitions/suite.toml`, compiled in.

use std::fmt;

use anyhow::{Context, Result};
use clap::ValueEnum;
use serde::Deserialize;

use crate::load::kind::Share;

/// The operations of the suite, with their sizes and streams.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Definition {
    sizes: Vec<usize>,
    paper_sizes: Vec<usize>,
    paper_rows: Vec<String>,
    quick_sizes: Vec<usize>,
    smoke_sizes: Vec<usize>,
    smallest_in_process: usize,
    similarity: Vec<Similarity>,
    load: Vec<LoadDefinition>,
    /// The operations, in the order of reports.
    pub operation: Vec<Operation>,
    /// The toolkits that stand for the paper's.
    pub paper_toolkit: Vec<PaperToolkit>,
    /// Rows that prove nothing about toolkits.
    flaw: Vec<Flaw>,
}

/// Rows of a toolkit whose times are caused by something else than their subject. They are shown,
/// but not used to judge claims.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Flaw {
    /// The toolkit.
    engine: String,
    /// Patterns of the rows' names.
    rows: Vec<String>,
    /// The last date of records with the flaw, if it was fixed.
    until: Option<String>,
    /// The cause.
    why: String,
}

/// A toolkit of the paper.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperToolkit {
    /// Its name in the paper.
    pub paper: String,
    /// The toolkit that stands for it.
    pub engine: String,
    /// The exhibit that shows it; all exhibits if `None`.
    pub exhibit: Option<String>,
}

/// The extent of the suite's measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Everything.
    Full,
    /// Fewer sizes, streams and runs: minutes.
    Quick,
    /// The minimum that shows that everything works: seconds.
    Smoke,
}

/// An operation of `suite.wsdl`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// The name in the WSDL.
    pub name: String,
    /// The action with items.
    pub action: Action,
    /// The type of an item; empty if there are none.
    #[serde(default, rename = "type")]
    pub item: String,
    /// True if its messages are in SOAP encoding; it is then an operation of `suite-encoded.wsdl`.
    #[serde(default)]
    pub encoded: bool,
    /// The values, as in the in-process workloads; empty if there are none.
    #[serde(default)]
    pub values: String,
    /// A one-line description.
    #[serde(default)]
    pub description: String,
    /// Names of the streams of similar messages for its measurements.
    #[serde(default)]
    similarity: Vec<String>,
}

/// The action of an operation, from the client's view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Sends and receives nothing.
    Void,
    /// Sends items, and receives them.
    Echo,
    /// Sends items, and receives their number.
    Send,
    /// Sends a number, and receives as many items.
    Receive,
}

/// The difference of a message from its predecessor.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Similarity {
    /// The name in reports.
    pub name: String,
    /// Percentage of the items that get new values.
    #[serde(default)]
    pub changed: u32,
    /// Number of parts of the array.
    #[serde(default = "one")]
    pub clusters: usize,
    /// Other changes.
    #[serde(default)]
    pub change: Change,
}

/// The change of an array's items from message to message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Some items get new values.
    #[default]
    Values,
    /// One item gets a value of another length.
    Longer,
    /// Every other message has one more item.
    Insert,
}

/// A load of many clients on a server.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadDefinition {
    /// The message of each: `OPERATION[:ITEMS]`.
    pub message: String,
    /// Number of concurrent connections.
    pub connections: usize,
    /// Requests per second of an open loop; `None` for a closed loop.
    pub rate: Option<f64>,
    /// True if `--quick` also measures it.
    #[serde(default)]
    quick: bool,
}

fn one() -> usize {
    1
}

impl Definition {
    /// Reads the definition.
    ///
    /// # Errors
    /// When the file is malformed, or has an unknown name.
    pub fn load() -> Result<Self> {
        let definition: Self = toml::from_str(include_str!("../../../definitions/suite.toml"))
            .context("bench/definitions/suite.toml is malformed")?;
        definition.load.iter().try_for_each(|load| load.share().map(drop))?;
        definition.operation.iter().try_for_each(|operation| definition.streams(operation).map(drop))?;
        Ok(definition)
    }

    /// Removes the flaws, for artificial rows.
    #[cfg(test)]
    pub fn without_flaws(self) -> Self {
        Definition { flaw: vec![], ..self }
    }

    /// Returns the numbers of items in an array, ascending.
    pub fn sizes(&self, scope: Scope) -> &[usize] {
        match scope {
            Scope::Full => &self.sizes,
            Scope::Quick => &self.quick_sizes,
            Scope::Smoke => &self.smoke_sizes,
        }
    }

    /// Returns true if a row, named without its size, is measured with `n` items.
    pub fn has(&self, row: &str, n: usize) -> bool {
        !self.paper_sizes.contains(&n) || self.paper_rows.iter().any(|pattern| matches(pattern, row))
    }

    /// Returns the numbers of items for in-process parts, ascending.
    pub fn sizes_in_process(&self, scope: Scope) -> Vec<usize> {
        let large = self.sizes(scope).iter().copied().filter(|&n| n >= self.smallest_in_process);
        if scope == Scope::Smoke { self.smoke_sizes.clone() } else { large.collect() }
    }

    /// Returns the loads of many clients.
    pub fn loads(&self, scope: Scope) -> impl Iterator<Item = &LoadDefinition> {
        let is_measured = move |load: &&LoadDefinition| scope == Scope::Full || load.quick;
        self.load.iter().filter(is_measured).take(if scope == Scope::Smoke { 1 } else { usize::MAX })
    }

    /// Returns the largest size.
    pub fn largest(&self, scope: Scope) -> usize {
        self.sizes(scope).last().copied().unwrap_or(1)
    }

    /// Returns why the time of a toolkit in a row proves nothing, in a record of that date
    /// (`2026-11-23`); `None` if it is valid.
    pub fn flaw(&self, engine: &str, row: &str, date: &str) -> Option<&str> {
        let is_meant = |flaw: &&Flaw| {
            flaw.engine == engine
                && flaw.rows.iter().any(|pattern| matches(pattern, row))
                && flaw.until.as_ref().is_none_or(|until| date <= &**until)
        };
        self.flaw.iter().find(is_meant).map(|flaw| &*flaw.why)
    }

    /// Returns the streams of similar messages of an operation.
    ///
    /// # Errors
    /// When a name is unknown.
    pub fn streams(&self, operation: &Operation) -> Result<Vec<&Similarity>> {
        let find = |name: &String| {
            let found = self.similarity.iter().find(|similarity| similarity.name == *name);
            found.with_context(|| format!("suite.toml has no similarity named {name:?}"))
        };
        operation.similarity.iter().map(find).collect()
    }
}

/// Returns true if `text` matches a pattern, in which `*` stands for any text.
pub fn matches(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut left) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(place) = left.find(part) else { return false };
        left = &left[place + part.len()..];
    }
    left.ends_with(last)
}

impl Operation {
    /// Returns the name without the action: `Ints`.
    pub fn items(&self) -> &str {
        self.name.trim_start_matches(self.action.name())
    }
}

impl Action {
    /// Returns the prefix of operation names.
    pub fn name(self) -> &'static str {
        match self {
            Action::Void => "echoVoid",
            Action::Echo => "echo",
            Action::Send => "send",
            Action::Receive => "receive",
        }
    }
}

impl LoadDefinition {
    /// Returns the messages as a load.
    ///
    /// # Errors
    /// When there are no such messages.
    pub fn share(&self) -> Result<Share> {
        self.message.parse().with_context(|| format!("the load {:?} in suite.toml is invalid", self.message))
    }

    /// Returns the operation.
    pub fn operation(&self) -> &str {
        self.message.split(':').next().unwrap_or_default()
    }

    /// Returns the number of items in a message.
    pub fn items(&self) -> usize {
        self.message.split(':').nth(1).and_then(|items| items.parse().ok()).unwrap_or(0)
    }
}

impl fmt::Display for LoadDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rate {
            None => f.write_str("closed, ")?,
            Some(rate) => write!(f, "open, {rate} requests/s, ")?,
        }
        match self.connections {
            1 => f.write_str("1 connection"),
            connections => write!(f, "{connections} connections"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WSDL: &str = include_str!("../../../definitions/suite.wsdl");
    const ENCODED: &str = include_str!("../../../definitions/suite-encoded.wsdl");

    #[test]
    fn operations_are_those_that_were_announced() {
        let definition = Definition::load().unwrap();
        assert_eq!(definition.operation.iter().filter(|operation| !operation.encoded).count(), 1 + 3 * 6);
        for operation in &definition.operation {
            let (name, prefix) = (&operation.name, operation.action.name());
            assert!(name.starts_with(prefix), "{name}");
            assert_eq!(operation.values.is_empty(), operation.action == Action::Void, "{name}");
        }
        assert_eq!(definition.sizes(Scope::Full), [10, 100, 1000, 10_000, 50_000, 75_000, 100_000]);
        assert!(definition.sizes_in_process(Scope::Quick).iter().all(|n| *n >= 100));
        assert!(definition.has("calls/echoMios", 10_000) && !definition.has("calls/echoMios", 50_000));
        assert!(definition.has("calls/echoInts", 50_000) && definition.has("calls/receiveRepeatedStrings", 75_000));
    }

    #[test]
    fn the_description_has_the_operations_and_no_others() {
        let definition = Definition::load().unwrap();
        for Operation { name, encoded, .. } in &definition.operation {
            let (text, response) = match encoded {
                true => (ENCODED, format!("<wsdl:message name=\"{name}Response\"")),
                false => (WSDL, format!("<xs:element name=\"{name}Response\"")),
            };
            for part in [format!("soapAction=\"urn:bench#{name}\""), response] {
                assert!(text.contains(&part), "{part}");
            }
        }
        let described = [WSDL, ENCODED].map(|text| text.matches("soapAction=").count());
        assert_eq!(described.iter().sum::<usize>(), definition.operation.len());
    }

    #[test]
    fn patterns_match() {
        for (pattern, text) in [("a", "a"), ("*", ""), ("a*", "abc"), ("*c", "abc"), ("a*c*e", "abcde"), ("a*a", "aa")]
        {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("a", "ab"), ("a*a", "a"), ("*b", "abc"), ("a*x*e", "abcde")] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn flaws_are_of_a_toolkit_a_row_and_a_time() {
        let definition = Definition::load().unwrap();
        let is_flawed = |engine, row, date| definition.flaw(engine, row, date).is_some();
        assert!(is_flawed("mono", "calls/receiveInts/1000", "2026-11-23"));
        for (engine, row, date) in [
            ("mono", "calls/receiveInts/1000", "2026-12-01"),
            ("mono", "calls/receiveInts/100", "2026-11-23"),
            ("gsoap", "calls/receiveInts/1000", "2026-11-23"),
        ] {
            assert!(!is_flawed(engine, row, date), "{engine} {row} {date}");
        }
        let streaming = |row| is_flawed("axis-streaming", row, "2099-01-01");
        assert!(streaming("calls/echoDoubles/100000") && streaming("process/decode-hard/1000"));
        assert!(!streaming("calls/receiveEncodedStrings/100000") && !streaming("process/encode-hard/1000"));
        assert!(!streaming("calls/receiveBase64/100000") && !streaming("calls/echoVoid/0"));
    }

    #[test]
    fn loads_say_what_they_are() {
        let loads = Definition::load().unwrap().load;
        assert_eq!(loads[0].to_string(), "closed, 1 connection");
        assert!(loads.iter().any(|load| load.to_string() == "open, 500 requests/s, 64 connections"));
    }
}
