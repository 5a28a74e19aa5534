//! `cost measure` and `cost fit`.

use super::tables::sheets;
use super::{calibration, html};
use crate::cli::cost::{Fit, Measure};
use anyhow::{Context as _, Result, ensure};
use deltasoap_cost::measure::{self, Deltasoap, Engine, Peer, Plan, Watch};
use deltasoap_cost::workload::Extent;
use deltasoap_cost::{Calibration, CostError, Machine, Model};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

const TEMPLATE: &str = "{msg:>10} [{bar:40}] {pos}/{len} points, {eta} left";

/// Measures, and writes the calibration.
pub fn measure(arguments: &Measure) -> Result<()> {
    let mut engine = engine(arguments)?;
    let extent = if arguments.full { Extent::Full } else { Extent::Sample };
    let plan = Plan { mode: arguments.mode.into(), extent, rounds: arguments.rounds };
    let path = &arguments.calibrated.calibration;
    let begun = begun(arguments, path, engine.as_ref(), plan)?;
    if cfg!(debug_assertions) {
        eprintln!("warning: this program was built without optimization, and so will be what it measures");
    }
    let mut keeper = Keeper { path: path.clone(), bar: bar() };
    let measured = measure::measure(engine.as_mut(), plan, begun, &mut keeper)?;
    keeper.bar.finish_and_clear();
    eprintln!("{} points of {} in {}", measured.points.len(), measured.toolkit.name, path.display());
    show(&measured, arguments.json, arguments.html.as_deref())
}

/// Shows what is fitted.
pub fn fit(arguments: &Fit) -> Result<()> {
    show(&calibration(&arguments.calibrated)?, arguments.json, arguments.html.as_deref())
}

fn show(measured: &Calibration, json: bool, page: Option<&Path>) -> Result<()> {
    let model = Model::fit(measured)?;
    if let Some(path) = page {
        html::calibration(path, measured, &model)?;
    }
    let mut out = io::stdout();
    if json {
        return Ok(writeln!(out, "{}", serde_json::to_string(&model)?)?);
    }
    for sheet in sheets(&model) {
        writeln!(out, "{}\n", sheet.text())?;
    }
    let notes = model.activities.values().flat_map(|fitted| &fitted.notes);
    notes.into_iter().try_for_each(|note| writeln!(out, "note: {note}"))?;
    Ok(())
}

fn engine(arguments: &Measure) -> Result<Box<dyn Engine>> {
    if arguments.engine == Deltasoap::identity().name {
        return Ok(Box::new(Deltasoap::new().context("there is no port to send to")?));
    }
    let program = arguments.peers.join(&arguments.engine).join("peer");
    let name = &arguments.engine;
    ensure!(program.exists(), "{name} is not built: run `cargo xtask peers {name}`, or say where it is with --peers");
    Ok(Box::new(Peer::start(&program)?))
}

/// What was measured before, if it can be gone on with; else nothing.
fn begun(arguments: &Measure, path: &Path, engine: &dyn Engine, plan: Plan) -> Result<Calibration> {
    let (machine, toolkit) = (Machine::here(), engine.toolkit());
    let new = Calibration::new(machine.clone(), toolkit.clone(), plan.mode);
    if arguments.fresh || !path.exists() {
        return Ok(new);
    }
    let known = Calibration::load(path)?;
    let fits = known.check(&machine, &toolkit);
    fits.with_context(|| format!("{} cannot be gone on with; --fresh begins anew", path.display()))?;
    ensure!(known.mode == plan.mode, "{} is of {} mode; --fresh begins anew", path.display(), known.mode);
    Ok(known)
}

/// Shows progress, and keeps what is measured after each round.
struct Keeper {
    path: PathBuf,
    bar: ProgressBar,
}

impl Watch for Keeper {
    fn at(&mut self, done: usize, all: usize) {
        self.bar.set_length(all as u64);
        self.bar.set_position(done as u64);
    }

    fn round(&mut self, calibration: &Calibration) -> Result<(), CostError> {
        calibration.save(&self.path)
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr());
    // The template is a constant that the tests cover.
    let style = ProgressStyle::with_template(TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.with_style(style).with_message("measuring")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_valid() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }
}
