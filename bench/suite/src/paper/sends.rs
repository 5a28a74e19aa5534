//! The measurements for the exhibits on sending.
//!
//! As with [`Points`](super::points::Points), an exhibit is drawn twice, and its requests of the
//! first time are available the second time. Every time is measured over a socket, until the system
//! has the last byte. All senders of a case are measured alternately, other toolkits included.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context, Result};

use super::rows::{SENT, SentRow, sent_key};
use crate::definitions::Definitions;
use crate::engine::{Peer, Session};
use crate::measure::{Bounds, SampleSize, measure_each};
use crate::progress::Progress;
use crate::record::Record;
use crate::send::{self, Case, Mode};
use crate::socket::Sink;

/// A sender of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sender {
    /// This toolkit.
    Ours(Mode),
    /// Another toolkit, by its name in the definitions. The difference between two messages does
    /// not affect it.
    Peer(&'static str),
}

/// The measurements, and the missing requests.
#[derive(Default)]
pub struct Sends {
    /// Milliseconds.
    measured: BTreeMap<(Case, Sender), f64>,
    missing: RefCell<BTreeSet<(Case, Sender)>>,
    /// The reasons why toolkits are missing.
    reasons: BTreeMap<&'static str, String>,
}

impl Sends {
    /// Returns the median milliseconds of a message; if it was not measured, a placeholder,
    /// recorded as missing; NaN if the toolkit is missing.
    pub fn ms(&self, case: Case, sender: Sender) -> f64 {
        match (self.measured.get(&(case, sender)), sender) {
            (Some(ms), _) => *ms,
            (None, Sender::Peer(name)) if self.reasons.contains_key(name) => f64::NAN,
            (None, _) => {
                self.missing.borrow_mut().insert((case, sender));
                1.0
            }
        }
    }

    /// Returns the reason why a toolkit is missing.
    pub fn reason(&self, name: &str) -> Option<&str> {
        self.reasons.get(name).map(String::as_str)
    }

    /// Returns the number of cases with missing measurements.
    pub fn cases(&self) -> usize {
        self.by_case().len()
    }

    /// Loads missing measurements from a record.
    pub fn load_recorded(&mut self, repetition: usize, record: &Record) {
        let Sends { measured, missing, reasons } = self;
        missing.get_mut().retain(|&(case, sender)| {
            let rows = record.of::<SentRow>(&sent_key(repetition, &case)).into_iter();
            let row = rows.rev().find(|row| row.sender == sender.name());
            match (row.map(|row| (row.ms, row.reason)), sender) {
                (Some((Some(ms), _)), _) => {
                    measured.insert((case, sender), ms);
                }
                (Some((None, Some(reason))), Sender::Peer(name)) => {
                    reasons.insert(name, reason);
                }
                _ => return true,
            }
            false
        });
    }

    /// Measures what is missing, into a record. The folder is that of built peers. A peer that
    /// fails is skipped from then on, with the reason.
    ///
    /// # Errors
    /// When a message of ours is wrong, or cannot be sent, the record cannot be written, or the
    /// time is up.
    pub fn measure(
        &mut self,
        sample_size: SampleSize,
        (definitions, folder): (&Definitions, &Path),
        repetition: usize,
        record: &mut Record,
        progress: &Progress,
    ) -> Result<()> {
        let sink = Sink::start()?;
        let mut peers = self.start_peers(definitions, folder);
        for (case, senders) in self.by_case() {
            progress.check_time()?;
            let mut times = timed(&case, &senders, &mut peers, sink.address(), sample_size)?;
            let mut rows = Vec::new();
            for sender in senders {
                let ms = self.settled(sender, times.remove(&sender))?;
                self.measured.extend(ms.iter().map(|ms| ((case, sender), *ms)));
                rows.push(SentRow::new(repetition, &case, sender.name(), ms));
            }
            record.append(SENT, &sent_key(repetition, &case), &rows)?;
            peers.retain(|(name, _)| !self.reasons.contains_key(name));
            progress.done();
        }
        self.missing.borrow_mut().clear();
        Ok(())
    }

    /// Returns a time, or the reason why another toolkit has none, which is remembered.
    fn settled(&mut self, sender: Sender, ms: Option<Result<f64>>) -> Result<Result<f64, String>> {
        match (ms, sender) {
            (Some(Err(error)), Sender::Peer(name)) => {
                let reason = format!("{error:#}");
                eprintln!("{name} is skipped: {reason}");
                self.reasons.insert(name, reason.clone());
                Ok(Err(reason))
            }
            (None, Sender::Peer(name)) => {
                Ok(Err(self.reasons.get(name).cloned().unwrap_or_else(|| "not started".to_owned())))
            }
            (ms, Sender::Ours(_)) => ms.context("not measured")?.map(Ok),
            (Some(Ok(ms)), _) => Ok(Ok(ms)),
        }
    }

