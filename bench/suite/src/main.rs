//! The benchmark program: deltasoap, and other toolkits beside it, on arrays of numbers, strings,
//! structs and bytes.
//!
//! A benchmark is a test first: nothing is timed before its output was checked, and a wrong value
//! ends the program. [`workload`] reads what to measure from `bench/definitions/`, [`messages`]
//! makes the data, an [`engine`] does the work, [`measure`] times it, [`report`] shows the figures.
//! [`stream`] makes streams of similar messages and decodes them, [`load`] lets many clients loose
//! on servers, [`figures`] judges what comes out, [`paper`] draws the tables of the papers on that,
//! and [`suite`] measures everything that toolkits can be compared in. [`reproduce`] does all of it
//! for the five papers, into one [`record`]. `bench/README.md` describes the method.

#![forbid(unsafe_code)]

mod cli;
mod course;
mod encoded;
mod engine;
mod environment;
mod figures;
mod load;
mod measure;
mod memory;
mod messages;
mod options;
mod paper;
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
