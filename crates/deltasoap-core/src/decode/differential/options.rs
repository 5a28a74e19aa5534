//! How differential decoding works: policies, matchers, portions.

/// Where the decoder's state is saved while a message is decoded, and in what form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Checkpoints {
    /// Nowhere: every message is read in regular mode.
    Off,
    /// A complete copy of the state every [`portion`](Differential::portion) bytes (FCP: *Differential Deserialization*,
    /// section 3.1).
    Full,
    /// A copy of what differs from a base copy, every `portion` bytes (DCP: *Lightweight Checkpointing*, section 3).
    Differential,
    /// A place in a group with a base checkpoint, where the structure of the message offers one (LCP: *Lightweight
    /// Checkpointing*, section 4).
    Lightweight,
    /// Every leaf, at the cost of its position. Bytes are compared, never sums.
    #[default]
    Leaf,
}

impl Checkpoints {
    /// True for the papers' policies.
    pub(crate) fn is_of_papers(self) -> bool {
        matches!(self, Checkpoints::Full | Checkpoints::Differential | Checkpoints::Lightweight)
    }
}

/// How a portion of a message is found to be the one of the message before. Leaf checkpoints always compare bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Matcher {
    /// The bytes are stored and compared.
    #[default]
    Compare,
    /// The exclusive or of the portion's words. Many changes go unseen: for study alone.
    Xor,
    /// Adler-32 (RFC 1950). Weak on short portions: for study alone.
    Adler32,
    /// CRC-32 (ISO 3309). A sender who wants to can make changes that go unseen, whatever the initial value, for the sum
    /// is affine.
    Crc32,
    /// A universal hash under a key that no sender knows: the bound on missing a change holds for every sender.
    Keyed,
}

/// How messages that resemble the one before are decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Differential {
    /// What is saved.
    pub checkpoints: Checkpoints,
    /// How portions are matched by the papers' policies.
    pub matcher: Matcher,
    /// Bytes between two checkpoints of the papers' policies (their interrupt frequency or message portion size N), at
    /// least 1; above 512 KiB as 512 KiB.
    pub portion: u32,
    /// Whether the first, middle and last bytes of a portion are compared before its sum is made (*Differential
    /// Deserialization*, section 5).
    pub probe: bool,
    /// Whether the size of portions is tuned at run time (the same section), with `portion` to start from.
    pub tune: bool,
    /// Whether a stream that gains no time is read in regular mode, and tried again from time to time.
    pub adaptive: bool,
}

impl Default for Differential {
    /// Leaf checkpoints, adaptive.
    fn default() -> Self {
        Differential {
            checkpoints: Checkpoints::Leaf,
            matcher: Matcher::Compare,
            portion: 512,
            probe: false,
            tune: false,
            adaptive: true,
        }
    }
}

impl Differential {
    /// Regular mode only.
    pub const OFF: Differential = Differential {
        checkpoints: Checkpoints::Off,
        matcher: Matcher::Compare,
        portion: 512,
        probe: false,
        tune: false,
        adaptive: false,
    };
}
