//! The suite's part of a record: its rows in `results.jsonl`, and `environment.json` with the
//! common environment of all measurements.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};

use super::row::{Part, Row};
use crate::environment::Machine;
use crate::progress::StepNote;
use crate::record::{Record, SUITE, kind, read_lines};

const ENVIRONMENT: &str = "environment.json";

/// The common environment of a record's measurements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// The machine and the date.
    #[serde(flatten, deserialize_with = "flattened")]
    pub machine: Machine,
    /// `full`, `quick` or `smoke`.
    pub scope: String,
    /// The requested parts.
    pub parts: Vec<Part>,
    /// The toolkits.
    pub engines: Vec<EngineNote>,
    /// The reasons why figures are doubtful.
    pub warning: Option<String>,
    /// The steps of the measurement.
    #[serde(default)]
    pub steps: Vec<StepNote>,
}

impl Environment {
    /// Returns the reasons why the times of a record are doubtful.
    pub fn doubts(&self) -> Vec<String> {
        let most = |at: usize, is_first: bool| if at == 0 || is_first { QUIET } else { QUIET + OWN };
        let steps = self.steps.iter().enumerate();
        let busy: Vec<String> = steps
            .filter(|(at, note)| note.load_before > most(*at, note.is_first))
            .map(|(_, note)| format!("{} ({})", note.step, note.load_before))
            .collect();
        let busy = (!busy.is_empty()).then(|| {
            format!("other programs ran before these steps, with the load in parentheses: {}", busy.join(", "))
        });
        self.warning.clone().into_iter().chain(busy).collect()
    }
}

/// The load of an otherwise idle machine.
const QUIET: f64 = 0.5;

/// The load left by the previous step: this program, and a server.
const OWN: f64 = 2.0;

/// Deserializes the remaining fields of a line through a JSON value: with serde_json's numbers as
/// text, which deltasoap-dynamic enables, `flatten` alone cannot read numbers.
fn flattened<'de, D: Deserializer<'de>, T: DeserializeOwned>(line: D) -> Result<T, D::Error> {
    serde_json::from_value(serde_json::Value::deserialize(line)?).map_err(D::Error::custom)
}

/// A toolkit in a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EngineNote {
    /// The name in rows.
    pub name: String,
    /// The toolkit's name and version; `None` if it could not be asked.
    pub version: Option<String>,
    /// A one-line description.
    pub description: String,
    /// The reason why it is missing.
    pub reason: Option<String>,
    /// True if its memory per message is not visible from outside.
    #[serde(default)]
    pub hides_memory: bool,
}

/// The suite's rows of a record, and its jobs.
#[derive(Debug)]
pub struct Rows<'r> {
    record: &'r mut Record,
    rows: Vec<Row>,
}

impl<'r> Rows<'r> {
    /// Returns the rows of a record.
    pub fn new(record: &'r mut Record) -> Self {
        let rows = record.all(SUITE);
        Rows { record, rows }
    }

    /// Returns the rows.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Adds all rows of a job.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn append(&mut self, row: &str, rows: Vec<Row>) -> Result<()> {
        self.record.append(SUITE, row, &rows)?;
        self.rows.extend(rows);
        Ok(())
    }
}

/// Writes `environment.json`.
///
/// # Errors
/// When it cannot be written.
pub fn write_environment(folder: &Path, environment: &Environment) -> Result<()> {
    let text = serde_json::to_string_pretty(environment)? + "\n";
    fs::write(folder.join(ENVIRONMENT), text).with_context(|| format!("cannot write {ENVIRONMENT}"))
}

/// Reads `environment.json`.
///
/// # Errors
/// When there is none.
pub fn read_environment(folder: &Path) -> Result<Environment> {
    let text = fs::read_to_string(folder.join(ENVIRONMENT));
    let text = text.with_context(|| format!("{} has no {ENVIRONMENT}", folder.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{ENVIRONMENT} is malformed"))
}

/// Reads a record.
///
/// # Errors
/// When there is none.
pub fn read(folder: &Path) -> Result<(Environment, Vec<Row>)> {
    let lines = read_lines(folder)?;
    let of_suite = lines.into_iter().filter(|line| kind(line) == SUITE);
    Ok((read_environment(folder)?, of_suite.map_while(|line| serde_json::from_value(line).ok()).collect()))
}
