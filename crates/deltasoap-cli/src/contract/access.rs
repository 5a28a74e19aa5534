//! Who asks: the same arguments for the host of a WSDL, which a blocking client is for, and for the service that is called.

use crate::cli;
use anyhow::{Context as _, Result};
use deltasoap_http::{ClientTls, Credentials, HttpTransport, Identity, Proxy, Roots};
use deltasoap_wsdl::fetch::{Access, WebClient};
use http::{HeaderName, HeaderValue};
use std::path::Path;
use url::Url;

/// The client for a WSDL at a URL, which shows that URL's host who asks.
pub fn web_client(url: &Url, access: &cli::Access) -> Result<WebClient> {
    let mut shown = Access::to(url);
    for header in &access.headers {
        let (name, value) = split(header)?;
        shown = shown.header(name, value)?;
    }
    if let Some((name, password)) = user(access)? {
        shown = if access.digest { shown.digest(name, password) } else { shown.basic(name, &password)? };
    }
    if let Some(path) = &access.cacert {
        shown = shown.roots_pem(&read(path)?).with_context(|| path.display().to_string())?;
    }
    if let (Some(cert), Some(key)) = (&access.cert, &access.key) {
        shown = shown.identity_pem(&read(cert)?, &read(key)?).context("the certificate cannot be used")?;
    }
    if access.insecure {
        shown = shown.unverified();
    }
    Ok(WebClient::with_access(shown))
}

/// The transport to a service.
pub fn transport(access: &cli::Access) -> Result<HttpTransport> {
    let builder = HttpTransport::builder().proxy(proxy(access)?);
    if access.cacert.is_none() && access.cert.is_none() && !access.insecure {
        return Ok(builder.build());
    }
    let mut tls = ClientTls::new(roots(access)?);
    if let (Some(cert), Some(key)) = (&access.cert, &access.key) {
        tls = tls.identity(Identity::from_pem(read(cert)?, read(key)?).context("the certificate cannot be used")?);
    }
    if access.insecure {
        tls = tls.unverified();
    }
    Ok(builder.tls(tls)?.build())
}

/// The proxy that is named, or those of the environment.
pub fn proxy(access: &cli::Access) -> Result<Proxy> {
    match &access.proxy {
        Some(url) => Proxy::new(url, &Proxy::no_proxy()).context("--proxy"),
        None => Ok(Proxy::from_env()),
    }
}

fn roots(access: &cli::Access) -> Result<Roots> {
    let system = Roots::platform();
    let Some(path) = &access.cacert else { return Ok(system) };
    let own = Roots::from_pem(read(path)?).with_context(|| path.display().to_string())?;
    Ok(system.and(own))
}

/// What a service is shown by HTTP authentication.
pub fn credentials(access: &cli::Access) -> Result<Option<Credentials>> {
    let Some((user, password)) = user(access)? else { return Ok(None) };
    let made = if access.digest { Credentials::digest(user, password) } else { Credentials::basic(user, &password) };
    Ok(Some(made?))
}

/// The HTTP headers for a service.
pub fn headers(access: &cli::Access) -> impl Iterator<Item = Result<(HeaderName, HeaderValue)>> {
    access.headers.iter().map(|header| {
        let (name, value) = split(header)?;
        let name: HeaderName = name.parse().with_context(|| format!("{name:?} is no name of a header"))?;
        let value = HeaderValue::from_str(value).with_context(|| format!("{name} cannot have this value"))?;
        Ok((name, value))
    })
}

/// A header's name and value.
fn split(header: &str) -> Result<(&str, &str)> {
    let (name, value) = header.split_once(':').with_context(|| format!("no colon in the header {header:?}"))?;
    Ok((name.trim(), value.trim()))
}

/// The user's name and password, if there is one.
fn user(access: &cli::Access) -> Result<Option<(&str, String)>> {
    let Some(user) = &access.user else { return Ok(None) };
    let from_environment = || {
        std::env::var("DELTASOAP_PASSWORD")
            .ok()
            .context("no password: add it behind a colon, or set DELTASOAP_PASSWORD")
    };
    Ok(Some(match user.split_once(':') {
        Some((user, password)) => (user, password.to_owned()),
        None => (user.as_str(), from_environment()?),
    }))
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))
}
