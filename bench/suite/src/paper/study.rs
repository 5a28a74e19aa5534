//! What was measured for the papers, and the claims that it is judged by.
//!
//! Everything is measured several times, one [`Data`] each. Tables and pictures show the medians; a
//! claim is judged on each repetition, and where these do not come to the same, the verdict is
//! unstable.

use std::cell::Cell;
use std::collections::HashMap;

use deltasoap_report::statistics::{Group, mean};
use deltasoap_report::{Basis, Claim, Evidence, Exhibit, Interval, Printed, Registered, Sizes, Test, Verdict, number};

use super::fresh::Fresh;
use super::points::{Point, Points, Way};
use super::rows::{PeerRow, peer_key};
use super::sends::{Sender, Sends};
use crate::record::Record;
use crate::send::Case;
use crate::stream::{Kind, Recipe};

/// What gSOAP decodes, by the workloads' names.
pub const GSOAP_WORKLOADS: [(Kind, &str); 3] =
    [(Kind::Ints, "decode-ints"), (Kind::Easy, "decode-easy"), (Kind::Hard, "decode-hard")];

/// Everything that was measured, once.
pub struct Data {
    /// Messages decoded.
    pub points: Points,
    /// Counts of messages decoded whose values are fresh; the same in each repetition.
    pub fresh: Fresh,
    /// Messages sent.
    pub sends: Sends,
    /// Milliseconds of gSOAP's decoding, by type and size, or why there are none.
    pub gsoap: Result<HashMap<(Kind, usize), f64>, String>,
    /// Whether gSOAP was asked for.
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
    /// Milliseconds of a message.
    pub fn ms(&self, recipe: Recipe, way: Way) -> f64 {
        self.points.ms(recipe, way)
    }

    /// gSOAP's milliseconds.
    ///
    /// # Errors
    /// When there are none; with the reason.
    pub fn gsoap(&self, kind: Kind, n: usize) -> Result<f64, String> {
        self.is_gsoap_asked.set(true);
        let times = self.gsoap.as_ref().map_err(Clone::clone)?;
        times.get(&(kind, n)).copied().ok_or_else(|| "gSOAP was not measured at this size".to_owned())
    }

    /// Takes gSOAP's times, or why there are none, from a record.
    pub fn recall_gsoap(&mut self, repetition: usize, record: &Record) {
        let rows: Vec<PeerRow> = record.of(&peer_key(repetition, "gsoap"));
        if let Some(reason) = rows.iter().find_map(|row| row.reason.clone()) {
            self.gsoap = Err(reason);
        } else if !rows.is_empty() {
            let kind = |row: &PeerRow| GSOAP_WORKLOADS.iter().find(|(_, workload)| *workload == row.workload);
            self.gsoap = Ok(rows.iter().filter_map(|row| Some(((kind(row)?.0, row.n), row.ms?))).collect());
        }
    }

    /// Milliseconds of a message that is sent.
    ///
    /// # Errors
    /// When the toolkit is not there; with the reason.
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
    /// Median milliseconds of a message.
    pub fn ms(&self, recipe: Recipe, way: Way) -> f64 {
        self.median(|data| data.ms(recipe, way))
    }

    /// The median of a number of a point.
    pub fn of(&self, recipe: Recipe, way: Way, number: fn(&Point) -> f64) -> f64 {
        self.median(|data| number(&data.points.at(recipe, way)))
    }

    /// The median of gSOAP's milliseconds, if there are some.
    pub fn gsoap(&self, kind: Kind, n: usize) -> Option<f64> {
        Some(self.median(|data| data.gsoap(kind, n).unwrap_or(f64::NAN))).filter(|ms| ms.is_finite())
    }

    /// Median milliseconds of a message that is sent; not a number where the toolkit is not there.
    pub fn sent(&self, case: Case, sender: Sender) -> f64 {
        self.median(|data| data.sends.ms(case, sender))
    }

    /// Why there is nothing of a toolkit that sends.
    pub fn reason(&self, name: &str) -> Option<&str> {
        self.0.iter().find_map(|data| data.sends.reason(name))
    }

    fn median(&self, number: impl Fn(&Data) -> f64) -> f64 {
        Interval::of(&self.0.iter().map(number).collect::<Vec<_>>()).map_or(f64::NAN, |interval| interval.median)
    }

