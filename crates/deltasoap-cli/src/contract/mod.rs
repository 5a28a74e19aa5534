//! The commands that need only a WSDL.

mod access;
mod call;
mod compile;
mod diff;
mod documents;
#[cfg(feature = "gateway")]
mod gateway;
mod generate;
mod inspect;
mod language;
#[cfg(feature = "load")]
mod load;
#[cfg(feature = "mcp")]
mod mcp;
mod mock;
mod pages;
#[cfg(feature = "proxy")]
mod proxy;
mod remedy;
mod security;
mod tap;
#[cfg(feature = "test")]
mod test;
mod validate;
mod validation;

pub use call::call;
pub use compile::compile;
pub use diff::diff;
#[cfg(feature = "gateway")]
pub use gateway::gateway;
pub use generate::generate;
pub use inspect::{describe, list, template};
#[cfg(feature = "load")]
pub use load::load;
#[cfg(feature = "mcp")]
pub use mcp::mcp;
pub use mock::mock;
pub use pages::{completions, man};
#[cfg(feature = "proxy")]
pub use proxy::proxy;
#[cfg(feature = "test")]
pub use test::test;
pub use validate::validate;

use crate::cli::{Description, Loading};
use crate::output::{one_line, report};
use anyhow::{Context as _, Result, anyhow};
use deltasoap_dynamic::{Contract, Operation};
use deltasoap_wsdl::fetch::shown;
use deltasoap_wsdl::fetch::{Fetch, FetchError, Fetched, Request, WebClient};
use deltasoap_wsdl::{Import, Importer, NoteKind};
use remedy::{SentCredentials, remedy};
use url::Url;

/// Maximum number of deviations, and of findings, that are shown by default.
const MAX_DEVIATIONS: usize = 10;

/// Shows the first `limit` warnings, and the number of others, which are `what`.
fn warn_of_all(all: impl Iterator<Item = String>, limit: usize, what: &str) {
    let mut all = all;
    all.by_ref().take(limit).for_each(|warning| report(format_args!("warning: {}", one_line(&warning))));
    match all.count() {
        0 => {}
        more => report(format_args!("warning: {more} more {what}")),
    }
}

/// Imports the WSDL that the arguments name, ready for use.
fn contract(description: &Description) -> Result<Contract> {
    contract_of(&description.wsdl, &description.loading)
}

/// Imports a WSDL, ready for use.
pub fn contract_of(wsdl: &str, loading: &Loading) -> Result<Contract> {
    import_with(wsdl, loading, |client| client).map(Contract::from)
}

/// Imports the WSDL that the arguments name.
fn import(description: &Description) -> Result<Import> {
    import_with(&description.wsdl, &description.loading, |client| client)
}

/// Imports a WSDL; `make` wraps the client that fetches documents from the network.
fn import_with<F: Fetch + Send + Sync + 'static>(
    wsdl: &str,
    loading: &Loading,
    make: impl FnOnce(WebClient) -> F,
) -> Result<Import> {
    let importer = importer(wsdl, loading, make)?;
    let imported = if wsdl == "-" { importer.reader(std::io::stdin().lock()) } else { importer.import(wsdl) };
    imported.map_err(|error| explained(wsdl, loading, &error))
}

/// Part of the errors about addresses that documents must not name.
const PRIVATE: &str = "private address";

/// Adds to an error what can be done about it.
fn explained(wsdl: &str, loading: &Loading, error: &deltasoap_wsdl::Error) -> anyhow::Error {
    let (sent, is_offline) = (SentCredentials::to(wsdl, &loading.access), loading.offline);
    let (text, wsdl) = (error.to_string(), shown(wsdl));
    let location = format!("{wsdl}: ");
    let mut text = text.as_str();
    while let Some(rest) = text.strip_prefix(&location) {
        text = rest;
    }
    let hints = [
        (PRIVATE, "--allow-private fetches documents from private addresses that other documents name"),
        ("the root element is <html>", "that is a web page; most services have their WSDL at their URL with ?wsdl"),
        ("document type declaration", "is it a web page? Most services have their WSDL at their URL with ?wsdl"),
        ("status 404", "is the path right? Most services have their WSDL at their URL with ?wsdl"),
        ("redirects, the last one", "the host may redirect clients without credentials; -u, -H or --cert give them"),
        (
            "a redirect out of TLS",
            "anyone on the path could answer there; if that is intended, give the http URL itself",
        ),
        ("a redirect", "the host redirects to a URL that cannot be loaded; is the URL right?"),
        ("before message length", "the answer was truncated; try again, or give a file with the complete document"),
        ("the folder that files are read from", "--root DIR names another one"),
    ];
    let is_fitting = |(sign, _): &(&str, &str)| text.contains(sign) && !(is_offline && *sign == PRIVATE);
    let hint = hints.into_iter().find(is_fitting).map(|(_, hint)| hint.to_owned());
    let hint = hint.or_else(|| remedy(text, sent)).map(|hint| format!(" ({hint})"));
    anyhow!("{wsdl} cannot be imported: {text}{}", hint.unwrap_or_default())
}

