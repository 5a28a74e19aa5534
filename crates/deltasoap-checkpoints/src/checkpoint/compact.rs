//! A few bytes, kept in place; many, elsewhere. And numbers as bytes.

use std::ops::Deref;

/// Most bytes kept in place.
const INLINE: usize = 22;

/// Bytes.
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

    /// Bytes kept elsewhere.
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

/// Writes a number, seven bits a byte, the lowest first.
pub(super) fn write(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads a number from the start of `bytes` and moves on.
pub(super) fn read(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let Some((byte, rest)) = bytes.split_first() else { break };
        *bytes = rest;
        number |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_written() {
        let numbers = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX];
        let mut out = Vec::new();
        numbers.iter().for_each(|&number| write(&mut out, number));
        let mut rest = out.as_slice();
        assert_eq!(numbers.map(|_| read(&mut rest)), numbers);
        assert!(rest.is_empty());
    }

    #[test]
    fn bytes_of_any_number_are_kept() {
        for len in 0..40 {
            let bytes = vec![7; len];
            assert_eq!(*Compact::new(&bytes), *bytes);
        }
        assert_eq!(size_of::<Compact>(), 24);
    }
}
