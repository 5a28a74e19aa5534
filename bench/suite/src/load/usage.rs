//! Resource usage of a process: processor time and memory, from `/proc`.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};

/// The resources that a process has used so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Processor time of all its threads, in user and system mode.
    pub cpu: Duration,
    /// Resident bytes now.
    pub resident: u64,
    /// Peak resident bytes.
    pub peak: u64,
}

impl Usage {
    /// Returns the usage of a process.
    ///
    /// # Errors
    /// When there is no such process, or no `/proc`.
    pub fn of(pid: u32) -> Result<Self> {
        let read =
            |file| fs::read_to_string(format!("/proc/{pid}/{file}")).context("the server's resources are unknown");
        let (stat, status) = (read("stat")?, read("status")?);
        let ticks = ticks(&stat).context("/proc/PID/stat is not as expected")?;
        let cpu = Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64);
        let bytes = |key| kib(&status, key).map(|kib| kib * 1024).context("/proc/PID/status is not as expected");
        Ok(Usage { cpu, resident: bytes("VmRSS:")?, peak: bytes("VmHWM:")? })
    }

    /// Returns the usage of this process.
    ///
    /// # Errors
    /// When there is no `/proc`.
    pub fn own() -> Result<Self> {
        Usage::of(std::process::id())
    }
}

/// Returns clock ticks in user and system mode: fields 14 and 15, counted after the name, which may
/// contain anything.
fn ticks(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_whitespace().skip(11).map(str::parse::<u64>);
    Some(times.next()?.ok()? + times.next()?.ok()?)
}

fn kib(status: &str, key: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_are_found() {
        let stat = "7 (a ) b) S 1 7 7 0 -1 4194560 100 0 0 0 12 30 5 5 20 0 1 0 100 1000 10";
        assert_eq!(ticks(stat), Some(42));
        assert_eq!(kib("Name:\tx\nVmHWM:\t  123 kB\nVmRSS:\t45 kB\n", "VmRSS:"), Some(45));
        assert_eq!((ticks("7"), kib("", "VmRSS:")), (None, None));
    }

    #[test]
    fn this_process_has_memory() {
        let usage = Usage::own().unwrap();
        assert!(usage.resident > 0 && usage.peak >= usage.resident);
        assert!(Usage::of(u32::MAX).is_err());
    }
}
