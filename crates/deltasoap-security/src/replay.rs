//! Messages and nonces that were accepted before.

use crate::algorithms::Hasher;
use crate::error::SecurityError;
use aws_lc_rs::digest;
use std::collections::{BTreeSet, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// Default number of entries.
const ENTRIES: usize = 100_000;

/// Remembers what was accepted, until it is too old to be accepted anyway.
///
/// Only what a known sender has proven is remembered, so strangers cannot fill it. When it is full,
/// messages are refused: to forget something would let it be used again.
#[derive(Debug)]
pub struct ReplayCache {
    limit: usize,
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    known: HashSet<[u8; 32]>,
    by_time: BTreeSet<(SystemTime, [u8; 32])>,
}

impl Default for ReplayCache {
    /// At most 100,000 entries, of about 200 bytes each.
    fn default() -> Self {
        Self::new(ENTRIES)
    }
}

impl ReplayCache {
    /// Creates a cache with a maximum number of entries.
    pub fn new(limit: usize) -> Self {
        ReplayCache { limit, entries: Mutex::default() }
    }

    /// Succeeds if something was not accepted before.
    ///
    /// # Errors
    /// Returns an error if it was.
    pub(crate) fn check(&self, once: &Once, now: SystemTime) -> Result<(), SecurityError> {
        self.entries(now).check(once)
    }

    /// Notes everything in a message that is accepted once, or nothing.
    ///
    /// # Errors
    /// Returns an error if something was accepted before, or there is no room.
    pub(crate) fn insert(&self, all: &[Once], now: SystemTime) -> Result<(), SecurityError> {
        let mut entries = self.entries(now);
        all.iter().try_for_each(|once| entries.check(once))?;
        if entries.known.len() + all.len() > self.limit {
            return Err(SecurityError::Expired(format!(
                "more than {} messages within their time of validity; see ReplayCache",
                self.limit
            )));
        }
        for once in all {
            entries.known.insert(once.key);
            entries.by_time.insert((once.until, once.key));
        }
        Ok(())
    }

    fn entries(&self, now: SystemTime) -> MutexGuard<'_, Entries> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.forget_before(now);
        entries
    }
}

/// Something that is accepted once until a time.
#[derive(Debug)]
pub(crate) struct Once {
    key: [u8; 32],
    until: SystemTime,
}

impl Once {
    pub(crate) fn new(parts: &[&[u8]], until: SystemTime) -> Self {
        let mut hasher = Hasher::new(&digest::SHA256);
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        let mut key = [0; 32];
        key.copy_from_slice(&hasher.finish());
        Once { key, until }
    }
}

impl Entries {
    fn check(&self, once: &Once) -> Result<(), SecurityError> {
        if self.known.contains(&once.key) {
            return Err(SecurityError::Expired("the message was received before".to_owned()));
        }
        Ok(())
    }

    fn forget_before(&mut self, now: SystemTime) {
        while let Some(&(until, key)) = self.by_time.first()
            && until < now
        {
            self.by_time.pop_first();
            self.known.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn everything_is_accepted_once_and_forgotten_when_it_is_too_old() {
        let cache = ReplayCache::new(2);
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let insert = |parts: &[&[u8]], until, now| cache.insert(&[Once::new(parts, at(until))], at(now));
        assert!(insert(&[b"a", b"b"], 10, 0).is_ok());
        assert!(insert(&[b"a", b"b"], 10, 10).is_err());
        // The parts are kept apart.
        assert!(insert(&[b"ab", b""], 20, 0).is_ok());
        assert!(insert(&[b"c"], 20, 5).is_err(), "full");
        assert!(insert(&[b"c"], 20, 11).is_ok());
        assert!(insert(&[b"ab", b""], 20, 12).is_err());
    }

    #[test]
    fn of_a_message_all_is_noted_or_nothing() {
        let (cache, now) = (ReplayCache::new(3), SystemTime::UNIX_EPOCH);
        let [a, b, c] = [b"a", b"b", b"c"].map(|part| Once::new(&[part], now));
        assert!(cache.insert(std::slice::from_ref(&a), now).is_ok());
        assert!(cache.insert(&[b, a], now).is_err());
        assert!(cache.check(&Once::new(&[b"b"], now), now).is_ok());
        assert!(cache.insert(&[c, Once::new(&[b"b"], now)], now).is_ok());
        assert!(cache.check(&Once::new(&[b"b"], now), now).is_err());
    }
}
