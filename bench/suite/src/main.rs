//! The benchmark program: compares deltasoap with other toolkits on arrays of numbers, strings,
//! structs and bytes.
//!
//! A benchmark is a test first: output is checked before anything is timed, and a wrong value ends
//! the program. [`workload`] reads what to measure from `bench/definitions/`, [`messages`] creates
//! the data, an [`engine`] does the work, [`measure`] times it, [`report`] prints the figures.
//! [`stream`] creates streams of similar messages and decodes them, [`load`] loads servers with
//! many clients, [`figures`] judges the results, [`paper`] draws the papers' tables from them, and
//! [`suite`] measures everything that toolkits can be compared in. [`reproduce`] does all of it for
//! the five papers, into one [`record`]. `bench/README.md` describes the method.

#![forbid(unsafe_code)]

mod allocator;
mod cli;
mod encoded;
mod engine;
mod environment;
mod figures;
mod load;
mod measure;
mod messages;
mod options;
mod paper;
mod progress;
mod record;
mod report;
mod reproduce;
mod ring;
mod run;
mod send;
mod similar;
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
