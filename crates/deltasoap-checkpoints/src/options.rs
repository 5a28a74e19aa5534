//! The options: the form of the saved state, the matcher, and the size of portions.

use crate::engine::make;
use deltasoap_core::Checkpoints;
use deltasoap_core::decode::differential::policy::{Custom, Policy};

/// The form in which the decoder's state is saved between two portions of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum State {
    /// A complete copy (FCP: *Differential Deserialization*, section 3.1).
    #[default]
    Full,
    /// A copy of the differences from a base copy (DCP: *Lightweight Checkpointing*, section 3).
    Differential,
    /// A position in a group with a base checkpoint, where the structure of the message allows one
    /// (LCP: *Lightweight Checkpointing*, section 4).
    Lightweight,
}

/// The way in which a portion of a message is compared with that of the previous message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Matcher {
    /// Stores and compares the bytes.
    #[default]
    Compare,
    /// The exclusive or of the portion's words. Misses many changes: for study only.
    Xor,
    /// Adler-32 (RFC 1950). Weak on short portions: for study only.
    Adler32,
    /// CRC-32 (ISO 3309). A malicious sender can make undetected changes, whatever the initial
    /// value, since the sum is affine.
    Crc32,
    /// A universal hash under a key that no sender knows: the bound on missing a change holds for
    /// every sender.
    Keyed,
}

/// The position of the base checkpoints of [`State::Lightweight`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub enum Bases {
    /// At the second of two consecutive interrupts that could make no checkpoint: an element
    /// shorter than two portions has none.
    #[default]
    Interrupts,
    /// At the first possible position in an element, as published (*Lightweight Checkpointing*,
    /// section 4.2, footnote 5).
    First,
}

/// Options: how messages are split into portions, and what is saved between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Portions {
    /// The form of the saved state.
    pub state: State,
    /// The matcher for portions.
    pub matcher: Matcher,
    /// Number of bytes between two checkpoints (the papers' interrupt frequency or message portion
    /// size N), at least 1; larger values are clamped to 512 KiB.
    pub size: u32,
    /// True to compare the first, middle and last bytes of a portion before its sum is computed
    /// (*Differential Deserialization*, section 5).
    pub probe: bool,
    /// True to tune the size of portions at run time (the same section), starting from `size`.
    pub tune: bool,
    /// The position of base checkpoints; used by [`State::Lightweight`] only.
    pub bases: Bases,
    /// True to keep bytes in addition to sums, so that no portion matches another one with the same
    /// sum. For tests, which count these.
    #[doc(hidden)]
    pub audit: bool,
}

impl Default for Portions {
    /// Full checkpoints every 512 bytes, compared byte by byte.
    fn default() -> Self {
        let (state, matcher, bases) = (State::Full, Matcher::Compare, Bases::Interrupts);
        Portions { state, matcher, size: 512, probe: false, tune: false, bases, audit: false }
    }
}

impl State {
    /// All variants.
    pub const ALL: [State; 3] = [State::Full, State::Differential, State::Lightweight];
}

impl Matcher {
    /// All variants.
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
    /// Returns the options from which `checkpoints` was made; `None` if it is another policy.
    pub fn from_checkpoints(checkpoints: Checkpoints) -> Option<Self> {
        let Checkpoints::Custom(custom) = checkpoints else { return None };
        custom.setting_for(unpack).map(Portions::unpacked)
    }

    /// Packs all options into one integer: the size in the lower half, a byte each for the state
    /// and the matcher, and four bits.
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
                assert_eq!(Portions::from_checkpoints(portions.into()), Some(portions));
            }
        }
    }
}
