//! Arguments of commands.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use deltasoap::engine::{Checkpoints, Differential};
use deltasoap_checkpoints::{Matcher, Portions, State};

use crate::workload::Values;

/// What to measure, and how long.
#[derive(clap::Args)]
pub struct RunArguments {
    /// A workload (repeatable) [default: all]
    #[arg(long = "workload", value_name = "NAME")]
    pub workloads: Vec<String>,
    /// Elements in an array; bytes for base64 (repeatable)
    #[arg(long = "size", value_name = "N", default_values_t = [1000, 100_000])]
    pub sizes: Vec<usize>,
    /// A toolkit, or `all` (repeatable)
    #[arg(long = "engine", value_name = "NAME", default_values_t = [String::from("deltasoap")])]
    pub engines: Vec<String>,
    /// Print one JSON object per line instead of a table
    #[arg(long)]
    pub json: bool,
    /// Minimum number of runs of each measurement
    #[arg(long, value_name = "N", default_value = "15")]
    pub runs: NonZeroUsize,
    /// Minimum seconds of each measurement
    #[arg(long, value_name = "S", default_value = "0.5", value_parser = seconds)]
    pub seconds: Duration,
    /// Feed deltasoap's decoder with chunks of this size instead of whole messages; for sent
    /// messages, the size of a template's chunks, `8K` or `32K` in the paper [default there: 32K]
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub chunk: Option<NonZeroUsize>,
    /// Folder of built peers [default: .peers in the repository]
    #[arg(long, value_name = "FOLDER")]
    pub peers: Option<PathBuf>,
    /// Percentage of values that change from message to message in a stream of similar ones
    /// (repeatable) [default: 25; for sent messages 25, 50, 75 and 100, and with `send-shift` 100]
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u32).range(..=100))]
    pub changed: Vec<u32>,
    /// Number of parts of an array that have that percentage in their middle (repeatable)
    #[arg(long, value_name = "T", default_value = "1")]
    pub partitions: Vec<NonZeroUsize>,
    #[command(flatten)]
    pub differential: DifferentialArguments,
    #[command(flatten)]
    pub send: SendArguments,
}

/// Options for decoding streams of similar messages.
#[derive(Debug, Clone, clap::Args)]
pub struct DifferentialArguments {
    /// Where checkpoints are created, for streams of similar messages
    #[arg(long, value_name = "POLICY", default_value = "leaf")]
    pub checkpoints: Policy,
    /// How portions of a message are matched, except with checkpoints at leaves
    #[arg(long, value_name = "MATCHER", default_value = "compare")]
    pub matcher: Match,
    /// Bytes between two checkpoints, except with checkpoints at leaves
    #[arg(long, value_name = "BYTES", default_value = "512")]
    pub portion: NonZeroU32,
    /// Compare the first, middle and last bytes of a portion before calculating its checksum
    #[arg(long)]
    pub probe: bool,
    /// Tune the size of portions at run time
    #[arg(long)]
    pub tune: bool,
    /// Compare every message, even in a stream where this saves no time
    #[arg(long)]
    pub no_adaptive: bool,
}

/// Options for sending similar messages.
#[derive(Debug, Clone, clap::Args)]
pub struct SendArguments {
    /// Kind of values to send (repeatable) [default: all of the workload]
    #[arg(long = "values", value_name = "KIND")]
    pub values: Vec<Values>,
    /// Characters of a `send-shift` value before it grows (repeatable); 1 stands for the minimum
    #[arg(long = "width", value_name = "W", default_values_t = [1, 18, 36])]
    pub widths: Vec<usize>,
    /// Field width of `send-stuffed` values (repeatable) [default: all]
    #[arg(long = "stuffing", value_name = "ROOM")]
    pub stuffings: Vec<Stuffing>,
    /// Send to a server on this machine that discards everything; the time ends when the last
    /// `send` returns
    #[arg(long)]
    pub socket: bool,
}

/// The field width of the shortest values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, ValueEnum)]
pub enum Stuffing {
    /// the width of the value
    Exact,
    /// the paper's intermediate width: 18 characters a double, 36 a structure
    Intermediate,
    /// the width of the type's longest value
    Maximal,
    /// the same; the previous values filled it, so that every end tag moves
    TagShift,
}

