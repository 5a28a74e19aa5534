//! The command line.

#[cfg(feature = "archive")]
mod archive;
mod contract;
pub mod cost;
#[cfg(feature = "load")]
mod load;
#[cfg(feature = "proxy")]
mod proxy;
mod query;
#[cfg(feature = "test")]
mod test;
mod values;

#[cfg(feature = "archive")]
pub use archive::Archive;
pub use contract::{
    Access, AddressingSwitch, Call, Compile, Completions, Describe, Description, Diff, FailOn, Generate, List, Loading,
    Man, Mock, Party, Switch, Template, ToleranceName, UserToken, Validate,
};

#[cfg(feature = "gateway")]
pub use contract::Gateway;
#[cfg(feature = "mcp")]
pub use contract::Mcp;
#[cfg(feature = "proxy")]
pub use contract::ValidationName;
#[cfg(feature = "load")]
pub use load::{Check, Load};
#[cfg(feature = "proxy")]
pub use proxy::{Caching, Offloading, Proxy, ProxyLimits, Recording, Troubling};
pub use query::Query;
#[cfg(feature = "test")]
pub use test::Test;
pub use values::endpoint;
#[cfg(feature = "proxy")]
pub use values::proxy as further_proxy;

use crate::figures::PLAYS;
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use deltasoap::engine::{Checkpoints, Differential};
use deltasoap_checkpoints::{Matcher, Portions, State};
use deltasoap_http::Weigh;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// SOAP from the command line.
#[derive(Debug, Parser)]
#[command(name = "deltasoap", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    pub task: Task,
}

const EXAMPLES: &str = "Examples:
  deltasoap list http://host/shop?wsdl                  services, ports and operations
  deltasoap describe shop.wsdl Order                    an operation, an element or a type
  deltasoap template shop.wsdl Order                    a request to fill in
  deltasoap call shop.wsdl Order -d '{\"customer\": \"Ada\"}'
  deltasoap mock shop.wsdl                              a service that answers with samples
  deltasoap mcp shop.wsdl                               a service's operations for language models
  deltasoap gateway shop.wsdl                           REST, JSON and OpenAPI for the service
  deltasoap load shop.wsdl Order --rate 200             load, with latencies and checked answers
  deltasoap proxy --record tape http://host/shop        passes requests on, and records them
  deltasoap validate shop.wsdl message.xml              what is wrong with a message, and where
  deltasoap test shop.wsdl --endpoint http://host/shop  what a service does with unusual and wrong requests
  deltasoap diff old.wsdl new.wsdl                      what changed, whom it breaks, and messages that prove it
  deltasoap compile shop.wsdl -o shop.bin               a file that loads faster, for use instead of the WSDL
  deltasoap generate shop.wsdl -o src/shop.rs           Rust: types, a client, a server
  deltasoap generate --python shop.wsdl -o shop.py      Python: types, clients
  deltasoap replay --wsdl shop.wsdl captured/           the gain of differential decoding on these messages
  deltasoap archive --wsdl shop.wsdl captured/ -o tables  messages as Parquet tables
  deltasoap query tables 'select * from messages'         SQL over these
  deltasoap demo                           all streams, a table
  deltasoap demo --stream tr069 --json     one stream, a line of JSON
  deltasoap serve --listen 127.0.0.1:0     on a free port; WSDL at /bench?wsdl

Exit codes: 0 success, 1 the command failed, 2 wrong arguments, 3 the service answered with a fault,
4 the service did not answer, or its answer cannot be decoded or is refused.

Set RUST_LOG=info or RUST_LOG=deltasoap_http=debug to see requests.";

#[cfg(feature = "test")]
const TEST_EXAMPLES: &str = "Examples:
  deltasoap test shop.wsdl --endpoint http://127.0.0.1:8080/        all operations, 100 cases each
  deltasoap test shop.wsdl --operation Order --max-cases 1000       one operation, thoroughly
  deltasoap test shop.wsdl --strict --junit report.xml              for continuous integration
  deltasoap test shop.wsdl --save failing && deltasoap test shop.wsdl --replay failing

Exit codes: 0 no failures, 1 failures (warnings are none, unless --strict is given), 2 wrong arguments, or
the WSDL cannot be loaded, 4 the service does not answer, or refuses access.";

