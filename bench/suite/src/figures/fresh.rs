//! Goals on streams without similar messages: the cost of detecting that.
//!
//! All values change from message to message, and each message is new: a decoder that remembers
//! several kinds of messages (as many as alternate) would soon know all messages of a ring. So a
//! stream is created once, and *played* from its first message to its last by new decoders, with
//! default options and in regular mode. The two alternate message by message (small ones: several
//! at a time), and so does the order of the two. The first messages of a play, in which a decoder
//! learns that it learns nothing, count separately from the following ones. Each play gives a ratio
//! of total times; the interval is that of the median of many plays.

use std::cell::OnceCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use deltasoap::engine::Differential;

use super::goal::Goal;
use super::{Effort, Task};
use crate::payload::Same;
use crate::statistics::{Interval, median_interval};
use crate::stream::lane::{Lane, Setup};
use crate::stream::target::{DecodeTarget, Dynamic, Target, Typed};
use crate::stream::{Bound, Kind, Recipe, Stream, Visitor, with_stream};

/// Maximum ratio to regular mode.
const MEDIAN: f64 = 1.03;
/// Upper limit of the interval.
const HIGH: f64 = 1.05;

/// Elements, number of first messages, and number of following messages: enough small ones to
/// include further attempts to compare, few of the largest, since they take long.
const SIZES: [Size; 5] = [
    Size { n: 10, phases: [200, 2000] },
    Size { n: 100, phases: [200, 1600] },
    Size { n: 1000, phases: [200, 600] },
    Size { n: 10_000, phases: [200, 100] },
    Size { n: 100_000, phases: [16, 16] },
];
/// A message of 100 MB: of one kind, as text, since it takes long.
const HUGE: (Form, Size) =
    (Form { name: "literal", kinds: &[("doubles", Kind::Hard)] }, Size { n: 4_000_000, phases: [4, 4] });
/// Sizes of a quick run.
const QUICK: [Size; 2] = [Size { n: 1, phases: [4, 4] }, Size { n: 20, phases: [4, 4] }];

/// Minimum number of plays for an interval of the median.
const MIN_PLAYS: usize = 6;
/// Duration of the plays of a stream, if they are enough by then.
const TIME: Duration = Duration::from_secs(1);
/// Number of messages whose values are checked before times count; after that, the last one of each
/// play.
const CHECKED: usize = 16;
/// Minimum number of bytes of messages that are timed together.
const TURN: usize = 16 << 10;

#[derive(Debug, Clone, Copy)]
struct Size {
    n: usize,
    phases: [usize; 2],
}

/// The form of messages and their values.
#[derive(Clone, Copy)]
struct Form {
    name: &'static str,
    kinds: &'static [(&'static str, Kind)],
}

const FORMS: [Form; 2] = [
    Form {
        name: "literal",
        kinds: &[("doubles", Kind::Hard), ("ints", Kind::Ints), ("strings", Kind::Strings), ("structs", Kind::Structs)],
    },
    Form {
        name: "encoded",
        kinds: &[
            ("doubles", Kind::EncodedDoubles),
            ("ints", Kind::EncodedInts),
            ("strings", Kind::EncodedStrings),
            ("structs", Kind::EncodedStructs),
        ],
    },
];

/// Returns the goals.
pub fn tasks(effort: Effort) -> Vec<Task> {
    let sizes = if effort.is_quick { &QUICK[..] } else { &SIZES };
    let mut tasks = Vec::new();
    for form in FORMS {
        for target in [Target::Typed, Target::Dynamic] {
            tasks.extend(sizes.iter().flat_map(|&size| phases(effort, form, target, size)));
        }
    }
    if !effort.is_quick {
        tasks.extend(phases(effort, HUGE.0, Target::Typed, HUGE.1));
    }
    tasks
}

fn phases(effort: Effort, form: Form, target: Target, size: Size) -> [Task; 2] {
    let plays = Rc::new(Plays { effort, form, target, size, intervals: OnceCell::new() });
    let (name, [first, next]) = (target.name(), size.phases);
    [(0, format!("first {first} messages")), (1, format!("next {next}"))].map(|(phase, which)| {
        let plays = plays.clone();
        Task {
            name: format!("real: all changed, {}, {name}, n = {}, {which}", form.name, size.n),
            measure: Box::new(move || plays.goal(phase)),
        }
    })
}

/// Both goals on streams of a size, measured together.
struct Plays {
    effort: Effort,
    form: Form,
    target: Target,
    size: Size,
    intervals: OnceCell<Vec<(&'static str, [Interval; 2])>>,
}

impl Plays {
    /// The kind of values farthest from its goal is judged, so all of them are.
    fn goal(&self, phase: usize) -> Result<Goal> {
        let intervals: Vec<(&str, Interval)> =
            self.all()?.iter().map(|(name, phases)| (*name, phases[phase])).collect();
        let (_, worst) = intervals
            .iter()
            .max_by(|(_, one), (_, other)| beyond(one).total_cmp(&beyond(other)))
            .copied()
            .context("nothing was played")?;
        let detail = intervals.iter().map(|(name, interval)| format!("{name} {:.3}", interval.median));
        let detail = detail.collect::<Vec<_>>().join(", ");
        let goal = Goal::at_most(MEDIAN, "× regular, interval below 1.05", worst.median, detail).within(worst);
        Ok(Goal { reached: Some(beyond(&worst) <= 0.0), ..goal })
    }

