//! The configuration of a proxy: one TOML file, with a [JSON schema](Config::json_schema) for
//! editors. The command's options set the same fields.
//!
//! The comments of the fields are the documentation of the file.

use crate::cache::CacheRule;
use crate::trouble::TroubleConfig;
use deltasoap_settings::wsdl_relative_to;
pub use deltasoap_settings::{ConfigError, Secret};
use schemars::JsonSchema;
use serde::Deserialize;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// A proxy's configuration.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Config {
    /// Address and port to listen on; default 127.0.0.1:8080. The command's options take
    /// precedence over this file.
    #[schemars(with = "Option<String>")]
    pub listen: Option<SocketAddr>,
    /// Address and port for /health, /ready and /metrics; default: they are not served.
    #[schemars(with = "Option<String>")]
    pub admin: Option<SocketAddr>,
    /// The URL of the service. Paths of requests are added to its path.
    pub target: Option<String>,
    /// The WSDL of the service: a URL, or the path of a file, a directory or a zip archive,
    /// relative to this file.
    pub wsdl: Option<String>,
    /// The URL of the proxy as clients know it, for the addresses in WSDLs. Default: what the
    /// request's `Host` says.
    pub public_url: Option<String>,
    /// Certificate and key of the listener, which then serves HTTPS only.
    pub tls: Option<Tls>,
    /// How the proxy gets to the target.
    pub access: AccessConfig,
    /// What clients may use up.
    pub limits: Limits,
    /// Where exchanges are recorded.
    pub record: RecordConfig,
    /// Answer with the recording in this directory, without a target.
    pub replay: Option<PathBuf>,
    /// What happens to messages that violate the WSDL.
    pub validation: ValidationMode,
    /// WS-Security on one side of the proxy, for peers on the other side that have none.
    pub security: Option<SecurityConfig>,
    /// Answers that are kept.
    pub cache: CacheConfig,
    /// Trouble on purpose.
    pub trouble: TroubleConfig,
}

/// A certificate and its key, in PEM; paths are relative to the configuration.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// The certificate, with those of its authorities.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// How the proxy gets to the target: trust, credentials, a further proxy.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct AccessConfig {
    /// Headers that every request gets, such as `X-Api-Key: 7`.
    pub headers: Vec<String>,
    /// The name for HTTP Basic, with `password`.
    pub user: Option<String>,
    /// Where the password is.
    pub password: Option<Secret>,
    /// Certificates to trust besides those of the system, in PEM.
    pub roots: Option<PathBuf>,
    /// The proxy's own certificate for the target, with `key`, in PEM.
    pub certificate: Option<PathBuf>,
    /// The private key of the certificate.
    pub key: Option<PathBuf>,
    /// Accept any certificate of the target.
    pub insecure: bool,
    /// Send requests through this proxy: `http://HOST:PORT` or `socks5://HOST:PORT`. Default: as
    /// the environment says.
    pub proxy: Option<String>,
}

/// Bounds on memory and time.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum length in bytes of a body that is held in memory, after decompression. Bodies that
    /// are only passed on have no limit. Default 64 MiB.
    pub body_bytes: usize,
    /// Maximum number of exchanges at one time; others get status 503. Default 1000.
    pub exchanges: usize,
    /// Maximum time in seconds from a request to the head of its answer; then status 504. Default
    /// 60.
    pub timeout_seconds: u64,
    /// Maximum time in seconds in which nothing of a body arrives; then status 408 if it is a
    /// request's. Default 30.
    pub idle_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { body_bytes: 64 << 20, exchanges: 1000, timeout_seconds: 60, idle_seconds: 30 }
    }
}

/// Where exchanges are recorded.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct RecordConfig {
    /// A directory for messages as files.
    pub directory: Option<PathBuf>,
    /// A file in the format HAR 1.2.
    pub har: Option<PathBuf>,
    /// Record passwords, tokens, cookies and other secrets too.
    pub secrets: bool,
}

/// What happens to messages that violate the WSDL.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ValidationMode {
    /// They are not validated.
    #[default]
    Off,
    /// They are passed on, counted and logged.
    Report,
    /// They are answered with a fault, or replaced by one.
    Refuse,
}

/// The side of the proxy on which messages are secured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Requests are secured for the target, and its answers verified.
    #[default]
    Target,
    /// Requests of clients are verified, and their answers secured.
    Client,
}

