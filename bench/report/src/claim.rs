//! Claims of papers, and verdicts on them.
//!
//! A claim has the paper's number, its sizes and a [`Test`]. It is judged only on the paper's
//! sizes; if a run lacks them, the verdict is [`Outcome::NotMeasured`], with the reason. A claim
//! about each of many sizes can be refuted by some of them, but confirmed only by all. Each
//! repetition is judged separately; if they disagree, the verdict is [`Outcome::Unstable`].

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use crate::number::{number, size_names};
use crate::statistics::Interval;
use crate::table::{Emphasis, Grid, Sheet};
use crate::test::{Evidence, Test};

/// A testable claim of a paper.
#[derive(Debug, Clone, Serialize)]
pub struct Claim {
    /// Key, unique among the claims of its paper.
    pub key: String,
    /// Short name of the paper.
    pub paper: String,
    /// The place in the paper.
    pub place: String,
    /// The claim in one sentence, or a name for the comparison.
    pub statement: String,
    /// The printed number.
    pub printed: Printed,
    /// The sizes that the claim is about.
    pub sizes: Sizes,
    /// The kind of numbers.
    pub basis: Basis,
    /// The test that decides whether our numbers agree.
    #[serde(rename = "agrees_if", serialize_with = "as_text")]
    pub test: Test,
    /// The known reason for a difference, if there is one.
    pub because: Option<String>,
}

/// The kind of a claim's numbers.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Times: the outcome may depend on the machine.
    #[default]
    Times,
    /// Counts and bytes: the same on every machine.
    Counts,
}

/// The printed values of a paper.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Printed {
    /// A number.
    Number(f64),
    /// A range of numbers.
    Range(f64, f64),
    /// Text only, or a whole table.
    Text,
}

/// The message sizes of a claim.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Sizes {
    /// All of these sizes are needed.
    All(Vec<usize>),
    /// The claim holds for each of these sizes: some of them can refute it, but only all can
    /// confirm it.
    Each(Vec<usize>),
    /// The claim is not about sizes.
    None,
}

/// The outcome of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Our numbers agree in each repetition.
    Agrees,
    /// Our numbers differ in each repetition.
    Differs,
    /// Our numbers agree in some repetitions and differ in others.
    Unstable,
    /// We have no numbers, or they agree at only some of the necessary sizes.
    NotMeasured,
}

/// The outcome of a claim, and the evidence for it.
#[derive(Debug, Clone, Serialize)]
pub struct Verdict {
    /// The claim.
    #[serde(flatten)]
    pub claim: Claim,
    /// The sizes measured for the claim.
    pub sizes_run: Vec<usize>,
    /// The deciding number: the median, minimum and maximum of the repetitions.
    pub ours: Option<Interval>,
    /// The value that the number must exceed: see [`Finding::bar`](crate::test::Finding::bar).
    pub bar: Option<f64>,
    /// True for each repetition whose numbers agreed.
    pub repetitions: Vec<bool>,
    /// The outcome.
    pub outcome: Outcome,
    /// The reason why it was not measured, or not at enough sizes.
    pub reason: Option<String>,
}

/// Finds the evidence for a claim at these sizes, or returns why there is none.
type FindEvidence<'a, D> = Box<dyn Fn(&D, &[usize]) -> Result<Evidence, String> + 'a>;

/// A claim with the function that finds its evidence.
pub struct Registered<'a, D> {
    /// The claim.
    pub claim: Claim,
    /// The sizes of a run.
    available: Vec<usize>,
    find: FindEvidence<'a, D>,
}

impl<'a, D> Registered<'a, D> {
    /// Creates a claim whose evidence comes from measurements of the given sizes.
    pub fn new(
        claim: Claim,
        available: &[usize],
        find: impl Fn(&D, &[usize]) -> Result<Evidence, String> + 'a,
    ) -> Self {
        Registered { claim, available: available.to_vec(), find: Box::new(find) }
    }

