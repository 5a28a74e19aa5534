//! The paper on cost models: calibrations, in separate files beside the record, and predictions of
//! messages that nothing was fitted to.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use deltasoap_cost::measure::{self, Deltasoap, MeasurementPlan};
use deltasoap_cost::paper::{Printed, printed};
use deltasoap_cost::validate::{Comparison, measure_trials, predict_workload};
use deltasoap_cost::workload::{Extent, held_out};
use deltasoap_cost::{Activity, Calibration, CostError, Machine, Mode, Model};
use deltasoap_cost_report::{errors, exhibits, verdicts};
use deltasoap_report::{Exhibit, Verdict};
use serde::{Deserialize, Serialize};

use crate::environment::program;
use crate::progress::{Progress, Step};
use crate::record::Record;

/// The kind of points of calibrations.
const CALIBRATION: &str = "calibration";
/// Prefix of the names of their files.
const FILE: &str = "calibration-";
/// The kind of predictions.
const TRIAL: &str = "trial";

/// The measurements for the paper.
#[derive(Debug)]
pub struct Cost {
    /// The folder of the record.
    folder: PathBuf,
    extents: Extents,
}

/// A stage of the measurements, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// A calibration.
    Calibration(usize),
    /// Predictions, and measurements of the predicted messages.
    Trials,
}

/// The extent of a record's calibrations.
#[derive(Debug, Clone, Copy)]
pub struct Extents {
    /// The measured subset of the points.
    pub extent: Extent,
    /// Number of visits to each point.
    pub rounds: u32,
    /// Number of calibrations.
    pub calibrations: usize,
    /// Number of predicted messages.
    pub trials: usize,
}

/// A point of a calibration. Keys are in output order.
#[derive(Debug, Serialize)]
struct PointRow {
    repetition: usize,
    message: String,
    activity: Activity,
    bytes: usize,
    batches: usize,
    cpu_ns: Option<f64>,
    elapsed_ns: f64,
}

/// The reason why nothing was predicted.
#[derive(Debug, Serialize, Deserialize)]
struct NoPrediction {
    reason: String,
}

impl Cost {
    /// Creates the measurements for the folder of a record.
    pub fn new(folder: &Path, extents: Extents) -> Self {
        Cost { folder: folder.to_owned(), extents }
    }

    /// Returns the remaining stages.
    pub fn remaining_steps(&self, record: &Record) -> Vec<(Stage, Step)> {
        let mut steps = Vec::new();
        let (points, visits) = if self.extents.extent == Extent::Few { (1000.0, 0.005) } else { (2400.0, 0.005) };
        for at in (0..self.extents.calibrations).filter(|at| !record.has(&calibration_key(*at))) {
            let pieces =
                (self.extents.rounds - self.unfinished_calibration(at).rounds.min(self.extents.rounds)) as usize;
            let name = format!("calibration {} of {}", at + 1, self.extents.calibrations);
            // The last piece is writing it to the record.
            steps.push((Stage::Calibration(at), Step::new(name, pieces + 1, pieces as f64 * points * visits)));
        }
        if !record.has(TRIAL) {
            let seconds = self.extents.trials as f64 * f64::from(self.extents.rounds) * 0.015;
            steps.push((Stage::Trials, Step::new("predictions of costs", 1, seconds)));
        }
        steps
    }

    /// Measures the rest of a stage, into a record. Noise in the times is not an error.
    ///
    /// # Errors
    /// When messages cannot be written or read, the record cannot be written, or the time is up.
    pub fn measure(&self, stage: Stage, record: &mut Record, progress: &Progress) -> Result<()> {
        progress.check_time()?;
        match stage {
            Stage::Calibration(at) => self.calibrate(at, record, progress),
            Stage::Trials => self.predict(record, progress),
        }
    }

    fn calibrate(&self, at: usize, record: &mut Record, progress: &Progress) -> Result<()> {
        let (file, mut calibration) = (self.file(at), self.unfinished_calibration(at));
        while calibration.rounds < self.extents.rounds {
            progress.check_time()?;
            let rounds = calibration.rounds + 1;
            let plan = MeasurementPlan { mode: Mode::Regular, extent: self.extents.extent, rounds, time_limit: None };
            calibration = measure::measure(&mut Deltasoap, plan, calibration, &mut SaveAfterRound(&file))?;
            progress.done();
        }
        let rows: Vec<PointRow> = calibration.points.iter().map(|point| PointRow::new(at, point)).collect();
        record.append(CALIBRATION, &calibration_key(at), &rows)?;
        progress.done();
        Ok(())
    }

    fn predict(&self, record: &mut Record, progress: &Progress) -> Result<()> {
        let model = self.calibration(0).and_then(|calibration| model(&calibration));
        match model {
            Err(reason) => record.append(TRIAL, TRIAL, &[NoPrediction { reason }])?,
            Ok(model) => record.append(TRIAL, TRIAL, &self.compared(&model)?)?,
        }
        progress.done();
        Ok(())
    }

