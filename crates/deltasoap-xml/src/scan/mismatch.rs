//! The first difference between two byte strings. Differential decoding finds changes with it.
//!
//! ```text
//! for each vector-wide block of both strings:
//!     equal = compare the blocks byte by byte      (one instruction)
//!     mask  = one bit a byte of `equal`            (one instruction)
//!     if not all bits are set: the answer is the block's start + number of trailing one bits
//! the rest, shorter than a vector: once more the last full vector, overlapping what was compared before
//! ```
//!
//! Strings shorter than a vector, and machines without these instructions, use a portable loop over
//! words.

/// Returns the index of the first byte in which `a` and `b` differ; the shorter length if one is a
/// prefix of the other.
///
/// ```
/// # use deltasoap_xml::scan::first_mismatch;
/// assert_eq!(first_mismatch(b"<a>1</a>", b"<a>2</a>"), 3);
/// assert_eq!(first_mismatch(b"abc", b"abcdef"), 3);
/// ```
#[inline]
pub fn first_mismatch(a: &[u8], b: &[u8]) -> usize {
    let len = a.len().min(b.len());
    let (a, b) = (&a[..len], &b[..len]);
    #[cfg(target_arch = "x86_64")]
    {
        if len >= x86::WIDE && std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2; both slices have the same length, at least one
            // vector.
            return unsafe { x86::avx2(a, b) };
        }
        if len >= x86::NARROW {
            // SAFETY: SSE2 is part of x86_64; both slices have the same length, at least one
            // vector.
            return unsafe { x86::sse2(a, b) };
        }
    }
    portable(a, b)
}

/// The safe twin, for slices of equal length: eight bytes at a time.
fn portable(a: &[u8], b: &[u8]) -> usize {
    let (a_words, a_rest) = a.as_chunks::<8>();
    let (b_words, b_rest) = b.as_chunks::<8>();
    for (word, (a, b)) in a_words.iter().zip(b_words).enumerate() {
        let difference = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if difference != 0 {
            return word * 8 + difference.trailing_zeros() as usize / 8;
        }
    }
    let same = a_rest.iter().zip(b_rest).take_while(|(a, b)| a == b).count();
    a_words.len() * 8 + same
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    /// Bytes of an AVX2 vector.
    pub(super) const WIDE: usize = 32;
    /// Bytes of an SSE2 vector.
    pub(super) const NARROW: usize = 16;

    /// # Safety
    /// The processor has AVX2; `a.len() == b.len() >= WIDE`.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn avx2(a: &[u8], b: &[u8]) -> usize {
        // SAFETY: callers pass `at <= len - WIDE`, so that both loads stay inside the slices;
        // unaligned loads are used.
        let block = |at: usize| unsafe {
            let x = _mm256_loadu_si256(a.as_ptr().add(at).cast());
            let y = _mm256_loadu_si256(b.as_ptr().add(at).cast());
            !(_mm256_movemask_epi8(_mm256_cmpeq_epi8(x, y)) as u32)
        };
        blocks(a.len(), WIDE, block)
    }

    /// # Safety
    /// `a.len() == b.len() >= NARROW`.
    pub(super) unsafe fn sse2(a: &[u8], b: &[u8]) -> usize {
        // SAFETY: callers pass `at <= len - NARROW`, so that both loads stay inside the slices;
        // unaligned loads are used.
        let block = |at: usize| unsafe {
            let x = _mm_loadu_si128(a.as_ptr().add(at).cast());
            let y = _mm_loadu_si128(b.as_ptr().add(at).cast());
            !(_mm_movemask_epi8(_mm_cmpeq_epi8(x, y)) as u32) & 0xFFFF
        };
        blocks(a.len(), NARROW, block)
    }

    /// Walks over blocks of `width <= len` bytes; `block` returns a bit for each byte that differs.
    #[inline(always)]
    fn blocks(len: usize, width: usize, block: impl Fn(usize) -> u32) -> usize {
        let last = len - width;
        let mut at = 0;
        while at < last {
            let differing = block(at);
            if differing != 0 {
                return at + differing.trailing_zeros() as usize;
            }
            at += width;
        }
        match block(last) {
            0 => len,
            differing => last + differing.trailing_zeros() as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive(a: &[u8], b: &[u8]) -> usize {
        a.iter().zip(b).take_while(|(a, b)| a == b).count()
    }

    #[test]
    fn every_place_at_every_length() {
        for len in 0..130 {
            let a = vec![7; len];
            assert_eq!(first_mismatch(&a, &a), len);
            for at in 0..len {
                let mut b = a.clone();
                b[at] = 8;
                b[len - 1] = 9;
                assert_eq!(first_mismatch(&a, &b), at);
                assert_eq!(portable(&a, &b), at);
            }
        }
    }

    proptest! {
        #[test]
        fn all_kernels_equal_the_naive_one(a: Vec<u8>, change in proptest::collection::vec((0usize..300, any::<u8>()), 0..3), extra: Vec<u8>) {
            let mut b = a.clone();
            for (at, byte) in change {
                if let Some(slot) = b.get_mut(at) {
                    *slot = byte;
                }
            }
            b.extend(extra);
            let wanted = naive(&a, &b);
            prop_assert_eq!(first_mismatch(&a, &b), wanted);
            prop_assert_eq!(portable(&a, &b[..a.len()]), wanted);
            #[cfg(target_arch = "x86_64")]
            if a.len() >= x86::NARROW {
                // SAFETY: SSE2 is part of x86_64; the lengths are equal and long enough.
                prop_assert_eq!(unsafe { x86::sse2(&a, &b[..a.len()]) }, wanted);
            }
        }
    }
}
