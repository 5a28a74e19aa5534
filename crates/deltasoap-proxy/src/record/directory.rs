//! A directory of messages.
//!
//! ```text
//! Order-0001.xml               the message of an answer, as `mock --replies` and `replay` read it
//! requests/0001-Order.http     the request over HTTP
//! responses/0002-Order.http    an answer that is no file of its own: faults with header blocks,
//!                              packages of parts
//! other/0003-GET.request       requests and answers without messages, such as those of a WSDL
//! other/0003-GET.response
//! exchanges.jsonl              a line for each exchange: what belongs together, status, headers
//! ```
//!
//! Each file is written under another name and then renamed, and the line comes last. So what the
//! lines name is complete, whenever the process ends; the last line itself may be cut off, and is
//! then ignored.

use super::{Recorded, Taken};
use crate::message::{Glance, Tree, is_package};
use bytes::Bytes;
use deltasoap_http::self_described;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The name of the file with a line for each exchange.
pub(crate) const INDEX: &str = "exchanges.jsonl";

/// The name of the file that says that somebody records.
const LOCK: &str = ".lock";

/// A line about an exchange.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Line {
    pub(crate) number: u64,
    pub(crate) time: String,
    pub(crate) ms: f64,
    pub(crate) operation: Option<String>,
    pub(crate) target: Option<String>,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) status: u16,
    /// Files, relative to the directory.
    pub(crate) request: String,
    pub(crate) response: String,
    /// The headers of the answer.
    pub(crate) headers: Vec<(String, String)>,
}

#[derive(Debug)]
pub(super) struct Directory {
    path: PathBuf,
    index: File,
    next: u64,
    /// Locked as long as the directory is open.
    _lock: File,
}

impl Directory {
    /// Opens a directory, or creates it. Numbers continue after those that are there.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(path)?;
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(path.join(LOCK))?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => io::Error::other("another process records there"),
            TryLockError::Error(error) => error,
        })?;
        let index = OpenOptions::new().create(true).read(true).append(true).open(path.join(INDEX))?;
        let last = read_lines(&index)?.iter().map(|line| line.number).max().unwrap_or_default();
        let next = last.checked_add(1).ok_or_else(|| io::Error::other("its last number is the largest one"))?;
        let mut directory = Directory { path: path.to_owned(), index, next, _lock: lock };
        directory.end_cut_line()?;
        Ok(directory)
    }

    /// Ends a last line that was cut off.
    fn end_cut_line(&mut self) -> io::Result<()> {
        let len = self.index.seek(SeekFrom::End(0))?;
        if len == 0 {
            return Ok(());
        }
        self.index.seek(SeekFrom::End(-1))?;
        let mut last = [0];
        self.index.read_exact(&mut last)?;
        if last == [b'\n'] { Ok(()) } else { self.index.write_all(b"\n") }
    }

    pub(super) fn write(
        &mut self,
        taken: &Taken,
        path: &str,
        request: &Recorded,
        response: &Recorded,
    ) -> io::Result<()> {
        let number = self.next;
        self.next = number.saturating_add(1);
        let is_message = Glance::at(&request.body).is_some() || is_package(&essence(&request.media));
        let name = file_name(taken.operation.as_deref().unwrap_or(taken.method.as_str()));
        let http_answer = || http(&format!("HTTP/1.1 {}", taken.status.as_u16()), response);
        let (response_file, content) = match answer(response) {
            Answer::Message(message) if is_message => (format!("{name}-{number:04}.xml"), message.to_vec()),
            Answer::Http if is_message => (format!("responses/{number:04}-{name}.http"), http_answer()),
            _ => (format!("other/{number:04}-{name}.response"), http_answer()),
        };
        let request_file = match is_message {
            true => format!("requests/{number:04}-{name}.http"),
            false => format!("other/{number:04}-{name}.request"),
        };
        let mut headers = response.headers.clone();
        if response_file.ends_with(".xml") && content != response.body {
            // The message was transcoded, since only the media type named its encoding.
            let media = headers.iter_mut().find(|(name, _)| name == "content-type");
            media.into_iter().for_each(|(_, value)| *value = format!("{}; charset=utf-8", essence(value)));
        }
        self.put(&request_file, &http(&format!("{} {path} HTTP/1.1", taken.method), request))?;
        self.put(&response_file, &content)?;
        let line = Line {
            number,
            time: Timestamp::try_from(taken.begun).unwrap_or(Timestamp::UNIX_EPOCH).to_string(),
            ms: (taken.time.as_secs_f64() * 1e6).round() / 1e3,
            operation: taken.operation.clone(),
            target: taken.target.clone(),
            method: taken.method.to_string(),
            path: path.to_owned(),
            status: taken.status.as_u16(),
            request: request_file,
            response: response_file,
            headers,
        };
        let line = format!("{}\n", serde_json::to_string(&line)?);
        let len = self.index.metadata()?.len();
        self.index.write_all(line.as_bytes()).inspect_err(|_| {
            // A part of the line would spoil the next one.
            let _ = self.index.set_len(len);
        })
    }

    /// Writes a file as a whole.
    fn put(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let path = self.path.join(name);
        let folder = path.parent().unwrap_or(&self.path);
        std::fs::create_dir_all(folder)?;
        let mut file = NamedTempFile::new_in(folder)?;
        file.write_all(content)?;
        file.persist(&path)?;
        Ok(())
    }
}

