//! `call`: one call of an operation.

use super::access::{credentials, transport};
use super::language;
use super::remedy::{SentCredentials, remedy};
use super::security::{Security, in_options};
use super::tap::Tap;
use super::validation::{self, validated};
use super::{INTERPRETATION_NOTES, MAX_DEVIATIONS, import_with, operation, policy_warnings, report_notes, warn_of_all};
use crate::cli::{AddressingSwitch, Call, Description, Loading, Switch, endpoint};
use crate::files;
use crate::output::{one_line, print_json, print_json_lines, report, with_causes};
use anyhow::{Context as _, Result, anyhow, bail};
use deltasoap::schema::QName;
use deltasoap::soap::HeaderBlock;
use deltasoap::soap::addressing::{Addressing, AddressingFault};
use deltasoap::types::{Node, Value};
use deltasoap_dynamic::json::parse;
use deltasoap_dynamic::{
    Call as Prepared, Contract, DynamicClient, DynamicError, DynamicFault, Operation, Reply, Selector,
};
use deltasoap_http::{CallError, CallOptions, ClientBuildError, CookieJar, Mtom, PartHeaders};
use deltasoap_wsdl::fetch::{credentials_in, names_private_host, shown};
use serde_json::{Value as Json, json};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use url::Url;

/// Exit code: the service answered with a fault.
const FAULT: u8 = 3;
/// Exit code: the service did not answer, or its answer cannot be decoded.
pub const NO_ANSWER: u8 = 4;

/// Calls an operation and prints the response.
pub async fn call(arguments: &Call) -> Result<ExitCode> {
    let (wsdl, time) = (&arguments.description.wsdl, Duration::from_secs(arguments.timeout));
    let contract =
        Contract::from(import_with(wsdl, &arguments.description.loading, |client| client.total_timeout(time))?);
    report_notes(&contract, &INTERPRETATION_NOTES);
    let data = data(&arguments.data)?;
    let access = &arguments.description.loading.access;
    let tap = Tap::new(transport(access)?, arguments.verbose, arguments.secrets);
    let operation = selected(arguments, &contract)?;
    let Description { wsdl, loading } = &arguments.description;
    let url = service_url(wsdl, loading, arguments.endpoint.as_deref(), &operation)?;
    let jar = arguments.session.as_deref().map(session).transpose()?;
    let client = client(arguments, contract, (tap.clone(), jar.clone()), &url, &operation)?;
    policy_warnings(std::slice::from_ref(&operation)).iter().for_each(|it| report(format_args!("warning: {it}")));
    let call = client.prepare_operation(operation);
    let mut call = call.options(options(arguments, client.contract())?);
    for block in &arguments.blocks {
        let block = header_block(call.operation(), block)?;
        call = call.header(block);
    }
    let name = call.operation().full_name();
    let outcome = match &arguments.stream {
        Some(list) => items_printed(call, &data, list.as_deref()).await,
        None => call.send_json(&data).await.map(|reply| printed(arguments, reply)),
    };
    if let (Some(path), Some(jar)) = (&arguments.session, jar) {
        // A cookie file that cannot be written must not cost the answer, which is already here.
        if let Err(error) = files::write_secret(path, jar.to_netscape().as_bytes()) {
            report(format_args!("warning: the cookies are not saved: {} cannot be written: {error}", path.display()));
        }
    }
    match outcome {
        Ok(printed) => printed,
        Err(DynamicError::Fault(fault)) => fault_printed(arguments, in_own_language(*fault)),
        Err(DynamicError::Json(error)) => {
            let wsdl = &arguments.description.wsdl;
            let hint = format!("`deltasoap template {} {name}` prints a request to begin with", shown(wsdl));
            bail!("the request does not fit {name}: {error}; {hint}")
        }
        Err(DynamicError::Call(error @ (CallError::Encode(_) | CallError::Action(_) | CallError::Unsecured(_)))) => {
            bail!("{}; nothing was sent", with_causes(&error))
        }
        Err(DynamicError::Call(CallError::InvalidRequest(error))) => {
            let findings: Vec<_> =
                error.findings.iter().map(|it| format!("\n  {}", one_line(&it.to_string()))).collect();
            let findings = findings.concat();
            let hint = "`--validation report` sends it all the same";
            bail!("the request does not conform to the WSDL; nothing was sent:{findings}\n{hint}")
        }
        Err(DynamicError::List(error)) => {
            bail!("the response of {name} has no list for --stream=LIST: {error}; nothing was sent")
        }
        Err(DynamicError::Endpoint(ClientBuildError::Policies(error))) => {
            let reasons = in_options(&error.to_string());
            bail!(
                "{reasons}; nothing was sent. `--ignore-policy` sends the request without the security that is required"
            )
        }
        Err(DynamicError::NoEndpoint(name)) => bail!("the WSDL gives no URL for {name}; --endpoint takes one"),
        Err(DynamicError::Call(error)) => no_answer(arguments, &url, tap.location(), &error),
        // The decoder could read the message, but not the parts that came with it.
        Err(DynamicError::Part(error)) => no_answer(arguments, &url, tap.location(), &CallError::Attachment(error)),
        Err(error) => Err(error.into()),
    }
}

