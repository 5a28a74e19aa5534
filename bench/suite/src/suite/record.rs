//! The folder of a record: `environment.json`, `results.jsonl`, `results.csv`, `report.html`.
//!
//! Rows are appended as soon as they are measured, all of a piece of work at once; so an interrupted measurement leaves whole lines
//! behind, but for the last one, and can be gone on with.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};

use super::row::{Part, Row, csv};
use crate::environment::Machine;

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
}

/// What a line says beside its other fields. By way of a JSON value: where serde_json keeps numbers as text, as deltasoap-dynamic has
/// it do, `flatten` alone reads none.
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

/// A record under construction.
#[derive(Debug)]
pub struct Record {
    folder: PathBuf,
    file: File,
    rows: Vec<Row>,
    done: HashSet<String>,
}

impl Record {
    /// Opens a folder. What was recorded there before is kept if `is_resumed`.
    ///
    /// # Errors
    /// When files cannot be read or written.
    pub fn open(folder: &Path, is_resumed: bool) -> Result<Self> {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let path = folder.join("results.jsonl");
        let text = if is_resumed { fs::read_to_string(&path).unwrap_or_default() } else { String::new() };
        let rows = whole_rows(&text);
        let mut file = OpenOptions::new().create(true).write(true).truncate(true).open(&path)?;
        file.write_all(lines(&rows)?.as_bytes())?;
        let done = rows.iter().map(|row| row.row.clone()).collect();
        Ok(Record { folder: folder.to_owned(), file, rows, done })
    }

    /// What it has.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// True if a piece of work has been recorded.
    pub fn has(&self, row: &str) -> bool {
        self.done.contains(row)
    }

    /// Adds all rows of a piece of work.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn append(&mut self, rows: Vec<Row>) -> Result<()> {
        self.file.write_all(lines(&rows)?.as_bytes())?;
        self.file.flush()?;
        self.done.extend(rows.iter().map(|row| row.row.clone()));
        self.rows.extend(rows);
        Ok(())
    }

    /// Writes the files that are made of the rows; gives the rows.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn close(self, environment: &Environment) -> Result<Vec<Row>> {
        fs::write(self.folder.join("results.csv"), csv(&self.rows)?)?;
        write_environment(&self.folder, environment)?;
        Ok(self.rows)
    }
}

/// Writes `environment.json`.
///
/// # Errors
/// When it cannot be written.
pub fn write_environment(folder: &Path, environment: &Environment) -> Result<()> {
    let text = serde_json::to_string_pretty(environment)? + "\n";
    fs::write(folder.join("environment.json"), text).context("cannot write environment.json")
}

/// Reads a record.
///
/// # Errors
/// When there is none.
pub fn read(folder: &Path) -> Result<(Environment, Vec<Row>)> {
    let read =
        |name| fs::read_to_string(folder.join(name)).with_context(|| format!("{} has no {name}", folder.display()));
    let environment = serde_json::from_str(&read("environment.json")?).context("environment.json is malformed")?;
    Ok((environment, whole_rows(&read("results.jsonl")?)))
}

/// The rows in front of the first line that is none.
fn whole_rows(text: &str) -> Vec<Row> {
    text.lines().map_while(|line| serde_json::from_str(line).ok()).collect()
}

fn lines(rows: &[Row]) -> Result<String> {
    let mut text = String::new();
    for row in rows {
        text += &serde_json::to_string(row)?;
        text.push('\n');
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::super::row::{Layer, Subject};
    use super::*;

    fn rows(row: &str) -> Vec<Row> {
        let subject = Subject { row, part: Part::Calls, operation: "echoInts", values: "ints", n: 1, similarity: None };
        let empty = |engine| subject.row(engine, Layer::Soap, "regular").with(Err("not built".to_owned()));
        vec![empty("deltasoap"), empty("gsoap")]
    }

    #[test]
    fn an_interrupted_record_is_gone_on_with() {
        let folder = tempfile::tempdir().unwrap();
        let mut record = Record::open(folder.path(), false).unwrap();
        record.append(rows("a")).unwrap();
        let path = folder.path().join("results.jsonl");
        let cut = fs::read_to_string(&path).unwrap() + "{\"row\":\"b\",\"pa";
        fs::write(&path, cut).unwrap();
        let mut record = Record::open(folder.path(), true).unwrap();
        assert!(record.has("a") && !record.has("b"));
        record.append(rows("b")).unwrap();
        assert_eq!(whole_rows(&fs::read_to_string(&path).unwrap()), [rows("a"), rows("b")].concat());
        assert!(!Record::open(folder.path(), false).unwrap().has("a"));
    }
}
