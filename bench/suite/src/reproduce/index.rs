//! `index.json`: the verdicts of a record for programs, by paper and exhibit.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use deltasoap_report::{Exhibit, Recorded, Verdict};
use serde::Serialize;
use serde_json::Value;

use crate::suite::Environment;

/// Titles of the papers, by number.
pub const PAPERS: [&str; 5] = [
    "Differential Deserialization for Optimized SOAP Performance",
    "Lightweight Checkpointing for Faster SOAP Deserialization",
    "Differential Serialization for Optimized SOAP Performance",
    "Toward Characterizing the Performance of SOAP Toolkits",
    "A Novel Cost Model of XML Serialization",
];

const INDEX: &str = "index.json";

/// A paper with its exhibits.
#[derive(Debug)]
pub struct Work {
    /// Its number.
    pub paper: usize,
    /// Its tables and figures, with verdicts.
    pub exhibits: Vec<Exhibit>,
}

/// The content of a report.
#[derive(Debug)]
pub struct Index<'e> {
    environment: &'e Environment,
    /// The papers.
    pub works: Vec<Work>,
}

/// Keys in output order.
#[derive(Serialize)]
struct File<'e> {
    date: &'e str,
    commit: Option<String>,
    scope: &'e str,
    doubts: Vec<String>,
    papers: Vec<PaperLine<'e>>,
}

#[derive(Serialize)]
struct PaperLine<'e> {
    paper: String,
    title: &'static str,
    exhibits: Vec<ExhibitLine<'e>>,
}

#[derive(Serialize)]
struct ExhibitLine<'e> {
    exhibit: &'static str,
    claims: &'e [Verdict],
}

impl<'e> Index<'e> {
    /// Creates the index of papers.
    pub fn new(environment: &'e Environment, works: Vec<Work>) -> Self {
        Index { environment, works }
    }

    /// Returns all verdicts, in the order of papers and exhibits.
    pub fn verdicts(&self) -> impl Iterator<Item = &Verdict> {
        self.works.iter().flat_map(|work| verdicts(&work.exhibits))
    }

    /// Returns the verdicts as stored in the file.
    ///
    /// # Errors
    /// None for our verdicts.
    pub fn recorded(&self) -> Result<Vec<Recorded>> {
        self.verdicts().map(|verdict| Ok(serde_json::from_value(serde_json::to_value(verdict)?)?)).collect()
    }

    /// Returns commit and scope.
    pub fn about(&self) -> String {
        let commit = self.environment.machine.commit.as_ref().map(ToString::to_string);
        about(commit.as_deref(), &self.environment.scope)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(&self.file())? + "\n";
        fs::write(folder.join(INDEX), text).with_context(|| format!("cannot write {INDEX}"))
    }

    fn file(&self) -> File<'_> {
        fn exhibit(exhibit: &Exhibit) -> ExhibitLine<'_> {
            ExhibitLine { exhibit: exhibit.name, claims: &exhibit.verdicts }
        }
        let papers = self.works.iter().map(|work| PaperLine {
            paper: work.number(),
            title: PAPERS[work.paper],
            exhibits: work.exhibits.iter().map(exhibit).collect(),
        });
        let machine = &self.environment.machine;
        File {
            date: &machine.date,
            commit: machine.commit.as_ref().map(ToString::to_string),
            scope: &self.environment.scope,
            doubts: self.environment.doubts(),
            papers: papers.collect(),
        }
    }
}

fn about(commit: Option<&str>, scope: &str) -> String {
    format!("commit {}, a {scope} run", commit.unwrap_or("unknown"))
}

/// The content of a folder's index.
#[derive(Debug)]
pub struct StoredIndex {
    /// Commit and scope.
    pub about: String,
    /// The verdicts.
    pub claims: Vec<Recorded>,
}

/// Reads the index of a folder.
///
/// # Errors
/// When there is none, or it is malformed.
pub fn read(folder: &Path) -> Result<StoredIndex> {
    let path = folder.join(INDEX);
    let text = fs::read_to_string(&path).with_context(|| format!("{} has no {INDEX}", folder.display()))?;
    let malformed = || format!("{} is malformed", path.display());
    let index: Value = serde_json::from_str(&text).with_context(malformed)?;
    let list = |value: &Value, name: &str| value[name].as_array().cloned().unwrap_or_default();
    let papers = list(&index, "papers").into_iter();
    let exhibits = papers.flat_map(|paper| list(&paper, "exhibits"));
    let claims = exhibits.flat_map(|exhibit| list(&exhibit, "claims"));
    let claims = claims.map(|claim| serde_json::from_value(claim).with_context(malformed)).collect::<Result<_>>()?;
    let text = |name: &str| index[name].as_str();
    Ok(StoredIndex { about: about(text("commit"), text("scope").unwrap_or("unknown")), claims })
}

/// Returns all verdicts of exhibits.
pub fn verdicts(exhibits: &[Exhibit]) -> impl Iterator<Item = &Verdict> {
    exhibits.iter().flat_map(|exhibit| &exhibit.verdicts)
}
