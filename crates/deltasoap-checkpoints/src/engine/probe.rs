//! The first, middle and last bytes of portions (*Differential Deserialization*, section 5). If one
//! of them differs, no sum has to be computed.

use super::List;

/// The three bytes of one portion; `None` for an empty one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Probe([u8; 3]);

impl Probe {
    pub(super) fn new(bytes: &[u8]) -> Self {
        match (bytes.first(), bytes.last()) {
            (Some(&first), Some(&last)) => Probe([first, bytes[bytes.len() / 2], last]),
            _ => Probe::default(),
        }
    }
}

/// The probes of all portions.
#[derive(Debug, Default)]
pub(super) struct Probes {
    /// Parallel to the list of checkpoints.
    pub(super) portions: List<Probe>,
    pub(super) ending: Probe,
}

impl Probes {
    /// Returns true if the probe shows that `bytes` differ from the portion ahead, after `skipped`
    /// others.
    pub(super) fn refute(&self, skipped: usize, bytes: &[u8]) -> bool {
        *self.portions.nth(skipped).unwrap_or(&self.ending) != Probe::new(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_bytes_are_looked_at() {
        let portion = Probe::new(b"a portion");
        assert!(portion == Probe::new(b"aXXXrXXXn"));
        for other in [&b"Xaaarnnnn"[..], b"aaaaXnnnn", b"aaaarnnnX", b""] {
            assert!(portion != Probe::new(other));
        }
    }
}
