//! One service: its contract, the way to it, and what can be called.

use crate::body::ResponseBody;
use crate::config::{ConfigError, CredentialsConfig, Limits, ServiceConfig, Tls, ValidationMode, header_names};
use crate::cookies;
use crate::openapi::{self, Schemas};
use crate::problem::Problem;
use crate::targets::{self, Route, Target};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use deltasoap_dynamic::{Contract, DynamicClient};
use deltasoap_http::{
    Body, BoxError, CallOptions, ClientTls, Credentials, HttpTransport, Identity, Proxy, Retries, Roots,
};
use deltasoap_security::{Protection, UsernameToken};
use http::header::{AUTHORIZATION, COOKIE, HeaderName};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::BodyExt;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::Duration;
use tower::util::BoxCloneSyncService;
use tower::{Service, ServiceExt};

/// The way to a service, whatever it is.
pub(crate) type Transport = BoxCloneSyncService<Request<Body>, Response<ResponseBody>, BoxError>;

/// Headers of distributed traces, which are passed through unless a request's span is traced itself.
pub(crate) const TRACES: [HeaderName; 2] =
    [HeaderName::from_static("traceparent"), HeaderName::from_static("tracestate")];

/// A SOAP service that a gateway calls.
#[derive(Debug)]
pub struct Backend {
    contract: Contract,
    transport: Option<Transport>,
    options: CallOptions,
    credentials: Option<Credentials>,
}

/// The parts of a backend that a service of SOAP needs.
pub(crate) struct Way {
    pub(crate) contract: Contract,
    pub(crate) transport: Transport,
    pub(crate) targets: Vec<Target>,
    pub(crate) routes: Vec<Route>,
}

impl Backend {
    /// Returns what leads to a JSON service.
    pub(crate) fn way(self, config: &ServiceConfig, place: &str) -> Result<Way, ConfigError> {
        let contract = self.contract.with_decimals(config.decimals.into());
        let targets = targets::targets(&contract, config, place)?;
        let schemas = Schemas::of(&contract, &targets);
        let routes = targets::routes(&contract, config, place, &targets, &schemas)?;
        let transport = match self.transport {
            Some(transport) => transport,
            None => boxed(network(config.tls.as_ref(), &format!("{place}.tls"))?),
        };
        Ok(Way { contract, transport, targets, routes })
    }

    /// Creates the service of a contract, which is called over HTTP.
    pub fn new(contract: Contract) -> Self {
        Backend { contract, transport: None, options: CallOptions::default(), credentials: None }
    }

    /// Sets the way to the service: any client as a tower service, or the service itself in memory.
    #[must_use]
    pub fn transport<S, B>(mut self, transport: S) -> Self
    where
        S: Service<Request<Body>, Response = Response<B>, Error: Into<BoxError>, Future: Send>,
        S: Clone + Send + Sync + 'static,
        B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        self.transport = Some(boxed(transport));
        self
    }

    /// Sets options of all calls, such as further HTTP headers. Those of the configuration and of
    /// the client's request take precedence.
    #[must_use]
    pub fn options(mut self, options: CallOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets the gateway's credentials for the service; those of the configuration take precedence.
    #[must_use]
    pub fn credentials(mut self, credentials: Credentials) -> Self {
        self.credentials = Some(credentials);
        self
    }

    /// Returns the contract.
    pub fn contract(&self) -> &Contract {
        &self.contract
    }
}

fn boxed<S, B>(transport: S) -> Transport
where
    S: Service<Request<Body>, Response = Response<B>, Error: Into<BoxError>, Future: Send>,
    S: Clone + Send + Sync + 'static,
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    let unified = transport.map_response(|response: Response<B>| {
        cookies::note(&response);
        response.map(|body| body.map_err(Into::into).boxed_unsync())
    });
    BoxCloneSyncService::new(unified.map_err(Into::into))
}

/// A service that is ready to be called.
pub(crate) struct Ready {
    pub(crate) path: String,
    pub(crate) title: String,
    pub(crate) client: DynamicClient<Transport>,
    pub(crate) targets: Vec<Target>,
    pub(crate) by_name: HashMap<String, usize>,
    pub(crate) routes: Vec<Route>,
    /// The OpenAPI document.
    pub(crate) document: Bytes,
    pub(crate) statuses: BTreeMap<String, StatusCode>,
    forwarded: Forwarded,
    /// Whether clients have sessions, by cookies.
    pub(crate) has_sessions: bool,
    /// Why requests must be whole before they are sent, if they must.
    pub(crate) needs_whole: Option<&'static str>,
    /// True if messages are validated.
    pub(crate) is_validated: bool,
    /// Those of all calls.
    options: CallOptions,
}