    fn all(&self) -> Result<&[(&'static str, [Interval; 2])]> {
        if self.intervals.get().is_none() {
            let of = |&(name, kind): &(&'static str, Kind)| Ok((name, self.of(kind)?));
            let all = self.form.kinds.iter().map(of).collect::<Result<Vec<_>>>()?;
            // The cell was empty just before.
            let _ = self.intervals.set(all);
        }
        self.intervals.get().map(Vec::as_slice).context("nothing was played")
    }

    fn of(&self, kind: Kind) -> Result<[Interval; 2]> {
        let recipe = Recipe { kind, n: self.size.n, percent: 100, partitions: 1 };
        let bound = Bound { bytes: usize::MAX, messages: self.size.phases.iter().sum() };
        with_stream(recipe, bound, Play { effort: self.effort, target: self.target, size: self.size })
    }
}

/// Returns the distance of an interval from its goal; positive if it misses the goal.
fn beyond(interval: &Interval) -> f64 {
    (interval.median - MEDIAN).max(interval.high - HIGH)
}

/// Plays a stream repeatedly, each time with new decoders.
struct Play {
    effort: Effort,
    target: Target,
    size: Size,
}

impl Visitor for Play {
    type Output = [Interval; 2];

    fn visit<T: Same>(self, stream: Stream<T>) -> Result<[Interval; 2]> {
        match self.target {
            Target::Typed => self.plays::<T, Typed>(stream),
            Target::Dynamic => self.plays::<T, Dynamic>(stream),
        }
    }
}

impl Play {
    fn plays<T: Same, D: DecodeTarget<T>>(&self, stream: Stream<T>) -> Result<[Interval; 2]> {
        let stream = Rc::new(stream);
        let open = |differential| Lane::<T, D>::open(stream.clone(), Setup::new(differential));
        let mut checked = open(Differential::default());
        (0..CHECKED.min(stream.messages.len()))
            .try_for_each(|_| checked.advance(1).and_then(|()| checked.check_last()))?;
        let turn = (TURN / stream.message_len().max(1)).max(1);
        let (begin, mut ratios) = (Instant::now(), [Vec::new(), Vec::new()]);
        for play in 0..self.effort.pairs {
            if play >= MIN_PLAYS && begin.elapsed() >= TIME {
                break;
            }
            let mut lanes = [open(Differential::default()), open(Differential::OFF)];
            for (messages, ratios) in self.size.phases.into_iter().zip(&mut ratios) {
                ratios.push(phase(&mut lanes, messages, turn, play)?);
            }
            lanes.iter().try_for_each(Lane::check_last)?;
        }
        let [first, next] = &ratios;
        Ok([median_interval(first)?, median_interval(next)?])
    }
}

/// Returns the total time of the first lane divided by that of the second, for `messages` messages.
fn phase<T: Same, D: DecodeTarget<T>>(
    lanes: &mut [Lane<T, D>; 2],
    messages: usize,
    turn: usize,
    play: usize,
) -> Result<f64> {
    let (mut totals, mut left, mut turns) = ([0; 2], messages, play);
    while left > 0 {
        let some = turn.min(left);
        for lane in [turns % 2, 1 - turns % 2] {
            totals[lane] += lanes[lane].timed(some)?;
        }
        (left, turns) = (left - some, turns + 1);
    }
    Ok(totals[0] as f64 / totals[1].max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::SampleSize;
    use std::collections::HashSet;

    fn effort() -> Effort {
        let sample_size = SampleSize { runs: 5, time: Duration::ZERO };
        Effort { n: 10, sample_size, pairs: 3, large_messages: 4, small_messages: 20, is_quick: true }
    }

    #[test]
    fn every_form_is_played_in_every_way() {
        for task in tasks(effort()) {
            let goal = (task.measure)().unwrap();
            assert!(goal.measured.is_some() && goal.interval.is_some() && goal.reached.is_some(), "{}", task.name);
            assert_eq!(goal.detail.split(", ").count(), 4, "{}", goal.detail);
        }
    }

    #[test]
    fn no_message_comes_twice() {
        struct Distinct;
        impl Visitor for Distinct {
            type Output = [usize; 2];
            fn visit<T: Same>(self, stream: Stream<T>) -> Result<[usize; 2]> {
                let distinct: HashSet<_> = stream.messages.iter().map(|message| &message.bytes).collect();
                Ok([distinct.len(), stream.messages.len()])
            }
        }
        for (_, kind) in FORMS.iter().flat_map(|form| form.kinds) {
            let recipe = Recipe { kind: *kind, n: 10, percent: 100, partitions: 1 };
            let bound = Bound { bytes: usize::MAX, messages: 2200 };
            assert_eq!(with_stream(recipe, bound, Distinct).unwrap(), [2200; 2], "{kind:?}");
        }
    }

    #[test]
    fn both_the_median_and_its_interval_count() {
        let beyond = |median, high| beyond(&Interval { low: 1.0, median, high }) > 0.0;
        assert!(!beyond(1.02, 1.04) && beyond(1.04, 1.045) && beyond(1.01, 1.06));
    }
}
