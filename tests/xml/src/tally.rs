//! The results of comparisons: how often both sides agreed, the known classes of differences, and
//! unknown differences.

use std::collections::BTreeMap;
use std::fmt::Debug;

use crate::classes::{self, Case};
use crate::parser::{Answer, Kind};
use crate::reading::Outcome;

/// Counts of results.
#[derive(Default)]
pub struct Tally {
    /// By parser: documents with the same tree, and documents that both refuse.
    agreed: BTreeMap<Kind, [u64; 2]>,
    classes: BTreeMap<(&'static str, Kind), u64>,
    /// By a summary of the two results.
    unknown: BTreeMap<String, u64>,
}

/// Maximum number of unknown differences of one signature that are printed.
const SHOWN: u64 = 2;

impl Tally {
    /// Compares the results of the reader and a parser for a document.
    pub fn note(&mut self, name: &str, document: &[u8], ours: &Outcome, kind: Kind, theirs: &Answer) {
        let agreed = self.agreed.entry(kind).or_default();
        match (ours, theirs) {
            (Ok(tree), Answer::Tree(other)) if tree == other => agreed[0] += 1,
            (Err(_), Answer::Refused { .. }) => agreed[1] += 1,
            _ => match classes::of(&Case::new(document, ours, theirs, kind)) {
                Some(class) => *self.classes.entry((class, kind)).or_default() += 1,
                None => self.note_unknown(signature(ours, kind, theirs), name, document, ours, theirs),
            },
        }
    }

    /// Records a document whose result changes when it is split into pieces.
    pub fn note_cut(&mut self, name: &str, document: &[u8], [whole, cut]: &[Outcome; 2]) {
        self.note_unknown("in pieces".to_owned(), name, document, whole, cut);
    }

    fn note_unknown(&mut self, signature: String, name: &str, document: &[u8], ours: &Outcome, theirs: &dyn Debug) {
        let count = self.unknown.entry(signature).or_default();
        *count += 1;
        if *count <= SHOWN {
            let shown = String::from_utf8_lossy(document);
            println!("DIFFERENCE in {name}: {shown:?}\n  we:   {ours:?}\n  they: {theirs:?}");
        }
    }

    /// Returns true if there was something to compare, and no unknown difference.
    pub fn is_good(&self) -> bool {
        self.unknown.is_empty() && self.agreed.values().all(|agreed| agreed.iter().sum::<u64>() > 0)
    }

    pub fn print(&self) {
        for (kind, [same, refused]) in &self.agreed {
            println!("{:8} {same:8} the same tree, {refused:8} refused by both", kind.name());
        }
        for ((class, kind), count) in &self.classes {
            println!("{:8} {count:8} {class}", kind.name());
        }
        for (signature, count) in &self.unknown {
            println!("UNKNOWN  {count:8} {signature}");
        }
    }
}

/// Returns the two results, without what varies from document to document.
fn signature(ours: &Outcome, kind: Kind, theirs: &Answer) -> String {
    let ours = match ours {
        Ok(_) => "a tree".to_owned(),
        Err(error) => format!("{:?}", error.kind).split([' ', '(']).next().unwrap_or_default().to_owned(),
    };
    match theirs {
        Answer::Tree(_) => format!("we: {ours}, {}: a tree", kind.name()),
        Answer::Refused { codes, .. } => format!("we: {ours}, {}: {codes:?}", kind.name()),
    }
}
