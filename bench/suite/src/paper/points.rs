//! The measurements for tables and figures.
//!
//! An exhibit requests points. It is drawn twice: the first time nothing is measured yet, and its
//! requests are recorded; the second time everything is available. So what is measured and what is
//! shown cannot differ, and a point that several exhibits show is measured once. All points of a
//! stream are measured together, alternating.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use anyhow::Result;
use deltasoap::Differential;
use deltasoap_checkpoints::{Bases, Portions};

use super::rows::{POINT, PointRow, point_key};
use crate::engine::Session;
use crate::measure::{SampleSize, measure};
use crate::messages::Same;
use crate::options::{Match, Policy};
use crate::progress::Progress;
use crate::record::Record;
use crate::report::Counts;
use crate::stream::lane::{Lane, Setup};
use crate::stream::{Bound, Recipe, Stream, Visitor, with_stream};

/// The settings for decoding a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Setting {
    /// The checkpoints.
    pub policy: Policy,
    /// The matcher.
    pub matcher: Match,
    /// Bytes between checkpoints.
    pub portion: u32,
    /// The place of base checkpoints, for the policy that has them.
    pub bases: Bases,
    /// The first paper's proposals besides checkpoints.
    pub refinement: Refinement,
    /// The difference from normal use.
    pub condition: Condition,
}

/// Proposals of *Differential Deserialization*, section 5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Refinement {
    /// No proposal.
    None,
    /// A few bytes are compared before a portion's checksum is calculated.
    Probe,
    /// The size of portions is tuned.
    Tune,
    /// Both proposals.
    Both,
}

impl Refinement {
    /// All combinations.
    pub const ALL: [Refinement; 4] = [Refinement::None, Refinement::Probe, Refinement::Tune, Refinement::Both];
}

/// A difference from normal use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Condition {
    /// No difference.
    None,
    /// The general routines read everything and tokenize each tag: the papers' kind of regular
    /// mode.
    NoShortcuts,
    /// Each message is read as if it were the first.
    AlwaysFirst,
}

impl Setting {
    /// Regular mode: the papers' "No DDS".
    pub const REGULAR: Setting = Setting {
        policy: Policy::Off,
        matcher: Match::Compare,
        portion: 512,
        bases: Bases::Interrupts,
        refinement: Refinement::None,
        condition: Condition::None,
    };

    /// Regular mode without our shortcuts: the papers' kind. It should be compared with settings in
    /// the same condition.
    pub const GENERAL: Setting = Setting { condition: Condition::NoShortcuts, ..Setting::REGULAR };

    /// Leaf checkpoints.
    pub const LEAF: Setting = Setting { policy: Policy::Leaf, ..Setting::REGULAR };

    /// Returns a policy of the papers with their checksum, and base checkpoints at the papers'
    /// places.
    pub fn checkpoints(policy: Policy, portion: u32) -> Self {
        let bases = if policy == Policy::Lightweight { Bases::First } else { Bases::Interrupts };
        Setting { policy, matcher: Match::Crc32, portion, bases, ..Setting::REGULAR }
    }

    /// Returns the setup of a lane.
    pub fn setup(self) -> Setup {
        let probe = matches!(self.refinement, Refinement::Probe | Refinement::Both);
        let tune = matches!(self.refinement, Refinement::Tune | Refinement::Both);
        let (matcher, size, bases) = (self.matcher.into(), self.portion, self.bases);
        let portions = Portions { matcher, size, probe, tune, bases, ..Portions::default() };
        let differential = Differential { checkpoints: self.policy.with(portions), adaptive: false };
        Setup {
            has_shortcuts: self.condition != Condition::NoShortcuts,
            is_forgetful: self.condition == Condition::AlwaysFirst,
            ..Setup::new(differential)
        }
    }
}

/// The measurement of a stream with a setting.
#[derive(Debug)]
pub struct Point {
    /// Median milliseconds of a message.
    pub ms: f64,
    /// Counts, in differential modes.
    pub counts: Option<Counts>,
}

impl Point {
    /// Returns the percentage of bytes that were read.
    pub fn regular_percent(&self) -> f64 {
        self.counts.as_ref().map_or(100.0, |counts| 100.0 - counts.fast_share() * 100.0)
    }

    /// Returns switches from fast to regular mode per message, as the papers count them: futile
    /// attempts at fast mode are switches.
    pub fn switches(&self) -> f64 {
        self.counts.as_ref().map_or(0.0, |counts| counts.to_regular + counts.futile)
    }

    /// Returns attempts at fast mode per message that skipped nothing.
    pub fn futile(&self) -> f64 {
        self.counts.as_ref().map_or(0.0, |counts| counts.futile)
    }

    /// Returns the bytes held between messages.
    pub fn memory(&self) -> f64 {
        self.counts.as_ref().map_or(0.0, |counts| counts.memory as f64)
    }
}

/// The measurements, and the missing requests.
#[derive(Debug, Default)]
pub struct Points {
    measured: HashMap<(Recipe, Setting), Rc<Point>>,
    missing: RefCell<BTreeSet<(Recipe, Setting)>>,
}

impl Points {
    /// Returns a point; if it was not measured, a placeholder, recorded as missing.
    pub fn at(&self, recipe: Recipe, setting: Setting) -> Rc<Point> {
        self.measured.get(&(recipe, setting)).cloned().unwrap_or_else(|| {
            self.missing.borrow_mut().insert((recipe, setting));
            Rc::new(Point { ms: 1.0, counts: None })
        })
    }

    /// Returns the median milliseconds of a message.
    pub fn ms(&self, recipe: Recipe, setting: Setting) -> f64 {
        self.at(recipe, setting).ms
    }

