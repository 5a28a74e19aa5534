//! `proxy`: a reverse proxy in front of a SOAP service.

use super::access::{transport, with_password};
use super::{INTERPRETATION_NOTES, contract_of, report_notes};
use crate::certificate::{self, Renewal};
use crate::cli;
use crate::listening::listen;
use crate::output::{print_json, print_line};
use anyhow::{Context as _, Result, bail};
use deltasoap_dynamic::Contract;
use deltasoap_http::{HttpTransport, Monitor, Server, ServerHandle, ServerTls, shutdown_signal};
use deltasoap_proxy::{Config, Proxy, Secret, SecurityConfig, Tls, ValidationMode};
use deltasoap_wsdl::fetch::shown;
use std::net::SocketAddr;
use std::time::Duration;

/// The address if none is given.
const ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8080);

/// Serves until the process is told to stop.
pub async fn proxy(arguments: &cli::Proxy) -> Result<()> {
    if arguments.schema {
        return print_json(&Config::json_schema());
    }
    let mut config = config(arguments)?;
    let contract = contract(arguments, &config)?;
    if arguments.check {
        // A check writes nothing.
        (config.record.directory, config.record.har) = (None, None);
        Proxy::new(&config, contract, way(arguments, &config)?)?;
        return print_line("the configuration is good");
    }
    // Files are opened when it is certain that the proxy can listen.
    let server = listen(config.listen.unwrap_or(ADDRESS), arguments.takeover).await?;
    let proxy = Proxy::new(&config, contract, way(arguments, &config)?)?;
    let served = serve(arguments, &config, server, proxy.clone()).await;
    proxy.flush().await;
    served
}

/// Reads the configuration, and adds what the arguments say.
fn config(arguments: &cli::Proxy) -> Result<Config> {
    let mut config = match &arguments.config {
        Some(path) => Config::read(path).with_context(|| path.display().to_string())?,
        None => Config::default(),
    };
    set(&mut config.target, &arguments.target);
    set(&mut config.wsdl, &arguments.description);
    set(&mut config.public_url, &arguments.public_url);
    set(&mut config.listen, &arguments.listen);
    set(&mut config.admin, &arguments.admin);
    if let (Some(certificate), Some(key)) = (&arguments.tls_cert, &arguments.tls_key) {
        config.tls = Some(Tls { certificate: certificate.clone(), key: key.clone() });
    }
    if let Some(validation) = arguments.validation {
        config.validation = match validation {
            cli::ValidationName::Off => ValidationMode::Off,
            cli::ValidationName::Report => ValidationMode::Report,
            cli::ValidationName::Refuse => ValidationMode::Refuse,
        };
    }
    add_limits(&mut config, &arguments.limits);
    add_recording(&mut config, &arguments.recording);
    add_access(&mut config, &arguments.loading.access)?;
    add_security(&mut config, arguments)?;
    add_cache(&mut config, &arguments.cache);
    add_trouble(&mut config, &arguments.trouble);
    Ok(config)
}

/// Sets what an argument says, if it was given.
fn set<T: Clone>(place: &mut Option<T>, argument: &Option<T>) {
    if argument.is_some() {
        place.clone_from(argument);
    }
}

/// Sets a number, if it was given.
fn set_number<T: Copy>(place: &mut T, argument: Option<T>) {
    *place = argument.unwrap_or(*place);
}

/// Sets a list, if it was given.
fn set_list<T: Clone>(place: &mut Vec<T>, argument: &[T]) {
    if !argument.is_empty() {
        *place = argument.to_vec();
    }
}

fn add_limits(config: &mut Config, arguments: &cli::ProxyLimits) {
    let limits = &mut config.limits;
    set_number(&mut limits.body_bytes, arguments.max_body);
    set_number(&mut limits.exchanges, arguments.max_exchanges);
    set_number(&mut limits.timeout_seconds, arguments.timeout);
    set_number(&mut limits.idle_seconds, arguments.idle_timeout);
}

fn add_recording(config: &mut Config, arguments: &cli::Recording) {
    set(&mut config.record.directory, &arguments.record);
    set(&mut config.record.har, &arguments.har);
    config.record.secrets |= arguments.secrets;
    set(&mut config.replay, &arguments.replay);
}

/// Adds what requests to the target get. Certificates and a further proxy are the transport's.
fn add_access(config: &mut Config, access: &cli::Access) -> Result<()> {
    if access.digest {
        bail!("--digest is not supported by the proxy: its clients authenticate themselves");
    }
    for (name, value) in &access.headers {
        config.access.headers.push(format!("{name}: {}", value.to_str()?));
    }
    if let Some((user, password)) = super::access::user(access)? {
        (config.access.user, config.access.password) = (Some(user.to_owned()), Some(Secret::Text(password)));
    }
    Ok(())
}

