//! Resident memory of this process, from `/proc`; zero where there is none.

use std::fs;

/// What is resident now, in bytes.
pub fn resident() -> u64 {
    status("VmRSS:")
}

/// The high-water mark, in bytes.
pub fn peak() -> u64 {
    status("VmHWM:")
}

/// Sets the high-water mark to what is resident now, where the kernel lets us.
pub fn reset_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

fn status(key: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib = status.lines().find_map(|line| line.strip_prefix(key)?.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
