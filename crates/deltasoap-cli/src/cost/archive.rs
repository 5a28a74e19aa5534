//! `cost plan --archive`: how long captures take to become tables, and how large these are.
//!
//! A part of the captures is archived into a temporary directory, twice: as one part of the tables,
//! and as several. What that takes is scaled to the volume. Without captures, messages that are
//! made from the WSDL stand in for them.

use crate::cli::cost::{ArchiveVolume as Arguments, Messages, Plan};
use crate::contract::{contract_of, operation};
use crate::output::{print_line, report, stdout};
use anyhow::{Result, ensure};
use deltasoap::engine::{Buffer, QName, Tolerance};
use deltasoap::schema::ElementRef;
use deltasoap::soap::Envelope;
use deltasoap::types::Value;
use deltasoap_archive::{Archive, Counts, JsonColumns, Options, Sources};
use deltasoap_cost::measure::process_time;
use deltasoap_cost::plan::{ArchivePlan, ArchiveRun, ArchiveVolume, archive_plan};
use deltasoap_dynamic::{Contract, Operation};
use deltasoap_report::Grid;
use serde_json::json;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// Number of runs of each kind; the fastest counts.
const ROUNDS: usize = 2;
/// Number of parts of the second run.
const PARTS: u64 = 4;
/// Fewer bytes of samples say little of a large volume.
const LEAST_BYTES: f64 = 16e6;
/// Number of bytes of messages between two looks at the memory.
const LOOK: u64 = 1 << 20;

/// Computes the plan, and prints it.
pub fn run(plan: &Plan, arguments: &Arguments) -> Result<()> {
    let contract = contract_of(&plan.messages.wsdl, &plan.messages.loading)?;
    let folder = tempfile::tempdir()?;
    let captures = match arguments.archive.as_deref() {
        Some([]) | None => vec![made(&contract, &plan.messages, arguments.sample, folder.path())?],
        Some(captures) => captures.to_vec(),
    };
    for path in &captures {
        ensure!(path.exists(), "{} does not exist: name a file or a directory of captures", path.display());
    }
    let options = options(arguments);
    let (few, many) = samples(&contract, &captures, &options, arguments.sample)?;
    let whole = if plan.validate { Some(archive(&contract, &captures, &options, u64::MAX)?) } else { None };
    let volume = volume(plan, arguments, &few, whole.as_ref())?;
    let planned = archive_plan(&few, &many, volume)?;
    if plan.json {
        return Ok(writeln!(stdout(), "{}", json!({ "plan": planned, "samples": [few, many], "validation": whole }))?);
    }
    if few.bytes < LEAST_BYTES {
        report(format_args!(
            "the samples have only {}: a plan from {} is better",
            bytes(few.bytes),
            bytes(LEAST_BYTES)
        ));
    }
    if few.errors > 0.0 {
        report(format_args!("{} of {} messages cannot be decoded", few.errors, few.messages));
    }
    print(&few, &planned)?;
    whole.map_or(Ok(()), |whole| print_line(format_args!("\n{}", compared(&planned, &whole).terminal())))
}

/// Returns the options of `archive` that change what is written.
fn options(arguments: &Arguments) -> Options {
    let mut columns = JsonColumns::default();
    columns.body = arguments.body_column.clone().unwrap_or(columns.body);
    columns.sender = arguments.sender_column.clone().unwrap_or(columns.sender);
    Options {
        is_nested: arguments.nested,
        deduplicate: arguments.deduplicate,
        tolerance: Tolerance::Unknown,
        columns,
        ..Options::default()
    }
}

