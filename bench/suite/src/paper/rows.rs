//! What is recorded for the papers on deserialization and serialization: rows, and the keys that
//! they are found by.

use serde::{Deserialize, Serialize};

use super::points::{Point, Way};
use super::sends::Sender;
use crate::options::name;
use crate::report::{Counts, change};
use crate::send::Case;
use crate::stream::Recipe;

/// The kind of times of messages that are decoded.
pub const POINT: &str = "point";
/// The kind of counts of messages whose values are fresh.
pub const COUNT: &str = "count";
/// The kind of times of messages that are sent.
pub const SENT: &str = "sent";
/// The kind of another toolkit's times of decoding.
pub const PEER: &str = "peer";

/// Messages decoded. Keys in the order in which they are written.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PointRow {
    /// Which repetition; counts have one.
    repetition: usize,
    /// Which message, if each has a row.
    message: Option<usize>,
    values: String,
    n: usize,
    changed: u32,
    partitions: usize,
    policy: String,
    matcher: String,
    portion: u32,
    bases: String,
    refinement: String,
    condition: String,
    /// Median milliseconds of a message.
    pub ms: Option<f64>,
    regular_percent: f64,
    /// What differential decoding did, a message.
    pub counts: Option<Counts>,
}

impl PointRow {
    /// The row of a message whose values are fresh, which is counted and not timed.
    pub fn counted(message: usize, recipe: Recipe, way: Way, point: &Point) -> Self {
        PointRow { message: Some(message), ms: None, ..PointRow::new(0, recipe, way, point) }
    }

    /// The row of a point that was timed.
    pub fn new(repetition: usize, recipe: Recipe, way: Way, point: &Point) -> Self {
        PointRow {
            repetition,
            message: None,
            values: format!("{:?}", recipe.kind).to_lowercase(),
            n: recipe.n,
            changed: recipe.percent,
            partitions: recipe.partitions,
            policy: name(way.policy),
            matcher: name(way.matcher),
            portion: way.portion,
            bases: format!("{:?}", way.bases).to_lowercase(),
            refinement: format!("{:?}", way.refinement).to_lowercase(),
            condition: format!("{:?}", way.condition).to_lowercase(),
            ms: Some(point.ms),
            regular_percent: point.regular_percent(),
            counts: point.counts.clone(),
        }
    }
}

/// The key of a point.
pub fn point_key(repetition: usize, recipe: Recipe, way: Way) -> String {
    format!("{POINT}/{repetition}/{}", stream_and_way(recipe, way))
}

/// The key of the counts of a stream.
pub fn count_key(recipe: Recipe, way: Way) -> String {
    format!("{COUNT}/{}", stream_and_way(recipe, way))
}

fn stream_and_way(Recipe { kind, n, percent, partitions }: Recipe, way: Way) -> String {
    let Way { policy, matcher, portion, bases, refinement, condition } = way;
    format!(
        "{kind:?}/{n}/{percent}/{partitions}/{policy:?}/{matcher:?}/{portion}/{bases:?}/{refinement:?}/{condition:?}"
    )
    .to_lowercase()
}

/// A message sent. Keys in the order in which they are written.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SentRow {
    repetition: usize,
    /// Who sends.
    pub sender: String,
    values: String,
    n: usize,
    change: String,
    chunk: usize,
    /// Median milliseconds until the last byte was handed to the system.
    pub ms: Option<f64>,
    /// Why there are none.
    pub reason: Option<String>,
}

impl SentRow {
    /// The row of a message, or of a toolkit that is not there.
    pub fn new(repetition: usize, case: &Case, sender: Sender, ms: Result<f64, String>) -> Self {
        SentRow {
            repetition,
            sender: sender.name().to_owned(),
            values: name(case.values),
            n: case.n,
            change: change(case),
            chunk: case.chunk,
            ms: ms.as_ref().ok().copied(),
            reason: ms.err(),
        }
    }
}

/// The key of a message by all who send it, since they are measured by turns.
pub fn sent_key(repetition: usize, case: &Case) -> String {
    let Case { values, n, percent, partitions, chunk, .. } = case;
    let change = change(case);
    format!("{SENT}/{repetition}/{values:?}/{n}/{change}/{percent}/{partitions}/{chunk}").to_lowercase()
}

/// How long another toolkit decodes a message, or why it is not there.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PeerRow {
    /// Which repetition.
    pub repetition: usize,
    /// The toolkit.
    pub toolkit: String,
    /// The workload.
    pub workload: String,
    /// Elements in the array.
    pub n: usize,
    /// Median milliseconds of a message.
    pub ms: Option<f64>,
    /// Why there are none.
    pub reason: Option<String>,
}

/// The key of all times of another toolkit.
pub fn peer_key(repetition: usize, toolkit: &str) -> String {
    format!("{PEER}/{repetition}/{toolkit}")
}
