//! Recordings that answer: a request gets the answer that an equal one got.
//!
//! Equal are requests with the same method, action, receiver and body, in
//! [canonical](crate::canonical) form; other header blocks do not count. Equal requests are answered in the order of the recording, and
//! the last answer is repeated. Requests without a message, such as those for a WSDL, are equal if
//! method, path and body are.

use crate::canonical::{Identity, Key, lines};
use crate::config::ConfigError;
use crate::message::{self, Message, Tree};
use crate::record::directory::{INDEX, Line, read_lines};
use crate::secrets::{self, HIDDEN};
use bytes::Bytes;
use deltasoap_core::soap::Version;
use futures_util::FutureExt as _;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Maximum number of recorded requests that are compared to find the nearest one.
const COMPARED: usize = 50;
/// Maximum length of a value that is quoted.
const QUOTED: usize = 60;

/// What is asked: a request in a form that can be looked up.
pub(crate) struct Asked {
    key: Key,
    action: Option<String>,
    tree: Option<Tree>,
    message_id: Option<String>,
}

impl Asked {
    /// Reads a request, whose body has no content coding.
    pub(crate) async fn read(method: &Method, path: &str, headers: &HeaderMap, body: Bytes) -> Self {
        let mut action = message::action(headers);
        if let Ok(message) = Message::read(headers, body.clone()).await
            && let Ok(root) = secrets::body(&message.root, None)
            && let Ok(tree) = Tree::parse(&root)
        {
            let mut identity = Identity::new();
            identity.add("message").add(method.as_str()).add(action.as_deref().unwrap_or_default());
            let addressed = tree.addressing("Action");
            identity.add(addressed.as_deref().unwrap_or_default());
            identity.add(receiver(&tree)).add_body(&tree, &message);
            action = action.or(addressed);
            let message_id = tree.addressing("MessageID");
            return Asked { key: identity.key(), action, tree: Some(tree), message_id };
        }
        let mut identity = Identity::new();
        identity.add("other").add(method.as_str()).add(secrets::target(path, false)).add(&body);
        Asked { key: identity.key(), action, tree: None, message_id: None }
    }
}

/// Returns the receiver of WS-Addressing. Of a URL, only path and query count: the proxy has another
/// address when it answers.
fn receiver(tree: &Tree) -> String {
    let to = tree.addressing("To").unwrap_or_default();
    match url::Url::parse(&to) {
        Ok(url) if url.has_host() => url[url::Position::BeforePath..].to_owned(),
        _ => to,
    }
}

/// A recorded answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// The base URL of the target that it came from.
    pub(crate) target: Option<String>,
    /// The ids of the recorded request, and of the one that is answered.
    pub(crate) ids: Option<(String, String)>,
}

/// A recording.
pub(crate) struct Replay {
    entries: Vec<Entry>,
    groups: HashMap<Key, Group>,
}

struct Entry {
    line: Line,
    asked: Asked,
    answer: Answer,
}

/// Equal requests.
#[derive(Default)]
struct Group {
    entries: Vec<usize>,
    given: AtomicUsize,
}

impl Replay {
    /// Reads a recording.
    pub(crate) fn open(directory: &Path) -> Result<Self, ConfigError> {
        let unreadable = |path: &Path, error| ConfigError::Unreadable { path: path.to_owned(), error };
        let index = directory.join(INDEX);
        let file = File::open(&index).map_err(|error| unreadable(&index, error))?;
        let mut replay = Replay { entries: Vec::new(), groups: HashMap::new() };
        for line in read_lines(&file).map_err(|error| unreadable(&index, error))? {
            let path = line.request.clone();
            let wrong = |reason: String| ConfigError::invalid(format!("replay: {path}"), reason);
            replay.add(directory, line).map_err(wrong)?;
        }
        if replay.entries.is_empty() {
            return Err(ConfigError::invalid("replay", format!("{} has no exchange", index.display())));
        }
        Ok(replay)
    }

    fn add(&mut self, directory: &Path, line: Line) -> Result<(), String> {
        let read = |name: &str| {
            // Recordings may come from elsewhere.
            let is_inside = Path::new(name).components().all(|part| matches!(part, std::path::Component::Normal(_)));
            if !is_inside {
                return Err(format!("{name} is outside of the directory"));
            }
            std::fs::read(directory.join(name)).map_err(|error| format!("{name} cannot be read: {error}"))
        };
        let (headers, body) = split(read(&line.request)?)?;
        let method = Method::from_bytes(line.method.as_bytes()).map_err(|error| error.to_string())?;
        let asked = Asked::read(&method, &line.path, &headers, body).now_or_never().ok_or("it cannot be read")?;
        let content = read(&line.response)?;
        let body = if line.response.ends_with(".xml") { content.into() } else { split(content)?.1 };
        let status = StatusCode::from_u16(line.status).map_err(|error| error.to_string())?;
        let is_of_then = |name: &str| matches!(name, "via" | "date" | "age");
        let headers = line.headers.iter().filter(|(name, value)| value != HIDDEN && !is_of_then(name)).filter_map(
            |(name, value)| Some((HeaderName::from_bytes(name.as_bytes()).ok()?, HeaderValue::from_str(value).ok()?)),
        );
        let answer = Answer { status, headers: headers.collect(), body, target: line.target.clone(), ids: None };
        self.groups.entry(asked.key).or_default().entries.push(self.entries.len());
        self.entries.push(Entry { line, asked, answer });
        Ok(())
    }

