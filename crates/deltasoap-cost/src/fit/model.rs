//! Models: the cost of any message, derived from a calibration.
//!
//! Equations 1 to 3 of Imre et al. are fitted as printed, by ordinary least squares. Predictions
//! use one more regression, over all measured messages except the composite types. Its regressors
//! are the [`Feature`]s of messages, and its residuals are relative, since the error of a
//! prediction is judged in percent. It is equation 3 with more kinds of fields. As in section 3.4,
//! its coefficients are those of the arrays, as far as a toolkit treats a field like an item.
//! [`ActivityModel::by_the_paper`] predicts exactly as section 3.4 does.

use super::fields;
use super::regression::{Problem, Regression, two_sided};
use super::segments::{Segmented, fit_segments};
use crate::CostError;
use crate::calibration::{Activity, Calibration, Mode, Point, Toolkit, Unfinished};
use crate::measure::BackgroundLoad;
use crate::usage::{Feature, Usage};
use crate::workload::{Class, Workload};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A regressor is dropped if less than this fraction of its length remains after projecting out the
/// other regressors.
const OWN: f64 = 0.02;

/// Models of all activities of a toolkit.
#[derive(Debug, Clone, Serialize)]
pub struct Model {
    /// The toolkit.
    pub toolkit: Toolkit,
    /// How similar messages are handled.
    pub mode: Mode,
    /// A model for each activity that was measured.
    pub activities: BTreeMap<Activity, ActivityModel>,
    /// In differential mode: the models of reading and writing in regular mode, for messages that
    /// are not compared.
    pub in_full: BTreeMap<Activity, ActivityModel>,
    /// The load of other programs during the calibration, if high enough to make it doubtful.
    pub busy: Option<BackgroundLoad>,
    /// Progress of the calibration, if it is unfinished.
    pub unfinished: Option<Unfinished>,
}

/// The models of one activity.
#[derive(Debug, Clone, Serialize)]
pub struct ActivityModel {
    /// Equation 1: cost by array length.
    pub arrays: Vec<(Class, Regression)>,
    /// Equation 2: cost by string length.
    pub texts: Option<Segmented>,
    /// Equation 3: cost of composite types, by string length.
    pub composites: Vec<(u32, Regression)>,
    /// Cost by the features of messages.
    pub features: FeatureModel,
    /// Notes for the reader: negative intercepts, outliers, series that were not measured.
    pub notes: Vec<String>,
}

/// Cost by the features of messages.
#[derive(Debug, Clone, Serialize)]
pub struct FeatureModel {
    /// The regressors, in the order of the coefficients.
    #[serde(skip)]
    pub features: Vec<Feature>,
    /// Measured features without a coefficient: they occur only together with the regressors, whose
    /// coefficients include their cost.
    #[serde(skip)]
    implied: BTreeSet<Feature>,
    /// The fit, with relative residuals.
    pub fit: Regression,
    /// Relative prediction error of messages with mixed content, such as real ones: a standard
    /// deviation. It comes from the series of such messages, each predicted by a fit without that
    /// series ([`Regression::left_out`]), since predicted messages are not part of the fit either.
    pub scatter: f64,
    /// Degrees of freedom of the scatter: the number of residuals minus one.
    pub scatter_freedom: usize,
    /// True if items are counted as fields: only arrays of the toolkit were measured.
    #[serde(skip)]
    merges_items: bool,
    #[serde(skip)]
    mode: Mode,
}

/// A predicted cost in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The cost.
    pub cost: f64,
    /// Half the width of the 95 % prediction interval.
    pub margin: f64,
}

impl Estimate {
    /// An exact zero.
    pub const ZERO: Estimate = Estimate { cost: 0.0, margin: 0.0 };

    /// Returns the lower end of the interval, at least zero.
    pub fn low(&self) -> f64 {
        (self.cost - self.margin).max(0.0)
    }

