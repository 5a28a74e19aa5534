//! The folder of a record: `results.jsonl`, and what is made of it.
//!
//! A line is a JSON object. `kind` says what it is; the rows of the suite have none, since they are older. `key`, or `row` in the suite, names the
//! piece of work that it came from. Lines are appended as soon as they are measured, all of a piece of work at once; so an interrupted
//! measurement leaves whole lines behind, but for the last one, and is gone on with at the first piece that is missing.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The measurements.
pub const RESULTS: &str = "results.jsonl";

/// A record under construction, in a folder or in memory alone.
#[derive(Debug, Default)]
pub struct Record {
    place: Option<(PathBuf, File)>,
    lines: Vec<Value>,
    /// Places of the lines of each piece of work.
    places: HashMap<String, Vec<usize>>,
}

impl Record {
    /// Opens a folder. What was recorded there before is kept if `is_resumed`, but for verdicts, which are made of everything else.
    ///
    /// # Errors
    /// When files cannot be read or written.
    pub fn open(folder: &Path, is_resumed: bool) -> Result<Self> {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let path = folder.join(RESULTS);
        let text = if is_resumed { fs::read_to_string(&path).unwrap_or_default() } else { String::new() };
        let known: Vec<Value> = whole_lines(&text).into_iter().filter(|line| kind(line) != VERDICT).collect();
        // Whole or not at all: what was measured in hours is not lost in the moment of writing it again.
        let (partial, written) = (folder.join("results.partial"), || format!("cannot write {}", path.display()));
        fs::write(&partial, text_of(&known)).and_then(|()| fs::rename(&partial, &path)).with_context(written)?;
        let mut record = Record::default();
        record.add(known)?;
        let file = OpenOptions::new().append(true).open(&path).with_context(written)?;
        record.place = Some((folder.to_owned(), file));
        Ok(record)
    }

    /// What a folder has, to look at alone; nothing if it has none.
    pub fn look(folder: &Path) -> Self {
        let mut record = Record::default();
        // Without a file there is nothing that could fail.
        let _ = record.add(read_lines(folder).unwrap_or_default());
        record
    }

    /// True if a piece of work has been recorded.
    pub fn has(&self, key: &str) -> bool {
        self.places.contains_key(key)
    }

    /// What was recorded of a piece of work; nothing for lines of another form.
    pub fn of<T: DeserializeOwned>(&self, key: &str) -> Vec<T> {
        let lines = self.places.get(key).into_iter().flatten().map(|&place| &self.lines[place]);
        lines.filter_map(read).collect()
    }

    /// All lines of a kind, in their order; the rows of the suite for [`SUITE`].
    pub fn all<T: DeserializeOwned>(&self, of: &str) -> Vec<T> {
        self.lines.iter().filter(|line| kind(line) == of).filter_map(read).collect()
    }

    /// All lines.
    pub fn lines(&self) -> &[Value] {
        &self.lines
    }

    /// Adds all lines of a piece of work.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn append<T: Serialize>(&mut self, of: &str, key: &str, rows: &[T]) -> Result<()> {
        let lines: Result<Vec<Value>> = rows.iter().map(|row| line(of, key, row)).collect();
        self.add(lines?)
    }

    fn add(&mut self, lines: Vec<Value>) -> Result<()> {
        if let Some((_, file)) = &mut self.place {
            file.write_all(text_of(&lines).as_bytes()).with_context(|| format!("cannot write {RESULTS}"))?;
        }
        for line in lines {
            self.places.entry(key(&line).to_owned()).or_default().push(self.lines.len());
            self.lines.push(line);
        }
        Ok(())
    }

    /// Writes `results.csv`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn close(&self) -> Result<()> {
        let Some((folder, _)) = &self.place else { return Ok(()) };
        fs::write(folder.join("results.csv"), csv(&self.lines)).context("cannot write results.csv")
    }
}

/// The lines of a folder.
///
/// # Errors
/// When there are none.
pub fn read_lines(folder: &Path) -> Result<Vec<Value>> {
    let text = fs::read_to_string(folder.join(RESULTS));
    Ok(whole_lines(&text.with_context(|| format!("{} has no {RESULTS}", folder.display()))?))
}

/// The kind of the suite's rows.
pub const SUITE: &str = "suite";
/// The kind of verdicts.
pub const VERDICT: &str = "verdict";

/// What a line is.
pub fn kind(line: &Value) -> &str {
    line.get("kind").and_then(Value::as_str).unwrap_or(SUITE)
}

