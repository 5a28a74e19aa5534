//! Validation: predictions compared with measurements.
//!
//! Composite types come from the paper, and no model is fitted to them; operations come from real
//! WSDLs. Each message is predicted, then measured; the result is the distribution of the errors.

use crate::CostError;
use crate::calibration::{Activity, Mode};
use crate::fit::model::{ActivityModel, Model};
use crate::measure::{Engine, Times, check_sample, order, restarts, timed};
use crate::predict::{Direction, Sample, Sizes, Work, if_measured, samples};
use crate::usage::{Feature, Usage};
use crate::workload::{Class, Extent, Workload, series};
use deltasoap_dynamic::Operation;
use deltasoap_streams::statistics::median;
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// A prediction and the measurement of the same message.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Comparison {
    /// The message.
    pub message: String,
    /// The activity.
    pub activity: Activity,
    /// Size of the message in bytes; 0 if not recorded.
    #[serde(default)]
    pub bytes: usize,
    /// Predicted nanoseconds.
    pub predicted: f64,
    /// Half the width of the prediction interval.
    pub margin: f64,
    /// Nanoseconds predicted exactly by section 3.4 of Imre et al.; `None` without the series it
    /// needs.
    pub by_the_paper: Option<f64>,
    /// Measured nanoseconds.
    pub measured: f64,
}

impl Comparison {
    /// Returns the error of the prediction, relative to the measurement.
    pub fn error(&self) -> f64 {
        (self.predicted / self.measured - 1.0).abs()
    }

    /// Returns the relative error of the paper's method.
    pub fn paper_error(&self) -> Option<f64> {
        self.by_the_paper.map(|predicted| (predicted / self.measured - 1.0).abs())
    }

    /// Returns true if the measured cost lies in the prediction interval.
    pub fn is_within(&self) -> bool {
        (self.predicted - self.measured).abs() <= self.margin
    }
}

/// Distribution of relative prediction errors.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Errors {
    /// The median of the errors.
    pub median_error: f64,
    /// The 90th percentile of the errors.
    pub p90_error: f64,
    /// Number of predictions.
    pub n: usize,
}

impl Errors {
    /// Summarizes the errors; all zero if there are none.
    pub fn of(errors: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = errors.collect();
        sorted.sort_by(f64::total_cmp);
        let ninth = (0.9 * sorted.len().saturating_sub(1) as f64).round() as usize;
        Errors {
            median_error: median(sorted.iter().copied()).unwrap_or_default(),
            p90_error: sorted.get(ninth).copied().unwrap_or_default(),
            n: sorted.len(),
        }
    }
}

/// Returns the fraction of messages whose measured cost lies in the prediction interval, which
/// should be 0.95; 0 if there are none.
pub fn coverage<'c>(all: impl IntoIterator<Item = &'c Comparison>) -> f64 {
    let (mut within, mut count) = (0.0, 0.0_f64);
    for comparison in all {
        (within, count) = (within + f64::from(comparison.is_within()), count + 1.0);
    }
    within / count.max(1.0)
}

/// A predicted message that will be measured.
#[derive(Debug)]
pub struct Trial {
    subject: TrialMessage,
    /// The prediction, with a measurement of zero so far.
    comparison: Comparison,
    /// Measured times, one entry per batch.
    batches: Vec<Times>,
}

#[derive(Debug, Clone)]
enum TrialMessage {
    Workload(Workload),
    Sample(Rc<Sample>),
}

/// Predicts a workload, in all measured activities.
///
/// # Errors
/// When a feature was not measured and has no measured substitute.
pub fn predict_workload(model: &Model, workload: &Workload) -> Result<Vec<Trial>, CostError> {
    let usage = Usage::from_workload(workload, model.mode)?;
    let trial = |(&activity, fitted): (&Activity, &ActivityModel)| {
        let subject = TrialMessage::Workload(workload.clone());
        trial(subject, workload.to_string(), activity, fitted, &usage)
    };
    model.activities.iter().map(trial).collect()
}

/// Predicts the messages of an operation, in all measured activities, and checks that they can be
/// measured. Messages without any of the requested changes are skipped.
///
/// # Errors
/// As [`predict`](crate::predict::predict), and when a message cannot be written and read back.
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
            let subject = TrialMessage::Sample(Rc::clone(&sample));
            all.push(trial(subject, message.clone(), activity, fitted, &work.usage())?);
        }
    }
    Ok(all)
}

/// Returns the number of changed values, for the name of a message; empty if there are none.
fn changed_leaves(usage: &Usage) -> String {
    let changed: f64 = Class::ALL.iter().map(|&class| usage.count(Feature::Changed(class))).sum();
    let leaves = usage.count(Feature::Leaf);
    if changed > 0.0 { format!(", {changed:.0} of {leaves:.0} values changed") } else { String::new() }
}

fn trial(
    subject: TrialMessage,
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

/// Measures the predicted messages, in rounds as [`measure`](crate::measure::measure) does, and
/// with the same statistics. The toolkit is warmed up with the calibration's workloads, so that the
/// same code is compiled.
///
/// # Errors
/// When the toolkit fails. Unsupported messages are skipped.
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
        if restarts(round) {
            engine.warm_up(&measured)?;
        }
        for index in order(trials.len(), round) {
            let trial = &mut trials[index];
            let activity = trial.comparison.activity;
            let job = match &trial.subject {
                TrialMessage::Workload(workload) => engine.prepare(workload, activity, mode)?,
                TrialMessage::Sample(sample) => engine.prepare_sample(sample, activity, mode)?,
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

    /// Returns a model after as many rounds as it takes. Points keep their smallest times, so more
    /// rounds have less noise, however busy the machine is.
    fn fitted(engine: &mut Deltasoap) -> Option<Model> {
        const MAX_ROUNDS: usize = 20;
        let mut calibration = Calibration::new(Machine::current(), Deltasoap::identity(), Mode::Regular, Extent::Few);
        (0..MAX_ROUNDS).find_map(|_| {
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

    /// The whole chain with few points: predictions have the size of the measurements.
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