/// What a call has of the client's credentials.
enum Forwarded {
    Nothing,
    Headers(Vec<HeaderName>),
    /// The name and password of HTTP Basic, as a user name token.
    Token {
        is_digest: bool,
    },
}

impl Ready {
    /// Makes a service ready. `place` is its key in the configuration.
    pub(crate) fn new(
        backend: Backend,
        config: &ServiceConfig,
        limits: &Limits,
        place: &str,
    ) -> Result<Self, ConfigError> {
        let contract = backend.contract.with_decimals(config.decimals.into());
        let path = path(config, place)?;
        let targets = targets::targets(&contract, config, place)?;
        if targets.is_empty() {
            return Err(ConfigError::invalid(format!("{place}.wsdl"), "it has no operation that can be called"));
        }
        let schemas = Schemas::of(&contract, &targets);
        let routes = targets::routes(&contract, config, place, &targets, &schemas)?;
        let document = openapi::document(config, &contract, &schemas, &targets, &routes);
        let transport = match backend.transport {
            Some(transport) => transport,
            None => boxed(network(config.tls.as_ref(), &format!("{place}.tls"))?),
        };
        let mut statuses = BTreeMap::new();
        for (name, status) in &config.faults {
            let status = StatusCode::from_u16(*status).ok().filter(|it| it.is_client_error() || it.is_server_error());
            let wrong = || ConfigError::invalid(format!("{place}.faults.{name}"), "expected a status from 400 to 599");
            statuses.insert(name.clone(), status.ok_or_else(wrong)?);
        }
        let by_name = targets.iter().enumerate().map(|(index, target)| (target.name.clone(), index)).collect();
        Ok(Ready {
            path,
            title: document["info"]["title"].as_str().unwrap_or_default().to_owned(),
            client: client(contract, transport, (config, backend.credentials), limits, place)?,
            targets,
            by_name,
            routes,
            document: document.to_string().into(),
            statuses,
            forwarded: forwarded(config, place)?,
            has_sessions: config.cookies,
            needs_whole: needs_whole(config),
            is_validated: config.validation != ValidationMode::Off,
            options: backend.options.timeout(Duration::from_secs(config.timeout_seconds)),
        })
    }

    /// Returns the target with a name: the shortest one, or any other that finds it.
    pub(crate) fn target(&self, name: &str) -> Option<&Target> {
        let index = self.by_name.get(name).copied().or_else(|| {
            let full = self.client.contract().operation(name).ok()?.full_name();
            self.targets.iter().position(|target| target.operation.full_name() == full)
        });
        self.targets.get(index?)
    }

    /// Returns the options of a call, with what it has of the client's headers.
    pub(crate) fn options(&self, headers: &HeaderMap, is_idempotent: bool) -> Result<CallOptions, Problem> {
        let mut options = self.options.clone().idempotent(is_idempotent);
        let own = match &self.forwarded {
            Forwarded::Headers(names) => &names[..],
            Forwarded::Nothing | Forwarded::Token { .. } => &[],
        };
        for name in own.iter().chain(&TRACES) {
            if let Some(value) = headers.get(name) {
                options = options.http_header(name.clone(), value.clone());
            }
        }
        if let Some(cookies) = cookies::for_service(headers, &self.path).filter(|_| self.has_sessions) {
            options = options.http_header(COOKIE, cookies);
        }
        if let Forwarded::Token { is_digest } = self.forwarded {
            let (user, password) = basic(headers).ok_or_else(Problem::unauthorized)?;
            options = options.protection(protection(user, password, is_digest));
        }
        Ok(options)
    }
}

/// The reason of services with WS-Security.
pub(crate) const SECURED: &str = "its requests have WS-Security";

/// Returns why the requests of a service must be whole before they are sent, if they must.
pub(crate) fn needs_whole(config: &ServiceConfig) -> Option<&'static str> {
    use CredentialsConfig::{BasicToUsernameToken, UsernameToken};
    match (&config.credentials, config.validation) {
        (Some(UsernameToken { .. } | BasicToUsernameToken { .. }), _) => Some(SECURED),
        (_, ValidationMode::Report | ValidationMode::Refuse) => Some("its requests are validated"),
        (_, ValidationMode::Off) => None,
    }
}

/// Returns what the paths of a service begin with.
fn path(config: &ServiceConfig, place: &str) -> Result<String, ConfigError> {
    let path = config.path.trim_end_matches('/');
    let is_good = path.is_empty() || path.starts_with('/');
    // Cookies have it in their names.
    let is_strange = |c: char| c.is_control() || "{}?#;,=\" ~".contains(c);
    if !is_good || path.contains("//") || path.contains(is_strange) {
        return Err(ConfigError::invalid(format!("{place}.path"), "expected a path such as /shop"));
    }
    Ok(path.to_owned())
}

