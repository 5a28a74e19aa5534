//! How claims about counts and bytes come out: `bench/papers/counts.toml`.

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

/// The claims whose outcome is another one than it should be, with what is wrong; those that were not measured are none.
///
/// # Errors
/// When the file is malformed.
pub fn surprises(verdicts: &[Verdict]) -> Result<Vec<String>> {
    let expected = load()?;
    let counts = verdicts.iter().filter(|it| it.claim.basis == Basis::Counts && it.outcome != Outcome::NotMeasured);
    let surprise = |verdict: &Verdict| {
        let (paper, key, outcome) = (&verdict.claim.paper, &verdict.claim.key, verdict.outcome);
        let known = expected.iter().find(|it| (&it.paper, &it.key) == (paper, key)).map(|it| it.outcome);
        match known {
            Some(known) if known == outcome => None,
            Some(known) => Some(format!("{paper}, {key}: {outcome}, and should be: {known}")),
            None => {
                Some(format!("{paper}, {key}: {outcome}, and bench/papers/counts.toml does not say what it should be"))
            }
        }
    };
    Ok(counts.filter_map(surprise).collect())
}

fn load() -> Result<Vec<Expectation>> {
    let file: File =
        toml::from_str(include_str!("../../../papers/counts.toml")).context("bench/papers/counts.toml is malformed")?;
    Ok(file.claim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::{Papers, Title, scope::Scope};
    use crate::record::Record;
    use crate::workload::Definitions;

    /// Verdicts on nothing, with an outcome.
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
    fn another_outcome_is_a_surprise_and_none_is_not() {
        let all = surprises(&verdicts(Outcome::Unstable)).unwrap();
        assert_eq!(all.len(), load().unwrap().len());
        assert!(all[0].contains("switches-t100: unstable, and should be: agrees"), "{}", all[0]);
        assert!(surprises(&verdicts(Outcome::NotMeasured)).unwrap().is_empty());
    }
}