    /// Judges each repetition. If one of them has no evidence, the claim counts as not measured.
    pub fn judge<'d>(&self, repetitions: impl IntoIterator<Item = &'d D>) -> Verdict
    where
        D: 'd,
    {
        let empty = |sizes_run, reason: String| Verdict {
            claim: self.claim.clone(),
            sizes_run,
            ours: None,
            bar: None,
            repetitions: vec![],
            outcome: Outcome::NotMeasured,
            reason: Some(reason),
        };
        let sizes = match self.claim.sizes.run(&self.available) {
            Ok(sizes) => sizes,
            Err(reason) => return empty(vec![], reason),
        };
        let mut findings = Vec::new();
        for data in repetitions {
            let found = (self.find)(data, &sizes).map(|evidence| self.claim.test.judge(&evidence));
            match found {
                Ok(Some(finding)) => findings.push(finding),
                Ok(None) => return empty(sizes, "too few numbers".to_owned()),
                Err(reason) => return empty(sizes, reason),
            }
        }
        let repetitions: Vec<bool> = findings.iter().map(|finding| finding.agrees).collect();
        let Some(outcome) = outcome(&repetitions) else { return empty(sizes, "nothing was run".to_owned()) };
        let values: Vec<f64> = findings.iter().map(|finding| finding.value).collect();
        let bar = findings.iter().filter_map(|finding| finding.bar).reduce(f64::max);
        let ours = Interval::from_numbers(&values);
        let reason = self.claim.sizes.doubt(&sizes, outcome);
        let outcome = if reason.is_some() { Outcome::NotMeasured } else { outcome };
        Verdict { claim: self.claim.clone(), sizes_run: sizes, ours, bar, repetitions, outcome, reason }
    }
}

fn outcome(repetitions: &[bool]) -> Option<Outcome> {
    let agreeing = repetitions.iter().filter(|agrees| **agrees).count();
    match agreeing {
        _ if repetitions.is_empty() => None,
        0 => Some(Outcome::Differs),
        _ if agreeing == repetitions.len() => Some(Outcome::Agrees),
        _ => Some(Outcome::Unstable),
    }
}

impl Sizes {
    /// Returns the sizes of a run that count for the claim.
    ///
    /// # Errors
    /// When these are not enough, with the reason.
    pub fn run(&self, available: &[usize]) -> Result<Vec<usize>, String> {
        let wanted = match self {
            Sizes::None => return Ok(vec![]),
            Sizes::All(sizes) | Sizes::Each(sizes) => sizes,
        };
        let common: Vec<usize> = wanted.iter().copied().filter(|size| available.contains(size)).collect();
        let least = if matches!(self, Sizes::All(_)) { wanted.len() } else { 1 };
        if common.len() < least {
            return Err(format!("the paper's sizes are {}, this run has {}", list(wanted), list(available)));
        }
        Ok(common)
    }

    /// Returns why an outcome at some sizes proves nothing about all of them.
    fn doubt(&self, run: &[usize], outcome: Outcome) -> Option<String> {
        let Sizes::Each(wanted) = self else { return None };
        let is_open = run.len() < wanted.len() && outcome != Outcome::Differs;
        is_open.then(|| {
            format!("{outcome} at {} of the paper's {} sizes, which confirms nothing", run.len(), wanted.len())
        })
    }
}

fn list(sizes: &[usize]) -> String {
    if sizes.is_empty() { "none".to_owned() } else { size_names(sizes).join(", ") }
}

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Printed::Number(value) => f.write_str(&number(value)),
            Printed::Range(low, high) => write!(f, "{} to {}", number(low), number(high)),
            Printed::Text => Ok(()),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Outcome::Agrees => "agrees",
            Outcome::Differs => "differs",
            Outcome::Unstable => "unstable",
            Outcome::NotMeasured => "not measured",
        })
    }
}

impl Verdict {
    /// Returns the reason: what is missing, or the known reason for a difference.
    pub fn why(&self) -> &str {
        let because = self.claim.because.as_deref().filter(|_| self.outcome != Outcome::Agrees);
        self.reason.as_deref().or(because).unwrap_or_default()
    }

    fn cells(&self) -> Vec<String> {
        let claim = &self.claim;
        let interval = |ours: Interval| format!("{} to {}", number(ours.low), number(ours.high));
        vec![
            claim.statement.clone(),
            self.outcome.to_string(),
            claim.place.clone(),
            claim.printed.to_string(),
            self.ours.map_or_else(String::new, |ours| number(ours.median)),
            self.ours.filter(|_| self.repetitions.len() > 1).map_or_else(String::new, interval),
            self.bar.map_or_else(String::new, number),
            size_names(&self.sizes_run).join(", "),
            claim.test.to_string(),
            self.why().to_owned(),
        ]
    }
}

