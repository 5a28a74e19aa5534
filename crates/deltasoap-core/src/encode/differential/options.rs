//! How differential serialization works: chunks, widths, how much is kept.

/// How much room a value gets in a template (*Differential Serialization*, section 3.2, "stuffing"). What is not used is
/// white space behind the end tag, between elements only. Texts, and types without a widest value, get no more than they need.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Width {
    /// What the value needs: messages are the same, byte for byte, as if they were written in full.
    #[default]
    Exact,
    /// What this part (0 to 1) of the values of an array needed, and what each value needed at most so far.
    Learned(f32),
    /// A number of bytes, or what the type's widest value needs where that is less.
    Given(u16),
    /// What the type's widest value needs.
    Maximal,
}

/// Least bytes of a chunk.
const SMALLEST: usize = 256;
/// Most bytes of a chunk: places in it are 32 bits, and the last item or text may pass its end.
const LARGEST: usize = 1 << 30;

/// How messages that resemble the one before are written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Templating {
    /// Most templates kept for an operation; with 0 every message is written in full.
    pub templates: usize,
    /// Bytes of a chunk as it is made, at least 256.
    pub chunk: usize,
    /// A chunk that grows beyond this many bytes is split; at least [`chunk`](Self::chunk).
    pub split: usize,
    /// Bytes left free at the end of a chunk, to shift into.
    pub reserve: usize,
    /// Room that values get.
    pub width: Width,
    /// Whether messages are written in full where templates are slower ([`Templates`](crate::Templates) alone).
    pub adaptive: bool,
    /// Most bytes that a template may take, its tables included; a message that needs more is not kept.
    pub bytes: usize,
}

impl Default for Templating {
    /// Four templates an operation, chunks of 32 KiB, exact widths, 256 MiB.
    fn default() -> Self {
        Templating {
            templates: 4,
            chunk: 32 << 10,
            split: 64 << 10,
            reserve: 2 << 10,
            width: Width::Exact,
            adaptive: true,
            bytes: 256 << 20,
        }
    }
}

impl Templating {
    /// Every message is written in full.
    pub const OFF: Templating = Templating {
        templates: 0,
        chunk: 32 << 10,
        split: 64 << 10,
        reserve: 0,
        width: Width::Exact,
        adaptive: false,
        bytes: 0,
    };

    /// True if nothing is kept.
    pub fn is_off(&self) -> bool {
        self.templates == 0
    }

    /// The options within the ranges of their fields: what is beyond counts as the nearest that is not.
    pub(super) fn in_range(self) -> Templating {
        let chunk = self.chunk.clamp(SMALLEST, LARGEST);
        Templating { chunk, split: self.split.clamp(chunk, LARGEST), reserve: self.reserve.min(chunk), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_sizes_count_as_the_nearest_that_are_not() {
        let of = |chunk, split, reserve| {
            let options = Templating { chunk, split, reserve, ..Templating::default() }.in_range();
            (options.chunk, options.split, options.reserve)
        };
        assert_eq!(of(0, 0, 0), (256, 256, 0));
        assert_eq!(of(1024, 300, 4096), (1024, 1024, 1024));
        assert_eq!(of(usize::MAX, usize::MAX, usize::MAX), (1 << 30, 1 << 30, 1 << 30));
        assert_eq!(Templating::default().in_range(), Templating::default());
    }
}
