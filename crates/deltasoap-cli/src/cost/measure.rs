//! `cost measure` and `cost fit`.

use super::tables::titled;
use super::{calibration, engine, html};
use crate::cli::cost::{Fit, Measure};
use crate::output::{report, stdout};
use anyhow::{Context as _, Result, ensure};
use deltasoap_cost::measure::{self, Engine, MeasurementPlan, Progress};
use deltasoap_cost::paper::printed;
use deltasoap_cost::workload::{Extent, series};
use deltasoap_cost::{Calibration, CostError, Machine, Mode, Model};
use deltasoap_cost_report::{tables, verdicts};
use deltasoap_report::claim;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

const TEMPLATE: &str = "{msg:>10} [{bar:40}] {pos}/{len} points, {eta} left";

/// Measures, and writes the calibration.
pub fn measure(arguments: &Measure) -> Result<()> {
    let mut engine = engine::named(&arguments.engine, &arguments.peers.peers)?;
    let plan = plan_of(arguments);
    refused(engine.as_ref(), plan)?;
    let path = &arguments.calibrated.calibration;
    let begun = begun(arguments, path, engine.as_ref(), plan)?;
    if cfg!(debug_assertions) {
        report("warning: this program was built without optimization, which affects all measurements");
    }
    let mut keeper = Keeper { path: path.clone(), bar: bar("measuring") };
    let measured = measure::measure(engine.as_mut(), plan, begun, &mut keeper)?;
    keeper.bar.finish_and_clear();
    report(format_args!("{} points of {} in {}", measured.points.len(), measured.toolkit.name, path.display()));
    show(&measured, arguments.json, arguments.html.as_deref())
}

/// Shows what was fitted.
pub fn fit(arguments: &Fit) -> Result<()> {
    let path = &arguments.calibrated.calibration;
    let measured = if arguments.elsewhere { Calibration::load(path)? } else { calibration(&arguments.calibrated)? };
    show(&measured, arguments.json, arguments.html.as_deref())
}

/// The reason for a missing verdict on predictions if only a calibration is available.
pub const UNPREDICTED: &str = "nothing was predicted, as `deltasoap cost validate` does";

fn show(measured: &Calibration, json: bool, page: Option<&Path>) -> Result<()> {
    let model = Model::fit(measured)?;
    if let Some(path) = page {
        html::calibration(path, measured, &model)?;
    }
    let mut out = stdout();
    if json {
        return Ok(writeln!(out, "{}", serde_json::to_string(&model)?)?);
    }
    for table in tables(&model) {
        writeln!(out, "{}\n", titled(&table))?;
    }
    let verdicts = verdicts(&[Ok(model.clone())], &Err(UNPREDICTED.to_owned()), &printed()?);
    writeln!(out, "{}\n{}\n", claim::grid("", &verdicts).markdown(), claim::counts(&verdicts))?;
    Ok(model.notes().try_for_each(|note| writeln!(out, "note: {note}"))?)
}

fn plan_of(arguments: &Measure) -> MeasurementPlan {
    let extent = match (arguments.full, arguments.few) {
        (true, _) => Extent::Full,
        (_, true) => Extent::Few,
        _ => Extent::Sample,
    };
    let plan = MeasurementPlan { mode: arguments.mode.into(), extent, ..MeasurementPlan::default() };
    match arguments.rounds {
        Some(rounds) => MeasurementPlan { rounds, time_limit: None, ..plan },
        None => plan,
    }
}

/// Reports which messages the toolkit cannot be measured with, and why.
fn refused(toolkit: &dyn Engine, plan: MeasurementPlan) -> Result<()> {
    let name = toolkit.toolkit().name;
    ensure!(engine::is_ours(&name) || plan.mode == Mode::Regular, "{name} has no differential mode");
    let all = series(plan.mode, plan.extent);
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    all.iter()
        .filter_map(|workload| toolkit.refuses(workload))
        .for_each(|reason| *reasons.entry(reason).or_default() += 1);
    let left = all.len() - reasons.values().sum::<usize>();
    for (reason, count) in &reasons {
        report(format_args!("{count} of {} messages are left out: {reason}", all.len()));
    }
    ensure!(left > 0, "{name} has no messages that can be measured in {} mode", plan.mode);
    Ok(())
}

/// Loads the earlier measurements if the run can continue them, or starts with none.
fn begun(arguments: &Measure, path: &Path, engine: &dyn Engine, plan: MeasurementPlan) -> Result<Calibration> {
    let (machine, toolkit) = (Machine::current(), engine.toolkit());
    let new = Calibration::new(machine.clone(), toolkit.clone(), plan.mode, plan.extent);
    if arguments.fresh || !path.exists() {
        return Ok(new);
    }
    let mut known = Calibration::load(path)?;
    let fits = known.check(&machine, &toolkit);
    fits.with_context(|| format!("{} cannot be continued; --fresh starts over", path.display()))?;
    ensure!(known.mode == plan.mode, "{} is of {} mode; --fresh starts over", path.display(), known.mode);
    if known.extent != plan.extent {
        // The measurements are kept, but other points have not been visited yet.
        (known.extent, known.rounds) = (plan.extent, 0);
    }
    Ok(known)
}

/// Shows progress, and saves the measurements after each round.
struct Keeper {
    path: PathBuf,
    bar: ProgressBar,
}

impl Progress for Keeper {
    fn at(&mut self, done: usize, all: usize) {
        self.bar.set_length(all as u64);
        self.bar.set_position(done as u64);
    }

    fn round(&mut self, calibration: &Calibration) -> Result<(), CostError> {
        calibration.save(&self.path)
    }
}

/// Creates a progress bar over points.
pub fn bar(message: &'static str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr());
    // The template is a constant that the tests cover.
    let style = ProgressStyle::with_template(TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.with_style(style).with_message(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_valid() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }
}
