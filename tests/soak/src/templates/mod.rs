//! Streams of values sent through templates: each message must equal the full encoding of the
//! value, byte for byte or except for stuffing, and must mean the same to two foreign parsers.
//!
//! The checks are those of the engine's tests ([`crate::sender`]), which panic; [`foreign`] adds
//! the parsers, [`overlay`] lists that are encoded through one chunk.

mod bounds;
pub mod foreign;
mod overlay;

use crate::edits;
use crate::generate;
use crate::library::Library;
use crate::reports::{self, Random};
use crate::sender::{Flight, Sender};
use crate::subject::Subject;
use crate::template_streams::{send_all, templating};
use crate::updates;
use crate::watchdog;
use deltasoap::engine::{Buffer, EncodeStats, RunPool};
use deltasoap::schema::QName;
use deltasoap::soap::Envelope;
use deltasoap_core::Value;
use deltasoap_core::schema::View;
use deltasoap_test_support::Chance;
use deltasoap_test_support::Entropy;
use serde::{Deserialize, Serialize};

/// Maximum number of attempts to shrink a case.
const ATTEMPTS: usize = 100;

/// What is sent, and all settings; in a form that can be saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    pub seed: u64,
    pub sequence: u64,
    pub kind: Kind,
    /// Entropy for the first values, for updates, and for how messages are sent.
    pub value: Vec<u8>,
    pub updates: Vec<u8>,
    pub sending: Vec<u8>,
    /// The message of the panic.
    #[serde(default)]
    pub found: String,
}

/// The kind of what is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Dynamic values through one template.
    One(Subject),
    /// Dynamic values through a set of templates.
    Several(Subject),
    /// Dynamic values through two templates that share arrays.
    Pool(Subject),
    /// Values that track their changes.
    Tracked,
    /// A list through one chunk.
    Overlay,
}

/// Names of the kinds, for counting.
pub const KINDS: [&str; 5] = ["one template", "several templates", "shared pool", "tracked values", "overlay"];

impl Kind {
    /// Returns the index in [`KINDS`].
    pub fn index(&self) -> usize {
        match self {
            Kind::One(_) => 0,
            Kind::Several(_) => 1,
            Kind::Pool(_) => 2,
            Kind::Tracked => 3,
            Kind::Overlay => 4,
        }
    }
}

impl Case {
    /// Returns a random case.
    pub fn any((seed, sequence): (u64, u64), chance: &mut Chance, library: &mut Library) -> Case {
        let mut subject = || loop {
            let subject = Subject::any(chance, library);
            if !matches!(subject, Subject::Derived { .. }) {
                return subject;
            }
        };
        let subject = subject();
        let kind = match chance.below(10) {
            0..=3 => Kind::One(subject),
            4 | 5 => Kind::Several(subject),
            6 | 7 => Kind::Pool(subject),
            8 => Kind::Tracked,
            _ => Kind::Overlay,
        };
        let (updates, sending) = (chance.between(0, 300), chance.between(4, 160));
        let value = chance.bytes(400);
        let (updates, sending) = (chance.bytes(updates), chance.bytes(sending));
        Case { seed, sequence, kind, value, updates, sending, found: String::new() }
    }

    /// Sends the stream; returns the templates' counters.
    ///
    /// # Errors
    /// Returns the text of the panic if a message differs from the full encoding.
    pub fn check(&self, library: &mut Library) -> Result<EncodeStats, String> {
        watchdog::guarded(|| match &self.kind {
            Kind::One(subject) | Kind::Several(subject) | Kind::Pool(subject) => self.send_subject(subject, library),
            Kind::Tracked => self.send_tracked(),
            Kind::Overlay => overlay::check(&mut Entropy(&self.sending), &mut Entropy(&self.value)),
        })
    }

    fn send_subject(&self, subject: &Subject, library: &mut Library) -> EncodeStats {
        let Some(reading) = subject.load(library) else { return EncodeStats::default() };
        let Some(view) = reading.view().filter(|view| bounds::is_bounded(*view)) else { return EncodeStats::default() };
        let seed = u64::from_le_bytes(std::array::from_fn(|index| self.value.get(index).copied().unwrap_or(0)));
        let mut values = subject.values(&mut Chance::new(seed, 0), library);
        values.retain(|value| is_writable(value, view));
        if values.is_empty() {
            values = vec![generate::value(&mut Entropy(&self.value), view)];
        }
        self.send_values(values, view)
    }

