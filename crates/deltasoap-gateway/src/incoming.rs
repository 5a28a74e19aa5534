//! Requests as JSON lines: first the request without the items of a list, then each item on a line
//! of its own.
//!
//! The first items are read and checked before the call begins, together with the request; so a
//! mistake there is answered before anything is sent. The others are read while the SOAP request is
//! sent, as fast as the service takes them. A mistake then aborts that request, and its
//! [`Failure`] is the answer.
//!
//! Neither the length of the body nor the time for it is limited, but those of each line, and the
//! average pace: a client could hold a call for ever by a short line now and then.

use crate::config::Limits;
use crate::problem::Problem;
use bytes::{Buf, Bytes, BytesMut};
use deltasoap_core::Value;
use deltasoap_dynamic::json::{self, RequestList};
use deltasoap_http::BoxError;
use futures_util::stream::{self, Stream};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use memchr::memchr;
use serde_json::{Map, Value as Json};
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::yield_now;
use tokio::time::{Instant, timeout_at};

/// Lines of this many bytes together are read before their items are sent.
const BATCH: usize = 16 << 10;

/// The media types of JSON lines.
pub(crate) const MEDIA: [&str; 3] = ["application/jsonl", "application/x-ndjson", "application/x-jsonlines"];

/// Returns true for a media type of JSON lines.
pub(crate) fn is_lines(media: &str) -> bool {
    let essence = media.split(';').next().unwrap_or_default().trim();
    MEDIA.iter().any(|known| known.eq_ignore_ascii_case(essence))
}

/// A request whose first items have arrived.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) request: Value,
    /// The other items; `None` if the list has no items.
    pub(crate) items: Option<Items>,
}

impl Incoming {
    /// Reads a request up to its first items. `complete` adds to the JSON of the first line what
    /// belongs to the request; a body that is the list itself has no such line.
    ///
    /// # Errors
    /// If a line is malformed, does not match the operation's request, is too long or does not
    /// arrive.
    pub(crate) async fn begin(
        mut lines: Lines,
        list: RequestList,
        (has_head, complete): (bool, impl FnOnce(Json) -> Json),
    ) -> Result<Self, Problem> {
        let head = if has_head { lines.next().await? } else { None };
        let number = head.as_ref().map_or(1, |line| line.number);
        let json = match head {
            Some(line) => line.json()?,
            None if has_head => Json::Object(Map::new()),
            None => Json::Array(Vec::new()),
        };
        let mut first = Vec::new();
        let mut length = 0;
        while first.len() < list.first_items()
            && let Some(line) = lines.next().await?
        {
            length += line.text.len();
            if length > lines.limit {
                return Err(Problem::too_long_lines(lines.limit).at_line(line.number));
            }
            let item = line.json()?;
            let checked = list.items_from(first.len()).read(&item);
            checked.map_err(|error| Problem::invalid_json(&error).at_line(line.number))?;
            first.push(item);
        }
        let next = first.len();
        let request = list.request_from_json(complete(json), first);
        let request = request.map_err(|error| Problem::invalid_json(&error).at_line(number))?;
        let items = Items { lines, list: Arc::new(list), next, failure: Failure::default(), slot: None };
        Ok(Incoming { request, items: (next > 0).then_some(items) })
    }
}

/// The items of a request that come while it is sent.
#[derive(Debug)]
pub(crate) struct Items {
    lines: Lines,
    list: Arc<RequestList>,
    /// The index of the next item.
    next: usize,
    failure: Failure,
    /// Held until they end, even if the service has answered before.
    slot: Option<Arc<OwnedSemaphorePermit>>,
}

impl Items {
    /// Holds a call's slot as long as there may be items.
    pub(crate) fn hold(&mut self, slot: &Arc<OwnedSemaphorePermit>) {
        self.slot = Some(Arc::clone(slot));
    }

    /// Returns the list that they belong to.
    pub(crate) fn list(&self) -> Arc<RequestList> {
        Arc::clone(&self.list)
    }

    /// Returns the place for what goes wrong with them.
    pub(crate) fn failure(&self) -> Failure {
        self.failure.clone()
    }

    /// Returns the items, in batches of those that have arrived. A failure ends them with an error.
    pub(crate) fn batches(self) -> impl Stream<Item = Result<Vec<Value>, Broken>> + Send + 'static {
        stream::try_unfold(Some(self), |items| async move {
            let Some(mut items) = items else { return Ok(None) };
            match items.batch().await {
                Ok(Some(batch)) => Ok(Some((batch, Some(items)))),
                Ok(None) => Ok(None),
                Err(problem) => {
                    let broken = Broken(problem.detail().to_owned());
                    items.failure.set(problem);
                    Err(broken)
                }
            }
        })
    }

    async fn batch(&mut self) -> Result<Option<Vec<Value>>, Problem> {
        match self.lines.next().await? {
            Some(first) => self.read(first).map(Some),
            None => Ok(None),
        }
    }

    /// Reads an item, and those after it that have arrived.
    fn read(&mut self, first: Line) -> Result<Vec<Value>, Problem> {
        let (mut batch, mut length, mut next) = (Vec::new(), 0, Some(first));
        let mut reader = self.list.items_from(self.next);
        while let Some(line) = next {
            length += line.text.len();
            let item = reader.read(&line.json()?);
            batch.push(item.map_err(|error| Problem::invalid_json(&error).at_line(line.number))?);
            next = if length < BATCH { self.lines.arrived()? } else { None };
        }
        self.next += batch.len();
        Ok(batch)
    }
}

