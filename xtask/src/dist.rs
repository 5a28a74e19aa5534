//! `cargo xtask dist`: the command `deltasoap` as it is distributed, in one archive.
//!
//! The archive has the program, shell completions, manual pages, licences and the changelog, in the
//! folders below a prefix such as `/usr/local`.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::{shell, stamp};

/// Shells with the places of their completion scripts.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/deltasoap"),
    ("zsh", "share/zsh/site-functions/_deltasoap"),
    ("fish", "share/fish/vendor_completions.d/deltasoap.fish"),
];

const DOCUMENTS: &str = "share/doc/deltasoap";

/// Files of the repository that belong to the program.
const TEXTS: [&str; 4] = ["crates/deltasoap-cli/README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Beginnings of the names of files that contain licences, in upper case.
const LICENCES: [&str; 5] = ["LICEN", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

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
    fill(&root, &target.join("deltasoap"), &folder)?;
    let archive = target.join(format!("{name}.tar.gz"));
    let tar = ["--owner=0", "--group=0", "--sort=name", "-C"];
    shell::run(shell::command("tar", tar).arg(&target).arg("-czf").arg(&archive).arg(&name))?;
    let kib = |path: &Path| Ok::<_, anyhow::Error>(fs::metadata(path)?.len() / 1024);
    println!(
        "{} ({} KiB; the program has {} KiB)",
        archive.display(),
        kib(&archive)?,
        kib(&folder.join("bin/deltasoap"))?
    );
    Ok(ExitCode::SUCCESS)
}

fn fill(root: &Path, program: &Path, folder: &Path) -> Result<()> {
    put(folder, "bin/deltasoap", |path| fs::copy(program, path).map(drop).context("cannot copy the program"))?;
    let program = program.to_string_lossy();
    for (kind, place) in COMPLETIONS {
        let script = shell::output(&mut shell::command(&program, ["completions", kind]))?;
        put(folder, place, |path| Ok(fs::write(path, script)?))?;
    }
    put(folder, "share/man/man1", |path| shell::run(shell::command(&program, ["man", "--dir"]).arg(path)))?;
    for text in TEXTS {
        let name = text.rsplit('/').next().unwrap_or(text);
        let copy =
            |path: &Path| fs::copy(root.join(text), path).map(drop).with_context(|| format!("cannot copy {text}"));
        put(folder, &format!("{DOCUMENTS}/{name}"), copy)?;
    }
    put(folder, &format!("{DOCUMENTS}/THIRD-PARTY.txt"), |path| Ok(fs::write(path, notices()?)?))
}

/// Creates the folders above a place, and then what belongs there.
fn put(folder: &Path, place: &str, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let path = folder.join(place);
    shell::create_folder(path.parent().unwrap_or(folder))?;
    write(&path).with_context(|| format!("cannot write {place}"))
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    manifest_path: PathBuf,
    license: Option<String>,
    authors: Vec<String>,
    /// None for our own.
    source: Option<String>,
}

impl Package {
    /// Returns the texts of its licences, or what the manifest says if it has no such files.
    fn licences(&self) -> Result<Vec<String>> {
        let folder = self.manifest_path.parent().context("a manifest has a folder")?;
        let paths = licences(folder, &LICENCES)?;
        if paths.is_empty() {
            let licence = self.license.as_deref().unwrap_or("no licence");
            return Ok(vec![format!("{licence}\n\n{}", self.authors.join("\n"))]);
        }
        paths.iter().map(|path| Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned())).collect()
    }
}

/// Returns the licences of all that is compiled into the program and is not ours, each once, after
/// the names of the packages that it covers.
fn notices() -> Result<String> {
    let mut covered: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in third_parties()? {
        let name = format!("{} {}", package.name, package.version);
        for text in package.licences()? {
            covered.entry(text).or_default().push(name.clone());
        }
    }
    for path in licences(&shell::root().join("crates/deltasoap-streams/data/licenses"), &[""])? {
        covered.entry(fs::read_to_string(path)?).or_default().push("recorded messages".to_owned());
    }
    let sections = covered.into_iter().map(|(text, mut names)| {
        names.dedup();
        format!("{}\n\n{}\n", names.join(", "), text.trim())
    });
    let rule = format!("\n{}\n\n", "-".repeat(80));
    Ok(sections.collect::<Vec<_>>().join(&rule))
}

/// Returns the packages of others that the program is linked with.
fn third_parties() -> Result<Vec<Package>> {
    let linked = linked()?;
    let mut packages = metadata()?.packages;
    packages.retain(|it| it.source.is_some() && linked.contains(&(it.name.clone(), it.version.clone())));
    packages.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    Ok(packages)
}

/// Returns names and versions of the packages that the program is linked with.
fn linked() -> Result<HashSet<(String, String)>> {
    let tree = ["tree", "--locked", "-p", "deltasoap-cli", "--edges", "normal", "--prefix", "none", "--format", "{p}"];
    let tree = shell::output(shell::command("cargo", tree).current_dir(shell::root()))?;
    let words = tree.lines().map(|line| line.split(' '));
    Ok(words
        .filter_map(|mut words| Some((words.next()?.to_owned(), words.next()?.strip_prefix('v')?.to_owned())))
        .collect())
}

fn metadata() -> Result<Metadata> {
    let host = shell::host()?;
    let arguments = ["metadata", "--format-version", "1", "--locked", "--filter-platform", &host];
    Ok(serde_json::from_str(&shell::output(shell::command("cargo", arguments).current_dir(shell::root()))?)?)
}

/// Returns the files of a folder whose names begin like these.
fn licences(folder: &Path, beginnings: &[&str]) -> Result<Vec<PathBuf>> {
    let mut paths = stamp::files_in(folder)?;
    paths.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        beginnings.iter().any(|beginning| name.starts_with(beginning))
    });
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences_of_others_are_in_the_notices() {
        let names: Vec<_> = third_parties().unwrap().into_iter().map(|package| package.name).collect();
        let has = |name: &str| names.iter().any(|it| it == name);
        assert!(["hyper", "ring", "tokio", "webpki-roots"].into_iter().all(has), "{names:?}");
        assert!(!["deltasoap", "proptest", "windows-sys"].into_iter().any(has), "{names:?}");
        let notices = notices().unwrap();
        for text in ["Tokio Contributors", "Community Data License Agreement", "Artistic License 2.0", "include_dir 0."]
        {
            assert!(notices.contains(text), "{text}");
        }
    }
}