    fn send_values(&self, mut values: Vec<Value>, view: View<'_>) -> EncodeStats {
        let (mut sending, updates) = (Entropy(&self.sending), Entropy(&self.updates));
        let options = templating(&mut sending);
        let mut sender = match self.kind {
            Kind::Several(_) => Sender::of_several(view, options),
            Kind::Pool(_) => return self.send_shared(values, view),
            _ => Sender::new(view, options),
        };
        values.truncate(if matches!(self.kind, Kind::One(_)) { 1 } else { 4 });
        prepare(&mut sender, &self.kind);
        send_all(&mut sender, values, view, updates, sending);
        sender.stats()
    }

    /// Two templates take turns with values that share arrays.
    fn send_shared(&self, mut values: Vec<Value>, view: View<'_>) -> EncodeStats {
        let (mut sending, mut entropy) = (Entropy(&self.sending), Entropy(&self.updates));
        let (options, pool) = (templating(&mut sending), RunPool::new());
        let mut senders: [Sender<'_, Value>; 2] = std::array::from_fn(|_| Sender::sharing(view, options, &pool));
        senders.iter_mut().for_each(|sender| prepare(sender, &self.kind));
        values.truncate(1);
        let mut other = values[0].clone();
        updates::longer_list(&mut values[0], &mut entropy);
        while !entropy.0.is_empty() {
            let flight = [Flight::Landed, Flight::Held, Flight::Frames][sending.below(3)];
            let sender = &mut senders[sending.below(2)];
            let sent = sender.send_in(&values[0], flight);
            assert!(sent.is_ok() || sender.is_lenient, "{sent:?}");
            match entropy.below(6) {
                0 => std::mem::swap(&mut values[0], &mut other),
                1 => other = values[0].clone(),
                2 => edits::edit(&mut values[0], view, &mut entropy),
                _ => updates::update(&mut values[0], view, &mut entropy),
            }
        }
        senders.iter_mut().for_each(Sender::land);
        senders.iter().fold(EncodeStats::default(), |mut all, sender| {
            all += sender.stats();
            all
        })
    }

    fn send_tracked(&self) -> EncodeStats {
        let seed = self.value.iter().fold(7, |seed: u64, byte| seed.wrapping_mul(257).wrapping_add(u64::from(*byte)));
        let options = templating(&mut Entropy(&self.sending));
        let prepare = |sender: &mut reports::Reports| sender.witness = Some(foreign::compare);
        reports::send_to_several_places(options, &mut Random::new(seed), 1 + self.updates.len() / 8, prepare)
    }

    /// Returns a smaller case that still fails, as far as a few attempts find one.
    pub fn shrunk(mut self, library: &mut Library) -> Case {
        let mut left = ATTEMPTS;
        let entropies: [fn(&mut Case) -> &mut Vec<u8>; 3] =
            [|case| &mut case.updates, |case| &mut case.sending, |case| &mut case.value];
        for entropy in entropies {
            let mut size = entropy(&mut self).len();
            while size > 0 {
                let mut end = entropy(&mut self).len();
                while end > 0 && left > 0 {
                    left -= 1;
                    let start = end.saturating_sub(size);
                    let mut other = self.clone();
                    entropy(&mut other).drain(start..end);
                    if let Err(found) = other.check(library) {
                        self = Case { found, ..other };
                    }
                    end = start;
                }
                size /= 2;
            }
        }
        self
    }
}

/// Templates preserve everything in random schemas; others may have trees or shared values.
fn prepare(sender: &mut Sender<'_, Value>, kind: &Kind) {
    let is_random = matches!(kind, Kind::One(Subject::Random { .. }) | Kind::Several(Subject::Random { .. }));
    sender.witness = Some(foreign::compare);
    sender.is_lenient = !is_random;
}

/// Not every decoded value can be encoded: in arrays of several dimensions all rows must have the
/// same length.
fn is_writable(value: &Value, view: View<'_>) -> bool {
    Envelope::element(&QName::new("", "r"), value, view).write(Buffer::new()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_kinds_are_sent_as_in_full() {
        let mut library = Library::default();
        let mut chance = Chance::new(11, 0);
        let mut messages = [0; KINDS.len()];
        for sequence in 0..60 {
            let case = Case::any((11, sequence), &mut chance, &mut library);
            let stats = case.check(&mut library).unwrap_or_else(|panic| panic!("{case:?}: {panic}"));
            messages[case.kind.index()] += stats.messages;
        }
        assert!(messages.iter().all(|&count| count > 0), "{messages:?}");
    }
}
