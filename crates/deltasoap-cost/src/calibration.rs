//! Calibrations: the measurements, the machine, and the toolkit.
//!
//! A calibration is a JSON file. It is valid only for the machine and the toolkit version that it
//! was measured with; [`Calibration::check`] lists the differences.

use crate::CostError;
use crate::measure::{BackgroundLoad, Times};
use crate::workload::{Extent, Workload, series};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::Path;

/// The version of the file format. Other versions are rejected.
pub const FORMAT: u32 = 5;

/// The part of the file that all format versions share.
#[derive(Deserialize)]
struct Header {
    format: u32,
}

/// Measurements of one toolkit on one machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The file format: [`FORMAT`].
    pub format: u32,
    /// The machine of the measurements.
    pub machine: Machine,
    /// The measured toolkit.
    pub toolkit: Toolkit,
    /// How similar messages are handled.
    pub mode: Mode,
    /// Time at which measuring ended, in ISO 8601.
    pub date: String,
    /// The measured subset of the workloads.
    pub extent: Extent,
    /// Number of visits to each point.
    pub rounds: u32,
    /// Number of visits planned when measuring last began.
    pub planned: u32,
    /// Processors that other programs kept busy during the measurements, averaged over the rounds;
    /// `None` if unknown.
    #[serde(default)]
    pub others: Option<f64>,
    /// A checksum of the measured program, to distinguish its versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The measurements.
    pub points: Vec<Point>,
}

/// A machine, as far as times depend on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The properties of a machine that affect times.
    pub processor: String,
    /// The processor model.
    pub cores: usize,
    /// Number of processors that programs may use.
    pub system: String,
}

/// A toolkit and its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Toolkit {
    /// The toolkit's name.
    pub name: String,
    /// The toolkit's version, with the build where that matters.
    pub version: String,
}

/// How similar messages are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Each message is processed in full.
    Regular,
    /// Each message is compared with the previous one.
    Differential,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::Regular => "regular",
            Mode::Differential => "differential",
        })
    }
}

/// An operation on a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activity {
    /// From values to bytes in memory.
    Serialize,
    /// From values to the return of the last system call that sends part of the message, over
    /// loopback.
    Send,
    /// From bytes in memory to values.
    Deserialize,
}

impl Activity {
    /// Every activity.
    pub const ALL: [Activity; 3] = [Activity::Serialize, Activity::Send, Activity::Deserialize];
}

impl fmt::Display for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Activity::Serialize => "serialize",
            Activity::Send => "serialize to socket",
            Activity::Deserialize => "deserialize",
        })
    }
}

/// One measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "PointLine", into = "PointLine")]
pub struct Point {
    /// The message.
    pub workload: Workload,
    /// The operation on the message.
    pub activity: Activity,
    /// Times of one message, one entry per batch, of all visits.
    pub batches: Vec<Times>,
    /// Size of the message in bytes.
    pub bytes: usize,
}

/// A [`Point`] as stored in a file: one list of batch times per clock. The processor times are
/// empty for a toolkit that does not report them.
#[derive(Serialize, Deserialize)]
struct PointLine {
    workload: Workload,
    activity: Activity,
    cpu: Vec<Option<f64>>,
    elapsed: Vec<f64>,
    bytes: usize,
}

impl From<PointLine> for Point {
    fn from(PointLine { workload, activity, cpu, elapsed, bytes }: PointLine) -> Point {
        let cpu = cpu.into_iter().chain(std::iter::repeat(None));
        let batches = cpu.zip(elapsed).map(|(cpu, elapsed)| Times { cpu, elapsed }).collect();
        Point { workload, activity, batches, bytes }
    }
}

impl From<Point> for PointLine {
    fn from(Point { workload, activity, batches, bytes }: Point) -> PointLine {
        let cpu = batches.iter().map(|times| times.cpu).collect();
        let elapsed = batches.iter().map(|times| times.elapsed).collect();
        PointLine { workload, activity, cpu, elapsed, bytes }
    }
}

