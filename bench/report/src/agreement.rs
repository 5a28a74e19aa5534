//! Compares the verdicts of two machines.
//!
//! Outcomes are compared claim by claim, and so are the intervals of the deciding numbers. Counts
//! and bytes depend only on the code, so a difference is an error; times depend on the machine, so
//! a difference is only reported.

use serde::{Deserialize, Serialize};

use crate::claim::{Basis, Outcome};
use crate::number::number;
use crate::statistics::Interval;
use crate::table::Grid;

/// A verdict as stored in a record.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Recorded {
    /// Short name of the paper.
    pub paper: String,
    /// Key, unique among the claims of the paper.
    pub key: String,
    /// The paper's claim.
    pub statement: String,
    /// The kind of numbers.
    pub basis: Basis,
    /// Measured sizes.
    pub sizes_run: Vec<usize>,
    /// The deciding number.
    pub ours: Option<Interval>,
    /// The outcome.
    pub outcome: Outcome,
}

/// A claim on two machines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Agreement {
    /// The paper.
    pub paper: String,
    /// The claim.
    pub key: String,
    /// The kind of numbers.
    pub basis: Basis,
    /// The outcome here.
    pub here: Outcome,
    /// The outcome there.
    pub there: Outcome,
    /// The deciding number here.
    pub ours: Option<Interval>,
    /// The deciding number there.
    pub theirs: Option<Interval>,
    /// The relation of both.
    pub relation: Relation,
}

/// The relation of a claim on one machine to the same claim on another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// The outcomes are the same, and the intervals overlap.
    Same,
    /// The outcomes are the same, and the intervals do not overlap.
    OtherNumber,
    /// The outcomes differ.
    OtherOutcome,
    /// One of them has no number, or the sizes differ.
    Incomparable,
}

/// Relative tolerance: counts of timed streams are averages over as many messages as time allowed,
/// and differ by less than this.
const SLACK: f64 = 0.01;

/// Compares the claims that both have, in the order of the first.
pub fn compare(here: &[Recorded], there: &[Recorded]) -> Vec<Agreement> {
    let pair = |one: &Recorded| {
        let other = there.iter().find(|other| (&other.paper, &other.key) == (&one.paper, &one.key))?;
        Some(Agreement {
            paper: one.paper.clone(),
            key: one.key.clone(),
            basis: one.basis,
            here: one.outcome,
            there: other.outcome,
            ours: one.ours,
            theirs: other.ours,
            relation: relation(one, other),
        })
    };
    here.iter().filter_map(pair).collect()
}

/// Returns the claims about counts that were measured there and not here, of the papers that are
/// here.
pub fn missing<'t>(here: &[Recorded], there: &'t [Recorded]) -> Vec<&'t Recorded> {
    let is_here = |it: &Recorded| here.iter().any(|one| one.paper == it.paper);
    let is_measured = |it: &Recorded| it.basis == Basis::Counts && it.outcome != Outcome::NotMeasured;
    let has = |it: &Recorded| here.iter().any(|one| is_measured(one) && (&one.paper, &one.key) == (&it.paper, &it.key));
    there.iter().filter(|it| is_measured(it) && is_here(it) && !has(it)).collect()
}

/// Compares two records of a claim. Claims measured at none of the paper's sizes are compared by
/// their numbers.
fn relation(one: &Recorded, other: &Recorded) -> Relation {
    let is_missing = [one, other].into_iter().any(|it| it.outcome == Outcome::NotMeasured && it.ours.is_none());
    match (one.ours, other.ours) {
        _ if is_missing || one.sizes_run != other.sizes_run => Relation::Incomparable,
        _ if one.outcome != other.outcome => Relation::OtherOutcome,
        (Some(ours), Some(theirs)) if !overlap(ours, theirs) => Relation::OtherNumber,
        _ => Relation::Same,
    }
}

fn overlap(one: Interval, other: Interval) -> bool {
    let slack = SLACK * one.median.abs().max(other.median.abs());
    one.low <= other.high + slack && other.low <= one.high + slack
}

impl Agreement {
    /// Returns true if the machine cannot explain the difference.
    pub fn is_failure(&self) -> bool {
        self.basis == Basis::Counts && matches!(self.relation, Relation::OtherNumber | Relation::OtherOutcome)
    }

    /// Returns true for a claim about counts that could be compared.
    pub fn is_compared_count(&self) -> bool {
        self.basis == Basis::Counts && self.relation != Relation::Incomparable
    }

    fn cells(&self) -> Vec<String> {
        let interval = |it: Option<Interval>| {
            it.map_or_else(String::new, |it| match it.low == it.high {
                true => number(it.median),
                false => format!("{} ({} to {})", number(it.median), number(it.low), number(it.high)),
            })
        };
        let relation = match self.relation {
            Relation::Same => "same",
            Relation::OtherNumber => "other number",
            Relation::OtherOutcome => "other outcome",
            Relation::Incomparable => "not comparable",
        };
        let basis = if self.basis == Basis::Counts { "counts" } else { "times" };
        vec![
            self.paper.clone(),
            self.key.clone(),
            basis.to_owned(),
            self.here.to_string(),
            self.there.to_string(),
            interval(self.ours),
            interval(self.theirs),
            relation.to_owned(),
        ]
    }
}

