//! JSON lines: an object a line, with the message in one of its properties.

use super::{Input, Limits, Visit, broken};
use crate::capture::{Capture, Direction, Item};
use crate::error::ArchiveError;
use bytes::Bytes;
use serde_json::{Map, Value as Json};
use std::io::{self, BufRead, BufReader, Read as _};

/// The properties of a line. All but the body may be missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonColumns {
    /// The message: text of XML, or what a message file may hold. Default `body`.
    pub body: String,
    /// When it was sent: a moment (RFC 3339), or a number of seconds since 1970, of milliseconds if
    /// it is greater than 10¹¹. Default `time`.
    pub time: String,
    /// Who sent it. Default `sender`.
    pub sender: String,
    /// `request` or `response`. Default `direction`.
    pub direction: String,
    /// The name of the operation. Default `operation`.
    pub operation: String,
    /// The HTTP status. Default `status`.
    pub status: String,
}

impl Default for JsonColumns {
    fn default() -> Self {
        let named = str::to_owned;
        JsonColumns {
            body: named("body"),
            time: named("time"),
            sender: named("sender"),
            direction: named("direction"),
            operation: named("operation"),
            status: named("status"),
        }
    }
}

/// Reads the messages of a file.
pub(super) fn read(
    input: Input<'_>,
    limits: Limits,
    columns: &JsonColumns,
    visit: &mut Visit<'_>,
) -> Result<(), ArchiveError> {
    let mut reader = match input.open_plain() {
        Ok(reader) => BufReader::new(reader),
        Err(error) => return broken(input.path, &error, visit),
    };
    let (mut line, mut number) = (Vec::new(), 0_u64);
    loop {
        number += 1;
        // JSON escapes take up to six bytes a character.
        match read_line(&mut reader, &mut line, limits.message.saturating_mul(6).saturating_add(64 << 10)) {
            Ok(0) => return Ok(()),
            Ok(_) if line.trim_ascii().is_empty() => {}
            Ok(_) => visit(item(format!("{}:{number}", input.display()), &line, limits, columns))?,
            Err(error) => return broken(input.path, &format!("line {number}: {error}"), visit),
        }
    }
}

/// Reads a line; returns the number of its bytes.
pub(super) fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>, most: u64) -> io::Result<usize> {
    line.clear();
    let read = reader.by_ref().take(most).read_until(b'\n', line)?;
    match read as u64 == most && line.last() != Some(&b'\n') {
        true => Err(io::Error::other(format!("it has more than {most} bytes"))),
        false => Ok(read),
    }
}

fn item(place: String, line: &[u8], limits: Limits, columns: &JsonColumns) -> Item {
    let mut object = match serde_json::from_slice::<Map<String, Json>>(line) {
        Ok(object) => object,
        Err(error) => return Item::Unreadable { place, reason: format!("no JSON object: {error}").into() },
    };
    let Some(Json::String(body)) = object.remove(&columns.body) else {
        return Item::Unreadable { place, reason: format!("no text in the property {}", columns.body).into() };
    };
    if body.len() as u64 > limits.message {
        return Item::Unreadable { place, reason: super::too_large(limits.message).into() };
    }
    let text = |name: &str| match object.get(name) {
        Some(Json::String(text)) => Some(text.clone()),
        Some(Json::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let capture = Capture {
        place,
        content: Bytes::from(body),
        is_answer: false,
        sender: text(&columns.sender),
        ..Capture::default()
    }
    .with_head();
    let direction = text(&columns.direction).and_then(|name| Direction::named(&name));
    Item::Capture(Capture {
        time: text(&columns.time).and_then(|text| microseconds_of(&text)),
        direction: direction.or(capture.direction),
        status: text(&columns.status).and_then(|text| text.parse().ok()).or(capture.status),
        operation: text(&columns.operation),
        ..capture
    })
}

/// Returns the microseconds since 1970 of a moment in RFC 3339, or of a number of seconds or
/// milliseconds.
pub(super) fn microseconds_of(text: &str) -> Option<i64> {
    const MILLISECONDS: f64 = 1e11;
    if let Ok(moment) = text.parse::<jiff::Timestamp>() {
        return Some(moment.as_microsecond());
    }
    let number = text.parse::<f64>().ok().filter(|it| it.is_finite() && it.abs() < 1e15)?;
    let factor = if number.abs() > MILLISECONDS { 1e3 } else { 1e6 };
    Some((number * factor).round() as i64)
}