impl Point {
    /// The smallest credible times.
    pub fn times(&self) -> Times {
        Times::least(&self.batches)
    }

    /// The cost used by the models, in nanoseconds.
    pub fn cost(&self) -> f64 {
        self.times().cost()
    }
}

/// A calibration that ended early: its predictions are less certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Unfinished {
    /// Number of finished rounds.
    pub rounds: u32,
    /// Number of planned rounds.
    pub planned: u32,
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "only {} of {} rounds were measured; measure again to continue", self.rounds, self.planned)
    }
}

/// A difference between a calibration and the current machine or toolkit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The property that differs.
    pub what: &'static str,
    /// The value in the calibration.
    pub calibrated: String,
    /// The current value.
    pub current: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {} here and {} in the file", self.what, self.current, self.calibrated)
    }
}

impl Machine {
    /// Returns the current machine.
    pub fn current() -> Self {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        Machine {
            processor: processor(&cpuinfo).unwrap_or("unknown").to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        }
    }
}

/// Returns the processor model from the text of `/proc/cpuinfo`.
fn processor(cpuinfo: &str) -> Option<&str> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, model)| model.trim())
}

impl Calibration {
    /// Creates a calibration without points.
    pub fn new(machine: Machine, toolkit: Toolkit, mode: Mode, extent: Extent) -> Self {
        let mut new = Calibration {
            format: FORMAT,
            machine,
            toolkit,
            mode,
            date: String::new(),
            extent,
            rounds: 0,
            planned: 0,
            others: None,
            program: None,
            points: Vec::new(),
        };
        new.end_round(0);
        new
    }

    /// Sets the number of finished rounds, and the date.
    pub fn end_round(&mut self, rounds: u32) {
        self.rounds = rounds;
        self.date = jiff::Zoned::now().strftime("%Y-%m-%d").to_string();
    }

    /// Adds the load of other programs during the round that just ended. Call it before
    /// [`Self::end_round`] counts the round.
    pub fn note_others(&mut self, others: Option<f64>) {
        let before = f64::from(self.rounds);
        let mean = |known: f64, new: f64| (known * before + new) / (before + 1.0);
        self.others = self.others.zip(others).map(|(known, new)| mean(known, new)).or(self.others).or(others);
    }

    /// Returns the progress if measuring has not finished.
    pub fn unfinished(&self) -> Option<Unfinished> {
        let Calibration { rounds, planned, .. } = *self;
        (rounds < planned).then_some(Unfinished { rounds, planned })
    }

    /// Returns the load of other programs if it makes the times doubtful.
    pub fn busy(&self) -> Option<BackgroundLoad> {
        BackgroundLoad::new(self.others, self.machine.cores)
    }

    /// Reads a calibration file.
    ///
    /// # Errors
    /// When the file does not exist, is not a calibration, or has points that no calibration
    /// measures. Messages are built from the points, at the sizes the points give.
    pub fn load(path: &Path) -> Result<Self, CostError> {
        let file = |source| CostError::File { path: path.to_owned(), source };
        let text = fs::read_to_string(path).map_err(file)?;
        let format = |source| CostError::Format { path: path.to_owned(), source };
        let Header { format: found } = serde_json::from_str(&text).map_err(format)?;
        if found != FORMAT {
            let (calibrated, current) = (found.to_string(), FORMAT.to_string());
            return Err(CostError::Different(vec![Difference { what: "the format", calibrated, current }]));
        }
        let read: Calibration = serde_json::from_str(&text).map_err(format)?;
        match read.unknown_point() {
            Some(point) => Err(CostError::UnknownPoint { path: path.to_owned(), point: point.workload.to_string() }),
            None => Ok(read),
        }
    }

