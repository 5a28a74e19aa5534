//! `load`: many concurrent clients, against our server and those of other toolkits.
//!
//! [`kind`] creates the messages, [`mod@generate`] sends them with the generator of `deltasoap load`
//! (the crate `deltasoap-load`), [`usage`] samples the server, [`server`] starts servers, [`report`]
//! prints the results. [`mtom`] is another load: one large part.
//!
//! An answer counts only if its values are correct. The generator must be light, so that the server
//! is what is measured: requests are created beforehand, and an answer equal to an earlier correct
//! one is correct.

pub mod generate;
pub mod kind;
pub mod mtom;
mod report;
pub mod server;
pub mod usage;

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use deltasoap_load::Arrivals;
use indicatif::{ProgressBar, ProgressStyle};

use crate::definitions::peers_folder;
use crate::environment::Environment;
use generate::{Load, Measured, generate};
use kind::Share;
use report::Row;
use server::{Launch, OURS};

const COSTS: &str = "The generator needs at most 18 µs of processor time per small request (three system calls, and the system's work \
for them: 55,000 requests per second on one core), and for a large one the time to copy it. It has the last core to itself and one thread, which is enough for \
a server on one core; with servers on many cores, use --threads. Between requests of an open loop its core is busy waiting. \
Latencies last from sending a request (in an open loop: from its scheduled time) until its answer is read, before it is checked.

Examples:
  deltasoap-bench load --server deltasoap --server gsoap --connections 50
  deltasoap-bench load --message echoVoid=99 --message sendDoubles:156000=1 --rate 2000
  deltasoap-bench load --url 127.0.0.1:8080 --pid 1234 --message echoDoubles:100";

