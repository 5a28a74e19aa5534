//! The effect of stuffing on the receiver: an open question of *Differential Serialization for
//! Optimized SOAP Performance* (section 6).
//!
//! A stream of messages with some changing values is written through templates of different field
//! widths, and read in regular and in differential mode. In a wide field, a value that changes its
//! length does not shift the rest of the message, which helps comparison. In return, messages are
//! longer.

use std::rc::Rc;

use anyhow::{Context, Result};
use bytes::Bytes;
use deltasoap::engine::Differential;
use deltasoap::engine::encode::differential::{Template, Templating, Width};
use deltasoap::soap::Envelope;
use deltasoap_report::{Exhibit, Grid, number};
use deltasoap_streams::arrays;
use deltasoap_streams::prng::SplitMix64;
use deltasoap_streams::similar::{self, Changes};
use serde::{Deserialize, Serialize};

use super::printed::DifferentialSerialization as Printed;
use crate::engine::{Session, timed};
use crate::measure::{Figures, SampleSize, measure};
use crate::messages::{SendDoubles, SendInts, SendMios};
use crate::payload::Payload;
use crate::progress::Progress;
use crate::record::Record;
use crate::stream::lane::{Lane, Setup};
use crate::stream::{Sent, Stream};

/// Number of messages in a stream.
const MESSAGES: usize = 4;

const CHANGES: Changes = Changes { percent: 5, partitions: 20 };

const WIDTHS: [(&str, Width); 4] = [
    ("exact", Width::Exact),
    ("learned, 90 % of the values", Width::Learned(0.9)),
    ("given, 18 characters", Width::Fixed(18)),
    ("maximal", Width::Maximal),
];

/// The measured types.
pub const TYPES: [&str; 3] = ["doubles", "integers", "MIO's"];

/// The kind of rows.
const RECEIVED: &str = "received";

fn key(name: &str, n: usize) -> String {
    format!("{RECEIVED}/{name}/{n}")
}

/// Returns the number of types missing from a record.
pub fn missing_types(record: &Record, n: usize) -> usize {
    TYPES.iter().filter(|name| !record.has(&key(name, n))).count()
}

/// Measures what is missing from a record.
///
/// # Errors
/// When a value is wrong, the record cannot be written, or the time is up.
pub fn measure_all(n: usize, sample_size: SampleSize, record: &mut Record, progress: &Progress) -> Result<()> {
    for name in TYPES {
        if record.has(&key(name, n)) {
            continue;
        }
        progress.check_time()?;
        let rows = match name {
            "doubles" => {
                rows::<SendDoubles, _>(name, &changed(&arrays::hard_doubles(n), similar::hard_double), sample_size)?
            }
            "integers" => rows::<SendInts, _>(name, &changed(&arrays::ints(n), wide_int), sample_size)?,
            _ => rows::<SendMios, _>(name, &changed(&arrays::mios(n), similar::mio(n)), sample_size)?,
        };
        record.append(RECEIVED, &key(name, n), &rows)?;
        progress.done();
    }
    Ok(())
}

fn changed<I: Clone + PartialEq>(items: &[I], new: impl FnMut(&mut SplitMix64) -> I) -> Vec<Vec<I>> {
    similar::changed(items, CHANGES, MESSAGES, new)
}

/// Draws the results in a record.
///
/// # Errors
/// When a number of the paper is missing from `bench/papers/`.
pub fn exhibit(n: usize, record: &Record) -> Result<Exhibit> {
    let printed = Printed::load()?;
    let types = TYPES.map(|name| TypeRows { name, rows: record.of(&key(name, n)) });
    let caption = format!(
        "The effect of stuffing on the receiver: messages of {n} values, of which {} % in {} parts change from message to message, \
         their lengths too. Encoding: through a template that compares, in memory.",
        CHANGES.percent, CHANGES.partitions
    );
    Ok(Exhibit {
        paper: format!("{} ({})", printed.title, printed.source),
        name: "Section 6",
        caption,
        charts: vec![],
        verdicts: vec![],
        grids: types.iter().map(grid).chain([answers(&types)]).collect(),
    })
}

/// Returns an int of one to ten digits, so that a new one rarely has the length of the old one.
fn wide_int(random: &mut SplitMix64) -> i32 {
    let digits = 1 + random.below(9);
    1 + random.below(10_u32.pow(digits)) as i32
}

/// The measurements of a type, for each of [`WIDTHS`].
struct TypeRows {
    name: &'static str,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Row {
    values: String,
    n: usize,
    width: String,
    bytes: usize,
    encode_ms: f64,
    regular_ms: f64,
    differential_ms: f64,
    /// Percentage of skipped bytes.
    skipped: f64,
}

