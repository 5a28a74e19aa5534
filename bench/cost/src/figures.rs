//! The figures of Imre et al., drawn from a calibration.

use std::collections::BTreeSet;

use deltasoap_cost::fit::regression::{Coefficient, Regression};
use deltasoap_cost::workload::Class;
use deltasoap_cost::{Activity, ActivityModel, Calibration, Model, Point, Workload};
use deltasoap_report::{Chart, Grid, Line, Mark, number};

use crate::claims::{FIELDS, UNBUFFERED, calculated};

/// Returns Figures 3 to 14. The paper serializes to a socket; we also show serializing to memory.
/// Activities that were not measured are omitted.
pub fn figures(measured: &Calibration, model: &Model) -> Vec<Chart> {
    let mut all = by_array_length(measured);
    all.extend(by_string_length(measured));
    all.extend(of_fields(measured, model));
    all
}

/// Returns Figures 3 and 4.
fn by_array_length(measured: &Calibration) -> Vec<Chart> {
    let charts: [(u32, Activity, &str, Clock); 4] = [
        (3, Activity::Serialize, "", Point::cost),
        (3, Activity::Send, ", processor time", Point::cost),
        (3, Activity::Send, ", elapsed time", |point| point.times().elapsed),
        (4, Activity::Deserialize, "", Point::cost),
    ];
    let is_measured = |activity| measured.points_of(activity).next().is_some();
    let chart = |(number, activity, which, clock): (u32, Activity, &str, Clock)| {
        let title = format!("Figure {number}: {activity}, by array length{which}");
        Chart::lines(title, "items", "µs", array_lines(measured, activity, clock))
    };
    charts.into_iter().filter(|it| is_measured(it.1)).map(chart).collect()
}

/// Selects a time of a point.
type Clock = fn(&Point) -> f64;

/// Returns Figures 5 and 6.
fn by_string_length(measured: &Calibration) -> Vec<Chart> {
    let chart = |(number, most)| {
        let lines = Activity::ALL.map(|activity| text_line(measured, activity, most));
        let lines = lines.into_iter().filter(|line| !line.points.is_empty()).collect();
        Chart::lines(format!("Figure {number}: by string length, up to {most}"), "characters", "µs", lines)
    };
    [(5, 1000), (6, 10_000)].into_iter().map(chart).collect()
}

/// Returns Figures 7 to 14.
fn of_fields(measured: &Calibration, model: &Model) -> Vec<Chart> {
    let of = |activity| model.activities.get(&activity);
    let mut all = Vec::new();
    for (activity, offset) in ACTIVITIES {
        let Some(fitted) = of(activity) else { continue };
        let lines = residual_lines(measured, fitted, activity);
        let title = format!("Figure {}: residuals by number of fields, strings of 100, {activity}", 7 + offset);
        all.push(Chart::lines(title, "fields", "µs", lines));
    }
    for (first, chart_of) in [(9, coefficients as ActivityChart), (11, strings), (13, constants)] {
        for (activity, offset) in ACTIVITIES {
            let Some(chart) = of(activity).and_then(chart_of) else { continue };
            let title = format!("Figure {}: {}, {activity}", first + offset, chart.title);
            all.push(Chart { title, ..chart });
        }
    }
    all
}

/// The activities of Figures 7 to 14, each with its place in a pair of figures.
const ACTIVITIES: [(Activity, u32); 3] = [(Activity::Send, 0), (Activity::Serialize, 0), (Activity::Deserialize, 1)];

type ActivityChart = fn(&ActivityModel) -> Option<Chart>;

fn array_lines(measured: &Calibration, activity: Activity, clock: Clock) -> Vec<Line> {
    let line = |class: Class| {
        let place = |point: &Point| match point.workload {
            Workload::Array { class: of, length, .. } if of == class => Some((f64::from(length), clock(point) / 1e3)),
            _ => None,
        };
        Line {
            name: class.to_string(),
            points: measured.points_of(activity).filter_map(place).collect(),
            mark: Mark::Dots,
        }
    };
    [Class::Int, Class::Double, Class::Text].map(line).into()
}

