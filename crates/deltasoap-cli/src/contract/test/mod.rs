//! `test`: tests a service by its WSDL.

mod again;
mod blocks;
mod junit;
mod print;
mod saved;

use super::access::{credentials, transport};
use super::call::service_url;
use super::{INTERPRETATION_NOTES, contract, policy_warnings, report_notes, without_secrets};
use crate::cli::{Description, Test};
use crate::output::{print_json, report, with_causes};
use crate::progress;
use anyhow::{Context as _, Result, bail};
use deltasoap_dynamic::testing::{Access, Check, Checks, Event, Generation, Report, Settings, Stop, Tested, Tester};
use deltasoap_dynamic::{Contract, Operation};
use deltasoap_http::HttpTransport;
use deltasoap_wsdl::fetch::{credentials_in, shown};
use http::Uri;
use std::process::ExitCode;
use std::time::Duration;
use url::Url;

/// Exit code if nothing was tested, because of the WSDL or the arguments.
const NOT_TESTED: u8 = 2;
/// Exit code: the service does not answer, or refuses the credentials.
const NO_ANSWER: u8 = 4;

/// Tests a service. Fails if there are findings that are more than warnings.
pub async fn test(arguments: &Test) -> Result<ExitCode> {
    match tested(arguments).await {
        Ok(code) => Ok(code),
        Err(error) if error.is::<std::io::Error>() => Err(error),
        Err(error) => {
            report(format_args!("error: {}", with_causes(error.as_ref())));
            Ok(ExitCode::from(NOT_TESTED))
        }
    }
}

async fn tested(arguments: &Test) -> Result<ExitCode> {
    let contract = contract(&arguments.description)?;
    report_notes(&contract, &INTERPRETATION_NOTES);
    let operations = selected(arguments, &contract)?;
    policy_warnings(&operations).iter().for_each(|it| report(format_args!("warning: {it}")));
    let services = by_url(arguments, operations)?;
    let result = match &arguments.replay {
        Some(folder) => saved::replay(arguments, &services, folder).await?,
        None => all(arguments, &services).await?,
    };
    let is_tested = result.operations.iter().any(|it| it.cases > 0);
    if let Some(folder) = arguments.save.as_ref().filter(|_| is_tested) {
        saved::save(&result, folder)?;
    }
    if let Some(file) = &arguments.junit {
        junit::write(&result, file)?;
    }
    match arguments.json {
        true => print_json(&print::as_json(&result))?,
        false => print::text(arguments, &result, &services)?,
    }
    Ok(match &result.stop {
        Some(Stop::Unreachable(_) | Stop::Unreadable(_) | Stop::Denied(_)) => ExitCode::from(NO_ANSWER),
        _ if result.has_failures() => ExitCode::FAILURE,
        _ if !is_tested => {
            report("error: no operation was tested");
            ExitCode::from(NOT_TESTED)
        }
        _ => ExitCode::SUCCESS,
    })
}

/// Operations at one URL.
struct Service {
    url: String,
    operations: Vec<Operation>,
}

/// Returns the operations that the arguments select.
fn selected(arguments: &Test, contract: &Contract) -> Result<Vec<Operation>> {
    let all = contract.operations();
    for name in arguments.operations.iter().chain(&arguments.excluded).chain(&arguments.idempotent) {
        if !all.iter().any(|operation| is_named(operation, name)) {
            let wsdl = without_secrets(&arguments.description.wsdl);
            bail!("there is no operation {name}; `deltasoap list {wsdl}` shows all operations");
        }
    }
    let mut selected = all.clone();
    selected.retain(|operation| {
        let is_chosen = |names: &[String]| names.iter().any(|name| is_named(operation, name));
        let version = arguments.soap.is_none_or(|version| operation.version() == version.into());
        version
            && (arguments.operations.is_empty() || is_chosen(&arguments.operations))
            && !is_chosen(&arguments.excluded)
    });
    if arguments.endpoint.is_some() {
        one_port(&mut selected);
    }
    if selected.is_empty() {
        bail!("no operation is left to be tested");
    }
    Ok(selected)
}

/// Returns true for `Operation`, `Port.Operation` and `Service.Port.Operation`.
fn is_named(operation: &Operation, name: &str) -> bool {
    let full = operation.full_name();
    operation.name() == name || full == name || full.strip_suffix(name).is_some_and(|before| before.ends_with('.'))
}

