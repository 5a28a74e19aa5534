//! The page for browsers: the service's operations, a form that tries them, and statistics of the
//! differential engine.
//!
//! The page is self-contained: it includes style and script, so it loads nothing, and its policy
//! ([`policy`]) allows nothing else. All text goes through `maud`, which escapes it. Without
//! scripts the page shows everything except the form.

mod index;
pub(crate) mod policy;
mod tables;

pub(crate) use index::About;
pub use index::ServiceIndex;
pub(crate) use tables::by_name;

use super::operation::Operation;
use super::request_target::{RequestTarget, number};
use super::sample::has_parts;
use super::stats::ServiceStats;
use super::wsdl::Description;
use deltasoap_core::QName;
use deltasoap_core::soap::Version;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use policy::{SCRIPT, STYLE};

/// The content of the page.
#[derive(Debug)]
pub(crate) struct Subject<'s> {
    pub(crate) name: &'s str,
    /// The documentation of the service in the WSDL.
    pub(crate) documentation: &'s str,
    /// The operations, sorted by name.
    pub(crate) operations: &'s [&'s Operation],
    pub(crate) description: Option<&'s Description>,
    pub(crate) stats: &'s ServiceStats,
    pub(crate) has_form: bool,
}

/// Renders the page.
pub(crate) fn landing(subject: &Subject<'_>) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            (head(subject.name))
            body {
                a.skip href="#operations" { "Skip to the operations" }
                (banner(subject))
                main {
                    (operations(subject))
                    @if subject.has_form { (form(subject)) }
                    (tables::statistics(subject.stats))
                }
                (footer())
                @if subject.has_form { script { (PreEscaped(SCRIPT)) } }
            }
        }
    };
    page.into_string()
}

fn head(name: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (name) }
            // Without it browsers request one from the host.
            link rel="icon" href="data:,";
            style { (PreEscaped(STYLE)) }
        }
    }
}

fn footer() -> Markup {
    html! { footer { p.note { "Served by deltasoap " (env!("CARGO_PKG_VERSION")) } } }
}

fn banner(subject: &Subject<'_>) -> Markup {
    html! {
        header {
            h1 { (subject.name) }
            @if !subject.documentation.is_empty() { p.about { (subject.documentation) } }
            p.about {
                "SOAP 1.1 and 1.2 over HTTP, also with attachments (MTOM, SOAP with Attachments, DIME) and in gzip."
            }
            @if let Some(namespace) = shared_namespace(subject.operations) {
                dl { (fact("Namespace", namespace)) }
            }
            @if let Some(description) = subject.description {
                nav aria-label="Description" {
                    a href="?wsdl" { "WSDL" }
                    @for (query, name) in description.documents() { " " a href={ "?" (query) } { (name) } }
                }
            }
        }
    }
}

/// Returns the namespace of all operations, if they have the same.
fn shared_namespace<'s>(operations: &[&'s Operation]) -> Option<&'s str> {
    let mut namespaces = operations.iter().map(|operation| &*operation.name().namespace);
    let first = namespaces.next().filter(|first| !first.is_empty())?;
    namespaces.all(|other| other == first).then_some(first)
}

fn operations(subject: &Subject<'_>) -> Markup {
    let is_shared = shared_namespace(subject.operations).is_some();
    html! {
        section #operations aria-labelledby="operations-title" {
            h2 #operations-title { "Operations " span.count { (subject.operations.len()) } }
            ul.operations {
                @for operation in subject.operations { (listed(operation, is_shared, subject.has_form)) }
            }
        }
    }
}

fn listed(operation: &Operation, is_namespace_known: bool, has_form: bool) -> Markup {
    let QName { namespace, local } = operation.name();
    html! {
        li {
            div.title {
                h3 { code { (local) } }
                @if operation.is_one_way() { span.badge { "one-way" } }
                @if has_parts(operation) { span.badge { "MTOM" } }
                @if has_form { button.try type="button" hidden aria-label={ "Try " (local) } data-operation=(key(operation)) { "Try" } }
            }
            @if !operation.described().is_empty() { p { (operation.described()) } }
            dl {
                @if !(is_namespace_known || namespace.is_empty()) { (fact("Namespace", namespace)) }
                @if !operation.described_action().is_empty() { (fact("Action", operation.described_action())) }
            }
        }
    }
}

fn fact(term: &str, text: &str) -> Markup {
    html! { div { dt { (term) } dd { code { (text) } } } }
}

/// Returns a key that distinguishes an operation from the others of its service.
fn key(operation: &Operation) -> String {
    format!("{} {}", operation.name(), operation.described_action())
}

const VERSIONS: [Version; 2] = [Version::Soap11, Version::Soap12];

fn form(subject: &Subject<'_>) -> Markup {
    html! {
        section #try aria-labelledby="try-title" {
            h2 #try-title { "Try an operation" }
            noscript { p { "The form needs JavaScript." } }
            form #form hidden {
                div.choices {
                    label { span { "Operation" } (choice(subject.operations)) }
                    label {
                        span { "Version" }
                        select #version {
                            @for version in VERSIONS { option value=(number(version)) { "SOAP " (number(version)) } }
                        }
                    }
                    button #reset type="button" { "New sample" }
                }
                div.panes {
                    div.pane {
                        label for="request" { "Request" }
                        textarea #request rows="18" spellcheck="false" autocapitalize="off" autocomplete="off" {}
                        div.send {
                            button #send type="submit" title="Ctrl+Enter in the request does the same" { "Send" }
                            output.note #headers {}
                        }
                    }
                    div.pane {
                        div.label #response-label { "Response" }
                        div #response role="region" aria-labelledby="response-label" aria-live="polite" {
                            p.note { "No request sent yet." }
                        }
                    }
                }
            }
        }
    }
}

fn choice(operations: &[&Operation]) -> Markup {
    html! {
        select #operation {
            @for operation in operations {
                option value=(key(operation)) data-action=(operation.described_action())
                    data-soap11=(RequestTarget::sample_query(operation.name(), Version::Soap11))
                    data-soap12=(RequestTarget::sample_query(operation.name(), Version::Soap12))
                { (label(operation, operations)) }
            }
        }
    }
}

/// Returns the operation's name, with its namespace or its action if several have the same.
fn label(operation: &Operation, operations: &[&Operation]) -> String {
    let name = operation.name();
    let is_another = |other: &&&Operation| other.name().local == name.local && other.name() != name;
    if operations.iter().filter(|other| other.name() == name).count() > 1 {
        return format!("{} ({})", name.local, operation.described_action());
    }
    match operations.iter().find(is_another) {
        Some(_) => format!("{} ({})", name.local, name.namespace),
        None => name.local.to_string(),
    }
}
