//! `list`, `describe` and `template`: show what a WSDL contains.

use super::security::{described, policy_notes};
use super::{INTERPRETATION_NOTES, contract, operation, policy_warnings, report_notes};
use crate::cli::{Describe, List, Template, endpoint};
use crate::output::{one_line, print_json, print_line, print_xml, report};
use anyhow::{Context as _, Result, bail};
use deltasoap::engine::Buffer;
use deltasoap::soap::{Envelope, Version};
use deltasoap_dynamic::{Contract, LookupError, Operation};
use deltasoap_wsdl::fetch::shown;
use deltasoap_wsdl::wsdl::OperationKind;
use deltasoap_wsdl::{Note, NoteKind};
use serde_json::{Value as Json, json};
use std::process::ExitCode;

const NO_OPERATIONS: &str = "no operations with a SOAP binding";

/// Lists services, ports and operations.
pub fn list(arguments: &List) -> Result<ExitCode> {
    let contract = contract(&arguments.description)?;
    let is_empty = contract.operations().is_empty();
    let mut faults = faults(&contract);
    if arguments.json {
        faults.extend(is_empty.then(|| NO_OPERATIONS.to_owned()));
        print_json(&listing(&contract, &faults))?;
    } else {
        print_listing(&contract)?;
        if is_empty {
            report(format_args!("error: {} has {NO_OPERATIONS}", shown(&arguments.description.wsdl)));
        }
        faults.iter().for_each(|fault| report(format_args!("warning: {fault}")));
        report_all(&contract);
        let operations = contract.operations();
        policy_warnings(&operations).iter().for_each(|warning| report(format_args!("warning: {warning}")));
        policy_notes(&operations).iter().for_each(|note| report(format_args!("note: {note}")));
    }
    Ok(if faults.is_empty() && !is_empty { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Maximum number of notes that are shown.
const MAX_LISTED_NOTES: usize = 20;

/// Reports what was interpreted differently from how it is written. Missing things are not
/// reported here: they are faults.
fn report_all(contract: &Contract) {
    let all = contract.notes();
    let notes: Vec<_> = all.iter().filter(|note| !is_fault(note)).collect();
    let addresses = address_notes(contract);
    addresses.iter().take(MAX_LISTED_NOTES).for_each(|note| report(format_args!("note: {}", one_line(note))));
    notes.iter().take(MAX_LISTED_NOTES).for_each(|note| report(format_args!("note: {note}")));
    if let Some(more) = notes.len().checked_sub(MAX_LISTED_NOTES + 1) {
        report(format_args!("note: and {} more, which --json lists", more + 1));
    }
}

fn is_fault(note: &Note) -> bool {
    matches!(note.kind, NoteKind::Missing | NoteKind::Unloaded)
}

/// Returns the ports' addresses that `call` does not accept, and why.
fn address_notes(contract: &Contract) -> Vec<String> {
    let mut notes = Vec::new();
    for operation in contract.operations() {
        let Some(why) = operation.address().and_then(|address| endpoint(address).err()) else { continue };
        let note = format!("`call` needs --endpoint for {}: {why}", operation.port_name());
        if notes.last() != Some(&note) {
            notes.push(note);
        }
    }
    notes
}

/// Returns why the WSDL was not imported completely.
fn faults(contract: &Contract) -> Vec<String> {
    let notes = contract.description().notes().iter();
    let missing = notes.filter(|note| is_fault(note));
    let unusable =
        contract.operations().into_iter().filter_map(|operation| operation.method().err().map(|it| it.to_string()));
    missing.map(ToString::to_string).chain(unusable).collect()
}

/// Returns the kind of an operation that the service starts.
fn service_begins(operation: &Operation) -> Option<&'static str> {
    match operation.declaration().kind() {
        OperationKind::Notification => Some("notification"),
        OperationKind::SolicitResponse => Some("solicit-response"),
        _ => None,
    }
}

fn kind(operation: &Operation) -> &'static str {
    match operation.declaration().kind() {
        OperationKind::RequestResponse => "request-response",
        OperationKind::OneWay => "one-way",
        OperationKind::SolicitResponse => "solicit-response",
        OperationKind::Notification => "notification",
        OperationKind::Empty => "empty",
    }
}

/// Returns why an operation cannot be called.
fn not_callable(operation: &Operation) -> Option<String> {
    Some(match operation.method().err()? {
        LookupError::Unsupported { reason, .. } => reason,
        error => error.to_string(),
    })
}

/// Returns why `generate` omits an operation that can be called.
fn not_generated(operation: &Operation) -> Option<&'static str> {
    operation.method().ok()?;
    let begins = service_begins(operation).map(|_| "the service starts it");
    begins.or_else(|| is_like_another(operation).then_some("its body is empty, and another has the same action"))
}

/// Returns true if the operation's body is empty and an earlier operation of its port has an empty
/// body and the same action: a server cannot tell them apart.
fn is_like_another(operation: &Operation) -> bool {
    let Some(action) = action_of_empty(operation) else { return false };
    let name = operation.full_name();
    let all = operation.contract().operations();
    let mut before = all.iter().filter(|it| is_same_port(it, operation)).take_while(|it| it.full_name() != name);
    before.any(|it| service_begins(it).is_none() && action_of_empty(it).as_ref() == Some(&action))
}

/// Returns true for operations of one port, or of a binding without ports.
fn is_same_port(one: &Operation, other: &Operation) -> bool {
    let port = |it: &Operation| it.port().map(std::ptr::from_ref);
    port(one) == port(other) && std::ptr::eq(one.binding(), other.binding())
}

