//! Pages: one file each, that needs nothing else.

use super::claims;
use super::figures::figures;
use super::plan::Curve;
use super::tables::{Sheet, sheets};
use super::validate::activities;
use crate::files;
use anyhow::Result;
use deltasoap_cost::paper::{Printed, printed};
use deltasoap_cost::plan::{Load, Plan};
use deltasoap_cost::validate::Comparison;
use deltasoap_cost::{Activity, Calibration, Model};
use deltasoap_report::{Chart, Line, Mark, Page, claim};
use std::fs;
use std::path::Path;

/// The paper's figures from a calibration, its tables beside the printed ones, and verdicts on its claims.
pub fn calibration(path: &Path, measured: &Calibration, model: &Model) -> Result<()> {
    let printed = printed()?;
    let (machine, toolkit) = (&measured.machine, &measured.toolkit);
    let mut page = Page::new("What messages cost");
    page.paragraph(&format!(
        "{} {}, {} mode, {}, {} cores, {}, {}. Of {} visits of each point the least processor time that can be believed counts.",
        toolkit.name,
        toolkit.version,
        measured.mode,
        machine.processor,
        machine.cores,
        machine.system,
        measured.date,
        measured.rounds
    ));
    page.section("Claims");
    let verdicts = claims::verdicts(model, &printed);
    page.paragraph(&claim::counts(&verdicts));
    page.sheet(&claim::sheet(&printed.source, &verdicts));
    page.section("Figures");
    figures(measured, model).iter().for_each(|chart| page.chart(chart));
    page.section("Tables");
    for (sheet, theirs) in sheets(model).iter().zip(printed_sheets(&printed).into_iter().map(Some).chain([None])) {
        page.grid(&sheet.grid());
        theirs.into_iter().for_each(|theirs| page.grid(&theirs.grid()));
    }
    printed.notes.iter().for_each(|note| page.paragraph(note));
    page.section("Notes");
    model.notes().for_each(|note| page.paragraph(&note));
    write(path, page)
}

/// How far off predictions are.
pub fn validation(path: &Path, all: &[Comparison]) -> Result<()> {
    let of = |activity| all.iter().filter(move |it| it.activity == activity);
    let mut errors = Vec::new();
    for activity in activities(all) {
        let mut sorted: Vec<f64> = of(activity).map(|it| it.error() * 100.0).collect();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().max(2) as f64 - 1.0;
        let points = sorted.into_iter().enumerate().map(|(at, error)| (at as f64 / last * 100.0, error)).collect();
        errors.push(Line { name: activity.to_string(), points, mark: Mark::Line });
    }
    let scatter = |activity: Activity| Line {
        name: activity.to_string(),
        points: of(activity).map(|it| (it.measured / 1e3, it.predicted / 1e3)).collect(),
        mark: Mark::Dots,
    };
    let both = activities(all).map(scatter).collect();
    let mut page = Page::new("Predictions and measurements");
    page.chart(&Chart::lines("Error of so many percent of the predictions", "% of predictions", "error in %", errors));
    page.chart(&Chart::lines("Predicted and measured", "measured, µs", "predicted, µs", both));
    write(path, page)
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
        mark: Mark::Line,
    };
    let stations = plan.outcome.stations.iter().enumerate();
    let busy = stations.map(|(at, it)| line(it.station, &|outcome| outcome.stations[at].utilisation * 100.0)).collect();
    let mut page = Page::new("What many clients see");
    page.chart(&Chart::lines("Response time", x, "ms", vec![line("response time", &|it| it.response * 1e3)]));
    page.chart(&Chart::lines("Throughput", x, "requests a second", vec![line("throughput", &|it| it.throughput)]));
    page.chart(&Chart::lines("Utilisation", x, "% busy", busy));
    write(path, page)
}

fn write(path: &Path, page: Page) -> Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    Ok(files::write(path, page.finish().as_bytes())?)
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
