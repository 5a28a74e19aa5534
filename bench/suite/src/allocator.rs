//! Live heap memory, counted by the global allocator.
//!
//! It is the system's allocator with two counters. Their cost is too small to measure (uncontended
//! atomic additions that overlap with the allocator's own work), so they stay enabled during
//! timing.

use std::alloc::System;

use peakmem_alloc::{INSTRUMENTED_SYSTEM, PeakMemAlloc, PeakMemAllocTrait};

#[global_allocator]
static ALLOCATOR: &PeakMemAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Runs `work`; returns its result and the peak of live allocated bytes, relative to the start. A
/// reallocation counts as growth in place, even if the allocator copies. Allocations of other
/// threads count too.
pub fn peak_of<R>(work: impl FnOnce() -> R) -> (R, u64) {
    ALLOCATOR.reset_peak_memory();
    let result = work();
    (result, ALLOCATOR.get_peak_memory() as u64)
}