const DIFF_EXAMPLES: &str = "Examples:
  deltasoap diff old.wsdl new.wsdl                       a table, and the messages in short
  deltasoap diff --for clients old.wsdl new.wsdl         fail only if clients break: for a service's repository
  deltasoap diff --markdown old.wsdl new.wsdl            for a comment on a pull request
  deltasoap diff --witnesses broken old.wsdl new.wsdl    the messages as files, for `validate` and `call`

Exit codes: 0 nothing breaks, 1 something breaks (--fail-on and --for change what counts), 2 wrong
arguments, or a WSDL cannot be loaded.";

#[derive(Debug, Subcommand)]
pub enum Task {
    /// List the services, ports and operations of a WSDL
    ///
    /// Shows which operations cannot be called or generated, and why, and which policy requirements
    /// are not met automatically. Succeeds only if the WSDL was imported completely: every document
    /// that it names was loaded, everything that it refers to was found, it has operations, and
    /// every operation that the client starts can be called.
    List(List),
    /// Describe an operation, an element or a type of a WSDL; without a name all operations
    ///
    /// Shows names, types, how often each element occurs, facets, and the documentation in the
    /// WSDL.
    Describe(Describe),
    /// Print a request of an operation to fill in, as JSON for `call`
    Template(Template),
    /// Call an operation with a request in JSON, and print the response as JSON
    ///
    /// The JSON is an object with a property for each element of the request; `template` prints one
    /// to start from. Attributes are properties that begin with @, nil is null, repeated elements
    /// are arrays. A property $type names the type of an element where the schema leaves it open.
    Call(Box<Call>),
    /// Serve a WSDL without its service: every operation answers with a sample, or with recorded
    /// messages
    ///
    /// Requests that do not conform to the WSDL are answered with a fault; --tolerance and
    /// --validation accept more.
    Mock(Mock),
    /// Serve the operations of a WSDL to language models, by the Model Context Protocol
    ///
    /// There are three tools: `search` finds operations, `describe` shows what a request holds,
    /// `call` calls. The model may call operations that only read, judged by their names (GetQuote,
    /// ListUsers), and those of --allow. It never sees credentials: the server adds them. Answers
    /// are cut to a size that fits the model's context.
    ///
    /// The protocol runs on standard input and output, for a program that starts the server, or
    /// over HTTP with --listen.
    #[cfg(feature = "mcp")]
    Mcp(Mcp),
    /// Serve REST, JSON and OpenAPI for a SOAP service; or with --reverse, SOAP for a JSON service
    ///
    /// Every operation is a `POST /operations/NAME` of the JSON that `template` prints and `call`
    /// takes; the response is its JSON. /openapi.json describes them (OpenAPI 3.1), and in a
    /// browser / is a page to try them. Faults and other errors are problems (RFC 9457). /health and
    /// /ready are for load balancers, /metrics is for Prometheus. A configuration adds paths with
    /// parameters, further services, credentials, CORS, compression and limits.
    #[cfg(feature = "gateway")]
    Gateway(Box<Gateway>),
    /// Load a service with many requests, check the answers, and print latencies
    ///
    /// Requests come from a WSDL and JSON, or are recorded messages. In a closed loop each of the
    /// connections sends its next request after an answer. With --rate requests have fixed times, as
    /// those of independent clients, and latencies count from these: a service that stalls cannot hide
    /// the requests that wait meanwhile. Latencies are those of good answers, and end when the last
    /// byte is read.
    ///
    /// Ctrl-C ends the load, and prints the results so far. No proxy is used.
    #[cfg(feature = "load")]
    Load(Box<Load>),
    /// Pass requests on to a SOAP service, and record, replay, validate, secure, cache or disturb them
    ///
    /// The proxy forwards every method and path to one service. WSDLs that pass get the address of
    /// the proxy, so that clients come back. Bodies pass while they arrive, unless an option needs
    /// them as a whole. With --admin, metrics of each operation are served; RUST_LOG=info logs each
    /// exchange.
    #[cfg(feature = "proxy")]
    #[command(after_help = proxy::EXAMPLES)]
    Proxy(Box<Proxy>),
    /// Validate messages, and report what is wrong with line, column and path
    ///
    /// Checks order and number of elements, attributes, facets, types and nil. Files hold an
    /// envelope, an element that the WSDL declares, or an HTTP request or response that carries
    /// one; - is standard input.
    Validate(Validate),
    /// Test a service by its WSDL: requests at the edges of the schema, and checks on every answer
    ///
    /// Sends valid requests, which must be answered by the WSDL, and invalid ones, which must be
    /// refused: bounds of lengths, ranges and occurrences, each branch of each choice, nil, derived
    /// types, unusual texts, other forms of the same XML; missing, superfluous and misplaced
    /// elements, values that are not allowed, broken XML and envelopes. A request that fails a check
    /// is made as small as it can be, and shown with its answer. The requests may change data:
    /// test a service that is made for it.
    #[cfg(feature = "test")]
    #[command(after_help = TEST_EXAMPLES)]
    Test(Box<Test>),
    /// Compare two versions of a WSDL: what breaks existing clients and existing servers, with
    /// messages that prove it
    ///
    /// An existing client sends requests of the old WSDL and receives responses of the new one; an
    /// existing server receives requests of clients made from the new WSDL, and answers by the old
    /// one. A change is breaking if a message that one WSDL allows is refused by the other: the
    /// command builds it, and validates it by both. A change is safe if there is no such message,
    /// and unknown if that was not found out. Names that messages do not show (of types, messages,
    /// bindings, prefixes), documentation and the order of declarations are no changes.
    #[command(after_help = DIFF_EXAMPLES)]
    Diff(Box<Diff>),
    /// Write a WSDL, with all that it imports, as one file that every command takes in its place
    /// and loads several times faster
    ///
    /// Another version of the program may refuse the file; compile the WSDL again then.
    Compile(Compile),
    /// Exchange real message streams over HTTP, decode them in regular mode and differentially, and
    /// check every reply
    ///
    /// Servers and clients run in this process, on loopback. Every message goes, byte for byte the
    /// same, to two services: one regular, one differential.
    ///
    /// Streams: TR-069 Inform messages of many devices, the Fetch requests of recorded vCenter
    /// sessions, and large arrays of numbers, structs and strings in which a share of the values
    /// changes from message to message. Prints a table: messages, bytes, decode time and rate at
    /// the server in both modes, the speed-up with its interval, the share of bytes in fast mode,
    /// memory, encode rate, and round trips per second. Writes an HTML report with plots. For
    /// vSphere's stream, the recorded requests and responses are also replayed, as `replay` does
    /// with a WSDL. Each stream is played nine times, by new servers; times are medians.
    Demo(Demo),
    /// Generate Rust for a WSDL: types, clients, servers; or Python: types and clients
    ///
    /// The output is a file of a crate that depends on `deltasoap`, as for `mod weather;`. With
    /// `--python`, it is a module that imports the Python package `deltasoap`.
    /// Operations that cannot be generated, such as those that the service starts, are named on
    /// standard error with the reason; the rest is written, and the exit code is 1. Name the others
    /// with `--operation` to succeed without them. In build scripts, use the crate
    /// deltasoap-codegen instead.
    Generate(Generate),
    /// Decode a directory of recorded messages, and measure what differential decoding gains
    ///
    /// Message files end in .xml, .txt or .http and hold an envelope, or an HTTP request or
    /// response that carries one. The files of a directory are the messages of one sender, in the
    /// natural order of their names (9 before 10); each nested directory is another sender.
    ///
    /// Every message is decoded in regular mode and differentially, and both must give the same
    /// value: if they do not, that is a bug, and the command fails. Prints a table with a row for
    /// each operation, and which messages were not decoded and why. Time saved is the median of all
    /// plays, with its interval (at 95 % confidence or more); a difference that may be chance is
    /// shown as none. With --wsdl, the messages are those of a WSDL, decoded to dynamic values;
    /// header blocks are skipped, even those that must be understood. Without it, the known
    /// messages are those of the demo's services: arrays in the namespace urn:bench, Inform of
    /// TR-069 (cwmp-1-0 and cwmp-1-4), and Fetch of vSphere.
    Replay(Replay),
    /// Write captured messages into Parquet tables, for DuckDB, DataFusion, pandas and others
    ///
    /// Each message is decoded by its operation. The tables of an operation and direction have the
    /// columns that the WSDL describes: OUT/Order.request for the messages, OUT/Order.request.item for
    /// the items of a repeated element, with keys to the row around them. OUT/messages lists all
    /// messages with time, sender, operation, direction, status, size and place; OUT/errors lists
    /// those that cannot be decoded, with place and reason.
    ///
    /// Memory is bounded, whatever the captures hold. After an interruption, the same command
    /// continues after the last complete files: the tables become those of a run without it.
    #[cfg(feature = "archive")]
    #[command(after_help = archive::EXAMPLES)]
    Archive(Box<Archive>),
    /// Query the tables that `archive` wrote, in SQL
    ///
    /// Every directory of Parquet files is a table with its name. Prints the first rows as a table, or
    /// all of them as JSON or comma-separated values, or writes them to a Parquet file. A query only
    /// reads. It is part of builds with the feature `query`.
    #[command(after_help = query::EXAMPLES)]
    Query(Query),
    /// Serve the demo's services until interrupted
    ///
    /// Prints a line `listening on URL` for each service. The service under /bench echoes arrays of
    /// every type, a struct, a header block, attachments and a typed fault, and takes one-way
    /// messages; its WSDL is at /bench?wsdl. In a browser, each service's page shows its
    /// operations, has a form to try them, and shows what the differential engine did; / lists the
    /// services. /health and /ready are for load balancers, /metrics is for Prometheus.
    Serve(Serve),
    /// Predict what messages cost on this machine, from a WSDL and a few measurements, and what
    /// many clients will see
    Cost(Box<cost::Cost>),
    /// Print a script that completes the command in a shell
    Completions(Completions),
    /// Print the manual page, or write all pages to a directory
    Man(Man),
}

