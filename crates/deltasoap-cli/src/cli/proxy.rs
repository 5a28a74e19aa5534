//! Arguments of `proxy`.

use super::values::{self, ParseWith};
use super::{Loading, Takeover, ValidationName};
use clap::builder::{NonEmptyStringValueParser, RangedU64ValueParser};
use clap::{Args, ValueEnum};
use deltasoap_proxy::{CacheRule, Latency, Rate, Rule, Side, Speed};
use std::net::SocketAddr;
use std::path::PathBuf;

pub const EXAMPLES: &str = "Examples:
  deltasoap proxy http://host/shop                             pass requests on; RUST_LOG=info shows them
  deltasoap proxy --record tape http://host/shop               record exchanges as files
  deltasoap proxy --replay tape                                answer with the recording
  deltasoap proxy --har shop.har http://host/shop              record for the developer tools of browsers
  deltasoap proxy --wsdl shop.wsdl --validation report http://host/shop
  deltasoap proxy --sign key.pem --cert cert.pem --wsse-trust service.pem http://host/shop
  deltasoap proxy --cache GetQuote=30 http://host/shop
  deltasoap proxy --latency 100..500 --fault-rate Order:10% --seed 7 http://host/shop";

#[derive(Debug, Args)]
#[command(mut_arg("digest", |unsupported| unsupported.hide(true)))]
pub struct Proxy {
    /// The URL of the service; paths of requests are added to its path
    #[arg(id = "wsdl", value_name = "TARGET-URL", required_unless_present_any = ["replay", "config", "schema"], value_parser = ParseWith(values::endpoint))]
    pub target: Option<String>,
    /// The WSDL of the service: a URL, a file, a directory, a zip archive, or a file that `compile`
    /// wrote. Names operations, and is what --validation validates by
    #[arg(id = "description", long = "wsdl", value_name = "WSDL", value_parser = NonEmptyStringValueParser::new())]
    pub description: Option<String>,
    #[command(flatten)]
    pub loading: Loading,
    /// Address and port to listen on; port 0 takes a free one. Default: that of the configuration,
    /// or 127.0.0.1:8080
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
    #[command(flatten)]
    pub takeover: Takeover,
    /// Serve /health, /ready and /metrics on this address
    #[arg(long, value_name = "ADDRESS")]
    pub admin: Option<SocketAddr>,
    /// Use TLS for clients, with the certificates of this PEM file: the proxy's own first;
    /// it is read again on SIGHUP
    #[arg(long, requires = "tls_key", value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,
    /// The certificate's private key, a PEM file
    #[arg(long, requires = "tls_cert", value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
    /// The URL of the proxy as clients know it, for addresses in WSDLs; default: what their `Host`
    /// says
    #[arg(long, value_name = "URL", value_parser = ParseWith(values::endpoint))]
    pub public_url: Option<String>,
    /// The configuration: all that options say (TOML); options take precedence
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Only check options and configuration, and say what is wrong with them
    #[arg(long)]
    pub check: bool,
    /// Only print the JSON schema of the configuration
    #[arg(long)]
    pub schema: bool,
    #[command(flatten)]
    pub limits: ProxyLimits,
    #[command(flatten)]
    pub recording: Recording,
    /// Validate requests and answers by the WSDL: report what is invalid, or answer invalid
    /// messages with a fault
    #[arg(long, value_enum, value_name = "WHAT")]
    pub validation: Option<ValidationName>,
    #[command(flatten)]
    pub security: Offloading,
    #[command(flatten)]
    pub cache: Caching,
    #[command(flatten)]
    pub trouble: Troubling,
}

/// What clients may use up.
#[derive(Debug, Args)]
pub struct ProxyLimits {
    /// Maximum bytes of a body that is held in memory, after decompression; default 64 MiB. Bodies
    /// that are only passed on have no limit
    #[arg(long, value_name = "BYTES", value_parser = number())]
    pub max_body: Option<usize>,
    /// Maximum number of exchanges at one time; others get status 503. Default 1000
    #[arg(long, value_name = "N", value_parser = number())]
    pub max_exchanges: Option<usize>,
    /// Maximum seconds from a request to the head of its answer; default 60
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=DAY))]
    pub timeout: Option<u64>,
    /// Maximum seconds in which nothing of a body arrives; default 30. A body that is needed as a
    /// whole may take twenty times as long
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=DAY))]
    pub idle_timeout: Option<u64>,
    /// Seconds in which /ready tells load balancers that the proxy is about to stop
    #[arg(long, default_value_t = 0, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(..=DAY))]
    pub drain: u64,
}