/// Reads the lines about exchanges. Lines that cannot be read are left out: the last one may be cut
/// off.
pub(crate) fn read_lines(mut index: &File) -> io::Result<Vec<Line>> {
    let mut text = String::new();
    index.seek(SeekFrom::Start(0))?;
    index.take(MAX_INDEX).read_to_string(&mut text)?;
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// Maximum number of bytes of the index that are read.
const MAX_INDEX: u64 = 1 << 30;

/// What an answer is recorded as.
enum Answer {
    /// A message as a file of its own, in an encoding that it declares.
    Message(Bytes),
    /// A message over HTTP.
    Http,
    None,
}

fn answer(response: &Recorded) -> Answer {
    if is_package(&essence(&response.media)) {
        return Answer::Http;
    }
    let Some(glance) = Glance::at(&response.body) else { return Answer::None };
    // A mock cannot send the header blocks of faults.
    let has_blocks = || Tree::parse(&response.body).is_ok_and(|tree| tree.blocks().next().is_some());
    let message = self_described(&response.media, Bytes::copy_from_slice(&response.body));
    match message {
        Ok(message) if !(glance.is_fault() && has_blocks()) => Answer::Message(message),
        _ => Answer::Http,
    }
}

fn essence(media: &str) -> String {
    media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Returns a request or a response as text over HTTP.
fn http(first: &str, recorded: &Recorded) -> Vec<u8> {
    let mut out = format!("{first}\r\n");
    recorded.headers.iter().for_each(|(name, value)| out.push_str(&format!("{name}: {value}\r\n")));
    out.push_str(&format!("content-length: {}\r\n\r\n", recorded.body.len()));
    let mut out = out.into_bytes();
    out.extend_from_slice(&recorded.body);
    out
}

/// Returns a name without what file systems do not like, of at most 80 characters.
fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    name.chars().take(80).map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Half;
    use http::{HeaderMap, Method, StatusCode};
    use std::time::{Duration, SystemTime};

    fn taken() -> Taken {
        let half = || Half { headers: HeaderMap::new(), body: Bytes::new() };
        Taken {
            begun: SystemTime::UNIX_EPOCH,
            wait: Duration::ZERO,
            time: Duration::from_millis(5),
            operation: Some("a/../b".to_owned()),
            target: None,
            origin: "http://p".to_owned(),
            method: Method::POST,
            path: "/".to_owned(),
            status: StatusCode::OK,
            request: half(),
            response: half(),
            is_own: false,
        }
    }

    fn message(entry: &str) -> Recorded {
        let body = format!(
            "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body>{entry}</e:Body></e:Envelope>"
        );
        Recorded { headers: Vec::new(), media: "text/xml".to_owned(), body: body.into_bytes() }
    }

    #[test]
    fn a_cut_line_is_ignored_and_numbers_continue() {
        let folder = tempfile::tempdir().expect("a directory");
        let mut directory = Directory::open(folder.path()).expect("opened");
        directory.write(&taken(), "/", &message("<a/>"), &message("<b/>")).expect("written");
        let index = folder.path().join(INDEX);
        let second = Directory::open(folder.path()).expect_err("another one records");
        assert!(second.to_string().contains("another process records"), "{second}");
        drop(directory);
        let text = std::fs::read_to_string(&index).expect("the index");
        std::fs::write(&index, format!("{text}{}", &text[..30])).expect("a cut line");
        let mut directory = Directory::open(folder.path()).expect("opened");
        directory.write(&taken(), "/", &message("<a/>"), &message("<e:Fault/>")).expect("written");
        let lines = read_lines(&File::open(&index).expect("the index")).expect("lines");
        let files: Vec<_> = lines.iter().map(|line| (line.number, &*line.request, &*line.response)).collect();
        let expected =
            [(1, "requests/0001-a____b.http", "a____b-0001.xml"), (2, "requests/0002-a____b.http", "a____b-0002.xml")];
        assert_eq!(files, expected);
        assert!(lines.iter().all(|line| folder.path().join(&line.response).is_file()));
    }
}
