//! Pages: one file each, that needs nothing else.

use super::chart::{Chart, Line};
use super::plan::Curve;
use super::tables::{Sheet, sheets};
use crate::demo::plot::{self, DIFFERENTIAL, REGULAR, Series};
use anyhow::Result;
use deltasoap_cost::paper::{Printed, printed};
use deltasoap_cost::plan::{Load, Plan};
use deltasoap_cost::validate::Comparison;
use deltasoap_cost::workload::Class;
use deltasoap_cost::{Activity, ActivityModel, Calibration, Model, Workload};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::fs;
use std::path::Path;

const STYLE: &str = "
body { font-family: sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; font-size: 90%; }
th, td { padding: .3em .7em; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; }
svg { max-width: 100%; height: auto; }
p { max-width: 55em; line-height: 1.4; }
";

/// The paper's figures from a calibration, and its tables beside the printed ones.
pub fn calibration(path: &Path, measured: &Calibration, model: &Model) -> Result<()> {
    let printed = printed()?;
    let (machine, toolkit) = (&measured.machine, &measured.toolkit);
    let body = html! {
        p {
            (toolkit.name) " " (toolkit.version) ", " (measured.mode) " mode, " (machine.processor) ", " (machine.cores) " cores, "
            (machine.system) ", " (measured.date) ". Of " (measured.rounds) " visits of each point the least processor time is kept."
        }
        (figures(measured, model)?)
        @for (sheet, theirs) in sheets(model).iter().zip(printed_sheets(&printed).into_iter().map(Some).chain([None])) {
            (table(sheet))
            @if let Some(theirs) = theirs { (table(&theirs)) }
        }
        @for note in &printed.notes { p { (note) } }
        h2 { "Notes" }
        @for note in model.activities.values().flat_map(|fitted| &fitted.notes) { p { (note) } }
    };
    write(path, "What messages cost", &body)
}

/// How far off predictions are.
pub fn validation(path: &Path, all: &[Comparison]) -> Result<()> {
    let of = |activity| all.iter().filter(move |it| it.activity == activity);
    let mut errors = Vec::new();
    for activity in [Activity::Serialize, Activity::Deserialize] {
        let mut sorted: Vec<f64> = of(activity).map(|it| it.error() * 100.0).collect();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().max(2) as f64 - 1.0;
        let points = sorted.into_iter().enumerate().map(|(at, error)| (at as f64 / last * 100.0, error)).collect();
        errors.push(Line { name: activity.to_string(), points, is_line: true });
    }
    let scatter = |activity: Activity| Line {
        name: activity.to_string(),
        points: of(activity).map(|it| (it.measured / 1e3, it.predicted / 1e3)).collect(),
        is_line: false,
    };
    let both = vec![scatter(Activity::Serialize), scatter(Activity::Deserialize)];
    let body = html! {
        (chart("Error of so many percent of the predictions", "% of predictions", "error in %", errors)?)
        (chart("Predicted and measured", "measured, µs", "predicted, µs", both)?)
    };
    write(path, "Predictions and measurements", &body)
}

/// A plan as curves over the load.
pub fn plan(path: &Path, plan: &Plan, curve: &Curve) -> Result<()> {
    let x = match plan.load {
        Load::Closed { .. } => "clients",
        Load::Open { .. } => "requests a second",
    };
    let line = |name: &str, of: &dyn Fn(&deltasoap_cost::plan::Outcome) -> f64| Line {
        name: name.to_owned(),
        points: curve.iter().map(|(x, outcome)| (*x, of(outcome))).collect(),
        is_line: true,
    };
    let stations = plan.outcome.stations.iter().enumerate();
    let busy = stations.map(|(at, it)| line(it.station, &|outcome| outcome.stations[at].utilisation * 100.0)).collect();
    let body = html! {
        (chart("Response time", x, "ms", vec![line("response time", &|it| it.response * 1e3)])?)
        (chart("Throughput", x, "requests a second", vec![line("throughput", &|it| it.throughput)])?)
        (chart("Utilisation", x, "% busy", busy)?)
    };
    write(path, "What many clients see", &body)
}

