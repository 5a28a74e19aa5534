//! `deltasoap archive`: captured messages as Parquet tables.

use crate::cli::Archive as Arguments;
use crate::contract::contract_of;
use crate::output::{print_line, report};
use anyhow::{Result, bail, ensure};
use deltasoap_archive::{Archive, Counts, Limits, Options, Skipped, Sources, Summary, shown_location};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Writes the tables, and prints what is in them.
pub fn run(arguments: &Arguments) -> Result<()> {
    if let Some(url) = url_of(&arguments.output) {
        bail!(
            "{} is an object store: write the tables to a directory, and copy them to the store",
            shown_location(url)
        );
    }
    let (urls, paths): (Vec<_>, Vec<_>) = arguments.paths.iter().cloned().partition(|path| url_of(path).is_some());
    for path in &paths {
        ensure!(path.exists(), "{} does not exist: name a file or a directory of captures", path.display());
    }
    let contract = contract_of(&arguments.wsdl, &arguments.loading)?;
    let mut sources = Sources::find(&paths);
    for url in urls.iter().filter_map(|path| url_of(path)) {
        add_objects(&mut sources, url)?;
    }
    let skipped = std::mem::take(&mut sources.skipped);
    if sources.all.is_empty() {
        report_skipped(&skipped);
        bail!(
            "no captures in {}: name directories of .xml, .txt or .http files, .zip or .tar archives of such files, \
             .har, .jsonl, .pcap, .pcapng or .mitm files, or a directory that `proxy --record` wrote",
            named(&arguments.paths)
        );
    }
    let archive = Archive::open(&arguments.output, &contract, sources, options(arguments))?;
    let bar = crate::progress::counter("archive");
    let summary = archive.run(&mut |counts| bar.set_position(counts.messages + counts.errors));
    bar.finish_and_clear();
    let summary = summary?;
    print(arguments, &summary, &skipped)?;
    let all = summary.counts.messages + summary.counts.errors;
    ensure!(
        summary.counts.messages > 0,
        "none of {all} messages could be decoded with {}: see the reasons in {}",
        arguments.wsdl,
        arguments.output.join("errors").display()
    );
    Ok(())
}

/// Returns the URL of an object store, if that is what the user has named.
fn url_of(path: &Path) -> Option<&str> {
    path.to_str().filter(|text| text.contains("://"))
}

#[cfg(feature = "object-store")]
fn add_objects(sources: &mut Sources, url: &str) -> Result<()> {
    Ok(sources.add_objects(url)?)
}

#[cfg(not(feature = "object-store"))]
fn add_objects(_: &mut Sources, url: &str) -> Result<()> {
    bail!(
        "{}: this command reads no object stores: install it with `--features object-store`, or copy the captures \
         to a directory",
        shown_location(url)
    )
}

/// Returns the paths and URLs that the user has named.
fn named(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| shown_location(&path.display().to_string())).collect::<Vec<_>>().join(", ")
}

fn options(arguments: &Arguments) -> Options {
    Options {
        is_nested: arguments.nested,
        deduplicate: arguments.deduplicate,
        compression: arguments.compression.into(),
        tolerance: arguments.tolerance.into(),
        limits: Limits { message: arguments.limit_message },
        columns: arguments.columns.names(),
        chunk_bytes: arguments.chunk,
        ..Options::default()
    }
}

/// The summary in JSON.
#[derive(Serialize)]
struct Line<'a> {
    output: &'a Path,
    #[serde(flatten)]
    counts: &'a Counts,
    /// True if an earlier run had begun the archive.
    continued: bool,
    skipped: usize,
}

fn print(arguments: &Arguments, summary: &Summary, skipped: &Skipped) -> Result<()> {
    let counts = &summary.counts;
    if arguments.json {
        let line =
            Line { output: &arguments.output, counts, continued: summary.is_continued, skipped: skipped.files() };
        return print_line(serde_json::to_string(&line)?);
    }
    let Counts { messages, faults, repeated, errors, bytes } = counts;
    print_line(format_args!("messages   {messages}"))?;
    print_line(format_args!("faults     {faults} of them"))?;
    if arguments.deduplicate {
        print_line(format_args!("repeated   {repeated} of them"))?;
    }
    print_line(format_args!("errors     {errors}"))?;
    print_line(format_args!("bytes      {bytes}"))?;
    print_line(format_args!("tables     {}", arguments.output.display()))?;
    if *errors > 0 {
        report(format_args!(
            "{errors} messages cannot be decoded: {} has the place and the reason of each",
            arguments.output.join("errors").display()
        ));
    }
    report_skipped(skipped);
    Ok(())
}

fn report_skipped(skipped: &Skipped) {
    for (reason, files) in skipped.by_reason() {
        let first = files.first().map(|file| file.display().to_string()).unwrap_or_default();
        report(format_args!("{} files skipped ({reason}), such as {first}", files.len()));
    }
}