fn add_security(config: &mut Config, arguments: &cli::Proxy) -> Result<()> {
    let cli::Offloading { secured_side, sign, wsse_user, wsse_digest, wsse_timestamp, wsse_trust, encrypt_for } =
        &arguments.security;
    let cert = &arguments.loading.access.cert;
    if cert.is_some() && arguments.loading.access.key.is_none() && sign.is_none() {
        bail!("--cert needs the certificate's private key: --key for TLS, or --sign to sign messages");
    }
    let is_given = sign.is_some() || wsse_user.is_some() || wsse_trust.is_some() || encrypt_for.is_some();
    if !is_given && !wsse_timestamp && secured_side.is_none() {
        return Ok(());
    }
    let security = config.security.get_or_insert_with(SecurityConfig::default);
    if let Some(side) = secured_side {
        security.side = (*side).into();
    }
    if sign.is_some() {
        (security.sign, security.certificate) = (sign.clone(), cert.clone());
    }
    if let Some(user) = wsse_user {
        let (user, password) = with_password(user, "--wsse-user")?;
        (security.user, security.password) = (Some(user.to_owned()), Some(Secret::Text(password)));
    }
    security.digest |= wsse_digest;
    security.timestamp |= wsse_timestamp;
    set(&mut security.trust, wsse_trust);
    set(&mut security.encrypt_for, encrypt_for);
    Ok(())
}

fn add_cache(config: &mut Config, arguments: &cli::Caching) {
    set_list(&mut config.cache.operations, &arguments.cache);
    config.cache.shared |= arguments.cache_shared;
    set_number(&mut config.cache.entries, arguments.cache_entries);
    set_number(&mut config.cache.bytes, arguments.cache_bytes);
}

fn add_trouble(config: &mut Config, arguments: &cli::Troubling) {
    let trouble = &mut config.trouble;
    set_number(&mut trouble.seed, arguments.seed);
    set_list(&mut trouble.latency, &arguments.latency);
    set_list(&mut trouble.fault_rate, &arguments.fault_rate);
    set_list(&mut trouble.drop_rate, &arguments.drop_rate);
    set_list(&mut trouble.cut_rate, &arguments.cut_rate);
    set_list(&mut trouble.slow, &arguments.slow);
}

/// Imports the WSDL, if there is one.
fn contract(arguments: &cli::Proxy, config: &Config) -> Result<Option<Contract>> {
    let Some(wsdl) = &config.wsdl else { return Ok(None) };
    let contract = contract_of(wsdl, &arguments.loading)?;
    report_notes(&contract, &INTERPRETATION_NOTES);
    Ok(Some(contract))
}

/// Returns the way to the target, by the arguments and else by the configuration.
fn way(arguments: &cli::Proxy, config: &Config) -> Result<HttpTransport> {
    let (given, configured) = (&arguments.loading.access, &config.access);
    let further = configured.proxy.as_deref().map(cli::further_proxy).transpose();
    let further = further.map_err(|why| anyhow::anyhow!("access.proxy: {why}"))?;
    // The certificate may be there only to sign.
    let own = (given.cert.clone(), given.key.clone());
    let (cert, key) = match own {
        (Some(cert), Some(key)) => (Some(cert), Some(key)),
        _ => (configured.certificate.clone(), configured.key.clone()),
    };
    transport(&cli::Access {
        cacert: given.cacert.clone().or_else(|| configured.roots.clone()),
        cert,
        key,
        insecure: given.insecure || configured.insecure,
        proxy: given.proxy.clone().or(further),
        ..cli::Access::default()
    })
}

async fn serve(arguments: &cli::Proxy, config: &Config, server: Server, proxy: Proxy) -> Result<()> {
    let (server, scheme, renewal) = match &config.tls {
        Some(Tls { certificate, key }) => {
            let tls = ServerTls::new(certificate::identity((certificate, key))?);
            let renewal = Renewal::new(tls.rotation(), (certificate, key))?;
            (server.tls(tls)?, "https", Some(renewal))
        }
        None => (server, "http", None),
    };
    let address = server.local_addr()?;
    print_line(format_args!("listening on {scheme}://{address}/"))?;
    match (&config.target, &config.replay) {
        (_, Some(folder)) => {
            let count = proxy.recorded();
            print_line(format_args!("answering with {}, exchanges {count}", folder.display()))?;
        }
        (Some(target), None) => print_line(format_args!("passing on to {}", shown(target)))?,
        (None, None) => {}
    }
    let (monitor, admin) = admin(config, &server.handle()).await?;
    let drained = monitor.clone().drained(shutdown_signal(), Duration::from_secs(arguments.limits.drain));
    let serving = async {
        tokio::select! {
            served = server.serve_with_shutdown(proxy, drained) => Ok(served?),
            never = certificate::renewed(renewal) => never,
        }
    };
    match admin {
        None => serving.await,
        Some(admin) => {
            let handle = admin.handle();
            let admin = tokio::spawn(admin.serve(monitor));
            let served = serving.await;
            handle.shutdown();
            admin.await??;
            served
        }
    }
}

/// Listens for those who operate the proxy, if that is wanted.
async fn admin(config: &Config, handle: &ServerHandle) -> Result<(Monitor, Option<Server>)> {
    let monitor = Monitor::for_server(handle);
    let Some(address) = config.admin else { return Ok((monitor, None)) };
    let admin = Server::bind(address).await.context("--admin takes another address")?;
    print_line(format_args!("admin at http://{}: /health, /ready, /metrics", admin.local_addr()?))?;
    Ok((monitor.prometheus()?, Some(admin)))
}
