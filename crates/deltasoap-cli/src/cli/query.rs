//! Arguments of `query`.

use clap::Args;
use std::path::PathBuf;

pub const EXAMPLES: &str = "Examples:
  deltasoap query tables 'select operation, count(*) from messages group by operation'
  deltasoap query tables 'select * from \"Order.request\"' --csv > orders.csv
  deltasoap query tables 'select * from \"Order.request\" where customer = 1' -o orders.parquet

Names with dots or capital letters need double quotes. Exit codes: 0 success, 1 the query failed, 2
wrong arguments.";

#[derive(Debug, Args)]
pub struct Query {
    /// The directory that `archive` wrote
    #[arg(value_name = "DIR")]
    pub tables: PathBuf,
    /// The query, in the SQL of DataFusion
    #[arg(value_name = "SQL")]
    pub sql: String,
    /// Print a line of JSON for each row
    #[arg(long, conflicts_with_all = ["csv", "output"])]
    pub json: bool,
    /// Print comma-separated values, with a line of names
    #[arg(long, conflicts_with = "output")]
    pub csv: bool,
    /// Write the rows to a Parquet file
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Sort, group and join in this much memory at most; files in the temporary directory hold the rest
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 30, value_parser = clap::value_parser!(u64).range(1 << 20..))]
    pub limit_memory: u64,
}