/// What matters comes first: a screen may be too narrow for all.
const HEADER: [&str; 10] =
    ["compared", OUTCOME, "place", "theirs", "ours", "range", "to beat", "sizes", "agrees if", "why"];
const OUTCOME: &str = "outcome";

/// Returns all verdicts as a table, without empty columns.
pub fn grid(title: &str, verdicts: &[Verdict]) -> Grid {
    let rows = verdicts.iter().map(Verdict::cells).collect();
    without_empty_columns(Grid { title: title.to_owned(), header: HEADER.map(str::to_owned).into(), rows, names: 1 })
}

fn without_empty_columns(grid: Grid) -> Grid {
    let is_filled = |column: usize| column < grid.names || grid.rows.iter().any(|cells| !cells[column].is_empty());
    let filled: Vec<usize> = (0..grid.header.len()).filter(|&column| is_filled(column)).collect();
    let pick = |cells: &Vec<String>| filled.iter().map(|&column| cells[column].clone()).collect();
    Grid { header: pick(&grid.header), rows: grid.rows.iter().map(pick).collect(), ..grid }
}

/// Returns verdicts on several papers as a table with a row for every claim.
pub fn short(verdicts: &[Verdict]) -> Grid {
    let row = |verdict: &Verdict| [vec![verdict.claim.paper.clone()], verdict.cells()].concat();
    let header = ["paper"].iter().chain(&HEADER).map(|&name| name.to_owned()).collect();
    let rows = verdicts.iter().map(row).collect();
    without_empty_columns(Grid { title: "Outcome of each claim".to_owned(), header, rows, names: 2 })
}

/// Returns [`grid`] for a page.
pub fn sheet(title: &str, verdicts: &[Verdict]) -> Sheet {
    colored(&grid(title, verdicts), verdicts)
}

/// Returns [`short`] for a page.
pub fn short_sheet(verdicts: &[Verdict]) -> Sheet {
    colored(&short(verdicts), verdicts)
}

fn colored(grid: &Grid, verdicts: &[Verdict]) -> Sheet {
    let mut sheet = Sheet::from(grid);
    let Some(outcome) = grid.header.iter().position(|name| name == OUTCOME) else { return sheet };
    for (cells, verdict) in sheet.rows.iter_mut().zip(verdicts) {
        cells[outcome].mark = match verdict.outcome {
            Outcome::Agrees => Emphasis::Good,
            Outcome::Differs | Outcome::Unstable => Emphasis::Bad,
            Outcome::NotMeasured => Emphasis::None,
        };
    }
    sheet
}

/// Returns the number of verdicts by outcome, as one sentence.
pub fn counts<'v>(verdicts: impl IntoIterator<Item = &'v Verdict>) -> String {
    let all: Vec<&Verdict> = verdicts.into_iter().collect();
    format!("Of {} claims, {}.", all.len(), outcomes(all).join(", "))
}

/// Returns the number of verdicts of each outcome that occurs, in words.
pub fn outcomes<'v>(verdicts: impl IntoIterator<Item = &'v Verdict>) -> Vec<String> {
    let mut counts = [0; 4];
    verdicts.into_iter().for_each(|verdict| counts[verdict.outcome as usize] += 1);
    let of_one = ["agrees", "differs", "is unstable", "was not measured"];
    let of_more = ["agree", "differ", "are unstable", "were not measured"];
    let text = |(count, (one, more)): (usize, (&str, &str))| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{count} {more}")),
    };
    counts.into_iter().zip(of_one.into_iter().zip(of_more)).filter_map(text).collect()
}

