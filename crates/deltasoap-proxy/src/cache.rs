//! Answers that are kept, of operations that are declared safe.
//!
//! A key is everything that an answer may depend on: method and path, the action, the request in its
//! [canonical](crate::canonical) form with its header blocks, and its HTTP headers but those that are
//! [neutral](is_neutral). Faults are never kept. The oldest use goes first when there is no more room.

use crate::canonical::Key;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, HeaderName, PRAGMA, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// An operation whose answers are kept: `OPERATION` or `OPERATION=SECONDS`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
pub struct CacheRule {
    /// The operation.
    pub operation: String,
    /// How long its answers are kept. Default: one minute.
    pub time: Duration,
}

/// The default time.
const MINUTE: Duration = Duration::from_secs(60);

impl FromStr for CacheRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (operation, time) = match text.rsplit_once('=') {
            None => (text, MINUTE),
            Some((operation, seconds)) => {
                let seconds = seconds.trim().parse::<u32>().ok().filter(|seconds| *seconds > 0);
                let seconds = seconds.ok_or_else(|| format!("{text:?} has no number of seconds after ="))?;
                (operation, Duration::from_secs(seconds.into()))
            }
        };
        match operation.trim() {
            "" => Err("the operation is missing".to_owned()),
            operation => Ok(CacheRule { operation: operation.to_owned(), time }),
        }
    }
}

impl TryFrom<String> for CacheRule {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// An answer that is kept.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// The id of the request that it was the answer to.
    pub(crate) message_id: Option<String>,
    pub(crate) varies: Varies,
}

/// Headers of a request that its answer depends on, as the answer says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Varies(Vec<(HeaderName, Vec<HeaderValue>)>);

impl Varies {
    /// Reads `Vary` of an answer to a request with these headers; `None` if it depends on what only
    /// the service knows.
    pub(crate) fn read(answer: &HeaderMap, request: &HeaderMap) -> Option<Self> {
        let mut all = Vec::new();
        for value in answer.get_all(VARY) {
            for name in value.to_str().ok()?.split(',').map(str::trim).filter(|name| !name.is_empty()) {
                // `*` is no name. Answers are kept without a content coding.
                let name = Some(name).filter(|name| *name != "*")?.parse::<HeaderName>().ok()?;
                if name != http::header::ACCEPT_ENCODING {
                    all.push((name.clone(), request.get_all(&name).into_iter().cloned().collect()));
                }
            }
        }
        Some(Varies(all))
    }

    pub(crate) fn fits(&self, request: &HeaderMap) -> bool {
        self.0.iter().all(|(name, values)| request.get_all(name).into_iter().eq(values))
    }

    fn size(&self) -> usize {
        let size = |values: &[HeaderValue]| values.iter().map(|value| value.len() + FIELD).sum::<usize>();
        self.0.iter().map(|(name, values)| name.as_str().len() + FIELD + size(values)).sum()
    }
}

/// What the `Cache-Control` of a request or an answer says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Control {
    /// An answer must not be kept, or be given again.
    pub(crate) is_forbidden: bool,
    /// It must not be kept at all.
    pub(crate) is_not_stored: bool,
    pub(crate) max_age: Option<Duration>,
}

impl Control {
    pub(crate) fn read(headers: &HeaderMap) -> Self {
        let mut control = Control::default();
        let mut shared_age = None;
        for value in headers.get_all(CACHE_CONTROL).into_iter().chain(headers.get_all(PRAGMA)) {
            let value = String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase();
            for directive in value.split(',') {
                let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
                let seconds = || Duration::from_secs(value.trim().trim_matches('"').parse().unwrap_or_default());
                match name.trim() {
                    "no-store" | "private" => control.is_not_stored = true,
                    "no-cache" => control.is_forbidden = true,
                    "s-maxage" => shared_age = Some(seconds()),
                    "max-age" => control.max_age = Some(seconds()),
                    _ => {}
                }
            }
        }
        control.max_age = shared_age.or(control.max_age);
        control.is_forbidden |= control.is_not_stored || control.max_age.is_some_and(|age| age.is_zero());
        control
    }
}

/// Returns true for a header on which no answer depends, unless its `Vary` says so: what belongs to a
/// connection, to a trace, or to the form of a body, and what is in the key in another form.
pub(crate) fn is_neutral(name: &HeaderName) -> bool {
    const NEUTRAL: [&str; 30] = [
        "accept-charset",
        "accept-encoding",
        "b3",
        "cache-control",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "date",
        "expect",
        "host",
        "keep-alive",
        "pragma",
        "priority",
        "proxy-connection",
        "soapaction",
        "te",
        "traceparent",
        "tracestate",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "user-agent",
        "via",
        "x-b3-parentspanid",
        "x-b3-sampled",
        "x-b3-spanid",
        "x-b3-traceid",
        "x-correlation-id",
        "x-request-id",
    ];
    NEUTRAL.binary_search(&name.as_str()).is_ok()
}

#[derive(Debug)]
pub(crate) struct Cache {
    max_entries: usize,
    max_bytes: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    entries: HashMap<Key, Entry>,
    /// The keys by their last use.
    uses: BTreeMap<u64, Key>,
    next_use: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    kept: Kept,
    stored: Instant,
    until: Instant,
    last_use: u64,
}

/// What an entry takes besides its body and its headers: its keys, and what the maps need.
const OVERHEAD: usize = 512;
/// What a header takes besides its name and value.
const FIELD: usize = 100;

