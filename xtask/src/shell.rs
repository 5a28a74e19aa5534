//! Starting programs, and the places in the repository.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The root of the repository.
pub fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().expect("xtask lies in the repository").to_owned()
}

/// The folder for everything that a task installs or builds for `name`; created if missing.
pub fn workspace(name: &str) -> Result<PathBuf> {
    let folder = root().join(".peers").join(name);
    create_folder(&folder)?;
    Ok(folder)
}

/// Creates a folder and those above it.
pub fn create_folder(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))
}

/// A command with its arguments.
pub fn command<A: AsRef<std::ffi::OsStr>>(program: &str, arguments: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

/// Runs a command quietly to its end. Its output is shown only if it fails.
pub fn run(command: &mut Command) -> Result<()> {
    output(command).map(drop)
}

/// Runs a command to its end and gives its standard output.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start {}", show(command)))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        bail!("{} failed ({}):\n{text}{complaint}", show(command), output.status);
    }
    Ok(text)
}

/// The command as one would type it, without quoting.
pub fn show(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Whether `stamp` holds exactly `content`: that is, whether the work it stands for has been done.
pub fn is_stamped(stamp: &Path, content: &str) -> bool {
    std::fs::read_to_string(stamp).is_ok_and(|written| written == content)
}
