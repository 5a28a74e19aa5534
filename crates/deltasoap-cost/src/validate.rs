//! Validation: a prediction, and then the truth.
//!
//! Composite types come from the paper, and none of them was fitted to; operations come from real
//! descriptions. Each message is predicted, then measured, and the distribution of the errors is
//! what is reported.

use crate::CostError;
use crate::calibration::{Activity, Mode};
use crate::fit::model::{ActivityModel, Model};
use crate::measure::{Engine, Times, begins_anew, check_sample, order, timed};
use crate::predict::{Direction, Sample, Sizes, Work, if_measured, samples};
use crate::usage::{Feature, Usage};
use crate::workload::{Class, Extent, Workload, series};
use deltasoap_dynamic::Operation;
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// A prediction beside the truth.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Comparison {
    /// The message.
    pub message: String,
    /// What was done with it.
    pub activity: Activity,
    /// Bytes of the message; 0 where that was not recorded.
    #[serde(default)]
    pub bytes: usize,
    /// Nanoseconds that were predicted.
    pub predicted: f64,
    /// Half the width of the prediction's interval.
    pub margin: f64,
    /// Nanoseconds that section 3.4 of Imre et al. predicts, to the letter; `None` without the
    /// series it needs.
    pub by_the_paper: Option<f64>,
    /// Nanoseconds that were measured.
    pub measured: f64,
}

impl Comparison {
    /// How far off the prediction is, as a part of what was measured.
    pub fn error(&self) -> f64 {
        (self.predicted / self.measured - 1.0).abs()
    }

    /// The same for the paper's method.
    pub fn paper_error(&self) -> Option<f64> {
        self.by_the_paper.map(|predicted| (predicted / self.measured - 1.0).abs())
    }

    /// True if what was measured lies in the prediction's interval.
    pub fn is_within(&self) -> bool {
        (self.predicted - self.measured).abs() <= self.margin
    }
}

/// How far off predictions are, as parts of what was measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Errors {
    /// Half of all are less far off.
    pub median_error: f64,
    /// Nine of ten are less far off.
    pub p90_error: f64,
    /// Predictions.
    pub n: usize,
}

impl Errors {
    /// Of some errors; all zero for none.
    pub fn of(errors: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = errors.collect();
        sorted.sort_by(f64::total_cmp);
        let at = |part: f64| {
            let last = sorted.len().saturating_sub(1);
            sorted.get((part * last as f64).round() as usize).copied().unwrap_or_default()
        };
        Errors { median_error: at(0.5), p90_error: at(0.9), n: sorted.len() }
    }
}

/// The share of messages whose measured cost lies in the prediction's interval, which is to be
/// 0.95; 0 of none.
pub fn coverage<'c>(all: impl IntoIterator<Item = &'c Comparison>) -> f64 {
    let (mut within, mut count) = (0.0, 0.0_f64);
    for comparison in all {
        (within, count) = (within + f64::from(comparison.is_within()), count + 1.0);
    }
    within / count.max(1.0)
}

/// A message that is predicted, and will be measured.
#[derive(Debug)]
pub struct Trial {
    subject: Subject,
    /// The prediction; what is measured is zero so far.
    comparison: Comparison,
    /// What was measured, a batch each.
    batches: Vec<Times>,
}

#[derive(Debug, Clone)]
enum Subject {
    Workload(Workload),
    Sample(Rc<Sample>),
}

/// Predicts a kind of message, in all activities that were measured.
///
/// # Errors
/// When nothing was measured that could stand in.
pub fn predict_workload(model: &Model, workload: &Workload) -> Result<Vec<Trial>, CostError> {
    let usage = Usage::of_workload(workload, model.mode)?;
    let trial = |(&activity, fitted): (&Activity, &ActivityModel)| {
        let subject = Subject::Workload(workload.clone());
        trial(subject, workload.to_string(), activity, fitted, &usage)
    };
    model.activities.iter().map(trial).collect()
}

/// Predicts the messages of an operation, in all activities that were measured, and makes sure that
/// they can be measured. Messages in which nothing can change of what should are left out.
///
/// # Errors
/// As [`predict`](crate::predict::predict), and when a message cannot be written and read again.
pub fn predict_operation(model: &Model, operation: &Operation, sizes: &Sizes) -> Result<Vec<Trial>, CostError> {
    let mut all = Vec::new();
    for sample in samples(operation, sizes)?.into_iter().map(Rc::new) {
        if sizes.changed.values().any(|&share| share > 0.0) && !sample.is_changing() {
            continue;
        }
        let direction = if sample.direction == Direction::Request { "request" } else { "response" };
        let changed = changed_leaves(&Work::new(model.mode, Activity::Serialize, &sample)?.usage());
        let message = format!("{} {direction}{changed}", operation.full_name());
        for &activity in model.activities.keys() {
            check_sample(&sample, activity, model.mode)?;
            let work = Work::new(model.mode, activity, &sample)?;
            let Some(fitted) = if_measured(work.fitted(model))? else { continue };
            let subject = Subject::Sample(Rc::clone(&sample));
            all.push(trial(subject, message.clone(), activity, fitted, &work.usage())?);
        }
    }
    Ok(all)
}

