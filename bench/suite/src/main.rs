//! The benchmark program: compares deltasoap with other toolkits on arrays of numbers, strings,
//! structs and bytes.
//!
//! A benchmark is a test first: output is checked before anything is timed, and a wrong value ends
//! the program. `bench/README.md` describes the method.
//!
//! A module knows only those in the lines above its own, and those left of it:
//!
//! | modules | content |
//! |---|---|
//! | [`allocator`], [`ring`], [`statistics`], [`environment`], [`record`], [`socket`] | tools: memory, statistics, the machine, results on disk, a server to send to |
//! | [`workload`], [`options`], [`progress`] | what is done with which values, arguments, steps of a measurement |
//! | [`payload`], [`encoded`], [`messages`] | the data: what a message type must offer, and the types |
//! | [`engine`], [`measure`] | those who do the work, and how it is timed |
//! | [`stream`], [`similar`], [`send`] | streams of similar messages, to decode and to send |
//! | [`definitions`] | what to measure, from `bench/definitions/` |
//! | [`report`], [`run`], [`load`] | tables, single workloads, servers under many clients |
//! | [`paper`], [`suite`], [`reproduce`] | the papers' exhibits, all toolkits in all areas, all papers in one record |
//! | [`figures`], [`cli`] | goals and whether they are reached, the commands |
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