fn rows<T: Payload + From<Vec<I>>, I: Clone>(name: &str, ring: &[Vec<I>], sample_size: SampleSize) -> Result<Vec<Row>> {
    WIDTHS.iter().map(|width| row::<T, I>(name, ring, width, sample_size)).collect()
}

fn row<T: Payload + From<Vec<I>>, I: Clone>(
    name: &str,
    ring: &[Vec<I>],
    &(width_name, width): &(&str, Width),
    sample_size: SampleSize,
) -> Result<Row> {
    let (stream, encode_ms) = written::<T, I>(ring, width)?;
    let stream = Rc::new(stream);
    let always = Differential { adaptive: false, ..Differential::default() };
    let open = |differential| -> Box<dyn Session> { Box::new(Lane::new(stream.clone(), Setup::new(differential))) };
    let mut sessions = [open(Differential::OFF), open(always)];
    let figures = measure(&mut sessions, sample_size, || ()).context("a stuffed message")?;
    let ms = |figures: &Figures| figures.ns_median as f64 / 1e6;
    let skipped = crate::report::Counts::of(&figures[1]).map_or(0.0, |counts| counts.fast_share() * 100.0);
    let (regular_ms, differential_ms) = (ms(&figures[0]), ms(&figures[1]));
    let (values, width, n) = (name.to_owned(), width_name.to_owned(), ring.first().map_or(0, Vec::len));
    Ok(Row { values, n, width, bytes: figures[0].bytes, encode_ms, regular_ms, differential_ms, skipped })
}

/// Returns the messages of a ring, written in order, and the fastest time of one. Rounds are
/// repeated until widths are learned and fields no longer grow; the last round counts.
fn written<T: Payload + From<Vec<I>>, I: Clone>(ring: &[Vec<I>], width: Width) -> Result<(Stream<T>, f64)> {
    const ROUNDS: usize = 4;
    let mut template = Template::new(Templating { width, ..Templating::default() });
    let (mut messages, mut fastest) = (Vec::new(), u64::MAX);
    for _ in 0..ROUNDS {
        messages.clear();
        for items in ring {
            let value = T::from(items.clone());
            let (ns, outgoing) = timed(|| template.encode(&Envelope::new(&value)));
            fastest = fastest.min(ns);
            messages.push(Sent { bytes: Bytes::from(outgoing?.to_vec().into_boxed_slice()), value, sender: 0 });
        }
    }
    Ok((Stream { messages, senders: 1 }, fastest as f64 / 1e6))
}

fn grid(rows_of_type: &TypeRows) -> Grid {
    let cells = |((name, _), row): (&(&str, Width), &Row)| {
        let numbers = [row.encode_ms, row.regular_ms, row.differential_ms, row.skipped].map(number);
        [vec![(*name).to_owned(), row.bytes.to_string()], numbers.to_vec()].concat()
    };
    let header = ["field width", "bytes", "encode, ms", "regular decode, ms", "differential decode, ms", "% skipped"];
    Grid {
        title: format!("Arrays of {}", rows_of_type.name),
        header: header.map(str::to_owned).to_vec(),
        rows: WIDTHS.iter().zip(&rows_of_type.rows).map(cells).collect(),
        names: 1,
    }
}

/// Describes the direction in which stuffing changes the receiver's time. The paper asks, and
/// claims nothing.
fn answers(types: &[TypeRows]) -> Grid {
    let row = |rows_of_type: &TypeRows| {
        let [exact, .., maximal] = &rows_of_type.rows[..] else { return vec![] };
        let regular = maximal.regular_ms / exact.regular_ms;
        let differential = maximal.differential_ms / exact.differential_ms;
        vec![rows_of_type.name.to_owned(), number(regular), number(differential)]
    };
    Grid {
        title: "An open question of the paper: the cost of stuffing for the receiver. Time with maximal fields by that with exact ones".to_owned(),
        header: ["type", "regular decode", "differential decode"].map(str::to_owned).into(),
        rows: types.iter().map(row).collect(),
        names: 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn every_type_and_width_is_measured() {
        let (mut record, progress) = (Record::default(), Progress::new(1.0, None));
        assert_eq!(missing_types(&record, 40), TYPES.len());
        measure_all(40, SampleSize { runs: 5, time: Duration::ZERO }, &mut record, &progress).unwrap();
        let exhibit = exhibit(40, &record).unwrap();
        assert_eq!((missing_types(&record, 40), record.lines().len()), (0, TYPES.len() * WIDTHS.len()));
        let rows: Vec<usize> = exhibit.grids.iter().map(|grid| grid.rows.len()).collect();
        assert_eq!(rows, [WIDTHS.len(), WIDTHS.len(), WIDTHS.len(), 3]);
    }
}
