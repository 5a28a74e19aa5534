//! The figures of Imre et al., drawn from a calibration.

use deltasoap_cost::fit::regression::Regression;
use deltasoap_cost::workload::Class;
use deltasoap_cost::{Activity, ActivityModel, Calibration, Model, Point, Workload};
use deltasoap_report::{Chart, Line, Mark};

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
    let activities = [(Activity::Send, 0), (Activity::Serialize, 0), (Activity::Deserialize, 1)];
    let mut all = Vec::new();
    for (activity, offset) in activities {
        let Some(fitted) = of(activity) else { continue };
        let lines = residual_lines(measured, fitted, activity);
        let title = format!("Figure {}: residuals by number of fields, strings of 100, {activity}", 7 + offset);
        all.push(Chart::lines(title, "fields", "µs", lines));
    }
    for (first, chart_of) in [(9, coefficients as ActivityChart), (11, strings), (13, constants)] {
        for (activity, offset) in activities {
            let Some(chart) = of(activity).and_then(chart_of) else { continue };
            let title = format!("Figure {}: {}, {activity}", first + offset, chart.title);
            all.push(Chart { title, ..chart });
        }
    }
    all
}

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

/// Figures 9 and 10: coefficients of arrays beside those of composite types.
fn coefficients(fitted: &ActivityModel) -> Option<Chart> {
    let (_, composite) = fitted.composites.first()?;
    let slope =
        |class: Class| fitted.arrays.iter().find(|it| it.0 == class).map_or(0.0, |it| it.1.coefficients[1].value);
    let of = |name: &str| composite.coefficient(name).map_or(0.0, |it| it.value);
    let series = vec![
        ("in arrays".to_owned(), vec![slope(Class::Int), slope(Class::Double)]),
        ("in composite types".to_owned(), vec![of("int"), of("double")]),
    ];
    let groups = ["int", "double"].map(str::to_owned).to_vec();
    Some(Chart::bars("coefficients in arrays and in composite types", "ns", groups, series))
}

/// Figures 11 and 12: the coefficient of a string in composite types beside its length times the
/// slope of equation 2.
fn strings(fitted: &ActivityModel) -> Option<Chart> {
    let (Some(texts), false) = (&fitted.texts, fitted.composites.is_empty()) else { return None };
    let segment = |length: f64| texts.segments.iter().find(|it| length <= it.to).or(texts.segments.last());
    let slope =
        |length: u32| segment(f64::from(length)).map_or(0.0, |it| it.line.coefficients[1].value * f64::from(length));
    let names: Vec<String> = fitted.composites.iter().map(|it| it.0.to_string()).collect();
    let calculated: Vec<f64> = fitted.composites.iter().map(|it| slope(it.0)).collect();
    let of = |it: &(u32, Regression)| it.1.coefficient("string").map_or(0.0, |it| it.value);
    let in_composites: Vec<f64> = fitted.composites.iter().map(of).collect();
    let series = vec![("calculated".to_owned(), calculated), ("in composite types".to_owned(), in_composites)];
    Some(Chart::bars("coefficients of strings by their length", "ns", names, series))
}

/// Figures 13 and 14: the constants of all regressions.
fn constants(fitted: &ActivityModel) -> Option<Chart> {
    let arrays = fitted.arrays.iter().map(|(class, line)| (format!("{class}[]"), line.coefficients[0].value));
    let composites =
        fitted.composites.iter().map(|(length, fit)| (format!("types, {length}"), fit.coefficients[0].value));
    let (names, values): (Vec<String>, Vec<f64>) = arrays.chain(composites).unzip();
    Some(Chart::bars("constants", "ns", names, vec![("c0".to_owned(), values)]))
}
