//! Arguments of `test`.

use super::contract::{Description, SoapVersion, UserToken};
use super::values::{self, ParseWith};
use clap::Args;
use deltasoap_dynamic::testing::Check;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Test {
    #[command(flatten)]
    pub description: Description,
    /// Send to this URL instead of the ports'
    #[arg(long, value_name = "URL", value_parser = ParseWith(values::endpoint))]
    pub endpoint: Option<String>,
    /// Test only this operation: `Operation`, `Port.Operation` or `Service.Port.Operation`; may be
    /// given more than once
    #[arg(long = "operation", value_name = "NAME")]
    pub operations: Vec<String>,
    /// Do not test this operation; may be given more than once
    #[arg(long = "exclude", value_name = "NAME")]
    pub excluded: Vec<String>,
    /// Test only ports with this version of SOAP
    #[arg(long, value_enum, value_name = "VERSION")]
    pub soap: Option<SoapVersion>,
    /// The same seed gives the same requests; another one gives others
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Send at most this many cases for each operation
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub max_cases: u32,
    /// Send only the case with this number, to see it again; a number that an operation does not have
    /// is an error
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub case: Option<u32>,
    /// Make and send no more cases after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_time: Option<u64>,
    /// Send at most this many requests a second
    #[arg(long, value_name = "N", value_parser = ParseWith(values::rate))]
    pub rate: Option<f64>,
    /// Send this many requests at a time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub jobs: u16,
    /// A request without an answer after this many seconds has failed
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,
    /// An answer that takes longer than this many milliseconds is a finding
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_response_time: Option<u64>,
    /// Make only these checks
    #[arg(long, value_name = "CHECK", value_delimiter = ',', value_parser = check_names())]
    pub checks: Vec<String>,
    /// Do not make these checks
    #[arg(long, value_name = "CHECK", value_delimiter = ',', value_parser = check_names())]
    pub exclude_checks: Vec<String>,
    /// Fail also if the service accepts what its schema does not allow, or refuses what it allows, and
    /// for failures that do not come again; by default these are warnings
    #[arg(long)]
    pub strict: bool,
    /// Also send requests in UTF-16
    #[arg(long)]
    pub encodings: bool,
    /// Fail if this operation does not answer the same request alike; may be given more than once
    #[arg(long, value_name = "NAME")]
    pub idempotent: Vec<String>,
    /// Make each failing request smaller with at most this many requests; 0 leaves it as it is
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub max_shrinks: u32,
    #[command(flatten)]
    pub token: UserToken,
    /// Add the header blocks of WS-Addressing to each request, also if no policy of the WSDL
    /// requires them
    #[arg(long)]
    pub wsa: bool,
    /// Write the failing requests to this directory, for --replay; they replace those of earlier runs
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,
    /// Send the requests that --save wrote to this directory, and no others
    #[arg(long, value_name = "DIR", conflicts_with_all = ["case", "save"])]
    pub replay: Option<PathBuf>,
    /// Write a JUnit XML report to this file: a test case for each operation and check
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

fn check_names() -> clap::builder::PossibleValuesParser {
    Check::all().map(Check::name).collect::<Vec<_>>().into()
}
