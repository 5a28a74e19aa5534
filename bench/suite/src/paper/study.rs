//! The measurements for the papers, and the claims that they are judged by.
//!
//! Everything is measured several times, one [`Data`] each. Tables and charts show the medians. A
//! claim is judged on each repetition; if these disagree, the verdict is unstable.

use std::cell::Cell;
use std::collections::HashMap;

use deltasoap_report::statistics::{Group, mean, median};
use deltasoap_report::{Basis, Claim, Evidence, Exhibit, Interval, Printed, Registered, Sizes, Test, Verdict, number};

use super::fresh::Fresh;
use super::points::Points;
use super::rows::{PeerRow, peer_key};
use super::sends::{Sender, Sends};
use super::setting::{Point, Setting};
use crate::record::Record;
use crate::send::Case;
use crate::stream::{Kind, Recipe};

/// The workloads that gSOAP decodes, by name.
pub const GSOAP_WORKLOADS: [(Kind, &str); 3] =
    [(Kind::Ints, "decode-ints"), (Kind::Easy, "decode-easy"), (Kind::Hard, "decode-hard")];

/// One repetition of all measurements.
pub struct Data {
    /// Decoding.
    pub points: Points,
    /// Counts of decoding messages with new values; the same in each repetition.
    pub fresh: Fresh,
    /// Sending.
    pub sends: Sends,
    /// Milliseconds of gSOAP's decoding, by type and size, or the reason why there are none.
    pub gsoap: Result<HashMap<(Kind, usize), f64>, String>,
    /// True if gSOAP's times were requested.
    pub is_gsoap_asked: Cell<bool>,
}

impl Default for Data {
    fn default() -> Self {
        Data {
            points: Points::default(),
            fresh: Fresh::default(),
            sends: Sends::default(),
            gsoap: Err("gSOAP was not measured".to_owned()),
            is_gsoap_asked: Cell::new(false),
        }
    }
}

impl Data {
    /// Returns the milliseconds of a message.
    pub fn ms(&self, recipe: Recipe, setting: Setting) -> f64 {
        self.points.ms(recipe, setting)
    }

    /// Returns gSOAP's milliseconds.
    ///
    /// # Errors
    /// When there are none, with the reason.
    pub fn gsoap(&self, kind: Kind, n: usize) -> Result<f64, String> {
        self.is_gsoap_asked.set(true);
        let times = self.gsoap.as_ref().map_err(Clone::clone)?;
        times.get(&(kind, n)).copied().ok_or_else(|| "gSOAP was not measured at this size".to_owned())
    }

    /// Loads gSOAP's times, or the reason why there are none, from a record.
    pub fn load_recorded_gsoap(&mut self, repetition: usize, record: &Record) {
        let rows: Vec<PeerRow> = record.of(&peer_key(repetition, "gsoap"));
        if let Some(reason) = rows.iter().find_map(|row| row.reason.clone()) {
            self.gsoap = Err(reason);
        } else if !rows.is_empty() {
            let kind = |row: &PeerRow| GSOAP_WORKLOADS.iter().find(|(_, workload)| *workload == row.workload);
            self.gsoap = Ok(rows.iter().filter_map(|row| Some(((kind(row)?.0, row.n), row.ms?))).collect());
        }
    }

    /// Returns the milliseconds of a sent message.
    ///
    /// # Errors
    /// When the toolkit is missing, with the reason.
    pub fn sent(&self, case: Case, sender: Sender) -> Result<f64, String> {
        let ms = self.sends.ms(case, sender);
        let reason = || match sender {
            Sender::Peer(name) => self.sends.reason(name).unwrap_or("not measured").to_owned(),
            Sender::Ours(_) => "not measured".to_owned(),
        };
        if ms.is_nan() { Err(reason()) } else { Ok(ms) }
    }
}

/// All repetitions, at least one.
#[derive(Clone, Copy)]
pub struct Study<'a>(pub &'a [Data]);

