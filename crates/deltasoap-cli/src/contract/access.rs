//! Credentials, trust and proxy: the same arguments for the host of a WSDL and for the service that
//! is called.

use crate::cli;
use crate::files;
use anyhow::{Context as _, Result};
use deltasoap_http::{ClientTls, Credentials, HttpTransport, Identity, Proxy, Roots};
use deltasoap_wsdl::fetch::{Access, WebClient};
use url::Url;

/// Returns the client for a WSDL and the documents that it names. Only the URL's host gets
/// credentials and headers.
pub fn web_client(url: Option<&Url>, access: &cli::Access) -> Result<WebClient> {
    let mut client = WebClient::default().proxy(proxy(access));
    if let Some(roots) = own_roots(access)? {
        client = client.roots(roots);
    }
    Ok(match url {
        Some(url) => client.access(access_to(url, access)?),
        None => client,
    })
}

/// Returns what is sent only to the host of the WSDL.
fn access_to(url: &Url, access: &cli::Access) -> Result<Access> {
    let mut shown = Access::to(url);
    for (name, value) in &access.headers {
        shown = shown.header(name.as_str(), value.to_str()?)?;
    }
    if let Some(credentials) = credentials(access)? {
        shown = shown.credentials(credentials);
    }
    if let Some(identity) = identity(access)? {
        shown = shown.identity(identity);
    }
    Ok(if access.insecure { shown.unverified() } else { shown })
}

/// Returns the transport to a service.
pub fn transport(access: &cli::Access) -> Result<HttpTransport> {
    let builder = HttpTransport::builder().proxy(proxy(access));
    if access.cacert.is_none() && access.cert.is_none() && !access.insecure {
        return Ok(builder.build());
    }
    Ok(builder.tls(tls(access)?)?.build())
}

/// Returns what TLS to a service uses: the trusted certificates, and the client's own.
pub fn tls(access: &cli::Access) -> Result<ClientTls> {
    let mut tls = ClientTls::new(roots(access)?);
    if let Some(identity) = identity(access)? {
        tls = tls.identity(identity);
    }
    Ok(if access.insecure { tls.unverified() } else { tls })
}

/// Returns the proxy that the arguments name, or those of the environment.
fn proxy(access: &cli::Access) -> Proxy {
    access.proxy.clone().unwrap_or_else(Proxy::from_env)
}

fn roots(access: &cli::Access) -> Result<Roots> {
    let system = Roots::platform();
    Ok(match own_roots(access)? {
        Some(own) => system.and(own),
        None => system,
    })
}

/// Reads the certificates to trust in addition to those of the system.
fn own_roots(access: &cli::Access) -> Result<Option<Roots>> {
    let Some(path) = &access.cacert else { return Ok(None) };
    Roots::from_pem(files::read(path)?).map(Some).with_context(|| path.display().to_string())
}

/// Reads the client's certificate.
fn identity(access: &cli::Access) -> Result<Option<Identity>> {
    let (Some(cert), Some(key)) = (&access.cert, &access.key) else { return Ok(None) };
    let identity = Identity::from_pem(files::read(cert)?, files::read(key)?).map(Some);
    identity.with_context(|| format!("the certificate {} and the key {} cannot be used", cert.display(), key.display()))
}

/// Returns the credentials for HTTP authentication.
pub fn credentials(access: &cli::Access) -> Result<Option<Credentials>> {
    let Some((user, password)) = user(access)? else { return Ok(None) };
    let made = if access.digest { Credentials::digest(user, password) } else { Credentials::basic(user, &password) };
    Ok(Some(made?))
}

/// Returns the user's name and password, if there is one.
pub fn user(access: &cli::Access) -> Result<Option<(&str, String)>> {
    access.user.as_deref().map(|user| with_password(user, "-u")).transpose()
}

/// Returns a name and its password, which may be in the environment. `option` is the one that the
/// name belongs to.
pub fn with_password<'n>(user: &'n str, option: &str) -> Result<(&'n str, String)> {
    let from_environment = || {
        std::env::var("DELTASOAP_PASSWORD")
            .ok()
            .with_context(|| format!("{option} has no password: add it after a colon, or set DELTASOAP_PASSWORD"))
    };
    Ok(match user.split_once(':') {
        Some((user, password)) => (user, password.to_owned()),
        None => (user, from_environment()?),
    })
}
