//! Counts of streams whose values are fresh in each message: the papers' averages are of 100 of them.
//!
//! Streams that are timed come round after four messages ([`Bound::SMALL`](crate::stream::Bound::SMALL)), and with them the values of
//! four messages ago. What a list of checkpoints makes of a hundred messages, each with values that were never there before, is not
//! seen there. Counts do not depend on time, so they are taken once.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use anyhow::Result;
use deltasoap_report::statistics::mean;

use super::points::{Point, Way};
use crate::messages::Same;
use crate::report::Counts;
use crate::stream::lane::Lane;
use crate::stream::{Bound, Recipe, Stream, Visitor, with_stream};

/// Messages that count; a first one, of which checkpoints are made, comes before them.
pub const MESSAGES: usize = 100;

/// What was counted, and what was asked for.
#[derive(Default, Clone)]
pub struct Fresh {
    counted: HashMap<(Recipe, Way), Rc<Vec<Point>>>,
    missing: RefCell<BTreeSet<(Recipe, Way)>>,
}

impl Fresh {
    /// A number of each message; ones of no meaning, noted as missing, if nothing was counted.
    pub fn each(&self, recipe: Recipe, way: Way, number: fn(&Point) -> f64) -> Vec<f64> {
        let Some(points) = self.counted.get(&(recipe, way)) else {
            self.missing.borrow_mut().insert((recipe, way));
            return vec![1.0; MESSAGES];
        };
        points.iter().map(number).collect()
    }

    /// The mean of a number.
    pub fn mean(&self, recipe: Recipe, way: Way, number: fn(&Point) -> f64) -> f64 {
        mean(&self.each(recipe, way, number))
    }

    /// The means of a number over the first and over the last fifth of the messages.
    pub fn ends(&self, recipe: Recipe, way: Way, number: fn(&Point) -> f64) -> [f64; 2] {
        let all = self.each(recipe, way, number);
        let fifth = all.len() / 5;
        [mean(&all[..fifth]), mean(&all[all.len() - fifth..])]
    }

    /// Counts what is missing.
    ///
    /// # Errors
    /// When a message cannot be decoded.
    pub fn count(&mut self) -> Result<()> {
        let mut streams: BTreeMap<Recipe, Vec<Way>> = BTreeMap::new();
        for (recipe, way) in self.missing.take() {
            streams.entry(recipe).or_default().push(way);
        }
        let bound = Bound { bytes: usize::MAX, messages: MESSAGES + 2 };
        for (recipe, ways) in streams {
            let counted = with_stream(recipe, bound, Count { ways: &ways })?;
            self.counted.extend(ways.into_iter().map(|way| (recipe, way)).zip(counted.into_iter().map(Rc::new)));
        }
        Ok(())
    }

    /// Puts numbers of a model in the place of what is missing.
    #[cfg(test)]
    pub fn fill(&mut self, model: impl Fn(Recipe, Way, usize) -> Point) {
        for (recipe, way) in self.missing.take() {
            let points = (0..MESSAGES).map(|message| model(recipe, way, message)).collect();
            self.counted.insert((recipe, way), Rc::new(points));
        }
    }
}

struct Count<'a> {
    ways: &'a [Way],
}

impl Visitor for Count<'_> {
    type Output = Vec<Vec<Point>>;

    fn visit<T: Same>(self, stream: Stream<T>) -> Result<Self::Output> {
        let stream = Rc::new(stream);
        self.ways.iter().map(|way| points(&mut Lane::new(stream.clone(), way.setup()))).collect()
    }
}

fn points<T: Same>(lane: &mut Lane<T>) -> Result<Vec<Point>> {
    lane.advance(1)?;
    let mut before = lane.totals();
    let mut point = || {
        lane.advance(1)?;
        let after = lane.totals();
        let counts = Counts::per_message(&(after - before));
        before = after;
        Ok(Point { ms: 0.0, counts: Some(counts) })
    };
    (0..MESSAGES).map(|_| point()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Policy;
    use crate::paper::scope::hard;

    #[test]
    fn every_message_is_counted_for_itself() {
        let mut fresh = Fresh::default();
        let (recipe, way) = (hard(100, 25, 2), Way::checkpoints(Policy::Full, 32));
        let counts =
            |fresh: &Fresh| (fresh.each(recipe, way, Point::switches), fresh.mean(recipe, way, Point::regular_percent));
        assert_eq!(counts(&fresh), (vec![1.0; MESSAGES], 1.0));
        fresh.count().unwrap();
        let (switches, regular) = counts(&fresh);
        // Two parts change: fast mode is left twice at least, and a quarter of the message is read at least.
        assert!(
            switches.len() == MESSAGES && switches.iter().all(|it| *it >= 2.0 && it.fract() == 0.0),
            "{switches:?}"
        );
        assert!((20.0..100.0).contains(&regular), "{regular}");
        let [first, last] = fresh.ends(recipe, way, Point::switches);
        assert!((first - mean(&switches[..20])).abs() < 1e-9 && (last - mean(&switches[80..])).abs() < 1e-9);
    }
}