    /// Returns the streams with missing points, and the number of these.
    pub fn streams(&self) -> Vec<(Recipe, usize)> {
        self.by_stream().into_iter().map(|(recipe, settings)| (recipe, settings.len())).collect()
    }

    /// Loads missing points from a record.
    pub fn load_recorded(&mut self, repetition: usize, record: &Record) {
        let measured = &mut self.measured;
        self.missing.get_mut().retain(|&(recipe, setting)| {
            let row = record.of::<PointRow>(&point_key(repetition, recipe, setting)).pop();
            let point = row.and_then(|row| Some(Point { ms: row.ms?, counts: row.counts }));
            let is_missing = point.is_none();
            measured.extend(point.map(|point| ((recipe, setting), Rc::new(point))));
            is_missing
        });
    }

    /// Measures what is missing, into a record.
    ///
    /// # Errors
    /// When a value is wrong, a message cannot be decoded, the record cannot be written, or the
    /// time is up.
    pub fn measure(
        &mut self,
        sample_size: SampleSize,
        repetition: usize,
        record: &mut Record,
        progress: &Progress,
    ) -> Result<()> {
        for (recipe, settings) in self.by_stream() {
            progress.check_time()?;
            let points = with_stream(recipe, Bound::SMALL, Measure { settings: &settings, sample_size })?;
            for (setting, point) in settings.into_iter().zip(points) {
                let row = PointRow::new(repetition, recipe, setting, &point);
                record.append(POINT, &point_key(repetition, recipe, setting), &[row])?;
                self.measured.insert((recipe, setting), Rc::new(point));
            }
            progress.done();
        }
        self.missing.borrow_mut().clear();
        Ok(())
    }

    /// Returns the keys of missing points.
    #[cfg(test)]
    pub fn keys(&self, repetition: usize) -> Vec<String> {
        self.missing.borrow().iter().map(|&(recipe, setting)| point_key(repetition, recipe, setting)).collect()
    }

    /// Replaces missing points by numbers of a model.
    #[cfg(test)]
    pub fn fill(&mut self, model: impl Fn(Recipe, Setting) -> Point) {
        let missing = std::mem::take(&mut *self.missing.borrow_mut());
        self.measured.extend(missing.into_iter().map(|key| (key, Rc::new(model(key.0, key.1)))));
    }

    fn by_stream(&self) -> BTreeMap<Recipe, Vec<Setting>> {
        let mut streams: BTreeMap<Recipe, Vec<Setting>> = BTreeMap::new();
        for (recipe, setting) in self.missing.borrow().iter() {
            streams.entry(*recipe).or_default().push(*setting);
        }
        streams
    }
}

struct Measure<'a> {
    settings: &'a [Setting],
    sample_size: SampleSize,
}

impl Visitor for Measure<'_> {
    type Output = Vec<Point>;

    fn visit<T: Same>(self, stream: Stream<T>) -> Result<Vec<Point>> {
        let stream = Rc::new(stream);
        let open = |setting: &Setting| -> Box<dyn Session> { Box::new(Lane::new(stream.clone(), setting.setup())) };
        let mut sessions: Vec<_> = self.settings.iter().map(open).collect();
        let figures = measure(&mut sessions, self.sample_size, || ())?;
        let point = |figures| Point { ms: ms(&figures), counts: Counts::of(&figures) };
        Ok(figures.into_iter().map(point).collect())
    }
}

fn ms(figures: &crate::measure::Figures) -> f64 {
    figures.ns_median.max(1) as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::Kind;
    use std::time::Duration;

    /// The paper's policies are measured as published; the default place of bases is another one.
    #[test]
    fn bases_lie_where_the_paper_places_them() {
        let portions = |setting: Setting| Portions::from_checkpoints(setting.setup().differential.checkpoints).unwrap();
        let published = Setting::checkpoints(Policy::Lightweight, 32);
        let ours = Setting { bases: Bases::Interrupts, ..published };
        assert_eq!((portions(published).bases, portions(ours).bases), (Bases::First, Bases::default()));
        let recipe = Recipe::identical(Kind::Hard, 5);
        assert_ne!(point_key(0, recipe, published), point_key(0, recipe, ours));
    }

    #[test]
    fn what_is_asked_for_is_measured() {
        let mut points = Points::default();
        let (hard, ints) = (Recipe::identical(Kind::Hard, 5), Recipe::identical(Kind::Ints, 5));
        let full = Setting::checkpoints(Policy::Full, 32);
        for _ in 0..2 {
            points.at(hard, Setting::REGULAR);
            points.at(hard, full);
            points.at(ints, Setting { condition: Condition::AlwaysFirst, ..full });
        }
        assert_eq!(points.streams(), [(ints, 1), (hard, 2)]);
        let (sample_size, mut record, progress) =
            (SampleSize { runs: 5, time: Duration::ZERO }, Record::default(), Progress::new(1.0, None));
        points.measure(sample_size, 0, &mut record, &progress).unwrap();
        assert_eq!((points.streams().len(), record.lines().len()), (0, 3));
        assert!(points.ms(hard, full) > 0.0 && points.at(hard, full).counts.is_some());
        assert!(points.at(hard, Setting::REGULAR).counts.is_none());
        assert!(points.streams().is_empty());
        let mut again = Points::default();
        again.at(hard, full);
        again.at(hard, Setting::LEAF);
        again.load_recorded(0, &record);
        assert_eq!(again.streams(), [(hard, 1)]);
        assert_eq!(
            (again.ms(hard, full), again.at(hard, full).switches()),
            (points.ms(hard, full), points.at(hard, full).switches())
        );
        let mut another = Points::default();
        another.at(hard, full);
        another.load_recorded(1, &record);
        assert_eq!(another.streams().len(), 1);
    }
}
