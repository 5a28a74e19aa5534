//! What came out of comparisons: how often both sides agreed, which known classes of differences
//! there were, and what is unknown.

use std::collections::BTreeMap;
use std::fmt::Debug;

use crate::classes::{self, Case};
use crate::parser::{Answer, Kind};
use crate::reading::Outcome;

/// Counts.
#[derive(Default)]
pub struct Tally {
    /// Documents of which both give the same tree, those that both refuse, by parser.
    agreed: BTreeMap<Kind, [u64; 2]>,
    classes: BTreeMap<(&'static str, Kind), u64>,
    /// By what the two sides say, in short.
    unknown: BTreeMap<String, u64>,
}

/// Most unknown differences of one signature that are printed.
const SHOWN: u64 = 2;

impl Tally {
    /// Compares what the reader and a parser make of a document.
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

    /// Notes a document that the reader reads in another way when it is cut into pieces.
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

    /// True if there was something to compare, and nothing unknown.
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

/// What the two sides say, without what differs from document to document.
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
