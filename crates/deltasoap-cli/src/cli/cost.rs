//! Arguments of `cost`.

use super::Loading;
use super::values::{self, ParseWith};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand, ValueEnum};
use deltasoap_cost::Mode;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Cost {
    #[command(subcommand)]
    pub task: CostTask,
}

#[derive(Debug, Subcommand)]
pub enum CostTask {
    /// Measure what messages cost on this machine; needed once, in less than three minutes
    ///
    /// Measures arrays of ints, doubles and strings of 1 to 1000 items, strings of up to 10,000
    /// characters, composite types, and the other constructs of real WSDLs. An interrupted run is
    /// resumed. Leave the machine idle until it ends.
    Measure(Measure),
    /// Show what was fitted to the measurements: coefficients, intervals, tests, cut-off points
    Fit(Fit),
    /// Predict what the messages of a WSDL cost
    ///
    /// Paths are names of elements below the body's own element, with / between them, and @ before
    /// attributes: item/code. Lengths that are not given are assumed and printed.
    Predict(Box<Predict>),
    /// Predict, then measure, and show how far off predictions are
    ///
    /// Messages are composite types, which no prediction is fitted to, and the operations of real
    /// WSDLs; with other toolkits, those of the benchmark suite that send.
    Validate(Check),
    /// Predict what many clients see: response time, throughput, utilisation, and what would change
    /// them
    Plan(Box<Plan>),
}

/// The calibration to use.
#[derive(Debug, Args)]
pub struct Calibrated {
    /// The calibration's file
    #[arg(long, default_value = "deltasoap-cost.json", value_name = "FILE")]
    pub calibration: PathBuf,
}

/// Location of other toolkits.
#[derive(Debug, Args)]
pub struct Peers {
    /// Directory of the built peers
    #[arg(long, default_value = ".peers", value_name = "FOLDER")]
    pub peers: PathBuf,
}