#[derive(Debug, Args)]
pub struct Demo {
    /// Run only this stream; may be given more than once
    #[arg(long, value_enum, value_name = "NAME")]
    pub stream: Vec<StreamName>,
    /// TR-069 devices, each with 20 messages a play
    #[arg(long, default_value_t = 25, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub devices: u32,
    /// Times that the recorded vSphere sessions are repeated in a play
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub sessions: u32,
    /// Elements of each array
    #[arg(long, default_value_t = 50_000, value_name = "N")]
    pub size: usize,
    /// Round trips of each array in a play
    #[arg(long, default_value_t = 6, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: u32,
    /// Percent of each array's values that change from message to message
    #[arg(long, default_value_t = 10, value_name = "P", value_parser = clap::value_parser!(u32).range(..=100))]
    pub changed: u32,
    /// Parts of each array, each with its changed values in the middle
    #[arg(long, default_value_t = 10, value_name = "T", value_parser = clap::value_parser!(u32).range(1..))]
    pub partitions: u32,
    /// Print a line of JSON for each stream instead of the table
    #[arg(long)]
    pub json: bool,
    /// Path of the report with plots
    #[arg(long, default_value = "target/deltasoap-demo.html", value_name = "FILE")]
    pub report: PathBuf,
    /// Write no report
    #[arg(long, conflicts_with = "report")]
    pub no_report: bool,
}