    /// Returns the upper end of the interval.
    pub fn high(&self) -> f64 {
        self.cost + self.margin
    }
}

impl Model {
    /// Fits all models of a calibration.
    ///
    /// # Errors
    /// When there are too few points, or their times are noise.
    pub fn fit(calibration: &Calibration) -> Result<Self, CostError> {
        Self::fit_all(calibration).map_err(|error| error.measured_while(calibration.busy()))
    }

    fn fit_all(calibration: &Calibration) -> Result<Self, CostError> {
        let fit = |mode| {
            let mut activities = BTreeMap::new();
            for activity in Activity::ALL {
                let is_of_mode = |point: &&Point| mode_of(&point.workload, calibration.mode) == mode;
                let points: Vec<&Point> = calibration.points_of(activity).filter(is_of_mode).collect();
                if !points.is_empty() {
                    let usages = usages(&points, mode)?;
                    activities.insert(activity, ActivityModel::fit(&points, &usages, activity, mode)?);
                }
            }
            Ok::<_, CostError>(activities)
        };
        let mode = calibration.mode;
        if calibration.points.is_empty() {
            return Err(CostError::TooFewPoints { what: "the calibration".to_owned(), found: 0, needed: 1 });
        }
        let in_full = if mode == Mode::Differential { fit(Mode::Regular)? } else { BTreeMap::new() };
        Ok(Model {
            toolkit: calibration.toolkit.clone(),
            mode,
            activities: fit(mode)?,
            in_full,
            busy: calibration.busy(),
            unfinished: calibration.unfinished(),
        })
    }

    /// Returns the model of an activity.
    ///
    /// # Errors
    /// When the activity was not measured.
    pub fn activity(&self, activity: Activity) -> Result<&ActivityModel, CostError> {
        self.activities.get(&activity).ok_or_else(|| CostError::NotMeasured(activity.to_string()))
    }

    /// Returns the notes of all activities.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        let in_full =
            self.in_full.values().flat_map(|fitted| fitted.notes.iter().map(|note| format!("in full: {note}")));
        let busy = self.busy.map(|busy| format!("{busy} while this was measured; measure again when it is idle"));
        let unfinished = self.unfinished.map(|unfinished| unfinished.to_string());
        let remarks = unfinished.into_iter().chain(busy);
        remarks.chain(self.activities.values().flat_map(|fitted| fitted.notes.iter().cloned())).chain(in_full)
    }

    /// Returns the model of an activity in a mode: the model's own mode, or regular mode for
    /// messages that are not compared.
    ///
    /// # Errors
    /// When the activity was not measured.
    pub fn in_mode(&self, activity: Activity, mode: Mode) -> Result<&ActivityModel, CostError> {
        if mode == self.mode {
            return self.activity(activity);
        }
        let not_measured =
            || CostError::NotMeasured(format!("{activity} in {mode} mode, which messages like this one need"));
        self.in_full.get(&activity).ok_or_else(not_measured)
    }
}

/// Returns the mode in which a message was measured.
fn mode_of(workload: &Workload, mode: Mode) -> Mode {
    if mode == Mode::Differential && !workload.is_compared() { Mode::Regular } else { mode }
}

/// Counts the features of the measured messages; each message is built once.
fn usages<'p>(points: &[&'p Point], mode: Mode) -> Result<BTreeMap<&'p Workload, Usage>, CostError> {
    let workloads: BTreeSet<&Workload> = points.iter().map(|point| &point.workload).collect();
    let usage = |workload| Ok((workload, Usage::from_workload(workload, mode)?));
    workloads.into_iter().map(usage).collect()
}