/// Returns the action of an operation whose body is empty.
fn action_of_empty(operation: &Operation) -> Option<String> {
    let method = operation.method().ok()?;
    let body = operation.contract().view(method.element.request);
    let has_parts = body.complex().is_some_and(|record| !record.fields.is_empty());
    (method.element.request_name.local.is_empty() && !has_parts).then(|| method.element.action.to_string())
}

/// Returns the remark that follows an operation's name.
fn mark(operation: &Operation) -> String {
    match (not_callable(operation), not_generated(operation), service_begins(operation)) {
        (Some(why), ..) => format!("  (cannot be called: {})", one_line(&why)),
        (None, _, Some(kind)) => format!("  ({kind}: the service starts it; `call` can send it, `generate` omits it)"),
        (None, Some(why), None) => format!("  (`generate` omits it: {why})"),
        (None, None, None) => String::new(),
    }
}

fn print_listing(contract: &Contract) -> Result<()> {
    let operations = contract.operations();
    for port in operations.chunk_by(is_same_port) {
        print_line(port_line(&port[0]))?;
        for operation in port {
            print_line(format_args!("  {}{}", one_line(&operation.distinct_name()), mark(operation)))?;
        }
    }
    Ok(())
}

fn port_line(operation: &Operation) -> String {
    let address = operation.address().unwrap_or("no address");
    let addressing = match addressing(operation) {
        Some("required") => "  (requires WS-Addressing)",
        _ => "",
    };
    format!("{}  {}  {}{addressing}", one_line(&operation.port_name()), version(operation), one_line(address))
}

/// Returns whether messages need the header blocks of WS-Addressing; `None` if the WSDL does not
/// mention it.
fn addressing(operation: &Operation) -> Option<&'static str> {
    Some(if operation.addressing()?.is_required { "required" } else { "optional" })
}

fn version(operation: &Operation) -> &'static str {
    match operation.version() {
        Version::Soap11 => "SOAP 1.1",
        Version::Soap12 => "SOAP 1.2",
    }
}

fn listing(contract: &Contract, faults: &[String]) -> Json {
    let operations = contract.operations();
    let operations: Vec<Json> = operations
        .iter()
        .map(|operation| {
            json!({
                "name": operation.name(),
                "full_name": operation.full_name(),
                "service": operation.service().map(|it| it.name.to_string()),
                "port": operation.port().map(|it| &*it.name),
                "soap": version(operation).trim_start_matches("SOAP "),
                "address": operation.address(),
                "action": &*operation.bound().action,
                "addressing": addressing(operation),
                "one_way": operation.is_one_way(),
                "kind": kind(operation),
                "not_callable": not_callable(operation),
                "not_generated": not_callable(operation).or_else(|| not_generated(operation).map(str::to_owned)),
                "unmet_policies": operation.unmet_policies(),
                "security": security(operation),
                "documentation": operation.documentation(),
            })
        })
        .collect();
    let notes = contract.notes();
    let notes: Vec<_> = address_notes(contract).into_iter().chain(notes.iter().map(ToString::to_string)).collect();
    json!({ "operations": operations, "faults": faults, "notes": notes, "reading": contract.lowered().notes })
}

/// Returns what the policies of an operation require of its security; `null` if nothing.
fn security(operation: &Operation) -> Json {
    let documents = operation.policies();
    if documents.is_empty() {
        return Json::Null;
    }
    let (requires, unsupported) = described(&documents);
    json!({ "requires": requires, "unsupported": unsupported })
}

/// Describes the operation, element or type that has a name.
pub fn describe(arguments: &Describe) -> Result<()> {
    let contract = contract(&arguments.description)?;
    report_notes(&contract, &INTERPRETATION_NOTES);
    let parts = match &arguments.name {
        Some(name) => contract.describe(name),
        None => contract.operations().iter().map(Operation::describe).collect(),
    };
    if let Some(name) = arguments.name.as_ref().filter(|_| parts.is_empty()) {
        match contract.similar_names(name) {
            similar if similar.is_empty() => {
                bail!(
                    "there is no operation, element or type {name}; `deltasoap list {}` shows all operations",
                    shown(&arguments.description.wsdl)
                )
            }
            similar => bail!("there is no operation, element or type {name}; available: {}", similar.join(", ")),
        }
    }
    if arguments.json {
        return print_json(&parts.iter().map(deltasoap_dynamic::describe::Component::to_json).collect());
    }
    if parts.is_empty() {
        return print_line(NO_OPERATIONS);
    }
    let texts: Vec<_> = parts.iter().map(deltasoap_dynamic::describe::Component::to_text).collect();
    print_line(texts.join("\n").trim_end())
}

/// Prints a message to fill in.
pub fn template(arguments: &Template) -> Result<()> {
    let contract = contract(&arguments.description)?;
    report_notes(&contract, &INTERPRETATION_NOTES);
    let operation = operation(&contract, &arguments.description.wsdl, &arguments.operation)?;
    let method = operation.method()?;
    let (body, sample) = match arguments.response {
        true => (operation.response(), operation.response_sample()),
        false => (operation.request(), operation.request_sample()),
    };
    let ((name, content), sample) = body.zip(sample).context("a one-way operation has no response")?;
    let envelope = Envelope::element(name, &sample, operation.view(content));
    let message = envelope.version(operation.version()).encoding(method.element.encoding).write(Buffer::new());
    let why = match &message {
        Ok(message) => contract.validate(message.as_slice()).first().map(|it| format!("{}: {}", it.path, it.message)),
        Err(error) => Some(error.to_string()),
    };
    if let Some(why) = why {
        let why = one_line(&why);
        report(format_args!("warning: no valid sample was found; this one has to be corrected: {why}"));
    }
    match arguments.xml {
        true => print_xml(message?.as_slice()),
        false => print_json(&contract.to_json(name, content, &sample)?),
    }
}