/// Returns the volume: what is given, the rest in the ratio of the samples; or all of the captures.
fn volume(plan: &Plan, arguments: &Arguments, few: &ArchiveRun, whole: Option<&ArchiveRun>) -> Result<ArchiveVolume> {
    let size = few.bytes / few.messages;
    let (messages, bytes) = match (whole, arguments.total_messages, arguments.total_bytes) {
        (Some(whole), ..) => (whole.messages, whole.bytes),
        (None, Some(messages), bytes) => (messages, bytes.unwrap_or(messages * size)),
        (None, None, Some(bytes)) => (bytes / size, bytes),
        (None, None, None) => anyhow::bail!("give the volume: --messages, --bytes, or both"),
    };
    let here = || std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    let cores = if whole.is_some() { 1 } else { plan.cores.unwrap_or_else(here) };
    Ok(ArchiveVolume { messages, bytes, nodes: arguments.nodes, cores })
}

/// Archives samples in one part and in several.
fn samples(
    contract: &Contract,
    captures: &[PathBuf],
    options: &Options,
    most: u64,
) -> Result<(ArchiveRun, ArchiveRun)> {
    let of_one_part = Options { chunk_bytes: u64::MAX, chunk_messages: u64::MAX, ..options.clone() };
    let mut best: Option<(ArchiveRun, ArchiveRun)> = None;
    for _ in 0..ROUNDS {
        let few = archive(contract, captures, &of_one_part, most)?;
        let chunk_bytes = (few.bytes as u64).div_ceil(PARTS).max(1);
        // A few large messages may have nearly all bytes.
        let chunk_messages = (few.messages as u64).div_ceil(PARTS).max(1);
        let of_parts = Options { chunk_bytes, chunk_messages, ..of_one_part.clone() };
        let many = archive(contract, captures, &of_parts, most)?;
        ensure!(many.parts > few.parts, "the captures hold too few messages for a plan: {}", few.messages);
        best = Some(match best {
            Some((known, known_many)) => (faster(known, few), faster(known_many, many)),
            None => (few, many),
        });
    }
    best.ok_or_else(|| anyhow::anyhow!("no samples"))
}

fn faster(one: ArchiveRun, other: ArchiveRun) -> ArchiveRun {
    if other.seconds < one.seconds { other } else { one }
}

/// Archives captures, up to a number of bytes of messages, and measures that.
fn archive(contract: &Contract, captures: &[PathBuf], options: &Options, most: u64) -> Result<ArchiveRun> {
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("tables");
    let sources = Sources::find(captures);
    ensure!(!sources.all.is_empty(), "no captures: name files or directories that `archive` reads");
    let archive = Archive::open(&root, contract, sources, options.clone())?;
    let (mut memory, mut seen) = (resident(), 0);
    let begin = process_time();
    let summary = archive.run_while(&mut |counts| {
        if counts.bytes >= seen + LOOK {
            (seen, memory) = (counts.bytes, memory.max(resident()));
        }
        counts.bytes < most
    })?;
    let seconds = (process_time() - begin).as_secs_f64();
    let Counts { messages, errors, bytes, .. } = summary.counts;
    ensure!(messages > 0, "none of {errors} messages can be decoded with this WSDL");
    let parts = root.join("messages").read_dir()?.count() as f64;
    let output = size_of(&root)?;
    let all = messages + errors;
    Ok(ArchiveRun { messages: all as f64, errors: errors as f64, bytes: bytes as f64, parts, seconds, output, memory })
}

/// Writes messages with random values, of all operations or of one, as lines of JSON.
fn made(contract: &Contract, messages: &Messages, most: u64, folder: &Path) -> Result<PathBuf> {
    let chosen = messages.operation.as_deref().map(|name| operation(contract, &messages.wsdl, name)).transpose()?;
    let operations = chosen.map_or_else(|| contract.operations(), |chosen| vec![chosen]);
    let path = folder.join("samples.jsonl");
    let mut file = BufWriter::new(File::create(&path)?);
    let (mut seed, mut written) = (0, 0);
    while written < most {
        let before = written;
        for operation in &operations {
            let request = operation.request().zip(operation.random_request(seed));
            let response = operation.response().zip(operation.random_response(seed));
            for ((name, content), value) in request.into_iter().chain(response) {
                if let Some(text) = text(operation, name, content, &value) {
                    written += text.len() as u64;
                    writeln!(file, "{}", json!({ "body": text, "operation": operation.distinct_name() }))?;
                }
            }
        }
        ensure!(written > before, "no messages can be made from this WSDL: name captures after --archive");
        seed += 1;
    }
    file.flush()?;
    Ok(path)
}