impl ActivityModel {
    fn fit(
        points: &[&Point],
        usages: &BTreeMap<&Workload, Usage>,
        activity: Activity,
        mode: Mode,
    ) -> Result<Self, CostError> {
        let mut notes = Vec::new();
        let arrays = fit_arrays(points, activity, &mut notes)?;
        let texts = fit_texts(points, activity, &mut notes)?;
        let composites = fit_composites(points, activity, &mut notes)?;
        fields::check(points, activity)?;
        let breaks = texts.as_ref().map_or_else(Vec::new, Segmented::breaks);
        let features = FeatureModel::fit(points, usages, &breaks, activity, mode)?;
        notes.extend(features.notes(points).into_iter().map(|note| format!("{activity}, {note}")));
        Ok(ActivityModel { arrays, texts, composites, features, notes })
    }

    /// Predicts the cost of a message by section 3.4 of Imre et al.: c0 from the array of ints,
    /// coefficients from the arrays of ints and doubles; a string costs its length times the slope
    /// of the widest segment. Other types count as the nearest of the three. Returns `None` without
    /// these series.
    pub fn by_the_paper(&self, usage: &Usage) -> Option<f64> {
        let array = |class| self.arrays.iter().find(|(of, _)| *of == class).map(|(_, line)| line);
        let (int, double) = (array(Class::Int)?, array(Class::Double)?);
        let [c0, c_int] = [0, 1].map(|at| int.coefficients[at].value);
        let leaves = |class| {
            let kinds = [Feature::Field(class), Feature::Item(class), Feature::Attribute(class)];
            kinds.into_iter().map(|feature| usage.count(feature)).sum::<f64>()
        };
        let per_character = self.texts.as_ref()?.widest().line.coefficients[1].value;
        let ints: f64 = [Class::Int, Class::Boolean, Class::QName].into_iter().map(leaves).sum();
        let doubles: f64 = [Class::Double, Class::Decimal, Class::Date, Class::Duration].into_iter().map(leaves).sum();
        let characters = usage.count(Feature::Character) + usage.count(Feature::Octet);
        Some(c0 + c_int * ints + double.coefficients[1].value * doubles + per_character * characters)
    }
}

fn fit_arrays(
    points: &[&Point],
    activity: Activity,
    notes: &mut Vec<String>,
) -> Result<Vec<(Class, Regression)>, CostError> {
    let mut fitted = Vec::new();
    for class in [Class::Int, Class::Double, Class::Text] {
        let length = |point: &&&Point| match point.workload {
            Workload::Array { class: of, length, .. } if of == class => Some(f64::from(length)),
            _ => None,
        };
        let of_class: Vec<(f64, &Point)> = points.iter().filter_map(|point| Some((length(&point)?, *point))).collect();
        if of_class.is_empty() {
            continue;
        }
        let name = format!("{activity}, arrays of {class} (equation 1)");
        let rows = of_class.iter().map(|&(length, _)| vec![1.0, length]).collect();
        let line = solve(&name, &["c0", "c1"], rows, of_class.iter().map(|(_, point)| *point), notes)?;
        fitted.push((class, line));
    }
    Ok(fitted)
}

fn fit_texts(points: &[&Point], activity: Activity, notes: &mut Vec<String>) -> Result<Option<Segmented>, CostError> {
    let place = |point: &&Point| match point.workload {
        Workload::Text { length } => Some((f64::from(length), point.cost())),
        _ => None,
    };
    let mut texts: Vec<_> = points.iter().filter_map(place).collect();
    texts.sort_by(|a, b| a.0.total_cmp(&b.0));
    if texts.is_empty() {
        return Ok(None);
    }
    let name = format!("{activity}, strings (equation 2)");
    let fitted = fit_segments(&name, &texts)?;
    fitted.check(&name)?;
    for segment in &fitted.segments {
        explain_intercept(&format!("{name} from {} to {}", segment.from, segment.to), &segment.line, notes);
    }
    Ok(Some(fitted))
}