fn write(path: &Path, title: &str, body: &Markup) -> Result<()> {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head { meta charset="utf-8"; title { (title) } style { (PreEscaped(STYLE)) } }
            body { h1 { (title) } (body) }
        }
    };
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    Ok(fs::write(path, page.into_string())?)
}

fn table(sheet: &Sheet) -> Markup {
    html! {
        h2 { (sheet.title) }
        table {
            thead { tr { @for heading in &sheet.headings { th { (heading) } } } }
            tbody { @for cells in &sheet.rows { tr { @for cell in cells { td { (cell) } } } } }
        }
    }
}

fn chart(title: &str, x: &str, y: &str, lines: Vec<Line>) -> Result<Markup> {
    let chart = Chart { x: x.to_owned(), y: y.to_owned(), lines };
    Ok(html! { h2 { (title) } (PreEscaped(chart.svg()?)) })
}

/// The tables as printed, in the paper's milliseconds.
fn printed_sheets(printed: &Printed) -> Vec<Sheet> {
    let title = |number| format!("Table {number} as printed (ms; {})", printed.machine);
    let one = printed.table1.iter().map(|it| vec![it.0.clone(), it.1.to_string(), it.2.to_string(), it.3.to_string()]);
    let two = printed.table2.iter();
    let two = two.map(|it| vec![it.0.clone(), it.1.clone(), it.2.to_string(), it.3.to_string(), it.4.to_string()]);
    let three = printed.table3.iter().map(|it| {
        let numbers = [it.2, it.3, it.4, it.5, it.6].map(|number| number.to_string());
        let f = format!("{} ({:.3e} by R²)", it.7, Printed::f_of(it.6));
        [it.0.clone(), it.1.to_string()].into_iter().chain(numbers).chain([f]).collect()
    });
    vec![
        Sheet { title: title(1), headings: vec!["", "c0", "c1", "R²"], rows: one.collect() },
        Sheet { title: title(2), headings: vec!["", "l", "c0", "c1", "R²"], rows: two.collect() },
        Sheet {
            title: title(3),
            headings: vec!["", "l", "c0", "int", "double", "string", "R²", "F"],
            rows: three.collect(),
        },
    ]
}

/// Figures 3 to 14.
fn figures(measured: &Calibration, model: &Model) -> Result<Markup> {
    let of = |activity| model.activities.get(&activity);
    let both = [(Activity::Serialize, 0), (Activity::Deserialize, 1)];
    let mut all = Vec::new();
    for (activity, offset) in both {
        let title = format!("Figure {}: {activity}, by array length", 3 + offset);
        all.push(chart(&title, "items", "µs", array_lines(measured, activity))?);
    }
    for (number, most) in [(5, 1000), (6, 10_000)] {
        let lines = both.iter().map(|&(activity, _)| text_line(measured, activity, most)).collect();
        all.push(chart(&format!("Figure {number}: by string length"), "characters", "µs", lines)?);
    }
    for (activity, offset) in both {
        let Some(fitted) = of(activity) else { continue };
        let lines = residual_lines(measured, fitted, activity);
        let title = format!("Figure {}: residuals by number of fields, strings of 100, {activity}", 7 + offset);
        all.push(chart(&title, "fields", "µs", lines)?);
    }
    for (first, of_figure) in [(9, coefficients as OfFigure), (11, strings), (13, constants)] {
        for (activity, offset) in both {
            let Some((title, svg)) = of(activity).map(of_figure).transpose()?.flatten() else { continue };
            all.push(html! { h2 { "Figure " (first + offset) ": " (title) ", " (activity) } (PreEscaped(svg)) });
        }
    }
    Ok(html! { @for figure in all { (figure) } })
}