/// [`Checkpoints`] by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, ValueEnum)]
pub enum Policy {
    /// nowhere: every message is read in regular mode
    Off,
    /// complete copies
    Full,
    /// copies of what differs from a base copy
    Differential,
    /// places in a group with a base checkpoint
    Lightweight,
    /// every leaf
    Leaf,
}

/// [`Matcher`] by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, ValueEnum)]
pub enum Match {
    /// bytes are stored and compared
    Compare,
    /// exclusive or of words
    Xor,
    /// Adler-32
    Adler32,
    /// CRC-32
    Crc32,
    /// a universal hash with a secret key
    Keyed,
}

impl DifferentialArguments {
    /// Returns the decoder's options.
    pub fn differential(&self) -> Differential {
        let portions = Portions {
            matcher: self.matcher.into(),
            size: self.portion.get(),
            probe: self.probe,
            tune: self.tune,
            ..Portions::default()
        };
        Differential { checkpoints: self.checkpoints.with(portions), adaptive: !self.no_adaptive }
    }
}

impl Policy {
    /// Returns the policy; those of the papers get these portions.
    pub fn with(self, portions: Portions) -> Checkpoints {
        let state = match self {
            Policy::Off => return Checkpoints::Off,
            Policy::Leaf => return Checkpoints::Leaf,
            Policy::Full => State::Full,
            Policy::Differential => State::Differential,
            Policy::Lightweight => State::Lightweight,
        };
        Portions { state, ..portions }.into()
    }
}

impl From<Match> for Matcher {
    fn from(matcher: Match) -> Self {
        match matcher {
            Match::Compare => Matcher::Compare,
            Match::Xor => Matcher::Xor,
            Match::Adler32 => Matcher::Adler32,
            Match::Crc32 => Matcher::Crc32,
            Match::Keyed => Matcher::Keyed,
        }
    }
}

/// Returns the name of a value, as on the command line.
pub fn name(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Parses a number of bytes, in KiB if followed by `K`.
fn bytes(text: &str) -> Result<NonZeroUsize> {
    let (number, unit) = text.strip_suffix(['K', 'k']).map_or((text, 1), |number| (number, 1024));
    let bytes = number.parse::<usize>()?.checked_mul(unit).and_then(NonZeroUsize::new);
    bytes.context("not a size")
}

/// Parses a time in seconds, up to an hour.
pub fn seconds(text: &str) -> Result<Duration> {
    let seconds = Duration::try_from_secs_f64(text.parse()?)?;
    ensure!(seconds <= Duration::from_secs(3600), "more than an hour");
    Ok(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Args, Command, FromArgMatches};

    fn parse(arguments: &[&str]) -> Differential {
        let command = DifferentialArguments::augment_args(Command::new("test").no_binary_name(true));
        let matches = command.try_get_matches_from(arguments).unwrap();
        DifferentialArguments::from_arg_matches(&matches).unwrap().differential()
    }

    #[test]
    fn the_defaults_are_the_decoders() {
        assert_eq!(parse(&[]), Differential::default());
    }

    #[test]
    fn everything_can_be_chosen() {
        let arguments = "--checkpoints full --matcher crc32 --portion 32 --probe --tune --no-adaptive";
        let portions = Portions {
            state: State::Full,
            matcher: Matcher::Crc32,
            size: 32,
            probe: true,
            tune: true,
            ..Portions::default()
        };
        let expected = Differential { checkpoints: portions.into(), adaptive: false };
        assert_eq!(parse(&arguments.split(' ').collect::<Vec<_>>()), expected);
    }

    #[test]
    fn names_are_those_of_the_command_line() {
        assert_eq!((name(Policy::Lightweight), name(Match::Adler32)), ("lightweight".into(), "adler32".into()));
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!([bytes("7").unwrap().get(), bytes("8K").unwrap().get()], [7, 8192]);
        assert!(bytes("0").is_err() && bytes("K").is_err() && bytes("99999999999999999999K").is_err());
    }

    #[test]
    fn seconds_are_positive_and_bounded() {
        assert_eq!(seconds("0.25").unwrap(), Duration::from_millis(250));
        assert!(seconds("-1").is_err() && seconds("1e9").is_err() && seconds("NaN").is_err());
    }
}
