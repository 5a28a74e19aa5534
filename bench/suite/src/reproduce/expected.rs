//! Expected outcomes of claims about counts and bytes: `bench/papers/counts.toml`.

use anyhow::{Context, Result};
use deltasoap_report::{Basis, Outcome, Verdict};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    claim: Vec<Expectation>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expectation {
    paper: String,
    key: String,
    outcome: Outcome,
}

/// Returns the claims with unexpected outcomes, with an explanation. If `is_whole`, the claims of
/// the drawn papers must be measured, which is not so with custom sizes.
///
/// # Errors
/// When the file is malformed.
pub fn surprises(verdicts: &[Verdict], is_whole: bool) -> Result<Vec<String>> {
    let expected = load()?;
    let is_drawn = |it: &&Expectation| is_whole && verdicts.iter().any(|verdict| verdict.claim.paper == it.paper);
    let is_measured = |it: &Expectation| {
        let is_it = |verdict: &&Verdict| (&verdict.claim.paper, &verdict.claim.key) == (&it.paper, &it.key);
        verdicts.iter().find(is_it).is_some_and(|verdict| verdict.outcome != Outcome::NotMeasured)
    };
    let missing = expected.iter().filter(is_drawn).filter(|it| !is_measured(it));
    let missing = missing.map(|it| format!("{}, {}: not measured, but should be: {}", it.paper, it.key, it.outcome));
    let counts = verdicts.iter().filter(|it| it.claim.basis == Basis::Counts && it.outcome != Outcome::NotMeasured);
    let surprise = |verdict: &Verdict| {
        let (paper, key, outcome) = (&verdict.claim.paper, &verdict.claim.key, verdict.outcome);
        let known = expected.iter().find(|it| (&it.paper, &it.key) == (paper, key)).map(|it| it.outcome);
        match known {
            Some(known) if known == outcome => None,
            Some(known) => Some(format!("{paper}, {key}: {outcome}, but should be: {known}")),
            None => {
                Some(format!("{paper}, {key}: {outcome}, but bench/papers/counts.toml has no expected outcome for it"))
            }
        }
    };
    Ok(counts.filter_map(surprise).chain(missing).collect())
}

fn load() -> Result<Vec<Expectation>> {
    let file: File =
        toml::from_str(include_str!("../../../papers/counts.toml")).context("bench/papers/counts.toml is malformed")?;
    Ok(file.claim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definitions::Definitions;
    use crate::paper::{Papers, Title, scope::Scope};
    use crate::record::Record;

    /// Returns verdicts without numbers, with an outcome.
    fn verdicts(outcome: Outcome) -> Vec<Verdict> {
        let definitions = Definitions::load().unwrap();
        let (scope, record) = (Scope::new(true, &[]), Record::default());
        let papers =
            Papers::new(Title::ALL.to_vec(), scope, 1, true, (&definitions, "nowhere".into()), &record).unwrap();
        let all = papers.draw(&record).unwrap().1;
        let counts = all.into_iter().filter(|verdict| verdict.claim.basis == Basis::Counts);
        counts.map(|verdict| Verdict { outcome, ..verdict }).collect()
    }

    #[test]
    fn every_claim_about_counts_has_its_outcome() {
        let known: Vec<(String, String)> = load().unwrap().into_iter().map(|it| (it.paper, it.key)).collect();
        let claims: Vec<(String, String)> =
            verdicts(Outcome::Agrees).into_iter().map(|verdict| (verdict.claim.paper, verdict.claim.key)).collect();
        assert_eq!(known, claims);
    }

    #[test]
    fn another_outcome_is_a_surprise_and_none_is_one_where_there_should_be_some() {
        let all = surprises(&verdicts(Outcome::Unstable), true).unwrap();
        assert_eq!(all.len(), load().unwrap().len());
        assert!(all[0].contains("switches-t100: unstable, but should be: "), "{}", all[0]);
        let none = verdicts(Outcome::NotMeasured);
        assert!(surprises(&none, false).unwrap().is_empty());
        assert_eq!(surprises(&none, true).unwrap().len(), load().unwrap().len());
        let some: Vec<Verdict> = none.into_iter().filter(|verdict| verdict.claim.paper == "LCP").take(1).collect();
        let all = surprises(&some, true).unwrap();
        assert_eq!(all.len(), 2, "{all:?}");
        assert!(all[1].contains("LCP, memory-of-dcp: not measured, but should be: "), "{all:?}");
    }
}
