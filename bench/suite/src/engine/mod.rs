//! Toolkits that can be measured, with a common interface.
//!
//! An [`Engine`] prepares a workload; the resulting [`Session`] runs it, and checks what the runs
//! produced. Sessions of several engines can exist at once, so that their runs can alternate.

mod floor;
mod ours;
mod peer;

use std::fmt;
use std::time::{Duration, Instant};

use anyhow::Result;
use deltasoap::engine::DifferentialStats;
use deltasoap::engine::encode::differential::EncodeStats;

use crate::workload::Workload;

pub use ours::{Deltasoap, prepare_shared};
pub use peer::{Call, Peer, Transport};

/// Runs `work` and returns its duration in nanoseconds.
pub fn timed<R>(work: impl FnOnce() -> R) -> (u64, R) {
    let start = Instant::now();
    let result = work();
    (u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX), result)
}

/// A toolkit.
pub trait Engine {
    /// Returns the name in reports.
    fn name(&self) -> &str;

    /// Returns true if the toolkit supports the workload.
    fn offers(&self, workload: &Workload) -> bool;

    /// Prepares runs with `n` elements, and does the work once.
    ///
    /// # Errors
    /// When the work fails.
    fn prepare<'a>(&'a mut self, workload: &Workload, n: usize) -> Result<Box<dyn Session + 'a>>;
}

/// A toolkit's result for a message is wrong; the toolkit can go on with other work.
#[derive(Debug)]
pub struct WrongValues {
    /// The checksum of the result.
    pub found: String,
    /// The expected checksum.
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
    /// Returns the size of the message: the input of a decode, the output of an encode.
    fn bytes(&self) -> usize;

    /// Returns the minimum duration of runs before times count; zero for ahead-of-time compiled
    /// toolkits.
    fn warm(&self) -> Duration {
        Duration::ZERO
    }

    /// Returns the number of messages in a run; the time of a run is the total for all of them.
    fn messages_per_run(&self) -> usize {
        1
    }

    /// Does the work `count` times; returns the nanoseconds of each.
    ///
    /// # Errors
    /// When the work fails.
    fn run(&mut self, count: usize) -> Result<Vec<u64>>;

    /// Checks the result of the last run.
    ///
    /// # Errors
    /// When it is wrong.
    fn check(&mut self) -> Result<()>;

    /// Returns the peak memory for one message, including the result, in bytes.
    ///
    /// # Errors
    /// When it cannot be measured.
    fn peak_bytes(&mut self) -> Result<u64>;

    /// Returns the statistics and memory of differential decoding in all runs; `None` if there was
    /// none.
    fn differential(&self) -> Option<DifferentialStats> {
        None
    }

    /// Returns the statistics of templates in all runs; `None` if there were none.
    fn templates(&self) -> Option<EncodeStats> {
        None
    }
}