fn as_text<S: Serializer>(test: &Test, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(test)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(sizes: Sizes) -> Claim {
        Claim {
            key: "speed".to_owned(),
            paper: "A paper".to_owned(),
            place: "section 4".to_owned(),
            statement: "times as fast".to_owned(),
            printed: Printed::Range(1.24, 1.76),
            sizes,
            basis: Basis::Times,
            test: Test::Range { low: 1.24, high: 1.76 },
            because: Some("another machine".to_owned()),
        }
    }

    fn judged(sizes: Sizes, available: &[usize], repetitions: &[f64]) -> Verdict {
        Registered::new(claim(sizes), available, |data: &f64, _: &[usize]| Ok(Evidence::from(*data))).judge(repetitions)
    }

    #[test]
    fn repetitions_that_do_not_come_to_the_same_are_unstable() {
        let outcome = |repetitions: &[f64]| judged(Sizes::None, &[], repetitions).outcome;
        assert_eq!(outcome(&[1.3, 1.5, 1.7]), Outcome::Agrees);
        assert_eq!(outcome(&[2.0, 2.1, 1.8]), Outcome::Differs);
        assert_eq!(outcome(&[1.7, 1.8, 1.7]), Outcome::Unstable);
        assert_eq!(outcome(&[1.7, f64::NAN]), Outcome::NotMeasured);
        assert_eq!(outcome(&[]), Outcome::NotMeasured);
    }

    #[test]
    fn a_claim_is_judged_on_the_papers_sizes_alone() {
        let all = Sizes::All(vec![50_000, 100_000]);
        let lacking = judged(all.clone(), &[1000, 50_000], &[1.5]);
        assert_eq!(lacking.outcome, Outcome::NotMeasured);
        assert_eq!(lacking.why(), "the paper's sizes are 50K, 100K, this run has 1K, 50K");
        assert_eq!(judged(all, &[1000, 50_000, 100_000], &[1.5]).sizes_run, [50_000, 100_000]);
        let each = Sizes::Each(vec![1000, 10_000, 100_000]);
        assert_eq!(judged(each.clone(), &[10, 1000], &[1.5]).sizes_run, [1000]);
        assert_eq!(judged(each, &[10], &[1.5]).outcome, Outcome::NotMeasured);
    }

    #[test]
    fn some_sizes_refute_and_do_not_confirm() {
        let (each, some) = (|| Sizes::Each(vec![1000, 10_000, 100_000]), [1000, 100_000]);
        let partial = judged(each(), &some, &[1.5, 1.6]);
        assert_eq!((partial.outcome, &partial.repetitions), (Outcome::NotMeasured, &vec![true, true]));
        assert_eq!(partial.why(), "agrees at 2 of the paper's 3 sizes, which confirms nothing");
        assert_eq!(partial.ours.map(|ours| ours.median), Some(1.55));
        assert_eq!(
            judged(each(), &some, &[1.5, 2.0]).why(),
            "unstable at 2 of the paper's 3 sizes, which confirms nothing"
        );
        assert_eq!(judged(each(), &some, &[2.0, 2.1]).outcome, Outcome::Differs);
        let complete = judged(each(), &[10, 1000, 10_000, 100_000], &[1.5]);
        assert_eq!((complete.outcome, complete.why()), (Outcome::Agrees, ""));
    }

    #[test]
    fn a_verdict_shows_the_interval_and_its_reason() {
        let verdict = judged(Sizes::None, &[], &[2.0, 2.4, 1.9]);
        let text = grid("Claims", std::slice::from_ref(&verdict)).markdown();
        for part in ["1.24 to 1.76", " 2.00 ", "1.90 to 2.40", "differs", "another machine"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("to beat"), "{text}");
        let json = serde_json::to_value(&verdict).unwrap();
        assert_eq!((&json["key"], &json["outcome"]), (&"speed".into(), &"differs".into()));
        assert_eq!((json["ours"]["low"].as_f64(), json["printed"][1].as_f64()), (Some(1.9), Some(1.76)));
        assert_eq!((&json["agrees_if"], &json["basis"]), (&"1.24 to 1.76".into(), &"times".into()));
        assert!(judged(Sizes::None, &[], &[1.5]).why().is_empty());
    }

    #[test]
    fn all_outcomes_are_counted() {
        let verdicts = [&[1.5][..], &[9.0], &[1.5, 9.0], &[]].map(|numbers| judged(Sizes::None, &[], numbers));
        assert_eq!(counts(&verdicts), "Of 4 claims, 1 agrees, 1 differs, 1 is unstable, 1 was not measured.");
        assert_eq!(outcomes(&[verdicts[1].clone(), verdicts[1].clone()]), ["2 differ"]);
    }
}
