//! What is measured for each paper, in which order, and how long it takes.

use std::path::{Path, PathBuf};

use anyhow::Result;
use deltasoap_cost::workload::Extent;
use deltasoap_report::Exhibit;

use super::cost::{self, Cost, Extents};
use super::index::{PAPERS, Work};
use super::{ReproduceArguments, STEP};
use crate::definitions::Definitions;
use crate::paper::scope::Scope;
use crate::paper::{self, Papers, Title};
use crate::progress::{Progress, Step, StepNote, corrected};
use crate::record::{Record, SUITE};
use crate::suite::{self, EngineNote, Environment, Part, Share, Suite};

/// The papers that `paper` draws, by number.
const TITLES: [Title; 3] = Title::ALL;

/// The number of the paper that `suite` draws.
const TOOLKITS: usize = 3;

/// The number of the paper on costs.
const COST: usize = 4;

/// Toolkits of a quick run.
const QUICK: [&str; 3] = ["deltasoap", "gsoap", "node-soap"];

/// All requested measurements.
pub struct Plan<'d> {
    papers: Option<Papers<'d>>,
    /// Numbers of the papers that `papers` draws.
    drawn: Vec<usize>,
    suite: Option<Suite<'d>>,
    cost: Option<Cost>,
}

/// A step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// A stage of the papers that `paper` draws.
    Paper(paper::Stage),
    /// A share of the suite, by index.
    Suite(usize),
    /// A stage of the paper on costs.
    Cost(cost::Stage),
}

