//! Runs of harmless text: the number of bytes that can be copied unchanged, when reading and when
//! writing.
//!
//! Text is almost always free of the few bytes that need attention. A `Class` specifies those bytes
//! three times: for one byte, for eight bytes in a `u64`, and for sixteen in an SSE2 register. The
//! search is written once over blocks:
//!
//! ```text
//! for each full block:  if it holds a special byte, stop there
//! the last block:       read again so that it ends with the slice (what overlaps is known to be clean)
//! ```
//!
//! The `u64` form is exact for the *first* special byte only: a borrow can propagate from it into
//! the bytes above, never below. All loads are little-endian, so that "first" is "lowest".

use crate::Escape;

/// Returns the length of the longest prefix that is plain ASCII text: no `<`, `&`, `]`, no control
/// character (so no tab, line feed or carriage return either), no byte from 0x80.
#[inline]
pub fn text_run(bytes: &[u8]) -> usize {
    run::<Plain>(bytes)
}

/// Like [`text_run`], but bytes from 0x80 belong to the run; the caller must check that they are
/// UTF-8.
#[inline]
pub fn wide_text_run(bytes: &[u8]) -> usize {
    run::<Wide>(bytes)
}

/// Returns the length of the longest prefix that can be written in a context without examining its
/// characters.
///
/// Stops at characters that must be escaped there, at control characters, and at the byte 0xEF,
/// with which U+FFFE and U+FFFF begin (and many harmless characters).
#[inline]
pub fn verbatim_run(bytes: &[u8], place: Escape) -> usize {
    match place {
        Escape::Text => run::<TextEscapes>(bytes),
        Escape::Attribute => run::<AttributeEscapes>(bytes),
    }
}

/// Returns the length of the longest prefix without a control character or the byte 0xEF.
#[inline]
pub fn legal_run(bytes: &[u8]) -> usize {
    run::<Legal>(bytes)
}

/// Returns the length of the longest prefix that is plain ASCII text, as [`text_run`] finds it, and
/// has no `>`: text that canonicalization does not change.
#[inline]
pub fn canonical_run(bytes: &[u8]) -> usize {
    run::<Canonical>(bytes)
}

/// Returns the length of the longest prefix without a space or a control character.
#[inline]
pub fn word_run(bytes: &[u8]) -> usize {
    run::<Word>(bytes)
}

/// Returns the prefix that [`text_run`] finds, as text.
#[inline]
pub fn plain_text(bytes: &[u8]) -> &str {
    let run = &bytes[..text_run(bytes)];
    debug_assert!(run.is_ascii());
    // SAFETY: every byte of a run of `Plain` is below 0x80, and ASCII is UTF-8. The tests compare
    // `text_run` with its naive twin on slices of every length and with every byte value.
    unsafe { std::str::from_utf8_unchecked(run) }
}

/// A set of special bytes that end a run.
trait Class {
    /// Returns true if one byte is special.
    fn byte(byte: u8) -> bool;
    /// Marks the special bytes of eight: the lowest set 0x80 is at the first one; zero if there is
    /// none.
    fn word(word: u64) -> u64;
    /// Returns 0xFF at each special byte of the sixteen, 0 elsewhere.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    fn vector(block: sse2::Block) -> sse2::Block;
}