#[derive(Debug, Args)]
pub struct Measure {
    /// The toolkit: deltasoap, jaxb, or another peer of the benchmarks (gsoap, metro, mono, zeep,
    /// ...), or the path of a peer's program
    #[arg(long, default_value = "deltasoap", value_name = "NAME")]
    pub engine: String,
    #[command(flatten)]
    pub peers: Peers,
    /// Measure messages in full, or each against the one before
    #[arg(long, value_enum, default_value_t = ModeName::Regular, value_name = "MODE")]
    pub mode: ModeName,
    /// Measure all 1330 composite types, not a sample
    #[arg(long)]
    pub full: bool,
    /// Measure a few points of each series, for a first look
    #[arg(long, conflicts_with = "full")]
    pub few: bool,
    /// Number of visits of each point; the smallest credible time counts. Default: 12, or as many
    /// as fit into 3 minutes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: Option<u32>,
    /// Start over, ignoring what the file holds
    #[arg(long)]
    pub fresh: bool,
    #[command(flatten)]
    pub calibrated: Calibrated,
    /// Print the models as JSON
    #[arg(long)]
    pub json: bool,
    /// Write a page with figures and tables
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Fit {
    #[command(flatten)]
    pub calibrated: Calibrated,
    /// Show the calibration of another machine or version, too: nothing is predicted from it here
    #[arg(long)]
    pub elsewhere: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Write a page with figures and tables
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// The messages to predict.
#[derive(Debug, Args)]
pub struct Messages {
    /// The WSDL: a URL, a file, a directory, a zip archive, or `-` for standard input; or a file
    /// that `compile` wrote
    #[arg(long, value_name = "WSDL", value_parser = NonEmptyStringValueParser::new())]
    pub wsdl: String,
    #[command(flatten)]
    pub loading: Loading,
    /// The operation: `Operation`, `Port.Operation` or `Service.Port.Operation`; if several have
    /// one name (overloaded), `Operation:Input` is the one whose input has that name
    #[arg(long, value_name = "OPERATION")]
    pub operation: Option<String>,
    /// Number of items of a list
    #[arg(long, value_name = "PATH=N", value_parser = pair::<usize>)]
    pub length: Vec<(String, usize)>,
    /// Characters of a string, or bytes of binary data
    #[arg(long, value_name = "PATH=L", value_parser = pair::<usize>)]
    pub string: Vec<(String, usize)>,
    /// Percent of the values at and below a path that change from message to message; an empty path
    /// means all (differential mode)
    #[arg(long, value_name = "PATH=P", value_parser = pair::<f64>)]
    pub changed: Vec<(String, f64)>,
    /// Number of items of lists that are not named
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub default_length: usize,
    /// Characters of strings that are not named
    #[arg(long, default_value_t = 20, value_name = "L")]
    pub default_string: usize,
}

#[derive(Debug, Args)]
pub struct Predict {
    #[command(flatten)]
    pub messages: Messages,
    /// Ask for the sizes that are not given
    #[arg(long)]
    pub ask: bool,
    #[command(flatten)]
    pub calibrated: Calibrated,
    /// Print JSON, one line per operation
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Check {
    #[command(flatten)]
    pub calibrated: Calibrated,
    #[command(flatten)]
    pub peers: Peers,
    /// Validate with the operations of this WSDL, or of all WSDLs below this directory, instead of
    /// composite types; may be given more than once
    #[arg(long, value_name = "FILE|DIR")]
    pub wsdl: Vec<PathBuf>,
    /// Maximum number of operations of a WSDL
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub operations: usize,
    /// Number of items of the lists of operations
    #[arg(long, default_value_t = 10, value_name = "N", requires = "wsdl")]
    pub default_length: usize,
    /// Characters of the strings of operations
    #[arg(long, default_value_t = 20, value_name = "L", requires = "wsdl")]
    pub default_string: usize,
    /// Percent of the values of operations that change from message to message, in differential
    /// mode; may be given more than once. Default: 0, 10, 50
    #[arg(long, value_name = "P", requires = "wsdl")]
    pub changed: Vec<f64>,
    /// Validate with all 1330 composite types, not a sample
    #[arg(long)]
    pub full: bool,
    /// Number of measurements of each message; the smallest credible time counts
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: u32,
    /// Print lines of JSON; the last one has the distribution of the errors
    #[arg(long)]
    pub json: bool,
    /// Write a page with plots
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Plan {
    #[command(flatten)]
    pub messages: Messages,
    #[command(flatten)]
    pub calibrated: Calibrated,
    /// Number of clients, each of which calls again and again
    #[arg(long, value_name = "N", conflicts_with = "rate")]
    #[cfg_attr(feature = "archive", arg(required_unless_present_any = ["rate", "archive"]))]
    #[cfg_attr(not(feature = "archive"), arg(required_unless_present = "rate"))]
    pub clients: Option<u32>,
    /// Seconds between an answer and the client's next call, on average
    #[arg(long, default_value_t = 0.0, value_name = "Z", conflicts_with = "rate")]
    pub think: f64,
    /// Requests per second that arrive from outside
    #[arg(long, value_name = "L", value_parser = ParseWith(values::rate))]
    pub rate: Option<f64>,
    /// Maximum number of requests that the server processes at one time; requests on their way over
    /// the network do not count
    #[arg(long, value_name = "M")]
    pub max_concurrency: Option<u32>,
    /// Milliseconds of processor time at the server for everything but XML: HTTP and the operation
    /// itself
    #[arg(long, default_value_t = 0.1, value_name = "MS")]
    pub service: f64,
    /// Cores of the server; default: those of this machine
    #[arg(long, value_name = "N")]
    pub cores: Option<u32>,
    /// Bandwidth of the network in megabits per second, in each direction
    #[arg(long, default_value_t = 1000.0, value_name = "MBIT")]
    pub bandwidth: f64,
    /// Measure the service time on loopback with few clients (one, if there is no think time), then
    /// compare the plan with load tests around the knee, with enough clients that they wait for
    /// each other
    ///
    /// With --archive, archive all of the captures, and compare that with a plan for them
    #[arg(long, conflicts_with_all = ["rate", "service", "bandwidth", "cores", "max_concurrency"])]
    pub validate: bool,
    #[cfg(feature = "archive")]
    #[command(flatten)]
    pub volume: ArchiveVolume,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Write a page with the plan as curves
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// The options by which the plan is one for servers. Those for archives conflict with them themselves: clap drops
/// what an argument requires if that conflicts with another one.
#[cfg(feature = "archive")]
const OF_SERVERS: [&str; 2] = ["clients", "rate"];

/// What is to be archived.
#[cfg(feature = "archive")]
#[derive(Debug, Args)]
pub struct ArchiveVolume {
    /// Plan an archive: how long captures take to become tables, and how large these are. Samples
    /// are taken from these captures, as `archive` reads them; without any, they are made from the
    /// WSDL
    #[arg(long, value_name = "DIR|FILE", num_args = 0.., conflicts_with_all = [
        "bandwidth", "changed", "clients", "default_length", "default_string", "html", "length", "max_concurrency", "rate", "service",
        "string", "think",
    ])]
    pub archive: Option<Vec<PathBuf>>,
    /// Number of messages to archive, such as 1e9
    #[arg(long = "messages", value_name = "N", requires = "archive", conflicts_with = "validate", conflicts_with_all = OF_SERVERS, value_parser = ParseWith(values::amount))]
    pub total_messages: Option<f64>,
    /// Size of the messages to archive, uncompressed, such as 1TB
    #[arg(long = "bytes", value_name = "SIZE", requires = "archive", conflicts_with = "validate", conflicts_with_all = OF_SERVERS, value_parser = ParseWith(values::size))]
    pub total_bytes: Option<f64>,
    /// Number of machines, each with --cores
    #[arg(long, default_value_t = 1, value_name = "N", requires = "archive", conflicts_with_all = OF_SERVERS, value_parser = clap::value_parser!(u32).range(1..))]
    pub nodes: u32,
    /// As `archive` does with this option: nested tables
    #[arg(long, requires = "archive", conflicts_with_all = OF_SERVERS)]
    pub nested: bool,
    /// As `archive` does with this option: messages that repeat the last one have no rows
    #[arg(long, requires = "archive", conflicts_with_all = OF_SERVERS)]
    pub deduplicate: bool,
    /// In JSON lines, the property with the message; default: body
    #[arg(long, value_name = "NAME", requires = "archive", conflicts_with_all = OF_SERVERS)]
    pub body_column: Option<String>,
    /// In JSON lines, the property with the sender; default: sender
    #[arg(long, value_name = "NAME", requires = "archive", conflicts_with_all = OF_SERVERS)]
    pub sender_column: Option<String>,
    /// Bytes of messages that are archived as samples
    #[arg(long, default_value_t = 64 << 20, value_name = "BYTES", requires = "archive", conflicts_with_all = OF_SERVERS, value_parser = clap::value_parser!(u64).range(1 << 10..))]
    pub sample: u64,
}

/// Names of modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ModeName {
    /// Each message in full
    Regular,
    /// Each message against the one before
    Differential,
}

impl From<ModeName> for Mode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Regular => Mode::Regular,
            ModeName::Differential => Mode::Differential,
        }
    }
}

/// Parses a path and a number, separated by the last `=`.
fn pair<T: std::str::FromStr>(text: &str) -> Result<(String, T), String> {
    let (path, number) = text.rsplit_once('=').ok_or("expected PATH=NUMBER")?;
    let number = number.parse().map_err(|_| format!("{number:?} is not a number"))?;
    Ok((path.to_owned(), number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_a_path_and_a_number() {
        assert_eq!(pair::<usize>("a/@b=12"), Ok(("a/@b".to_owned(), 12)));
        assert_eq!(pair::<f64>("=2.5"), Ok((String::new(), 2.5)));
        assert!(pair::<usize>("a").is_err() && pair::<usize>("a=x").is_err());
    }
}
