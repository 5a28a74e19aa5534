//! Starting programs, and the places in the repository.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

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

/// Writes a script that a shell turns into the program that `command` starts.
pub fn write_program(program: &Path, command: &str) -> Result<()> {
    let script = format!("#!/bin/sh\n{command}\n");
    fs::write(program, script).with_context(|| format!("cannot write {}", program.display()))?;
    Ok(fs::set_permissions(program, fs::Permissions::from_mode(0o755))?)
}

/// A command with its arguments.
pub fn command<A: AsRef<std::ffi::OsStr>>(program: &str, arguments: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

/// `cargo run` of one of our programs that tests and does not measure: optimised, but quick to build. Where the environment makes
/// release builds as quick, it is one of those, and shares what they have built.
pub fn cargo_run(package: &str) -> Command {
    let is_quick = std::env::var_os("CARGO_PROFILE_RELEASE_LTO").is_some_and(|lto| lto == "off");
    let profile = if is_quick { "release" } else { "fast" };
    let mut cargo = command("cargo", ["run", "--quiet", "--profile", profile, "--locked", "-p", package, "--"]);
    cargo.current_dir(root());
    cargo
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

/// Runs a command to its end with the output that it has; says whether it succeeded.
///
/// # Errors
/// When it cannot be started, or runs longer than `limit`: it is killed then.
pub fn passes_within(limit: Duration, command: &mut Command) -> Result<bool> {
    let mut process = command.spawn().with_context(|| format!("cannot start {}", show(command)))?;
    let start = Instant::now();
    loop {
        if let Some(status) = process.try_wait()? {
            return Ok(status.success());
        }
        if start.elapsed() >= limit {
            process.kill()?;
            process.wait()?;
            bail!("{} was killed after {limit:?}", show(command));
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// The command as one would type it, without quoting.
pub fn show(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// The target triple that rustc builds for by default.
pub fn host() -> Result<String> {
    let text = output(&mut command("rustc", ["-vV"]))?;
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned).context("rustc does not say what its host is")
}

/// Whether `stamp` holds exactly `content`: that is, whether the work it stands for has been done.
pub fn is_stamped(stamp: &Path, content: &str) -> bool {
    std::fs::read_to_string(stamp).is_ok_and(|written| written == content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_was_written_runs() {
        let program = workspace("tests").unwrap().join("greet");
        write_program(&program, "exec echo 'well done'").unwrap();
        assert_eq!(output(&mut Command::new(&program)).unwrap(), "well done\n");
        write_program(&program, "echo no >&2; exit 3").unwrap();
        let error = run(&mut Command::new(&program)).unwrap_err().to_string();
        assert!(error.contains("no") && error.contains('3'), "{error}");
    }

    #[test]
    fn a_program_that_does_not_end_is_killed() {
        let run = |program, argument| passes_within(Duration::from_millis(200), &mut command(program, [argument]));
        assert!(run("true", "").unwrap() && !run("false", "").unwrap());
        let (start, error) = (Instant::now(), run("sleep", "100").unwrap_err().to_string());
        assert!(start.elapsed() < Duration::from_secs(50) && error.contains("sleep 100 was killed"), "{error}");
    }

    #[test]
    fn work_is_done_where_the_stamp_says_the_same() {
        let stamp = workspace("tests").unwrap().join("stamp");
        fs::write(&stamp, "1").unwrap();
        assert!(is_stamped(&stamp, "1") && !is_stamped(&stamp, "2") && !is_stamped(Path::new("/nowhere"), "1"));
    }
}
