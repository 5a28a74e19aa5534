//! The folder of a record: `results.jsonl`, and the files derived from it.
//!
//! A line is a JSON object. `kind` is its kind; the rows of the suite have none, since they are
//! older. `key`, or `row` in the suite, names the job that it came from. All lines of a job are
//! written at once when it is done, followed by a line of kind `end` with their number. So an
//! interrupted measurement leaves whole jobs, except the last one, which is dropped and measured
//! again. A damaged line is rejected with its number: no measurement is lost silently. Records
//! without `end` lines, from before these existed, can be read too.
//!
//! Only one program at a time writes to a folder: [`Record::open`] locks it.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// File name of the measurements.
pub const RESULTS: &str = "results.jsonl";

/// A record under construction, in a folder or only in memory.
#[derive(Debug, Default)]
pub struct Record {
    files: Option<RecordFiles>,
    lines: Vec<Value>,
    /// Indices of the lines of each job.
    line_indices: HashMap<String, Vec<usize>>,
}

/// The files of a record.
#[derive(Debug)]
struct RecordFiles {
    folder: PathBuf,
    file: File,
    /// The folder, locked while this is open.
    _lock: File,
}

impl Record {
    /// Opens a folder, and locks it. Earlier records in it are kept if `is_resumed`, except
    /// verdicts, which are derived from everything else, and jobs that were not recorded whole.
    ///
    /// # Errors
    /// When another program has the folder open, files cannot be read or written, or a line is
    /// damaged.
    pub fn open(folder: &Path, is_resumed: bool) -> Result<Self> {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let lock = locked(folder)?;
        let found = if is_resumed { stored(folder)?.unwrap_or_default() } else { Stored::default() };
        for key in found.partial.iter().filter(|key| !key.starts_with(VERDICT)) {
            eprintln!("{key} was recorded incompletely, and is measured again");
        }
        let mut record = Record::from_stored(found);
        record.files =
            Some(RecordFiles { folder: folder.to_owned(), file: rewritten(folder, &record.lines)?, _lock: lock });
        Ok(record)
    }

    /// Reads what can be resumed in a folder without opening it for writing; empty if there is
    /// nothing.
    ///
    /// # Errors
    /// When the file cannot be read, or a line is damaged.
    pub fn load(folder: &Path) -> Result<Self> {
        Ok(Record::from_stored(stored(folder)?.unwrap_or_default()))
    }

    fn from_stored(found: Stored) -> Self {
        let mut record = Record::default();
        record.note(found.whole.into_iter().filter(|line| kind(line) != VERDICT));
        record
    }

    /// Returns true if a job has been recorded.
    pub fn has(&self, key: &str) -> bool {
        self.line_indices.contains_key(key)
    }

    /// Returns the lines of a job, without those of another form.
    pub fn of<T: DeserializeOwned>(&self, key: &str) -> Vec<T> {
        let lines = self.line_indices.get(key).into_iter().flatten().map(|&index| &self.lines[index]);
        lines.filter_map(read).collect()
    }

    /// Returns all lines of a kind, in order; the rows of the suite for [`SUITE`].
    pub fn all<T: DeserializeOwned>(&self, of: &str) -> Vec<T> {
        self.lines.iter().filter(|line| kind(line) == of).filter_map(read).collect()
    }

    /// Returns all lines.
    pub fn lines(&self) -> &[Value] {
        &self.lines
    }

    /// Adds all lines of a job.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn append<T: Serialize>(&mut self, of: &str, key: &str, rows: &[T]) -> Result<()> {
        let lines: Vec<Value> = rows.iter().map(|row| line(of, key, row)).collect::<Result<_>>()?;
        if let Some(files) = &mut self.files {
            files.file.write_all(text_of(&lines).as_bytes()).with_context(|| format!("cannot write {RESULTS}"))?;
        }
        self.note(lines);
        Ok(())
    }

    /// Removes the jobs with an invalid line; returns their number.
    ///
    /// # Errors
    /// When the others cannot be written.
    pub fn forget(&mut self, is_wrong: impl Fn(&Value) -> bool) -> Result<usize> {
        let wrong: Vec<String> = self
            .line_indices
            .iter()
            .filter(|(_, at)| at.iter().any(|&at| is_wrong(&self.lines[at])))
            .map(|it| it.0.clone())
            .collect();
        if wrong.is_empty() {
            return Ok(0);
        }
        let lines = std::mem::take(&mut self.lines);
        self.line_indices.clear();
        self.note(lines.into_iter().filter(|line| !wrong.iter().any(|wrong| wrong == key(line))));
        if let Some(files) = &mut self.files {
            files.file = rewritten(&files.folder, &self.lines)?;
        }
        Ok(wrong.len())
    }

    fn note(&mut self, lines: impl IntoIterator<Item = Value>) {
        for line in lines {
            self.line_indices.entry(key(&line).to_owned()).or_default().push(self.lines.len());
            self.lines.push(line);
        }
    }

    /// Writes `results.csv`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn close(&self) -> Result<()> {
        let Some(files) = &self.files else { return Ok(()) };
        fs::write(files.folder.join("results.csv"), csv(&self.lines)).context("cannot write results.csv")
    }
}