    /// Returns the keys of missing measurements, with their senders.
    #[cfg(test)]
    pub fn keys(&self, repetition: usize) -> Vec<(String, Vec<&'static str>)> {
        let cases = self.by_case().into_iter();
        cases
            .map(|(case, senders)| (sent_key(repetition, &case), senders.iter().map(|it| it.name()).collect()))
            .collect()
    }

    /// Replaces missing measurements by numbers of a model.
    #[cfg(test)]
    pub fn fill(&mut self, model: impl Fn(Case, Sender) -> f64) {
        let missing = std::mem::take(&mut *self.missing.borrow_mut());
        self.measured.extend(missing.into_iter().map(|key| (key, model(key.0, key.1))));
    }

    fn by_case(&self) -> BTreeMap<Case, Vec<Sender>> {
        let mut cases: BTreeMap<Case, Vec<Sender>> = BTreeMap::new();
        for (case, sender) in self.missing.borrow().iter() {
            cases.entry(*case).or_default().push(*sender);
        }
        cases
    }

    /// Starts the requested toolkits, and records why others could not be started.
    fn start_peers(&mut self, definitions: &Definitions, folder: &Path) -> Vec<(&'static str, Peer)> {
        let asked: BTreeSet<&'static str> =
            self.missing.borrow().iter().filter_map(|(_, sender)| sender.peer()).collect();
        let mut peers = Vec::new();
        for name in asked {
            let definition = definitions.peers.iter().find(|peer| peer.name == name);
            match definition.map(|definition| Peer::start(definition, folder)) {
                Some(Ok(peer)) => {
                    self.reasons.remove(name);
                    peers.push((name, peer));
                }
                Some(Err(error)) => drop(self.reasons.insert(name, format!("{error:#}"))),
                None => drop(self.reasons.insert(name, "not defined".to_owned())),
            }
        }
        peers
    }
}

/// Returns the milliseconds of a message for each available sender, or its error, alternating.
fn timed(
    case: &Case,
    senders: &[Sender],
    peers: &mut [(&'static str, Peer)],
    sink: SocketAddr,
    sample_size: SampleSize,
) -> Result<BTreeMap<Sender, Result<f64>>> {
    let (mut times, mut sessions) = (BTreeMap::new(), Vec::new());
    for sender in senders {
        if let Sender::Ours(mode) = sender {
            sessions.push((*sender, send::open(case, *mode, Some(sink))?));
        }
    }
    for (name, peer) in peers.iter_mut().filter(|(name, _)| senders.contains(&Sender::Peer(name))) {
        match peer.prepare_send(case.values, case.n, sink) {
            Ok(session) => sessions.push((Sender::Peer(name), session)),
            Err(error) => drop(times.insert(Sender::Peer(name), Err(error))),
        }
    }
    let (senders, mut sessions): (Vec<Sender>, Vec<Box<dyn Session + '_>>) = sessions.into_iter().unzip();
    let figures = measure_each(&mut sessions, sample_size, Bounds::NONE).into_iter();
    let ms = figures.map(|figures| figures.map(|figures| figures.ns_median.max(1) as f64 / 1e6));
    times.extend(senders.into_iter().zip(ms));
    Ok(times)
}

impl Sender {
    /// Returns the name in rows.
    pub fn name(self) -> &'static str {
        match self {
            Sender::Ours(mode) => mode.name(),
            Sender::Peer(name) => name,
        }
    }

    fn peer(self) -> Option<&'static str> {
        match self {
            Sender::Peer(name) => Some(name),
            Sender::Ours(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::send::Action;
    use crate::workload::Values;
    use std::time::Duration;

    #[test]
    fn what_is_asked_for_is_measured_and_a_missing_toolkit_has_its_reason() {
        let mut sends = Sends::default();
        let case = Case::new(Action::ContentMatch, Values::Ints, 5);
        let senders = [Sender::Ours(Mode::Regular), Sender::Ours(Mode::Compared), Sender::Peer("gsoap")];
        assert!(senders.iter().all(|sender| sends.ms(case, *sender) > 0.0));
        assert_eq!(sends.cases(), 1);
        let (sample_size, definitions) = (SampleSize { runs: 5, time: Duration::ZERO }, Definitions::load().unwrap());
        let (mut record, progress, nowhere) = (Record::default(), Progress::new(1.0, None), Path::new("nowhere"));
        sends.measure(sample_size, (&definitions, nowhere), 0, &mut record, &progress).unwrap();
        assert_eq!((sends.cases(), record.lines().len()), (0, 3));
        assert!(record.has(&sent_key(0, &case)), "by turns, and so one piece of work");
        assert!(sends.ms(case, senders[0]) > 0.0 && sends.ms(case, senders[2]).is_nan());
        assert!(sends.reason("gsoap").unwrap().contains("cargo xtask peers gsoap") && sends.cases() == 0);
        let mut again = Sends::default();
        assert!(senders.iter().all(|sender| again.ms(case, *sender) == 1.0));
        again.load_recorded(0, &record);
        assert_eq!((again.cases(), again.ms(case, senders[1])), (0, sends.ms(case, senders[1])));
        assert!(again.ms(case, senders[2]).is_nan());
    }
}
