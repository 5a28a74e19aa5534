//! `cargo xtask soak`: random streams of messages, decoded in every way and compared with naive
//! twins, until a time or a number of messages is reached.
//!
//! One sequence is one stream. It depends only on the seed and its number, so each can be repeated
//! alone:
//!
//! | step | module |
//! |---|---|
//! | the messages' schema, of four sources | [`subject`], [`library`], [`inferred`], [`derived`] |
//! | similar messages | [`mutate`] |
//! | how they are split and decoded | [`cuts`], [`decoder_options`] |
//! | the oracle | [`trial`] |
//! | sometimes, values sent through templates, compared with the full encoding | [`templates`] |
//! | differences, shrunk and saved | [`shrink`], [`finding`] |
//! | coverage | [`coverage`] |

#![forbid(unsafe_code)]
#![allow(clippy::duplicate_mod, reason = "types are read as they are by default, and compact")]

mod coverage;
mod cuts;
mod decoder_options;
mod derived;
#[path = "../../../crates/deltasoap-core/tests/support/edits.rs"]
#[allow(dead_code, missing_docs, reason = "shared with tests")]
mod edits;
mod finding;
#[path = "../../../crates/deltasoap-core/tests/support/gaps.rs"]
mod gaps;
#[path = "../../../crates/deltasoap-core/tests/support/generate.rs"]
#[allow(dead_code, missing_docs, reason = "shared with tests")]
mod generate;
mod inferred;
#[path = "../../../crates/deltasoap-core/tests/support/kinds.rs"]
mod kinds;
mod library;
#[path = "../../../crates/deltasoap/tests/engine/leaves/edits.rs"]
#[allow(dead_code, missing_docs, reason = "shared with tests")]
mod markup;
mod mutate;
#[path = "../../../crates/deltasoap/tests/engine/tracked/reports.rs"]
#[allow(missing_docs, reason = "shared with tests")]
mod reports;
mod run;
#[path = "../../../crates/deltasoap-core/tests/support/sender.rs"]
#[allow(dead_code, missing_docs, reason = "shared with tests")]
mod sender;
mod shrink;
mod subject;
#[path = "../../../crates/deltasoap-core/tests/support/template_streams.rs"]
#[allow(dead_code, missing_docs, reason = "shared with tests")]
mod template_streams;
mod templates;
mod trial;
#[path = "../../../crates/deltasoap-core/tests/support/updates.rs"]
#[allow(dead_code, missing_docs, reason = "shared with tests")]
mod updates;
mod watchdog;

use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;

/// Decodes and encodes random streams of messages in every way, and compares with naive twins
#[derive(Debug, Parser)]
#[command(name = "cargo xtask soak", version)]
pub struct Arguments {
    /// Duration of the run
    #[arg(long, default_value_t = 5.0)]
    minutes: f64,
    /// Stop after this many messages were decoded and compared, whatever the time
    #[arg(long, value_name = "N")]
    decodes: Option<u64>,
    /// Seed of all sequences
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Start with the sequence of this number
    #[arg(long, default_value_t = 0, value_name = "N")]
    from: u64,
    /// Run only the sequence of this number
    #[arg(long, value_name = "N")]
    sequence: Option<u64>,
    /// Additional WSDLs and recorded messages
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Replay a finding
    #[arg(long, value_name = "DIR")]
    replay: Option<PathBuf>,
    /// Directory for findings
    #[arg(long, value_name = "DIR", default_value = "target/soak")]
    output: PathBuf,
    /// Stop after this many findings
    #[arg(long, default_value_t = 10, value_name = "N")]
    findings: usize,
    /// A Python with lxml: libxml2 parses a sample of what templates send
    #[arg(long, value_name = "PROGRAM")]
    python: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match &arguments.replay {
        Some(folder) => run::replay(folder, &arguments),
        None => run::run(&arguments),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}