    fn compared(&self, model: &Model) -> Result<Vec<Comparison>> {
        let messages = held_out(Mode::Regular, self.extents.extent).into_iter().take(self.extents.trials);
        let trials = messages.map(|message| predict_workload(model, &message)).collect::<Result<Vec<_>, _>>()?;
        let trials = trials.into_iter().flatten().collect();
        Ok(measure_trials(&mut Deltasoap, Mode::Regular, trials, self.extents.rounds, &mut || ())?)
    }

    /// Returns the paper's tables and figures, and verdicts.
    ///
    /// # Errors
    /// None for the included data.
    pub fn draw(&self, record: &Record) -> Result<(Vec<Exhibit>, Vec<Verdict>)> {
        let printed: Printed = printed()?;
        let calibrations: Vec<Result<Calibration, String>> =
            (0..self.extents.calibrations).map(|at| self.calibration(at)).collect();
        let models: Vec<Result<Model, String>> =
            calibrations.iter().map(|calibration| model(calibration.as_ref().map_err(Clone::clone)?)).collect();
        let missing = record.of::<NoPrediction>(TRIAL).pop().map(|missing| missing.reason);
        let compared: Vec<Comparison> = record.of(TRIAL);
        let predictions = match &missing {
            Some(reason) => Err(reason.clone()),
            None => Ok(compared.clone()),
        };
        let verdicts = verdicts(&models, &predictions, &printed);
        let mut fitted = calibrations
            .iter()
            .zip(&models)
            .filter_map(|(one, model)| Some((one.as_ref().ok()?, model.as_ref().ok()?)));
        let mut all = exhibits(fitted.next(), &verdicts, &printed);
        if let Some(last) = all.last_mut() {
            last.grids.push(errors(&compared));
            last.caption += &missing.map_or_else(String::new, |missing| format!(" Nothing was predicted: {missing}"));
        }
        Ok((all, verdicts))
    }

    fn file(&self, at: usize) -> PathBuf {
        self.folder.join(format!("{FILE}{at}.json"))
    }

    fn calibration(&self, at: usize) -> Result<Calibration, String> {
        Calibration::load(&self.file(at)).map_err(|error| error.to_string())
    }

    /// Returns an unfinished calibration of this machine and program, or a new one.
    fn unfinished_calibration(&self, at: usize) -> Calibration {
        let (machine, toolkit) = (Machine::current(), Deltasoap::identity());
        let known = Calibration::load(&self.file(at)).ok();
        let is_ours = |known: &Calibration| {
            known.check(&machine, &toolkit).is_ok()
                && known.extent == self.extents.extent
                && known.program.as_deref() == Some(program())
        };
        known.filter(is_ours).unwrap_or_else(|| Calibration {
            program: Some(program().to_owned()),
            ..Calibration::new(machine, toolkit, Mode::Regular, self.extents.extent)
        })
    }
}

/// Removes the calibrations of an earlier record in a folder.
///
/// # Errors
/// When they cannot be removed.
pub fn forget(folder: &Path) -> Result<()> {
    let Ok(files) = fs::read_dir(folder) else { return Ok(()) };
    for file in files {
        let file = file.with_context(|| format!("cannot read {}", folder.display()))?;
        if is_calibration(&file.file_name().to_string_lossy()) {
            fs::remove_file(file.path()).with_context(|| format!("cannot remove {}", file.path().display()))?;
        }
    }
    Ok(())
}

/// Returns true for file names of [`Cost::file`].
fn is_calibration(name: &str) -> bool {
    let number = name.strip_prefix(FILE).and_then(|rest| rest.strip_suffix(".json"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()))
}

fn model(calibration: &Calibration) -> Result<Model, String> {
    Model::fit(calibration).map_err(|error| error.to_string())
}

fn calibration_key(at: usize) -> String {
    format!("{CALIBRATION}/{at}")
}

impl PointRow {
    fn new(repetition: usize, point: &deltasoap_cost::Point) -> Self {
        let times = point.times();
        PointRow {
            repetition,
            message: point.workload.to_string(),
            activity: point.activity,
            bytes: point.bytes,
            batches: point.batches.len(),
            cpu_ns: times.cpu,
            elapsed_ns: times.elapsed,
        }
    }
}

/// Saves a calibration after each round.
struct SaveAfterRound<'f>(&'f Path);

impl measure::Progress for SaveAfterRound<'_> {
    fn at(&mut self, _: usize, _: usize) {}

    fn round(&mut self, calibration: &Calibration) -> Result<(), CostError> {
        calibration.save(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_calibration_of_another_program_is_begun_anew_and_of_another_record_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let cost = Cost::new(folder.path(), Extents { extent: Extent::Few, rounds: 4, calibrations: 1, trials: 1 });
        let of = |by: &str| Calibration { rounds: 3, program: Some(by.to_owned()), ..cost.unfinished_calibration(0) };
        for (by, rounds) in [(program(), 3), ("another", 0)] {
            of(by).save(&cost.file(0)).unwrap();
            assert_eq!(cost.unfinished_calibration(0).rounds, rounds, "{by}");
        }
        of(program()).save(&cost.file(7)).unwrap();
        fs::write(folder.path().join("results.jsonl"), "").unwrap();
        forget(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        forget(&folder.path().join("nowhere")).unwrap();
    }
}
