//! The network, by a small blocking client.
//!
//! A host's name can stand for any address, and for another one a moment later. So the check is made where names
//! become addresses: what was checked is what is connected to. Redirects are followed here, one by one, each under the
//! rules for documents from the network.

use super::store::bounded;
use super::{Access, Fetch, FetchError, Fetched, Reach, Request, Shown, is_public, names_private_host};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use ureq::config::Config;
use ureq::http::header::AUTHORIZATION;
use ureq::http::{HeaderValue, Response, StatusCode, Uri};
use ureq::tls::TlsConfig;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Body};
use url::Url;

/// Redirects followed for one document.
const REDIRECTS: usize = 5;

/// Gets documents by http and https. Proxies named in the environment are not used: with one, the addresses connected
/// to would be the proxy's affair.
#[derive(Debug, Clone, Default)]
pub struct WebClient {
    access: Option<Access>,
}

impl WebClient {
    /// A client that shows an origin who it is.
    pub fn with_access(access: Access) -> Self {
        WebClient { access: Some(access) }
    }
}

impl Fetch for WebClient {
    fn fetch(&self, request: &Request<'_>) -> Result<Fetched, FetchError> {
        let deadline = Instant::now().checked_add(request.timeout);
        let (mut url, mut reach) = (request.url.clone(), request.reach);
        for _ in 0..=REDIRECTS {
            let access = self.access.as_ref().filter(|access| access.origin == url.origin());
            match exchange(&url, access, reach, deadline, request.most_bytes)? {
                Answer::Document(fetched) => return Ok(fetched),
                Answer::Moved { to, was_private } => {
                    if reach == Reach::Origin && !(was_private && to.origin() == url.origin()) {
                        reach = Reach::Public;
                    }
                    url = to;
                }
            }
        }
        Err(FetchError::Unavailable(format!("{}: more than {REDIRECTS} redirects", Shown(request.url))))
    }
}

enum Answer {
    Document(Fetched),
    Moved { to: Url, was_private: bool },
}

fn exchange(
    url: &Url,
    access: Option<&Access>,
    reach: Reach,
    deadline: Option<Instant>,
    most: usize,
) -> Result<Answer, FetchError> {
    let (shown, public_only) = (Shown(url), reach == Reach::Public);
    if public_only && names_private_host(url) {
        return Err(FetchError::Forbidden(format!("{shown} is a private address")));
    }
    let met_private = Arc::new(AtomicBool::new(false));
    let guard = || Guard { public_only, met_private: met_private.clone(), inner: DefaultResolver::default() };
    let failed = |error: ureq::Error| match error {
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            FetchError::Forbidden(format!("{shown}: {error}"))
        }
        error => FetchError::Unavailable(format!("{shown}: {error}")),
    };
    let response = get(url, access, deadline, guard).map_err(failed)?;
    let is_private = met_private.load(Ordering::Relaxed);
    let status = response.status();
    if status.is_redirection() {
        let to = response.headers().get("location").and_then(|to| url.join(to.to_str().ok()?).ok());
        let to = to.filter(|to| matches!(to.scheme(), "http" | "https"));
        let nowhere = || FetchError::Unavailable(format!("{shown}: a redirect to nowhere"));
        return to.ok_or_else(nowhere).map(|to| Answer::Moved { to, was_private: is_private });
    }
    if !status.is_success() {
        return Err(FetchError::Unavailable(format!("{shown}: status {status}")));
    }
    let bytes = bounded(response.into_body().into_reader(), most)?;
    Ok(Answer::Document(Fetched { bytes, is_private }))
}

/// Gets what is at a URL; once more where the first answer is a challenge.
fn get(
    url: &Url,
    access: Option<&Access>,
    deadline: Option<Instant>,
    guard: impl Fn() -> Guard,
) -> Result<Response<Body>, ureq::Error> {
    let tls = if url.scheme() == "https" { Access::tls(access) } else { TlsConfig::default() };
    let ask = |proof: Option<HeaderValue>| {
        let agent = Agent::with_parts(config(deadline, tls.clone()), DefaultConnector::default(), guard());
        let shown = access.iter().flat_map(|access| &access.headers).map(|(name, value)| (name.clone(), value.clone()));
        let shown = shown.chain(proof.map(|proof| (AUTHORIZATION, proof)));
        shown.fold(agent.get(url.as_str()), |request, (name, value)| request.header(name, value)).call()
    };
    let response = ask(None)?;
    let is_challenge = response.status() == StatusCode::UNAUTHORIZED;
    match access.filter(|_| is_challenge).and_then(|access| access.proof(url, response.headers())) {
        Some(proof) => ask(Some(proof)),
        None => Ok(response),
    }
}

fn config(deadline: Option<Instant>, tls: TlsConfig) -> Config {
    let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    Config::builder()
        .tls_config(tls)
        .timeout_global(left)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .proxy(None)
        .user_agent(concat!("deltasoap/", env!("CARGO_PKG_VERSION")))
        .build()
}

/// Looks names up and takes out what may not be connected to.
#[derive(Debug)]
struct Guard {
    public_only: bool,
    met_private: Arc<AtomicBool>,
    inner: DefaultResolver,
}

impl Resolver for Guard {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        self.checked(self.inner.resolve(uri, config, timeout)?)
    }
}

impl Guard {
    /// The addresses that may be connected to. Of a host that has both kinds the private ones: else a public server could
    /// pass for a private one, and name what is on the private one.
    fn checked(&self, found: ResolvedSocketAddrs) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let mut private = self.empty();
        found.iter().filter(|address| !is_public(address.ip())).for_each(|&address| private.push(address));
        if private.is_empty() {
            return Ok(found);
        }
        if self.public_only {
            let refused = std::io::Error::new(std::io::ErrorKind::PermissionDenied, "the host has a private address");
            return Err(ureq::Error::Io(refused));
        }
        self.met_private.store(true, Ordering::Relaxed);
        Ok(private)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUBLIC: &str = "8.8.8.8:80";
    const PRIVATE: &str = "127.0.0.1:80";

    /// Of these addresses the ones that are left, and whether one was private; `None` if the host is refused.
    fn checked(public_only: bool, found: &[&str]) -> Option<(Vec<String>, bool)> {
        let met_private = Arc::new(AtomicBool::new(false));
        let guard = Guard { public_only, met_private: met_private.clone(), inner: DefaultResolver::default() };
        let mut addresses = guard.empty();
        found.iter().for_each(|address| addresses.push(address.parse().unwrap()));
        let left = guard.checked(addresses).ok()?;
        Some((left.iter().map(ToString::to_string).collect(), met_private.load(Ordering::Relaxed)))
    }

    #[test]
    fn hosts_with_a_private_address_are_refused_or_private() {
        assert_eq!(checked(true, &[PUBLIC]), Some((vec![PUBLIC.to_owned()], false)));
        assert_eq!(checked(true, &[PRIVATE]), None);
        assert_eq!(checked(true, &[PUBLIC, PRIVATE]), None);
        assert_eq!(checked(false, &[PUBLIC]), Some((vec![PUBLIC.to_owned()], false)));
        assert_eq!(checked(false, &[PUBLIC, PRIVATE]), Some((vec![PRIVATE.to_owned()], true)));
    }
}
