//! Detects noise in the times of types with fields.
//!
//! The paper has no equation for them alone, and the regression over all series explains most of
//! the variance even where their times are noise. So each type of field must pass the rule of
//! [`Regression::check`](super::regression::Regression::check) alone: the cost must grow with the
//! number of fields. Types with too few points are checked together, each with its own slope in
//! each style.

use super::regression::Problem;
use super::segments::MIN_POINTS;
use crate::CostError;
use crate::calibration::{Activity, Point};
use crate::workload::{Class, Style, Workload};
use std::collections::{BTreeMap, BTreeSet};

/// Rejects noise.
///
/// # Errors
/// [`CostError::Noise`].
pub(super) fn check(points: &[&Point], activity: Activity) -> Result<(), CostError> {
    let mut by_class: BTreeMap<Class, Vec<MeasuredMessage>> = BTreeMap::new();
    for sample in points.iter().filter_map(|point| MeasuredMessage::of(point)) {
        by_class.entry(sample.series.0).or_default().push(sample);
    }
    let mut others = Vec::new();
    for (class, samples) in by_class {
        if is_enough(&samples) {
            check_samples(&format!("{activity}, fields of {class}"), &samples)?;
        } else {
            others.extend(samples);
        }
    }
    if is_enough(&others) { check_samples(&format!("{activity}, fields of other types"), &others) } else { Ok(()) }
}

/// A measured message.
struct MeasuredMessage {
    series: (Class, Style),
    count: f64,
    characters: f64,
    cost: f64,
}

impl MeasuredMessage {
    fn of(point: &Point) -> Option<Self> {
        let Workload::Fields { class, count, text, style } = point.workload else { return None };
        // Longer names are more characters of the same fields.
        let (style, each) = match style {
            Style::Named(name) => (Style::Named(0), name),
            style => (style, text),
        };
        let (count, each) = (f64::from(count), f64::from(each));
        Some(MeasuredMessage { series: (class, style), count, characters: count * each, cost: point.cost() })
    }
}

fn series_of(samples: &[MeasuredMessage]) -> BTreeSet<(Class, Style)> {
    samples.iter().map(|sample| sample.series).collect()
}

/// Returns true if there are enough points to distinguish a line from noise.
fn is_enough(samples: &[MeasuredMessage]) -> bool {
    samples.len() >= series_of(samples).len() + MIN_POINTS
}

fn check_samples(name: &str, samples: &[MeasuredMessage]) -> Result<(), CostError> {
    let series = series_of(samples);
    let row = |sample: &MeasuredMessage| {
        let slopes = series.iter().map(|series| if *series == sample.series { sample.count } else { 0.0 });
        std::iter::once(1.0).chain(slopes).chain([sample.characters]).collect::<Vec<_>>()
    };
    let mut problem = Problem {
        name: name.to_owned(),
        regressors: std::iter::once("c0".to_owned())
            .chain(series.iter().map(|(class, style)| format!("{class} ({style:?})")))
            .chain(["character".to_owned()])
            .collect(),
        rows: samples.iter().map(row).collect(),
        values: samples.iter().map(|sample| sample.cost).collect(),
        weights: Vec::new(),
    };
    let fit = problem.solve().or_else(|_| {
        // All samples have the same number of characters.
        problem.regressors.pop();
        problem.rows.iter_mut().for_each(|row| _ = row.pop());
        problem.solve()
    })?;
    // A character costs so little that its slope may be negative where cost is not quite linear.
    fit.check(name, &fit.coefficients[1..=series.len()])
}
