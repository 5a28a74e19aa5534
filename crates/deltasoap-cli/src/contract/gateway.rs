//! `gateway`: REST, JSON and OpenAPI for SOAP services.

use super::access::{credentials, transport};
use super::call::{leads_away, leads_inside};
use super::documents::Documents;
use super::mock::described;
use super::{INTERPRETATION_NOTES, contract_of, import_with, policy_warnings, report_notes};
use crate::cli;
use crate::hangups::Hangups;
use crate::listening::listen;
use crate::output::{print_line, report};
use anyhow::{Context as _, Result, bail, ensure};
use deltasoap_dynamic::{Contract, Validation};
use deltasoap_gateway::{Backend, Config, Gateway, Reverse, ServiceConfig};
use deltasoap_http::{CallOptions, Monitor, SoapService, shutdown_signal};
use deltasoap_wsdl::fetch::shown;
use std::net::SocketAddr;
use std::time::Duration;

/// The address if none is given.
const ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8080);

/// Serves until the process is told to stop.
pub async fn gateway(arguments: &cli::Gateway) -> Result<()> {
    if arguments.schema {
        return crate::output::print_json(&Config::json_schema());
    }
    let config = config(arguments)?;
    if let (Some(url), [service]) = (&arguments.reverse, &config.services[..]) {
        return reverse(arguments, (url, service), &config).await;
    }
    let backends = backends(arguments, &config)?;
    if arguments.openapi {
        return openapi(&config, backends);
    }
    let operations: usize = backends.iter().map(|backend| backend.contract().operations().len()).sum();
    let gateway = Gateway::new(&config, backends)?;
    if arguments.check {
        let services = config.services.len();
        return print_line(format_args!("the configuration is good: services {services}, operations {operations}"));
    }
    serve(arguments, &config, gateway).await
}

/// Reads the configuration, and adds what the arguments say.
fn config(arguments: &cli::Gateway) -> Result<Config> {
    let mut config = match &arguments.config {
        Some(path) => Config::read(path).with_context(|| path.display().to_string())?,
        None => Config::default(),
    };
    if let Some(wsdl) = &arguments.wsdl {
        if config.services.is_empty() {
            config.services.push(ServiceConfig::new(wsdl));
        }
        let [service] = &mut config.services[..] else {
            bail!("the configuration has several services, each with its WSDL; name none on the command line");
        };
        service.wsdl.clone_from(wsdl);
        service.endpoint = arguments.endpoint.clone().or_else(|| service.endpoint.take());
    }
    Ok(config)
}

/// Imports the WSDLs, and prepares the ways to their services.
fn backends(arguments: &cli::Gateway, config: &Config) -> Result<Vec<Backend>> {
    ensure!(!config.services.is_empty(), "the configuration has no service");
    let mut all = Vec::new();
    for (index, service) in config.services.iter().enumerate() {
        ensure!(!service.wsdl.is_empty(), "service[{index}].wsdl is missing");
        let contract = contract_of(&service.wsdl, &arguments.loading)?;
        report_notes(&contract, &INTERPRETATION_NOTES);
        let operations = contract.operations();
        operations.iter().filter_map(|it| it.method().err()).for_each(|it| report(format_args!("warning: {it}")));
        policy_warnings(&operations).iter().for_each(|it| report(format_args!("warning: {it}")));
        check_endpoints(arguments, service, &contract)?;
        all.push(backend(arguments, service, contract)?);
    }
    Ok(all)
}

/// Refuses URLs that a WSDL from elsewhere must not choose.
fn check_endpoints(arguments: &cli::Gateway, service: &ServiceConfig, contract: &Contract) -> Result<()> {
    if service.endpoint.is_some() {
        return Ok(());
    }
    let access = &arguments.loading.access;
    let has_secrets = access.user.is_some() || !access.headers.is_empty() || service.credentials.is_some();
    for operation in contract.operations() {
        let Some(url) = operation.address() else { continue };
        if !arguments.loading.allow_private && leads_inside(&service.wsdl, url) {
            let url = shown(url);
            bail!(
                "the WSDL, which is from a public host, gives the private address {url} as the service's URL; `--endpoint {url}` calls it there"
            );
        }
        if has_secrets && leads_away(&service.wsdl, url) {
            let url = shown(url);
            bail!(
                "the credentials are for the host of the WSDL, which gives {url} as the service's URL; `--endpoint {url}` sends them there"
            );
        }
    }
    Ok(())
}

