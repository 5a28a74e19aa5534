//! `cargo xtask soak`: random streams of messages, read in every way beside naive twins, until time
//! or a number of messages is up.
//!
//! One sequence is one stream. All about it is drawn from the seed and its number, so each can be
//! repeated alone:
//!
//! | step | module |
//! |---|---|
//! | what messages are read as: random, of a WSDL, derived, inferred from recorded messages | [`subject`], [`library`], [`inferred`], [`derived`] |
//! | messages that resemble each other | [`mutate`] |
//! | where they are cut, how they are read | [`cuts`], [`way`] |
//! | the oracle | [`trial`] |
//! | one in several sequences: values sent by templates, beside the same in full | [`templates`] |
//! | what differs, made small and saved | [`shrink`], [`found`] |
//! | what was reached | [`coverage`] |

#![forbid(unsafe_code)]
#![allow(clippy::duplicate_mod, reason = "types are read as they are by default, and compact")]

mod chance;
mod coverage;
mod cuts;
mod derived;
#[path = "../../../crates/deltasoap-core/tests/support/edits.rs"]
#[allow(dead_code, missing_docs, reason = "shared with tests")]
mod edits;
mod found;
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
mod watch;
mod way;

use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;

/// Reads and writes random streams of messages in every way, and compares with naive twins
#[derive(Debug, Parser)]
#[command(name = "cargo xtask soak", version)]
pub struct Arguments {
    /// How long to go on
    #[arg(long, default_value_t = 5.0)]
    minutes: f64,
    /// End after so many messages were read and compared, whatever the time
    #[arg(long, value_name = "N")]
    decodes: Option<u64>,
    /// What all sequences are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Begin with the sequence of this number
    #[arg(long, default_value_t = 0, value_name = "N")]
    from: u64,
    /// Run the sequence of this number and no other
    #[arg(long, value_name = "N")]
    sequence: Option<u64>,
    /// Further WSDLs and recorded messages
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Read a finding again
    #[arg(long, value_name = "DIR")]
    replay: Option<PathBuf>,
    /// Where findings go
    #[arg(long, value_name = "DIR", default_value = "target/soak")]
    output: PathBuf,
    /// End after so many findings
    #[arg(long, default_value_t = 10, value_name = "N")]
    findings: usize,
    /// A Python with lxml: libxml2 reads a sample of what templates send
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
