//! `cargo xtask dist`: the command `deltasoap` as it is distributed, in one archive.
//!
//! The archive has the program, shell completions, manual pages, licences and the change log, in
//! the folders that packagers expect.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::shell;

/// Shells with the names of their completion scripts.
const COMPLETIONS: [(&str, &str); 3] = [("bash", "deltasoap"), ("zsh", "_deltasoap"), ("fish", "deltasoap.fish")];

/// Files of the repository that belong to the program.
const TEXTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

pub fn run() -> Result<ExitCode> {
    let root = shell::root();
    let build = ["build", "--quiet", "--locked", "--profile", "dist", "-p", "deltasoap-cli"];
    shell::run(shell::command("cargo", build).current_dir(&root))?;
    let name = format!("deltasoap-{}-{}", env!("CARGO_PKG_VERSION"), shell::host()?);
    let target = root.join("target/dist");
    let folder = target.join(&name);
    if folder.exists() {
        fs::remove_dir_all(&folder).context("cannot remove the previous archive's folder")?;
    }
    shell::create_folder(&folder)?;
    fill(&root, &target.join("deltasoap"), &folder)?;
    let archive = target.join(format!("{name}.tar.gz"));
    shell::run(shell::command("tar", ["-C"]).arg(&target).arg("-czf").arg(&archive).arg(&name))?;
    println!("{} ({} KiB)", archive.display(), fs::metadata(&archive)?.len() / 1024);
    Ok(ExitCode::SUCCESS)
}

fn fill(root: &Path, program: &Path, folder: &Path) -> Result<()> {
    for part in ["bin", "completions", "man"] {
        shell::create_folder(&folder.join(part))?;
    }
    fs::copy(program, folder.join("bin/deltasoap")).context("cannot copy the program")?;
    let program = program.to_string_lossy();
    for (kind, file) in COMPLETIONS {
        let script = shell::output(&mut shell::command(&program, ["completions", kind]))?;
        fs::write(folder.join("completions").join(file), script)?;
    }
    shell::run(shell::command(&program, ["man", "--dir"]).arg(folder.join("man")))?;
    for text in TEXTS {
        fs::copy(root.join(text), folder.join(text)).with_context(|| format!("cannot copy {text}"))?;
    }
    Ok(())
}