/// Seconds of a day, the longest time of a limit.
const DAY: u64 = 86_400;

/// Reads a number of bytes or things, up to a tebi.
fn number() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=1 << 40)
}

/// Recordings.
#[derive(Debug, Args)]
pub struct Recording {
    /// Record exchanges in this directory: as files that --replay, `mock --replies` and `replay`
    /// read
    #[arg(long, value_name = "DIR")]
    pub record: Option<PathBuf>,
    /// Record exchanges in this file, as HAR 1.2; an older file is replaced
    #[arg(long, value_name = "FILE")]
    pub har: Option<PathBuf>,
    /// Record passwords, tokens, cookies and other secrets too
    #[arg(long)]
    pub secrets: bool,
    /// Answer with the recording in this directory; no target is called
    #[arg(long, value_name = "DIR")]
    pub replay: Option<PathBuf>,
}

/// WS-Security on one side of the proxy.
#[derive(Debug, Args)]
pub struct Offloading {
    /// The side on which messages are secured: requests are secured for the target and its answers
    /// verified, or requests of clients are verified and their answers secured. Default: target
    #[arg(long, value_enum, value_name = "SIDE")]
    pub secured_side: Option<SideName>,
    /// Sign messages with this private key (PEM), whose certificate is that of --cert
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub sign: Option<PathBuf>,
    /// Name and password of a user name token that is sent to the target, or that clients must
    /// send; without a password, DELTASOAP_PASSWORD from the environment is used
    #[arg(long, value_name = "NAME[:PASSWORD]")]
    pub wsse_user: Option<String>,
    /// Send a digest of the password in place of its text
    #[arg(long, requires = "wsse_user")]
    pub wsse_digest: bool,
    /// Add a timestamp, which signed messages have anyway; on the side of clients, also require one
    #[arg(long)]
    pub wsse_timestamp: bool,
    /// Require that received messages are signed, with one of the certificates in this file (PEM)
    /// or one that an authority in it has issued
    #[arg(long, value_name = "FILE")]
    pub wsse_trust: Option<PathBuf>,
    /// Encrypt bodies for the owner of this certificate (PEM), and decrypt received ones with
    /// --sign
    #[arg(long, value_name = "FILE")]
    pub encrypt_for: Option<PathBuf>,
}

/// Answers that are kept.
#[derive(Debug, Args)]
pub struct Caching {
    /// Keep answers of this operation, which must be safe to call; default 60 seconds. May be given
    /// more than once
    #[arg(long, value_name = "OPERATION[=SECONDS]")]
    pub cache: Vec<CacheRule>,
    /// Give kept answers also to requests with other credentials
    #[arg(long)]
    pub cache_shared: bool,
    /// Maximum number of kept answers; default 1000
    #[arg(long, value_name = "N", value_parser = number())]
    pub cache_entries: Option<usize>,
    /// Maximum bytes of kept answers; default 64 MiB
    #[arg(long, value_name = "BYTES", value_parser = number())]
    pub cache_bytes: Option<usize>,
}

/// Trouble on purpose.
#[derive(Debug, Args)]
pub struct Troubling {
    /// Delay requests by this many milliseconds; may be given more than once, also for one
    /// operation, as all rules of trouble
    #[arg(long, value_name = "[OPERATION:]MS[..MS]")]
    pub latency: Vec<Rule<Latency>>,
    /// Answer this share of requests with a SOAP fault: 0.1 or 10%
    #[arg(long, value_name = "[OPERATION:]RATE")]
    pub fault_rate: Vec<Rule<Rate>>,
    /// Close the connection of this share of requests without an answer
    #[arg(long, value_name = "[OPERATION:]RATE")]
    pub drop_rate: Vec<Rule<Rate>>,
    /// Truncate this share of answers
    #[arg(long, value_name = "[OPERATION:]RATE")]
    pub cut_rate: Vec<Rule<Rate>>,
    /// Send answers with this many bytes a second
    #[arg(long, value_name = "[OPERATION:]BYTES")]
    pub slow: Vec<Rule<Speed>>,
    /// The seed of chance: the same seed makes the same trouble
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// A side of the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SideName {
    Target,
    Client,
}

impl From<SideName> for Side {
    fn from(name: SideName) -> Self {
        match name {
            SideName::Target => Side::Target,
            SideName::Client => Side::Client,
        }
    }
}