/// Returns the URL of the service: the one of the arguments, or that of the WSDL; empty if there is
/// none.
///
/// # Errors
/// If the WSDL names a URL that must not be called without being asked for: a private one, or
/// another host where credentials would be sent.
pub fn service_url(wsdl: &str, loading: &Loading, given: Option<&str>, operation: &Operation) -> Result<String> {
    if let Some(url) = given {
        return Ok(url.to_owned());
    }
    let Some(url) = operation.address().filter(|url| !url.is_empty()) else { return Ok(String::new()) };
    let url = endpoint(url).map_err(|why| {
        anyhow!("the WSDL gives {} as the service's URL: {why}; --endpoint takes another", shown(url))
    })?;
    if !loading.allow_private && leads_inside(wsdl, &url) {
        let url = shown(&url);
        bail!(
            "the WSDL, which is from a public host, gives the private address {url} as the service's URL; `--endpoint {url}` calls it there"
        );
    }
    let has_secrets = loading.access.user.is_some() || !loading.access.headers.is_empty();
    if has_secrets && leads_away(wsdl, &url) {
        let url = shown(&url);
        bail!(
            "-u and -H are for the host of the WSDL, which gives {url} as the service's URL; `--endpoint {url}` sends them there"
        );
    }
    Ok(url)
}

/// Returns true if a WSDL from the network names a service on another host, or a service without
/// TLS while the WSDL itself came over TLS.
pub(super) fn leads_away(wsdl: &str, service: &str) -> bool {
    let (Ok(wsdl), Ok(service)) = (Url::parse(wsdl), Url::parse(service)) else { return false };
    match wsdl.scheme() {
        "http" => wsdl.host() != service.host(),
        "https" => wsdl.host() != service.host() || service.scheme() != "https",
        _ => false,
    }
}

/// Returns true if the WSDL of a public host names a service on this machine or in its network.
pub(super) fn leads_inside(wsdl: &str, service: &str) -> bool {
    let (Ok(wsdl), Ok(service)) = (Url::parse(wsdl), Url::parse(service)) else { return false };
    matches!(wsdl.scheme(), "http" | "https") && !names_private_host(&wsdl) && names_private_host(&service)
}

/// Returns the request's JSON.
fn data(argument: &str) -> Result<Json> {
    let text = match argument.strip_prefix('@') {
        _ if argument == "-" => {
            without_mark(files::read_all_text(std::io::stdin()).context("standard input cannot be read")?)
        }
        Some(path) => read(path)?,
        None => argument.to_owned(),
    };
    parse(&text).context("the data is not usable as JSON")
}

pub fn read(path: &str) -> Result<String> {
    files::read_text(Path::new(path)).map(without_mark)
}

/// Removes the byte order mark that some editors put at the beginning of a text.
pub fn without_mark(text: String) -> String {
    text.strip_prefix('\u{feff}').map(ToOwned::to_owned).unwrap_or(text)
}

/// Reads the cookies from a file, if it exists.
fn session(path: &Path) -> Result<CookieJar> {
    if !path.try_exists().unwrap_or(true) {
        return Ok(CookieJar::default());
    }
    CookieJar::from_netscape(&files::read_text(path)?)
        .with_context(|| format!("{} is not a cookie file", path.display()))
}