/// Keeps the operations of the first port, if the others are elsewhere: one URL is not that of all.
fn one_port(selected: &mut Vec<Operation>) {
    let Some(first) = selected.first().cloned() else { return };
    let before = selected.len();
    selected.retain(|it| it.address() == first.address() || it.port_name() == first.port_name());
    if selected.len() < before {
        report(format_args!(
            "note: only {} is tested, since the other ports have other URLs; --soap or --operation Port.Operation \
             selects another port",
            first.port_name()
        ));
    }
}

/// Groups operations by the URL of their port.
fn by_url(arguments: &Test, operations: Vec<Operation>) -> Result<Vec<Service>> {
    let mut services: Vec<Service> = Vec::new();
    for operation in operations {
        let Description { wsdl, loading } = &arguments.description;
        let url = service_url(wsdl, loading, arguments.endpoint.as_deref(), &operation)?;
        if url.is_empty() {
            bail!("the WSDL gives no URL for {}; --endpoint takes one", operation.full_name());
        }
        match services.iter_mut().find(|service| service.url == url) {
            Some(service) => service.operations.push(operation),
            None => services.push(Service { url, operations: vec![operation] }),
        }
    }
    Ok(services)
}

/// Tests all services, and joins what was found.
async fn all(arguments: &Test, services: &[Service]) -> Result<Report> {
    let count: usize = services.iter().map(|service| service.operations.len()).sum();
    let urls: Vec<_> = services.iter().map(|service| without_secrets(&service.url)).collect();
    let plural = if count == 1 { "" } else { "s" };
    report(format_args!(
        "note: {count} operation{plural} at {}: the requests may change data; --operation and --exclude select",
        urls.join(", ")
    ));
    let cases = if arguments.case.is_some() { 1 } else { arguments.max_cases };
    let bar = progress::bar("testing", count as u64 * u64::from(cases));
    let mut joined = Report { seed: arguments.seed, ..Report::default() };
    for service in services {
        let watch = |event: Event<'_>| match event {
            Event::Case => bar.inc(1),
            Event::Shrinking => bar.tick(),
            Event::Operation(_) => {}
        };
        let part = tester(arguments, service)?.run(&service.operations, &watch).await;
        joined.requests += part.requests;
        joined.operations.extend(part.operations);
        joined.findings.extend(part.findings);
        joined.stop = joined.stop.or(part.stop);
        if joined.stop == Some(Stop::Time) {
            break;
        }
    }
    bar.finish_and_clear();
    Ok(joined)
}

/// Creates the tester of a service.
fn tester(arguments: &Test, service: &Service) -> Result<Tester<HttpTransport>> {
    let options = &arguments.description.loading.access;
    let own = Url::parse(&service.url).ok().and_then(|url| credentials_in(&url));
    let url: Uri = if own.is_some() { shown(&service.url) } else { service.url.clone() }
        .parse()
        .with_context(|| format!("the URL {} is malformed", without_secrets(&service.url)))?;
    let mut access = Access::to(url);
    access.headers.extend(options.headers.iter().cloned());
    access.credentials = credentials(options)?.or(own);
    access.timeout = Duration::from_secs(arguments.timeout);
    access.rate = arguments.rate;
    let tester = Tester::new(transport(options)?, access, settings(arguments));
    Ok(match blocks::of(arguments, &service.url)? {
        Some(blocks) => tester.blocks(blocks),
        None => tester,
    })
}

fn settings(arguments: &Test) -> Settings {
    let named = |names: &[String]| names.iter().filter_map(|name| Check::named(name)).collect();
    Settings {
        generation: Generation { seed: arguments.seed, encodings: arguments.encodings },
        max_cases: arguments.max_cases,
        case: arguments.case,
        max_time: arguments.max_time.map(Duration::from_secs),
        jobs: arguments.jobs.into(),
        max_response_time: arguments.max_response_time.map(Duration::from_millis),
        checks: Checks {
            only: named(&arguments.checks),
            except: named(&arguments.exclude_checks),
            strict: arguments.strict,
        },
        max_shrinks: arguments.max_shrinks,
        idempotent: arguments.idempotent.clone(),
    }
}

/// Returns the number of answers of an operation that failed a check.
fn failed(tested: &Tested) -> u32 {
    tested.tallies.values().map(|tally| tally.failed).sum()
}