/// What went wrong with the items of a request, once something did.
#[derive(Debug, Clone, Default)]
pub(crate) struct Failure(Arc<OnceLock<Problem>>);

impl Failure {
    fn set(&self, problem: Problem) {
        // The first one ends the items.
        let _ = self.0.set(problem);
    }

    pub(crate) fn problem(&self) -> Option<Problem> {
        self.0.get().cloned()
    }
}

/// The items of a request that broke off.
#[derive(Debug)]
pub(crate) struct Broken(String);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Broken {}

/// A line that is not blank.
#[derive(Debug, PartialEq)]
struct Line {
    /// Its number in the body, starting at 1.
    number: usize,
    text: Bytes,
}

impl Line {
    fn json(&self) -> Result<Json, Problem> {
        let malformed = |reason: String| Problem::malformed(reason).at_line(self.number);
        let text = std::str::from_utf8(&self.text).map_err(|error| malformed(format!("JSON is in UTF-8: {error}")))?;
        json::parse(text).map_err(|error| {
            // The place in it; that it is the first line says nothing.
            let reason = error.to_string();
            let reason = reason.rsplit_once(" at line ").map_or(&*reason, |(reason, _)| reason);
            malformed(format!("it is not usable as JSON: {reason} at column {}", error.column()))
        })
    }
}

