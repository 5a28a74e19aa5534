//! Ways of decoding a stream, and the result.

use deltasoap::engine::Differential;
use deltasoap_checkpoints::{Bases, Portions};

use crate::options::{Match, Policy};
use crate::report::Counts;
use crate::stream::lane::Setup;

/// The settings for decoding a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Setting {
    /// The checkpoints.
    pub policy: Policy,
    /// The matcher.
    pub matcher: Match,
    /// Bytes between checkpoints.
    pub portion: u32,
    /// The place of base checkpoints, for the policy that has them.
    pub bases: Bases,
    /// The first paper's proposals besides checkpoints.
    pub refinement: Refinement,
    /// The difference from normal use.
    pub condition: Condition,
}

/// Proposals of *Differential Deserialization*, section 5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Refinement {
    /// No proposal.
    None,
    /// A few bytes are compared before a portion's checksum is calculated.
    Probe,
    /// The size of portions is tuned.
    Tune,
    /// Both proposals.
    Both,
}

impl Refinement {
    /// All combinations.
    pub const ALL: [Refinement; 4] = [Refinement::None, Refinement::Probe, Refinement::Tune, Refinement::Both];
}

/// A difference from normal use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Condition {
    /// No difference.
    None,
    /// The general routines read everything and tokenize each tag: the papers' kind of regular
    /// mode.
    NoShortcuts,
    /// Each message is read as if it were the first.
    AlwaysFirst,
}

impl Setting {
    /// Regular mode: the papers' "No DDS".
    pub const REGULAR: Setting = Setting {
        policy: Policy::Off,
        matcher: Match::Compare,
        portion: 512,
        bases: Bases::Interrupts,
        refinement: Refinement::None,
        condition: Condition::None,
    };

    /// Regular mode without our shortcuts: the papers' kind. It should be compared with settings in
    /// the same condition.
    pub const GENERAL: Setting = Setting { condition: Condition::NoShortcuts, ..Setting::REGULAR };

    /// Leaf checkpoints.
    pub const LEAF: Setting = Setting { policy: Policy::Leaf, ..Setting::REGULAR };

    /// Returns a policy of the papers with their checksum, and base checkpoints at the papers'
    /// places.
    pub fn checkpoints(policy: Policy, portion: u32) -> Self {
        let bases = if policy == Policy::Lightweight { Bases::First } else { Bases::Interrupts };
        Setting { policy, matcher: Match::Crc32, portion, bases, ..Setting::REGULAR }
    }

    /// Returns full checkpoints.
    pub fn full(portion: u32) -> Self {
        Setting::checkpoints(Policy::Full, portion)
    }

    /// Returns the setup of a lane.
    pub fn setup(self) -> Setup {
        let probe = matches!(self.refinement, Refinement::Probe | Refinement::Both);
        let tune = matches!(self.refinement, Refinement::Tune | Refinement::Both);
        let (matcher, size, bases) = (self.matcher.into(), self.portion, self.bases);
        let portions = Portions { matcher, size, probe, tune, bases, ..Portions::default() };
        let differential = Differential { checkpoints: self.policy.with(portions), adaptive: false };
        Setup {
            has_shortcuts: self.condition != Condition::NoShortcuts,
            is_forgetful: self.condition == Condition::AlwaysFirst,
            ..Setup::new(differential)
        }
    }
}

/// The measurement of a stream with a setting.
#[derive(Debug)]
pub struct Point {
    /// Median milliseconds of a message.
    pub ms: f64,
    /// Counts, in differential modes.
    pub counts: Option<Counts>,
}

impl Point {
    /// Returns the percentage of bytes that were read.
    pub fn regular_percent(&self) -> f64 {
        self.counts.as_ref().map_or(100.0, |counts| 100.0 - counts.fast_share() * 100.0)
    }

    /// Returns switches from fast to regular mode per message, as the papers count them: futile
    /// attempts at fast mode are switches.
    pub fn switches(&self) -> f64 {
        self.counts.as_ref().map_or(0.0, |counts| counts.to_regular + counts.futile)
    }

    /// Returns attempts at fast mode per message that skipped nothing.
    pub fn futile(&self) -> f64 {
        self.counts.as_ref().map_or(0.0, |counts| counts.futile)
    }

    /// Returns the bytes held between messages.
    pub fn memory(&self) -> f64 {
        self.counts.as_ref().map_or(0.0, |counts| counts.memory as f64)
    }
}
