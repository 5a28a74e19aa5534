//! `cargo xtask licences`: checks that `deny.toml` allows the licence of every dependency.
//!
//! `cargo deny check` does this and more, but takes minutes to install; this is the part that CI
//! needs.

use std::process::ExitCode;

use anyhow::{Context, Result};
use serde::Deserialize;
use spdx::{Expression, ParseMode};

use crate::shell;

#[derive(Deserialize)]
struct Deny {
    licenses: Licenses,
}

#[derive(Deserialize)]
struct Licenses {
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
}

pub fn run() -> Result<ExitCode> {
    let allowed = allowed()?;
    let packages = packages()?;
    let refused: Vec<&Package> = packages.iter().filter(|package| !is_allowed(package, &allowed)).collect();
    for package in &refused {
        let licence = package.license.as_deref().unwrap_or("none named");
        println!("{} {}: {licence} is not allowed by deny.toml", package.name, package.version);
    }
    println!("{} of {} packages have an allowed licence", packages.len() - refused.len(), packages.len());
    Ok(if refused.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn allowed() -> Result<Vec<String>> {
    let text = std::fs::read_to_string(shell::root().join("deny.toml")).context("cannot read deny.toml")?;
    let deny: Deny = toml::from_str(&text).context("deny.toml is not as expected")?;
    Ok(deny.licenses.allow)
}

fn packages() -> Result<Vec<Package>> {
    let mut command = shell::command("cargo", ["metadata", "--format-version", "1", "--locked"]);
    let metadata: Metadata = serde_json::from_str(&shell::output(command.current_dir(shell::root()))?)?;
    Ok(metadata.packages)
}

fn is_allowed(package: &Package, allowed: &[String]) -> bool {
    let Some(licence) = &package.license else { return false };
    let Ok(expression) = Expression::parse_mode(licence, ParseMode::LAX) else { return false };
    expression.evaluate(|requirement| allowed.contains(&requirement.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_evaluated() {
        let allowed = ["MIT".to_owned(), "Zlib".to_owned(), "Apache-2.0 WITH LLVM-exception".to_owned()];
        let package = |licence: Option<&str>| Package {
            name: String::new(),
            version: String::new(),
            license: licence.map(str::to_owned),
        };
        for good in ["MIT", "MIT OR GPL-3.0", "MIT/Apache-2.0", "MIT AND Zlib", "Apache-2.0 WITH LLVM-exception"] {
            assert!(is_allowed(&package(Some(good)), &allowed), "{good}");
        }
        for bad in [Some("GPL-3.0"), Some("MIT AND GPL-3.0"), Some("no licence"), None] {
            assert!(!is_allowed(&package(bad), &allowed), "{bad:?}");
        }
    }
}
