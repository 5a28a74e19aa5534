//! HAR files (HTTP Archive 1.2), as browsers and debugging proxies write them: an object `log` with
//! a list `entries`. Entries are read one by one, since such a file may be large.

use super::{Input, Limits, Visit, broken};
use crate::capture::{Capture, Direction, Item};
use crate::error::ArchiveError;
use crate::sources::lines::microseconds_of;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::io::BufReader;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    started_date_time: Option<String>,
    time: Option<f64>,
    request: Request,
    response: Response,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    #[serde(default)]
    url: String,
    post_data: Option<Content>,
}

#[derive(Deserialize)]
struct Response {
    #[serde(default)]
    status: i64,
    content: Option<Content>,
}

#[derive(Deserialize)]
struct Content {
    text: Option<String>,
    encoding: Option<String>,
}

/// Reads the requests and responses that have bodies.
pub(super) fn read(input: Input<'_>, limits: Limits, visit: &mut Visit<'_>) -> Result<(), ArchiveError> {
    let reader = match input.open_plain() {
        Ok(reader) => BufReader::new(reader),
        Err(error) => return broken(input.path, &error, visit),
    };
    let mut reading = Reading { place: input.display().to_string(), limits, number: 0, visit, stopped: None };
    let mut json = serde_json::Deserializer::from_reader(reader);
    let read = json.deserialize_map(Object { key: "log", inner: Inner::Log, reading: &mut reading });
    let stopped = reading.stopped.take();
    match (stopped, read) {
        (Some(stopped), _) => Err(stopped),
        (None, Ok(())) => Ok(()),
        (None, Err(error)) => broken(input.path, &error, visit),
    }
}

struct Reading<'r, 'v> {
    place: String,
    limits: Limits,
    number: usize,
    visit: &'r mut Visit<'v>,
    /// The error of a visit, which ends the reading.
    stopped: Option<ArchiveError>,
}

impl Reading<'_, '_> {
    fn entry(&mut self, entry: Entry) -> Result<(), ArchiveError> {
        let place = format!("{}!{}", self.place, self.number);
        self.number += 1;
        let begun = entry.started_date_time.as_deref().and_then(microseconds_of);
        let took = entry.time.filter(|it| (0.0..1e12).contains(it)).map_or(0, |it| (it * 1e3) as i64);
        let host = entry.request.url.split("//").nth(1).and_then(|rest| rest.split('/').next()).map(str::to_owned);
        let mut is_answer = false;
        if let Some(body) = entry.request.post_data {
            let capture = Capture {
                place: format!("{place}.request"),
                time: begun,
                direction: Some(Direction::Request),
                ..Capture::default()
            };
            is_answer = self.body(capture, body)?;
        }
        let Some(body) = entry.response.content else { return Ok(()) };
        let capture = Capture {
            place: format!("{place}.response"),
            time: begun.map(|begun| begun.saturating_add(took)),
            sender: host,
            direction: Some(Direction::Response),
            status: u16::try_from(entry.response.status).ok(),
            is_answer,
            ..Capture::default()
        };
        self.body(capture, body).map(|_| ())
    }

    /// Passes on a message; returns false if there is none.
    fn body(&mut self, capture: Capture, body: Content) -> Result<bool, ArchiveError> {
        let Some(text) = body.text.filter(|text| !text.trim().is_empty()) else { return Ok(false) };
        let is_base64 = body.encoding.is_some_and(|encoding| encoding.eq_ignore_ascii_case("base64"));
        let content =
            if is_base64 { STANDARD.decode(text).map_err(|_| "not valid base64") } else { Ok(text.into_bytes()) };
        let item = match content {
            Ok(content) if content.len() as u64 > self.limits.message => {
                Item::Unreadable { place: capture.place, reason: super::too_large(self.limits.message).into() }
            }
            Ok(content) => Item::Capture(Capture { content: Bytes::from(content), ..capture }),
            Err(reason) => Item::Unreadable { place: capture.place, reason: reason.into() },
        };
        (self.visit)(item)?;
        Ok(true)
    }
}

#[derive(Clone, Copy)]
enum Inner {
    Log,
    Entries,
}

/// Reads one property of an object.
struct Object<'o, 'r, 'v> {
    key: &'static str,
    inner: Inner,
    reading: &'o mut Reading<'r, 'v>,
}

impl<'de> Visitor<'de> for Object<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with a property {}", self.key)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        let mut is_found = false;
        while let Some(key) = object.next_key::<String>()? {
            if key == self.key {
                is_found = true;
                object.next_value_seed(Within { inner: self.inner, reading: &mut *self.reading })?;
            } else {
                object.next_value::<IgnoredAny>()?;
            }
        }
        if is_found { Ok(()) } else { Err(A::Error::custom(format!("no property {}", self.key))) }
    }
}

struct Within<'o, 'r, 'v> {
    inner: Inner,
    reading: &'o mut Reading<'r, 'v>,
}

impl<'de> DeserializeSeed<'de> for Within<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        match self.inner {
            Inner::Log => json.deserialize_map(Object { key: "entries", inner: Inner::Entries, reading: self.reading }),
            Inner::Entries => json.deserialize_seq(self),
        }
    }
}

impl<'de> Visitor<'de> for Within<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some(entry) = entries.next_element::<Entry>()? {
            if let Err(error) = self.reading.entry(entry) {
                self.reading.stopped = Some(error);
                return Err(A::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}
