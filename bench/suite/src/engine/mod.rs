//! Toolkits that can be measured, behind one interface.
//!
//! An [`Engine`] prepares a workload; the [`Session`] that comes out runs it, and checks what the
//! runs produced. Sessions of several engines are alive at once, so that their runs can take turns.

mod floor;
pub(crate) mod ours;
mod peer;

use std::fmt;
use std::time::Duration;

use anyhow::Result;
use deltasoap::DifferentialStats;
use deltasoap::encode::differential::EncodeStats;

use crate::workload::Workload;

pub use ours::{Deltasoap, prepare_shared, timed};
pub use peer::{Call, Peer, Transport};

/// A toolkit.
pub trait Engine {
    /// The name in reports.
    fn name(&self) -> &str;

    /// True if the toolkit can do this.
    fn offers(&self, workload: &Workload) -> bool;

    /// Makes ready for runs with `n` elements, and does the work once.
    ///
    /// # Errors
    /// When the work fails.
    fn prepare<'a>(&'a mut self, workload: &Workload, n: usize) -> Result<Box<dyn Session + 'a>>;
}

/// What a toolkit made of a message is wrong; but it works, and will go on with something else.
#[derive(Debug)]
pub struct WrongValues {
    /// The checksum of what it has.
    pub found: String,
    /// The checksum of what it should have.
    pub expected: String,
}

impl fmt::Display for WrongValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wrong values: their checksum is {}, not {}", self.found, self.expected)
    }
}

impl std::error::Error for WrongValues {}

impl WrongValues {
    /// Compares two checksums.
    ///
    /// # Errors
    /// When they differ.
    pub fn unless_same(found: &str, expected: &str) -> Result<(), Self> {
        let wrong = || WrongValues { found: found.to_owned(), expected: expected.to_owned() };
        if found == expected { Ok(()) } else { Err(wrong()) }
    }
}

/// A workload of one size, ready to run.
pub trait Session {
    /// Size of the message: the input of a decode, the output of an encode.
    fn bytes(&self) -> usize;

    /// How long runs go on before they count, at least; none for what is compiled beforehand.
    fn warm(&self) -> Duration {
        Duration::ZERO
    }

    /// Messages that one run takes on; the time of a run is that of all of them.
    fn messages_per_run(&self) -> usize {
        1
    }

    /// Does the work `count` times; the nanoseconds of each.
    ///
    /// # Errors
    /// When the work fails.
    fn run(&mut self, count: usize) -> Result<Vec<u64>>;

    /// Checks what the last run produced.
    ///
    /// # Errors
    /// When it is wrong.
    fn check(&mut self) -> Result<()>;

    /// The most memory that one message takes, result included, in bytes.
    ///
    /// # Errors
    /// When it cannot be measured.
    fn peak_bytes(&mut self) -> Result<u64>;

    /// What differential decoding did in all runs, and the memory it holds; `None` where there was
    /// none.
    fn differential(&self) -> Option<DifferentialStats> {
        None
    }

    /// What templates did in all runs; `None` where there were none.
    fn templates(&self) -> Option<EncodeStats> {
        None
    }
}
