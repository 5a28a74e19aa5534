//! The command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::net::SocketAddr;

/// SOAP from the command line.
#[derive(Debug, Parser)]
#[command(name = "deltasoap", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    pub task: Task,
}

const EXAMPLES: &str = "Examples:
  deltasoap demo                           all streams, a table
  deltasoap demo --stream tr069 --json     one stream, a line of JSON
  deltasoap serve --listen 127.0.0.1:0     on a free port; WSDL at /bench?wsdl

Set RUST_LOG=info or RUST_LOG=deltasoap_http=debug to see requests.";

#[derive(Debug, Subcommand)]
pub enum Task {
    /// Exchange real message streams over HTTP and check every reply
    ///
    /// Server and client run in this process, on loopback.
    ///
    /// Streams: TR-069 Inform messages of many devices, the Fetch requests of recorded vCenter sessions, and large arrays of
    /// numbers, structs and strings. Prints a table: messages, bytes, decode and encode time and rate at the server, and
    /// round trips a second.
    Demo(Demo),
    /// Serve the demo's services until interrupted
    ///
    /// Prints a line `listening on URL` for each service. The service under /bench echoes arrays of every type, a struct and a
    /// typed fault; its description is at /bench?wsdl. Each service's page shows its operations and what differential decoding
    /// did for them; /metrics has the same for Prometheus.
    Serve(Serve),
}

#[derive(Debug, Args)]
pub struct Demo {
    /// Run only this stream; may be given more than once
    #[arg(long, value_enum, value_name = "NAME")]
    pub stream: Vec<StreamName>,
    /// TR-069 devices, each with 20 messages
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub devices: u32,
    /// Times that the recorded vSphere sessions are played
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub sessions: u32,
    /// Elements of each array
    #[arg(long, default_value_t = 100_000, value_name = "N")]
    pub size: usize,
    /// Round trips of each array
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: u32,
    /// Print a line of JSON for each stream instead of the table
    #[arg(long)]
    pub json: bool,
}

/// The streams of the demo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StreamName {
    /// TR-069 Inform messages, rpc/encoded with SOAP arrays
    Tr069,
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
pub struct Serve {
    /// Address and port to listen on; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS")]
    pub listen: SocketAddr,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