fn text_line(measured: &Calibration, activity: Activity, most: u32) -> Line {
    let place = |point: &Point| match point.workload {
        Workload::Text { length } if length <= most => Some((f64::from(length), point.cost() / 1e3)),
        _ => None,
    };
    Line {
        name: activity.to_string(),
        points: measured.points_of(activity).filter_map(place).collect(),
        mark: Mark::Dots,
    }
}

/// Returns the residuals of the first composite fit, the one with the shortest strings, by each of
/// its regressors.
fn residual_lines(measured: &Calibration, fitted: &ActivityModel, activity: Activity) -> Vec<Line> {
    let Some((length, fit)) = fitted.composites.first() else { return Vec::new() };
    let counts = measured.points_of(activity).filter_map(|point| match point.workload {
        Workload::Composite { ints, doubles, texts, length: of } if of == *length => Some([ints, doubles, texts]),
        _ => None,
    });
    let points: Vec<_> = counts.zip(&fit.residuals).collect();
    let line = |(at, name): (usize, &str)| Line {
        name: name.to_owned(),
        // Shifted horizontally so that all are visible.
        points: points.iter().map(|(counts, left)| (f64::from(counts[at]) + 0.2 * at as f64, *left / 1e3)).collect(),
        mark: Mark::Dots,
    };
    ["int", "double", "string"].into_iter().enumerate().map(line).collect()
}

/// Figures 9 and 10: coefficients of arrays beside those of composite types, by string length.
fn coefficients(fitted: &ActivityModel) -> Option<Chart> {
    let value = |it: Option<&Coefficient>| it.map_or(f64::NAN, |it| it.value);
    let in_arrays = FIELDS.map(|(_, class)| value(of_items(fitted, class)));
    let of_length = |(length, composite): &(u32, Regression)| {
        let values = FIELDS.map(|(name, _)| value(composite.coefficient(name)));
        (format!("in composite types, strings of {length}"), values.to_vec())
    };
    let in_types: Vec<_> = fitted.composites.iter().map(of_length).collect();
    let groups = FIELDS.map(|(name, _)| name.to_owned()).to_vec();
    let series = [vec![("in arrays".to_owned(), in_arrays.to_vec())], in_types].concat();
    let title = "coefficients in arrays and in composite types";
    (!fitted.composites.is_empty()).then(|| Chart::bars(title, "type of the field", "ns", groups, series))
}

/// Returns the cost of an item of an array.
fn of_items(fitted: &ActivityModel, class: Class) -> Option<&Coefficient> {
    fitted.arrays.iter().find(|(of, _)| *of == class).and_then(|(_, line)| line.coefficients.get(1))
}

/// Returns the coefficients of Figure 9 or 10 with their intervals, which its charts lack; `None`
/// for other figures.
pub(crate) fn intervals(model: &Model, figure: &str) -> Option<Grid> {
    let place = ["Figure 9", "Figure 10"].iter().position(|name| *name == figure)?;
    let drawn = ACTIVITIES.iter().filter(|(_, offset)| *offset as usize == place);
    let fitted: Vec<_> = drawn.filter_map(|(of, _)| Some((of, model.activities.get(of)?))).collect();
    let lengths: BTreeSet<u32> = fitted.iter().flat_map(|(_, it)| &it.composites).map(|(length, _)| *length).collect();
    let show = |it: Option<&Coefficient>| {
        it.map_or_else(String::new, |it| format!("{} ± {}", number(it.value), number(it.margin)))
    };
    let mut rows = Vec::new();
    for (activity, it) in &fitted {
        for (name, class) in FIELDS {
            let in_types = |length: &u32| {
                let fit = it.composites.iter().find(|(of, _)| of == length);
                show(fit.and_then(|(_, fit)| fit.coefficient(name)))
            };
            let mut row = vec![format!("{name}, {activity}"), show(of_items(it, class))];
            row.extend(lengths.iter().map(in_types));
            rows.push(row);
        }
    }
    let types = lengths.iter().map(|length| format!("types, strings of {length}"));
    let header = ["", "arrays"].map(str::to_owned).into_iter().chain(types).collect();
    let title = "Coefficients in arrays and in composite types, with their 95 % intervals (ns)".to_owned();
    (!rows.is_empty()).then_some(Grid { title, header, rows, names: 1 })
}

