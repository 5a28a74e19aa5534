//! The commands that work by a WSDL alone.

mod call;
mod compile;
mod generate;
mod look;
mod mock;
mod pages;
mod tap;
mod validate;

pub use call::call;
pub use compile::compile;
pub use generate::generate;
pub use look::{describe, list, template};
pub use mock::mock;
pub use pages::{completions, man};
pub use validate::validate;

use crate::cli::Description;
use anyhow::{Context as _, Result};
use deltasoap_dynamic::{Contract, Operation};
use deltasoap_wsdl::{Import, Importer};
use serde_json::Value as Json;
use std::fmt::Display;
use std::io::{self, Write as _};

/// Imports what the arguments name, ready to be used.
fn contract(description: &Description) -> Result<Contract> {
    import(description).map(Contract::from)
}

/// Imports what the arguments name.
fn import(description: &Description) -> Result<Import> {
    let mut importer = Importer::new();
    if description.offline && !description.wsdl.starts_with("http") {
        importer = importer.offline();
    }
    if description.allow_private {
        importer = importer.allow_private();
    }
    if let Some(root) = &description.root {
        importer = importer.root(root);
    }
    importer.import(&description.wsdl).with_context(|| format!("{} cannot be imported", description.wsdl))
}

/// An operation, or what to do to find its name.
fn operation(contract: &Contract, description: &Description, name: &str) -> Result<Operation> {
    let found = contract.operation(name);
    found.with_context(|| format!("`deltasoap list {}` shows all operations", description.wsdl))
}

/// Prints JSON for people.
fn print_json(json: &Json) -> Result<()> {
    print_line(serde_json::to_string_pretty(json)?)
}

/// Prints a line. Who reads may have seen enough, as `head` has: that is an error here, and none for the command.
fn print_line(line: impl Display) -> Result<()> {
    Ok(writeln!(io::stdout(), "{line}")?)
}
