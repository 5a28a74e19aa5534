//! Tests that count every allocation, or set process-wide state: a panic hook, or the level of
//! `tracing`. Only one runs at a time.

#[cfg(feature = "tls")]
#[path = "../attack/mod.rs"]
mod attack;
#[path = "../common/mod.rs"]
mod common;

mod attachments_memory;
mod faults;
mod findings;
mod gzip_memory;
mod hostile_servers;
mod idle_memory;
mod items_memory;
mod logs;
mod neighbours;
mod overlaid_memory;
mod panics;
#[cfg(feature = "opentelemetry")]
mod traces;

use peakmem_alloc::{INSTRUMENTED_SYSTEM, PeakMemAlloc};
use std::alloc::System;
use tokio::sync::Mutex;

#[global_allocator]
static ALLOCATOR: &PeakMemAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Held by the running test.
static ALONE: Mutex<()> = Mutex::const_new(());
