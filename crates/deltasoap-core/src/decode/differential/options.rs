//! Options of differential decoding.

use super::policy::Custom;

/// Where the decoder's state is saved while a message is decoded, and in what form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Checkpoints {
    /// Nowhere: every message is read in regular mode.
    Off,
    /// At every leaf, at the cost of its position. Bytes are compared, never sums.
    #[default]
    Leaf,
    /// As a policy of another crate decides. Those of the papers (full, differential, lightweight)
    /// are in `deltasoap-checkpoints`.
    Custom(Custom),
}

/// How messages that resemble the previous one are decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Differential {
    /// What is saved.
    pub checkpoints: Checkpoints,
    /// True if a stream that gains no time is read in regular mode, and tried again from time to
    /// time.
    pub adaptive: bool,
}

impl Default for Differential {
    /// Leaf checkpoints, adaptive.
    fn default() -> Self {
        Differential { checkpoints: Checkpoints::Leaf, adaptive: true }
    }
}

impl Differential {
    /// Regular mode only.
    pub const OFF: Differential = Differential { checkpoints: Checkpoints::Off, adaptive: false };
}
