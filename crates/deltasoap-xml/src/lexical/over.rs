//! Texts put over others of the same length.
//!
//! Nothing beside the place is touched, and nothing at all if the text does not fit exactly: so what stands behind need not be
//! written again, and the caller may go on from there in another way. Short texts are copied as two pieces of fixed size that
//! overlap.

/// Puts a text into a place of its length. False, and nothing is written, if the place is longer or shorter.
#[inline(always)]
pub(super) fn put(text: &[u8], place: &mut [u8]) -> bool {
    if text.len() != place.len() {
        return false;
    }
    match text.len() {
        16..=32 => put_twice::<16>(text, place),
        8..16 => put_twice::<8>(text, place),
        4..8 => put_twice::<4>(text, place),
        _ => place.copy_from_slice(text),
    }
    true
}

/// Copies the first and the last `N` bytes, which are all there are.
#[inline(always)]
fn put_twice<const N: usize>(text: &[u8], place: &mut [u8]) {
    if let (Some(from), Some(to)) = (text.first_chunk::<N>(), place.first_chunk_mut::<N>()) {
        *to = *from;
    }
    if let (Some(from), Some(to)) = (text.last_chunk::<N>(), place.last_chunk_mut::<N>()) {
        *to = *from;
    }
}

#[cfg(test)]
mod tests {
    use super::put;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_text_takes_its_place_or_nothing_happens(text in "[0-9a-z]{0,70}", len in 0..70usize, fits: bool) {
            let len = if fits { text.len() } else { len };
            let mut bytes = [b'<'; 80];
            let is_put = put(text.as_bytes(), &mut bytes[5..5 + len]);
            let mut expected = [b'<'; 80];
            if len == text.len() {
                expected[5..5 + len].copy_from_slice(text.as_bytes());
            }
            prop_assert_eq!(is_put, len == text.len());
            prop_assert_eq!(bytes, expected);
        }
    }
}
