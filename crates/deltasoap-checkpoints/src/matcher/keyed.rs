//! A universal hash under a random key: PolymurHash 2.0, a polynomial in the field of 2^61 - 1
//! elements.
//!
//! For any two different portions of up to n bytes, at most n * 2^-60.2 of all keys give them the
//! same 64-bit hash; this is proven for the family (O. Peters, *PolymurHash*). For portions of 4
//! KiB that is less than one in 2^48. The operating system draws the key once per process, and the
//! key never leaves the process. So the bound holds for every sender that cannot observe which
//! portions were skipped. A sender that can measure it learns at most that a hash did collide,
//! which is rarer still.

use super::PortionMatcher;
use polymur_hash::PolymurHash;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

/// The hash function of the process.
static HASH: LazyLock<PolymurHash> = LazyLock::new(|| {
    let mut key = [0; 16];
    if getrandom::fill(&mut key).is_err() {
        let state = RandomState::new();
        key = u128::from_le_bytes(key).wrapping_add(u128::from(state.hash_one(0))).to_le_bytes();
    }
    let [low, high] = [0, 8].map(|at| u64::from_le_bytes(key[at..at + 8].try_into().unwrap_or_default()));
    PolymurHash::from_u64x2_seed(low, high)
});

/// A keyed hash.
#[derive(Debug, Default)]
pub(crate) struct Keyed;

impl PortionMatcher for Keyed {
    type Sum = u64;

    fn sum(&self, bytes: &[u8]) -> u64 {
        HASH.hash(bytes)
    }

    fn write(sum: &u64, out: &mut Vec<u8>) {
        out.extend_from_slice(&sum.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portions_of_all_lengths_have_hashes_of_their_own() {
        let hashes: std::collections::HashSet<u64> = (0..2000).map(|len| Keyed.sum(&vec![b'x'; len])).collect();
        assert_eq!(hashes.len(), 2000);
    }
}
