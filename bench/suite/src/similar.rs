//! The workloads `decode-similar-*`: a stream decoded alternately in differential and in regular
//! mode, and its floor.

use std::num::NonZeroUsize;
use std::rc::Rc;

use anyhow::Result;
use deltasoap::engine::Differential;

use crate::engine::Session;
use crate::measure::{Figures, SampleSize, measure};
use crate::payload::Same;
use crate::statistics::Interval;
use crate::stream::lane::{Floor, Lane, Setup};
use crate::stream::target::{Dynamic, Target, Typed};
use crate::stream::{Bound, Kind, Recipe, Stream, Visitor, with_stream};

/// The mode of decoding a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Each message is compared with its predecessor.
    Differential,
    /// Each message is decoded independently.
    Regular,
    /// No decoding: each message is compared with an equal one.
    Floor,
}

/// The order in which modes are measured and shown.
pub const MODES: [Mode; 3] = [Mode::Differential, Mode::Regular, Mode::Floor];

impl Mode {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Differential => "differential",
            Mode::Regular => "regular",
            Mode::Floor => "floor-compare",
        }
    }
}

/// The outcome of a stream, in the order of [`MODES`].
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The stream.
    pub recipe: Recipe,
    /// Number of messages in the ring.
    pub messages: usize,
    /// The figures of each mode.
    pub figures: [Figures; 3],
}

impl Outcome {
    /// Returns the figures of a mode.
    pub fn of(&self, mode: Mode) -> &Figures {
        &self.figures[mode as usize]
    }

    /// Returns the interval of the ratio to another mode.
    pub fn interval_to(&self, mode: Mode) -> Interval {
        self.of(Mode::Differential).interval.by(self.of(mode).interval)
    }

    /// Returns the median time of differential decoding divided by that of another mode.
    pub fn ratio_to(&self, mode: Mode) -> f64 {
        self.of(Mode::Differential).ns_median as f64 / self.of(mode).ns_median.max(1) as f64
    }
}

/// Returns the streams of a kind with these sizes, percentages and partitions. If a parameter does
/// not apply to a kind, one stream stands for all.
pub fn recipes(kind: Kind, sizes: &[usize], percents: &[u32], partitions: &[usize]) -> Vec<Recipe> {
    let mut recipes = Vec::new();
    for &n in sizes {
        for &percent in percents {
            for &partitions in partitions {
                recipes.push(Recipe { kind, n, percent, partitions });
            }
        }
    }
    recipes.into_iter().map(meaningful).fold(Vec::new(), |mut distinct, recipe| {
        if !distinct.contains(&recipe) {
            distinct.push(recipe);
        }
        distinct
    })
}

/// Resets the parameters that have no effect.
fn meaningful(recipe: Recipe) -> Recipe {
    let changes = if recipe.kind.is_array() && recipe.percent > 0 {
        recipe
    } else {
        Recipe { percent: 0, partitions: 1, ..recipe }
    };
    if recipe.kind.has_sizes() { changes } else { Recipe { n: 0, ..changes } }
}

/// Checks and times a stream.
///
/// # Errors
/// When a value is wrong, or a message cannot be decoded.
pub fn run(
    recipe: Recipe,
    differential: Differential,
    chunk: Option<NonZeroUsize>,
    sample_size: SampleSize,
    tick: impl FnMut(),
) -> Result<Outcome> {
    with_stream(recipe, Bound::LARGE, Run { recipe, target: Target::Typed, differential, chunk, sample_size, tick })
}

/// Like [`run`], with default options; messages are read as a type or as dynamic values.
///
/// # Errors
/// As [`run`].
pub fn run_as(target: Target, recipe: Recipe, sample_size: SampleSize) -> Result<Outcome> {
    let differential = Differential::default();
    with_stream(recipe, Bound::LARGE, Run { recipe, target, differential, chunk: None, sample_size, tick: || () })
}

struct Run<F> {
    recipe: Recipe,
    target: Target,
    differential: Differential,
    chunk: Option<NonZeroUsize>,
    sample_size: SampleSize,
    tick: F,
}

impl<F: FnMut()> Visitor for Run<F> {
    type Output = Outcome;

    fn visit<T: Same>(self, stream: Stream<T>) -> Result<Outcome> {
        let stream = Rc::new(stream);
        let open = |differential| -> Box<dyn Session> {
            let setup = Setup { chunk: self.chunk, ..Setup::new(differential) };
            match self.target {
                Target::Typed => Box::new(Lane::<T, Typed>::open(stream.clone(), setup)),
                Target::Dynamic => Box::new(Lane::<T, Dynamic>::open(stream.clone(), setup)),
            }
        };
        let floor = Box::new(Floor::new(&stream));
        let mut sessions = [open(self.differential), open(Differential::OFF), floor];
        let figures = measure(&mut sessions, self.sample_size, self.tick)?;
        let figures = figures.try_into().map_err(|_| anyhow::anyhow!("a mode without figures"))?;
        Ok(Outcome { recipe: self.recipe, messages: stream.messages.len(), figures })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_is_without_effect_makes_no_further_streams() {
        assert_eq!(recipes(Kind::Hard, &[10, 20], &[0, 25], &[1, 2]).len(), 2 * 3);
        assert_eq!(recipes(Kind::One, &[10, 20], &[0, 25], &[1, 2]).len(), 2);
        assert_eq!(recipes(Kind::Fetch, &[10, 20], &[0, 25], &[1, 2]), [Recipe::identical(Kind::Fetch, 0)]);
    }

    #[test]
    fn all_modes_are_measured() {
        let sample_size = SampleSize { runs: 5, time: Duration::ZERO };
        let recipe = Recipe { kind: Kind::Structs, n: 20, percent: 25, partitions: 2 };
        let outcome = run(recipe, Differential::default(), None, sample_size, || ()).unwrap();
        assert_eq!((outcome.recipe, outcome.messages), (recipe, 16));
        assert!(MODES.iter().all(|&mode| outcome.of(mode).ns_median > 0 && outcome.of(mode).bytes > 500));
        let counted = MODES.map(|mode| outcome.of(mode).differential.is_some());
        assert_eq!(counted, [true, false, false]);
        assert!(outcome.ratio_to(Mode::Floor) > 0.0);
    }
}