/// The servers and the load.
#[derive(Debug, clap::Args)]
#[command(after_help = COSTS)]
pub struct LoadArguments {
    /// Start and load a server: `deltasoap`, `deltasoap-regular` (nothing is compared with earlier
    /// messages), or that of a peer (repeatable) [default: deltasoap]
    #[arg(long = "server", value_name = "NAME")]
    servers: Vec<String>,
    /// Load the server at this address instead, at the path /bench
    #[arg(long, value_name = "ADDRESS", conflicts_with = "servers")]
    url: Option<SocketAddr>,
    /// Process ID of that server, to measure its processor time and memory
    #[arg(long, requires = "url")]
    pid: Option<u32>,
    /// Message to send: an operation of testdata/wsdl/bench.wsdl, the number of items, and its
    /// share of all messages (repeatable)
    #[arg(long = "message", value_name = "OPERATION[:ITEMS][=SHARE]", default_value = "echoVoid")]
    messages: Vec<Share>,
    /// Percentage of the items that change from message to message of a connection
    #[arg(long, value_name = "P", default_value_t = 100, value_parser = clap::value_parser!(u32).range(..=100))]
    changed: u32,
    /// Number of connections
    #[arg(long, value_name = "N", default_value = "1")]
    connections: NonZeroUsize,
    /// Send this many requests per second, whether the server keeps up or not [default: a closed
    /// loop, each connection sends its next request after the answer to the previous one]
    #[arg(long, value_name = "N", value_parser = rate)]
    rate: Option<f64>,
    /// Distribution of requests at such a rate
    #[arg(long, value_enum, default_value = "poisson")]
    arrivals: Arrivals,
    /// Seconds to measure
    #[arg(long, value_name = "S", default_value = "5", value_parser = crate::options::seconds)]
    seconds: Duration,
    /// Seconds before the measurement [default: 1; for a JIT-compiled server, 30 times the warm-up
    /// of its peer in memory]
    #[arg(long, value_name = "S", value_parser = crate::options::seconds)]
    warm_up: Option<Duration>,
    /// Number of threads of the generator
    #[arg(long, value_name = "N", default_value = "1")]
    threads: NonZeroUsize,
    /// Let generator and server run on any core
    #[arg(long)]
    no_pin: bool,
    /// Our program [default: deltasoap beside this one]
    #[arg(long, value_name = "FILE")]
    deltasoap: Option<PathBuf>,
    /// A further argument for `deltasoap serve` (repeatable)
    #[arg(long = "serve-option", value_name = "OPTION", allow_hyphen_values = true)]
    options: Vec<String>,
    /// Folder of built peers [default: .peers in the repository]
    #[arg(long, value_name = "FOLDER")]
    peers: Option<PathBuf>,
    /// Print one JSON object per server instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs the loads.
///
/// # Errors
/// When a server cannot be started, fails from the first message on, or returns wrong values.
pub fn run(arguments: &LoadArguments) -> Result<ExitCode> {
    server::remember_cores();
    server::raise_file_limit();
    let placement =
        if arguments.no_pin { "not pinned to cores" } else { "the generator on the last, servers on the others" };
    let environment = Environment::detect(placement.to_owned());
    if !arguments.no_pin {
        server::pin_to_last()?;
    }
    environment.warning().iter().for_each(|warning| eprintln!("{warning}"));
    let rows = rows(arguments)?;
    if arguments.json {
        report::print_json(&rows, arguments.connections.get(), arguments.rate)?;
    } else {
        println!("{environment}\n{}", report::table(&rows));
    }
    let is_right = rows.iter().all(|row| row.outcome.as_ref().is_ok_and(|measured| measured.failed() == 0));
    Ok(if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn rows(arguments: &LoadArguments) -> Result<Vec<Row>> {
    if let Some(address) = arguments.url {
        let measured = load(address, arguments.pid, &arguments.load(Duration::from_secs(1)))?;
        return Ok(vec![Row { server: address.to_string(), outcome: Ok(measured) }]);
    }
    let launch = arguments.launch()?;
    let names = if arguments.servers.is_empty() { vec![OURS.to_owned()] } else { arguments.servers.clone() };
    Ok(names.into_iter().map(|name| row(name, &launch, arguments)).collect())
}

/// Returns the row of a server, or of the reason why it cannot be loaded.
fn row(name: String, launch: &Launch, arguments: &LoadArguments) -> Row {
    let measure = || {
        let server = launch.start(&name)?;
        load(server.address, Some(server.pid), &arguments.load(server.warm_up))
    };
    Row { outcome: measure().map_err(|error| format!("{error:#}")), server: name }
}

fn load(address: SocketAddr, pid: Option<u32>, load: &Load) -> Result<Measured> {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {elapsed}/{prefix}").context("the template is valid")?;
    let whole = load.warm_up + load.time;
    let progress = ProgressBar::new(u64::try_from(whole.as_millis()).unwrap_or(u64::MAX)).with_style(style);
    progress.set_prefix(format!("{}s", whole.as_secs_f64().ceil()));
    progress.set_message(address.to_string());
    let tick = |passed: Duration| progress.set_position(u64::try_from(passed.as_millis()).unwrap_or(u64::MAX));
    let measured = generate(address, pid, load, tick);
    progress.finish_and_clear();
    let measured = measured?;
    ensure!(measured.served > 0, "no request was answered");
    Ok(measured)
}

impl LoadArguments {
    fn launch(&self) -> Result<Launch> {
        Ok(Launch {
            program: self.deltasoap.clone().map_or_else(server::our_program, Ok)?,
            options: self.options.clone(),
            peers: self.peers.clone().unwrap_or_else(peers_folder),
            // One more, for trying the messages.
            connections: self.connections.get() + 1,
            transport: None,
            is_pinned: !self.no_pin,
        })
    }

    fn load(&self, warm_up: Duration) -> Load {
        Load {
            shares: self.messages.clone(),
            changed: self.changed,
            connections: self.connections.get(),
            open: self.rate.map(|rate| (rate, self.arrivals)),
            warm_up: self.warm_up.unwrap_or(warm_up),
            time: self.seconds,
            threads: self.threads.get(),
        }
    }
}

fn rate(text: &str) -> Result<f64> {
    let rate: f64 = text.parse()?;
    ensure!(rate > 0.0 && rate <= 1e7, "not a rate");
    Ok(rate)
}
