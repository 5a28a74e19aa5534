//! The record's rows for the papers on deserialization and serialization, and their keys.

use serde::{Deserialize, Serialize};

use super::setting::{Point, Setting};
use crate::options::name;
use crate::report::{Counts, change};
use crate::send::Case;
use crate::stream::Recipe;

/// The kind of times of decoding.
pub const POINT: &str = "point";
/// The kind of counts of messages with new values.
pub const COUNT: &str = "count";
/// The kind of times of sending.
pub const SENT: &str = "sent";
/// The kind of decoding times of another toolkit.
pub const PEER: &str = "peer";

/// Decoding of messages. Keys are in output order.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PointRow {
    /// The repetition; counts have only one.
    repetition: usize,
    /// The message, if each has a row.
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
    /// Statistics of differential decoding, per message.
    pub counts: Option<Counts>,
}

impl PointRow {
    /// Creates the row of a message with new values, which is counted but not timed.
    pub fn counted(message: usize, recipe: Recipe, setting: Setting, point: &Point) -> Self {
        PointRow { message: Some(message), ms: None, ..PointRow::new(0, recipe, setting, point) }
    }

    /// Creates the row of a timed point.
    pub fn new(repetition: usize, recipe: Recipe, setting: Setting, point: &Point) -> Self {
        PointRow {
            repetition,
            message: None,
            values: format!("{:?}", recipe.kind).to_lowercase(),
            n: recipe.n,
            changed: recipe.percent,
            partitions: recipe.partitions,
            policy: name(setting.policy),
            matcher: name(setting.matcher),
            portion: setting.portion,
            bases: format!("{:?}", setting.bases).to_lowercase(),
            refinement: format!("{:?}", setting.refinement).to_lowercase(),
            condition: format!("{:?}", setting.condition).to_lowercase(),
            ms: Some(point.ms),
            regular_percent: point.regular_percent(),
            counts: point.counts.clone(),
        }
    }
}

/// Returns the key of a point.
pub fn point_key(repetition: usize, recipe: Recipe, setting: Setting) -> String {
    format!("{POINT}/{repetition}/{}", stream_and_setting(recipe, setting))
}

/// Returns the key of the counts of a stream.
pub fn count_key(recipe: Recipe, setting: Setting) -> String {
    format!("{COUNT}/{}", stream_and_setting(recipe, setting))
}

fn stream_and_setting(Recipe { kind, n, percent, partitions }: Recipe, setting: Setting) -> String {
    let Setting { policy, matcher, portion, bases, refinement, condition } = setting;
    format!(
        "{kind:?}/{n}/{percent}/{partitions}/{policy:?}/{matcher:?}/{portion}/{bases:?}/{refinement:?}/{condition:?}"
    )
    .to_lowercase()
}

/// Sending of a message. Keys are in output order.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SentRow {
    repetition: usize,
    /// The sender.
    pub sender: String,
    values: String,
    n: usize,
    change: String,
    chunk: usize,
    /// Median milliseconds until the system has the last byte.
    pub ms: Option<f64>,
    /// The reason for a missing time.
    pub reason: Option<String>,
}

impl SentRow {
    /// Creates the row of a message, or of a missing toolkit.
    pub fn new(repetition: usize, case: &Case, sender: &str, ms: Result<f64, String>) -> Self {
        SentRow {
            repetition,
            sender: sender.to_owned(),
            values: name(case.values),
            n: case.n,
            change: change(case),
            chunk: case.chunk,
            ms: ms.as_ref().ok().copied(),
            reason: ms.err(),
        }
    }
}

/// Returns the key of a message for all senders, since they are measured alternately.
pub fn sent_key(repetition: usize, case: &Case) -> String {
    let Case { values, n, percent, partitions, chunk, .. } = case;
    let change = change(case);
    format!("{SENT}/{repetition}/{values:?}/{n}/{change}/{percent}/{partitions}/{chunk}").to_lowercase()
}

/// Decoding time of another toolkit, or the reason why it is missing.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PeerRow {
    /// The repetition.
    pub repetition: usize,
    /// The toolkit.
    pub toolkit: String,
    /// The workload.
    pub workload: String,
    /// Number of elements in the array.
    pub n: usize,
    /// Median milliseconds of a message.
    pub ms: Option<f64>,
    /// The reason for a missing time.
    pub reason: Option<String>,
}

/// Returns the key of all times of another toolkit.
pub fn peer_key(repetition: usize, toolkit: &str) -> String {
    format!("{PEER}/{repetition}/{toolkit}")
}
