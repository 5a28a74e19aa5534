//! What the suite measures: `bench/definitions/suite.toml`, compiled in.

use std::fmt;

use anyhow::{Context, Result};
use clap::ValueEnum;
use serde::Deserialize;

use crate::load::kind::Share;

/// The operations of the suite, and in which sizes and streams they are measured.
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
    /// Who stands for the paper's toolkits.
    pub paper_toolkit: Vec<PaperToolkit>,
    /// Rows that say nothing about toolkits.
    flaw: Vec<Flaw>,
}

/// Rows of a toolkit whose times have another cause than what they are about. They are shown, and
/// no claim is judged by them.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Flaw {
    /// The toolkit.
    engine: String,
    /// Patterns of the rows' names.
    rows: Vec<String>,
    /// The last day of the records that have it, where it was mended.
    until: Option<String>,
    /// The cause.
    why: String,
}

/// A toolkit of the paper.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperToolkit {
    /// Its name there.
    pub paper: String,
    /// The toolkit that stands for it.
    pub engine: String,
    /// Where it is shown; everywhere without.
    pub exhibit: Option<String>,
}

/// How thoroughly the suite measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Everything.
    Full,
    /// Fewer sizes, streams and runs: minutes.
    Quick,
    /// The least that shows that everything works: seconds.
    Smoke,
}

/// An operation of `suite.wsdl`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// The name, as in the description.
    pub name: String,
    /// What it does with items.
    pub action: Action,
    /// The type of an item; empty where there are none.
    #[serde(default, rename = "type")]
    pub item: String,
    /// True if its messages are in SOAP encoding; it is one of `suite-encoded.wsdl` then.
    #[serde(default)]
    pub encoded: bool,
    /// Which values there are, as in the workloads of the parts in one process; empty where there
    /// are none.
    #[serde(default)]
    pub values: String,
    /// One line for people.
    #[serde(default)]
    pub description: String,
    /// Names of the streams of similar messages that it is measured with.
    #[serde(default)]
    similarity: Vec<String>,
}

/// What an operation does, seen from the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Nothing goes either way.
    Void,
    /// Items go and come back.
    Echo,
    /// Items go, their number comes back.
    Send,
    /// A number goes, so many items come.
    Receive,
}

/// How a message differs from the one before it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Similarity {
    /// The name in reports.
    pub name: String,
    /// Per cent of the items that get new values.
    #[serde(default)]
    pub changed: u32,
    /// In how many parts of the array.
    #[serde(default = "one")]
    pub clusters: usize,
    /// What else happens.
    #[serde(default)]
    pub change: Change,
}

/// What happens to the items of an array from message to message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Some get new values.
    #[default]
    Values,
    /// One gets a value of another length.
    Longer,
    /// One more is inserted in every other message.
    Insert,
}

/// A load of many clients on a server.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadDefinition {
    /// What each sends: `OPERATION[:ITEMS]`.
    pub message: String,
    /// Connections at one time.
    pub connections: usize,
    /// Requests a second of an open loop; a closed loop without.
    pub rate: Option<f64>,
    /// True if it is measured with `--quick` too.
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
    /// When the file is malformed, or names something unknown.
    pub fn load() -> Result<Self> {
        let definition: Self = toml::from_str(include_str!("../../../definitions/suite.toml"))
            .context("bench/definitions/suite.toml is malformed")?;
        definition.load.iter().try_for_each(|load| load.share().map(drop))?;
        definition.operation.iter().try_for_each(|operation| definition.streams(operation).map(drop))?;
        Ok(definition)
    }

    /// Without flaws: for rows that are made up.
    #[cfg(test)]
    pub fn without_flaws(self) -> Self {
        Definition { flaw: vec![], ..self }
    }

    /// Items in an array, ascending.
    pub fn sizes(&self, scope: Scope) -> &[usize] {
        match scope {
            Scope::Full => &self.sizes,
            Scope::Quick => &self.quick_sizes,
            Scope::Smoke => &self.smoke_sizes,
        }
    }

    /// Whether a row, named without its size, is measured with so many items.
    pub fn has(&self, row: &str, n: usize) -> bool {
        !self.paper_sizes.contains(&n) || self.paper_rows.iter().any(|pattern| matches(pattern, row))
    }

    /// The same of the parts in one process.
    pub fn sizes_in_process(&self, scope: Scope) -> Vec<usize> {
        let large = self.sizes(scope).iter().copied().filter(|&n| n >= self.smallest_in_process);
        if scope == Scope::Smoke { self.smoke_sizes.clone() } else { large.collect() }
    }

    /// Loads of many clients.
    pub fn loads(&self, scope: Scope) -> impl Iterator<Item = &LoadDefinition> {
        let is_measured = move |load: &&LoadDefinition| scope == Scope::Full || load.quick;
        self.load.iter().filter(is_measured).take(if scope == Scope::Smoke { 1 } else { usize::MAX })
    }

    /// The largest size.
    pub fn largest(&self, scope: Scope) -> usize {
        self.sizes(scope).last().copied().unwrap_or(1)
    }

    /// Why the time of a toolkit in a row says nothing, in a record of that day (`2026-11-23`);
    /// `None` where it does.
    pub fn flaw(&self, engine: &str, row: &str, date: &str) -> Option<&str> {
        let is_meant = |flaw: &&Flaw| {
            flaw.engine == engine
                && flaw.rows.iter().any(|pattern| matches(pattern, row))
                && flaw.until.as_ref().is_none_or(|until| date <= &**until)
        };
        self.flaw.iter().find(is_meant).map(|flaw| &*flaw.why)
    }

    /// The streams of similar messages that an operation is measured with.
    ///
    /// # Errors
    /// When it names an unknown one.
    pub fn streams(&self, operation: &Operation) -> Result<Vec<&Similarity>> {
        let find = |name: &String| {
            let found = self.similarity.iter().find(|similarity| similarity.name == *name);
            found.with_context(|| format!("suite.toml has no similarity named {name:?}"))
        };
        operation.similarity.iter().map(find).collect()
    }
}

/// Whether a text is as a pattern says, in which `*` stands for any text.
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
    /// The name without what is done: `Ints`.
    pub fn items(&self) -> &str {
        self.name.trim_start_matches(self.action.name())
    }
}

impl Action {
    /// The beginning of operations' names.
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
    /// The messages as a load.
    ///
    /// # Errors
    /// When there are no such messages.
    pub fn share(&self) -> Result<Share> {
        self.message.parse().with_context(|| format!("suite.toml has a load of {:?}", self.message))
    }

    /// The operation.
    pub fn operation(&self) -> &str {
        self.message.split(':').next().unwrap_or_default()
    }

    /// Items of a message.
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