fn fit_composites(
    points: &[&Point],
    activity: Activity,
    notes: &mut Vec<String>,
) -> Result<Vec<(u32, Regression)>, CostError> {
    let mut by_length: BTreeMap<u32, (Vec<Vec<f64>>, Vec<&Point>)> = BTreeMap::new();
    for point in points {
        if let Workload::Composite { ints, doubles, texts, length } = point.workload {
            let (rows, of_length) = by_length.entry(length).or_default();
            rows.push(vec![1.0, f64::from(ints), f64::from(doubles), f64::from(texts)]);
            of_length.push(point);
        }
    }
    let fit = |(length, (rows, points)): (u32, (Vec<Vec<f64>>, Vec<&Point>))| {
        let name = format!("{activity}, composite types with strings of {length} (equation 3)");
        let regressors = ["c0", "int", "double", "string"];
        Ok((length, solve(&name, &regressors, rows, points.into_iter(), notes)?))
    };
    by_length.into_iter().map(fit).collect()
}

/// Fits one equation, and adds notes about anomalies.
fn solve<'p>(
    name: &str,
    regressors: &[&str],
    rows: Vec<Vec<f64>>,
    points: impl Iterator<Item = &'p Point> + Clone,
    notes: &mut Vec<String>,
) -> Result<Regression, CostError> {
    let problem = Problem {
        name: name.to_owned(),
        regressors: regressors.iter().map(|&name| name.to_owned()).collect(),
        rows,
        values: points.clone().map(Point::cost).collect(),
        weights: Vec::new(),
    };
    let fit = problem.solve()?;
    fit.check(name, &fit.coefficients[1..])?;
    explain_intercept(name, &fit, notes);
    if !fit.outliers.is_empty() {
        let all: Vec<&Point> = points.collect();
        let named: Vec<_> = fit.outliers.iter().take(3).map(|&at| all[at].workload.to_string()).collect();
        let (count, names) = (fit.outliers.len(), named.join("; "));
        notes.push(format!("{name}: {count} of {} points are outliers and were kept: {names}", all.len()));
    }
    Ok(fit)
}

fn explain_intercept(name: &str, fit: &Regression, notes: &mut Vec<String>) {
    let Some(c0) = fit.coefficients.first().filter(|c0| c0.value < 0.0) else { return };
    let why = if c0.value + c0.margin >= 0.0 {
        "its interval contains zero: the points are too far from zero to determine it"
    } else {
        "the cost grows faster than linearly, mostly because long messages leave the caches; the line is meaningless below the first point"
    };
    notes.push(format!("{name}: the intercept is negative ({:.0} ns); {why}", c0.value));
}

impl FeatureModel {
    fn fit(
        points: &[&Point],
        usages: &BTreeMap<&Workload, Usage>,
        breaks: &[f64],
        activity: Activity,
        mode: Mode,
    ) -> Result<Self, CostError> {
        let has_fields = |point: &&Point| matches!(point.workload, Workload::Fields { .. } | Workload::Again { .. });
        let merges_items = !points.iter().any(has_fields);
        let fitted: Vec<&Point> = points.iter().copied().filter(|point| !point.workload.is_composite()).collect();
        let usages: Vec<Usage> = fitted.iter().map(|point| seen(&usages[&point.workload], merges_items)).collect();
        let weights: Vec<f64> = fitted.iter().map(|point| 1.0 / point.cost().max(1.0)).collect();
        let candidates = candidates(&usages, breaks);
        let features = independent(candidates.clone(), &usages, &weights);
        let implied = candidates.into_iter().filter(|feature| !features.contains(feature)).collect();
        let problem = Problem {
            name: format!("{activity}, all series"),
            regressors: features.iter().map(ToString::to_string).collect(),
            rows: usages.iter().map(|usage| row(usage, &features)).collect(),
            values: fitted.iter().map(|point| point.cost()).collect(),
            weights,
        };
        let fit = problem.solve()?;
        // No slopes: the coefficient of a feature that always occurs with a more expensive one may
        // be negative, which `notes` reports.
        fit.check(&problem.name, &[])?;
        let (scatter, scatter_freedom) = scatter(&fit, &fitted);
        Ok(FeatureModel { fit, scatter, scatter_freedom, features, implied, merges_items, mode })
    }