    /// Returns a point that no calibration has.
    fn unknown_point(&self) -> Option<&Point> {
        let known: BTreeSet<Workload> = series(self.mode, Extent::Full).into_iter().collect();
        let is_time = |time: f64| time.is_finite() && time >= 0.0;
        let are_times = |times: &Times| is_time(times.elapsed) && times.cpu.is_none_or(is_time);
        let is_known = |point: &&Point| {
            !point.batches.is_empty() && point.batches.iter().all(are_times) && known.contains(&point.workload)
        };
        self.points.iter().find(|point| !is_known(point))
    }

    /// Writes the file atomically.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), CostError> {
        let format = |source| CostError::Format { path: path.to_owned(), source };
        let text = serde_json::to_string(self).map_err(format)?.replace("},{\"workload\"", "},\n{\"workload\"");
        let partial = path.with_extension("partial");
        let written = fs::write(&partial, text).and_then(|()| fs::rename(&partial, path));
        written.map_err(|source| CostError::File { path: path.to_owned(), source })
    }

    /// Rejects a calibration of another machine or toolkit.
    ///
    /// # Errors
    /// [`CostError::Different`] with all differences.
    pub fn check(&self, machine: &Machine, toolkit: &Toolkit) -> Result<(), CostError> {
        let pairs = [
            ("the format", self.format.to_string(), FORMAT.to_string()),
            ("the processor", self.machine.processor.clone(), machine.processor.clone()),
            ("the number of cores", self.machine.cores.to_string(), machine.cores.to_string()),
            ("the system", self.machine.system.clone(), machine.system.clone()),
            ("the toolkit", self.toolkit.name.clone(), toolkit.name.clone()),
            ("the toolkit's version", self.toolkit.version.clone(), toolkit.version.clone()),
        ];
        let differs = |(what, calibrated, current): (_, String, String)| {
            (calibrated != current).then_some(Difference { what, calibrated, current })
        };
        let differences: Vec<_> = pairs.into_iter().filter_map(differs).collect();
        if differences.is_empty() { Ok(()) } else { Err(CostError::Different(differences)) }
    }

    /// Returns the points of an activity.
    pub fn points_of(&self, activity: Activity) -> impl Iterator<Item = &Point> {
        self.points.iter().filter(move |point| point.activity == activity)
    }

    /// Adds points; times of known points are appended.
    pub fn merge(&mut self, points: Vec<Point>) {
        let key = |point: &Point| (point.workload.clone(), point.activity);
        let mut places: BTreeMap<_, _> = self.points.iter().enumerate().map(|(at, point)| (key(point), at)).collect();
        for point in points {
            match places.get(&key(&point)) {
                Some(&at) => self.points[at].batches.extend(point.batches),
                None => {
                    places.insert(key(&point), self.points.len());
                    self.points.push(point);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Class;

    fn calibration() -> Calibration {
        let machine = Machine { processor: "P".into(), cores: 2, system: "linux x86_64".into() };
        let toolkit = Toolkit { name: "deltasoap".into(), version: "1".into() };
        Calibration::new(machine, toolkit, Mode::Regular, Extent::Few)
    }

    fn point(cpu: Option<f64>, elapsed: f64) -> Point {
        let workload = Workload::Array { class: Class::Int, length: 10, text: 0 };
        Point { workload, activity: Activity::Serialize, batches: vec![Times { cpu, elapsed }], bytes: 10 }
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("c.json");
        let mut written = calibration();
        written.merge(vec![point(Some(1.5), 2.0)]);
        written.merge(vec![point(None, 3.0)]);
        written.save(&path).expect("written");
        assert_eq!(Calibration::load(&path).expect("read"), written);
        fs::write(&path, "{}").expect("written");
        assert!(matches!(Calibration::load(&path), Err(CostError::Format { .. })));
        assert!(matches!(Calibration::load(&directory.path().join("none")), Err(CostError::File { .. })));
    }

    #[test]
    fn points_that_are_never_measured_are_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("c.json");
        let load = |point: Point| {
            let mut written = calibration();
            written.merge(vec![point]);
            written.save(&path).expect("written");
            Calibration::load(&path)
        };
        let huge = Workload::Array { class: Class::Int, length: u32::MAX, text: 0 };
        let deep = Workload::Nested { breadth: 1, depth: 1_000_000 };
        for workload in [huge, deep] {
            let error = load(Point { workload, ..point(None, 1.0) }).expect_err("refused").to_string();
            assert!(error.contains("is not a point of a calibration"), "{error}");
        }
        assert!(load(point(Some(-1.0), 1.0)).is_err() && load(point(None, -1.0)).is_err());
        assert!(load(point(Some(0.0), 1.0)).is_ok());
        assert!(load(Point { batches: Vec::new(), ..point(None, 1.0) }).is_err(), "never visited");
        fs::write(&path, r#"{"format":1,"anything":"else"}"#).expect("written");
        let error = Calibration::load(&path).expect_err("refused").to_string();
        assert!(error.contains("the format is 5 here and 1 in the file"), "{error}");
    }

    #[test]
    fn every_extent_can_be_read() {
        for mode in [Mode::Regular, Mode::Differential] {
            for extent in [Extent::Few, Extent::Sample] {
                let points = series(mode, extent).into_iter().map(|workload| Point { workload, ..point(None, 1.0) });
                let all = Calibration { mode, extent, points: points.collect(), ..calibration() };
                assert_eq!(all.unknown_point(), None, "{mode}");
            }
        }
    }

    #[test]
    fn what_others_did_is_the_mean_of_all_rounds() {
        let mut it = calibration();
        for (round, others) in [Some(1.0), None, Some(0.25)].into_iter().enumerate() {
            it.note_others(others);
            it.end_round(round as u32 + 1);
        }
        assert_eq!(it.others, Some(0.75));
        let text = it.busy().expect("it was busy").to_string();
        assert_eq!(text, "other programs kept 0.75 of 2 processors busy");
        it.others = Some(0.1);
        assert_eq!(it.busy(), None);
    }

    #[test]
    fn what_differs_is_said() {
        let mine = calibration();
        assert!(mine.check(&mine.machine, &mine.toolkit).is_ok());
        let other = Machine { processor: "Q".into(), ..mine.machine.clone() };
        let newer = Toolkit { version: "2".into(), ..mine.toolkit.clone() };
        let error = mine.check(&other, &newer).expect_err("another machine").to_string();
        assert!(error.contains("the processor is Q here and P in the file"), "{error}");
        assert!(error.contains("the toolkit's version is 2 here and 1 in the file"), "{error}");
        assert!(!error.contains("cores"), "{error}");
    }

    /// The thread clock may step: one batch that is too short does not lower the cost forever.
    #[test]
    fn all_times_stay_and_a_glitch_is_not_the_cost() {
        let mut it = calibration();
        for cpu in [27.0, 9.4, 28.0, 27.5] {
            it.merge(vec![point(Some(cpu), 28.5)]);
        }
        it.merge(vec![point(None, 10.0)]);
        assert_eq!((it.points.len(), it.points[0].batches.len()), (1, 5));
        assert_eq!((it.points[0].cost(), it.points[0].times().elapsed), (27.0, 28.5));
        assert_eq!(point(None, 7.0).cost(), 7.0);
    }

    #[test]
    fn a_calibration_that_ended_early_says_so() {
        let mut it = Calibration { planned: 12, ..calibration() };
        it.end_round(3);
        let text = it.unfinished().expect("it ended early").to_string();
        assert_eq!(text, "only 3 of 12 rounds were measured; measure again to continue");
        it.end_round(12);
        assert_eq!(it.unfinished(), None);
    }

    #[test]
    fn the_processor_is_found() {
        assert_eq!(processor("x: y\nmodel name\t: Some CPU\n"), Some("Some CPU"));
        assert_eq!(processor(""), None);
        assert!(Machine::current().cores > 0);
    }
}
