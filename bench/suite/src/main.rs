//! The benchmark program: compares deltasoap with other toolkits on arrays of numbers, strings,
//! structs and bytes.
//!
//! A benchmark is a test first: output is checked before anything is timed, and a wrong value ends
//! the program. `bench/README.md` describes the method.
//!
//! A module knows only those that stand before it in this list:
//!
//! 1. [`allocator`], [`ring`], [`socket`], [`record`]: memory, a server to send to, results.
//! 2. [`statistics`], [`environment`]: intervals of medians, and the machine.
//! 3. [`workload`], [`options`], [`progress`]: work and values, arguments, steps.
//! 4. [`payload`], [`encoded`], [`messages`]: what a message type must offer, and the types.
//! 5. [`engine`], [`measure`]: toolkits, and how their work is timed.
//! 6. [`stream`], [`similar`], [`send`]: similar messages, to decode and to send.
//! 7. [`definitions`]: what to measure, from `bench/definitions/`.
//! 8. [`report`], [`run`], [`security`], [`load`], [`memories`]: tables, single workloads, signatures, servers
//!    under many clients, and their memories.
//! 9. [`paper`], [`suite`], [`reproduce`]: three papers' exhibits, all toolkits in all areas, and
//!    all papers in one record.
//! 10. [`figures`], [`cli`]: goals and whether they are reached, and the commands.
//!
//! Files of a module may use what its `mod.rs` declares.

#![forbid(unsafe_code)]

mod allocator;
mod cli;
mod definitions;
mod encoded;
mod engine;
mod environment;
mod figures;
mod load;
mod measure;
mod memories;
mod messages;
mod options;
mod paper;
mod payload;
mod progress;
mod record;
mod report;
mod reproduce;
mod ring;
mod run;
mod security;
mod send;
mod similar;
mod socket;
mod statistics;
mod stream;
mod suite;
mod workload;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main().unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}
