//! Compares a record with that of another machine.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use deltasoap_report::Recorded;
use deltasoap_report::agreement::{Agreement, compare, counts, grid, missing};

use super::index::{self, Index, StoredIndex};

/// Another record.
#[derive(Debug)]
pub struct OtherRecord {
    folder: PathBuf,
    there: StoredIndex,
}

impl OtherRecord {
    /// Reads the record in a folder.
    ///
    /// # Errors
    /// When there is none.
    pub fn read(folder: &Path) -> Result<Self> {
        let there = index::read(folder).with_context(|| format!("cannot compare with {}", folder.display()))?;
        Ok(OtherRecord { folder: folder.to_owned(), there })
    }

    /// Prints a comparison of the verdicts; returns false if counts or bytes differ, or none could
    /// be compared.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn compare(&self, index: &Index<'_>, is_json: bool) -> Result<bool> {
        let here = index.recorded()?;
        let all = compare(&here, &self.there.claims);
        if is_json {
            for agreement in &all {
                println!("{}", serde_json::to_string(agreement)?);
            }
        } else {
            println!("\nHere: {}. There: {}.\n", index.about(), self.there.about);
            println!("{}\n\n{}", grid(&all).markdown(), counts(&all));
        }
        let failures = self.failures(&here, &all);
        failures.iter().for_each(|failure| eprintln!("error: {failure}"));
        Ok(failures.is_empty())
    }

    fn failures(&self, here: &[Recorded], all: &[Agreement]) -> Vec<String> {
        let folder = self.folder.display();
        let differ = all.iter().filter(|it| it.is_failure());
        let differ =
            differ.map(|it| format!("{}, {}: counts or bytes differ from those of {folder}", it.paper, it.key));
        let missing = missing(here, &self.there.claims).into_iter();
        let missing =
            missing.map(|it| format!("{}, {}: {folder} has counts or bytes that are missing here", it.paper, it.key));
        let none = (!all.iter().any(Agreement::is_compared_count))
            .then(|| format!("no claim about counts or bytes could be compared with {folder}"));
        differ.chain(missing).chain(none).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap_report::{Basis, Interval, Outcome};

    fn recorded(key: &str, basis: Basis, number: f64) -> Recorded {
        Recorded {
            paper: "LCP".to_owned(),
            key: key.to_owned(),
            statement: "a statement".to_owned(),
            basis,
            sizes_run: vec![10],
            ours: Interval::from_numbers(&[number]),
            outcome: Outcome::Agrees,
        }
    }

    #[test]
    fn counts_have_to_be_there_and_the_same() {
        let there = vec![recorded("memory", Basis::Counts, 5.0), recorded("speed", Basis::Times, 5.0)];
        let other =
            OtherRecord { folder: "there".into(), there: StoredIndex { about: String::new(), claims: there.clone() } };
        let failures = |here: &[Recorded]| other.failures(here, &compare(here, &there));
        assert!(failures(&there).is_empty());
        assert!(failures(&[there[0].clone(), recorded("speed", Basis::Times, 9.0)]).is_empty());
        let differs = failures(&[recorded("memory", Basis::Counts, 6.0)]);
        assert_eq!(differs, ["LCP, memory: counts or bytes differ from those of there"]);
        let missing = failures(&there[1..]);
        assert_eq!(missing.len(), 2);
        assert_eq!(missing[0], "LCP, memory: there has counts or bytes that are missing here");
        assert_eq!(missing[1], "no claim about counts or bytes could be compared with there");
        assert_eq!(failures(&[]), missing[1..], "of papers that were not asked for, nothing is missing");
    }
}
