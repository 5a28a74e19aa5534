//! `cargo xtask packages`: makes the packages that are published, and checks what is in them.
//!
//! They are not built, which takes long: `cargo publish --workspace --dry-run` does that before a
//! release.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::shell;

/// What crates.io accepts, in bytes.
const LARGEST: u64 = 10 << 20;

/// Files that each package contains.
const FILES: [&str; 5] = ["Cargo.toml", "Cargo.lock", "README.md", "LICENSE-MIT", "LICENSE-APACHE"];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    target_directory: String,
}

#[derive(Deserialize)]
pub struct Package {
    pub name: String,
    version: String,
    /// The registries that it may be published to: none, or if missing all.
    publish: Option<Vec<String>>,
    description: Option<String>,
    license: Option<String>,
    repository: Option<String>,
    pub rust_version: Option<String>,
    keywords: Vec<String>,
    categories: Vec<String>,
    metadata: Option<serde_json::Value>,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
}

/// Returns the packages that are published.
pub fn published() -> Result<Vec<Package>> {
    let mut packages = metadata()?.packages;
    packages.retain(|package| package.publish.is_none());
    Ok(packages)
}

pub fn run() -> Result<ExitCode> {
    let (packages, target_directory) = (published()?, metadata()?.target_directory);
    make(&packages)?;
    let mut faults = Vec::new();
    for package in &packages {
        let archive = format!("{target_directory}/package/{}-{}.crate", package.name, package.version);
        let (size, files) = (fs::metadata(&archive).context("no archive")?.len(), files(Path::new(&archive))?);
        println!("{:<24}{:>4} files{:>6} KiB", package.name, files.len(), size.div_ceil(1024));
        let found = package.missing().into_iter().map(|field| format!("{field} is missing in Cargo.toml"));
        let found = found.chain(faults_in(&files)).chain((size > LARGEST).then(|| "it is too large".to_owned()));
        faults.extend(found.map(|fault| format!("{}: {fault}", package.name)));
    }
    println!("{} packages, {} faults", packages.len(), faults.len());
    faults.iter().for_each(|fault| println!("{fault}"));
    Ok(if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn metadata() -> Result<Metadata> {
    let mut command = shell::command("cargo", ["metadata", "--format-version", "1", "--no-deps", "--locked"]);
    Ok(serde_json::from_str(&shell::output(command.current_dir(shell::root()))?)?)
}

/// Makes the archives, of the files as they are. Cargo refuses dependencies that are not published.
fn make(packages: &[Package]) -> Result<()> {
    let mut cargo = shell::command("cargo", ["package", "--quiet", "--locked", "--no-verify", "--allow-dirty"]);
    shell::run(cargo.args(packages.iter().flat_map(|package| ["-p", &package.name])).current_dir(shell::root()))
}

/// Returns the files of a package, without the folder that contains all.
fn files(archive: &Path) -> Result<Vec<String>> {
    let listed = shell::output(shell::command("tar", ["-tzf"]).arg(archive))?;
    Ok(listed.lines().filter_map(|line| Some(line.split_once('/')?.1.to_owned())).collect())
}

impl Package {
    /// Returns the fields that crates.io and docs.rs show or use, and this package does not have.
    fn missing(&self) -> Vec<&'static str> {
        let is_library = self.targets.iter().any(|it| it.kind.iter().any(|kind| kind == "lib" || kind == "proc-macro"));
        let documented = self.metadata.as_ref().is_some_and(|metadata| metadata["docs"]["rs"].is_object());
        let fields = [
            ("description", self.description.is_some()),
            ("license", self.license.is_some()),
            ("repository", self.repository.is_some()),
            ("rust-version", self.rust_version.is_some()),
            ("keywords", !self.keywords.is_empty()),
            ("categories", !self.categories.is_empty()),
            ("metadata.docs.rs", documented || !is_library),
        ];
        fields.into_iter().filter(|(_, is_there)| !is_there).map(|(field, _)| field).collect()
    }
}

/// Returns what is wrong with the files of a package. Tests stay out, but for data that examples in
/// the documentation read.
fn faults_in(files: &[String]) -> Vec<String> {
    let missing = FILES.iter().filter(|name| !files.iter().any(|file| file == *name));
    let surplus = files.iter().filter(|file| file.starts_with("tests/") && file.ends_with(".rs"));
    let missing = missing.map(|name| format!("{name} is not in it"));
    missing.chain(surplus.map(|name| format!("{name} is in it"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_lack_no_field() {
        let published = published().unwrap();
        assert!(published.len() > 10);
        for package in published {
            assert_eq!(package.missing(), [""; 0], "{}", package.name);
        }
    }

    #[test]
    fn fields_and_files_that_are_missing_are_found() {
        let text = r#"{"name": "a", "version": "1.0.0", "description": "A", "license": "MIT", "rust_version": "1.90",
            "keywords": [], "categories": ["encoding"], "metadata": {"docs": {}}, "targets": [{"kind": ["lib"]}]}"#;
        let mut package: Package = serde_json::from_str(text).unwrap();
        assert_eq!(package.missing(), ["repository", "keywords", "metadata.docs.rs"]);
        package.targets[0].kind = vec!["bin".to_owned()];
        assert_eq!(package.missing(), ["repository", "keywords"]);
        let files = ["Cargo.toml", "Cargo.lock", "LICENSE-MIT", "LICENSE-APACHE", "tests/it.rs", "tests/data/a.wsdl"];
        assert_eq!(faults_in(&files.map(str::to_owned)), ["README.md is not in it", "tests/it.rs is in it"]);
    }
}