impl Study<'_> {
    /// Returns the median milliseconds of a message.
    pub fn ms(&self, recipe: Recipe, setting: Setting) -> f64 {
        self.median(|data| data.ms(recipe, setting))
    }

    /// Returns the median of a point's number.
    pub fn of(&self, recipe: Recipe, setting: Setting, number: fn(&Point) -> f64) -> f64 {
        self.median(|data| number(&data.points.at(recipe, setting)))
    }

    /// Returns the median of gSOAP's milliseconds, if there are any.
    pub fn gsoap(&self, kind: Kind, n: usize) -> Option<f64> {
        Some(self.median(|data| data.gsoap(kind, n).unwrap_or(f64::NAN))).filter(|ms| ms.is_finite())
    }

    /// Returns the median milliseconds of a sent message; NaN if the toolkit is missing.
    pub fn sent(&self, case: Case, sender: Sender) -> f64 {
        self.median(|data| data.sends.ms(case, sender))
    }

    /// Returns the reason why a sending toolkit is missing.
    pub fn reason(&self, name: &str) -> Option<&str> {
        self.0.iter().find_map(|data| data.sends.reason(name))
    }

    fn median(&self, number: impl Fn(&Data) -> f64) -> f64 {
        median(self.0.iter().map(number))
    }

    /// Formats a number of the repetitions: the median, and the minimum and maximum of several.
    pub fn shown(&self, of: impl Fn(&Data) -> f64) -> String {
        let Some(interval) = Interval::from_numbers(&self.0.iter().map(of).collect::<Vec<_>>()) else {
            return String::new();
        };
        let [low, median, high] = [interval.low, interval.median, interval.high].map(number);
        if self.0.len() > 1 { format!("{median} ({low} to {high})") } else { median }
    }

    /// Returns cells with the milliseconds of `setting` for each stream.
    pub fn ms_cells(&self, recipes: impl Iterator<Item = Recipe>, setting: Setting) -> Vec<String> {
        recipes.map(|recipe| number(self.ms(recipe, setting))).collect()
    }
}

/// The claims of a paper, by exhibit.
pub struct Book {
    /// The paper's short name.
    paper: &'static str,
    /// The sizes of this run.
    available: Vec<usize>,
    claims: Vec<(&'static str, Registered<'static, Data>)>,
}

/// The evidence for a claim, or the reason why it is missing.
pub type EvidenceResult = Result<Evidence, String>;

impl Book {
    /// Creates a book without claims.
    pub fn new(paper: &'static str, available: &[usize]) -> Self {
        Book { paper, available: available.to_vec(), claims: vec![] }
    }

    /// Adds a claim to an exhibit.
    pub fn add(
        &mut self,
        exhibit: &'static str,
        claim: Claim,
        find: impl Fn(&Data, &[usize]) -> EvidenceResult + 'static,
    ) {
        let claim = Claim { paper: self.paper.to_owned(), ..claim };
        self.claims.push((exhibit, Registered::new(claim, &self.available, find)));
    }

    /// Adds a claim about counts or bytes, for which a run has other sizes.
    pub fn count(
        &mut self,
        exhibit: &'static str,
        claim: Claim,
        counted: &[usize],
        find: impl Fn(&Data, &[usize]) -> EvidenceResult + 'static,
    ) {
        let claim = self::counted(Claim { paper: self.paper.to_owned(), ..claim });
        self.claims.push((exhibit, Registered::new(claim, counted, find)));
    }

    /// Returns the claims.
    #[cfg(test)]
    pub fn claims(&self) -> impl Iterator<Item = &Claim> {
        self.claims.iter().map(|(_, registered)| &registered.claim)
    }

    /// Returns the verdict on every claim.
    pub fn judge(&self, study: Study<'_>) -> Vec<Verdict> {
        self.claims.iter().map(|(_, registered)| registered.judge(study.0)).collect()
    }

    /// Adds verdicts, in the order of the claims, to their exhibits.
    pub fn attach_verdicts(&self, verdicts: &[Verdict], exhibits: &mut [Exhibit]) {
        for ((name, _), verdict) in self.claims.iter().zip(verdicts) {
            let exhibit = exhibits.iter_mut().find(|exhibit| exhibit.name == *name);
            exhibit.into_iter().for_each(|exhibit| exhibit.verdicts.push(verdict.clone()));
        }
    }
}

/// Creates a claim without a single printed number; its paper is that of the book.
pub fn claim(key: &str, place: &str, statement: impl Into<String>, sizes: Sizes, test: Test) -> Claim {
    Claim {
        key: key.to_owned(),
        paper: String::new(),
        place: place.to_owned(),
        statement: statement.into(),
        printed: Printed::Text,
        sizes,
        basis: Basis::Times,
        test,
        because: None,
    }
}

/// Marks the numbers of a claim as counts or bytes, which are the same on every machine.
pub fn counted(claim: Claim) -> Claim {
    Claim { basis: Basis::Counts, ..claim }
}

/// Adds the reason for a known difference to a claim.
pub fn known(claim: Claim, because: &str) -> Claim {
    Claim { because: Some(because.to_owned()), ..claim }
}

/// Returns several numbers as evidence.
pub fn numbers(numbers: Vec<f64>) -> EvidenceResult {
    Ok(Evidence::Numbers(numbers))
}

/// Returns one number as evidence.
pub fn one(number: f64) -> EvidenceResult {
    Ok(Evidence::from(number))
}

/// Returns groups of cells as evidence.
pub fn cells(groups: Vec<Group>) -> EvidenceResult {
    Ok(Evidence::Cells(groups))
}

/// Returns the fraction that is true.
pub fn share(things: impl Iterator<Item = bool>) -> f64 {
    mean(&things.map(|is_so| f64::from(u8::from(is_so))).collect::<Vec<_>>())
}
