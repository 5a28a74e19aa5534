//! A byte string that stores short values inline and long ones on the heap.

use std::ops::Deref;

/// Maximum number of bytes stored inline.
const INLINE: usize = 22;

/// A byte string.
#[derive(Clone)]
pub(super) enum Compact {
    Inline { len: u8, bytes: [u8; INLINE] },
    Heap(Box<[u8]>),
}

impl Compact {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let mut inline = [0; INLINE];
        match inline.get_mut(..bytes.len()) {
            Some(start) => {
                start.copy_from_slice(bytes);
                Compact::Inline { len: bytes.len() as u8, bytes: inline }
            }
            None => Compact::Heap(bytes.into()),
        }
    }

    /// Returns the number of bytes held on the heap.
    pub(super) fn held(&self) -> usize {
        match self {
            Compact::Inline { .. } => 0,
            Compact::Heap(bytes) => bytes.len(),
        }
    }
}

impl Default for Compact {
    fn default() -> Self {
        Compact::new(&[])
    }
}

impl Deref for Compact {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Compact::Inline { len, bytes } => &bytes[..usize::from(*len)],
            Compact::Heap(bytes) => bytes,
        }
    }
}

impl PartialEq for Compact {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl std::fmt::Debug for Compact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_any_number_are_kept() {
        for len in 0..40 {
            let bytes = vec![7; len];
            assert_eq!(*Compact::new(&bytes), *bytes);
        }
        assert_eq!(size_of::<Compact>(), 24);
    }
}