    /// A number of each repetition as text: the median, and the least and the greatest of several.
    pub fn shown(&self, of: impl Fn(&Data) -> f64) -> String {
        let Some(interval) = Interval::of(&self.0.iter().map(of).collect::<Vec<_>>()) else { return String::new() };
        let [low, median, high] = [interval.low, interval.median, interval.high].map(number);
        if self.0.len() > 1 { format!("{median} ({low} to {high})") } else { median }
    }

    /// Cells with the milliseconds of `way` for each stream.
    pub fn ms_cells(&self, recipes: impl Iterator<Item = Recipe>, way: Way) -> Vec<String> {
        recipes.map(|recipe| number(self.ms(recipe, way))).collect()
    }
}

/// The claims of a paper, by the exhibit that they stand in.
pub struct Book {
    /// The paper's short name.
    paper: &'static str,
    /// Sizes that this run has.
    available: Vec<usize>,
    claims: Vec<(&'static str, Registered<'static, Data>)>,
}

/// What a claim is found by.
pub type Found = Result<Evidence, String>;

impl Book {
    /// An empty one.
    pub fn new(paper: &'static str, available: &[usize]) -> Self {
        Book { paper, available: available.to_vec(), claims: vec![] }
    }

    /// Adds a claim to an exhibit.
    pub fn add(&mut self, exhibit: &'static str, claim: Claim, find: impl Fn(&Data, &[usize]) -> Found + 'static) {
        let claim = Claim { paper: self.paper.to_owned(), ..claim };
        self.claims.push((exhibit, Registered::new(claim, &self.available, find)));
    }

    /// Adds a claim about counts or bytes, of which a run has other sizes.
    pub fn count(
        &mut self,
        exhibit: &'static str,
        claim: Claim,
        counted: &[usize],
        find: impl Fn(&Data, &[usize]) -> Found + 'static,
    ) {
        let claim = self::counted(Claim { paper: self.paper.to_owned(), ..claim });
        self.claims.push((exhibit, Registered::new(claim, counted, find)));
    }

    /// The claims.
    #[cfg(test)]
    pub fn claims(&self) -> impl Iterator<Item = &Claim> {
        self.claims.iter().map(|(_, registered)| &registered.claim)
    }

    /// The verdict on every claim.
    pub fn judge(&self, study: Study<'_>) -> Vec<Verdict> {
        self.claims.iter().map(|(_, registered)| registered.judge(study.0)).collect()
    }

    /// Puts verdicts, in the order of the claims, into their exhibits.
    pub fn hang(&self, verdicts: &[Verdict], exhibits: &mut [Exhibit]) {
        for ((name, _), verdict) in self.claims.iter().zip(verdicts) {
            let exhibit = exhibits.iter_mut().find(|exhibit| exhibit.name == *name);
            exhibit.into_iter().for_each(|exhibit| exhibit.verdicts.push(verdict.clone()));
        }
    }
}

/// A claim of which the paper prints no number that could stand alone; its paper is the book's.
pub fn claim(key: &str, place: &str, statement: impl Into<String>, sizes: Sizes, test: Test) -> Claim {
    Claim {
        key: key.to_owned(),
        paper: String::new(),
        place: place.to_owned(),
        statement: statement.into(),
        printed: Printed::Words,
        sizes,
        basis: Basis::Times,
        test,
        because: None,
    }
}

/// The same claim, whose numbers are counts or bytes: they are the same on every machine.
pub fn counted(claim: Claim) -> Claim {
    Claim { basis: Basis::Counts, ..claim }
}

/// The same claim with the reason why ours are known to differ.
pub fn known(claim: Claim, because: &str) -> Claim {
    Claim { because: Some(because.to_owned()), ..claim }
}

/// Evidence of several numbers.
pub fn numbers(numbers: Vec<f64>) -> Found {
    Ok(Evidence::Numbers(numbers))
}

/// Evidence of one number.
pub fn one(number: f64) -> Found {
    Ok(Evidence::from(number))
}

/// Evidence of cells in groups.
pub fn cells(groups: Vec<Group>) -> Found {
    Ok(Evidence::Cells(groups))
}

/// The share of things that are so.
pub fn share(things: impl Iterator<Item = bool>) -> f64 {
    mean(&things.map(|is_so| f64::from(u8::from(is_so))).collect::<Vec<_>>())
}