/// Creates the client of a service.
fn client(
    contract: Contract,
    transport: Transport,
    (config, own): (&ServiceConfig, Option<Credentials>),
    limits: &Limits,
    place: &str,
) -> Result<DynamicClient<Transport>, ConfigError> {
    let mut client = DynamicClient::with_transport(contract, transport).validation(config.validation.into());
    if let Some(endpoint) = &config.endpoint {
        client = client.endpoint(endpoint.clone());
    }
    let place = format!("{place}.credentials");
    let made = match &config.credentials {
        Some(CredentialsConfig::Basic { user, password }) => Some(Credentials::basic(user, &password.read(&place)?)),
        Some(CredentialsConfig::Digest { user, password }) => Some(Credentials::digest(user, password.read(&place)?)),
        _ => None,
    };
    let credentials = made.transpose().map_err(|error| ConfigError::invalid(&place, error))?.or(own);
    let protection = match &config.credentials {
        Some(CredentialsConfig::UsernameToken { user, password, digest }) => {
            Some(protection(user.clone(), password.read(&place)?, *digest))
        }
        _ => None,
    };
    let tolerance = config.tolerance.into();
    let (retries, timeout) = (Retries::up_to(config.retries), Duration::from_secs(config.timeout_seconds));
    let answer = deltasoap_core::Limits { message: limits.answer_bytes, ..deltasoap_core::Limits::default() };
    Ok(client.configure(move |builder| {
        let mut builder = builder.retries(retries).timeout(timeout).limits(answer).tolerance(tolerance);
        if let Some(credentials) = &credentials {
            builder = builder.credentials(credentials.clone());
        }
        if let Some(protection) = &protection {
            builder = builder.protection(protection.clone());
        }
        builder
    }))
}

fn protection(user: String, password: String, is_digest: bool) -> Protection {
    Protection::new().user(match is_digest {
        true => UsernameToken::digest(user, password),
        false => UsernameToken::text(user, password),
    })
}

fn forwarded(config: &ServiceConfig, place: &str) -> Result<Forwarded, ConfigError> {
    Ok(match &config.credentials {
        Some(CredentialsConfig::Pass { headers }) => {
            Forwarded::Headers(header_names(&format!("{place}.credentials.headers"), headers)?)
        }
        Some(CredentialsConfig::BasicToUsernameToken { digest }) => Forwarded::Token { is_digest: *digest },
        _ => Forwarded::Nothing,
    })
}

/// Creates the transport over HTTP.
fn network(tls: Option<&Tls>, place: &str) -> Result<HttpTransport, ConfigError> {
    let builder = HttpTransport::builder().proxy(Proxy::from_env());
    let Some(tls) = tls else { return Ok(builder.build()) };
    let wrong = |error: &dyn std::fmt::Display| ConfigError::invalid(place, error);
    let read = |path: &Path| {
        std::fs::read(path).map_err(|error| wrong(&format_args!("{} cannot be read: {error}", path.display())))
    };
    let mut roots = Roots::platform();
    if let Some(path) = &tls.roots {
        roots = roots.and(Roots::from_pem(read(path)?).map_err(|error| wrong(&error))?);
    }
    let mut client = ClientTls::new(roots);
    match (&tls.certificate, &tls.key) {
        (Some(certificate), Some(key)) => {
            let identity = Identity::from_pem(read(certificate)?, read(key)?).map_err(|error| wrong(&error))?;
            client = client.identity(identity);
        }
        (None, None) => {}
        _ => return Err(wrong(&"a certificate needs its key, and a key its certificate")),
    }
    Ok(builder.tls(client).map_err(|error| wrong(&error))?.build())
}

/// Returns the name and the password of HTTP Basic (RFC 7617).
fn basic(headers: &HeaderMap) -> Option<(String, String)> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, coded) = value.split_once(' ')?;
    let coded = Some(coded.trim()).filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    let text = String::from_utf8(BASE64_STANDARD.decode(coded).ok()?).ok()?;
    let (user, password) = text.split_once(':')?;
    Some((user.to_owned(), password.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn basic_credentials_are_read() {
        let headers = |value| HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_static(value))]);
        assert_eq!(basic(&headers("Basic QWRhOmE6Yg==")), Some(("Ada".to_owned(), "a:b".to_owned())));
        for value in ["Bearer QWRhOmE=", "Basic", "Basic QWRh", "Basic !"] {
            assert_eq!(basic(&headers(value)), None, "{value}");
        }
        assert_eq!(basic(&HeaderMap::new()), None);
    }
}
