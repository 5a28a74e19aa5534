//! Answers that are kept, of operations that are declared safe.
//!
//! A key is everything that an answer may depend on: the path, the action, the request in its
//! [canonical](crate::canonical) form with its header blocks, the accepted codings, and the
//! credentials. Faults are never kept. The oldest use goes first when there is no more room.

use crate::canonical::Key;
use bytes::Bytes;
use http::{HeaderMap, StatusCode};
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

/// What an entry takes besides its body.
const OVERHEAD: usize = 1 << 10;

impl Cache {
    pub(crate) fn new(max_entries: usize, max_bytes: usize) -> Self {
        Cache { max_entries, max_bytes, state: Mutex::default() }
    }

    /// Returns an answer and its age, if it is fresh.
    pub(crate) fn get(&self, key: &Key, now: Instant) -> Option<(Kept, Duration)> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.entries.get(key).is_some_and(|entry| entry.until <= now) {
            state.remove(key);
        }
        let next = state.next_use;
        let State { entries, uses, .. } = &mut *state;
        let entry = entries.get_mut(key)?;
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
        self.body.len() + OVERHEAD
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(len: usize) -> Kept {
        Kept { status: StatusCode::OK, headers: HeaderMap::new(), body: vec![0; len].into(), message_id: None }
    }

    #[test]
    fn what_is_old_or_used_least_goes() {
        let (cache, now) = (Cache::new(2, 1 << 20), Instant::now());
        cache.put([1; 32], kept(1), MINUTE, now);
        cache.put([2; 32], kept(1), MINUTE, now);
        assert!(cache.get(&[1; 32], now).is_some());
        cache.put([3; 32], kept(1), MINUTE, now);
        assert!(cache.get(&[2; 32], now).is_none(), "used least");
        let later = now + Duration::from_secs(59);
        assert_eq!(cache.get(&[1; 32], later).expect("fresh").1, Duration::from_secs(59));
        assert!(cache.get(&[1; 32], now + MINUTE).is_none(), "old");
    }

    #[test]
    fn bytes_are_bounded() {
        let (cache, now) = (Cache::new(100, 10_000), Instant::now());
        cache.put([0; 32], kept(20_000), MINUTE, now);
        assert!(cache.get(&[0; 32], now).is_none());
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
