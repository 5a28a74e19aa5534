//! The commands that work by a WSDL alone.

mod access;
mod call;
mod compile;
mod documents;
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
use deltasoap_wsdl::fetch::{Fetch, WebClient};
use deltasoap_wsdl::{Import, Importer};
use serde_json::Value as Json;
use std::fmt::Display;
use std::io::{self, Write as _};
use url::Url;

/// Imports what the arguments name, ready to be used.
fn contract(description: &Description) -> Result<Contract> {
    contract_with(description, |client| client)
}

/// Imports what the arguments name, by what is made of the client for documents from the network.
fn contract_with<F: Fetch + Send + Sync + 'static>(
    description: &Description,
    make: impl FnOnce(WebClient) -> F,
) -> Result<Contract> {
    import_by(&importer(description, make)?, description).map(Contract::from)
}

/// Imports what the arguments name.
fn import(description: &Description) -> Result<Import> {
    import_by(&importer(description, |client| client)?, description)
}

fn import_by(importer: &Importer, description: &Description) -> Result<Import> {
    importer.import(&description.wsdl).with_context(|| format!("{} cannot be imported", description.wsdl))
}

/// The importer that the arguments ask for.
fn importer<F: Fetch + Send + Sync + 'static>(
    description: &Description,
    make: impl FnOnce(WebClient) -> F,
) -> Result<Importer> {
    let mut importer = Importer::new();
    match Url::parse(&description.wsdl).ok().filter(|url| matches!(url.scheme(), "http" | "https")) {
        Some(url) => importer = importer.fetch_with(make(access::web_client(&url, &description.access)?)),
        None if description.offline => importer = importer.offline(),
        None => {}
    }
    if description.allow_private {
        importer = importer.allow_private();
    }
    if let Some(root) = &description.root {
        importer = importer.root(root);
    }
    Ok(importer)
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
