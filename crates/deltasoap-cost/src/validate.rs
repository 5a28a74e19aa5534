//! Validation: a prediction, and then the truth.
//!
//! Composite types come from the paper, and none of them was fitted to; operations come from real descriptions. Each message is
//! predicted, then measured, and the distribution of the errors is what is reported.

use crate::CostError;
use crate::calibration::Activity;
use crate::fit::model::Model;
use crate::measure::{Engine, Job, least, prepare_sample};
use crate::predict::{Direction, Sizes, message_cost, samples};
use crate::usage::Usage;
use crate::workload::Workload;
use deltasoap_dynamic::Operation;
use serde::Serialize;

/// Visits of each message, of which the fastest counts.
const VISITS: usize = 4;

/// A prediction beside the truth.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// The message.
    pub message: String,
    /// What was done with it.
    pub activity: Activity,
    /// Nanoseconds that were predicted.
    pub predicted: f64,
    /// Half the width of the prediction's interval.
    pub margin: f64,
    /// Nanoseconds that section 3.4 of Imre et al. predicts, to the letter; `None` without the series it needs.
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

/// Predicts a measured kind of message, and measures it. Sending is left out: its time is the network's.
///
/// # Errors
/// When the toolkit fails, or nothing was measured that could stand in.
pub fn validate_workload(
    model: &Model,
    engine: &mut dyn Engine,
    workload: &Workload,
) -> Result<Vec<Comparison>, CostError> {
    let usage = Usage::of_workload(workload, model.mode)?;
    let mut all = Vec::new();
    for activity in [Activity::Serialize, Activity::Deserialize] {
        let Some(mut job) = engine.prepare(workload, activity, model.mode)? else { continue };
        let fitted = model.of(activity)?;
        let estimate = fitted.features.estimate(&usage)?;
        all.push(Comparison {
            message: workload.to_string(),
            activity,
            predicted: estimate.cost,
            margin: estimate.margin,
            by_the_paper: fitted.by_the_paper(&usage),
            measured: fastest(job.as_mut())?,
        });
    }
    Ok(all)
}

/// Predicts the messages of an operation, and measures them in this process.
///
/// # Errors
/// As [`predict`](crate::predict::predict), and when a message cannot be written or read again.
pub fn validate_operation(model: &Model, operation: &Operation, sizes: &Sizes) -> Result<Vec<Comparison>, CostError> {
    let mut all = Vec::new();
    for sample in samples(operation, sizes)? {
        let cost = message_cost(model, &sample, sizes)?;
        let usage = Usage::of(&sample.body());
        for (activity, estimate) in [(Activity::Serialize, cost.serialize), (Activity::Deserialize, cost.deserialize)] {
            let direction = if sample.direction == Direction::Request { "request" } else { "response" };
            all.push(Comparison {
                message: format!("{} {direction}", operation.full_name()),
                activity,
                predicted: estimate.cost,
                margin: estimate.margin,
                by_the_paper: model.of(activity)?.by_the_paper(&usage),
                measured: fastest(prepare_sample(&sample, activity, model.mode)?.as_mut())?,
            });
        }
    }
    Ok(all)
}

/// Nanoseconds of a message, the least of some visits.
fn fastest(job: &mut dyn Job) -> Result<f64, CostError> {
    let mut times = least(job)?;
    for _ in 1..VISITS {
        times = times.least(least(job)?);
    }
    Ok(times.cpu.unwrap_or(times.elapsed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::{Calibration, Machine, Mode};
    use crate::measure::{Deltasoap, visit};
    use crate::workload::{Extent, series};
    use deltasoap_dynamic::Contract;

    #[test]
    fn errors_are_parts_of_what_was_measured() {
        let errors = Errors::of([0.5, 0.1, 0.2, 0.3, 0.4].into_iter());
        assert_eq!((errors.median_error, errors.p90_error, errors.n), (0.3, 0.5, 5));
        assert_eq!(Errors::of(std::iter::empty()), Errors { median_error: 0.0, p90_error: 0.0, n: 0 });
    }

    /// Everything together, with few points: what is predicted is of the size of what is measured.
    #[test]
    fn predictions_are_near_the_truth() {
        let mut engine = Deltasoap::new().expect("a sink");
        let mut calibration = Calibration::new(Machine::here(), Deltasoap::identity(), Mode::Regular);
        let mut points = Vec::new();
        for workload in series(Mode::Regular, Extent::Few) {
            visit(&mut engine, &workload, Mode::Regular, &mut points).expect("measured");
        }
        calibration.merge(points);
        let model = Model::fit(&calibration).expect("fitted");
        let composite = Workload::Composite { ints: 5, doubles: 5, texts: 5, length: 100 };
        let mut compared = validate_workload(&model, &mut engine, &composite).expect("validated");
        let shop = include_str!("../../deltasoap-dynamic/tests/data/shop.wsdl");
        let order = Contract::from_text(shop).expect("a contract").operation("Order").expect("an operation");
        compared.extend(validate_operation(&model, &order, &Sizes::default()).expect("validated"));
        assert_eq!(compared.len(), 2 + 4);
        assert!(compared.iter().all(|it| it.error() < 3.0 && it.measured > 0.0), "{compared:#?}");
    }
}
