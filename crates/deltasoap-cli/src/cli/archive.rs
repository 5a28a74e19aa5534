//! Arguments of `archive`.

use super::contract::{Loading, ToleranceName};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use deltasoap_archive::{Compression, JsonColumns};
use std::path::PathBuf;

pub const EXAMPLES: &str = "Examples:
  deltasoap archive --wsdl shop.wsdl captured/ -o tables         message files, archives, HAR files below a directory
  deltasoap archive --wsdl shop.wsdl tape/ -o tables             what `proxy --record tape` wrote
  deltasoap archive --wsdl shop.wsdl day.tar.zst -o tables --nested
  deltasoap archive --wsdl shop.wsdl monday.pcapng -o tables     what tcpdump or Wireshark captured
  deltasoap archive --wsdl shop.wsdl log.jsonl.gz -o tables --body-column payload --sender-column host

  duckdb -c \"select sender, count(*) from 'tables/messages/*.parquet' group by sender\"

Exit codes: 0 all captures are in the tables, or in that of errors; 1 the tables cannot be
written, or no message was found; 2 wrong arguments. The same command continues after an interruption.";

#[derive(Debug, Args)]
pub struct Archive {
    /// The captures: directories, message files, zip and tar archives, HAR files, captured packets
    /// (pcap, pcapng), flows of mitmproxy, recordings of `proxy`, JSON lines; with the feature `object-store` also URLs of
    /// S3, Google Cloud Storage and Azure: `s3://bucket/prefix`
    #[arg(value_name = "DIR|FILE|URL", required = true)]
    pub paths: Vec<PathBuf>,
    /// Decode the messages with this WSDL: a URL, a file, a directory, a zip archive, or `-` for
    /// standard input; or a file that `compile` wrote
    #[arg(long, value_name = "WSDL", required = true, value_parser = NonEmptyStringValueParser::new())]
    pub wsdl: String,
    #[command(flatten)]
    pub loading: Loading,
    /// Write the tables below this directory; it is created
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Write one table for each operation and direction, with nested columns; by default there is one
    /// for each repeated element, with plain columns
    #[arg(long)]
    pub nested: bool,
    /// Add no rows for a message whose values are those of the last one of its sender, operation and
    /// direction: the column `same_as` of `messages` names the message with the rows
    #[arg(long)]
    pub deduplicate: bool,
    /// Compress the tables
    #[arg(long, value_enum, default_value_t = CompressionName::Zstd, value_name = "CODEC")]
    pub compression: CompressionName,
    /// Accept this much beyond the schema in messages; others go to the table of errors
    #[arg(long, value_enum, default_value_t = ToleranceName::Unknown, value_name = "LEVEL")]
    pub tolerance: ToleranceName,
    /// Take messages of at most this many bytes, also after decompression; larger ones go to the table of errors
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20, value_parser = clap::value_parser!(u64).range(1..=256 << 20))]
    pub limit_message: u64,
    /// Complete files of the tables after this many bytes of messages: an interruption loses no more
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 20, value_parser = clap::value_parser!(u64).range(1..))]
    pub chunk: u64,
    #[command(flatten)]
    pub columns: ColumnArguments,
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// The properties of JSON lines.
#[derive(Debug, Args)]
pub struct ColumnArguments {
    /// In JSON lines, the property with the message
    #[arg(long, value_name = "NAME", default_value = "body")]
    pub body_column: String,
    /// In JSON lines, the property with the time: RFC 3339, or seconds or milliseconds since 1970
    #[arg(long, value_name = "NAME", default_value = "time")]
    pub time_column: String,
    /// In JSON lines, the property with the sender
    #[arg(long, value_name = "NAME", default_value = "sender")]
    pub sender_column: String,
    /// In JSON lines, the property with the direction: request or response
    #[arg(long, value_name = "NAME", default_value = "direction")]
    pub direction_column: String,
    /// In JSON lines, the property with the name of the operation
    #[arg(long, value_name = "NAME", default_value = "operation")]
    pub operation_column: String,
    /// In JSON lines, the property with the HTTP status
    #[arg(long, value_name = "NAME", default_value = "status")]
    pub status_column: String,
}

impl ColumnArguments {
    /// Returns the names.
    pub fn names(&self) -> JsonColumns {
        JsonColumns {
            body: self.body_column.clone(),
            time: self.time_column.clone(),
            sender: self.sender_column.clone(),
            direction: self.direction_column.clone(),
            operation: self.operation_column.clone(),
            status: self.status_column.clone(),
        }
    }
}

/// How tables are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompressionName {
    /// Zstandard: small
    Zstd,
    /// Snappy: fast
    Snappy,
    /// Not at all
    None,
}

impl From<CompressionName> for Compression {
    fn from(name: CompressionName) -> Self {
        match name {
            CompressionName::Zstd => Compression::Zstd,
            CompressionName::Snappy => Compression::Snappy,
            CompressionName::None => Compression::None,
        }
    }
}
