//! The size of a portion in three bytes, since lists are long.

/// A number of bytes, or unknown if the portion's sum is unknown: then no portion matches it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size([u8; 3]);

impl Size {
    pub(super) const UNKNOWN: Size = Size([u8::MAX; 3]);

    /// Creates a size; it is unknown from 16 MiB - 1 byte.
    pub(super) fn new(bytes: usize) -> Self {
        match u32::try_from(bytes).map(u32::to_le_bytes) {
            Ok([low, middle, high, 0]) => Size([low, middle, high]),
            _ => Size::UNKNOWN,
        }
    }

    pub(super) fn bytes(self) -> Option<u32> {
        let [low, middle, high] = self.0;
        (self != Size::UNKNOWN).then(|| u32::from_le_bytes([low, middle, high, 0]))
    }
}

impl Default for Size {
    fn default() -> Self {
        Size::UNKNOWN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_kept_up_to_a_bound() {
        for bytes in [0, 1, 255, 256, 65_536, (1 << 24) - 2] {
            assert_eq!(Size::new(bytes as usize).bytes(), Some(bytes));
        }
        for bytes in [(1 << 24) - 1, 1 << 24, u32::MAX as usize, usize::MAX] {
            assert_eq!(Size::new(bytes).bytes(), None);
        }
    }
}
