//! The floors: the cost of reading or copying a message without processing it.

use std::hint::black_box;

use anyhow::{Result, ensure};

use super::Session;
use super::timed;
use crate::ring::Ring;

/// Compares each message of the ring with its predecessor, as a differential decoder does.
pub struct Compare {
    ring: Ring,
    is_equal: bool,
}

impl Compare {
    /// Creates a ring of messages equal to `message`.
    pub fn new(message: &[u8]) -> Self {
        Compare { ring: Ring::new(message), is_equal: false }
    }
}

impl Session for Compare {
    fn bytes(&self) -> usize {
        self.ring.message_len()
    }

    fn run(&mut self, count: usize) -> Result<Vec<u64>> {
        let run_once = |_| {
            let (previous, next) = self.ring.pair();
            let (ns, is_equal) = timed(|| black_box(previous == next));
            self.is_equal = is_equal;
            ns
        };
        Ok((0..count).map(run_once).collect())
    }

    fn check(&mut self) -> Result<()> {
        ensure!(self.is_equal, "equal messages compare as different");
        Ok(())
    }

    fn peak_bytes(&mut self) -> Result<u64> {
        Ok(0)
    }
}

/// Copies each message of the ring into one buffer.
pub struct Copy {
    ring: Ring,
    target: Vec<u8>,
}

impl Copy {
    /// Creates a ring of messages equal to `message`.
    pub fn new(message: &[u8]) -> Self {
        Copy { ring: Ring::new(message), target: vec![0; message.len()] }
    }
}

impl Session for Copy {
    fn bytes(&self) -> usize {
        self.ring.message_len()
    }

    fn run(&mut self, count: usize) -> Result<Vec<u64>> {
        let run_once = |_| {
            let (message, target) = (self.ring.next(), &mut self.target);
            let (ns, ()) = timed(|| black_box(&mut *target).copy_from_slice(message));
            ns
        };
        Ok((0..count).map(run_once).collect())
    }

    fn check(&mut self) -> Result<()> {
        ensure!(self.target == self.ring.next(), "the copy differs from the message");
        Ok(())
    }

    fn peak_bytes(&mut self) -> Result<u64> {
        Ok(0)
    }
}