/// Prepares the way to a service: that of the arguments, unless the configuration has its own.
fn backend(arguments: &cli::Gateway, service: &ServiceConfig, contract: Contract) -> Result<Backend> {
    let access = &arguments.loading.access;
    let mut backend = Backend::new(contract);
    if service.tls.is_none() {
        backend = backend.transport(transport(access)?);
    }
    let headers = access.headers.iter().cloned();
    let options = headers.fold(CallOptions::new(), |options, (name, value)| options.http_header(name, value));
    backend = backend.options(options);
    Ok(match credentials(access)? {
        Some(credentials) => backend.credentials(credentials),
        None => backend,
    })
}

fn openapi(config: &Config, backends: Vec<Backend>) -> Result<()> {
    for document in Gateway::documents(config, backends)? {
        crate::output::print_json(&document)?;
    }
    Ok(())
}

/// Serves SOAP, and calls the JSON service at a URL.
async fn reverse(arguments: &cli::Gateway, (url, service): (&str, &ServiceConfig), config: &Config) -> Result<()> {
    let documents = Documents::default();
    let import = import_with(&service.wsdl, &arguments.loading, |client| documents.kept_by(client))?;
    let contract = Contract::from(import);
    report_notes(&contract, &INTERPRETATION_NOTES);
    let described = described(&service.wsdl, contract.description(), &documents);
    let is_described = described.is_some();
    let builder = described.unwrap_or_else(SoapService::builder);
    let builder = builder.validate(contract.clone(), Validation::Refuse);
    let reverse = Reverse::new(url, backend(arguments, service, contract)?, service, &config.limits)?;
    let soap = reverse.mount(builder).build()?;
    if arguments.check {
        return print_line("the configuration is good");
    }
    let server = listen(address(arguments, config), arguments.takeover).await?;
    let address = server.local_addr()?;
    let monitor = Monitor::for_server(&server.handle()).prometheus()?;
    print_line(format_args!("listening on http://{address}/"))?;
    if is_described {
        print_line(format_args!("WSDL at http://{address}/?wsdl"))?;
    }
    let drained = monitor.clone().drained(shutdown_signal(), Duration::from_secs(arguments.drain));
    Ok(server.serve_with_shutdown(monitor.wrap(soap), drained).await?)
}

fn address(arguments: &cli::Gateway, config: &Config) -> SocketAddr {
    arguments.listen.or(config.listen).unwrap_or(ADDRESS)
}

async fn serve(arguments: &cli::Gateway, config: &Config, gateway: Gateway) -> Result<()> {
    let server = listen(address(arguments, config), arguments.takeover).await?;
    let address = server.local_addr()?;
    let monitor = Monitor::for_server(&server.handle()).prometheus()?;
    let hangups = Hangups::watch()?;
    for service in &config.services {
        print_line(format_args!("listening on http://{address}{}/", service.path.trim_end_matches('/')))?;
    }
    print_line(format_args!("also at http://{address}: /health, /ready, /metrics"))?;
    let drained = monitor.clone().drained(shutdown_signal(), Duration::from_secs(arguments.drain));
    let served = server.serve_with_shutdown(monitor.wrap(gateway.clone()), drained);
    tokio::select! {
        served = served => Ok(served?),
        never = reloaded(arguments, &gateway, hangups) => never,
    }
}

/// Reads the configuration again whenever the process is told to. An invalid one is reported, and
/// the old one stays.
async fn reloaded(arguments: &cli::Gateway, gateway: &Gateway, mut hangups: Hangups) -> Result<()> {
    loop {
        hangups.next().await;
        let made = config(arguments).and_then(|config| Ok(Gateway::new(&config, backends(arguments, &config)?)?));
        match made {
            Ok(new) => {
                gateway.replace(new);
                // The gateway goes on, even if nobody reads what it prints.
                drop(print_line("the configuration was read again"));
            }
            Err(error) => report(format_args!("error: the old configuration stays: {error:#}")),
        }
    }
}
