//! Bytes of a property test or of a fuzzer, drawn as numbers.

/// Bytes to draw from. When they run out, everything takes its simplest form: so short inputs are
/// small, and shrinking works.
#[derive(Debug)]
pub struct Entropy<'a>(pub &'a [u8]);

impl Entropy<'_> {
    /// Draws a number below `bound`; 0 if `bound` is 0 or no bytes are left.
    pub fn below(&mut self, bound: usize) -> usize {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(*first) % bound.max(1)
    }

    /// Returns true once in `times`; never when no bytes are left.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }
}
