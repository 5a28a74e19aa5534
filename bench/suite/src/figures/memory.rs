//! Goals on memory: bytes per checkpoint, and per leaf.

use std::rc::Rc;

use anyhow::Result;
use deltasoap::engine::{Differential, DifferentialStats};
use deltasoap_checkpoints::{Matcher, Portions, State};

use super::goal::Goal;
use super::{Effort, Task};
use crate::payload::Same;
use crate::stream::lane::{Lane, Setup};
use crate::stream::{Bound, Kind, Recipe, Stream, Visitor, with_stream};

/// Interrupt frequency of the papers' policies.
const PORTION: u32 = 32;

/// Returns the goals.
pub fn tasks(effort: Effort) -> Vec<Task> {
    let policies = [
        ("a lightweight checkpoint", State::Lightweight, Some(13.0)),
        ("a differential checkpoint", State::Differential, Some(128.0)),
        ("a full checkpoint", State::Full, None),
    ];
    let shapes = [
        ("a leaf, ints", Kind::Ints, 1),
        ("a leaf, hard doubles", Kind::Hard, 1),
        ("a leaf, strings", Kind::Strings, 1),
        ("a leaf, structs", Kind::Structs, 3),
    ];
    let checkpoints = policies.map(|(name, policy, bound)| checkpoint_task(effort, name, policy, bound));
    let leaves = shapes.map(|(name, kind, leaves)| leaf_task(effort, name, kind, leaves));
    checkpoints.into_iter().chain(leaves).collect()
}

fn checkpoint_task(effort: Effort, name: &str, state: State, bound: Option<f64>) -> Task {
    let measure = move || {
        let portions = Portions { state, matcher: Matcher::Crc32, size: PORTION, ..Portions::default() };
        let differential = Differential { checkpoints: portions.into(), adaptive: false };
        // The difference of two messages, so that memory per message does not count.
        let [small, large] = [effort.n / 2, effort.n].map(|n| held(differential, Recipe::identical(Kind::Hard, n), 1));
        let (small, large) = (small?.stats, large?.stats);
        let (bytes, checkpoints) = (large.memory - small.memory, large.checkpoints - small.checkpoints);
        let each = bytes as f64 / checkpoints as f64;
        let detail = format!("{bytes} bytes, {checkpoints} checkpoints more in a message twice as long");
        Ok(match bound {
            Some(bound) => Goal::at_most(bound, "bytes", each, detail),
            None => Goal::reported("bytes", each, detail),
        })
    };
    Task { name: format!("memory of {name}, N = {PORTION}"), measure: Box::new(measure) }
}

fn leaf_task(effort: Effort, name: &str, kind: Kind, leaves_each: usize) -> Task {
    let measure = move || {
        // A few messages, until the decoder has decided to keep what it needs.
        let held = held(Differential::default(), Recipe::identical(kind, effort.n), 16)?;
        let leaves = effort.n * leaves_each;
        let beside = held.stats.memory as f64 - held.message as f64;
        let detail = format!("{} bytes, of them {} of the message; {leaves} leaves", held.stats.memory, held.message);
        // Less than the message: nothing is kept.
        let each = if beside < 0.0 { f64::NAN } else { beside / leaves as f64 };
        Ok(Goal::at_most(6.0, "bytes", each, detail))
    };
    Task { name: format!("memory of {name}"), measure: Box::new(measure) }
}

struct Held {
    stats: DifferentialStats,
    /// Size of a message in bytes.
    message: usize,
}

/// Returns the memory held after some messages of a stream.
fn held(differential: Differential, recipe: Recipe, messages: usize) -> Result<Held> {
    with_stream(recipe, Bound::SMALL, Hold { setup: Setup::new(differential), messages })
}

struct Hold {
    setup: Setup,
    messages: usize,
}

impl Visitor for Hold {
    type Output = Held;

    fn visit<T: Same>(self, stream: Stream<T>) -> Result<Held> {
        let message = stream.message_len();
        let mut lane = Lane::new(Rc::new(stream), self.setup);
        lane.advance(self.messages)?;
        Ok(Held { stats: lane.totals(), message })
    }
}
