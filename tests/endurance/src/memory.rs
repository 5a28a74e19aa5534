//! The memory of the servers over time: it must be level.
//!
//! A server's memory grows while its caches fill, so the first third of the time does not count. The
//! most in the last third may exceed the most in the second by a little only.

use serde::Serialize;
use std::fs;
use std::time::Duration;

/// Memory is sampled once in this time.
const PERIOD: Duration = Duration::from_secs(1);
/// The last third may exceed the second by this share, and these bytes.
const TOLERATED_SHARE: f64 = 0.1;
const TOLERATED_BYTES: u64 = 16 << 20;

/// Samples of some processes' resident memory.
#[derive(Debug)]
pub struct Memory {
    processes: Vec<(String, u32)>,
    next: Duration,
    /// For each process, bytes at each period.
    samples: Vec<Vec<u64>>,
}

/// The memory of a process.
#[derive(Debug, Serialize)]
pub struct Level {
    /// The process.
    pub name: String,
    /// Bytes: the most in each third of the time.
    pub thirds: [u64; 3],
}

impl Level {
    /// Returns true if the last third is as the second; false also without samples.
    pub fn is_level(&self) -> bool {
        let [_, second, third] = self.thirds;
        third > 0 && third <= second + (second as f64 * TOLERATED_SHARE) as u64 + TOLERATED_BYTES
    }
}

impl Memory {
    /// Creates the samples of processes, which have names.
    pub fn of(processes: Vec<(String, u32)>) -> Self {
        let samples = vec![Vec::new(); processes.len()];
        Memory { processes, next: Duration::ZERO, samples }
    }

    /// Takes a sample if it is time.
    pub fn sample(&mut self, elapsed: Duration) {
        if elapsed < self.next {
            return;
        }
        self.next = elapsed + PERIOD;
        for ((_, process), samples) in self.processes.iter().zip(&mut self.samples) {
            samples.push(resident(*process).unwrap_or(0));
        }
    }

    /// Returns the last sample as text.
    pub fn now(&self) -> String {
        let shown = |((name, _), samples): (&(String, u32), &Vec<u64>)| {
            format!("{name} {} MB", samples.last().copied().unwrap_or(0) >> 20)
        };
        self.processes.iter().zip(&self.samples).map(shown).collect::<Vec<_>>().join(", ")
    }

    /// Returns the memory of each process.
    pub fn levels(self) -> Vec<Level> {
        let level = |((name, _), samples): ((String, u32), Vec<u64>)| Level { name, thirds: thirds(&samples) };
        self.processes.into_iter().zip(self.samples).map(level).collect()
    }
}

fn thirds(samples: &[u64]) -> [u64; 3] {
    let third = samples.len().div_ceil(3).max(1);
    let mut most = samples.chunks(third).map(|part| part.iter().copied().max().unwrap_or(0));
    std::array::from_fn(|_| most.next().unwrap_or(0))
}

/// Returns the resident bytes of a process, where the system has `/proc`.
pub fn resident(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kb| kb << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(samples: &[u64]) -> Level {
        Level { name: String::new(), thirds: thirds(samples) }
    }

    #[test]
    fn growth_in_the_last_third_is_noticed() {
        let flat: Vec<u64> = (0..300).map(|n| if n < 100 { n << 20 } else { 100 << 20 }).collect();
        assert!(level(&flat).is_level());
        let growing: Vec<u64> = (0..300).map(|n| (100 + n) << 20).collect();
        assert!(!level(&growing).is_level());
        assert!(!level(&[]).is_level() && !level(&[1 << 20]).is_level());
        assert_eq!(thirds(&[]), [0; 3]);
        assert_eq!(thirds(&[1, 2, 3, 4]), [2, 4, 0]);
    }

    #[test]
    fn this_process_has_memory() {
        assert!(resident(std::process::id()).is_some_and(|bytes| bytes > 1 << 20));
    }
}
