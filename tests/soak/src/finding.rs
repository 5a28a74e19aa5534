//! Findings as folders: messages, their cuts, the options, and both results.

use crate::decoder_options::{DecoderOptions, LoweredLimit};
use crate::subject::Subject;
use crate::templates::Case;
use crate::trial::{Difference, Trial};
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// File name of a finding of templates.
const CASE: &str = "templates.json";

/// How the messages of a finding are decoded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Info {
    /// The seed and the sequence of the finding.
    pub seed: u64,
    pub sequence: u64,
    pub subject: Subject,
    pub ways: Vec<DecoderOptions>,
    pub lowered: Option<LoweredLimit>,
    pub is_shared: bool,
    pub cuts: Vec<Vec<usize>>,
    #[serde(default)]
    pub broken_off: Vec<bool>,
    #[serde(default)]
    pub tolerance: usize,
    /// A human-readable description of the difference.
    pub what: String,
    pub message: usize,
    pub expected: String,
    pub found: String,
}

impl Info {
    /// Describes a failing trial.
    pub fn new((seed, sequence): (u64, u64), subject: &Subject, trial: &Trial, difference: &Difference) -> Self {
        Info {
            seed,
            sequence,
            subject: subject.clone(),
            ways: trial.ways.clone(),
            lowered: trial.lowered.clone(),
            is_shared: trial.is_shared,
            cuts: trial.cuts.clone(),
            broken_off: trial.broken_off.clone(),
            tolerance: trial.tolerance,
            what: difference.what.to_owned(),
            message: difference.message,
            expected: difference.expected.clone(),
            found: difference.found.clone(),
        }
    }
}

/// Writes a finding into a folder of its own. An existing finding is overwritten.
///
/// # Errors
/// Returns an error if a file cannot be written.
pub fn write(folder: &Path, info: &Info, messages: &[Vec<u8>]) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for (index, message) in messages.iter().enumerate() {
        fs::write(folder.join(format!("{index:02}.xml")), message)?;
    }
    fs::write(folder.join("info.json"), serde_json::to_string_pretty(info)? + "\n")?;
    Ok(())
}

/// Writes a stream of values for which templates send something other than the full encoding.
///
/// # Errors
/// Returns an error if it cannot be written.
pub fn write_case(folder: &Path, case: &Case) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(fs::write(folder.join(CASE), serde_json::to_string_pretty(case)? + "\n")?)
}

/// Reads what [`write_case`] has written; `None` if the folder holds another kind of finding.
///
/// # Errors
/// Returns an error if it cannot be read.
pub fn read_case(folder: &Path) -> Result<Option<Case>> {
    let path = folder.join(CASE);
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Some(serde_json::from_str(&text).with_context(|| format!("cannot read {}", path.display()))?)),
        Err(_) => Ok(None),
    }
}

/// Reads what [`write()`] has written.
///
/// # Errors
/// Returns an error if the folder holds no finding.
pub fn read(folder: &Path) -> Result<(Info, Trial)> {
    let path = folder.join("info.json");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let info: Info =
        serde_json::from_str(&text).with_context(|| format!("{} does not belong to a finding", path.display()))?;
    let message = |index: usize| fs::read(folder.join(format!("{index:02}.xml")));
    let messages = (0..info.cuts.len()).map(message).collect::<std::io::Result<_>>()?;
    let (ways, lowered, is_shared) = (info.ways.clone(), info.lowered.clone(), info.is_shared);
    let mut broken_off = info.broken_off.clone();
    broken_off.resize(info.cuts.len(), false);
    let trial =
        Trial { messages, cuts: info.cuts.clone(), broken_off, ways, lowered, is_shared, tolerance: info.tolerance };
    Ok((info, trial))
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap::engine::Differential;

    #[test]
    fn a_finding_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let trial = Trial {
            messages: vec![b"<a>\xff".to_vec(), b"<b/>".to_vec()],
            cuts: vec![vec![1], vec![]],
            broken_off: vec![true, false],
            ways: vec![DecoderOptions::from(Differential::default())],
            lowered: Some(LoweredLimit { name: "text".to_owned(), value: 3 }),
            is_shared: true,
            tolerance: 1,
        };
        let difference =
            Difference { message: 1, way: Some(0), what: "value", expected: "Ok".to_owned(), found: "Err".to_owned() };
        let info = Info::new((1, u64::MAX), &Subject::Random { entropy: vec![1, 2] }, &trial, &difference);
        let place = folder.path().join("one");
        write(&place, &info, &trial.messages).unwrap();
        assert_eq!(read(&place).unwrap(), (info, trial));
    }
}
