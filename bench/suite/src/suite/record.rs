//! The suite's part of a record: its rows in `results.jsonl`, and `environment.json`, which says
//! what all measurements of a record have in common.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};

use super::row::{Part, Row};
use crate::environment::Machine;
use crate::record::{Record, SUITE, kind, read_lines};

const ENVIRONMENT: &str = "environment.json";

/// What the measurements of a record have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// The machine and when it was.
    #[serde(flatten, deserialize_with = "flattened")]
    pub machine: Machine,
    /// `full`, `quick` or `smoke`.
    pub scope: String,
    /// Parts that were asked for.
    pub parts: Vec<Part>,
    /// The toolkits.
    pub engines: Vec<EngineNote>,
    /// What made the figures doubtful.
    pub warning: Option<String>,
    /// The steps of a reproduction.
    #[serde(default)]
    pub steps: Vec<StepNote>,
}

/// A step of a reproduction. One that was interrupted has a note for each time that it was worked
/// on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepNote {
    /// Its name.
    pub step: String,
    /// The day, as `2026-01-31`.
    pub date: String,
    /// Seconds that it took.
    pub seconds: f64,
    /// Processes that wanted to run before it, on average over a minute.
    pub load_before: f64,
    /// The same after it; the step itself counts as one.
    pub load_after: f64,
    /// True of the first step of a session: nothing of ours ran before it.
    #[serde(default)]
    pub is_first: bool,
    /// Seconds that it was expected to take by what such steps take elsewhere, if it was done to
    /// its end.
    #[serde(default)]
    pub expected: Option<f64>,
}

/// What a line says beside its other fields. By way of a JSON value: where serde_json keeps numbers
/// as text, as deltasoap-dynamic has it do, `flatten` alone reads none.
fn flattened<'de, D: Deserializer<'de>, T: DeserializeOwned>(line: D) -> Result<T, D::Error> {
    serde_json::from_value(serde_json::Value::deserialize(line)?).map_err(D::Error::custom)
}

/// A toolkit in a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EngineNote {
    /// The name in rows.
    pub name: String,
    /// Who it says it is; `None` where it could not be asked.
    pub version: Option<String>,
    /// One line for people.
    pub description: String,
    /// Why it is missing.
    pub reason: Option<String>,
    /// True if what a message takes in memory is not seen from outside.
    #[serde(default)]
    pub hides_memory: bool,
}

/// The suite's rows of a record, and the pieces of work that it has.
#[derive(Debug)]
pub struct Rows<'r> {
    record: &'r mut Record,
    rows: Vec<Row>,
}

impl<'r> Rows<'r> {
    /// Those of a record.
    pub fn of(record: &'r mut Record) -> Self {
        let rows = record.all(SUITE);
        Rows { record, rows }
    }

    /// What it has.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Adds all rows of a piece of work.
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
