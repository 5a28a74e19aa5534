//! Goals on the ratio of two streams, with an interval, where differences of a few percent matter.
//!
//! A pair is a stream decoded differentially and the same stream in regular mode, each from its
//! first message on, by a new decoder. The two alternate message by message (small messages: ring
//! by ring), and so does the order of the two. Each pair gives a ratio of total times; the interval
//! is that of the median of many pairs.

use std::rc::Rc;

use anyhow::Result;
use deltasoap::engine::Differential;

use super::goal::Goal;
use super::{Effort, Task};
use crate::engine::Session;
use crate::payload::Same;
use crate::statistics::{Interval, median_interval};
use crate::stream::lane::{Lane, Setup};
use crate::stream::{Bound, Kind, Recipe, Stream, Visitor, with_stream};

/// Messages with few leaves that are learned soon: name, type, elements, percentage of leaves that
/// change.
const SMALL: [(&str, Kind, usize, u32); 2] =
    [("10 hard doubles, one changed", Kind::Hard, 10, 10), ("one int", Kind::Ints, 1, 100)];

/// Returns the goals.
pub fn tasks(effort: Effort) -> Vec<Task> {
    let fetches = Recipe::identical(Kind::Fetch, 0);
    let mut tasks = vec![inform_task(effort), slowdown_task(effort, "vSphere Fetch requests", fetches)];
    tasks.extend(
        SMALL.map(|(name, kind, n, percent)| slowdown_task(effort, name, Recipe { kind, n, percent, partitions: 1 })),
    );
    tasks
}

/// The upper end of the interval counts.
fn slowdown_task(effort: Effort, name: &str, recipe: Recipe) -> Task {
    let measure = move || {
        let interval = interval(effort, recipe)?;
        let detail = detail(effort, interval);
        Ok(Goal::at_most(1.03, "× regular, upper end", interval.high, detail).within(interval))
    };
    Task { name: name.to_owned(), measure: Box::new(measure) }
}

/// A goal on the speedup; the lower end of the interval counts.
fn inform_task(effort: Effort) -> Task {
    let measure = move || {
        let interval = interval(effort, Recipe::identical(Kind::Inform, 0))?;
        let speed = Interval { low: 1.0, median: 1.0, high: 1.0 }.by(interval);
        let detail = detail(effort, interval);
        Ok(Goal::at_least(2.0, "times as fast as regular, lower end", speed.low, detail).within(speed))
    };
    Task { name: "TR-069 Inform stream".to_owned(), measure: Box::new(measure) }
}

fn detail(effort: Effort, interval: Interval) -> String {
    let Interval { low, median, high } = interval;
    format!("{median:.4} × regular [{low:.4}, {high:.4}] over {} pairs", effort.pairs)
}

fn interval(effort: Effort, recipe: Recipe) -> Result<Interval> {
    let bound = Bound { messages: effort.large_messages.min(Bound::LARGE.messages), ..Bound::LARGE };
    median_interval(&with_stream(recipe, bound, Pairs(effort))?)
}

struct Pairs(Effort);

impl Visitor for Pairs {
    type Output = Vec<f64>;

    fn visit<T: Same>(self, stream: Stream<T>) -> Result<Vec<f64>> {
        let stream = Rc::new(stream);
        let mut ratios = Vec::new();
        for pair in 0..self.0.pairs {
            let open = |differential| Lane::new(stream.clone(), Setup::new(differential));
            let mut lanes = [open(Differential::default()), open(Differential::OFF)];
            ratios.push(self.pair(&mut lanes, pair)?);
            if pair == 0 {
                lanes.iter_mut().try_for_each(Session::check)?;
            }
        }
        Ok(ratios)
    }
}

impl Pairs {
    /// Returns the total time of the first lane divided by that of the second.
    fn pair<T: Same>(&self, lanes: &mut [Lane<T>; 2], pair: usize) -> Result<f64> {
        let mut totals = [0; 2];
        for turn in 0..self.turns(&lanes[0]) {
            let first = (pair + turn) % 2;
            for lane in [first, 1 - first] {
                totals[lane] += lanes[lane].run(1)?[0];
            }
        }
        Ok(totals[0] as f64 / totals[1].max(1) as f64)
    }

    fn turns<T: Same>(&self, lane: &Lane<T>) -> usize {
        match lane.messages_per_run() {
            1 => self.0.large_messages,
            messages => self.0.small_messages.div_ceil(messages),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::SampleSize;
    use std::time::Duration;

    #[test]
    fn every_pair_gives_a_ratio() {
        let sample_size = SampleSize { runs: 5, time: Duration::ZERO };
        let effort = Effort { n: 10, sample_size, pairs: 3, large_messages: 4, small_messages: 20, is_quick: true };
        for kind in [Kind::Hard, Kind::Fetch] {
            let ratios = with_stream(Recipe::identical(kind, 10), Bound::LARGE, Pairs(effort)).unwrap();
            assert!(ratios.len() == 3 && ratios.iter().all(|ratio| *ratio > 0.0));
        }
    }
}
