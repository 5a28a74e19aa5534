//! Requests with values that differ: JSON with `{{i}}`, `{{uuid}}`, `{{random}}`, `{{random 1 6}}` and
//! columns of a table.
//!
//! Columns are filled in before the load, a request for each row. For the other variables, the
//! request is encoded once with a mark in their place, a number or a UUID that occurs nowhere else,
//! and the load only replaces the marks. So the values have the form that the type of their element
//! asks for, and a request costs no more than copying it.

use anyhow::{Context as _, Result, bail, ensure};
use csv::StringRecord;
use memchr::memmem;
use std::ops::Range;
use std::path::Path;

/// Maximum number of variables of a request.
const MAX_VARIABLES: usize = 100;
/// Numbers in place of variables, to be completed by two digits: most types have room for one.
const MARKS: [&str; 3] = ["7301928", "317", "1"];
/// Maximum number of characters of a request in an error.
const MAX_QUOTED: usize = 30;
/// How a text may have braces.
const BRACES: &str = "a text with two braces has \\u007b in place of the second";
/// A UUID in place of a variable, to be completed by two digits.
const UUID_MARK: &str = "5e17a5f0-0a0a-4b0b-8c0c-0123456789";

/// A value that is another in each request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variable {
    /// The number of the request, from 0.
    Number,
    /// A random UUID.
    Uuid,
    /// A random number from the first to the last.
    Random(u32, u32),
}

/// The last number of `{{random}}`.
const LAST: u32 = 999_999_999;

impl Variable {
    /// Returns the variable with a name; `None` if none has it.
    fn named(name: &str) -> Result<Option<Self>> {
        let words: Vec<&str> = name.split_whitespace().collect();
        Ok(Some(match words[..] {
            ["i"] => Variable::Number,
            ["uuid"] => Variable::Uuid,
            ["random"] => Variable::Random(0, LAST),
            ["random", ref bounds @ ..] => {
                let bounds = match bounds {
                    [first, last] => first.parse().ok().zip(last.parse().ok()).filter(|(first, last)| first <= last),
                    _ => None,
                };
                let Some((first, last)) = bounds else {
                    bail!(
                        "{{{{{name}}}}}: expected the smallest and the largest number, from 0 to {}, such as {{{{random 1 6}}}}",
                        u32::MAX
                    );
                };
                Variable::Random(first, last)
            }
            _ => return Ok(None),
        }))
    }
}

/// The rows of a CSV file, and the names of their columns.
#[derive(Debug, Default)]
pub struct Rows {
    names: Vec<String>,
    rows: Vec<StringRecord>,
}

impl Rows {
    /// Reads a file whose first line has the names.
    pub fn read(path: &Path) -> Result<Self> {
        let text = crate::files::read_text(path)?;
        Rows::parse(&text).with_context(|| format!("{} is not usable as CSV", path.display()))
    }

    fn parse(text: &str) -> Result<Self> {
        let mut reader = csv::Reader::from_reader(text.trim_start_matches('\u{feff}').as_bytes());
        let names: Vec<String> = reader.headers()?.iter().map(|name| name.trim().to_owned()).collect();
        let rows: Vec<StringRecord> = reader.records().collect::<Result<_, _>>()?;
        ensure!(!rows.is_empty(), "it has no rows below the names of its columns");
        Ok(Rows { names, rows })
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }
}

/// The JSON of a request.
#[derive(Debug)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Variable(Variable),
    Column(usize),
}

impl Template {
    /// Finds the variables in a text.
    pub fn parse(text: &str, rows: &Rows) -> Result<Self> {
        let (mut parts, mut rest) = (Vec::new(), text);
        while let Some((before, name, after)) = next(rest)? {
            parts.push(Part::Text(before.to_owned()));
            parts.push(match Variable::named(name)? {
                Some(variable) => Part::Variable(variable),
                None => Part::Column(column(name, rows)?),
            });
            rest = after;
        }
        parts.push(Part::Text(rest.to_owned()));
        let template = Template { parts };
        ensure!(template.variables().count() <= MAX_VARIABLES, "there are more than {MAX_VARIABLES} variables");
        Ok(template)
    }

    pub fn variables(&self) -> impl Iterator<Item = Variable> {
        self.parts.iter().filter_map(|part| match part {
            Part::Variable(variable) => Some(*variable),
            _ => None,
        })
    }

    /// Returns the number of different requests before variables are filled in: one for each row, if
    /// there are columns.
    pub fn requests(&self, rows: &Rows) -> usize {
        if self.parts.iter().any(|part| matches!(part, Part::Column(_))) { rows.len() } else { 1 }
    }

    /// Returns the JSON with the values of a row, and with these texts in place of the variables.
    pub fn filled(&self, rows: &Rows, row: usize, variables: &[String]) -> String {
        let mut variables = variables.iter();
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Variable(_) => variables.next().cloned().unwrap_or_default(),
            Part::Column(column) => escaped(rows.rows.get(row).and_then(|row| row.get(*column)).unwrap_or_default()),
        };
        self.parts.iter().map(part).collect()
    }
}

/// Splits a text at its first `{{name}}`. Two braces begin nothing else in JSON, outside of texts.
fn next(text: &str) -> Result<Option<(&str, &str, &str)>> {
    let Some(first) = text.find("{{") else { return Ok(None) };
    // Of several braces, the last two count.
    let open = first + text[first..].bytes().take_while(|byte| *byte == b'{').count() - 2;
    let inner = &text[open + 2..];
    let Some(close) = inner.find("}}").filter(|close| !inner[..*close].contains(['{', '"'])) else {
        let beginning: String = inner.chars().take(MAX_QUOTED).take_while(|c| !matches!(c, '"' | '\n')).collect();
        bail!("{{{{{beginning} has no end }}}}; {BRACES}");
    };
    Ok(Some((&text[..open], inner[..close].trim(), &inner[close + 2..])))
}

