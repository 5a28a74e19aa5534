//! What stuffing does to the receiver: an open question of *Differential Serialization for Optimized SOAP Performance* (section 6).
//!
//! A stream of messages of which some values change is written through templates that give values more or less room, and is read in
//! regular and in differential mode. With room, a value that changes its length moves nothing: what is behind it stays where it
//! was, in the message and for those who compare. In return, messages are longer.

use std::rc::Rc;

use anyhow::{Context, Result};
use bytes::Bytes;
use deltasoap::Differential;
use deltasoap::encode::differential::{Template, Templating, Width};
use deltasoap::schema::Use;
use deltasoap::soap::Version;
use deltasoap_report::{Exhibit, Grid, number};
use deltasoap_streams::arrays;
use deltasoap_streams::similar::{self, Changes};

use super::printed::DifferentialSerialization as Printed;
use crate::engine::{Session, timed};
use crate::measure::{Figures, Plan, measure};
use crate::messages::{Payload, SendDoubles, SendInts, SendMios};
use crate::stream::lane::{Lane, Setup};
use crate::stream::{Sent, Stream};

/// Messages of a stream.
const MESSAGES: usize = 4;

const CHANGES: Changes = Changes { percent: 5, partitions: 20 };

const WIDTHS: [(&str, Width); 4] = [
    ("exact", Width::Exact),
    ("learned, 90 % of the values", Width::Learned(0.9)),
    ("given, 18 characters", Width::Given(18)),
    ("maximal", Width::Maximal),
];

/// Measures and draws.
///
/// # Errors
/// When a value is wrong.
pub fn exhibit(n: usize, plan: Plan) -> Result<Exhibit> {
    let printed = Printed::load()?;
    let doubles = similar::changed(&arrays::hard_doubles(n), CHANGES, MESSAGES, similar::hard_double);
    let ints = similar::changed(&arrays::ints(n), CHANGES, MESSAGES, wide_int);
    let mios = similar::changed(&arrays::mios(n), CHANGES, MESSAGES, similar::mio(n));
    let kinds = [
        kind::<SendDoubles, _>("doubles", &doubles, plan)?,
        kind::<SendInts, _>("integers", &ints, plan)?,
        kind::<SendMios, _>("MIO's", &mios, plan)?,
    ];
    let caption = format!(
        "What stuffing does to the receiver: messages of {n} values, of which {} % in {} parts change from message to message, \
         their lengths too. Encoding: through a template that compares, in memory.",
        CHANGES.percent, CHANGES.partitions
    );
    Ok(Exhibit {
        paper: format!("{} ({})", printed.title, printed.source),
        name: "Section 6",
        caption,
        charts: vec![],
        verdicts: vec![],
        grids: kinds.iter().map(grid).chain([answers(&kinds)]).collect(),
    })
}

/// Ints of one to ten digits, so that a new one is seldom as long as the old one.
fn wide_int(random: &mut deltasoap_streams::prng::SplitMix64) -> i32 {
    let digits = 1 + random.below(9);
    1 + random.below(10_u32.pow(digits)) as i32
}

/// What was measured of a type, for each of [`WIDTHS`].
struct Kind {
    name: &'static str,
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    bytes: usize,
    encode_ms: f64,
    regular_ms: f64,
    differential_ms: f64,
    /// Percentage of bytes that were skipped.
    skipped: f64,
}

fn kind<T: Payload + From<Vec<I>>, I: Clone>(name: &'static str, ring: &[Vec<I>], plan: Plan) -> Result<Kind> {
    let rows = WIDTHS.iter().map(|(_, width)| row::<T, I>(ring, *width, plan)).collect::<Result<_>>()?;
    Ok(Kind { name, rows })
}

fn row<T: Payload + From<Vec<I>>, I: Clone>(ring: &[Vec<I>], width: Width, plan: Plan) -> Result<Row> {
    let (stream, encode_ms) = written::<T, I>(ring, width)?;
    let stream = Rc::new(stream);
    let always = Differential { adaptive: false, ..Differential::default() };
    let open = |differential| -> Box<dyn Session> { Box::new(Lane::new(stream.clone(), Setup::new(differential))) };
    let mut sessions = [open(Differential::OFF), open(always)];
    let figures = measure(&mut sessions, plan, || ()).context("a stuffed message")?;
    let ms = |figures: &Figures| figures.ns_median as f64 / 1e6;
    let skipped = crate::report::Counts::of(&figures[1]).map_or(0.0, |counts| counts.fast_share() * 100.0);
    let (regular_ms, differential_ms) = (ms(&figures[0]), ms(&figures[1]));
    Ok(Row { bytes: figures[0].bytes, encode_ms, regular_ms, differential_ms, skipped })
}

/// The messages of a ring, written one after the other, and how long one takes at its fastest. The ring is gone round until widths are learned and
/// fields are as wide as they get; the last round counts.
fn written<T: Payload + From<Vec<I>>, I: Clone>(ring: &[Vec<I>], width: Width) -> Result<(Stream<T>, f64)> {
    const ROUNDS: usize = 4;
    let mut template = Template::new(Templating { width, ..Templating::default() });
    let (mut messages, mut fastest) = (Vec::new(), u64::MAX);
    for _ in 0..ROUNDS {
        messages.clear();
        for items in ring {
            let value = T::from(items.clone());
            let (ns, outgoing) = timed(|| template.encode(Version::Soap11, Use::Literal, &[], &value));
            fastest = fastest.min(ns);
            messages.push(Sent { bytes: Bytes::from(outgoing?.to_vec().into_boxed_slice()), value, sender: 0 });
        }
    }
    Ok((Stream { messages, senders: 1 }, fastest as f64 / 1e6))
}

fn grid(kind: &Kind) -> Grid {
    let cells = |((name, _), row): (&(&str, Width), &Row)| {
        let numbers = [row.encode_ms, row.regular_ms, row.differential_ms, row.skipped].map(number);
        [vec![(*name).to_owned(), row.bytes.to_string()], numbers.to_vec()].concat()
    };
    let header = ["field width", "bytes", "encode, ms", "regular decode, ms", "differential decode, ms", "% skipped"];
    Grid {
        title: format!("Arrays of {}", kind.name),
        header: header.map(str::to_owned).to_vec(),
        rows: WIDTHS.iter().zip(&kind.rows).map(cells).collect(),
        names: 1,
    }
}

/// Which way stuffing moves the receiver's time. The paper asks, and claims nothing.
fn answers(kinds: &[Kind]) -> Grid {
    let row = |kind: &Kind| {
        let [exact, .., maximal] = &kind.rows[..] else { return vec![] };
        let regular = maximal.regular_ms / exact.regular_ms;
        let differential = maximal.differential_ms / exact.differential_ms;
        vec![kind.name.to_owned(), number(regular), number(differential)]
    };
    Grid {
        title: "An open question of the paper: what stuffing costs the receiver. Time with maximal fields by that with exact ones".to_owned(),
        header: ["type", "regular decode", "differential decode"].map(str::to_owned).into(),
        rows: kinds.iter().map(row).collect(),
        names: 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn every_type_and_width_is_measured() {
        let exhibit = exhibit(40, Plan { runs: 5, time: Duration::ZERO }).unwrap();
        let rows: Vec<usize> = exhibit.grids.iter().map(|grid| grid.rows.len()).collect();
        assert_eq!(rows, [WIDTHS.len(), WIDTHS.len(), WIDTHS.len(), 3]);
    }
}
