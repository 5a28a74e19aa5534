//! Arguments of `load`.

use super::contract::Loading;
use super::values::{self, ParseWith};
use clap::builder::NonEmptyStringValueParser;
use clap::{ArgGroup, Args, ValueEnum};
use deltasoap_load::{Arrivals, MAX_ANSWER};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

pub const EXAMPLES: &str = "Examples:
  deltasoap load shop.wsdl Order -d @order.json --endpoint http://localhost:8080/ -c 50
  deltasoap load shop.wsdl Order -d '{\"customer\": \"{{name}}-{{i}}\"}' --data-from users.csv --requests 10000
  deltasoap load shop.wsdl --call 'Order=3:@order.json' --call Catalogue --rate 500 --duration 60
  deltasoap load shop.wsdl --all --check schema --html load.html
  deltasoap load --messages captured/ --endpoint http://localhost:8080/ --fail-if 'p99>50ms' --fail-if 'errors>1%'

Exit codes: 0 success, 1 a condition of --fail-if holds, --max-errors was reached, no answer was good, or the
results cannot be written, 2 wrong arguments, or an input cannot be used, 4 the service did not answer.";

/// Maximum number of requests per second.
const MAX_RATE: f64 = 1e6;

fn rate(text: &str) -> Result<f64, String> {
    let rate = values::rate(text)?;
    if rate > MAX_RATE { Err(format!("at most {MAX_RATE} requests per second are possible")) } else { Ok(rate) }
}

/// Parses a duration above 0.
fn duration(text: &str) -> Result<Duration, String> {
    let seconds = values::seconds(text)?;
    if seconds.is_zero() { Err("it must be above 0".to_owned()) } else { Ok(seconds) }
}

/// Parses a number of bytes above 0.
fn bytes(text: &str) -> Result<usize, String> {
    let bytes = text.parse().ok().filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| format!("expected a number of bytes above 0, found {text:?}"))
}

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("digest", |unsupported| unsupported.hide(true)))]
#[command(mut_arg("proxy", |unsupported| unsupported.hide(true)))]
#[command(group = ArgGroup::new("wsdl").args(["description", "messages"]).multiple(true).required(true))]
#[command(group = ArgGroup::new("what").args(["operation", "calls", "mix", "all", "messages"]).required(true))]
pub struct Load {
    /// The WSDL: a URL, a file, a directory, a zip archive, or `-` for standard input; or a file
    /// that `compile` wrote. Recorded messages need none
    #[arg(id = "description", value_name = "WSDL", value_parser = NonEmptyStringValueParser::new())]
    pub wsdl: Option<String>,
    /// The operation to call: `Operation`, `Port.Operation` or `Service.Port.Operation`
    #[arg(value_name = "OPERATION")]
    pub operation: Option<String>,
    #[command(flatten)]
    pub loading: Loading,
    /// The request of the operation: JSON or @FILE, in which {{i}} is the number of the request,
    /// {{uuid}}, {{random}} and {{random 1 6}} are new in each, and other names are columns of
    /// --data-from. Default: a sample
    #[arg(short, long, value_name = "JSON|@FILE", requires = "operation", allow_hyphen_values = true)]
    pub data: Option<String>,
    /// Call this operation, with a weight and a request; may be given more than once
    #[arg(long = "call", value_name = "OPERATION[=WEIGHT][:JSON|:@FILE]", requires = "description", value_parser = NonEmptyStringValueParser::new())]
    pub calls: Vec<String>,
    /// Call the operations in this file (TOML): a `[[call]]` for each, with `operation`, and if
    /// wanted `weight`, and `data` (a table) or `file` (JSON)
    #[arg(long, value_name = "FILE", requires = "description")]
    pub mix: Option<PathBuf>,
    /// Call all operations, with samples
    #[arg(long, requires = "description")]
    pub all: bool,
    /// Send the messages of these directories or files as they are, in their order: .xml, .txt and
    /// .http, as for `replay`. With a WSDL, only its requests are sent; may be given more than once
    #[arg(long, value_name = "DIR|FILE")]
    pub messages: Vec<PathBuf>,
    /// Fill the columns of this CSV file into the requests, a row for each, again and again; its first
    /// line has the names
    #[arg(long, value_name = "FILE", conflicts_with = "messages")]
    pub data_from: Option<PathBuf>,
    /// Send to this URL instead of the port's
    #[arg(long, value_name = "URL", value_parser = ParseWith(values::endpoint))]
    pub endpoint: Option<String>,
    /// Add a SOAP header block: an element of the WSDL with the JSON of its content, or XML; @FILE
    /// reads either from a file; may be given more than once
    #[arg(long = "header-block", value_name = "NAME=JSON|NAME=@FILE|XML", requires = "description", value_parser = ParseWith(values::header_block))]
    pub blocks: Vec<String>,
    /// Name and password for a WS-Security user name token; without a password, DELTASOAP_PASSWORD
    /// from the environment is used
    #[arg(long, value_name = "NAME[:PASSWORD]", requires = "description", conflicts_with = "messages")]
    pub wsse_user: Option<String>,