impl Demo {
    /// Returns the path of the report, or `None` if no report is written.
    pub fn report_path(&self) -> Option<&Path> {
        (!self.no_report).then_some(&self.report)
    }
}

/// The streams of the demo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StreamName {
    /// TR-069 Inform messages, rpc/encoded with SOAP arrays, of devices that stay connected
    Tr069,
    /// The same messages, of devices that reconnect for each message; earlier messages are shared
    /// among devices
    Tr069Shared,
    /// vSphere Fetch requests and their recorded responses
    Vsphere,
    /// 32-bit integers
    Ints,
    /// Integral doubles
    Easy,
    /// Random doubles of 16 and 17 digits
    Hard,
    /// Structs of two integers and a double
    Structs,
    /// Strings of 100 letters
    Strings,
}

#[derive(Debug, Args)]
pub struct Replay {
    /// The messages: directories, or files of one sender in order
    #[arg(value_name = "DIR|FILE", required = true)]
    pub paths: Vec<PathBuf>,
    /// Decode the messages with this WSDL: a URL, a file, a directory, a zip archive, or `-` for
    /// standard input; or a file that `compile` wrote
    #[arg(long, value_name = "WSDL", value_parser = NonEmptyStringValueParser::new())]
    pub wsdl: Option<String>,
    #[command(flatten)]
    pub loading: Loading,
    #[command(flatten)]
    pub differential: DifferentialArguments,
    /// Accept this much beyond the schema in messages
    #[arg(long, value_enum, default_value_t = ToleranceName::Unknown, value_name = "LEVEL")]
    pub tolerance: ToleranceName,
    /// Decode in regular mode only
    #[arg(long, conflicts_with = "DifferentialArguments")]
    pub regular_only: bool,
    /// Number of times that the messages are played, each time from the beginning; times are
    /// medians. A comparison of both modes takes at least 6 plays
    #[arg(long, default_value_t = PLAYS, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// Print lines of JSON instead of the table and the lists
    #[arg(long)]
    pub json: bool,
    /// Write a page with the table, plots and the lists
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// How messages that resemble the previous one are decoded.
#[derive(Debug, Clone, Copy, Args)]
#[group(multiple = true)]
pub struct DifferentialArguments {
    /// What is saved of a message for the next one
    #[arg(long, value_enum, default_value_t = CheckpointsName::Leaf, value_name = "POLICY")]
    pub checkpoints: CheckpointsName,
    /// How the papers' policies (all but leaf) match portions
    #[arg(long, value_enum, default_value_t = MatcherName::Compare, value_name = "MATCHER")]
    pub matcher: MatcherName,
    /// Bytes between two checkpoints of the papers' policies
    #[arg(long, default_value_t = Portions::default().size, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub portion: u32,
    /// Compare the first, middle and last bytes of a portion before its checksum
    #[arg(long)]
    pub probe: bool,
    /// Tune the portion size while decoding
    #[arg(long)]
    pub tune: bool,
    /// Keep comparing even where that saves no time
    #[arg(long)]
    pub no_adaptive: bool,
}

impl DifferentialArguments {
    /// Returns the decoder options that were selected.
    pub fn options(&self) -> Differential {
        let by = |state| {
            let (matcher, size) = (self.matcher.into(), self.portion);
            Portions { state, matcher, size, probe: self.probe, tune: self.tune, ..Portions::default() }.into()
        };
        let checkpoints = match self.checkpoints {
            CheckpointsName::Full => by(State::Full),
            CheckpointsName::Differential => by(State::Differential),
            CheckpointsName::Lightweight => by(State::Lightweight),
            CheckpointsName::Leaf => Checkpoints::Leaf,
        };
        Differential { checkpoints, adaptive: !self.no_adaptive }
    }
}

/// Names of checkpoint policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CheckpointsName {
    /// Complete copies of the state
    Full,
    /// Copies of the differences from a base copy
    Differential,
    /// Places in a group with a base copy
    Lightweight,
    /// The position of every leaf
    Leaf,
}