/// Creates the importer that the arguments ask for.
fn importer<F: Fetch + Send + Sync + 'static>(
    wsdl: &str,
    loading: &Loading,
    make: impl FnOnce(WebClient) -> F,
) -> Result<Importer> {
    let mut importer = Importer::new().trust_tree();
    let url = Url::parse(wsdl).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    importer = match url {
        None if loading.offline => importer.offline(),
        Some(url) if loading.offline => {
            let fetch = make(access::web_client(Some(&url), &loading.access)?);
            importer.fetch_with(SingleDocument { url, fetch })
        }
        url => importer.fetch_with(make(access::web_client(url.as_ref(), &loading.access)?)),
    };
    if loading.allow_private {
        importer = importer.allow_private();
    }
    if let Some(root) = &loading.root {
        importer = importer.root(root);
    }
    for (url, file) in &loading.maps {
        importer = importer.map(url, file).context("the file of --map cannot be read")?;
    }
    for catalog in &loading.catalogs {
        importer = importer.catalog(catalog).context("the catalog cannot be read")?;
    }
    Ok(importer)
}

/// Fetches only the WSDL itself from the network, and no other document.
struct SingleDocument<F> {
    url: Url,
    fetch: F,
}

impl<F: Fetch> Fetch for SingleDocument<F> {
    fn fetch(&self, request: &Request<'_>) -> Result<Fetched, FetchError> {
        let mut own = self.url.clone();
        own.set_fragment(None);
        if *request.url == own { self.fetch.fetch(request) } else { Err(FetchError::Offline) }
    }
}

/// What stands for a secret.
#[cfg(any(feature = "load", feature = "test"))]
const SECRET: &str = "...";

/// Returns a URL without the password and without the values of its query, which may be secret. A
/// path is returned as it is.
#[cfg(any(feature = "load", feature = "test"))]
fn without_secrets(url: &str) -> String {
    let url = shown(url);
    let Some((before, query)) = url.split_once('?').filter(|(before, _)| before.contains("://")) else { return url };
    let (query, fragment) = query.split_once('#').map_or((query, None), |(query, fragment)| (query, Some(fragment)));
    let parts: Vec<_> = query.split('&').map(masked).collect();
    let fragment = fragment.map(|it| format!("#{it}")).unwrap_or_default();
    format!("{before}?{}{fragment}", parts.join("&"))
}

/// Masks a part of a query, unless it names a document, such as `wsdl` or `xsd=1`.
#[cfg(any(feature = "load", feature = "test"))]
fn masked(part: &str) -> String {
    let is_word = |text: &str| text.chars().all(|c| c.is_ascii_alphabetic());
    match part.split_once('=') {
        Some(("wsdl" | "WSDL" | "xsd", _)) => part.to_owned(),
        Some((name, _)) => format!("{name}={SECRET}"),
        None if is_word(part) => part.to_owned(),
        None => SECRET.to_owned(),
    }
}

/// Warns of what may have been interpreted differently from what was meant: the first few notes of
/// these kinds, by kind.
fn report_notes(contract: &Contract, kinds: &[NoteKind]) {
    let all = contract.notes();
    let mut notes = kinds.iter().flat_map(|kind| all.iter().filter(|note| note.kind == *kind));
    notes.by_ref().take(MAX_REPORTED_NOTES).for_each(|note| report(format_args!("note: {note}")));
    match notes.count() {
        0 => {}
        more => report(format_args!("note: and {more} more, which `deltasoap list` shows")),
    }
}

/// The kinds of notes about the interpretation of a WSDL.
const INTERPRETATION_NOTES: [NoteKind; 3] = [NoteKind::Missing, NoteKind::Invalid, NoteKind::Tolerated];

/// Maximum number of notes shown in addition to a command's output.
const MAX_REPORTED_NOTES: usize = 5;

/// Describes what policies require of operations and is not implemented here: one sentence for each
/// set of assertions.
fn policy_warnings(operations: &[Operation]) -> Vec<String> {
    let mut found: Vec<(Vec<&str>, usize, &Operation)> = Vec::new();
    for operation in operations {
        let unmet = operation.unmet_policies();
        match found.iter().position(|(known, ..)| *known == unmet) {
            _ if unmet.is_empty() => {}
            Some(known) => found[known].1 += 1,
            None if found.len() < MAX_POLICY_WARNINGS => found.push((unmet, 1, operation)),
            None => {}
        }
    }
    let sentence = |(unmet, count, first): (Vec<&str>, usize, &Operation)| {
        let which = match count {
            1 => first.full_name(),
            count => format!("{count} operations, {} among them", first.full_name()),
        };
        format!("policies of {which} have requirements that are not met automatically: {}", unmet.join(", "))
    };
    found.into_iter().map(sentence).collect()
}

/// Maximum number of warnings about policies.
const MAX_POLICY_WARNINGS: usize = 20;

/// Finds an operation. The error says how to find its name.
pub fn operation(contract: &Contract, wsdl: &str, name: &str) -> Result<Operation> {
    contract.operation(name).map_err(|error| anyhow!("{error}; `deltasoap list {}` shows all operations", shown(wsdl)))
}

#[cfg(all(test, any(feature = "load", feature = "test")))]
mod tests {
    use super::*;

    #[test]
    fn urls_are_shown_without_what_may_be_secret() {
        assert_eq!(without_secrets("http://u:p@a/b?token=hush&x=1#f"), "http://a/b?token=...&x=...#f");
        assert_eq!(without_secrets("http://a/b?wsdl"), "http://a/b?wsdl");
        assert_eq!(without_secrets("http://a/b?xsd=1"), "http://a/b?xsd=1");
        assert_eq!(without_secrets("http://a/b?8f3a2c"), "http://a/b?...");
        assert_eq!(without_secrets("shop.wsdl"), "shop.wsdl");
        assert_eq!(without_secrets("what?a=b.wsdl"), "what?a=b.wsdl");
    }
}
