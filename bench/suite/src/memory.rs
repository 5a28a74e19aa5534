//! Live heap memory, counted by the global allocator.
//!
//! It is the system's allocator with two counters around it. They cost less than can be measured
//! (uncontended atomic additions that overlap with the allocator's own work), so that they stay in
//! place while times are taken.

use std::alloc::System;

use peakmem_alloc::{INSTRUMENTED_SYSTEM, PeakMemAlloc, PeakMemAllocTrait};

#[global_allocator]
static ALLOCATOR: &PeakMemAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Does some work, and gives the most bytes that were allocated and not yet released at any moment
/// of it, beyond those before. A reallocation counts as growth in place, even where the allocator
/// copies. Allocations of other threads count too.
pub fn peak_of<R>(work: impl FnOnce() -> R) -> (R, u64) {
    ALLOCATOR.reset_peak_memory();
    let result = work();
    (result, ALLOCATOR.get_peak_memory() as u64)
}
