//! `cargo xtask archives`: the SQL of the guide over the tables of an archive, in DuckDB; and how fast
//! messages become Arrow record batches, beside xml2arrow.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};

use crate::python;
use crate::shell::{self, Profile};

#[derive(clap::Args)]
pub struct Arguments {
    /// Instead of running the guide's SQL, measure how fast messages become Arrow record batches, beside
    /// xml2arrow, and print a table
    #[arg(long)]
    figures: bool,
}

/// The streams that xml2arrow can read: it has columns for texts and numbers alone.
const STREAMS: [&str; 2] = ["doubles", "invoices"];
/// Number of times that the programs are started, in turn. The best of each counts.
const ROUNDS: usize = 3;

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    if arguments.figures { figures() } else { queries() }
}

fn queries() -> Result<ExitCode> {
    let folder = shell::root().join("tests/archive");
    let python = python::environment("duckdb", &folder.join("requirements.txt"))?;
    shell::build(&["deltasoap-cli"], Profile::Release)?;
    let program = shell::built("deltasoap-cli", Profile::Release);
    let mut command = shell::command(&python.to_string_lossy(), [folder.join("queries.py"), program]);
    print!("{}", shell::output(&mut command)?);
    Ok(ExitCode::SUCCESS)
}

/// What one start of our program measured.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Speed {
    full: f64,
    differential: f64,
}

fn figures() -> Result<ExitCode> {
    let peer = shell::root().join("bench/peers/xml2arrow");
    let python = python::environment("xml2arrow", &peer.join("requirements.txt"))?;
    let exported = shell::workspace("xml2arrow")?.join("messages");
    let (mut ours, mut theirs) = ([Speed::default(); STREAMS.len()], [0.0_f64; STREAMS.len()]);
    for _ in 0..ROUNDS {
        for (index, stream) in STREAMS.iter().enumerate() {
            let speed = our_speed(stream, &exported)?;
            ours[index].full = ours[index].full.max(speed.full);
            ours[index].differential = ours[index].differential.max(speed.differential);
            let mut command = shell::command(&python.to_string_lossy(), [peer.join("measure.py")]);
            let printed = shell::output(command.arg(&exported).arg(stream))?;
            theirs[index] = theirs[index].max(printed.trim().parse().context("no number")?);
        }
    }
    println!(
        "| stream | xml2arrow, MB/s | deltasoap, MB/s | times | differential, MB/s | times |\n|---|--:|--:|--:|--:|--:|"
    );
    for ((stream, ours), theirs) in STREAMS.iter().zip(ours).zip(theirs) {
        let Speed { full, differential } = ours;
        let (times, more) = (full / theirs, differential / theirs);
        println!("| {stream} | {theirs:.0} | {full:.0} | {times:.1} | {differential:.0} | {more:.1} |");
    }
    Ok(ExitCode::SUCCESS)
}

/// Measures our program, which also writes the messages.
fn our_speed(stream: &str, exported: &Path) -> Result<Speed> {
    let options = ["run", "--quiet", "--release", "--locked", "-p", "deltasoap-arrow", "--example", "throughput", "--"];
    let mut command = shell::command("cargo", options);
    let printed = shell::output(command.arg(stream).arg("--export").arg(exported).current_dir(shell::root()))?;
    speed_of(stream, &printed)
}

fn speed_of(stream: &str, printed: &str) -> Result<Speed> {
    let line = printed.lines().find(|line| line.split_whitespace().next() == Some(stream)).context("no line")?;
    let words: Vec<&str> = line.split_whitespace().collect();
    ensure!(words.len() == 5, "{line:?} has not five words");
    Ok(Speed { full: words[3].parse()?, differential: words[4].parse()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_the_stream() {
        let printed = "stream  messages  bytes  full, MB/s  differential\ndoubles  24  9000  900  1950\n";
        assert_eq!(speed_of("doubles", printed).unwrap(), Speed { full: 900.0, differential: 1950.0 });
        assert!(speed_of("invoices", printed).is_err());
    }
}