fn text(operation: &Operation, name: &QName, content: ElementRef, value: &Value) -> Option<String> {
    let written = Envelope::element(name, value, operation.view(content)).write(Buffer::new()).ok()?;
    String::from_utf8(written.as_slice().to_vec()).ok()
}

/// Returns the memory of this process in bytes; 0 where the system does not say it.
fn resident() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kibibytes.unwrap_or_default() * 1024.0
}

/// Returns the bytes of all files below a directory.
fn size_of(folder: &Path) -> Result<f64> {
    let mut bytes = 0;
    for entry in walkdir::WalkDir::new(folder) {
        bytes += entry?.metadata().map_or(0, |it| if it.is_file() { it.len() } else { 0 });
    }
    Ok(bytes as f64)
}

fn print(few: &ArchiveRun, plan: &ArchivePlan) -> Result<()> {
    let ArchiveVolume { messages, bytes: volume, nodes, cores } = plan.volume;
    let rows = [
        [
            "samples",
            &format!("{} messages, {}, {} each", few.messages, bytes(few.bytes), bytes(few.bytes / few.messages)),
        ],
        ["speed", &format!("{}/s a core", bytes(plan.bytes_per_second))],
        ["volume", &format!("{messages:.0} messages, {}", bytes(volume))],
        ["processor time", &range(plan.core_hours, |it| format!("{it:.2} h"))],
        ["time", &format!("{} on {nodes} nodes of {cores} cores", range(plan.hours, |it| format!("{it:.2} h")))],
        ["tables", &range(plan.output, bytes)],
        ["memory", &format!("{} a node", bytes(plan.memory))],
    ];
    // Not all systems say what a process takes.
    for [name, text] in rows.into_iter().filter(|[name, _]| *name != "memory" || plan.memory > 0.0) {
        print_line(format_args!("{name:<15} {text}"))?;
    }
    Ok(())
}

fn range(bounds: [f64; 2], text: impl Fn(f64) -> String) -> String {
    match bounds.map(text) {
        [least, most] if least == most => least,
        [least, most] => format!("{least} to {most}"),
    }
}

/// Returns the table of what was predicted, and of what was measured.
fn compared(plan: &ArchivePlan, whole: &ArchiveRun) -> Grid {
    let off = |predicted: f64, measured: f64| format!("{:+.1} %", (predicted / measured - 1.0) * 100.0);
    let (seconds, output) = (plan.core_hours[1] * 3600.0, plan.output[1]);
    let rows = [
        [
            "processor time".to_owned(),
            format!("{seconds:.2} s"),
            format!("{:.2} s", whole.seconds),
            off(seconds, whole.seconds),
        ],
        ["tables".to_owned(), bytes(output), bytes(whole.output), off(output, whole.output)],
        ["memory".to_owned(), bytes(plan.memory), bytes(whole.memory), off(plan.memory, whole.memory)],
    ];
    Grid::new("All captures", &["", "predicted", "measured", "error"], 1).with(rows)
}

/// Formats bytes with a suitable unit.
fn bytes(bytes: f64) -> String {
    const UNITS: [(&str, f64); 4] = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    match UNITS.into_iter().find(|(_, size)| bytes >= *size) {
        Some((unit, size)) => format!("{:.2} {unit}", bytes / size),
        None => format!("{bytes:.0} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_a_unit_that_fits() {
        assert_eq!([512.0, 1.5e3, 64e6, 2.25e12].map(bytes), ["512 B", "1.50 kB", "64.00 MB", "2.25 TB"]);
        assert_eq!(range([1.0, 1.0], |it| it.to_string()), "1");
        assert_eq!(range([1.0, 2.0], |it| it.to_string()), "1 to 2");
    }
}