/// Returns all comparisons as a table.
pub fn grid(all: &[Agreement]) -> Grid {
    let header = ["paper", "claim", "of", "outcome here", "outcome there", "number here", "number there", "compared"];
    Grid {
        title: "Outcomes on two machines".to_owned(),
        header: header.map(str::to_owned).into(),
        rows: all.iter().map(Agreement::cells).collect(),
        names: 2,
    }
}

/// Returns the number of claims by relation, as one sentence.
pub fn counts(all: &[Agreement]) -> String {
    let of = |relation| all.iter().filter(|it| it.relation == relation).count();
    let failures = all.iter().filter(|it| it.is_failure()).count();
    format!(
        "Of {} claims, {} have the same outcome, {} the same with another number, {} another outcome, and {} cannot be compared; \
         {failures} differ in counts or bytes, which the machine cannot explain.",
        all.len(),
        of(Relation::Same),
        of(Relation::OtherNumber),
        of(Relation::OtherOutcome),
        of(Relation::Incomparable)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(basis: Basis, outcome: Outcome, low: f64, high: f64) -> Recorded {
        let ours = Interval::from_numbers(&[low, high]);
        let text = |text: &str| text.to_owned();
        Recorded { paper: text("P"), key: text("k"), statement: text("s"), basis, sizes_run: vec![10], ours, outcome }
    }

    fn judged(one: &Recorded, other: &Recorded) -> (Relation, bool) {
        let all = compare(std::slice::from_ref(one), std::slice::from_ref(other));
        (all[0].relation, all[0].is_failure())
    }

    #[test]
    fn counts_must_be_the_same_and_times_need_not() {
        for (basis, is_failure) in [(Basis::Times, false), (Basis::Counts, true)] {
            let here = recorded(basis, Outcome::Agrees, 10.0, 12.0);
            let of = |outcome, low, high| judged(&here, &recorded(basis, outcome, low, high));
            assert_eq!(of(Outcome::Agrees, 11.0, 15.0), (Relation::Same, false));
            assert_eq!(of(Outcome::Agrees, 13.0, 15.0), (Relation::OtherNumber, is_failure));
            assert_eq!(of(Outcome::Differs, 11.0, 15.0), (Relation::OtherOutcome, is_failure));
            assert_eq!(of(Outcome::NotMeasured, 11.0, 15.0), (Relation::OtherOutcome, is_failure));
            let partial = Recorded { outcome: Outcome::NotMeasured, ..here.clone() };
            let of_partial = |low, high| judged(&partial, &recorded(basis, Outcome::NotMeasured, low, high)).0;
            assert_eq!((of_partial(11.0, 15.0), of_partial(13.0, 15.0)), (Relation::Same, Relation::OtherNumber));
            let without = Recorded { ours: None, ..partial };
            assert_eq!(judged(&here, &without), (Relation::Incomparable, false));
            let elsewhere = Recorded { sizes_run: vec![20], ..here.clone() };
            assert_eq!(judged(&here, &elsewhere), (Relation::Incomparable, false));
        }
    }

    #[test]
    fn counts_that_are_only_there_are_missing() {
        let there = [recorded(Basis::Counts, Outcome::Agrees, 1.0, 1.0)];
        let names = |here: &[Recorded]| missing(here, &there).len();
        let here = |key: &str, outcome| [Recorded { key: key.to_owned(), outcome, ..there[0].clone() }];
        assert_eq!(names(&here("k", Outcome::Differs)), 0);
        assert_eq!(names(&here("k", Outcome::NotMeasured)), 1);
        assert_eq!(names(&here("another", Outcome::Agrees)), 1);
        assert_eq!(names(&[]), 0, "a paper that was not asked for");
        let compared = |one: &[Recorded]| compare(one, &there).iter().any(Agreement::is_compared_count);
        assert!(compared(&here("k", Outcome::Agrees)) && !compared(&here("another", Outcome::Agrees)));
    }

    #[test]
    fn the_table_and_the_sentence_say_what_differs() {
        let here = [recorded(Basis::Counts, Outcome::Agrees, 2.0, 2.0)];
        let there = [recorded(Basis::Counts, Outcome::Differs, 3.0, 4.0)];
        let all = compare(&here, &there);
        let text = grid(&all).markdown();
        for part in ["counts", "agrees", "differs", "3.50 (3.00 to 4.00)", "other outcome"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(counts(&all).contains("1 differ in counts"), "{}", counts(&all));
        assert!(compare(&here, &[]).is_empty());
    }
}