    /// Returns the number of exchanges.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the answer to a request.
    ///
    /// # Errors
    /// Returns which recorded request is the nearest, and where it differs.
    pub(crate) fn answer(&self, asked: &Asked) -> Result<Answer, String> {
        let Some(group) = self.groups.get(&asked.key) else { return Err(self.missing(asked)) };
        let last = group.entries.len() - 1;
        let given = group.given.fetch_update(Relaxed, Relaxed, |given| Some((given + 1).min(last)));
        let entry = &self.entries[group.entries[given.unwrap_or(last)]];
        let ids = entry.asked.message_id.clone().zip(asked.message_id.clone());
        Ok(Answer { ids, ..entry.answer.clone() })
    }

    fn missing(&self, asked: &Asked) -> String {
        const NONE: &str = "no recorded request equals this one";
        let Some(tree) = &asked.tree else { return NONE.to_owned() };
        let own = lines(tree);
        let is_same_operation = |entry: &&Entry| entry.asked.tree.as_ref().and_then(name) == name(tree);
        let nearest = self.nearest(&own, is_same_operation).or_else(|| self.nearest(&own, |_| true));
        let Some((entry, recorded)) = nearest else { return NONE.to_owned() };
        let mut differences = differences(&recorded, &own);
        if entry.asked.action != asked.action {
            let text = |action: &Option<String>| quoted(action.as_deref());
            let of_action =
                format!("in the action: recorded {}, got {}", text(&entry.asked.action), text(&asked.action));
            differences.insert(0, of_action);
        }
        let version = |tree: &Tree| if tree.version == Version::Soap11 { "SOAP 1.1" } else { "SOAP 1.2" };
        if let Some(other) = entry.asked.tree.as_ref().filter(|other| other.version != tree.version) {
            differences.insert(0, format!("in the version: recorded {}, got {}", version(other), version(tree)));
        }
        let first = differences.first().map_or("in its namespaces", String::as_str);
        let more = match differences.len() {
            0 | 1 => String::new(),
            len => format!(" (and in {} more places)", len - 1),
        };
        format!("{NONE}; the nearest is {}, which differs {first}{more}", entry.line.request)
    }

    /// Returns the entry that has the most lines in common.
    fn nearest(&self, own: &[(String, String)], filter: impl Fn(&&Entry) -> bool) -> Option<(&Entry, Lines)> {
        let mut counts = HashMap::<&(String, String), i64>::new();
        own.iter().for_each(|line| *counts.entry(line).or_default() += 1);
        let candidates = self.entries.iter().filter(|entry| entry.asked.tree.is_some()).filter(filter).take(COMPARED);
        let scored = candidates.filter_map(|entry| {
            let lines = lines(entry.asked.tree.as_ref()?);
            let common = lines.iter().filter(|line| counts.contains_key(line)).count() as i64;
            Some((2 * common - lines.len() as i64, entry, lines))
        });
        // Of several, the first.
        scored.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, entry, lines)| (entry, lines))
    }
}

type Lines = Vec<(String, String)>;

impl std::fmt::Debug for Replay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replay").field("exchanges", &self.entries.len()).finish_non_exhaustive()
    }
}

/// Returns the name of the body's first element.
fn name(tree: &Tree) -> Option<deltasoap_core::QName> {
    Some(tree.body()?.elements().next()?.name.clone())
}

/// Describes where two messages differ.
fn differences(recorded: &Lines, own: &Lines) -> Vec<String> {
    let by_place = |lines: &Lines| lines.iter().cloned().collect::<HashMap<_, _>>();
    let (in_recorded, in_own) = (by_place(recorded), by_place(own));
    let changed = recorded.iter().filter_map(|(place, value)| match in_own.get(place) {
        Some(other) if other == value => None,
        other => {
            let got = quoted(other.map(String::as_str));
            Some(format!("at {place}: recorded {}, got {got}", quoted(Some(value))))
        }
    });
    let added = own.iter().filter(|(place, _)| !in_recorded.contains_key(place));
    let added = added.map(|(place, value)| format!("at {place}: recorded nothing, got {}", quoted(Some(value))));
    changed.chain(added).collect()
}

fn quoted(value: Option<&str>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(value) if value.chars().count() > QUOTED => {
            format!("{:?}...", value.chars().take(QUOTED).collect::<String>())
        }
        Some(value) => format!("{value:?}"),
    }
}

/// Splits a request or a response into its headers and its body.
fn split(content: Vec<u8>) -> Result<(HeaderMap, Bytes), String> {
    let content = Bytes::from(content);
    let first = content.iter().position(|byte| *byte == b'\n').ok_or("it has no first line")? + 1;
    let mut fields = [httparse::EMPTY_HEADER; 200];
    let parsed = httparse::parse_headers(&content[first..], &mut fields).map_err(|error| error.to_string())?;
    let httparse::Status::Complete((len, fields)) = parsed else { return Err("its head is cut off".to_owned()) };
    let headers = fields
        .iter()
        .filter_map(|field| Some((field.name.parse::<HeaderName>().ok()?, HeaderValue::from_bytes(field.value).ok()?)));
    let headers = headers.collect();
    Ok((headers, content.slice(first + len..)))
}
