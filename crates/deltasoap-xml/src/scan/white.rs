//! The end of white space.

const BLOCK: usize = 16;
const SPACES: u128 = u128::from_le_bytes([b' '; BLOCK]);

/// Returns the index of the first byte from `at` on that is not white space (XML 1.0, production
/// 3); the length of `bytes` if there is none. Spaces are skipped sixteen at a time, line ends and
/// tabs one by one.
#[inline]
pub fn skip_white(bytes: &[u8], at: usize) -> usize {
    let mut at = at;
    loop {
        let spaces = leading_spaces(&bytes[at.min(bytes.len())..]);
        at += spaces;
        if spaces == BLOCK {
            continue;
        }
        match bytes.get(at) {
            Some(b' ' | b'\t' | b'\r' | b'\n') => at += 1,
            _ => return at,
        }
    }
}

/// Returns the number of leading spaces in the first block; only if a whole block is available.
#[inline(always)]
fn leading_spaces(bytes: &[u8]) -> usize {
    match bytes.first_chunk() {
        Some(block) => (u128::from_le_bytes(*block) ^ SPACES).trailing_zeros() as usize / 8,
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slow(bytes: &[u8], at: usize) -> usize {
        let is_white = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        at + bytes[at..].iter().take_while(|byte| is_white(byte)).count()
    }

    proptest! {
        #[test]
        fn white_space_ends_where_it_ends(text in "[ ]{0,40}[ \t\r\n\u{21}\u{0}\u{1f}]{0,6}[ ]{0,40}<? {0,3}", at in 0..50_usize) {
            let at = at.min(text.len());
            prop_assert_eq!(skip_white(text.as_bytes(), at), slow(text.as_bytes(), at));
        }
    }
}