    /// Number of connections, each with one request at a time
    #[arg(short, long, value_name = "N", default_value = "10", help_heading = "Load")]
    pub connections: NonZeroUsize,
    /// End after this many requests
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Load")]
    pub requests: Option<u64>,
    /// End after this many seconds [default: 10, unless --requests is given]. Requests in flight get
    /// their --timeout, and no others are sent
    #[arg(long, value_name = "S", value_parser = ParseWith(duration), help_heading = "Load")]
    pub duration: Option<Duration>,
    /// Send this many requests per second, whether the service keeps up or not: an open loop.
    /// Default: a closed loop, in which each connection sends its next request after an answer
    #[arg(long, value_name = "R", value_parser = ParseWith(rate), help_heading = "Load")]
    pub rate: Option<f64>,
    /// Distribution of requests at such a rate
    #[arg(long, value_enum, default_value = "poisson", value_name = "HOW", help_heading = "Load")]
    pub arrivals: Arrivals,
    /// Seconds in which the rate, or the number of connections, grows to its full size
    #[arg(long, value_name = "S", value_parser = ParseWith(values::seconds), default_value = "0", help_heading = "Load")]
    pub ramp: Duration,
    /// Seconds at the beginning that do not count
    #[arg(long, value_name = "S", value_parser = ParseWith(values::seconds), default_value = "0", help_heading = "Load")]
    pub warm_up: Duration,
    /// Milliseconds between an answer and the next request of a connection
    #[arg(long, value_name = "MS", conflicts_with = "rate", default_value_t = 0, help_heading = "Load")]
    pub think: u64,
    /// Give up a request after this many seconds, with its connection and handshake
    #[arg(long, value_name = "S", value_parser = ParseWith(duration), default_value = "30", help_heading = "Load")]
    pub timeout: Duration,
    /// Maximum bytes of an answer, received and decompressed; a longer one is an error (too-large).
    /// Each connection may need that much memory
    #[arg(long, value_name = "BYTES", value_parser = ParseWith(bytes), default_value_t = MAX_ANSWER, help_heading = "Load")]
    pub max_answer: usize,
    /// End after this many errors, with exit code 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Load")]
    pub max_errors: Option<u64>,
    /// Send each request on a new connection
    #[arg(long, help_heading = "Load")]
    pub reconnect: bool,
    /// Accept answers in gzip
    #[arg(long, help_heading = "Load")]
    pub gzip: bool,
    /// Number of threads that send
    #[arg(long, value_name = "N", default_value = "1", help_heading = "Load")]
    pub threads: NonZeroUsize,
    /// The seed of everything that is random: arrivals, which operation is next, {{uuid}}, {{random}}
    #[arg(long, value_name = "N", default_value_t = deltasoap_streams::prng::SEED, hide_default_value = true, help_heading = "Load")]
    pub seed: u64,

    /// How answers are checked
    #[arg(long, value_enum, default_value_t = Check::Fault, value_name = "HOW", help_heading = "Answers")]
    pub check: Check,
    /// Faults are no errors
    #[arg(long, help_heading = "Answers")]
    pub faults_ok: bool,
    /// Exit with code 1 if this holds: a percentile (p50, p99.9), mean, max, errors or rate, compared
    /// by <, <=, > or >= with a time, a number, or a percentage; may be given more than once
    #[arg(long = "fail-if", value_name = "CONDITION", value_parser = NonEmptyStringValueParser::new(), help_heading = "Answers")]
    pub conditions: Vec<String>,
    /// Print JSON instead of the table
    #[arg(long, help_heading = "Answers")]
    pub json: bool,
    /// Write a page with the table and plots
    #[arg(long, value_name = "FILE", help_heading = "Answers")]
    pub html: Option<PathBuf>,
}

/// How answers are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Check {
    /// Only the HTTP status
    Off,
    /// The status, and that the answer is a SOAP message without a fault
    Fault,
    /// Also that the answer is one of the operation, and conforms to the WSDL; equal answers are
    /// checked once
    Schema,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_bounds() {
        assert!(rate("1e6").is_ok() && rate("1e12").is_err() && rate("0").is_err());
        assert!(duration("0.001").is_ok() && duration("0").is_err());
        assert!(bytes("1") == Ok(1) && bytes("0").is_err() && bytes("64MB").is_err());
    }
}
