//! Errors of predictions.

use deltasoap_cost::Activity;
use deltasoap_cost::validate::{Comparison, Errors, coverage};
use deltasoap_report::{Grid, statistics};

/// Returns the measured activities.
pub fn activities(all: &[Comparison]) -> impl Iterator<Item = Activity> {
    Activity::ALL.into_iter().filter(|activity| all.iter().any(|it| it.activity == *activity))
}

/// Returns the errors of predictions, one row per activity, beside those of the paper's method.
pub fn errors(all: &[Comparison]) -> Grid {
    let header = ["", "messages", "median error", "90th percentile", "in the interval", "median, paper's 3.4"];
    Grid {
        title: "Predictions and measurements".to_owned(),
        header: header.map(str::to_owned).into(),
        rows: activities(all).map(|activity| row(all, activity)).collect(),
        names: 1,
    }
}

fn row(all: &[Comparison], activity: Activity) -> Vec<String> {
    let these: Vec<_> = all.iter().filter(|it| it.activity == activity).collect();
    let errors = Errors::of(these.iter().map(|it| it.error()));
    let papers = Errors::of(these.iter().filter_map(|it| it.paper_error()));
    let percent = |part: f64| format!("{:.1} %", part * 100.0);
    let figures = [errors.median_error, errors.p90_error, coverage(these)].map(percent);
    let papers = if papers.n > 0 { percent(papers.median_error) } else { "-".to_owned() };
    [activity.to_string(), errors.n.to_string()].into_iter().chain(figures).chain([papers]).collect()
}

/// Returns, for each cost, whether the paper's method estimates it within `part` of its value, and
/// better than two estimates that ignore the message or know only its length: the median cost of
/// these messages, and their median cost per byte.
///
/// # Errors
/// When there are no messages, their lengths were not recorded, or the method lacks a series for
/// its estimates.
pub(crate) fn is_precise<'c>(all: impl Iterator<Item = &'c Comparison>, part: f64) -> Result<Vec<bool>, String> {
    let all: Vec<&Comparison> = all.collect();
    if all.is_empty() {
        return Err("no message was predicted".to_owned());
    }
    if all.iter().any(|it| it.bytes == 0) {
        return Err("the lengths of the messages were not recorded".to_owned());
    }
    let (cost, by_byte) = (median(&all, |it| it.measured), median(&all, |it| it.measured / it.bytes as f64));
    let precise = |it: &&Comparison| {
        let error = it.paper_error()?;
        let of = |estimate: f64| (estimate / it.measured - 1.0).abs();
        Some(error <= part && error < of(cost) && error < of(by_byte * it.bytes as f64))
    };
    all.iter()
        .map(precise)
        .collect::<Option<_>>()
        .ok_or_else(|| "no arrays or strings were measured to estimate by".to_owned())
}

fn median(all: &[&Comparison], of: impl Fn(&Comparison) -> f64) -> f64 {
    statistics::median(all.iter().map(|it| of(it)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_by_activity() {
        let of = |predicted, by_the_paper| Comparison {
            message: String::new(),
            activity: Activity::Serialize,
            bytes: 10,
            predicted,
            margin: 15.0,
            by_the_paper,
            measured: 100.0,
        };
        let grid = errors(&[of(110.0, Some(150.0)), of(120.0, None)]);
        assert_eq!(grid.rows, [["serialize", "2", "15.0 %", "20.0 %", "50.0 %", "50.0 %"]]);
        assert!(errors(&[]).rows.is_empty());
        let unknown = Comparison { bytes: 0, ..of(110.0, Some(110.0)) };
        let precise = is_precise([unknown].iter(), 0.5);
        assert_eq!(precise, Err("the lengths of the messages were not recorded".to_owned()));
    }
}
