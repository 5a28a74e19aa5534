//! `validate`: reports what is invalid in messages.

use super::{contract, security};
use crate::cli::Validate;
use crate::files;
use crate::output::{one_line, print_line, report, with_causes};
use anyhow::{Context as _, Result, anyhow};
use bytes::Bytes;
use deltasoap::security::SecurityError;
use deltasoap_archive::{Message, message_in};
use deltasoap_dynamic::{Contract, Finding};
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;

/// Prints the findings; fails if there are any.
pub fn validate(arguments: &Validate) -> Result<ExitCode> {
    let contract = contract(&arguments.description)?;
    let mut is_good = true;
    for path in &arguments.messages {
        match content(path) {
            Ok(content) => is_good &= validated(arguments, &contract, path, &content)?,
            Err(error) => {
                is_good = false;
                report(format_args!("error: {}", with_causes(error.as_ref())));
            }
        }
    }
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns true if the message is valid.
fn validated(arguments: &Validate, contract: &Contract, path: &Path, message: &Message) -> Result<bool> {
    let findings = contract.validate_with_parts(&message.bytes, &|uri| message.part(uri).cloned());
    findings.iter().try_for_each(|finding| print(arguments, path, finding))?;
    let verified = match &arguments.verify {
        Some(certificates) => Some(security::verify(&message.bytes, certificates)?),
        None => None,
    };
    if let Some(Err(error)) = &verified {
        print_insecure(arguments, path, error)?;
    }
    let is_valid = findings.is_empty() && !matches!(verified, Some(Err(_)));
    if is_valid && !arguments.json {
        match verified {
            Some(Ok(Some(sender))) => print_line(format_args!("{}: ok, from {}", path.display(), one_line(&sender)))?,
            Some(_) => print_line(format_args!("{}: ok, but nothing proves its sender", path.display()))?,
            None => print_line(format_args!("{}: ok", path.display()))?,
        }
    }
    Ok(is_valid)
}

fn print_insecure(arguments: &Validate, path: &Path, error: &SecurityError) -> Result<()> {
    let message = error.to_string();
    if arguments.json {
        return print_line(json!({ "file": path.display().to_string(), "security": message }));
    }
    print_line(format_args!("{}: not secure: {}", path.display(), one_line(&message)))
}

/// Reads the message in a file, or on standard input.
fn content(path: &Path) -> Result<Message> {
    let content = match path == Path::new("-") {
        true => files::read_all(std::io::stdin()).context("standard input cannot be read")?,
        false => files::read(path)?,
    };
    message_in(Bytes::from(content)).map_err(|why| anyhow!("{}: no message: {why}", path.display()))
}

fn print(arguments: &Validate, path: &Path, finding: &Finding) -> Result<()> {
    let Finding { line, column, path: place, message } = finding;
    if arguments.json {
        let file = path.display().to_string();
        print_line(json!({ "file": file, "line": line, "column": column, "path": place, "message": message }))
    } else {
        print_line(format_args!("{}:{}", path.display(), one_line(&finding.to_string())))
    }
}