    /// Estimates the cost of a message, or of part of one.
    ///
    /// # Errors
    /// When the message has a feature that was not measured and has no measured substitute.
    pub fn estimate(&self, usage: &Usage) -> Result<Estimate, CostError> {
        let row = self.row(usage)?;
        let cost = self.fit.at(&row);
        let scatter = self.scatter * cost;
        let error = (self.fit.error_at(&row).powi(2) + scatter * scatter).sqrt();
        Ok(Estimate { cost, margin: two_sided(self.scatter_freedom) * error })
    }

    /// Returns the regressors of a message, with substitutes for features that were not measured.
    fn row(&self, usage: &Usage) -> Result<Vec<f64>, CostError> {
        let usage = seen(usage, self.merges_items);
        let mut row = row(&usage, &self.features);
        for (feature, count) in usage.counts() {
            let count = count - self.implied(feature, &usage);
            if count <= 0.0 || self.features.contains(&feature) || feature.is_refinement() || self.is_in_others(feature)
            {
                continue;
            }
            let place = |substitute| self.features.iter().position(|&known| known == substitute);
            match feature.substitutes().into_iter().find_map(place) {
                Some(at) => row[at] += count,
                None => return Err(CostError::NotMeasured(feature.to_string())),
            }
        }
        Ok(row)
    }

    /// Returns how much of a feature is included in the coefficients of others. Where only messages
    /// of one type each were measured, that is one type per message; additional types are not
    /// included.
    fn implied(&self, feature: Feature, usage: &Usage) -> f64 {
        match feature {
            feature if !self.implied.contains(&feature) => 0.0,
            Feature::Record => usage.count(Feature::Message),
            feature => usage.count(feature),
        }
    }

    /// Returns true for a feature whose cost is included in that of the message because every
    /// measured message has it alike.
    fn is_in_others(&self, feature: Feature) -> bool {
        let is_differential = self.mode == Mode::Differential;
        matches!(feature, Feature::Record | Feature::Character) && self.merges_items
            || is_differential && feature == Feature::Shift
    }

    /// Notes negative coefficients, and outliers.
    fn notes(&self, points: &[&Point]) -> Vec<String> {
        let negative = self.fit.coefficients.iter().filter(|it| it.value + it.margin < 0.0);
        let mut notes: Vec<_> = negative
            .map(|it| {
                format!("{}: {:.1} ns each; a feature that occurs with it costs this much more", it.name, it.value)
            })
            .collect();
        let fitted: Vec<_> = points.iter().filter(|point| !point.workload.is_composite()).collect();
        if !self.fit.outliers.is_empty() {
            let named: Vec<_> = self.fit.outliers.iter().take(3).map(|&at| fitted[at].workload.to_string()).collect();
            let (count, all) = (self.fit.outliers.len(), fitted.len());
            notes.push(format!("all series: {count} of {all} points are outliers and were kept: {}", named.join("; ")));
        }
        notes
    }
}

/// Returns [`FeatureModel::scatter`] with its degrees of freedom. The scatter is at least the
/// standard deviation of all residuals, which is used if no such messages were measured.
fn scatter(fit: &Regression, points: &[&Point]) -> (f64, usize) {
    let mut series: BTreeMap<Workload, Vec<usize>> = BTreeMap::new();
    for (at, point) in points.iter().enumerate().filter(|(_, point)| !point.workload.is_of_one_kind()) {
        series.entry(point.workload.series()).or_default().push(at);
    }
    let left: Vec<f64> = series.values().flat_map(|points| fit.left_out(points)).collect();
    let scatter = (left.iter().map(|it| it * it).sum::<f64>() / left.len().max(1) as f64).sqrt();
    if left.len() > 1 && scatter > fit.deviation { (scatter, left.len() - 1) } else { (fit.deviation, fit.freedom) }
}