/// Names of matchers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MatcherName {
    /// The bytes themselves
    Compare,
    /// Exclusive or: misses changes
    Xor,
    /// Adler-32: misses some changes
    Adler32,
    /// CRC-32: misses changes made by a malicious sender
    Crc32,
    /// A keyed universal hash
    Keyed,
}

impl From<MatcherName> for Matcher {
    fn from(name: MatcherName) -> Self {
        match name {
            MatcherName::Compare => Matcher::Compare,
            MatcherName::Xor => Matcher::Xor,
            MatcherName::Adler32 => Matcher::Adler32,
            MatcherName::Crc32 => Matcher::Crc32,
            MatcherName::Keyed => Matcher::Keyed,
        }
    }
}

/// How requests are weighed.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum WeighName {
    /// By their length
    Length,
    /// By the measured time of their operation
    Operation,
}

impl From<WeighName> for Weigh {
    fn from(name: WeighName) -> Self {
        match name {
            WeighName::Length => Weigh::Length,
            WeighName::Operation => Weigh::Operation,
        }
    }
}

/// How a server shares its address.
#[derive(Args, Debug, Clone, Copy, Default)]
pub struct Takeover {
    /// Let other processes listen on the same port with this option (SO_REUSEPORT), so that a new one
    /// can start before the old one stops. A socket that systemd passes on (LISTEN_FDS) takes the place
    /// of the address
    #[arg(long)]
    pub reuse_port: bool,
}