/// Defines a class from single special bytes and from ranges.
macro_rules! class {
    ($(#[$doc:meta])* $name:ident: $range:ident $(, $byte:literal)*) => {
        $(#[$doc])*
        struct $name;

        impl Class for $name {
            #[inline(always)]
            fn byte(byte: u8) -> bool {
                range::$range(byte) $(|| byte == $byte)*
            }

            #[inline(always)]
            fn word(word: u64) -> u64 {
                swar::$range(word) $(| swar::equal(word, $byte))*
            }

            #[cfg(all(target_arch = "x86_64", not(miri)))]
            #[inline(always)]
            fn vector(block: sse2::Block) -> sse2::Block {
                let special = sse2::$range(block);
                $(let special = sse2::or(special, sse2::equal(block, $byte));)*
                special
            }
        }
    };
}

class!(
    /// Bytes that end plain ASCII text in a message.
    Plain: control_or_high, b'<', b'&', b']'
);
class!(
    /// Bytes that end text which is its own canonical form.
    Canonical: control_or_high, b'<', b'&', b'>', b']'
);
class!(
    /// Bytes that end text in a message.
    Wide: control, b'<', b'&', b']'
);
class!(
    /// Bytes that cannot be written unchanged in character data.
    TextEscapes: control, b'<', b'&', b'>', 0xEF
);
class!(
    /// Bytes that cannot be written unchanged in a double-quoted attribute value.
    AttributeEscapes: control, b'<', b'&', b'"', 0xEF
);
class!(
    /// Bytes that may start something that is not an XML character.
    Legal: control, 0xEF
);
class!(
    /// Bytes that end a word of ASCII.
    Word: control, b' '
);

/// Ranges of special bytes, for one byte.
mod range {
    #[inline(always)]
    pub fn control(byte: u8) -> bool {
        byte < 0x20
    }

    #[inline(always)]
    pub fn control_or_high(byte: u8) -> bool {
        !(0x20..0x80).contains(&byte)
    }
}

/// Eight bytes at a time, in safe code.
mod swar {
    use super::Class;

    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;

    #[inline(always)]
    pub fn equal(word: u64, byte: u8) -> u64 {
        let difference = word ^ (ONES * u64::from(byte));
        difference.wrapping_sub(ONES) & !difference & HIGHS
    }

    #[inline(always)]
    pub fn control(word: u64) -> u64 {
        word.wrapping_sub(ONES * 0x20) & !word & HIGHS
    }

    #[inline(always)]
    pub fn control_or_high(word: u64) -> u64 {
        (word.wrapping_sub(ONES * 0x20) | word) & HIGHS
    }

    /// Returns the index of the first special byte.
    #[inline(always)]
    pub fn first<C: Class>(block: &[u8; 8]) -> Option<usize> {
        let special = C::word(u64::from_le_bytes(*block));
        (special != 0).then(|| special.trailing_zeros() as usize / 8)
    }

    /// Returns the length of the run; for any slice, and as the twin of the sixteen-byte form.
    #[inline]
    pub fn run<C: Class>(bytes: &[u8]) -> usize {
        let Some(last) = bytes.last_chunk::<8>() else {
            return bytes.iter().position(|&byte| C::byte(byte)).unwrap_or(bytes.len());
        };
        let (blocks, _) = bytes.as_chunks::<8>();
        for (index, block) in blocks.iter().enumerate() {
            if let Some(at) = first::<C>(block) {
                return index * 8 + at;
            }
        }
        first::<C>(last).map_or(bytes.len(), |at| bytes.len() - 8 + at)
    }
}

/// Sixteen bytes at a time: SSE2, which every x86-64 processor has.
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod sse2 {
    use super::Class;
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_cmplt_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128,
        _mm_set1_epi8,
    };

    pub type Block = __m128i;

    #[inline(always)]
    pub fn equal(block: Block, byte: u8) -> Block {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_cmpeq_epi8(block, _mm_set1_epi8(byte.cast_signed())) }
    }

    #[inline(always)]
    pub fn or(a: Block, b: Block) -> Block {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_or_si128(a, b) }
    }

    /// SSE2 has no unsigned "less than": a byte below 0x20 is its own minimum with 0x1F.
    #[inline(always)]
    pub fn control(block: Block) -> Block {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(0x1F)), block) }
    }

    /// As signed numbers, bytes from 0x80 are less than 0x20 too.
    #[inline(always)]
    pub fn control_or_high(block: Block) -> Block {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_cmplt_epi8(block, _mm_set1_epi8(0x20)) }
    }

    /// Returns the index of the first special byte.
    #[inline(always)]
    fn first<C: Class>(block: &[u8; 16]) -> Option<usize> {
        // SAFETY: the load reads sixteen bytes, which is what the reference points to, and needs no
        // alignment.
        let block = unsafe { _mm_loadu_si128(block.as_ptr().cast()) };
        // SAFETY: SSE2 is part of x86-64.
        let mask = unsafe { _mm_movemask_epi8(C::vector(block)) };
        (mask != 0).then(|| mask.trailing_zeros() as usize)
    }

    /// Returns the length of the run, for slices of sixteen bytes and more; shorter ones go eight
    /// at a time.
    #[inline]
    pub fn run<C: Class>(bytes: &[u8]) -> usize {
        let Some(last) = bytes.last_chunk::<16>() else {
            return super::swar::run::<C>(bytes);
        };
        let (blocks, _) = bytes.as_chunks::<16>();
        for (index, block) in blocks.iter().enumerate() {
            if let Some(at) = first::<C>(block) {
                return index * 16 + at;
            }
        }
        first::<C>(last).map_or(bytes.len(), |at| bytes.len() - 16 + at)
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
use sse2::run;
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
use swar::run;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive<C: Class>(bytes: &[u8]) -> usize {
        bytes.iter().position(|&byte| C::byte(byte)).unwrap_or(bytes.len())
    }

    fn agrees<C: Class>(bytes: &[u8]) {
        assert_eq!(run::<C>(bytes), naive::<C>(bytes), "{bytes:x?}");
        assert_eq!(swar::run::<C>(bytes), naive::<C>(bytes), "{bytes:x?}");
    }

    fn all_agree(bytes: &[u8]) {
        agrees::<Plain>(bytes);
        agrees::<Canonical>(bytes);
        agrees::<Wide>(bytes);
        agrees::<TextEscapes>(bytes);
        agrees::<AttributeEscapes>(bytes);
        agrees::<Legal>(bytes);
        agrees::<Word>(bytes);
    }

    /// Checks every byte value at every position in slices of every length around the block sizes,
    /// alone and before another.
    #[test]
    fn every_byte_at_every_place() {
        for len in 0..=40 {
            for at in 0..len {
                for byte in 0..=255 {
                    let mut bytes = vec![b'a'; len];
                    bytes[at] = byte;
                    all_agree(&bytes);
                    bytes[len - 1] = b'<';
                    all_agree(&bytes);
                }
            }
        }
    }

    #[test]
    fn classes_are_what_they_say() {
        let special = |f: fn(u8) -> bool| (0..=255).filter(|&b| f(b)).collect::<Vec<u8>>();
        let controls = 0..0x20u8;
        assert_eq!(special(Plain::byte), controls.clone().chain(*b"&<]").chain(0x80..=255).collect::<Vec<_>>());
        assert_eq!(special(Canonical::byte), controls.clone().chain(*b"&<>]").chain(0x80..=255).collect::<Vec<_>>());
        assert_eq!(special(Wide::byte), controls.clone().chain(*b"&<]").collect::<Vec<_>>());
        assert_eq!(special(TextEscapes::byte), controls.clone().chain(*b"&<>\xEF").collect::<Vec<_>>());
        assert_eq!(special(AttributeEscapes::byte), controls.clone().chain(*b"\"&<\xEF").collect::<Vec<_>>());
        assert_eq!(special(Word::byte), controls.clone().chain([b' ']).collect::<Vec<_>>());
        assert_eq!(special(Legal::byte), controls.chain([0xEF]).collect::<Vec<_>>());
    }

    proptest! {
        #[test]
        fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            all_agree(&bytes);
        }

        #[test]
        fn mostly_plain(text in "[ -~]{0,100}[<&\\]\u{0}-\u{ffff}]?[ -~]{0,100}") {
            all_agree(text.as_bytes());
            prop_assert!(text.starts_with(plain_text(text.as_bytes())));
        }
    }
}
