//! A ring of equal messages in different memory.
//!
//! A program that reads the same buffer again and again reads it from the processor's cache, and
//! the branch predictor knows the way. A server has each message in fresh memory. So a measurement
//! goes round a ring of copies.

use std::hint::black_box;

/// The number of copies; that of the peer protocol.
pub const COPIES: usize = 16;

/// Equal messages, each in memory of its own.
#[derive(Debug)]
pub struct Ring {
    copies: Vec<Vec<u8>>,
    next: usize,
}

impl Ring {
    /// A ring of [`COPIES`] copies.
    pub fn new(message: &[u8]) -> Self {
        Ring { copies: (0..COPIES).map(|_| message.to_vec()).collect(), next: 0 }
    }

    /// The next message. What it holds is not known to the optimizer.
    pub fn next(&mut self) -> &[u8] {
        self.pair().1
    }

    /// The message before the next one, and the next one.
    pub fn pair(&mut self) -> (&[u8], &[u8]) {
        let (previous, next) = (self.next, (self.next + 1) % self.copies.len());
        self.next = next;
        (black_box(&self.copies[previous]), black_box(&self.copies[next]))
    }

    /// The size of the message in bytes.
    pub fn message_len(&self) -> usize {
        self.copies[0].len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn goes_round_all_copies_and_each_is_memory_of_its_own() {
        let mut ring = Ring::new(b"message");
        let places: Vec<usize> = (0..2 * COPIES).map(|_| ring.next().as_ptr().addr()).collect();
        let distinct: HashSet<_> = places.iter().collect();
        assert_eq!(distinct.len(), COPIES);
        assert_eq!(places[..COPIES], places[COPIES..]);
        assert_eq!(ring.next(), b"message");
    }

    #[test]
    fn a_pair_is_the_last_message_and_the_next() {
        let mut ring = Ring::new(b"message");
        let last = ring.next().as_ptr();
        let (previous, next) = ring.pair();
        assert_eq!(previous.as_ptr(), last);
        assert_ne!(next.as_ptr(), last);
    }
}
