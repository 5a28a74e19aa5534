//! Goals on the median time of a message: identical content, shares of changed values, single
//! edits.

use anyhow::Result;
use deltasoap::engine::Differential;

use super::goal::Goal;
use super::{Effort, Task};
use crate::similar::{self, Mode, Outcome};
use crate::stream::target::Target;
use crate::stream::{Kind, Recipe};

/// A goal on the time of changed values: `share` x the share of changed values x the time of
/// regular mode, plus `floors` x the floor.
#[derive(Debug, Clone, Copy)]
struct ShareGoal {
    kind: Kind,
    name: &'static str,
    share: f64,
    floors: f64,
}

const SHARES: [ShareGoal; 4] = [
    ShareGoal { kind: Kind::Hard, name: "hard doubles", share: 1.15, floors: 2.0 },
    ShareGoal { kind: Kind::Ints, name: "ints", share: 1.3, floors: 2.5 },
    ShareGoal { kind: Kind::Structs, name: "structs", share: 1.3, floors: 2.5 },
    ShareGoal { kind: Kind::Strings, name: "strings", share: 1.3, floors: 2.5 },
];

/// Maximum number of items of arrays in SOAP encoding: some 100 KB to 1 MB.
const ENCODED: usize = 10_000;

/// Returns the goals.
pub fn tasks(effort: Effort) -> Vec<Task> {
    let mut tasks = vec![floor_task(effort, Kind::Hard, 2.0, "identical hard doubles")];
    for goal in SHARES {
        for percent in [25, 50, 75] {
            for partitions in [1, 100, 500] {
                let recipe = Recipe { kind: goal.kind, n: effort.n, percent, partitions };
                tasks.push(share_task(effort, goal, recipe));
            }
        }
    }
    tasks.push(floor_task(effort, Kind::One, 2.2, "one value changed"));
    tasks.push(floor_task(effort, Kind::OneLonger, 2.2, "one value changed, another length"));
    tasks.push(floor_task(effort, Kind::Insert, 4.0, "one element inserted or removed"));
    tasks.extend(real_tasks(effort));
    tasks
}

/// Goals on real traffic: SOAP encoding, alternating messages of several kinds, recorded streams.
fn real_tasks(effort: Effort) -> Vec<Task> {
    let n = effort.n.min(ENCODED);
    let encoded = [(Kind::EncodedDoubles, "doubles"), (Kind::EncodedStructs, "structs")].map(|(kind, name)| {
        let name = format!("real: identical {name} in SOAP encoding");
        let measure = move || {
            let outcome = run(effort, Recipe::identical(kind, n))?;
            Ok(Goal::at_most(2.0, "× floor", outcome.ratio_to(Mode::Floor), times(&outcome))
                .within(outcome.interval_to(Mode::Floor)))
        };
        Task { name, measure: Box::new(measure) }
    });
    let turns = |kind| Recipe { kind, n, percent: 1, partitions: 1 };
    let scattered = Recipe { kind: Kind::Hard, n, percent: 25, partitions: n / 4 };
    let against_regular = [
        ("identical references in SOAP encoding", Target::Typed, Recipe::identical(Kind::EncodedReferences, n), 2.0),
        ("two kinds of message by turns, 1 % changed", Target::Typed, turns(Kind::Turns), 3.0),
        ("two kinds of message by turns, 1 % changed, dynamic", Target::Dynamic, turns(Kind::Turns), 3.0),
        ("two kinds of encoded message by turns, 1 % changed", Target::Typed, turns(Kind::EncodedTurns), 3.0),
        (
            "two kinds of encoded message by turns, 1 % changed, dynamic",
            Target::Dynamic,
            turns(Kind::EncodedTurns),
            3.0,
        ),
        ("25 % of doubles changed, scattered", Target::Typed, scattered, 2.0),
        ("recorded Informs", Target::Typed, Recipe::identical(Kind::Inform, 0), 3.0),
        ("recorded Fetches", Target::Typed, Recipe::identical(Kind::Fetch, 0), 2.0),
        ("recorded responses to them, as trees", Target::Typed, Recipe::identical(Kind::FetchTrees, 0), 2.0),
    ];
    let against_regular = against_regular.map(|(name, target, recipe, bound)| {
        let measure = move || {
            let outcome = similar::run_as(target, recipe, effort.sample_size)?;
            let speed = outcome.of(Mode::Regular).interval.by(outcome.of(Mode::Differential).interval);
            Ok(Goal::at_least(bound, "× regular", 1.0 / outcome.ratio_to(Mode::Regular), times(&outcome)).within(speed))
        };
        Task { name: format!("real: {name}"), measure: Box::new(measure) }
    });
    let references = [0, 1, 5, 25].map(|percent| references_task(effort, percent));
    encoded.into_iter().chain(against_regular).chain(references).collect()
}

/// A goal on a stream whose messages have references, as Axis writes structs: they are compared as
/// a whole. Changes are scattered, each in another struct.
fn references_task(effort: Effort, percent: u32) -> Task {
    let n = effort.n.min(ENCODED);
    let recipe = Recipe { kind: Kind::EncodedReferences, n, percent, partitions: (n * percent as usize / 100).max(1) };
    let measure = move || {
        let outcome = run(effort, recipe)?;
        let counts = outcome.of(Mode::Differential).differential.unwrap_or_default();
        let skipped = counts.fast_bytes as f64 / (counts.fast_bytes + counts.regular_bytes).max(1) as f64;
        let detail = format!("{}; {:.1} % of bytes skipped", times(&outcome), 100.0 * skipped);
        let speed = outcome.of(Mode::Regular).interval.by(outcome.of(Mode::Differential).interval);
        Ok(Goal::reported("× regular", 1.0 / outcome.ratio_to(Mode::Regular), detail).within(speed))
    };
    Task {
        name: format!("real: references as Axis writes them, {percent} % of structs changed"),
        measure: Box::new(measure),
    }
}

fn run(effort: Effort, recipe: Recipe) -> Result<Outcome> {
    similar::run(recipe, Differential::default(), None, effort.sample_size, || ())
}

fn floor_task(effort: Effort, kind: Kind, bound: f64, name: &str) -> Task {
    let measure = move || {
        let outcome = run(effort, Recipe::identical(kind, effort.n))?;
        let ratio = outcome.ratio_to(Mode::Floor);
        Ok(Goal::at_most(bound, "× floor", ratio, times(&outcome)).within(outcome.interval_to(Mode::Floor)))
    };
    Task { name: name.to_owned(), measure: Box::new(measure) }
}

fn share_task(effort: Effort, goal: ShareGoal, recipe: Recipe) -> Task {
    let name = format!("{}, P = {} %, T = {}", goal.name, recipe.percent, recipe.partitions);
    let measure = move || {
        let outcome = run(effort, recipe)?;
        let share = goal.share * f64::from(recipe.percent) / 100.0;
        let bound = share * ms(&outcome, Mode::Regular) + goal.floors * ms(&outcome, Mode::Floor);
        let unit = format!("× ({share:.4} regular + {} floor)", goal.floors);
        Ok(Goal::at_most(1.0, &unit, ms(&outcome, Mode::Differential) / bound, times(&outcome)))
    };
    Task { name, measure: Box::new(measure) }
}

fn ms(outcome: &Outcome, mode: Mode) -> f64 {
    outcome.of(mode).ns_median as f64 / 1e6
}

fn times(outcome: &Outcome) -> String {
    let [differential, regular, floor] = similar::MODES.map(|mode| ms(outcome, mode));
    format!("{differential:.3} ms, regular {regular:.3}, floor {floor:.3}")
}
