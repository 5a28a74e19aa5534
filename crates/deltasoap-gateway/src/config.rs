//! The configuration of a gateway: one TOML file, with a [JSON schema](Config::json_schema) for
//! editors.
//!
//! The comments of the fields are the documentation of the file. What can only be checked with the
//! WSDL at hand, such as the names of operations, is checked when the gateway is built.

use deltasoap_core::Tolerance;
use deltasoap_dynamic::Validation;
use deltasoap_dynamic::json::Decimals;
use deltasoap_settings::wsdl_relative_to;
pub use deltasoap_settings::{ConfigError, Secret};
use http::{HeaderName, Method};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// A gateway's configuration.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Config {
    /// Address and port to listen on; default 127.0.0.1:8080. The command's --listen takes
    /// precedence.
    #[schemars(with = "Option<String>")]
    pub listen: Option<SocketAddr>,
    /// What clients may use up.
    pub limits: Limits,
    /// Requests from pages of other origins; without it, browsers refuse them.
    pub cors: Option<Cors>,
    /// Compression of responses, for clients that accept it; without it, none are compressed.
    /// Compressed requests are always read.
    pub compression: Option<Compression>,
    /// The services, each with its WSDL.
    #[serde(rename = "service")]
    pub services: Vec<ServiceConfig>,
}

/// Bounds on memory and time.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum length of a request's body in bytes, after decompression; of JSON lines, that of a
    /// line. Default 16 MiB.
    pub request_bytes: usize,
    /// Maximum length of a service's answer in bytes. For JSON lines, it counts from the last items
    /// sent. Default 64 MiB.
    pub answer_bytes: u64,
    /// Maximum time for a request's body to arrive, in seconds; of JSON lines, that of a line.
    /// Default 30.
    pub body_seconds: u64,
    /// Minimum pace of a request in JSON lines, in bytes a second: on average, after its first
    /// `body_seconds`, counting only the time in which the gateway waits for it. 0 for none. Default
    /// 500.
    pub lines_rate: u32,
    /// Maximum number of calls at one time; others get status 503. Default 1000.
    pub concurrent_calls: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            request_bytes: 16 << 20,
            answer_bytes: 64 << 20,
            body_seconds: 30,
            lines_rate: 500,
            concurrent_calls: 1000,
        }
    }
}

/// Which pages of other origins may use the gateway.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Cors {
    /// Their origins, such as `https://app.example`; `["*"]` allows all.
    pub origins: Vec<String>,
    /// True if browsers may send cookies and passwords; not with all origins.
    pub credentials: bool,
    /// How long a browser may remember the answer, in seconds. Default 0.
    pub max_age_seconds: u64,
}

/// Compression of responses.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Compression {
    /// Responses from this many bytes on are compressed. Default 1024.
    pub from_bytes: u16,
}

impl Default for Compression {
    fn default() -> Self {
        Compression { from_bytes: 1024 }
    }
}

/// One service.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ServiceConfig {
    /// The WSDL: a URL, or the path of a file, a directory or a zip archive, relative to the
    /// configuration. The command's WSDL takes precedence, for the only service.
    #[serde(default)]
    pub wsdl: String,
    /// What all paths of the service begin with, such as `/shop`. Default: nothing, for a single
    /// service.
    #[serde(default)]
    pub path: String,
    /// The title in the OpenAPI document; default: the name of the service in the WSDL.
    #[serde(default)]
    pub title: Option<String>,
    /// The version of the API in the OpenAPI document. Default `1.0.0`.
    #[serde(default = "first_version")]
    pub version: String,
    /// The URL that requests are sent to; default: that of the WSDL.
    #[serde(default)]
    pub endpoint: Option<String>,
    /// The port whose operations are called, as `Port` or `Service.Port`: one for SOAP 1.2, for
    /// example. Default: operations of all ports, each at the first port that has it.
    #[serde(default)]
    pub port: Option<String>,
    /// How decimals and large integers are written.
    #[serde(default)]
    pub decimals: DecimalForm,
    /// Maximum time of a call in seconds. For requests in JSON lines, it counts from the last line
    /// sent. Default 30.
    #[serde(default = "call_seconds")]
    pub timeout_seconds: u64,
    /// Maximum number of attempts after the first: if there was no connection, and for operations
    /// that are declared idempotent also after other failures. Default 2.
    #[serde(default = "attempts")]
    pub retries: u32,
    /// Operations that can be repeated with the same effect. Those that a `GET` calls need not be
    /// named.
    #[serde(default)]
    pub idempotent: Vec<String>,
    /// What happens to requests and answers that can be read but violate the WSDL: facets, keys,
    /// fixed values.
    #[serde(default)]
    pub validation: ValidationMode,
    /// What responses may have beyond the WSDL. Default: elements that it does not name, which are
    /// left out.
    #[serde(default)]
    pub tolerance: ToleranceMode,
    /// Whether clients have sessions at the service: the cookies that it sets are sent to the
    /// client, by names that begin with the path of this service, and come back to it. Default: they
    /// are not.
    #[serde(default)]
    pub cookies: bool,
    /// How the gateway authenticates to the service; default: it does not.
    #[serde(default)]
    pub credentials: Option<CredentialsConfig>,
    /// Certificates for TLS to the service.
    #[serde(default)]
    pub tls: Option<Tls>,
    /// The status of faults, by the name of an entry of their detail or by their code:
    /// `SoldOut = 409`. Default: 400 if the service blames the request, else 500.
    #[serde(default)]
    pub faults: BTreeMap<String, u16>,
    /// Paths of one's own, besides `POST /operations/NAME`.
    #[serde(default, rename = "route")]
    pub routes: Vec<RouteConfig>,
}