/// Returns the counts as the model uses them.
fn seen(usage: &Usage, merges_items: bool) -> Usage {
    if !merges_items {
        return usage.clone();
    }
    let mut merged = usage.clone();
    for (feature, count) in usage.counts() {
        let other = match feature {
            Feature::Item(class) => Feature::Field(class),
            Feature::ItemRecord => Feature::Record,
            Feature::ItemMarkup => Feature::Markup,
            _ => continue,
        };
        merged.add(feature, -count);
        merged.add(other, count);
    }
    use Feature as F;
    for feature in [F::List, F::Repeated, F::Relisted, F::RelistedRecords, F::Row, F::Absent, F::Described, F::Far] {
        merged.add(feature, -usage.count(feature));
    }
    merged
}

fn row(usage: &Usage, features: &[Feature]) -> Vec<f64> {
    features.iter().map(|&feature| usage.count(feature)).collect()
}

/// Returns all features of the messages: refinements after the others, then cut-off points of
/// strings.
fn candidates(usages: &[Usage], breaks: &[f64]) -> Vec<Feature> {
    let all: BTreeSet<Feature> =
        usages.iter().flat_map(Usage::counts).filter(|it| it.1 != 0.0).map(|it| it.0).collect();
    let (refinements, mut features): (Vec<_>, Vec<_>) = all.into_iter().partition(|feature| feature.is_refinement());
    features.extend(refinements);
    features.extend(breaks.iter().flat_map(|&place| [Feature::Over(place as u32), Feature::Beyond(place as u32)]));
    features
}

/// Returns the features that are not linear combinations of earlier ones, by Gram-Schmidt on the
/// weighted columns.
fn independent(candidates: Vec<Feature>, usages: &[Usage], weights: &[f64]) -> Vec<Feature> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let is_new = |feature: &Feature| {
        let column = usages.iter().zip(weights).map(|(usage, weight)| usage.count(*feature) * weight);
        let Some(mut column) = normal(column.collect()) else { return false };
        for direction in &basis {
            let part = dot(&column, direction);
            column.iter_mut().zip(direction).for_each(|(x, d)| *x -= part * d);
        }
        let own = dot(&column, &column).sqrt();
        let is_new = own > OWN;
        basis.extend(normal(column).filter(|_| is_new));
        is_new
    };
    candidates.into_iter().filter(is_new).collect()
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

