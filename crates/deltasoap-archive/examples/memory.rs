//! The memory of an archive while it is written: a table with a line for each tenth of the messages.
//! Fails if memory grows.
//!
//!     cargo run --release -p deltasoap-archive --example memory -- GIGABYTES [DIRECTORY]
//!
//! The messages are derived `Inform`s of TR-069 devices, as lines of JSON in Zstandard, which are
//! written first, in a process of their own. The directory is that for temporary files.

use deltasoap_archive::{Archive, Options, Sources};
use deltasoap_dynamic::Contract;
use deltasoap_streams::tr069;
use deltasoap_test_support::files;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

/// Number of senders: more than an archive keeps the last messages of.
const DEVICES: u32 = 400;
/// What memory may grow by after the first tenth, in bytes: a batch of rows and a row group more.
const ALLOWED: u64 = 64 << 20;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let gigabytes: f64 = arguments.get(1).and_then(|text| text.parse().ok()).expect("GIGABYTES");
    if let [_, _, path, _] = &arguments[..] {
        write_lines(Path::new(path), (gigabytes * 1e9) as u64);
        return ExitCode::SUCCESS;
    }
    let folder = match arguments.get(2) {
        Some(folder) => tempfile::tempdir_in(folder),
        None => tempfile::tempdir(),
    };
    let folder = folder.expect("a directory");
    let lines = folder.path().join("informs.jsonl.zst");
    let program = std::env::current_exe().expect("a program");
    let written = Command::new(program).arg(&arguments[1]).arg(&lines).arg("lines").status().expect("a process");
    assert!(written.success(), "the messages cannot be written");
    println!("{DEVICES} senders, {gigabytes} GB of messages, {} MB compressed\n", size(&lines) / 1_000_000);
    archive(&lines, &folder.path().join("tables"), (gigabytes * 1e9) as u64)
}

/// Writes messages until there are enough bytes.
fn write_lines(path: &Path, most: u64) {
    let file = BufWriter::new(File::create(path).expect("a file"));
    let mut lines = zstd::stream::write::Encoder::new(file, 1).expect("an encoder");
    let mut bytes = 0;
    // The schema describes one of the two versions that the devices speak.
    let informs = tr069::inform_stream(1, DEVICES, u32::MAX);
    for message in informs.filter(|message| message.xml.contains("urn:dslforum-org:cwmp-1-0")) {
        if bytes >= most {
            break;
        }
        bytes += message.xml.len() as u64;
        let line = serde_json::json!({ "sender": format!("device-{}", message.device), "body": message.xml });
        writeln!(lines, "{line}").expect("written");
    }
    lines.finish().and_then(|mut file| file.flush()).expect("written");
}

fn archive(lines: &Path, root: &Path, most: u64) -> ExitCode {
    let schema = files::in_repository("testdata/wsdl/BroadbandForum+cwmp-data-models/cwmp-1-0.xsd");
    let contract = Contract::import(&schema.to_string_lossy()).expect("a schema");
    let sources = Sources::find(&[lines.to_owned()]);
    let archive = Archive::open(root, &contract, sources, Options::default()).expect("an archive");
    println!("{:>12}{:>10}{:>12}{:>12}{:>12}", "messages", "GB", "memory, MB", "at most", "seconds");
    let (begin, mut samples, mut peak) = (Instant::now(), Vec::new(), 0);
    let mut seen = 0;
    let summary = archive.run(&mut |counts| {
        // Often enough to see the peaks between two chunks.
        if counts.bytes < seen + (8 << 20) {
            return;
        }
        seen = counts.bytes;
        let now = resident();
        peak = peak.max(now);
        if counts.bytes >= most / 10 * (samples.len() as u64 + 1) {
            let gigabytes = counts.bytes as f64 / 1e9;
            let seconds = begin.elapsed().as_secs_f64();
            println!("{:>12}{gigabytes:>10.2}{:>12}{:>12}{seconds:>12.0}", counts.messages, now >> 20, peak >> 20);
            samples.push(peak);
            peak = 0;
        }
    });
    let counts = summary.expect("tables").counts;
    let tables: u64 = files::below(root, &["parquet"]).iter().map(|path| size(path)).sum();
    println!("\n{} messages, {} errors, {} MB of tables", counts.messages, counts.errors, tables / 1_000_000);
    assert!(counts.errors == 0 && samples.len() >= 9, "{counts:?}, {} samples", samples.len());
    let later = samples[1..].iter().copied().max().unwrap_or_default();
    match later <= samples[0] + ALLOWED {
        true => ExitCode::SUCCESS,
        false => {
            println!("memory grew from {} to {} MB", samples[0] >> 20, later >> 20);
            ExitCode::FAILURE
        }
    }
}

fn size(path: &Path) -> u64 {
    path.metadata().map_or(0, |it| it.len())
}

/// Returns the memory of this process in bytes.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}
