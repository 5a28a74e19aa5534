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

use super::rows::{POINT, PointRow, point_key};
use super::setting::{Point, Setting};
use crate::engine::Session;
use crate::measure::{SampleSize, measure};
use crate::payload::Same;
use crate::progress::Progress;
use crate::record::Record;
use crate::report::Counts;
use crate::stream::lane::Lane;
use crate::stream::{Bound, Recipe, Stream, Visitor, with_stream};

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
    use crate::options::Policy;
    use crate::paper::setting::Condition;
    use crate::stream::Kind;
    use deltasoap_checkpoints::{Bases, Portions};
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
