//! `cost validate`: compares predictions with measurements.

use super::measure::bar;
use super::tables::{percent, table, time, titled};
use super::{calibration, changed_sizes, engine, html};
use crate::cli::cost::Check;
use crate::output::{report, stdout};
use anyhow::{Result, ensure};
use deltasoap_cost::measure::{BackgroundLoad, Engine, LoadMonitor};
use deltasoap_cost::predict::Sizes;
use deltasoap_cost::validate::{
    Comparison, Errors, Trial, coverage, measure_trials, predict_operation, predict_workload,
};
use deltasoap_cost::workload::{Extent, held_out};
use deltasoap_cost::{Machine, Mode, Model};
use deltasoap_cost_report::errors;
use deltasoap_dynamic::Contract;
use serde_json::json;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Number of worst-predicted messages that are printed.
const WORST: usize = 8;
/// Default percentages of the values of operations that change in differential mode.
const CHANGED: &[f64] = &[0.0, 10.0, 50.0];

/// Predicts and measures, and prints how far off predictions are.
pub fn run(arguments: &Check) -> Result<()> {
    let calibration = calibration(&arguments.calibrated)?;
    let mut engine = engine::calibrated(&calibration.toolkit.name, &arguments.peers.peers)?;
    calibration.check(&Machine::current(), &engine.toolkit())?;
    let model = Model::fit(&calibration)?;
    let mut trials = Vec::new();
    if arguments.wsdl.is_empty() {
        trials.extend(unseen_types(&model, engine.as_ref(), arguments.full)?);
    }
    let sizes = sizes(arguments, model.mode)?;
    for path in arguments.wsdl.iter().flat_map(|path| descriptions(path)) {
        trials.extend(operations(&model, &path, arguments.operations, &sizes));
    }
    ensure!(!trials.is_empty(), "there is nothing to validate with");
    let bar = bar("validating");
    bar.set_length(trials.len() as u64 * u64::from(arguments.rounds));
    let count = trials.len();
    let others = LoadMonitor::start(engine.spent());
    let all = measure_trials(engine.as_mut(), model.mode, trials, arguments.rounds, &mut || bar.inc(1))?;
    bar.finish_and_clear();
    let busy = BackgroundLoad::new(others.processors(engine.spent()), calibration.machine.cores);
    if let Some(busy) = busy {
        report(format_args!("warning: {}", busy.warning()));
    }
    let (name, left_out) = (&model.toolkit.name, count - all.len());
    if left_out > 0 {
        report(format_args!("{left_out} of {count} predictions are left out: {name} does not have these messages"));
    }
    ensure!(
        !all.is_empty(),
        "there is nothing to validate with: of suite.wsdl's operations, peers have only those that send structs, events and binary data"
    );
    if let Some(path) = &arguments.html {
        html::validation(path, &model, busy, &all)?;
    }
    if arguments.json { print_json(&all) } else { print(&all) }
}

/// Returns messages that the model was not fitted to: composite types, or changes in differential
/// mode.
fn unseen_types(model: &Model, engine: &dyn Engine, is_full: bool) -> Result<Vec<Trial>> {
    let unseen = held_out(model.mode, if is_full { Extent::Full } else { Extent::Sample });
    let offered: Vec<_> = unseen.iter().filter(|workload| engine.refuses(workload).is_none()).collect();
    ensure!(!offered.is_empty(), "every message of {} was used to fit the model", model.toolkit.name);
    let trials = offered.into_iter().map(|workload| predict_workload(model, workload));
    Ok(trials.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// Returns the file, or the WSDLs below the directory.
fn descriptions(path: &Path) -> Vec<PathBuf> {
    let is_wsdl = |path: &Path| path.extension().is_some_and(|it| it.eq_ignore_ascii_case("wsdl"));
    let all = walkdir::WalkDir::new(path).sort_by_file_name().into_iter().flatten().map(walkdir::DirEntry::into_path);
    all.filter(|found| found.is_file() && (found == path || is_wsdl(found))).collect()
}

/// Returns the sizes of the messages of operations, for each share of changing values.
fn sizes(arguments: &Check, mode: Mode) -> Result<Vec<Sizes>> {
    let percents = &*arguments.changed;
    ensure!(percents.is_empty() || mode == Mode::Differential, "--changed is only for differential mode");
    let percents = match mode {
        Mode::Regular => &[0.0],
        Mode::Differential if percents.is_empty() => CHANGED,
        Mode::Differential => percents,
    };
    let (length, text) = (arguments.default_length, arguments.default_string);
    let of = |&percent: &f64| Ok(Sizes { length, text, ..changed_sizes(&[(String::new(), percent)])? });
    percents.iter().map(of).collect()
}

/// Predicts the first operations of a WSDL; reports those that cannot be predicted.
fn operations(model: &Model, path: &Path, most: usize, sizes: &[Sizes]) -> Vec<Trial> {
    let imported = deltasoap_wsdl::Importer::new().trust_tree().offline().import(&path.to_string_lossy());
    let contract = match imported {
        Ok(import) => Contract::from(import),
        Err(error) => {
            report(format_args!("{}: {error}", path.display()));
            return Vec::new();
        }
    };
    let mut all = Vec::new();
    for operation in contract.operations().iter().filter(|it| it.method().is_ok()).take(most) {
        let trials =
            sizes.iter().map(|sizes| predict_operation(model, operation, sizes)).collect::<Result<Vec<_>, _>>();
        match trials {
            Ok(trials) => all.extend(trials.into_iter().flatten()),
            Err(error) => report(format_args!("{}: {}: {error}", path.display(), operation.full_name())),
        }
    }
    all
}

fn print_json(all: &[Comparison]) -> Result<()> {
    let mut out = stdout();
    all.iter().try_for_each(|it| Ok::<_, anyhow::Error>(writeln!(out, "{}", serde_json::to_string(it)?)?))?;
    let Errors { median_error, p90_error, n } = Errors::of(all.iter().map(Comparison::error));
    let last = json!({ "median_error": median_error, "p90_error": p90_error, "within": coverage(all), "n": n });
    Ok(writeln!(out, "{last}")?)
}

fn print(all: &[Comparison]) -> Result<()> {
    let mut out = stdout();
    writeln!(out, "{}\n", titled(&errors(all)))?;
    let mut worst: Vec<_> = all.iter().collect();
    worst.sort_by(|a, b| b.error().total_cmp(&a.error()));
    let cells = |it: &&Comparison| {
        vec![format!("{}, {}", it.message, it.activity), time(it.predicted), time(it.measured), percent(it.error())]
    };
    let rows: Vec<_> = worst.iter().take(WORST).map(cells).collect();
    Ok(writeln!(out, "{}", table(&["farthest off", "predicted", "measured", "error"], &rows))?)
}
