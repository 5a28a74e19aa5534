//! `cost`: what messages cost, and what many clients see. The models are in `deltasoap-cost`; this
//! module has arguments, tables and pages.

#[cfg(feature = "archive")]
mod archive;
mod engine;
mod html;
mod load;
mod measure;
mod plan;
mod predict;
mod tables;
mod validate;

use crate::cli::cost::{Calibrated, CostTask, Messages};
use crate::contract::{contract_of, operation};
use crate::output::report;
use anyhow::{Context as _, Result, ensure};
use deltasoap_cost::measure::Deltasoap;
use deltasoap_cost::predict::Sizes;
use deltasoap_cost::{Calibration, Machine, Mode, Model};
use deltasoap_dynamic::Operation;

/// Runs one of the subcommands.
pub async fn run(task: &CostTask) -> Result<()> {
    match task {
        CostTask::Measure(measure) => measure::measure(measure),
        CostTask::Fit(fit) => measure::fit(fit),
        CostTask::Predict(predict) => predict::run(predict),
        CostTask::Validate(check) => validate::run(check),
        #[cfg(feature = "archive")]
        CostTask::Plan(plan) if plan.volume.archive.is_some() => archive::run(plan, &plan.volume),
        CostTask::Plan(plan) => plan::run(plan).await,
    }
}

/// Loads a calibration that is valid here. The calibration of another toolkit is valid for the
/// version that it names, which is not checked.
fn calibration(calibrated: &Calibrated) -> Result<Calibration> {
    let path = &calibrated.calibration;
    let loaded = Calibration::load(path);
    let loaded = loaded.with_context(|| "no usable calibration; `deltasoap cost measure` creates one".to_owned())?;
    let toolkit = if engine::is_ours(&loaded.toolkit.name) { Deltasoap::identity() } else { loaded.toolkit.clone() };
    loaded.check(&Machine::current(), &toolkit).with_context(|| format!("{} cannot be used", path.display()))?;
    if let Some(unfinished) = loaded.unfinished() {
        report(format_args!("{}: {unfinished}", path.display()));
    }
    Ok(loaded)
}

fn sizes(messages: &Messages) -> Result<Sizes> {
    Ok(Sizes {
        lengths: messages.length.iter().cloned().collect(),
        texts: messages.string.iter().cloned().collect(),
        length: messages.default_length,
        text: messages.default_string,
        ..changed_sizes(&messages.changed)?
    })
}

/// Refuses `--changed` if the calibration does not cover changes.
fn check_changes(messages: &Messages, model: &Model) -> Result<()> {
    let is_compared = model.mode == Mode::Differential;
    ensure!(
        is_compared || messages.changed.is_empty(),
        "--changed needs a calibration of differential mode: `deltasoap cost measure --mode differential` creates one"
    );
    Ok(())
}

/// Returns default sizes, with the percentages of the values at and below some paths that change.
fn changed_sizes(percents: &[(String, f64)]) -> Result<Sizes> {
    let is_share = |percent: f64| (0.0..=100.0).contains(&percent);
    ensure!(percents.iter().all(|it| is_share(it.1)), "--changed takes a percentage from 0 to 100");
    let changed = percents.iter().map(|(path, percent)| (path.clone(), percent / 100.0)).collect();
    Ok(Sizes { changed, ..Sizes::default() })
}

/// Returns the requested operation, or all usable operations.
fn operations(messages: &Messages) -> Result<Vec<Operation>> {
    let contract = contract_of(&messages.wsdl, &messages.loading)?;
    let Some(name) = &messages.operation else {
        let mut usable: Vec<_> = contract.operations().into_iter().filter(|it| it.method().is_ok()).collect();
        usable.dedup_by(|a, b| a.name() == b.name());
        return Ok(usable);
    };
    Ok(vec![operation(&contract, &messages.wsdl, name)?])
}