fn first_version() -> String {
    "1.0.0".to_owned()
}

fn call_seconds() -> u64 {
    30
}

fn attempts() -> u32 {
    2
}

impl ServiceConfig {
    /// Creates the configuration of a service with the defaults.
    pub fn new(wsdl: impl Into<String>) -> Self {
        ServiceConfig {
            wsdl: wsdl.into(),
            path: String::new(),
            title: None,
            version: first_version(),
            endpoint: None,
            port: None,
            decimals: DecimalForm::default(),
            timeout_seconds: call_seconds(),
            retries: attempts(),
            idempotent: Vec::new(),
            validation: ValidationMode::default(),
            tolerance: ToleranceMode::default(),
            cookies: false,
            credentials: None,
            tls: None,
            faults: BTreeMap::new(),
            routes: Vec::new(),
        }
    }
}

/// How decimals and large integers are written in JSON.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DecimalForm {
    /// As numbers if every reader of JSON gets them exactly, otherwise as strings.
    #[default]
    Auto,
    /// Always as strings.
    Strings,
    /// Always as numbers, with all their digits.
    Numbers,
}

impl From<DecimalForm> for Decimals {
    fn from(form: DecimalForm) -> Self {
        match form {
            DecimalForm::Auto => Decimals::Auto,
            DecimalForm::Strings => Decimals::Strings,
            DecimalForm::Numbers => Decimals::Numbers,
        }
    }
}

/// What happens to invalid messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ValidationMode {
    /// They are not validated.
    #[default]
    Off,
    /// They are logged.
    Report,
    /// They are refused.
    Refuse,
}

/// What is accepted beyond the WSDL.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ToleranceMode {
    /// Nothing.
    Strict,
    /// Elements that the WSDL does not name.
    #[default]
    Unknown,
    /// Beyond that, elements in any order, in another namespace or none, and missing required
    /// elements where an empty value is obvious.
    AnyOrder,
}

impl From<ToleranceMode> for Tolerance {
    fn from(mode: ToleranceMode) -> Self {
        match mode {
            ToleranceMode::Strict => Tolerance::Strict,
            ToleranceMode::Unknown => Tolerance::Unknown,
            ToleranceMode::AnyOrder => Tolerance::AnyOrder,
        }
    }
}

impl From<ValidationMode> for Validation {
    fn from(mode: ValidationMode) -> Self {
        match mode {
            ValidationMode::Off => Validation::Off,
            ValidationMode::Report => Validation::Report,
            ValidationMode::Refuse => Validation::Refuse,
        }
    }
}

/// How the gateway authenticates to a service.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum CredentialsConfig {
    /// Headers of the client's request are passed through.
    Pass {
        /// The names of the headers. Default: `["authorization"]`.
        #[serde(default = "authorization")]
        headers: Vec<String>,
    },
    /// HTTP Basic.
    Basic {
        /// The name.
        user: String,
        /// Where the password is.
        password: Secret,
    },
    /// HTTP Digest.
    Digest {
        /// The name.
        user: String,
        /// Where the password is.
        password: Secret,
    },
    /// A user name token of WS-Security.
    UsernameToken {
        /// The name.
        user: String,
        /// Where the password is.
        password: Secret,
        /// True for a digest of the password.
        #[serde(default)]
        digest: bool,
    },
    /// The name and the password that the client sends in HTTP Basic become a user name token of
    /// WS-Security. Clients without them get status 401.
    BasicToUsernameToken {
        /// True for a digest of the password.
        #[serde(default)]
        digest: bool,
    },
}

fn authorization() -> Vec<String> {
    vec!["authorization".to_owned()]
}

/// Certificates for TLS to a service, in PEM; paths are relative to the configuration.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Tls {
    /// Certificates to trust besides those of the system.
    pub roots: Option<PathBuf>,
    /// The gateway's own certificate, with `key`.
    pub certificate: Option<PathBuf>,
    /// The private key of the certificate.
    pub key: Option<PathBuf>,
}