impl Cache {
    pub(crate) fn new(max_entries: usize, max_bytes: usize) -> Self {
        Cache { max_entries, max_bytes, state: Mutex::default() }
    }

    /// Returns an answer and its age, if it is fresh and for a request with these headers.
    pub(crate) fn get(&self, key: &Key, request: &HeaderMap, now: Instant) -> Option<(Kept, Duration)> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.entries.get(key).is_some_and(|entry| entry.until <= now) {
            state.remove(key);
        }
        let next = state.next_use;
        let State { entries, uses, .. } = &mut *state;
        let entry = entries.get_mut(key).filter(|entry| entry.kept.varies.fits(request))?;
        uses.remove(&entry.last_use);
        uses.insert(next, *key);
        entry.last_use = next;
        let found = (entry.kept.clone(), now.saturating_duration_since(entry.stored));
        state.next_use += 1;
        Some(found)
    }

    /// Keeps an answer for a time.
    pub(crate) fn put(&self, key: Key, kept: Kept, time: Duration, now: Instant) {
        let size = kept.size();
        if size > self.max_bytes || self.max_entries == 0 {
            return;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.remove(&key);
        while state.entries.len() >= self.max_entries || state.bytes + size > self.max_bytes {
            let Some((_, oldest)) = state.uses.first_key_value() else { break };
            let oldest = *oldest;
            state.remove(&oldest);
        }
        let last_use = state.next_use;
        state.next_use += 1;
        state.bytes += size;
        state.uses.insert(last_use, key);
        state.entries.insert(key, Entry { kept, stored: now, until: now + time, last_use });
    }
}

impl State {
    fn remove(&mut self, key: &Key) {
        if let Some(entry) = self.entries.remove(key) {
            self.bytes -= entry.kept.size();
            self.uses.remove(&entry.last_use);
        }
    }
}

impl Kept {
    fn size(&self) -> usize {
        let fields = self.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + FIELD);
        let message_id = self.message_id.as_ref().map_or(0, String::len);
        self.body.len() + fields.sum::<usize>() + message_id + self.varies.size() + OVERHEAD
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(len: usize) -> Kept {
        let (headers, varies) = (HeaderMap::new(), Varies::default());
        Kept { status: StatusCode::OK, headers, body: vec![0; len].into(), message_id: None, varies }
    }

    fn get(cache: &Cache, key: u8, now: Instant) -> Option<Duration> {
        cache.get(&[key; 32], &HeaderMap::new(), now).map(|(_, age)| age)
    }

    #[test]
    fn headers_and_ids_take_room() {
        let mut large = kept(1);
        large.message_id = Some("x".repeat(5000));
        large.headers.insert("x", HeaderValue::from_str(&"y".repeat(3000)).expect("a value"));
        let cache = Cache::new(10, 8000);
        cache.put([1; 32], large, MINUTE, Instant::now());
        assert!(get(&cache, 1, Instant::now()).is_none());
    }

    #[test]
    fn controls_are_read() {
        let control = |text: &'static str| {
            Control::read(&HeaderMap::from_iter([(CACHE_CONTROL, HeaderValue::from_static(text))]))
        };
        assert_eq!(control("public, max-age=5").max_age, Some(Duration::from_secs(5)));
        assert_eq!(control("max-age=0, s-maxage=\"7\"").max_age, Some(Duration::from_secs(7)));
        for text in ["No-Store", "x, private=\"a\"", "no-cache", "max-age=0", "max-age=x"] {
            assert!(control(text).is_forbidden, "{text}");
        }
        assert_eq!(control("x-no-cache"), Control::default());
    }

    #[test]
    fn what_is_old_or_used_least_goes() {
        let (cache, now) = (Cache::new(2, 1 << 20), Instant::now());
        cache.put([1; 32], kept(1), MINUTE, now);
        cache.put([2; 32], kept(1), MINUTE, now);
        assert!(get(&cache, 1, now).is_some());
        cache.put([3; 32], kept(1), MINUTE, now);
        assert!(get(&cache, 2, now).is_none(), "used least");
        let later = now + Duration::from_secs(59);
        assert_eq!(get(&cache, 1, later), Some(Duration::from_secs(59)));
        assert!(get(&cache, 1, now + MINUTE).is_none(), "old");
    }

    #[test]
    fn bytes_are_bounded() {
        let (cache, now) = (Cache::new(100, 10_000), Instant::now());
        cache.put([0; 32], kept(20_000), MINUTE, now);
        assert!(get(&cache, 0, now).is_none());
        for index in 1..20 {
            cache.put([index; 32], kept(3000), MINUTE, now);
        }
        let state = cache.state.lock().expect("not poisoned");
        assert!(state.bytes <= 10_000 && state.entries.len() == 2 && state.uses.len() == 2, "{}", state.bytes);
    }

    #[test]
    fn rules_have_a_time() {
        let rule = |text: &str| text.parse::<CacheRule>().map(|rule| (rule.operation, rule.time.as_secs()));
        assert_eq!(rule("Order"), Ok(("Order".to_owned(), 60)));
        assert_eq!(rule("{urn:a}b=5"), Ok(("{urn:a}b".to_owned(), 5)));
        for wrong in ["", "=5", "Order=", "Order=0", "Order=x"] {
            assert!(rule(wrong).is_err(), "{wrong}");
        }
    }
}