fn key(line: &Value) -> &str {
    let name = if kind(line) == SUITE { "row" } else { "key" };
    line.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn read<T: DeserializeOwned>(line: &Value) -> Option<T> {
    serde_json::from_value(line.clone()).ok()
}

fn line<T: Serialize>(of: &str, key: &str, row: &T) -> Result<Value> {
    let row = serde_json::to_value(row)?;
    if of == SUITE {
        return Ok(row);
    }
    let mut line = Map::new();
    line.insert("kind".to_owned(), of.into());
    line.insert("key".to_owned(), key.into());
    match row {
        Value::Object(fields) => line.extend(fields.into_iter().map(|(name, value)| (renamed(name), value))),
        other => drop(line.insert("value".to_owned(), other)),
    }
    Ok(Value::Object(line))
}

/// A verdict has a key of its own.
fn renamed(name: String) -> String {
    if name == "key" { "claim".to_owned() } else { name }
}

fn text_of(lines: &[Value]) -> String {
    lines.iter().map(|line| line.to_string() + "\n").collect()
}

/// The lines in front of the first one that is none.
fn whole_lines(text: &str) -> Vec<Value> {
    text.lines().map_while(|line| serde_json::from_str(line).ok()).filter(Value::is_object).collect()
}

/// Lines as CSV (RFC 4180): a column for each name that any of them has. Objects within a line have dots in their columns' names.
pub fn csv(lines: &[Value]) -> String {
    let rows: Vec<Vec<(String, String)>> = lines.iter().map(fields).collect();
    let (mut header, mut columns) = (Vec::new(), HashMap::new());
    for (name, _) in rows.iter().flatten() {
        columns.entry(name.clone()).or_insert_with(|| {
            header.push(name.clone());
            header.len() - 1
        });
    }
    let mut text = if header.is_empty() { String::new() } else { csv_line(&header) };
    for row in rows {
        let mut cells = vec![String::new(); header.len()];
        row.into_iter().for_each(|(name, cell)| cells[columns[&name]] = cell);
        text += &csv_line(&cells);
    }
    text
}

/// Names and values of a line, without those of objects in it, but with what these hold.
fn fields(line: &Value) -> Vec<(String, String)> {
    let mut all = Vec::new();
    collect("", line, &mut all);
    all
}

fn collect(name: &str, value: &Value, all: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(inner, value)| {
            let name = if name.is_empty() { inner.clone() } else { format!("{name}.{inner}") };
            collect(&name, value, all);
        }),
        Value::Null => all.push((name.to_owned(), String::new())),
        Value::String(text) => all.push((name.to_owned(), text.clone())),
        other => all.push((name.to_owned(), other.to_string())),
    }
}

fn csv_line(cells: &[String]) -> String {
    let quoted = |cell: &String| match cell.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.clone(),
    };
    cells.iter().map(quoted).collect::<Vec<_>>().join(",") + "\r\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Sample {
        n: usize,
        ms: f64,
    }

    const ROWS: [Sample; 2] = [Sample { n: 1, ms: 0.5 }, Sample { n: 2, ms: 1e-3 }];

    #[test]
    fn an_interrupted_record_is_gone_on_with() {
        let folder = tempfile::tempdir().unwrap();
        let mut record = Record::open(folder.path(), false).unwrap();
        record.append("point", "a", &ROWS).unwrap();
        record.append(VERDICT, "v", &ROWS[..1]).unwrap();
        let path = folder.path().join(RESULTS);
        let cut = fs::read_to_string(&path).unwrap() + "{\"kind\":\"point\",\"key\":\"b\",\"n";
        fs::write(&path, cut).unwrap();
        let mut record = Record::open(folder.path(), true).unwrap();
        assert!(record.has("a") && !record.has("b") && !record.has("v"));
        record.append("point", "b", &ROWS[1..]).unwrap();
        assert_eq!((record.of::<Sample>("a"), record.of::<Sample>("b")), (ROWS.to_vec(), ROWS[1..].to_vec()));
        assert_eq!(record.all::<Sample>("point").len(), 3);
        assert_eq!(read_lines(folder.path()).unwrap(), record.lines());
        assert!(!Record::open(folder.path(), false).unwrap().has("a"));
    }

    #[test]
    fn a_line_begins_with_its_kind_and_its_key_unless_it_is_the_suites() {
        let mut record = Record::default();
        record.append("point", "a", &ROWS[..1]).unwrap();
        record.append(SUITE, "b", &[serde_json::json!({"row": "b", "n": 3})]).unwrap();
        record.append(VERDICT, "v", &[serde_json::json!({"key": "speed"})]).unwrap();
        let text: Vec<String> = record.lines().iter().map(Value::to_string).collect();
        assert_eq!(text[0], r#"{"kind":"point","key":"a","n":1,"ms":0.5}"#);
        assert_eq!(text[1], r#"{"row":"b","n":3}"#);
        assert_eq!(text[2], r#"{"kind":"verdict","key":"v","claim":"speed"}"#);
        assert!(record.has("a") && record.has("b"));
    }

    #[test]
    fn csv_has_a_column_for_each_name_and_quotes_what_needs_it() {
        let lines = [
            serde_json::json!({"row": "a", "reason": null, "n": 1}),
            serde_json::json!({"kind": "point", "counts": {"fast": 0.5, "slow": 2}, "reason": "it says \"no\", twice"}),
        ];
        let text = csv(&lines);
        let lines: Vec<&str> = text.split("\r\n").collect();
        assert_eq!(lines[0], "row,reason,n,kind,counts.fast,counts.slow");
        assert_eq!(lines[1], "a,,1,,,");
        assert_eq!(lines[2], ",\"it says \"\"no\"\", twice\",,point,0.5,2");
        assert_eq!(csv(&[]), "");
    }
}