impl<'d> Plan<'d> {
    /// Creates the plan of the requested measurements, without those in the record.
    ///
    /// # Errors
    /// When a definition is malformed.
    pub fn new(
        arguments: &ReproduceArguments,
        (definitions, folder, is_pinned): (&'d Definitions, &Path, bool),
        record: &Record,
    ) -> Result<Self> {
        let (is_quick, is_tiny) = (arguments.quick, !arguments.sizes.is_empty());
        let drawn: Vec<usize> = (0..TITLES.len()).filter(|paper| arguments.has(*paper)).collect();
        let titles: Vec<Title> = drawn.iter().map(|paper| TITLES[*paper]).collect();
        let scope = Scope::new(is_quick, &arguments.sizes);
        let repetitions = if is_quick { 2 } else { 3 };
        let peers: (&Definitions, PathBuf) = (definitions, arguments.peers());
        let papers = (!titles.is_empty())
            .then(|| Papers::new(titles, scope, repetitions, is_quick, peers.clone(), record))
            .transpose()?;
        let engines = match (arguments.engines.is_empty(), is_quick) {
            (true, true) => QUICK.map(str::to_owned).to_vec(),
            (true, false) => suite::toolkits_of_the_paper()?,
            (false, _) => arguments.engines.clone(),
        };
        let suite = arguments
            .has(TOOLKITS)
            .then(|| Suite::new(shares(is_quick, is_tiny), engines, peers.clone(), is_pinned))
            .transpose()?;
        let cost = arguments.has(COST).then(|| Cost::new(folder, extents(is_quick, is_tiny)));
        Ok(Plan { papers, drawn, suite, cost })
    }

    /// Returns the unfinished steps, in order.
    ///
    /// # Errors
    /// When a definition has an unknown name.
    pub fn remaining_steps(&self, record: &Record) -> Result<Vec<(Stage, Step)>> {
        let papers = self.papers.iter().flat_map(|papers| papers.remaining_steps(record));
        let mut steps: Vec<(Stage, Step)> = papers.map(|(stage, step)| (Stage::Paper(stage), step)).collect();
        if let Some(suite) = &self.suite {
            steps.extend(suite.remaining_steps(record)?.into_iter().map(|(share, step)| (Stage::Suite(share), step)));
        }
        let cost = self.cost.iter().flat_map(|cost| cost.remaining_steps(record));
        steps.extend(cost.map(|(stage, step)| (Stage::Cost(stage), step)));
        let notes: Vec<StepNote> = record.all(STEP);
        Ok(steps.into_iter().map(|(stage, step)| (stage, corrected(step, &notes))).collect())
    }

    /// Starts the toolkits, if they have work; returns their notes for the record.
    ///
    /// # Errors
    /// When a name is unknown.
    pub fn start(&mut self, record: &Record) -> Result<Option<Vec<EngineNote>>> {
        match &mut self.suite {
            Some(suite) if !suite.remaining_steps(record)?.is_empty() => suite.start().map(Some),
            _ => Ok(None),
        }
    }

    /// Does the rest of a step.
    ///
    /// # Errors
    /// Those of the stage.
    pub fn measure(&mut self, stage: Stage, record: &mut Record, progress: &Progress) -> Result<()> {
        match (stage, &mut self.papers, &mut self.suite, &self.cost) {
            (Stage::Paper(stage), Some(papers), ..) => papers.measure(stage, record, progress),
            (Stage::Suite(share), _, Some(suite), _) => suite.measure(share, record, progress),
            (Stage::Cost(stage), .., Some(cost)) => cost.measure(stage, record, progress),
            _ => Ok(()),
        }
    }

    /// Returns the papers with their exhibits and verdicts. Everything must be measured before.
    ///
    /// # Errors
    /// When a number of a paper is missing.
    pub fn draw(&self, record: &Record, environment: &Environment) -> Result<Vec<Work>> {
        let mut works = Vec::new();
        if let Some(papers) = &self.papers {
            let (exhibits, _) = papers.draw(record)?;
            works.extend(self.drawn.iter().map(|&paper| of_paper(paper, &exhibits)));
        }
        if self.suite.is_some() {
            let exhibits = suite::exhibits(environment, &record.all::<suite::Row>(SUITE))?;
            works.push(Work { paper: TOOLKITS, exhibits });
        }
        if let Some(cost) = &self.cost {
            works.push(Work { paper: COST, exhibits: cost.draw(record)?.0 });
        }
        Ok(works)
    }
}

/// Returns the requested papers, and others that the record has completely.
///
/// # Errors
/// When a definition is malformed.
pub fn drawable(
    arguments: &ReproduceArguments,
    (definitions, folder): (&Definitions, &Path),
    record: &Record,
) -> Result<Vec<u8>> {
    let mut drawable = Vec::new();
    for paper in 0..PAPERS.len() as u8 {
        let alone = ReproduceArguments { papers: vec![paper], ..arguments.clone() };
        let is_there = || {
            Ok::<_, anyhow::Error>(
                Plan::new(&alone, (definitions, folder, false), record)?.remaining_steps(record)?.is_empty(),
            )
        };
        if arguments.has(usize::from(paper)) || is_there()? {
            drawable.push(paper);
        }
    }
    Ok(drawable)
}

/// Returns those exhibits that belong to a paper.
fn of_paper(paper: usize, exhibits: &[Exhibit]) -> Work {
    let is_its = |exhibit: &&Exhibit| exhibit.paper.starts_with(PAPERS[paper]);
    Work { paper, exhibits: exhibits.iter().filter(is_its).cloned().collect() }
}

/// Returns the parts of the suite that the paper shows. A quick run also shows that the other parts
/// work.
fn shares(is_quick: bool, is_tiny: bool) -> Vec<Share> {
    let share = |name, scope, parts: &[Part]| Share { name, scope, parts: parts.to_vec() };
    let exhibits = [Part::Process, Part::Calls];
    let others = [Part::Load, Part::Transport, Part::Ablation];
    match is_quick {
        _ if is_tiny => vec![share("toolkits", suite::Scope::Smoke, &exhibits)],
        true => vec![
            share("toolkits: in memory, calls", suite::Scope::Quick, &exhibits),
            share("toolkits: load, transports, similarity", suite::Scope::Smoke, &others),
        ],
        false => vec![
            share("toolkits: in memory", suite::Scope::Full, &exhibits[..1]),
            share("toolkits: calls", suite::Scope::Full, &exhibits[1..]),
        ],
    }
}

fn extents(is_quick: bool, is_tiny: bool) -> Extents {
    match is_quick {
        _ if is_tiny => Extents { extent: Extent::Few, rounds: 1, calibrations: 1, trials: 1 },
        true => Extents { extent: Extent::Few, rounds: 4, calibrations: 1, trials: 20 },
        false => Extents { extent: Extent::Sample, rounds: 12, calibrations: 3, trials: 200 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    use clap::{Args, Command, FromArgMatches};

    fn plan_of<'d>(line: &[&str], definitions: &'d Definitions, record: &Record) -> Plan<'d> {
        let command = ReproduceArguments::augment_args(Command::new("test").no_binary_name(true));
        let arguments = ReproduceArguments::from_arg_matches(&command.try_get_matches_from(line).unwrap()).unwrap();
        Plan::new(&arguments, (definitions, Path::new("nowhere"), false), record).unwrap()
    }

    fn hours(plan: &Plan<'_>) -> f64 {
        plan.remaining_steps(&Record::default()).unwrap().iter().map(|(_, step)| step.seconds).sum::<f64>() / 3600.0
    }

    /// Work shared by two jobs would be measured once, and count for both.
    #[test]
    fn every_piece_of_work_has_a_key_of_its_own() {
        let (definitions, record) = (Definitions::load().unwrap(), Record::default());
        for line in [&["--full"][..], &["--quick"]] {
            let plan = plan_of(line, &definitions, &record);
            let all = [plan.papers.as_ref().unwrap().keys(), plan.suite.as_ref().unwrap().keys()].concat();
            let different: BTreeSet<&String> = all.iter().collect();
            let twice: Vec<&String> =
                different.iter().copied().filter(|key| all.iter().filter(|it| it == key).count() > 1).collect();
            assert!(twice.is_empty() && all.len() > 300, "{line:?}: {} keys, {twice:?}", all.len());
        }
    }

    #[test]
    fn a_full_run_takes_hours_and_a_quick_one_minutes() {
        let (definitions, record) = (Definitions::load().unwrap(), Record::default());
        let peers = tempfile::tempdir().unwrap();
        for peer in definitions.peers.iter().filter(|peer| peer.missing.is_none()) {
            let program = peers.path().join(&peer.program);
            std::fs::create_dir_all(program.parent().unwrap()).unwrap();
            std::fs::write(program, "").unwrap();
        }
        let built = ["--peers", peers.path().to_str().unwrap()];
        let full = plan_of(&built, &definitions, &record);
        let quick = plan_of(&[&built[..], &["--quick"]].concat(), &definitions, &record);
        // Toolkits that are not built take no time.
        assert!(hours(&plan_of(&["--peers", "nowhere"], &definitions, &record)) < 0.6 * hours(&full));
        assert!((0.8..1.5).contains(&hours(&full)), "{}", hours(&full));
        assert!(hours(&quick) < 10.0 / 60.0, "{}", hours(&quick));
        // Each step can be interrupted, so that none is too long for its users.
        assert!(full.remaining_steps(&record).unwrap().iter().all(|(_, step)| step.pieces >= 1));
    }

    #[test]
    fn a_paper_alone_has_its_steps_alone() {
        let (definitions, record) = (Definitions::load().unwrap(), Record::default());
        let stages = |line: &[&str]| -> Vec<Stage> {
            plan_of(line, &definitions, &record)
                .remaining_steps(&record)
                .unwrap()
                .into_iter()
                .map(|(stage, _)| stage)
                .collect()
        };
        assert!(stages(&["--paper", "3"]).iter().all(|stage| matches!(stage, Stage::Suite(_))));
        assert!(stages(&["--paper", "4"]).iter().all(|stage| matches!(stage, Stage::Cost(_))));
        let of_two = stages(&["--paper", "2", "--quick"]);
        assert!(of_two.contains(&Stage::Paper(paper::Stage::Received)) && of_two.len() == 3, "{of_two:?}");
    }
}
