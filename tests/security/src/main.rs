//! WS-Security beside zeep, xmlsec and signxml: they verify what we sign, and we verify what they
//! sign. `cargo xtask security` installs them and runs this program.
//!
//! [`ours`] writes messages with every algorithm, reference to the key and version of SOAP,
//! [`theirs`] reads those of the others. Each message is also changed, and then must be refused.

#![forbid(unsafe_code)]

mod keys;
mod ours;
mod theirs;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};
use clap::Parser as _;

#[derive(clap::Parser)]
#[command(about = "Compares WS-Security with zeep, xmlsec and signxml")]
struct Arguments {
    /// A Python 3 with them
    #[arg(long, default_value = "python3")]
    python: PathBuf,
    /// Keep the messages in this folder
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<bool> {
    let temporary = tempfile::tempdir()?;
    let folder = match &arguments.keep {
        Some(folder) => {
            std::fs::create_dir_all(folder)?;
            folder.canonicalize()?
        }
        None => temporary.path().to_owned(),
    };
    keys::write(&folder)?;
    let is_ours_good = ours::compare(&folder, |task| oracle(&arguments.python, task, &folder))?;
    let is_theirs_good = theirs::compare(&folder, |task| oracle(&arguments.python, task, &folder))?;
    Ok(is_ours_good && is_theirs_good)
}

/// Runs a task of `oracle.py`; returns what it prints.
fn oracle(python: &Path, task: &str, folder: &Path) -> Result<String> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("oracle.py");
    let mut command = Command::new(python);
    command.arg("-B").arg(program).arg(task).arg(folder).stderr(std::process::Stdio::inherit());
    let output = command.output().with_context(|| format!("cannot start {}", python.display()))?;
    ensure!(output.status.success(), "oracle.py {task} ended with {}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}
