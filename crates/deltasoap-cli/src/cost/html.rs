//! Pages: one file each, that needs nothing else.

use super::chart::{Chart, Line};
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
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::fs;
use std::path::Path;

const STYLE: &str = "
body { font-family: sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; font-size: 90%; }
th, td { padding: .3em .7em; text-align: right; border-bottom: 1px solid #ddd; }
tbody th, th:first-child { text-align: left; font-weight: normal; }
figure { margin: 2em 0; }
figcaption, caption { font-weight: bold; text-align: left; margin: .6em 0; }
svg { max-width: 100%; height: auto; }
.wide { overflow-x: auto; margin: 2em 0; }
p { max-width: 55em; line-height: 1.4; }
";

/// The paper's figures from a calibration, and its tables beside the printed ones.
pub fn calibration(path: &Path, measured: &Calibration, model: &Model) -> Result<()> {
    let printed = printed()?;
    let (machine, toolkit) = (&measured.machine, &measured.toolkit);
    let body = html! {
        p {
            (toolkit.name) " " (toolkit.version) ", " (measured.mode) " mode, " (machine.processor) ", " (machine.cores) " cores, "
            (machine.system) ", " (measured.date) ". Of " (measured.rounds) " visits of each point the least processor time that can be believed counts."
        }
        h2 { "Figures" }
        (figures(measured, model)?)
        h2 { "Tables" }
        @for (sheet, theirs) in sheets(model).iter().zip(printed_sheets(&printed).into_iter().map(Some).chain([None])) {
            (table(sheet))
            @if let Some(theirs) = theirs { (table(&theirs)) }
        }
        @for note in &printed.notes { p { (note) } }
        h2 { "Notes" }
        @for note in model.notes() { p { (note) } }
    };
    write(path, "What messages cost", &body)
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
        errors.push(Line { name: activity.to_string(), points, is_line: true });
    }
    let scatter = |activity: Activity| Line {
        name: activity.to_string(),
        points: of(activity).map(|it| (it.measured / 1e3, it.predicted / 1e3)).collect(),
        is_line: false,
    };
    let both = activities(all).map(scatter).collect();
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
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { main { h1 { (title) } (body) } }
        }
    };
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    Ok(files::write(path, page.into_string().as_bytes())?)
}

fn table(sheet: &Sheet) -> Markup {
    html! {
        div.wide {
            table {
                caption { (sheet.title) }
                thead { tr { @for heading in &sheet.headings { th scope="col" { (heading) } } } }
                tbody { @for cells in &sheet.rows { tr { (row(cells)) } } }
            }
        }
    }
}

fn row(cells: &[String]) -> Markup {
    html! {
        @if let Some((first, others)) = cells.split_first() { th scope="row" { (first) } @for cell in others { td { (cell) } } }
    }
}

/// A chart with a title.
pub fn chart(title: &str, x: &str, y: &str, lines: Vec<Line>) -> Result<Markup> {
    let chart = Chart { x: x.to_owned(), y: y.to_owned(), lines };
    Ok(figure(title, &chart.svg()?))
}

/// A drawing with a title.
pub fn figure(title: &str, svg: &str) -> Markup {
    html! { figure.plot role="img" aria-label=(title) { figcaption { (title) } (PreEscaped(svg)) } }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_no_markup() {
        let evil = "<script>alert(1)</script>\" onload=\"alert(2)";
        let sheet = Sheet { title: evil.to_owned(), headings: vec!["<script>"], rows: vec![vec![evil.to_owned(); 2]] };
        let line = Line { name: evil.to_owned(), points: vec![(1.0, 1.0)], is_line: true };
        let body = html! { (table(&sheet)) (chart(evil, evil, evil, vec![line]).expect("drawn")) };
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("page.html");
        write(&path, evil, &body).expect("written");
        let page = fs::read_to_string(&path).expect("a page");
        assert!(!page.contains("<script") && !page.contains("\" onload=\""), "{page}");
        // The title twice; the caption, a heading and two cells; the figure's label and caption; two axes and a line.
        assert_eq!(page.matches("&lt;script&gt;").count(), 11, "{page}");
    }
}
