//! Counts of streams with new values in each message: the papers average over 100 of them.
//!
//! Timed streams repeat after four messages ([`Bound::SMALL`](crate::stream::Bound::SMALL)), and so
//! do their values. They do not show the development of a checkpoint list over a hundred messages,
//! each with values that never occurred before. Counts do not depend on time, so they are taken
//! once.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use anyhow::Result;
use deltasoap_report::statistics::mean;

use super::rows::{COUNT, PointRow, count_key};
use super::setting::{Point, Setting};
use crate::payload::Same;
use crate::progress::Progress;
use crate::record::Record;
use crate::report::Counts;
use crate::stream::lane::Lane;
use crate::stream::{Bound, Recipe, Stream, Visitor, with_stream};

/// Number of messages that count, after a first one, which creates the checkpoints.
pub const MESSAGES: usize = 100;

/// The counts, and those requested.
#[derive(Default, Clone)]
pub struct Fresh {
    counted: HashMap<(Recipe, Setting), Rc<Vec<Point>>>,
    missing: RefCell<BTreeSet<(Recipe, Setting)>>,
}

impl Fresh {
    /// Returns a number of each message; if nothing was counted, placeholders, recorded as missing.
    pub fn each(&self, recipe: Recipe, setting: Setting, number: fn(&Point) -> f64) -> Vec<f64> {
        let Some(points) = self.counted.get(&(recipe, setting)) else {
            self.missing.borrow_mut().insert((recipe, setting));
            return vec![1.0; MESSAGES];
        };
        points.iter().map(number).collect()
    }

    /// Returns the mean of a number.
    pub fn mean(&self, recipe: Recipe, setting: Setting, number: fn(&Point) -> f64) -> f64 {
        mean(&self.each(recipe, setting, number))
    }

    /// Returns the means of a number over the first and the last fifth of the messages.
    pub fn ends(&self, recipe: Recipe, setting: Setting, number: fn(&Point) -> f64) -> [f64; 2] {
        let all = self.each(recipe, setting, number);
        let fifth = all.len() / 5;
        [mean(&all[..fifth]), mean(&all[all.len() - fifth..])]
    }

    /// Returns the missing streams, with the number of settings in which they are decoded.
    pub fn streams(&self) -> Vec<(Recipe, usize)> {
        self.by_stream().into_iter().map(|(recipe, settings)| (recipe, settings.len())).collect()
    }

    /// Loads missing counts from a record.
    pub fn load_recorded(&mut self, record: &Record) {
        let counted = &mut self.counted;
        self.missing.get_mut().retain(|&(recipe, setting)| {
            let rows = record.of::<PointRow>(&count_key(recipe, setting)).into_iter();
            let points: Vec<Point> = rows.map(|row| Point { ms: 0.0, counts: row.counts }).collect();
            let is_missing = points.len() != MESSAGES;
            if !is_missing {
                counted.insert((recipe, setting), Rc::new(points));
            }
            is_missing
        });
    }

    /// Counts what is missing, into a record.
    ///
    /// # Errors
    /// When a message cannot be decoded, the record cannot be written, or the time is up.
    pub fn count(&mut self, record: &mut Record, progress: &Progress) -> Result<()> {
        let bound = Bound { bytes: usize::MAX, messages: MESSAGES + 2 };
        for (recipe, settings) in self.by_stream() {
            progress.check_time()?;
            let counted = with_stream(recipe, bound, Count { settings: &settings })?;
            for (setting, points) in settings.into_iter().zip(counted) {
                let row = |(message, point)| PointRow::counted(message, recipe, setting, point);
                let rows: Vec<PointRow> = points.iter().enumerate().map(row).collect();
                record.append(COUNT, &count_key(recipe, setting), &rows)?;
                self.counted.insert((recipe, setting), Rc::new(points));
            }
            progress.done();
        }
        self.missing.borrow_mut().clear();
        Ok(())
    }

    fn by_stream(&self) -> BTreeMap<Recipe, Vec<Setting>> {
        let mut streams: BTreeMap<Recipe, Vec<Setting>> = BTreeMap::new();
        for (recipe, setting) in self.missing.borrow().iter() {
            streams.entry(*recipe).or_default().push(*setting);
        }
        streams
    }

    /// Returns the keys of missing counts.
    #[cfg(test)]
    pub fn keys(&self) -> Vec<String> {
        self.missing.borrow().iter().map(|&(recipe, setting)| count_key(recipe, setting)).collect()
    }

    /// Replaces missing counts by numbers of a model.
    #[cfg(test)]
    pub fn fill(&mut self, model: impl Fn(Recipe, Setting, usize) -> Point) {
        for (recipe, setting) in self.missing.take() {
            let points = (0..MESSAGES).map(|message| model(recipe, setting, message)).collect();
            self.counted.insert((recipe, setting), Rc::new(points));
        }
    }
}

struct Count<'a> {
    settings: &'a [Setting],
}

impl Visitor for Count<'_> {
    type Output = Vec<Vec<Point>>;

    fn visit<T: Same>(self, stream: Stream<T>) -> Result<Self::Output> {
        let stream = Rc::new(stream);
        self.settings.iter().map(|setting| points(&mut Lane::new(stream.clone(), setting.setup()))).collect()
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
        let (recipe, setting) = (hard(100, 25, 2), Setting::checkpoints(Policy::Full, 32));
        let counts = |fresh: &Fresh| {
            (fresh.each(recipe, setting, Point::switches), fresh.mean(recipe, setting, Point::regular_percent))
        };
        assert_eq!(counts(&fresh), (vec![1.0; MESSAGES], 1.0));
        let (mut record, progress) = (Record::default(), Progress::new(1.0, None));
        fresh.count(&mut record, &progress).unwrap();
        let (switches, regular) = counts(&fresh);
        // Two parts change: fast mode is left at least twice, and at least a quarter of the message
        // is read.
        assert!(
            switches.len() == MESSAGES && switches.iter().all(|it| *it >= 2.0 && it.fract() == 0.0),
            "{switches:?}"
        );
        assert!((20.0..100.0).contains(&regular), "{regular}");
        let [first, last] = fresh.ends(recipe, setting, Point::switches);
        assert!((first - mean(&switches[..20])).abs() < 1e-9 && (last - mean(&switches[80..])).abs() < 1e-9);
        let mut again = Fresh::default();
        again.mean(recipe, setting, Point::switches);
        again.load_recorded(&record);
        assert!(again.streams().is_empty() && record.lines().len() == MESSAGES);
        assert_eq!(counts(&again), (switches, regular));
    }
}