type OfFigure = fn(&ActivityModel) -> Result<Option<(&'static str, String)>>;

fn array_lines(measured: &Calibration, activity: Activity) -> Vec<Line> {
    let line = |class: Class| {
        let place = |point: &deltasoap_cost::Point| match point.workload {
            Workload::Array { class: of, length, .. } if of == class => Some((f64::from(length), point.cost() / 1e3)),
            _ => None,
        };
        Line { name: class.to_string(), points: measured.of(activity).filter_map(place).collect(), is_line: false }
    };
    [Class::Int, Class::Double, Class::Text].map(line).into()
}

fn text_line(measured: &Calibration, activity: Activity, most: u32) -> Line {
    let place = |point: &deltasoap_cost::Point| match point.workload {
        Workload::Text { length } if length <= most => Some((f64::from(length), point.cost() / 1e3)),
        _ => None,
    };
    Line { name: activity.to_string(), points: measured.of(activity).filter_map(place).collect(), is_line: false }
}

/// The residuals of the first composite fit, whose strings are shortest, by each of its regressors.
fn residual_lines(measured: &Calibration, fitted: &ActivityModel, activity: Activity) -> Vec<Line> {
    let Some((length, fit)) = fitted.composites.first() else { return Vec::new() };
    let counts = measured.of(activity).filter_map(|point| match point.workload {
        Workload::Composite { ints, doubles, texts, length: of } if of == *length => Some([ints, doubles, texts]),
        _ => None,
    });
    let points: Vec<_> = counts.zip(&fit.residuals).collect();
    let line = |(at, name): (usize, &str)| Line {
        name: name.to_owned(),
        // Beside each other, that all can be seen.
        points: points.iter().map(|(counts, left)| (f64::from(counts[at]) + 0.2 * at as f64, *left / 1e3)).collect(),
        is_line: false,
    };
    ["int", "double", "string"].into_iter().enumerate().map(line).collect()
}

/// Figures 9 and 10: coefficients of arrays beside those of composite types.
fn coefficients(fitted: &ActivityModel) -> Result<Option<(&'static str, String)>> {
    let Some((_, composite)) = fitted.composites.first() else { return Ok(None) };
    let slope =
        |class: Class| fitted.arrays.iter().find(|it| it.0 == class).map_or(0.0, |it| it.1.coefficients[1].value);
    let of = |name: &str| composite.coefficient(name).map_or(0.0, |it| it.value);
    let series = [
        series("in arrays", REGULAR, [slope(Class::Int), slope(Class::Double)]),
        series("in composite types", DIFFERENTIAL, [of("int"), of("double")]),
    ];
    Ok(Some(("coefficients in arrays and in composite types", plot::bars("ns", &["int", "double"], &series)?)))
}

/// Figures 11 and 12: a string's coefficient in composite types beside its length times the slope of equation 2.
fn strings(fitted: &ActivityModel) -> Result<Option<(&'static str, String)>> {
    let (Some(texts), false) = (&fitted.texts, fitted.composites.is_empty()) else { return Ok(None) };
    let segment = |length: f64| texts.segments.iter().find(|it| length <= it.to).or(texts.segments.last());
    let slope =
        |length: u32| segment(f64::from(length)).map_or(0.0, |it| it.line.coefficients[1].value * f64::from(length));
    let names: Vec<String> = fitted.composites.iter().map(|it| it.0.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let calculated: Vec<f64> = fitted.composites.iter().map(|it| slope(it.0)).collect();
    let of =
        |it: &(u32, deltasoap_cost::fit::regression::Regression)| it.1.coefficient("string").map_or(0.0, |it| it.value);
    let in_composites: Vec<f64> = fitted.composites.iter().map(of).collect();
    let series = [series("calculated", REGULAR, calculated), series("in composite types", DIFFERENTIAL, in_composites)];
    Ok(Some(("coefficients of strings by their length", plot::bars("ns", &names, &series)?)))
}

/// Figures 13 and 14: the constants of all regressions.
fn constants(fitted: &ActivityModel) -> Result<Option<(&'static str, String)>> {
    let arrays = fitted.arrays.iter().map(|(class, line)| (format!("{class}[]"), line.coefficients[0].value));
    let composites =
        fitted.composites.iter().map(|(length, fit)| (format!("types, {length}"), fit.coefficients[0].value));
    let (names, values): (Vec<String>, Vec<f64>) = arrays.chain(composites).unzip();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Ok(Some(("constants", plot::bars("ns", &names, &[series("c0", DIFFERENTIAL, values)])?)))
}

fn series(label: &'static str, color: plotters::style::RGBColor, values: impl Into<Vec<f64>>) -> Series {
    Series { label, color, values: values.into() }
}
