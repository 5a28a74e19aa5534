//! A ring of equal messages in different memory.
//!
//! A program that reads the same buffer repeatedly reads it from the processor's cache, with
//! trained branch prediction. A server has each message in new memory. So a measurement cycles
//! through a ring of copies.

use std::hint::black_box;

/// The number of copies, as in the peer protocol.
pub const COPIES: usize = 16;

/// Equal messages, each in separate memory.
#[derive(Debug)]
pub struct Ring {
    copies: Vec<Vec<u8>>,
    next: usize,
}

impl Ring {
    /// Creates a ring of [`COPIES`] copies.
    pub fn new(message: &[u8]) -> Self {
        Ring { copies: (0..COPIES).map(|_| message.to_vec()).collect(), next: 0 }
    }

    /// Returns the next message. The optimizer cannot see its content.
    pub fn next(&mut self) -> &[u8] {
        self.pair().1
    }

    /// Returns the message before the next one, and the next one.
    pub fn pair(&mut self) -> (&[u8], &[u8]) {
        let (previous, next) = (self.next, (self.next + 1) % self.copies.len());
        self.next = next;
        (black_box(&self.copies[previous]), black_box(&self.copies[next]))
    }

    /// Returns the size of the message in bytes.
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
