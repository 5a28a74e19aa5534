//! Directories that `deltasoap proxy --record` wrote: a line for each exchange, with the files of its
//! request and its response.

use super::lines::{microseconds_of, read_line};
use super::{Limits, RECORDING, Visit, broken, message_file, read_whole};
use crate::capture::{Capture, Direction, Item};
use crate::error::ArchiveError;
use serde::Deserialize;
use std::fs::File;
use std::io::BufReader;
use std::path::{Component, Path};

/// Maximum number of bytes of a line.
const LINE: u64 = 16 << 20;

#[derive(Deserialize)]
struct Line {
    time: String,
    #[serde(default)]
    ms: f64,
    operation: Option<String>,
    status: u16,
    request: String,
    response: String,
}

/// Reads the exchanges that hold messages.
pub(super) fn read(path: &Path, limits: Limits, visit: &mut Visit<'_>) -> Result<(), ArchiveError> {
    let index = path.join(RECORDING);
    let mut reader = match File::open(&index) {
        Ok(file) => BufReader::new(file),
        Err(error) => return broken(&index, &error, visit),
    };
    let (mut line, mut number) = (Vec::new(), 0_u64);
    loop {
        number += 1;
        match read_line(&mut reader, &mut line, LINE) {
            Ok(0) => return Ok(()),
            // The process may have ended within the last line.
            Ok(_) if line.last() != Some(&b'\n') => return Ok(()),
            Ok(_) => {}
            Err(error) => return broken(&index, &format!("line {number}: {error}"), visit),
        }
        match serde_json::from_slice::<Line>(&line) {
            Ok(exchange) => both(path, exchange, limits, visit)?,
            Err(error) => {
                let place = format!("{}:{number}", index.display());
                visit(Item::Unreadable { place, reason: format!("no exchange: {error}").into() })?;
            }
        }
    }
}

/// Reads the request and the response of an exchange.
fn both(folder: &Path, line: Line, limits: Limits, visit: &mut Visit<'_>) -> Result<(), ArchiveError> {
    // What is no message was recorded to be replayed: a WSDL, a page.
    if line.request.starts_with("other/") {
        return Ok(());
    }
    let begun = microseconds_of(&line.time);
    let took = if (0.0..1e12).contains(&line.ms) { (line.ms * 1e3) as i64 } else { 0 };
    let whole = Capture { operation: line.operation, ..Capture::default() };
    let request = Capture {
        time: begun,
        direction: Some(Direction::Request),
        operation: whole.operation.clone(),
        ..Capture::default()
    };
    visit(of_file(folder, &line.request, request, limits))?;
    let response = Capture {
        time: begun.map(|begun| begun.saturating_add(took)),
        direction: Some(Direction::Response),
        status: Some(line.status),
        is_answer: true,
        ..whole
    };
    visit(of_file(folder, &line.response, response, limits))
}

/// Reads a file of the recording, and adds what the exchange says of it.
fn of_file(folder: &Path, name: &str, known: Capture, limits: Limits) -> Item {
    let path = folder.join(name);
    let place = path.display().to_string();
    if !Path::new(name).components().all(|part| matches!(part, Component::Normal(_))) {
        return Item::Unreadable { place, reason: "a file outside of the recording".into() };
    }
    let content = File::open(&path).and_then(|file| read_whole(file, limits.message));
    match message_file(place, None, content) {
        Item::Capture(Capture { place, content, .. }) => Item::Capture(Capture { place, content, ..known }),
        unreadable => unreadable,
    }
}
