//! HTML pages, each one self-contained file.

use super::measure::UNPREDICTED;
use super::plan::{Curve, Validation, about_tests, changes, load_tests, others, stations, summary};
use crate::files::write_page;
use anyhow::Result;
use deltasoap_cost::measure::BackgroundLoad;
use deltasoap_cost::paper::printed;
use deltasoap_cost::plan::{Answer, CapacityPlan, Load};
use deltasoap_cost::validate::Comparison;
use deltasoap_cost::{Activity, Calibration, Machine, Model};
use deltasoap_cost_report::{activities, errors, exhibits, verdicts};
use deltasoap_report::{Chart, Line, Mark, Page, claim};
use std::path::Path;

/// Writes the paper's figures from a calibration, its tables next to the printed ones, and verdicts
/// on its claims.
pub fn calibration(path: &Path, measured: &Calibration, model: &Model) -> Result<()> {
    let printed = printed()?;
    let (machine, toolkit) = (&measured.machine, &measured.toolkit);
    let mut page = page("What messages cost", model);
    page.paragraph(&format!(
        "{} {}, {} mode, {}, {} cores, {}, {}. The smallest credible processor time of {} visits of each point counts.",
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
    let verdicts = verdicts(&[Ok(model.clone())], &Err(UNPREDICTED.to_owned()), &printed);
    page.paragraph(&claim::counts(&verdicts));
    page.sheet(&claim::sheet("Outcome of each claim", &verdicts));
    page.section("Tables and figures");
    exhibits(Some((measured, model)), &verdicts, &printed).iter().for_each(|exhibit| page.exhibit(exhibit));
    page.section("Notes");
    model.notes().for_each(|note| page.paragraph(&note));
    write_page(path, page)
}

/// Creates a page that is based on a model.
fn page(title: &str, model: &Model) -> Page {
    let mut page = Page::new(title);
    model.busy.iter().for_each(|busy| page.warning(&busy.warning()));
    page
}

/// Writes how far off predictions are.
pub fn validation(path: &Path, model: &Model, busy: Option<BackgroundLoad>, all: &[Comparison]) -> Result<()> {
    let of = |activity| all.iter().filter(move |it| it.activity == activity);
    let mut lines = Vec::new();
    for activity in activities(all) {
        let mut sorted: Vec<f64> = of(activity).map(|it| it.error() * 100.0).collect();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().max(2) as f64 - 1.0;
        let points = sorted.into_iter().enumerate().map(|(at, error)| (at as f64 / last * 100.0, error)).collect();
        lines.push(Line { name: activity.to_string(), points, mark: Mark::Line });
    }
    let scatter = |activity: Activity| Line {
        name: activity.to_string(),
        points: of(activity).map(|it| (it.measured / 1e3, it.predicted / 1e3)).collect(),
        mark: Mark::Dots,
    };
    let both = activities(all).map(scatter).collect();
    let mut page = page("Predictions and measurements", model);
    busy.iter().for_each(|busy| page.warning(&busy.warning()));
    page.section("All predictions");
    page.grid(&errors(all));
    page.chart(&Chart::lines("How many predictions are how far off", "% of predictions", "error in %, at most", lines));
    page.chart(&Chart::lines("Predicted and measured times", "measured, µs", "predicted, µs", both));
    write_page(path, page)
}

/// Writes a plan as curves over the load.
pub fn plan(
    path: &Path,
    model: &Model,
    plan: &CapacityPlan,
    answers: &[Answer],
    curve: &Curve,
    observed: Option<&Validation>,
) -> Result<()> {
    let x = match plan.load {
        Load::Closed { .. } => "clients",
        Load::Open { .. } => "requests a second",
    };
    let line = |name: &str, of: &dyn Fn(&deltasoap_cost::plan::Outcome) -> f64| Line {
        name: name.to_owned(),
        points: curve.iter().map(|(x, outcome)| (*x, of(outcome))).collect(),
        mark: Mark::Line,
    };
    let all = plan.outcome.stations.iter().enumerate();
    let busy = all.map(|(at, it)| line(it.station, &|outcome| outcome.stations[at].utilisation * 100.0)).collect();
    let mut page = page("What many clients see", model);
    summary(plan).iter().for_each(|sentence| page.paragraph(sentence));
    page.section("Tables");
    page.grid(&stations(&plan.outcome));
    page.grid(&changes(answers));
    if let Some(observed) = observed {
        page.section("Load tests");
        others(observed, Machine::current().cores).iter().for_each(|busy| page.warning(busy));
        page.grid(&load_tests(observed));
        page.paragraph(&about_tests(observed));
    }
    page.section("Growing load");
    page.chart(&Chart::lines("Response time", x, "ms", vec![line("response time", &|it| it.response * 1e3)]));
    page.chart(&Chart::lines("Throughput", x, "requests a second", vec![line("throughput", &|it| it.throughput)]));
    page.chart(&Chart::lines("Utilisation", x, "% busy", busy));
    write_page(path, page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_validation_warns_if_the_machine_was_busy() {
        let measured: Calibration = serde_json::from_str(include_str!("../../tests/data/cost.json")).expect("JSON");
        let model = Model::fit(&measured).expect("a model");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("page.html");
        for (busy, is_warned) in [(BackgroundLoad::new(Some(1.5), 2), true), (None, false)] {
            validation(&path, &model, busy, &[]).expect("written");
            let html = std::fs::read_to_string(&path).expect("a page");
            assert_eq!(html.contains("kept 1.50 of 2 processors busy"), is_warned, "{html}");
        }
    }
}
