//! The pseudo-random numbers of every generator in this crate: SplitMix64.
//!
//! Benchmark peers in other languages must draw the same values, for years. SplitMix64 (Steele, Lea
//! and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014, with the constants of
//! Java's `SplittableRandom`) is three shifts and two multiplications, so a peer can implement it
//! in a few lines, and no new version of a library can change its output.

/// The seed of the synthetic workloads and of the demonstration's streams.
pub const SEED: u64 = 0x00DE_17A5_0A90_2026;

/// SplitMix64: 64 bits of state, a period of 2^64.
#[derive(Clone, Debug)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// Creates a generator that starts from `seed`; every seed is as good as any other.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Creates the generator of the `index`-th of several independent streams of one seed: it
    /// starts from the `index + 1`-th number that `new(seed)` draws.
    #[must_use]
    pub fn stream(seed: u64, index: u64) -> Self {
        let skipped = Self { state: seed.wrapping_add(index.wrapping_mul(GAMMA)) }.next_u64();
        Self::new(skipped)
    }

    /// Returns the next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GAMMA);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number in `0..bound` (0 if `bound` is 0): the high half of `next_u64`, scaled,
    /// hence a bias of at most `bound / 2^32`.
    pub fn below(&mut self, bound: u32) -> u32 {
        let high = self.next_u64() >> 32;
        ((high * u64::from(bound)) >> 32) as u32
    }

    /// Returns a number in `0..1`: the high 53 bits of `next_u64`, scaled.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns an exponentially distributed number with a mean of 1, as the times between events of
    /// many independent sources are.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.uniform()).ln()
    }

    /// Returns true once in `n` draws on average (always for 0 and 1).
    pub fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }
}

/// The odd number nearest to 2^64 divided by the golden ratio.
const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of Java's `new SplittableRandom(1234567)`, as widely published for
    /// checking ports.
    #[test]
    fn draws_the_published_numbers() {
        let mut random = SplitMix64::new(1_234_567);
        let drawn: Vec<u64> = (0..3).map(|_| random.next_u64()).collect();
        assert_eq!(drawn, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    /// Half of the draws of each kind are below its median.
    #[test]
    fn draws_have_their_median() {
        let mut random = SplitMix64::new(1);
        let below = |draw: &mut dyn FnMut() -> f64, median: f64| (0..10_000).filter(|_| draw() < median).count();
        assert!((4_800..5_200).contains(&below(&mut || random.uniform(), 0.5)));
        assert!((4_800..5_200).contains(&below(&mut || random.exponential(), 2_f64.ln())));
    }

    #[test]
    fn streams_start_at_the_numbers_of_the_seed() {
        let mut seed = SplitMix64::new(7);
        for index in 0..4 {
            let mut expected = SplitMix64::new(seed.next_u64());
            assert_eq!(SplitMix64::stream(7, index).next_u64(), expected.next_u64());
        }
    }

    #[test]
    fn below_stays_below_and_reaches_both_ends() {
        let mut random = SplitMix64::new(SEED);
        let drawn: Vec<u32> = (0..1000).map(|_| random.below(5)).collect();
        assert_eq!(drawn.iter().min(), Some(&0));
        assert_eq!(drawn.iter().max(), Some(&4));
        assert_eq!(random.below(0), 0);
    }
}