/// How many values change, for the name of a message; nothing if none do.
fn changed_leaves(usage: &Usage) -> String {
    let changed: f64 = Class::ALL.iter().map(|&class| usage.count(Feature::Changed(class))).sum();
    let leaves = usage.count(Feature::Leaf);
    if changed > 0.0 { format!(", {changed:.0} of {leaves:.0} values changed") } else { String::new() }
}

fn trial(
    subject: Subject,
    message: String,
    activity: Activity,
    fitted: &ActivityModel,
    usage: &Usage,
) -> Result<Trial, CostError> {
    let estimate = fitted.features.estimate(usage)?;
    let (predicted, margin, by_the_paper) = (estimate.cost, estimate.margin, fitted.by_the_paper(usage));
    let comparison = Comparison { message, activity, bytes: 0, predicted, margin, by_the_paper, measured: 0.0 };
    Ok(Trial { subject, comparison, batches: Vec::new() })
}

/// Measures what was predicted, in rounds as [`measure`](crate::measure::measure) does, and takes
/// the times of each message as it does. The toolkit is warmed up with what it was measured with,
/// so that it is compiled alike.
///
/// # Errors
/// When the toolkit fails. What it does not offer is left out.
pub fn measure_trials(
    engine: &mut dyn Engine,
    mode: Mode,
    mut trials: Vec<Trial>,
    rounds: u32,
    watch: &mut dyn FnMut(),
) -> Result<Vec<Comparison>, CostError> {
    let measured: Vec<_> =
        series(mode, Extent::Sample).into_iter().filter(|workload| engine.refuses(workload).is_none()).collect();
    for round in 0..rounds.max(1) {
        if begins_anew(round) {
            engine.warm_up(&measured)?;
        }
        for index in order(trials.len(), round) {
            let trial = &mut trials[index];
            let activity = trial.comparison.activity;
            let job = match &trial.subject {
                Subject::Workload(workload) => engine.prepare(workload, activity, mode)?,
                Subject::Sample(sample) => engine.prepare_sample(sample, activity, mode)?,
            };
            if let Some(mut job) = job {
                trial.batches.extend(timed(job.as_mut(), activity)?);
                trial.comparison.bytes = job.bytes();
            }
            watch();
        }
    }
    trials.retain(|trial| !trial.batches.is_empty());
    let measured = |trial: Trial| Comparison { measured: Times::least(&trial.batches).cost(), ..trial.comparison };
    Ok(trials.into_iter().map(measured).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::{Calibration, Machine};
    use crate::measure::{Deltasoap, visit};
    use deltasoap_dynamic::Contract;

    #[test]
    fn errors_are_parts_of_what_was_measured() {
        let errors = Errors::of([0.5, 0.1, 0.2, 0.3, 0.4].into_iter());
        assert_eq!((errors.median_error, errors.p90_error, errors.n), (0.3, 0.5, 5));
        assert_eq!(Errors::of(std::iter::empty()), Errors { median_error: 0.0, p90_error: 0.0, n: 0 });
    }

    #[test]
    fn coverage_is_a_share_of_all() {
        let of = |measured| Comparison {
            message: String::new(),
            activity: Activity::Serialize,
            bytes: 1,
            predicted: 10.0,
            margin: 2.0,
            by_the_paper: None,
            measured,
        };
        assert_eq!(coverage(&[of(8.0), of(11.0), of(12.5), of(12.0)]), 0.75);
        assert_eq!(coverage(&[]), 0.0);
    }

    /// A model of as many rounds as it takes. Its points keep their least times, so that more
    /// rounds have less noise, however busy the machine is.
    fn fitted(engine: &mut Deltasoap) -> Option<Model> {
        const MOST: usize = 20;
        let mut calibration = Calibration::new(Machine::here(), Deltasoap::identity(), Mode::Regular, Extent::Few);
        (0..MOST).find_map(|_| {
            let mut points = Vec::new();
            for workload in series(Mode::Regular, Extent::Few) {
                visit(engine, &workload, Mode::Regular, &mut points).expect("measured");
            }
            calibration.merge(points);
            match Model::fit(&calibration) {
                Err(CostError::Noise { .. }) => None,
                model => Some(model.expect("fitted")),
            }
        })
    }

    /// Everything together, with few points: what is predicted is of the size of what is measured.
    #[test]
    fn predictions_are_near_the_truth() {
        let mut engine = Deltasoap;
        let model = fitted(&mut engine).expect("measured without noise");
        let composite = Workload::Composite { ints: 5, doubles: 5, texts: 5, length: 100 };
        let mut trials = predict_workload(&model, &composite).expect("predicted");
        let shop = include_str!("../../deltasoap-dynamic/tests/data/shop.wsdl");
        let order = Contract::from_text(shop).expect("a contract").operation("Order").expect("an operation");
        trials.extend(predict_operation(&model, &order, &Sizes::default()).expect("predicted"));
        let (mode, mut visits) = (Mode::Regular, 0);
        let compared = measure_trials(&mut engine, mode, trials, 3, &mut || visits += 1).expect("measured");
        assert_eq!((compared.len(), visits), (3 + 6, 3 * 9));
        assert_eq!(compared.iter().filter(|it| it.activity == Activity::Send).count(), 3);
        assert!(compared.iter().all(|it| it.error() < 3.0 && it.measured > 0.0 && it.bytes > 100), "{compared:#?}");
    }
}
