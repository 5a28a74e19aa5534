//! Starting programs, and the folders of the repository.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Returns the root of the repository.
pub fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().expect("xtask lies in the repository").to_owned()
}

/// Returns the folder for everything that a task installs or builds for `name`; creates it if
/// missing.
pub fn workspace(name: &str) -> Result<PathBuf> {
    let folder = root().join(".peers").join(name);
    create_folder(&folder)?;
    Ok(folder)
}

/// Creates a folder and those above it.
pub fn create_folder(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))
}

/// Writes a shell script that runs `command`.
pub fn write_program(program: &Path, command: &str) -> Result<()> {
    let script = format!("#!/bin/sh\n{command}\n");
    fs::write(program, script).with_context(|| format!("cannot write {}", program.display()))?;
    Ok(fs::set_permissions(program, fs::Permissions::from_mode(0o755))?)
}

/// Returns a command with its arguments.
pub fn command<A: AsRef<std::ffi::OsStr>>(program: &str, arguments: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

/// The build profile of one of our programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// The profile of tests.
    Dev,
    /// For programs that are measured or demonstrated.
    Release,
    /// Optimized, but quick to build: for programs that test and do not measure.
    Fast,
}

/// Set if all our programs were built beforehand, with one set of features. `.ci/run` does so,
/// since cargo rebuilds dependencies for each package that is selected alone.
const BUILT: &str = "XTASK_BUILT";

/// Returns the command of one of our programs, without arguments: cargo builds and starts it. On
/// Unix cargo becomes the program that it runs, so killing the process kills the program.
pub fn ours(package: &str, profile: Profile) -> Command {
    let mut command = if is_built() {
        Command::new(built(package, profile))
    } else {
        let profile = match profile {
            Profile::Dev => "dev",
            Profile::Release => "release",
            Profile::Fast => "fast",
        };
        command("cargo", ["run", "--quiet", "--profile", profile, "--locked", "-p", package, "--"])
    };
    command.current_dir(root());
    command
}

/// Builds programs whose start must not take long.
pub fn build(packages: &[&str], profile: Profile) -> Result<()> {
    build_with(packages, &[], profile)
}

/// Builds packages with features that are off by default.
///
/// # Errors
/// Returns an error if they cannot be built.
pub fn build_with(packages: &[&str], features: &[&str], profile: Profile) -> Result<()> {
    if is_built() {
        return Ok(());
    }
    let profile = if profile == Profile::Dev { "dev" } else { "release" };
    let mut cargo = command("cargo", ["build", "--quiet", "--locked", "--profile", profile]);
    cargo.args(features.iter().flat_map(|feature| ["--features", feature]));
    run(cargo.args(packages.iter().flat_map(|package| ["-p", package])).current_dir(root()))
}

fn is_built() -> bool {
    std::env::var_os(BUILT).is_some()
}

/// Returns the path of one of our programs: next to this one, or in a neighbouring folder.
pub fn built(package: &str, profile: Profile) -> PathBuf {
    let folder = if profile == Profile::Dev { "debug" } else { "release" };
    let program = if package == "deltasoap-cli" { "deltasoap" } else { package };
    let own = std::env::current_exe().unwrap_or_default();
    let target = own.parent().and_then(Path::parent).map_or_else(|| root().join("target"), Path::to_owned);
    target.join(folder).join(program)
}

/// Runs a command quietly to completion. Its output is shown only if it fails.
pub fn run(command: &mut Command) -> Result<()> {
    output(command).map(drop)
}

/// Runs a command to completion and returns its standard output.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start {}", show(command)))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        bail!("{} failed ({}):\n{text}{complaint}", show(command), output.status);
    }
    Ok(text)
}

/// Runs a command to completion, with its output shown; returns whether it succeeded.
///
/// # Errors
/// Returns an error if it cannot be started, or runs longer than `limit`: then it is killed.
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

/// Formats the command as one would type it, without quoting.
pub fn show(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Returns the target triple that rustc builds for by default.
pub fn host() -> Result<String> {
    let text = output(&mut command("rustc", ["-vV"]))?;
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned).context("rustc did not report its host")
}

/// Returns true if `stamp` contains exactly `content`: the work that it stands for has been done.
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
