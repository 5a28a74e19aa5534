//! The measurements behind the exhibits on sending.
//!
//! As [`Points`](super::points::Points): an exhibit is drawn twice, and what it asks for the first time is there the second time. Every time is one
//! over a socket, until the last byte was handed to the system. All that is asked of a case is measured by turns, other toolkits
//! included.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Result;

use crate::engine::{Peer, Session};
use crate::measure::{Plan, measure};
use crate::send::socket::Sink;
use crate::send::{self, Case, Mode};
use crate::workload::Definitions;

/// Who sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sender {
    /// This toolkit.
    Ours(Mode),
    /// Another one, by its name in the definitions. What there is between two messages is without effect on it.
    Peer(&'static str),
}

/// What was measured, and what was asked for.
#[derive(Default)]
pub struct Sends {
    /// Milliseconds.
    measured: BTreeMap<(Case, Sender), f64>,
    missing: RefCell<BTreeSet<(Case, Sender)>>,
    /// Why there is nothing of a toolkit.
    reasons: BTreeMap<&'static str, String>,
}

impl Sends {
    /// Median milliseconds of a message; one of no meaning, noted as missing, if it was not measured, and not a number
    /// where the toolkit is not there.
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

    /// Why there is nothing of a toolkit.
    pub fn reason(&self, name: &str) -> Option<&str> {
        self.reasons.get(name).map(String::as_str)
    }

    /// All that was measured.
    pub fn all(&self) -> impl Iterator<Item = (Case, Sender, f64)> {
        self.measured.iter().map(|((case, sender), ms)| (*case, *sender, *ms))
    }

    /// Cases that have something missing.
    pub fn cases(&self) -> usize {
        self.by_case().len()
    }

    /// Measures what is missing; `tick` is called once a case. Peers lie in a folder.
    ///
    /// # Errors
    /// When a message is wrong, or cannot be sent.
    pub fn measure(
        &mut self,
        plan: Plan,
        definitions: &Definitions,
        folder: &Path,
        mut tick: impl FnMut(),
    ) -> Result<()> {
        let sink = Sink::start()?;
        let mut peers = self.start_peers(definitions, folder);
        for (case, senders) in self.by_case() {
            let mut sessions = Vec::new();
            for sender in &senders {
                if let Sender::Ours(mode) = sender {
                    sessions.push((*sender, send::open(&case, *mode, Some(sink.address()))?));
                }
            }
            for (name, peer) in peers.iter_mut().filter(|(name, _)| senders.contains(&Sender::Peer(name))) {
                sessions.push((Sender::Peer(name), peer.prepare_send(case.values, case.n, sink.address())?));
            }
            let (senders, mut sessions): (Vec<Sender>, Vec<Box<dyn Session + '_>>) = sessions.into_iter().unzip();
            let figures = measure(&mut sessions, plan, || ())?;
            let ms = figures.iter().map(|figures| figures.ns_median.max(1) as f64 / 1e6);
            self.measured.extend(senders.into_iter().map(|sender| (case, sender)).zip(ms));
            tick();
        }
        self.missing.borrow_mut().clear();
        Ok(())
    }

    /// Puts numbers of a model in the place of what is missing.
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

    /// Starts the toolkits that were asked for, and notes why others could not be.
    fn start_peers(&mut self, definitions: &Definitions, folder: &Path) -> Vec<(&'static str, Peer)> {
        let asked: BTreeSet<&'static str> =
            self.missing.borrow().iter().filter_map(|(_, sender)| name(*sender)).collect();
        let mut peers = Vec::new();
        for name in asked {
            let definition = definitions.peers.iter().find(|peer| peer.name == name);
            match definition.map(|definition| Peer::start(definition, folder)) {
                Some(Ok(peer)) => peers.push((name, peer)),
                Some(Err(error)) => drop(self.reasons.insert(name, format!("{error:#}"))),
                None => drop(self.reasons.insert(name, "not defined".to_owned())),
            }
        }
        peers
    }
}

fn name(sender: Sender) -> Option<&'static str> {
    match sender {
        Sender::Peer(name) => Some(name),
        Sender::Ours(_) => None,
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
        assert_eq!((sends.cases(), sends.all().count()), (1, 0));
        let plan = Plan { runs: 5, time: Duration::ZERO };
        sends.measure(plan, &Definitions::load().unwrap(), Path::new("nowhere"), || ()).unwrap();
        assert_eq!((sends.cases(), sends.all().count()), (0, 2));
        assert!(sends.ms(case, senders[0]) > 0.0 && sends.ms(case, senders[2]).is_nan());
        assert!(sends.reason("gsoap").unwrap().contains("cargo xtask peers gsoap") && sends.cases() == 0);
    }
}
