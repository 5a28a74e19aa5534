//! Resident memory of this process, from `/proc`; zero if unavailable.

use std::fs;

/// Returns the resident bytes now.
pub fn resident() -> u64 {
    status("VmRSS:")
}

/// Returns the peak of the resident bytes.
pub fn peak() -> u64 {
    status("VmHWM:")
}

/// Resets the peak to the current value, if the kernel allows it.
pub fn reset_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

fn status(key: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib = status.lines().find_map(|line| line.strip_prefix(key)?.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
