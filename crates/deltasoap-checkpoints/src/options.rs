//! The options: what is saved, how portions are matched, and their size.

use crate::engine::make;
use deltasoap_core::Checkpoints;
use deltasoap_core::decode::differential::policy::{Custom, Policy};

/// In what form the decoder's state is saved between two portions of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum State {
    /// A complete copy (FCP: *Differential Deserialization*, section 3.1).
    #[default]
    Full,
    /// A copy of what differs from a base copy (DCP: *Lightweight Checkpointing*, section 3).
    Differential,
    /// A place in a group with a base checkpoint, where the structure of the message offers one
    /// (LCP: *Lightweight Checkpointing*, section 4).
    Lightweight,
}

/// How a portion of a message is found to be the one of the message before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Matcher {
    /// The bytes are stored and compared.
    #[default]
    Compare,
    /// The exclusive or of the portion's words. Many changes go unseen: for study alone.
    Xor,
    /// Adler-32 (RFC 1950). Weak on short portions: for study alone.
    Adler32,
    /// CRC-32 (ISO 3309). A sender who wants to can make changes that go unseen, whatever the
    /// initial value, for the sum is affine.
    Crc32,
    /// A universal hash under a key that no sender knows: the bound on missing a change holds for
    /// every sender.
    Keyed,
}

/// Where the base checkpoints of [`State::Lightweight`] lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub enum Bases {
    /// Where an interrupt finds that no checkpoint could be made twice in a row: an element shorter
    /// than two portions has none.
    #[default]
    Interrupts,
    /// At the first place in an element where one can lie, as published (*Lightweight
    /// Checkpointing*, section 4.2, footnote 5).
    First,
}

/// How messages are cut into portions, and what is saved between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Portions {
    /// What is saved.
    pub state: State,
    /// How portions are matched.
    pub matcher: Matcher,
    /// Bytes between two checkpoints (the papers' interrupt frequency or message portion size N),
    /// at least 1; above 512 KiB as 512 KiB.
    pub size: u32,
    /// Whether the first, middle and last bytes of a portion are compared before its sum is made
    /// (*Differential Deserialization*, section 5).
    pub probe: bool,
    /// Whether the size of portions is tuned at run time (the same section), with `size` to start
    /// from.
    pub tune: bool,
    /// Where base checkpoints lie, for [`State::Lightweight`] alone.
    pub bases: Bases,
    /// Whether bytes are kept beside sums, so that no portion matches another one of the same sum:
    /// for tests, which count these.
    #[doc(hidden)]
    pub audit: bool,
}

impl Default for Portions {
    /// Full checkpoints every 512 bytes, which are compared.
    fn default() -> Self {
        let (state, matcher, bases) = (State::Full, Matcher::Compare, Bases::Interrupts);
        Portions { state, matcher, size: 512, probe: false, tune: false, bases, audit: false }
    }
}

impl State {
    /// All of them.
    pub const ALL: [State; 3] = [State::Full, State::Differential, State::Lightweight];
}

impl Matcher {
    /// All of them.
    pub const ALL: [Matcher; 5] = [Matcher::Compare, Matcher::Xor, Matcher::Adler32, Matcher::Crc32, Matcher::Keyed];
}

impl From<Portions> for Checkpoints {
    fn from(portions: Portions) -> Self {
        Checkpoints::Custom(Custom::new(unpack, portions.packed()))
    }
}

fn unpack(setting: u64, is_adaptive: bool) -> Box<dyn Policy> {
    make(Portions::unpacked(setting), is_adaptive)
}

impl Portions {
    /// The options that checkpoints were chosen with; `None` for those of another policy.
    pub fn of(checkpoints: Checkpoints) -> Option<Self> {
        let Checkpoints::Custom(custom) = checkpoints else { return None };
        custom.setting_for(unpack).map(Portions::unpacked)
    }

    /// All options in one word: the size in the lower half, a byte each for the state and the
    /// matcher, and four bits.
    fn packed(self) -> u64 {
        let bases = u64::from(self.bases == Bases::First);
        let flags = u64::from(self.probe) | u64::from(self.tune) << 1 | u64::from(self.audit) << 2 | bases << 3;
        u64::from(self.size) | (self.state as u64) << 32 | (self.matcher as u64) << 40 | flags << 48
    }

    fn unpacked(word: u64) -> Self {
        let (state, matcher) = (word >> 32 & 0xFF, word >> 40 & 0xFF);
        let flag = |bit: u32| word >> (48 + bit) & 1 == 1;
        Portions {
            state: State::ALL.get(state as usize).copied().unwrap_or_default(),
            matcher: Matcher::ALL.get(matcher as usize).copied().unwrap_or_default(),
            size: word as u32,
            probe: flag(0),
            tune: flag(1),
            audit: flag(2),
            bases: if flag(3) { Bases::First } else { Bases::Interrupts },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_fit_a_word() {
        for (state, matcher) in State::ALL.into_iter().flat_map(|state| Matcher::ALL.map(|matcher| (state, matcher))) {
            for (size, flags) in [(1, 0), (512, 1), (u32::MAX, 2), (0, 4), (77, 7), (9, 8)] {
                let (probe, tune, audit) = (flags & 1 == 1, flags & 2 == 2, flags & 4 == 4);
                let bases = if flags & 8 == 8 { Bases::First } else { Bases::Interrupts };
                let portions = Portions { state, matcher, size, probe, tune, bases, audit };
                assert_eq!(Portions::unpacked(portions.packed()), portions);
                assert_eq!(Portions::of(portions.into()), Some(portions));
            }
        }
    }
}