/// Creates a client for the service at a URL, which may contain credentials.
fn client(
    arguments: &Call,
    contract: Contract,
    (tap, jar): (Tap, Option<CookieJar>),
    url: &str,
    operation: &Operation,
) -> Result<DynamicClient<Tap>> {
    let addressing = addressing(arguments, operation);
    let access = &arguments.description.loading.access;
    let own = Url::parse(url).ok().and_then(|url| credentials_in(&url));
    let mut client = DynamicClient::with_transport(contract.clone(), tap);
    if !url.is_empty() {
        client = client.endpoint(if own.is_some() { shown(url) } else { url.to_owned() });
    }
    let (tolerance, credentials) = (arguments.tolerance.into(), credentials(access)?.or(own));
    // The client has the timeout too: it bounds how long the parts of an answer may pause.
    let timeout = Duration::from_secs(arguments.timeout);
    let validation = validation::Settings::of(arguments);
    let security = Security::of(arguments, operation)?;
    Ok(client.configure(move |builder| {
        let builder = builder.tolerance(tolerance).timeout(timeout).addressing(addressing);
        let builder = validated(builder, &validation, &contract);
        let builder = security.apply(builder);
        let builder = match &credentials {
            Some(credentials) => builder.credentials(credentials.clone()),
            None => builder,
        };
        match &jar {
            Some(jar) => builder.cookie_jar(jar.clone()),
            None => builder,
        }
    }))
}

/// Returns the version of WS-Addressing that requests use.
fn addressing(arguments: &Call, operation: &Operation) -> Option<Addressing> {
    let policy = operation.addressing();
    match arguments.wsa {
        None => policy.filter(|policy| policy.is_required).map(|policy| policy.version),
        Some(AddressingSwitch::On) => Some(policy.map_or(Addressing::V10, |policy| policy.version)),
        Some(AddressingSwitch::V2004) => Some(Addressing::V2004),
        Some(AddressingSwitch::Off) => None,
    }
}

fn selected(arguments: &Call, contract: &Contract) -> Result<Operation> {
    match arguments.soap {
        Some(version) => {
            let selector = Selector { name: arguments.operation.clone(), version: Some(version.into()) };
            Ok(contract.select(&selector)?)
        }
        None => operation(contract, &arguments.description.wsdl, &arguments.operation),
    }
}

fn options(arguments: &Call, contract: &Contract) -> Result<CallOptions> {
    let mut options = CallOptions::new().timeout(Duration::from_secs(arguments.timeout));
    options = options.references(!arguments.copies);
    if let Some(switch) = arguments.mtom {
        options = options.mtom(if switch == Switch::On { Mtom::On } else { Mtom::Off });
    }
    for (name, value) in &arguments.description.loading.access.headers {
        options = options.http_header(name.clone(), value.clone());
    }
    for name in &arguments.understood {
        options =
            if name == "all" { options.understands_all() } else { options.understands(block_name(contract, name)?) };
    }
    Ok(options)
}

/// Returns the name of a header block: `{namespace}Name`, or that of an element of the WSDL.
fn block_name(contract: &Contract, name: &str) -> Result<QName> {
    match name.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
        Some((namespace, local)) => Ok(QName::owned(namespace, local)),
        None => declared(contract, name, &format!("--understand {{namespace}}{name} accepts one in another namespace")),
    }
}

/// Parses a header block from `Name={"json": 1}`, from `Name=@FILE` (a file with such JSON or with
/// the block in XML), or from XML.
pub fn header_block(operation: &Operation, text: &str) -> Result<HeaderBlock> {
    if text.trim_start().starts_with('<') {
        let node = Node::parse(text.as_bytes()).context("the header block is not XML")?;
        return Ok(warn_if_unqualified(node));
    }
    let (name, content) = text.split_once('=').unwrap_or((text, ""));
    let name = name.trim();
    let json = match content.strip_prefix('@') {
        Some(path) => {
            let content = files::read(Path::new(path))?;
            if is_xml(&content) {
                return header_of_file(operation, name, &content);
            }
            let text = files::read_all_text(&*content).with_context(|| format!("{path} cannot be read"))?;
            without_mark(text)
        }
        None => content.to_owned(),
    };
    let name = match operation.request_headers().find(|it| is_named(it, name)) {
        Some(name) => name.clone(),
        None => declared(operation.contract(), name, "a header block can also be given as XML")?,
    };
    let json = parse(&json).with_context(|| format!("the content of {name} is not usable as JSON"))?;
    let node = operation.header_from_json(&name, &json).with_context(|| format!("the header block {name}"))?;
    Ok(HeaderBlock { node })
}

/// Returns true if the content begins as XML does, in any of the supported encodings.
fn is_xml(content: &[u8]) -> bool {
    let is_before = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, 0 | 0xEF | 0xBB | 0xBF | 0xFE | 0xFF);
    content.iter().find(|&&byte| !is_before(byte)) == Some(&b'<')
}

