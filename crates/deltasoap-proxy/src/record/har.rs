//! HAR 1.2 (HTTP Archive): one JSON document with all exchanges, for the developer tools of browsers
//! and for other proxies.
//!
//! The document is complete after each exchange: an entry is written over the end of the document,
//! together with a new end.

use super::{Half, Recorded, Taken};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use jiff::Timestamp;
use serde_json::{Value as Json, json};
use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::time::Duration;

/// The end of the document.
const END: &str = "\n]}}\n";

#[derive(Debug)]
pub(super) struct Har {
    file: File,
    /// Where the end begins.
    end: u64,
    is_empty: bool,
}

impl Har {
    /// Creates the file, or replaces it.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let creator = json!({ "name": "deltasoap proxy", "version": env!("CARGO_PKG_VERSION") });
        let begin = format!("{{\"log\":{{\"version\":\"1.2\",\"creator\":{creator},\"entries\":[");
        let mut file = File::create(path)?;
        file.write_all(format!("{begin}{END}").as_bytes())?;
        Ok(Har { file, end: begin.len() as u64, is_empty: true })
    }

    pub(super) fn write(
        &mut self,
        taken: &Taken,
        path: &str,
        request: &Recorded,
        response: &Recorded,
    ) -> io::Result<()> {
        let comma = if self.is_empty { "\n" } else { ",\n" };
        let entry = format!("{comma}{}", entry(taken, path, request, response));
        if let Err(error) = self.put(&entry) {
            // Without the new entry, the document is complete as before.
            let _ = self.put("").and_then(|()| self.file.set_len(self.end + END.len() as u64));
            return Err(error);
        }
        self.end += entry.len() as u64;
        self.is_empty = false;
        Ok(())
    }

    fn put(&mut self, entry: &str) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(format!("{entry}{END}").as_bytes())
    }
}

fn entry(taken: &Taken, path: &str, request: &Recorded, response: &Recorded) -> Json {
    let begun = Timestamp::try_from(taken.begun).unwrap_or(Timestamp::UNIX_EPOCH);
    let mut asked = json!({
        "method": taken.method.as_str(),
        "url": format!("{}{path}", taken.origin),
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": headers(request),
        "queryString": query(path),
        "headersSize": -1,
        "bodySize": size(&taken.request),
    });
    if !request.body.is_empty() {
        let (text, _) = text(&request.body);
        asked["postData"] = json!({ "mimeType": request.media, "text": text, "params": [] });
    }
    let (text, encoding) = text(&response.body);
    let mut content = json!({ "size": response.body.len(), "mimeType": response.media, "text": text });
    if let Some(encoding) = encoding {
        content["encoding"] = encoding.into();
    }
    let location = response.headers.iter().find(|(name, _)| name == "location").map_or("", |(_, value)| value);
    json!({
        "startedDateTime": begun.to_string(),
        "time": ms(taken.time),
        "request": asked,
        "response": {
            "status": taken.status.as_u16(),
            "statusText": taken.status.canonical_reason().unwrap_or_default(),
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": headers(response),
            "content": content,
            "redirectURL": location,
            "headersSize": -1,
            "bodySize": size(&taken.response),
        },
        "cache": {},
        "timings": { "send": 0, "wait": ms(taken.wait), "receive": ms(taken.time.saturating_sub(taken.wait)) },
        "comment": taken.operation,
    })
}

fn headers(recorded: &Recorded) -> Json {
    recorded.headers.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect()
}

fn query(path: &str) -> Json {
    let Some((_, query)) = path.split_once('?') else { return json!([]) };
    let parameters = query.split('&').map(|part| part.split_once('=').unwrap_or((part, "")));
    parameters.map(|(name, value)| json!({ "name": name, "value": value })).collect()
}

fn size(half: &Half) -> usize {
    half.body.len()
}

fn ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// Returns a body as text, and its encoding if it is none.
fn text(body: &[u8]) -> (String, Option<&'static str>) {
    match std::str::from_utf8(body) {
        Ok(text) => (text.to_owned(), None),
        Err(_) => (BASE64_STANDARD.encode(body), Some("base64")),
    }
}
