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

use crate::cli::{Description, Loading};
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
    contract_of(&description.wsdl, &description.loading)
}

/// Imports a WSDL, ready to be used.
pub fn contract_of(wsdl: &str, loading: &Loading) -> Result<Contract> {
    import_with(wsdl, loading, |client| client).map(Contract::from)
}

/// Imports what the arguments name.
fn import(description: &Description) -> Result<Import> {
    import_with(&description.wsdl, &description.loading, |client| client)
}

/// Imports a WSDL by what is made of the client for documents from the network.
fn import_with<F: Fetch + Send + Sync + 'static>(
    wsdl: &str,
    loading: &Loading,
    make: impl FnOnce(WebClient) -> F,
) -> Result<Import> {
    let imported = importer(wsdl, loading, make)?.import(wsdl);
    imported.map_err(|error| explained(wsdl, error))
}

/// What went wrong, with what can be done about it.
fn explained(wsdl: &str, error: deltasoap_wsdl::Error) -> anyhow::Error {
    let text = error.to_string();
    let hints = [
        ("status 401", "-u NAME:PASSWORD says who asks, with --digest if the host wants that"),
        ("UnknownIssuer", "--cacert FILE trusts the certificates of a file, -k any"),
        ("private address", "--allow-private lets documents from the network import others from private addresses"),
    ];
    let hint = hints.into_iter().find(|(sign, _)| text.contains(sign)).map(|(_, hint)| format!(" ({hint})"));
    anyhow::Error::new(error).context(format!("{wsdl} cannot be imported{}", hint.unwrap_or_default()))
}

/// The importer that the arguments ask for.
fn importer<F: Fetch + Send + Sync + 'static>(
    wsdl: &str,
    loading: &Loading,
    make: impl FnOnce(WebClient) -> F,
) -> Result<Importer> {
    let mut importer = Importer::new();
    match Url::parse(wsdl).ok().filter(|url| matches!(url.scheme(), "http" | "https")) {
        Some(url) => importer = importer.fetch_with(make(access::web_client(&url, &loading.access)?)),
        None if loading.offline => importer = importer.offline(),
        None => {}
    }
    if loading.allow_private {
        importer = importer.allow_private();
    }
    if let Some(root) = &loading.root {
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