/// Parses a header block from a file's XML, in the encoding that it declares. Its element must have
/// the name that the argument gives.
fn header_of_file(operation: &Operation, name: &str, xml: &[u8]) -> Result<HeaderBlock> {
    let xml = xml.strip_prefix("\u{feff}".as_bytes()).unwrap_or(xml).trim_ascii_start();
    let node = Node::parse(xml).with_context(|| format!("the header block {name} is not XML"))?;
    let elements = operation.contract().description().schemas().elements();
    let elements = elements.filter(|(_, it)| it.is_global).map(|(_, it)| &it.name);
    let known: Vec<_> = operation.request_headers().chain(elements).filter(|it| is_named(it, name)).collect();
    if !is_named(&node.name, name) || !(known.is_empty() || known.contains(&&node.name)) {
        let known = known.first().map(|known| format!(", and the WSDL has {known}")).unwrap_or_default();
        bail!("the file for the header block {name} holds <{}>{known}", node.name);
    }
    Ok(warn_if_unqualified(node))
}

/// Creates a header block, and warns if it has no namespace. Some services take such blocks.
fn warn_if_unqualified(node: Node) -> HeaderBlock {
    if node.name.namespace.is_empty() {
        let name = one_line(&node.name.local);
        report(format_args!(
            "warning: the header block <{name}> has no namespace, which SOAP requires (SOAP 1.1, 4.2)"
        ));
    }
    HeaderBlock { node }
}

/// Returns true if the text is the full name, `{namespace}Name`, or its local part.
fn is_named(name: &QName, text: &str) -> bool {
    *name.local == *text || name.to_string() == text
}

/// Finds the name of a global element by its full name or its local part. The error for an unknown
/// name ends with `hint`.
fn declared(contract: &Contract, name: &str, hint: &str) -> Result<QName> {
    let elements = contract.description().schemas().elements().filter(|(_, it)| it.is_global);
    let mut found = elements.map(|(_, it)| &it.name).filter(|it| is_named(it, name));
    match (found.next(), found.next()) {
        (Some(name), None) => Ok(name.clone()),
        (Some(one), Some(other)) => bail!("several elements have the name {name}; give one in full: {one}, {other}"),
        (None, _) => bail!("the WSDL declares no element {name}; {hint}"),
    }
}