fn column(name: &str, rows: &Rows) -> Result<usize> {
    if let Some(at) = rows.names.iter().position(|known| known == name) {
        return Ok(at);
    }
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
    ensure!(
        !name.is_empty() && name.chars().all(is_name),
        "{{{{{name}}}}} is no variable: there are {{{{i}}}}, {{{{uuid}}}}, {{{{random}}}}, {{{{random 1 6}}}}, and the \
         columns of --data-from; {BRACES}"
    );
    match &rows.names[..] {
        [] => bail!("{{{{{name}}}}} is neither i, uuid nor random; --data-from names a CSV file with such a column"),
        names => bail!("there is no column {name:?}; there are {}", names.join(", ")),
    }
}

/// Returns a text as the content of a JSON string.
fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Number of ways to mark variables.
pub const WAYS: usize = MARKS.len();

/// Returns texts that mark variables, in one of the [`WAYS`].
pub fn marks(variables: &[Variable], way: usize) -> Vec<String> {
    let mark = |(index, variable): (usize, &Variable)| match variable {
        Variable::Uuid => format!("{UUID_MARK}{index:02}"),
        Variable::Number | Variable::Random(..) => format!("{}{index:02}", MARKS[way]),
    };
    variables.iter().enumerate().map(mark).collect()
}

/// Finds the marks in an encoded request; `None` unless each occurs exactly once.
pub fn places(body: &[u8], marks: &[String], variables: &[Variable]) -> Option<Vec<(Range<usize>, Variable)>> {
    let mut places = Vec::new();
    for (mark, variable) in marks.iter().zip(variables) {
        let mut found = memmem::find_iter(body, mark);
        let at = found.next().filter(|_| found.next().is_none())?;
        places.push((at..at + mark.len(), *variable));
    }
    places.sort_by_key(|(place, _)| place.start);
    Some(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_and_columns_are_filled() {
        let rows = Rows::parse("name, full name\nAda,\"Ada \"\"L\"\"\"\nBob,B\n").expect("rows");
        let template =
            Template::parse(r#"{"a": "{{ name }}-{{i}}", "b": "{{full name}}", "c": {{random 1 6}}}"#, &rows);
        let template = template.expect("a template");
        assert_eq!(template.variables().collect::<Vec<_>>(), [Variable::Number, Variable::Random(1, 6)]);
        assert_eq!(template.requests(&rows), 2);
        let filled = template.filled(&rows, 0, &["1".to_owned(), "2".to_owned()]);
        assert_eq!(filled, r#"{"a": "Ada-1", "b": "Ada \"L\"", "c": 2}"#);
    }

    #[test]
    fn braces_alone_are_text() {
        let rows = Rows::default();
        for text in [r#"{"a": {"b": {"c": 1}}}"#, r#"{"a": "{\u007bi}}"}"#, "{i}", "}}", ""] {
            let template = Template::parse(text, &rows).expect("a template");
            assert_eq!((template.filled(&rows, 0, &[]), template.requests(&rows)), (text.to_owned(), 1));
        }
    }

    #[test]
    fn unknown_names_are_refused() {
        let why = |rows: &Rows| Template::parse("{{nmae}}", rows).expect_err("unknown").to_string();
        assert!(why(&Rows::default()).contains("--data-from"));
        assert!(why(&Rows::parse("name,age\nAda,36\n").expect("rows")).contains("there are name, age"));
        for text in ["{{i + 1}}", "{{}}", "{{", "{{\"a\": 1}}", r#"{"a": "{{i}", "b": {"c": {}}}"#] {
            let why = Template::parse(text, &Rows::default()).expect_err("malformed").to_string();
            assert!(why.contains("\\u007b"), "{text}: {why}");
        }
        let why = Template::parse("{{random 0 4294967296}}", &Rows::default()).expect_err("too large").to_string();
        assert!(why.contains("from 0 to 4294967295"), "{why}");
        let special = Rows::parse("a+b\n1\n").expect("rows");
        let braces = Template::parse("{{{a+b}}}", &special).expect("a column").filled(&special, 0, &[]);
        assert_eq!(braces, "{1}");
        for text in ["{{random 6 1}}", "{{random 1 x}}", "{{random 1}}", "{{random 1 2 3}}"] {
            assert!(Template::parse(text, &Rows::default()).is_err(), "{text}");
        }
        assert!(Template::parse(&"{{i}}".repeat(101), &Rows::default()).is_err());
    }

    #[test]
    fn tables_without_rows_or_with_torn_ones_are_refused() {
        assert!(Rows::parse("name\n").is_err() && Rows::parse("a,b\n1\n").is_err());
    }

    #[test]
    fn each_mark_is_found_once() {
        let variables = [Variable::Random(0, 9), Variable::Uuid];
        let marks = marks(&variables, 1);
        let body = format!("<b>{}</b><a>{}</a>", marks[1], marks[0]);
        let places = places(body.as_bytes(), &marks, &variables).expect("places");
        assert_eq!(places[0], (3..39, Variable::Uuid));
        assert!(super::places(b"<a>31700</a><a>31700</a>", &marks[..1], &variables[..1]).is_none());
        assert!(super::places(b"<a/>", &marks[..1], &variables[..1]).is_none());
    }
}