/// The lines of a body, each within limits.
pub(crate) struct Lines {
    body: UnsyncBoxBody<Bytes, BoxError>,
    /// What has arrived of the next lines.
    rest: BytesMut,
    /// How much of it is known to have no end of a line.
    searched: usize,
    /// The number of the last line.
    number: usize,
    /// Bytes of blank lines since the last line that was not blank.
    blank: usize,
    /// Maximum length of a line.
    limit: usize,
    /// Maximum time for a line to arrive, in seconds.
    seconds: u64,
    /// Minimum pace in bytes a second; 0 for none.
    rate: u32,
    /// Bytes that have arrived, and the time in which they were waited for.
    bytes: u64,
    waited: Duration,
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Lines {
    /// Returns the lines of a body.
    pub(crate) fn new(body: UnsyncBoxBody<Bytes, BoxError>, limits: &Limits) -> Self {
        Lines {
            body,
            rest: BytesMut::new(),
            searched: 0,
            number: 0,
            blank: 0,
            limit: limits.request_bytes,
            seconds: limits.body_seconds,
            rate: limits.lines_rate,
            bytes: 0,
            waited: Duration::ZERO,
        }
    }

    /// Returns the next line; `None` after the last one. Blank lines are only counted.
    ///
    /// # Errors
    /// If the line is too long, takes too long, or breaks off.
    async fn next(&mut self) -> Result<Option<Line>, Problem> {
        let end = Instant::now().checked_add(Duration::from_secs(self.seconds));
        loop {
            if let Some(line) = self.arrived()? {
                return Ok(Some(line));
            }
            let start = Instant::now();
            let frame = match end {
                // A body that is always ready, as a compressed one can be, has no time limit otherwise.
                Some(end) if start >= end => return Err(self.too_slow()),
                Some(end) => timeout_at(end, self.body.frame()).await.map_err(|_| self.too_slow())?,
                None => self.body.frame().await,
            };
            self.waited += start.elapsed();
            match frame {
                Some(Ok(frame)) => {
                    let data = frame.into_data().unwrap_or_default();
                    self.bytes += data.len() as u64;
                    self.rest.extend_from_slice(&data);
                }
                Some(Err(error)) => return Err(Problem::incomplete(error.to_string()).at_line(self.number + 1)),
                None => return Ok(self.last()),
            }
            if self.is_too_slow() {
                return Err(self.too_slow());
            }
            // Others get their turn, however much has arrived.
            yield_now().await;
        }
    }

    fn is_too_slow(&self) -> bool {
        let Some(waited) = self.waited.checked_sub(Duration::from_secs(self.seconds)) else { return false };
        waited.as_secs_f64() * f64::from(self.rate) > self.bytes as f64
    }

    fn too_slow(&self) -> Problem {
        Problem::slow_line(self.seconds, self.rate).at_line(self.number + 1)
    }

    /// Returns the next line that has arrived in full and is not blank.
    ///
    /// # Errors
    /// If a line is too long, also if its end has not arrived.
    fn arrived(&mut self) -> Result<Option<Line>, Problem> {
        loop {
            let end = memchr(b'\n', &self.rest[self.searched..]).map(|end| self.searched + end);
            if end.unwrap_or(self.rest.len()).saturating_add(self.blank) > self.limit {
                return Err(Problem::too_long_lines(self.limit).at_line(self.number + 1));
            }
            let Some(end) = end else {
                self.searched = self.rest.len();
                return Ok(None);
            };
            let text = self.rest.split_to(end);
            self.rest.advance(1);
            (self.searched, self.number) = (0, self.number + 1);
            if !text.trim_ascii().is_empty() {
                self.blank = 0;
                return Ok(Some(Line { number: self.number, text: text.freeze() }));
            }
            self.blank += text.len() + 1;
        }
    }

    /// Returns the last line, which need not have an end.
    fn last(&mut self) -> Option<Line> {
        let text = std::mem::take(&mut self.rest).freeze();
        (self.searched, self.number) = (0, self.number + 1);
        (!text.trim_ascii().is_empty()).then_some(Line { number: self.number, text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::StreamExt;
    use http_body::Frame;
    use http_body_util::StreamBody;

    fn lines(pieces: Vec<Vec<u8>>, limit: usize) -> Lines {
        let frames = stream::iter(pieces).map(|piece| Ok::<_, BoxError>(Frame::data(Bytes::from(piece))));
        let limits = Limits { request_bytes: limit, ..Limits::default() };
        Lines::new(StreamBody::new(frames).boxed_unsync(), &limits)
    }

    async fn all(mut lines: Lines) -> Result<Vec<(usize, String)>, Problem> {
        let mut all = Vec::new();
        while let Some(Line { number, text }) = lines.next().await? {
            all.push((number, String::from_utf8_lossy(text.trim_ascii()).into_owned()));
        }
        Ok(all)
    }

    #[tokio::test]
    async fn lines_do_not_depend_on_pieces() {
        for (text, expected) in [
            ("", &[][..]),
            ("\n \r\n", &[]),
            ("a\nb\n", &[(1, "a"), (2, "b")]),
            ("a\r\n\r\nb", &[(1, "a"), (3, "b")]),
            ("\n  a b  ", &[(2, "a b")]),
        ] {
            for size in 1..=text.len().max(1) {
                let pieces = text.as_bytes().chunks(size).map(<[u8]>::to_vec).collect();
                let found = all(lines(pieces, 10)).await.expect(text);
                let found: Vec<_> = found.iter().map(|(number, text)| (*number, &**text)).collect();
                assert_eq!(found, expected, "{text:?} in pieces of {size}");
            }
        }
    }

    #[tokio::test]
    async fn long_lines_are_refused_at_their_number() {
        for text in ["12345\n123456\n", "12345\n123456", "12345\n\n123456\n1"] {
            for size in [1, 4, 100] {
                let pieces = text.as_bytes().chunks(size).map(<[u8]>::to_vec).collect();
                let problem = all(lines(pieces, 5)).await.expect_err(text).to_json();
                let line = if text.contains("\n\n") { 3 } else { 2 };
                assert_eq!((&problem["status"], &problem["line"]), (&Json::from(413), &Json::from(line)), "{text:?}");
            }
        }
        let short = lines(vec![b"12345\n".repeat(1000)], 5);
        assert_eq!(all(short).await.expect("short lines").len(), 1000);
    }

    #[tokio::test]
    async fn blank_lines_are_limited() {
        let blank = || b"\n".repeat(100);
        let problem = all(lines(vec![b"1\n".to_vec(), blank(), blank()], 150)).await.expect_err("blank").to_json();
        assert_eq!(problem["status"], 413);
        let between = [blank(), b"1\n".to_vec(), blank(), b"2\n".to_vec()].concat();
        assert_eq!(all(lines(vec![between], 150)).await.expect("lines").len(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_pace_ends_the_lines() {
        let every = |seconds: u64, bytes: usize| {
            let frames = stream::unfold(0, move |count| async move {
                tokio::time::sleep(Duration::from_secs(seconds)).await;
                let line = [b"1".repeat(bytes - 1), b"\n".to_vec()].concat();
                (count < 100).then(|| (Ok::<_, BoxError>(Frame::data(Bytes::from(line))), count + 1))
            });
            Lines::new(StreamBody::new(frames).boxed_unsync(), &Limits::default())
        };
        assert_eq!(all(every(10, 2)).await.expect_err("slow").to_json()["status"], 408);
        assert_eq!(all(every(10, 5000)).await.expect("lines").len(), 100);
    }

    #[tokio::test]
    async fn a_body_that_is_always_ready_has_a_time_limit() {
        let frames = stream::repeat_with(|| {
            std::thread::sleep(Duration::from_millis(20));
            Ok::<_, BoxError>(Frame::data(Bytes::from_static(b"  ")))
        });
        let limits = Limits { body_seconds: 1, ..Limits::default() };
        let problem = all(Lines::new(StreamBody::new(frames).boxed_unsync(), &limits)).await.expect_err("no line");
        assert_eq!(problem.to_json()["status"], 408);
    }

    #[test]
    fn media_types_of_lines_are_known() {
        for media in ["application/jsonl", "Application/X-NDJSON; charset=utf-8", "application/x-jsonlines"] {
            assert!(is_lines(media), "{media}");
        }
        assert!(!is_lines("application/json") && !is_lines("") && !is_lines("application/jsonlines"));
    }
}
