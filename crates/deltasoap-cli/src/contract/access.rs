//! Who asks for a WSDL: the arguments that `call` has for the service as well.

use crate::cli;
use anyhow::{Context as _, Result};
use deltasoap_wsdl::fetch::{Access, WebClient};
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
        shown = shown.basic(name, &password)?;
    }
    if let Some(path) = &access.cacert {
        shown = shown.roots_pem(&read(path)?).with_context(|| path.display().to_string())?;
    }
    if let (Some(cert), Some(key)) = (&access.cert, &access.key) {
        shown = shown.identity_pem(&read(cert)?, &read(key)?).context("the certificate cannot be used")?;
    }
    Ok(WebClient::with_access(shown))
}

/// A header's name and value.
pub fn split(header: &str) -> Result<(&str, &str)> {
    let (name, value) = header.split_once(':').with_context(|| format!("no colon in the header {header:?}"))?;
    Ok((name.trim(), value.trim()))
}

/// The user's name and password, if there is one.
pub fn user(access: &cli::Access) -> Result<Option<(&str, String)>> {
    let Some(user) = &access.user else { return Ok(None) };
    let from_environment =
        || std::env::var("DELTASOAP_PASSWORD").context("no password: add it behind a colon, or set DELTASOAP_PASSWORD");
    Ok(Some(match user.split_once(':') {
        Some((user, password)) => (user, password.to_owned()),
        None => (user.as_str(), from_environment()?),
    }))
}

pub fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))
}