#[derive(Debug, Args)]
pub struct Serve {
    /// Address and port to listen on; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS")]
    pub listen: SocketAddr,
    #[command(flatten)]
    pub takeover: Takeover,
    /// Seconds from an interrupt to the end, in which /ready reports failure
    #[arg(long, default_value_t = 0, value_name = "S")]
    pub drain: u64,
    /// Number of threads among which connections are divided, each with its own runtime [default:
    /// one per processor]; with 0 a single runtime moves connections among its threads
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(..=1024))]
    pub worker_threads: Option<u16>,
    /// Use TLS, with the certificates of this PEM file: the server's own first;
    /// it is read again on SIGHUP
    #[arg(long, requires = "tls_key", value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,
    /// The certificate's private key, a PEM file
    #[arg(long, requires = "tls_cert", value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
    /// Compress responses of at least this many bytes with gzip, if the client accepts it
    #[arg(long, value_name = "BYTES")]
    pub gzip_from: Option<u64>,
    /// Process few requests at one time, and first those that announce a short length
    #[arg(long)]
    pub small_first: bool,
    /// With --small-first: the weight of a request is its length, or the measured time of its
    /// operation
    #[arg(long, requires = "small_first", value_enum, default_value_t = WeighName::Length, value_name = "WHAT")]
    pub weigh: WeighName,
    /// Decode and answer each message without yielding, however long others wait meanwhile
    #[arg(long, conflicts_with = "small_first")]
    pub in_one_go: bool,
    /// Decode and encode every message in full, independent of earlier messages
    #[arg(long)]
    pub regular: bool,
    /// Accept this much beyond the schema in requests
    #[arg(long, value_enum, default_value_t = ToleranceName::Strict, value_name = "LEVEL")]
    pub tolerance: ToleranceName,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn requests_weigh_what_is_asked_for() {
        let weigh = |arguments: &[&str]| match Arguments::try_parse_from(["deltasoap", "serve"].iter().chain(arguments))
        {
            Ok(Arguments { task: Task::Serve(serve), .. }) => Some(Weigh::from(serve.weigh)),
            _ => None,
        };
        assert!(matches!(weigh(&["--small-first"]), Some(Weigh::Length)));
        assert!(matches!(weigh(&["--small-first", "--weigh", "operation"]), Some(Weigh::Operation)));
        assert!(weigh(&["--weigh", "operation"]).is_none(), "nothing is put in order");
    }

    fn replay(arguments: &[&str]) -> Result<Replay, clap::Error> {
        match Arguments::try_parse_from(["deltasoap", "replay", "somewhere"].iter().chain(arguments))?.task {
            Task::Replay(replay) => Ok(replay),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn replay_decodes_with_the_defaults_unless_told() {
        assert_eq!(replay(&[]).expect("valid").differential.options(), Differential::default());
        let arguments =
            ["--checkpoints", "lightweight", "--matcher", "crc32", "--portion", "32", "--probe", "--no-adaptive"];
        let portions = Portions {
            state: State::Lightweight,
            matcher: Matcher::Crc32,
            size: 32,
            probe: true,
            ..Portions::default()
        };
        let expected = Differential { checkpoints: portions.into(), adaptive: false };
        assert_eq!(replay(&arguments).expect("valid").differential.options(), expected);
    }

    #[test]
    fn a_certificate_needs_its_key() {
        let serve = |arguments: &[&str]| Arguments::try_parse_from(["deltasoap", "serve"].iter().chain(arguments));
        assert!(serve(&["--tls-cert", "c.pem", "--tls-key", "k.pem"]).is_ok());
        assert!(serve(&["--tls-cert", "c.pem"]).is_err());
        assert!(serve(&["--tls-key", "k.pem"]).is_err());
    }

    #[test]
    fn regular_mode_alone_takes_no_checkpoints() {
        assert!(replay(&["--regular-only"]).expect("valid").regular_only);
        assert!(replay(&["--regular-only", "--checkpoints", "full"]).is_err());
        assert!(replay(&["--portion", "0"]).is_err());
    }
}
