//! `validate`: what is wrong with messages.

use super::{contract, print_line};
use crate::cli::Validate;
use crate::replay::message_of;
use anyhow::{Context as _, Result};
use deltasoap_dynamic::Finding;
use serde_json::json;
use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;

/// Prints what is wrong; fails if anything is.
pub fn validate(arguments: &Validate) -> Result<ExitCode> {
    let contract = contract(&arguments.description)?;
    let mut is_good = true;
    for path in &arguments.messages {
        let findings = contract.validate(&content(path)?);
        is_good &= findings.is_empty();
        findings.iter().try_for_each(|finding| print(arguments, path, finding))?;
        if findings.is_empty() && !arguments.json {
            print_line(format_args!("{}: ok", path.display()))?;
        }
    }
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn content(path: &Path) -> Result<Vec<u8>> {
    if path != Path::new("-") {
        return message_of(path).map(Vec::from).map_err(|why| anyhow::anyhow!("{}: {why}", path.display()));
    }
    let mut content = Vec::new();
    std::io::stdin().read_to_end(&mut content).context("standard input cannot be read")?;
    Ok(content)
}

fn print(arguments: &Validate, path: &Path, finding: &Finding) -> Result<()> {
    let Finding { line, column, path: place, message } = finding;
    if arguments.json {
        let file = path.display().to_string();
        print_line(json!({ "file": file, "line": line, "column": column, "path": place, "message": message }))
    } else {
        print_line(format_args!("{}:{finding}", path.display()))
    }
}