/// A path of one's own.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RouteConfig {
    /// The path, with parameters in braces: `/orders/{number}`. `/orders?status&customer` also
    /// names the parameters of the query; without `?`, a request without a body takes all
    /// properties with a simple value.
    pub path: String,
    /// The method: `GET` (default), `DELETE`, `POST`, `PUT` or `PATCH`. The first two have no body.
    #[serde(default)]
    pub method: RouteMethod,
    /// The operation that is called.
    pub operation: String,
    /// Where parameters are in the request, if that is not the property of their name: a path of
    /// properties with `/`.
    #[serde(default)]
    pub parameters: BTreeMap<String, String>,
    /// Where the body is in the request; default: it is the request.
    #[serde(default)]
    pub body: Option<String>,
    /// Values of the request that are always the same, by their paths.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub fixed: BTreeMap<String, toml::Value>,
}

/// The method of a route.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum RouteMethod {
    /// `GET`
    #[default]
    Get,
    /// `DELETE`
    Delete,
    /// `POST`
    Post,
    /// `PUT`
    Put,
    /// `PATCH`
    Patch,
}

impl RouteMethod {
    /// Returns true if requests have a body.
    pub fn has_body(self) -> bool {
        matches!(self, RouteMethod::Post | RouteMethod::Put | RouteMethod::Patch)
    }
}

impl From<RouteMethod> for Method {
    fn from(method: RouteMethod) -> Self {
        match method {
            RouteMethod::Get => Method::GET,
            RouteMethod::Delete => Method::DELETE,
            RouteMethod::Post => Method::POST,
            RouteMethod::Put => Method::PUT,
            RouteMethod::Patch => Method::PATCH,
        }
    }
}

impl Config {
    /// Creates the configuration of a gateway of these services, with the defaults.
    pub fn new(services: Vec<ServiceConfig>) -> Self {
        Config { services, ..Self::default() }
    }

    /// Reads a configuration. The error of invalid TOML names line and column.
    ///
    /// # Errors
    /// If it is not TOML, or has other keys or values than the [schema](Self::json_schema).
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        deltasoap_settings::parse(text)
    }

    /// Reads a configuration from a file. Relative paths in it become relative to the working
    /// directory, passwords are read.
    ///
    /// # Errors
    /// As for [`parse`](Self::parse), and if the file cannot be read.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let mut config: Self = deltasoap_settings::read(path)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        for service in &mut config.services {
            service.relative_to(folder);
        }
        Ok(config)
    }

    /// Returns the JSON schema of the file.
    pub fn json_schema() -> serde_json::Value {
        deltasoap_settings::json_schema::<Config>("Configuration of deltasoap gateway")
    }
}

impl ServiceConfig {
    fn relative_to(&mut self, folder: &Path) {
        wsdl_relative_to(&mut self.wsdl, folder);
        let files = self.tls.iter_mut().flat_map(|tls| [&mut tls.roots, &mut tls.certificate, &mut tls.key]);
        files.flatten().for_each(|file| *file = folder.join(&file));
        if let Some(password) = self.credentials.as_mut().and_then(CredentialsConfig::password) {
            password.relative_to(folder);
        }
    }
}

impl CredentialsConfig {
    fn password(&mut self) -> Option<&mut Secret> {
        match self {
            CredentialsConfig::Basic { password, .. }
            | CredentialsConfig::Digest { password, .. }
            | CredentialsConfig::UsernameToken { password, .. } => Some(password),
            CredentialsConfig::Pass { .. } | CredentialsConfig::BasicToUsernameToken { .. } => None,
        }
    }
}

/// Returns the names of headers.
pub(crate) fn header_names(place: &str, names: &[String]) -> Result<Vec<HeaderName>, ConfigError> {
    let name = |name: &String| {
        name.parse().map_err(|_| ConfigError::invalid(place, format!("{name:?} is not the name of an HTTP header")))
    };
    names.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_place() {
        let error = Config::parse("[limits]\nrequest_bites = 1\n").expect_err("an unknown key").to_string();
        assert!(error.contains("line 2, column 1") && error.contains("request_bites"), "{error}");
        let error = Config::parse("[[service]]\nwsdl = 7\n").expect_err("a number").to_string();
        assert!(error.contains("line 2, column 8"), "{error}");
    }

    #[test]
    fn files_are_relative_to_the_configuration() {
        let mut service = ServiceConfig::new("shop.wsdl");
        service.credentials =
            Some(CredentialsConfig::Basic { user: "a".to_owned(), password: Secret::File("secret".into()) });
        service.relative_to(Path::new("etc"));
        assert_eq!(Path::new(&service.wsdl), Path::new("etc/shop.wsdl"));
        let Some(Secret::File(file)) = service.credentials.as_mut().and_then(CredentialsConfig::password) else {
            panic!("no file");
        };
        assert_eq!(file, Path::new("etc/secret"));
    }
}