fn printed(arguments: &Call, reply: Option<Reply>) -> Result<ExitCode> {
    match reply {
        Some(reply) => {
            warn_of_lost(&reply, arguments.verbose);
            let response = reply.to_json()?;
            let headers = arguments.json.then(|| reply.headers_to_json());
            // The reply takes as much memory as its JSON.
            drop(reply);
            match headers {
                Some(headers) => print_json(&Json::Object(
                    [("response".to_owned(), response), ("headers".to_owned(), headers)].into_iter().collect(),
                ))?,
                None => print_json(&response)?,
            }
        }
        None if arguments.json => print_json(&json!({ "response": null }))?,
        None => report("accepted; the operation is one-way"),
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the items of a response as they arrive. The inner error is one of printing.
async fn items_printed(
    call: Prepared<'_, Tap>,
    data: &Json,
    list: Option<&str>,
) -> Result<Result<ExitCode>, DynamicError> {
    let mut reply = call.send_json_items::<Value>(data, list).await?;
    while let Some(batch) = reply.items.next_batch().await {
        let items = batch.map_err(DynamicError::Call)?;
        let printed = reply.items_to_json(&items).context("an item of the response cannot be written as JSON");
        if let Err(error) = printed.and_then(|lines| print_json_lines(&lines)) {
            return Ok(Err(error));
        }
    }
    Ok(Ok(ExitCode::SUCCESS))
}

/// Warns of everything in a reply that is not printed.
fn warn_of_lost(reply: &Reply, verbose: bool) {
    let hint = if verbose { "" } else { "; --verbose shows the message" };
    let limit = if verbose { usize::MAX } else { MAX_DEVIATIONS };
    let deviations = reply.deviations.iter().map(ToString::to_string);
    warn_of_all(deviations, limit, "deviations from the WSDL; --verbose shows all");
    let parts: Vec<_> = reply.attachments.kept().collect();
    let mut named: Vec<_> = parts.iter().take(MAX_NAMED_PARTS).map(|part| named(part)).collect();
    if parts.len() > MAX_NAMED_PARTS {
        named.push(format!("{} more", parts.len() - MAX_NAMED_PARTS));
    }
    let named = named.join(", ");
    match parts.len() {
        0 => {}
        1 => report(format_args!("warning: 1 part of the answer is not printed: {named}{hint}")),
        count => report(format_args!("warning: {count} parts of the answer are not printed: {named}{hint}")),
    }
}

/// Maximum number of parts named in one warning.
const MAX_NAMED_PARTS: usize = 10;

/// Describes a part by its media type, and by its content ID or its location.
fn named(part: &PartHeaders) -> String {
    let media = part.content_type().unwrap_or("a part without a media type");
    let named = match (part.content_id(), part.location()) {
        (Some(id), _) => format!("{media} <{id}>"),
        (None, Some(location)) => format!("{media} at {location}"),
        (None, None) => format!("{media} without a content ID"),
    };
    one_line(&named)
}

/// Replaces a fault's reason by the one in the user's language, if there is one.
fn in_own_language(mut fault: DynamicFault) -> DynamicFault {
    fault.fault.reason = fault.fault.reason_in(&language::preferred()).to_owned();
    fault
}

fn fault_printed(arguments: &Call, fault: DynamicFault) -> Result<ExitCode> {
    if arguments.json {
        print_json(&json!({ "fault": fault.to_json() }))?;
        return Ok(ExitCode::from(FAULT));
    }
    report(format_args!("fault: {}", fault.fault.reason));
    report(format_args!("  code: {}", fault.code()));
    fault.fault.subcodes.iter().for_each(|subcode| report(format_args!("  subcode: {subcode}")));
    fault.fault.role.iter().for_each(|role| report(format_args!("  role: {role}")));
    fault.fault.node.iter().for_each(|node| report(format_args!("  node: {node}")));
    fault.fault.not_understood.iter().for_each(|block| report(format_args!("  header block not understood: {block}")));
    for (name, json) in &fault.detail {
        report(format_args!("  detail {}: {}", name.local, serde_json::to_string_pretty(json)?));
    }
    if AddressingFault::code_in(&fault.fault).is_some_and(|code| code.ends_with("HeaderRequired")) {
        report("  --wsa adds the header blocks of WS-Addressing");
    }
    for (name, json) in &fault.headers {
        report(format_args!("  header {}: {}", name.local, serde_json::to_string_pretty(json)?));
    }
    Ok(ExitCode::from(FAULT))
}

/// Reports which URL did not answer, why, and what can be done.
fn no_answer(arguments: &Call, url: &str, location: Option<String>, error: &CallError) -> Result<ExitCode> {
    let error_text = match error {
        CallError::Timeout(_) => format!("{}: no answer within {} s", shown(url), arguments.timeout),
        error => with_causes(error),
    };
    // Some errors name the URL themselves.
    let error_text = match error_text.contains(&shown(url)) {
        true => error_text,
        false => format!("{}: {error_text}", shown(url)),
    };
    if arguments.json {
        print_json(&json!({ "error": error_text }))?;
    }
    report(format_args!("error: {error_text}"));
    match (error, location) {
        (CallError::Timeout(_), _) => report("--timeout SECONDS waits longer"),
        (_, Some(location)) => {
            report(format_args!("the server redirects to {}; --endpoint takes another URL", shown(&location)));
        }
        _ => remedy(&error_text, SentCredentials::to(url, &arguments.description.loading.access))
            .into_iter()
            .for_each(report),
    }
    let is_of_proxy = error_text.contains("the proxy ");
    if matches!(error, CallError::Http(_)) && arguments.endpoint.is_none() && !is_of_proxy {
        report("the URL is that of the WSDL; --endpoint takes another");
    }
    if !arguments.verbose {
        report("--verbose shows the messages");
    }
    Ok(ExitCode::from(NO_ANSWER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wsdl_may_lead_to_another_port_but_not_to_another_host_or_out_of_tls() {
        for service in ["https://a.example/s", "https://A.example:8443/s"] {
            assert!(!leads_away("https://a.example/s?wsdl", service), "{service}");
        }
        assert!(!leads_away("http://a.example/?wsdl", "https://a.example/s"));
        assert!(!leads_away("shop.wsdl", "http://a.example/s"));
        for service in ["http://a.example/s", "https://b.example/s", "https://a.example.b.example/s"] {
            assert!(leads_away("https://a.example/?wsdl", service), "{service}");
        }
        assert!(leads_away("http://a.example/?wsdl", "http://b.example/s"));
    }

    #[test]
    fn private_services_of_public_descriptions_are_known() {
        for service in ["http://127.0.0.1/", "https://localhost/", "http://[::1]:8080/", "http://10.1.2.3/"] {
            assert!(leads_inside("http://a.example/?wsdl", service), "{service}");
            assert!(
                !leads_inside("shop.wsdl", service) && !leads_inside("http://10.0.0.1/?wsdl", service),
                "{service}"
            );
        }
        assert!(!leads_inside("http://a.example/?wsdl", "http://b.example/"));
    }
}
