//! Messages and nonces that were accepted before.

use crate::algorithms::Hasher;
use crate::error::SecurityError;
use aws_lc_rs::digest;
use std::collections::{BTreeSet, HashSet};
use std::sync::{Mutex, PoisonError};
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

    /// Notes something that may be accepted once until a time.
    ///
    /// # Errors
    /// Returns an error if it was noted before, or there is no room.
    pub(crate) fn insert(&self, parts: &[&[u8]], until: SystemTime, now: SystemTime) -> Result<(), SecurityError> {
        let mut hasher = Hasher::new(&digest::SHA256);
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        let mut key = [0; 32];
        key.copy_from_slice(&hasher.finish());
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.forget_before(now);
        if entries.known.contains(&key) {
            return Err(SecurityError::Expired("the message was received before".to_owned()));
        }
        if entries.known.len() >= self.limit {
            return Err(SecurityError::Expired(format!(
                "more than {} messages within their time of validity; see ReplayCache",
                self.limit
            )));
        }
        entries.known.insert(key);
        entries.by_time.insert((until, key));
        Ok(())
    }
}

impl Entries {
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
        assert!(cache.insert(&[b"a", b"b"], at(10), at(0)).is_ok());
        assert!(cache.insert(&[b"a", b"b"], at(10), at(10)).is_err());
        // The parts are kept apart.
        assert!(cache.insert(&[b"ab", b""], at(20), at(0)).is_ok());
        assert!(cache.insert(&[b"c"], at(20), at(5)).is_err(), "full");
        assert!(cache.insert(&[b"c"], at(20), at(11)).is_ok());
        assert!(cache.insert(&[b"ab", b""], at(20), at(12)).is_err());
    }
}
