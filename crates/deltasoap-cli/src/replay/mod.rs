//! `deltasoap replay`: what differential decoding gains on a user's own traffic.
//!
//! A directory of message files is played as a server would have received it: the files of each
//! directory are one sender's messages, in order. Every message is decoded in regular mode and
//! differentially, alternating which comes first, and both must give the same value. The command
//! compares times, and is a test as well.

mod html;
mod play;
mod recorded;
mod report;
mod side;
mod types;

pub use recorded::v_sphere;

use crate::cli::Replay;
use crate::contract::contract_of;
use crate::figures::MIN_PLAYS;
use crate::files::write_page;
use anyhow::{Result, bail, ensure};
use deltasoap::engine::{Checkpoints, Differential};
use deltasoap_archive::{Skipped, Stream, all_streams};
use deltasoap_cost::Machine;
use deltasoap_cost::measure::{BackgroundLoad, LoadMonitor, process_time};
use indicatif::ProgressBar;
use play::{Play, PlayOptions};
use report::Report;
use std::path::PathBuf;
use types::Types;

/// Replays messages and prints the results.
pub fn run(arguments: &Replay) -> Result<()> {
    for path in &arguments.paths {
        ensure!(path.exists(), "{} does not exist: name a file or a directory of messages", path.display());
    }
    let types = match &arguments.wsdl {
        Some(wsdl) => Types::from_contract(&contract_of(wsdl, &arguments.loading)?),
        None => Types::compiled_in(),
    };
    let report = replay(arguments, &types);
    report.print(arguments.json)?;
    arguments.html.iter().try_for_each(|path| write_page(path, html::page(&report)))?;
    if let Some((first, count)) = report.first_difference() {
        bail!("{}: {} (messages decoded differently: {count})", first.file.display(), first.what);
    }
    ensure!(report.has_operations(), "no message of a known type in {}", places(&arguments.paths));
    Ok(())
}

fn replay(arguments: &Replay, types: &Types) -> Report {
    let mut skipped = Skipped::default();
    let streams = all_streams(&arguments.paths, &mut skipped);
    let files: usize = streams.iter().map(|stream| stream.files.len()).sum();
    let repeat = if arguments.regular_only { arguments.repeat } else { arguments.repeat.max(MIN_PLAYS) };
    let bar = crate::progress::bar("replay", files as u64 * u64::from(repeat));
    let others = LoadMonitor::start(process_time());
    let plays = (0..repeat).map(|number| play(&streams, types, options(arguments, number), &bar)).collect();
    bar.finish_and_clear();
    Report::new(types, plays, skipped, busy(&others))
}

/// Returns the load of other programs, if it makes the times doubtful.
pub fn busy(others: &LoadMonitor) -> Option<BackgroundLoad> {
    BackgroundLoad::new(others.processors(process_time()), Machine::current().cores)
}

fn play(streams: &[Stream], types: &Types, options: PlayOptions, bar: &ProgressBar) -> Play {
    let mut play = Play::default();
    for stream in streams {
        play.stream(stream, types, options, || bar.inc(1));
    }
    play
}

/// Joins the paths of the messages with commas.
fn places(paths: &[PathBuf]) -> String {
    let places: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    places.join(", ")
}

/// Returns the options of play `number`. Similarity is equal in all plays, so only the first
/// measures it.
fn options(arguments: &Replay, number: u32) -> PlayOptions {
    let differential = if arguments.regular_only { Differential::OFF } else { arguments.differential.options() };
    let is_both = differential.checkpoints != Checkpoints::Off;
    PlayOptions {
        differential,
        tolerance: arguments.tolerance.into(),
        number,
        is_similarity_measured: is_both && number == 0,
    }
}

#[cfg(test)]
mod tests;