/// WS-Security on one side of the proxy. Files are in PEM; paths are relative to the configuration.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SecurityConfig {
    /// The side that is secured. Default: `target`.
    pub side: Side,
    /// The private key that signs, with `certificate`.
    pub sign: Option<PathBuf>,
    /// The certificate of that key.
    pub certificate: Option<PathBuf>,
    /// The name of a user name token: that is sent to the target, or that clients must send.
    pub user: Option<String>,
    /// Where its password is.
    pub password: Option<Secret>,
    /// Send a digest of the password.
    pub digest: bool,
    /// Send a timestamp, which signed messages have anyway; with `side = "client"` also require it.
    pub timestamp: bool,
    /// Require that received messages are signed, with one of the certificates in this file or one
    /// that an authority in it has issued.
    pub trust: Option<PathBuf>,
    /// Encrypt bodies for the owner of this certificate, and decrypt those received with `sign`.
    pub encrypt_for: Option<PathBuf>,
}

/// Answers that are kept.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct CacheConfig {
    /// The operations whose answers are kept, with a time in seconds: `GetQuote=30`. Default time:
    /// 60 seconds.
    pub operations: Vec<CacheRule>,
    /// Give the same answer to requests with other credentials too.
    pub shared: bool,
    /// Maximum number of answers. Default 1000.
    pub entries: usize,
    /// Maximum bytes of all answers. Default 64 MiB.
    pub bytes: usize,
}

impl Default for CacheConfig {
    fn default() -> Self {
        CacheConfig { operations: Vec::new(), shared: false, entries: 1000, bytes: 64 << 20 }
    }
}

impl Config {
    /// Reads a configuration. The error of invalid TOML names line and column.
    ///
    /// # Errors
    /// If it is not TOML, or has other keys or values than the [schema](Self::json_schema).
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        deltasoap_settings::parse(text)
    }

    /// Reads a configuration from a file. Relative paths in it become relative to the working
    /// directory.
    ///
    /// # Errors
    /// As for [`parse`](Self::parse), and if the file cannot be read.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let mut config: Self = deltasoap_settings::read(path)?;
        config.relative_to(path.parent().unwrap_or(Path::new("")));
        Ok(config)
    }

    /// Returns the JSON schema of the file.
    pub fn json_schema() -> serde_json::Value {
        deltasoap_settings::json_schema::<Config>("Configuration of deltasoap proxy")
    }

    fn relative_to(&mut self, folder: &Path) {
        let Config { wsdl, tls, access, record, replay, security, .. } = self;
        wsdl.iter_mut().for_each(|wsdl| wsdl_relative_to(wsdl, folder));
        let tls = tls.iter_mut().flat_map(|tls| [&mut tls.certificate, &mut tls.key]);
        let access_files = [&mut access.roots, &mut access.certificate, &mut access.key];
        let others = access_files.into_iter().chain([&mut record.directory, &mut record.har, replay]).flatten();
        tls.chain(others).for_each(|path| *path = folder.join(&*path));
        access.password.iter_mut().for_each(|secret| secret.relative_to(folder));
        if let Some(security) = security {
            let SecurityConfig { sign, certificate, trust, encrypt_for, password, .. } = security;
            let files = [sign, certificate, trust, encrypt_for].into_iter().flatten();
            files.for_each(|path| *path = folder.join(&*path));
            password.iter_mut().for_each(|secret| secret.relative_to(folder));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_configuration_is_read() {
        let text = r#"
            listen = "127.0.0.1:8090"
            target = "http://127.0.0.1:8080/"
            validation = "report"
            [limits]
            body_bytes = 1000
            [record]
            directory = "tape"
            [security]
            side = "client"
            user = "ada"
            password = { file = "secret" }
            [cache]
            operations = ["Order=5"]
            [trouble]
            latency = ["Order:10..20"]
            fault_rate = ["10%"]
        "#;
        let mut config = Config::parse(text).expect("a configuration");
        config.relative_to(Path::new("etc"));
        assert_eq!(config.record.directory.as_deref(), Some(Path::new("etc/tape")));
        let security = config.security.expect("security");
        assert_eq!(security.side, Side::Client);
        assert!(matches!(security.password, Some(Secret::File(path)) if path == Path::new("etc/secret")));
        assert_eq!(config.cache.operations[0].time.as_secs(), 5);
        assert_eq!(config.trouble.latency[0].operation.as_deref(), Some("Order"));
        assert_eq!((config.limits.body_bytes, config.limits.exchanges), (1000, 1000));
    }

    #[test]
    fn errors_name_the_place() {
        for (text, parts) in [
            ("[limits]\nbody_bites = 1\n", ["line 2, column 1", "body_bites"]),
            ("[cache]\noperations = [\"Order=x\"]\n", ["line 2", "number of seconds"]),
            ("[trouble]\nfault_rate = [\"7\"]\n", ["line 2", "no rate"]),
            ("[security]\npassword = { text = \"x\" }\n", ["line 2", "text"]),
        ] {
            let error = Config::parse(text).expect_err("a fault").to_string();
            assert!(parts.iter().all(|part| error.contains(part)), "{text}: {error}");
        }
    }
}