/// Figures 11 and 12: the coefficient of a string in composite types beside its length times the
/// slope of equation 2; for short strings also with the slope of longer ones.
fn strings(fitted: &ActivityModel) -> Option<Chart> {
    let (Some(texts), false) = (&fitted.texts, fitted.composites.is_empty()) else { return None };
    let value = |it: Option<&Coefficient>| it.map_or(f64::NAN, |it| it.value);
    let by_slope_at = |slope_at: fn(u32) -> u32| {
        let cost = |(length, _): &(u32, Regression)| value(calculated(texts, *length, slope_at(*length)).as_ref());
        fitted.composites.iter().map(cost).collect::<Vec<f64>>()
    };
    let names: Vec<String> = fitted.composites.iter().map(|it| it.0.to_string()).collect();
    let in_types: Vec<f64> = fitted.composites.iter().map(|(_, fit)| value(fit.coefficient("string"))).collect();
    let series = vec![
        ("calculated".to_owned(), by_slope_at(|length| length)),
        (format!("calculated, slope at {UNBUFFERED} or more"), by_slope_at(|length| length.max(UNBUFFERED))),
        ("in composite types".to_owned(), in_types),
    ];
    Some(Chart::bars("coefficients of strings by their length", "characters", "ns", names, series))
}

/// Figures 13 and 14: the constants of all regressions.
fn constants(fitted: &ActivityModel) -> Option<Chart> {
    let arrays = fitted.arrays.iter().map(|(class, line)| (format!("{class}[]"), line.coefficients[0].value));
    let composites =
        fitted.composites.iter().map(|(length, fit)| (format!("types, {length}"), fit.coefficients[0].value));
    let (names, values): (Vec<String>, Vec<f64>) = arrays.chain(composites).unzip();
    Some(Chart::bars("constants", "message", "ns", names, vec![("c0".to_owned(), values)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap_report::Body;
    use std::path::Path;

    const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/deltasoap-cli/tests/data/cost.json");

    fn sample() -> Model {
        Model::fit(&Calibration::load(Path::new(SAMPLE)).unwrap()).unwrap()
    }

    /// Returns the heights of a chart's bars.
    fn bars(chart: &Chart) -> Vec<Vec<f64>> {
        let Body::Bars { series, .. } = &chart.body else { return vec![] };
        series.iter().map(|(_, heights)| heights.clone()).collect()
    }

    #[test]
    fn coefficients_of_all_lengths_are_drawn_and_their_intervals_are_below() {
        let model = sample();
        let fitted = &model.activities[&Activity::Deserialize];
        let chart = coefficients(fitted).unwrap();
        assert_eq!(chart.names()[2], "in composite types, strings of 500");
        assert_eq!((chart.names().len(), bars(&chart)[2].len()), (4, 2));
        let grid = intervals(&model, "Figure 10").unwrap();
        assert_eq!((grid.header.len(), grid.rows.len()), (5, 2));
        assert!(grid.rows.iter().all(|row| row.len() == 5 && row[1..].iter().all(|cell| cell.contains(" ± "))));
        assert!(grid.rows[1][0].starts_with("double, "), "{:?}", grid.rows);
        assert_eq!(intervals(&model, "Figure 9").unwrap().rows.len(), 4);
        assert!(intervals(&model, "Figure 11").is_none());
        let nothing = ActivityModel { composites: vec![], ..fitted.clone() };
        assert!(coefficients(&nothing).is_none() && strings(&nothing).is_none());
    }

    #[test]
    fn strings_are_drawn_with_both_slopes() {
        let mut model = sample();
        let fitted = model.activities.get_mut(&Activity::Send).unwrap();
        let texts = fitted.texts.as_mut().unwrap();
        texts.segments = vec![texts.segments[0].clone(); 2];
        texts.segments[0].to = 256.0;
        texts.segments[1].to = 10_000.0;
        texts.segments[0].line.coefficients[1].value = 0.01;
        texts.segments[1].line.coefficients[1].value = 0.05;
        let heights = bars(&strings(fitted).unwrap());
        let expected = [[1.0, 25.0, 50.0], [5.0, 25.0, 50.0]];
        for (heights, expected) in heights.iter().zip(expected) {
            assert!(heights.iter().zip(expected).all(|(height, it)| (height - it).abs() < 1e-9), "{heights:?}");
        }
        assert_eq!(heights.len(), 3);
    }
}
