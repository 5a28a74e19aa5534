//! Random numbers that depend only on a seed.

use deltasoap_streams::prng::SplitMix64;

/// A random number generator.
#[derive(Debug, Clone)]
pub struct Chance(SplitMix64);

impl Chance {
    /// Creates the sequence that begins at a seed.
    pub fn seeded(seed: u64) -> Self {
        Chance(SplitMix64::new(seed))
    }

    /// Creates the `index`-th sequence of a seed.
    pub fn new(seed: u64, index: u64) -> Self {
        Chance(SplitMix64::stream(seed, index))
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number below `bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.below(u32::try_from(bound).unwrap_or(u32::MAX)) as usize
    }

    /// Returns a number from `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// Returns true once in `n` draws on average.
    pub fn one_in(&mut self, n: u32) -> bool {
        self.0.one_in(n)
    }

    /// Returns an element of a slice that is not empty.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// Returns one of several words; there must be at least one.
    pub fn word(&mut self, all: &[&'static str]) -> &'static str {
        all[self.below(all.len())]
    }

    /// Returns an element of a slice, if there is any.
    pub fn choose<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len()))
    }

    /// Returns random bytes.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.below(256) as u8).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_draws_the_same() {
        let draw = || {
            let mut chance = Chance::new(7, 3);
            (chance.bytes(20), chance.between(3, 9), *chance.pick(&[1, 2, 3]))
        };
        assert_eq!(draw(), draw());
        assert_ne!(Chance::new(7, 3).bits(), Chance::new(7, 4).bits());
        assert_eq!(Chance::new(1, 1).choose::<u8>(&[]), None);
    }
}