/// Opens and locks the folder.
fn locked(folder: &Path) -> Result<File> {
    let lock = File::open(folder).with_context(|| format!("cannot open {}", folder.display()))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => bail!("another program is measuring into {}", folder.display()),
        Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("cannot lock {}", folder.display())),
    }
}

/// Writes a file of lines atomically, so that hours of measurements are not lost while rewriting
/// it. Returns the file for appending.
fn rewritten(folder: &Path, lines: &[Value]) -> Result<File> {
    let (path, partial) = (folder.join(RESULTS), folder.join("results.partial"));
    let write = || {
        let mut file = OpenOptions::new().create(true).write(true).truncate(true).open(&partial)?;
        file.write_all(text_of(lines).as_bytes())?;
        file.sync_all()?;
        fs::rename(&partial, &path)?;
        Ok::<_, std::io::Error>(file)
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// Reads the lines of a folder.
///
/// # Errors
/// When there are none, or one is damaged.
pub fn read_lines(folder: &Path) -> Result<Vec<Value>> {
    let found = stored(folder)?.with_context(|| format!("{} has no {RESULTS}", folder.display()))?;
    Ok([found.whole, found.older].concat())
}

/// The content of a file.
#[derive(Debug, Default)]
struct Stored {
    /// Lines of jobs that were recorded whole.
    whole: Vec<Value>,
    /// Lines of the last job of a record without `end` lines: complete or not.
    older: Vec<Value>,
    /// Keys of incomplete jobs, which must be measured again.
    partial: Vec<String>,
}

/// Reads the file of a folder; `None` if there is no file.
fn stored(folder: &Path) -> Result<Option<Stored>> {
    let path = folder.join(RESULTS);
    let bytes = match fs::read(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        bytes => bytes.with_context(|| format!("cannot read {}", path.display()))?,
    };
    Ok(Some(pieces(parsed(&bytes).with_context(|| path.display().to_string())?)))
}

/// Parses all lines, without an incomplete last one.
fn parsed(bytes: &[u8]) -> Result<Vec<Value>> {
    let mut lines = Vec::new();
    for (at, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        match serde_json::from_slice::<Value>(line) {
            Ok(value) if value.is_object() => lines.push(value),
            _ if !line.ends_with(b"\n") => {}
            _ => bail!(
                "line {} is damaged: repair it, or delete it to measure its job again; --fresh starts over",
                at + 1
            ),
        }
    }
    Ok(lines)
}

/// Groups lines by job.
fn pieces(lines: Vec<Value>) -> Stored {
    let (mut found, mut piece) = (Stored::default(), Vec::new());
    let is_older = !lines.iter().any(|line| kind(line) == END);
    for line in lines {
        if kind(&line) != END {
            piece.push(line);
            continue;
        }
        let begin = line["rows"].as_u64().and_then(|rows| piece.len().checked_sub(rows as usize));
        let is_whole = |begin: &usize| piece[*begin..].iter().all(|row| key(row) == key(&line));
        let begin = begin.filter(is_whole).unwrap_or_else(|| {
            found.partial.push(key(&line).to_owned());
            piece.len()
        });
        // Earlier lines belong to jobs whose ends are missing.
        for line in piece.drain(..begin) {
            if found.partial.last().is_none_or(|last| last != key(&line)) {
                found.partial.push(key(&line).to_owned());
            }
        }
        found.whole.append(&mut piece);
    }
    let last = piece.last().map(|line| key(line).to_owned());
    found.partial.extend(last.clone());
    if is_older {
        let begin = piece.iter().rposition(|line| Some(key(line)) != last.as_deref()).map_or(0, |at| at + 1);
        found.older = piece.split_off(begin);
        found.whole = piece;
    }
    found
}

/// The kind of the suite's rows.
pub const SUITE: &str = "suite";
/// The kind of verdicts.
pub const VERDICT: &str = "verdict";
/// The kind of the line that ends a job.
const END: &str = "end";

/// Returns the kind of a line.
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

/// Renames the `key` of a verdict, which means something else.
fn renamed(name: String) -> String {
    if name == "key" { "claim".to_owned() } else { name }
}

/// Formats lines as in the file, each job with its end.
fn text_of(lines: &[Value]) -> String {
    let piece = |piece: &[Value]| {
        let end = piece.first().map(|line| serde_json::json!({"kind": END, "key": key(line), "rows": piece.len()}));
        piece.iter().chain(&end).map(|line| line.to_string() + "\n").collect::<String>()
    };
    lines.chunk_by(|one, other| key(one) == key(other)).map(piece).collect()
}

/// Formats lines as CSV (RFC 4180) with a column for each name in any of them. Columns of nested
/// objects have names with dots.
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

/// Returns names and values of a line, with nested objects flattened.
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

    /// A folder with the jobs `a`, of two rows, `v`, a verdict, and `b`, of two rows; and the text
    /// of its file.
    fn folder() -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        let mut record = Record::open(folder.path(), false).unwrap();
        record.append("point", "a", &ROWS).unwrap();
        record.append(VERDICT, "v", &ROWS[..1]).unwrap();
        record.append("point", "b", &ROWS).unwrap();
        assert_eq!(read_lines(folder.path()).unwrap(), record.lines());
        let text = fs::read_to_string(folder.path().join(RESULTS)).unwrap();
        (folder, text)
    }

    fn written(folder: &Path, bytes: &[u8]) -> Result<Record> {
        fs::write(folder.join(RESULTS), bytes).unwrap();
        Record::open(folder, true)
    }

    /// Wherever the file is cut, a job is there whole or not at all, and a repeated job is there
    /// once.
    #[test]
    fn an_interrupted_record_is_resumed() {
        let (folder, text) = folder();
        let ends = |key: &str| text.find(&format!("{{\"kind\":\"end\",\"key\":\"{key}\",\"rows\":2}}\n")).unwrap();
        for length in 0..=text.len() {
            let mut record = written(folder.path(), &text.as_bytes()[..length]).unwrap();
            // Everything except the line feed.
            let is_whole = |key| length >= ends(key) + r#"{"kind":"end","key":"a","rows":2}"#.len();
            assert_eq!((record.has("a"), record.has("b"), record.has("v")), (is_whole("a"), is_whole("b"), false));
            if !record.has("b") {
                record.append("point", "b", &ROWS).unwrap();
            }
            assert_eq!(
                (record.of::<Sample>("b"), record.lines()),
                (ROWS.to_vec(), &*read_lines(folder.path()).unwrap())
            );
        }
        let damaged = [text.as_bytes(), b"{\"kind\":\"verdict\",\"text\":\"\xc2"].concat();
        assert!(written(folder.path(), &damaged).unwrap().has("b"));
        assert!(!Record::open(folder.path(), false).unwrap().has("a"));
    }

    #[test]
    fn a_damaged_line_is_refused_and_nothing_is_lost() {
        let (folder, text) = folder();
        for bad in [b"{\"kind\"".as_slice(), b"\xc2", b"[]", b""] {
            let mut lines: Vec<&[u8]> = text.split('\n').map(str::as_bytes).collect();
            lines[1] = bad;
            let bytes = lines.join(&b'\n');
            let error = format!("{:#}", written(folder.path(), &bytes).unwrap_err());
            assert!(error.contains("results.jsonl: line 2 is damaged") && error.contains("--fresh"), "{error}");
            assert_eq!(fs::read(folder.path().join(RESULTS)).unwrap(), bytes);
            lines.remove(1);
            let record = written(folder.path(), &lines.join(&b'\n')).unwrap();
            assert!(!record.has("a") && record.has("b"), "half a piece is none");
        }
        let without_end =
            text.lines().filter(|line| !line.contains(r#""end","key":"a""#)).collect::<Vec<_>>().join("\n");
        let record = written(folder.path(), without_end.as_bytes()).unwrap();
        assert!(!record.has("a") && record.has("b"), "a piece without an end is none, and the next one is whole");
        fs::remove_file(folder.path().join(RESULTS)).unwrap();
        fs::create_dir(folder.path().join(RESULTS)).unwrap();
        assert!(Record::open(folder.path(), true).is_err() && Record::load(folder.path()).is_err());
    }

    /// Older records have no ends: the last job may be incomplete.
    #[test]
    fn an_older_record_is_read_and_its_last_piece_measured_again() {
        let (folder, text) = folder();
        let older: String =
            text.lines().filter(|line| !line.contains("\"end\"")).map(|line| line.to_owned() + "\n").collect();
        fs::write(folder.path().join(RESULTS), &older).unwrap();
        assert_eq!(read_lines(folder.path()).unwrap().len(), 5);
        let record = Record::open(folder.path(), true).unwrap();
        assert!(record.has("a") && !record.has("b"));
    }

    #[test]
    fn a_folder_is_written_by_one_program() {
        let (folder, _) = folder();
        let record = Record::open(folder.path(), true).unwrap();
        let error = Record::open(folder.path(), true).unwrap_err().to_string();
        assert!(error.starts_with("another program is measuring into "), "{error}");
        drop(record);
        assert!(Record::open(folder.path(), true).is_ok());
    }

    #[test]
    fn forgotten_jobs_are_removed_completely() {
        let (folder, _) = folder();
        let mut record = Record::open(folder.path(), true).unwrap();
        record.append("point", "c", &ROWS[..1]).unwrap();
        assert_eq!(record.forget(|line| line["key"] != "c" && line["n"] == 2).unwrap(), 2);
        record.append("point", "d", &ROWS).unwrap();
        assert_eq!((record.has("a"), record.has("c"), record.of::<Sample>("d").len()), (false, true, 2));
        assert_eq!(read_lines(folder.path()).unwrap(), record.lines());
        assert_eq!(record.forget(|_| false).unwrap(), 0);
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