/// Returns the column scaled to length 1, or `None` if its length is zero.
fn normal(column: Vec<f64>) -> Option<Vec<f64>> {
    let length = dot(&column, &column).sqrt();
    (length > 0.0).then(|| column.into_iter().map(|x| x / length).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::Machine;
    use crate::measure::Times;
    use crate::workload::{Extent, series};
    use deltasoap_streams::prng::SplitMix64;
    use statrs::distribution::{ContinuousCDF as _, Normal};

    /// A toolkit with known costs.
    fn cost(usage: &Usage) -> f64 {
        let price = |feature| match feature {
            Feature::Message => 300.0,
            Feature::Field(_) => 60.0,
            Feature::Item(Class::Int) => 10.0,
            Feature::Item(_) => 20.0,
            Feature::Record => 40.0,
            Feature::Character => 0.25,
            Feature::Octet => 0.1,
            Feature::Attribute(_) => 50.0,
            Feature::Compared => 0.05,
            Feature::Changed(_) => 30.0,
            Feature::Leaf => 2.0,
            _ => 1.0,
        };
        usage.counts().map(|(feature, count)| price(feature) * count).sum()
    }

    fn calibration(mode: Mode, keep: impl Fn(&Workload) -> bool) -> Calibration {
        let toolkit = Toolkit { name: "known".into(), version: "1".into() };
        let mut it = Calibration::new(Machine::current(), toolkit, mode, Extent::Few);
        for workload in series(mode, Extent::Few).into_iter().filter(|workload| keep(workload)) {
            let cost = cost(&Usage::from_workload(&workload, mode).expect("a message"));
            let activity = Activity::Serialize;
            let batches = vec![Times { cpu: Some(cost), elapsed: cost }];
            it.points.push(Point { workload, activity, batches, bytes: 1 });
        }
        it
    }

    fn model(mode: Mode, keep: impl Fn(&Workload) -> bool) -> ActivityModel {
        Model::fit(&calibration(mode, keep)).expect("fitted").activity(Activity::Serialize).expect("measured").clone()
    }

    #[test]
    fn known_costs_are_predicted() {
        let model = model(Mode::Regular, |_| true);
        for workload in crate::workload::composites(Extent::Few) {
            let usage = Usage::from_workload(&workload, Mode::Regular).expect("a message");
            let estimate = model.features.estimate(&usage).expect("an estimate");
            assert!((estimate.cost - cost(&usage)).abs() < 0.01 * cost(&usage), "{workload}: {estimate:?}");
        }
        assert_eq!((model.arrays.len(), model.composites.len()), (3, 3));
        assert!((model.arrays[0].1.coefficients[1].value - 10.0 - 8.0).abs() < 0.1, "an item and its tags");
        assert!(model.texts.expect("texts").breaks().is_empty());
    }

    /// Arrays and strings, the most numerous series, do not make predictions of other messages look
    /// more certain than they are.
    #[test]
    fn intervals_are_those_of_messages_of_many_parts() {
        let mut it = calibration(Mode::Regular, |_| true);
        let mut sign = 1.0;
        for point in it.points.iter_mut().filter(|point| !point.workload.is_of_one_kind()) {
            sign = -sign;
            point.batches[0].cpu = point.batches[0].cpu.map(|cpu| cpu * (1.0 + 0.1 * sign));
        }
        let model = Model::fit(&it).expect("fitted").activity(Activity::Serialize).expect("measured").features.clone();
        assert!(model.fit.deviation < model.scatter && (0.08..0.13).contains(&model.scatter), "{}", model.scatter);
        let composite = Workload::Composite { ints: 5, doubles: 5, texts: 5, length: 100 };
        let usage = Usage::from_workload(&composite, Mode::Regular).expect("a message");
        let estimate = model.estimate(&usage).expect("an estimate");
        assert!((0.16..0.3).contains(&(estimate.margin / estimate.cost)), "{estimate:?}");
    }

    /// A toolkit for which every series, and every predicted message, costs some percent more or
    /// less than the sum of its parts: the intervals cover the stated fraction. A fit follows the
    /// series that it is made from, so their residuals are too small.
    #[test]
    fn intervals_hold_as_many_messages_as_they_say() {
        const OFF: f64 = 0.08;
        let all = calibration(Mode::Regular, |_| true);
        let measured: Vec<&Point> = all.points.iter().collect();
        let usages = usages(&measured, Mode::Regular).expect("messages");
        let unseen = crate::workload::composites(Extent::Few);
        let unseen: Vec<Usage> =
            unseen.iter().map(|it| Usage::from_workload(it, Mode::Regular).expect("a message")).collect();
        let (normal, mut random) = (Normal::new(0.0, 1.0).expect("a distribution"), SplitMix64::new(11));
        let mut draw = || normal.inverse_cdf((f64::from(random.below(1 << 24)) + 0.5) / f64::from(1 << 24));
        let (mut within, mut within_residuals, mut predictions) = (0, 0, 0);
        for _ in 0..25 {
            let mut series: BTreeMap<Workload, f64> = BTreeMap::new();
            let points: Vec<Point> = measured
                .iter()
                .map(|&point| {
                    let of_series = *series.entry(point.workload.series()).or_insert_with(|| 1.0 + OFF * draw());
                    let off = if point.workload.is_of_one_kind() { 1.0 } else { of_series };
                    let cost = point.cost() * off * (1.0 + 0.01 * draw());
                    Point { batches: vec![Times { cpu: Some(cost), elapsed: cost }], ..point.clone() }
                })
                .collect();
            let points: Vec<&Point> = points.iter().collect();
            let model = FeatureModel::fit(&points, &usages, &[], Activity::Serialize, Mode::Regular).expect("fitted");
            let fitted = points.iter().filter(|point| !point.workload.is_composite()).zip(&model.fit.residuals);
            let relative = fitted.filter(|(point, _)| !point.workload.is_of_one_kind());
            let squares: Vec<f64> = relative.map(|(point, left)| (left / point.cost()).powi(2)).collect();
            let residuals = (squares.iter().sum::<f64>() / squares.len() as f64).sqrt();
            for usage in &unseen {
                let (estimate, truth) =
                    (model.estimate(usage).expect("an estimate"), cost(usage) * (1.0 + OFF * draw()));
                let off = (estimate.cost - truth).abs();
                within += usize::from(off <= estimate.margin);
                within_residuals += usize::from(off <= two_sided(model.fit.freedom) * residuals * estimate.cost);
                predictions += 1;
            }
        }
        let share = |count: usize| count as f64 / f64::from(predictions);
        let (share, of_residuals) = (share(within), share(within_residuals));
        assert!((0.92..=0.99).contains(&share) && of_residuals < share, "{share} {of_residuals} of {predictions}");
    }

    #[test]
    fn differential_costs_are_predicted() {
        let model = model(Mode::Differential, |_| true);
        let workload = Workload::Changed { class: Class::Double, length: 77, changed: 13, moves: false };
        let usage = Usage::from_workload(&workload, Mode::Differential).expect("a message");
        let estimate = model.features.estimate(&usage).expect("an estimate");
        assert!((estimate.cost - cost(&usage)).abs() < 0.02 * cost(&usage), "{estimate:?} {}", cost(&usage));
    }

    /// Simulates a toolkit of which only the first two series were measured.
    #[test]
    fn arrays_are_enough_for_a_prediction() {
        let paper = |it: &Workload| {
            matches!(
                it,
                Workload::Text { .. } | Workload::Array { class: Class::Int | Class::Double | Class::Text, .. }
            )
        };
        let model = model(Mode::Regular, paper);
        let usage =
            Usage::from_workload(&Workload::Composite { ints: 3, doubles: 2, texts: 1, length: 100 }, Mode::Regular);
        let usage = usage.expect("a message");
        let (ours, papers) = (model.features.estimate(&usage).expect("an estimate").cost, model.by_the_paper(&usage));
        assert!((ours - papers.expect("both series")).abs() < 0.25 * ours, "{ours} {papers:?}");
        let boolean = Usage::from_workload(&Workload::Array { class: Class::Date, length: 5, text: 0 }, Mode::Regular);
        assert!(model.features.estimate(&boolean.expect("a message")).is_ok(), "a double stands in");
    }

    #[test]
    fn too_few_points_are_an_error() {
        let error = Model::fit(&calibration(Mode::Regular, |it| matches!(it, Workload::Array { length: 1, .. })));
        assert!(matches!(error, Err(CostError::TooFewPoints { .. })), "{error:?}");
    }

    #[test]
    fn a_negative_intercept_is_explained() {
        let mut it = calibration(Mode::Regular, |it| matches!(it, Workload::Array { class: Class::Int, .. }));
        for point in &mut it.points {
            if let Workload::Array { length, .. } = point.workload {
                point.batches[0].cpu = Some(f64::from(length).powi(2));
            }
        }
        let points: Vec<_> = it.points_of(Activity::Serialize).collect();
        let mut notes = Vec::new();
        fit_arrays(&points, Activity::Serialize, &mut notes).expect("fitted");
        assert!(notes.iter().any(|note| note.contains("the intercept is negative")), "{notes:?}");
    }
}
