//! Images: the bits of a value, used to compare values without formatting them.
//!
//! Numbers have an image. It determines the text: values with the same image, of types of the same
//! class, have the same text. Values of other types are compared with their text itself, see
//! [`Lexical::is_text`].

use super::Lexical;

/// The kind of image that the values of a type have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Image {
    class: Class,
    bytes: u8,
}

/// A class of types that write the same text for the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    None,
    Signed,
    Unsigned,
    Float,
    Boolean,
}

impl Image {
    /// The values have no image.
    pub const NONE: Image = Image { class: Class::None, bytes: 0 };
    pub(super) const BOOLEAN: Image = Image { class: Class::Boolean, bytes: 1 };

    pub(super) const fn signed(bytes: u8) -> Self {
        Image { class: Class::Signed, bytes }
    }

    pub(super) const fn unsigned(bytes: u8) -> Self {
        Image { class: Class::Unsigned, bytes }
    }

    pub(super) const fn float(bytes: u8) -> Self {
        Image { class: Class::Float, bytes }
    }

    /// Returns the bytes of an image: 0 if there is none, otherwise 1, 2, 4 or 8.
    #[inline]
    pub const fn bytes(self) -> usize {
        self.bytes as usize
    }

    /// Returns a number that identifies this kind of image.
    #[inline]
    pub const fn code(self) -> u16 {
        (self.class as u16) << 8 | self.bytes as u16
    }

    /// Returns true for `float` and `double`, whose texts are the most expensive to parse.
    #[inline]
    pub const fn is_float(self) -> bool {
        matches!(self.class, Class::Float)
    }

    /// Returns true if values have images.
    #[inline]
    pub const fn is_some(self) -> bool {
        self.bytes != 0
    }
}

/// Number of values compared together, so that the loop over them needs no branch.
const BLOCK: usize = 16;

/// Counts the leading values that equal their images; the images are packed without gaps.
#[inline]
pub(super) fn count_same<T: Lexical, const N: usize>(values: &[T], images: &[u8]) -> usize {
    let (images, _) = images.as_chunks::<N>();
    let len = values.len().min(images.len());
    let (values, images) = (&values[..len], &images[..len]);
    let is_same = |at: usize| is_same(&values[at], &images[at]);
    let near = (0..len.min(BLOCK)).take_while(|&at| is_same(at)).count();
    if near < BLOCK {
        return near;
    }
    let blocks = values.chunks_exact(BLOCK).zip(images.chunks_exact(BLOCK));
    let same = blocks.take_while(|(values, images)| is_same_block(values, images)).count() * BLOCK;
    same + (same..len).take_while(|&at| is_same(at)).count()
}

#[inline(always)]
fn is_same_block<T: Lexical, const N: usize>(values: &[T], images: &[[u8; N]]) -> bool {
    let pairs = values.iter().zip(images);
    pairs.fold(0, |differing, (value, image)| differing | difference(value, image)) == 0
}

#[inline(always)]
fn is_same<T: Lexical, const N: usize>(value: &T, image: &[u8; N]) -> bool {
    difference(value, image) == 0
}

/// Returns zero if the image is the value's own.
#[inline(always)]
fn difference<T: Lexical, const N: usize>(value: &T, image: &[u8; N]) -> u64 {
    let mut wide = [0; 8];
    wide[..N].copy_from_slice(image);
    u64::from_le_bytes(value.image()) ^ u64::from_le_bytes(wide)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packed<T: Lexical>(values: &[T]) -> Vec<u8> {
        values.iter().flat_map(|value| value.image()[..T::IMAGE.bytes()].to_vec()).collect()
    }

    fn first_difference<T: Lexical>(old: &[T], new: &[T]) -> usize {
        T::count_same(new, &packed(old))
    }

    proptest! {
        #[test]
        fn the_first_difference_is_found(old in proptest::collection::vec(any::<i32>(), 0..60), at in 0..70usize, bit in 0..32) {
            let mut new = old.clone();
            if let Some(value) = new.get_mut(at) {
                *value ^= 1 << bit;
            }
            prop_assert_eq!(first_difference(&old, &new), at.min(old.len()));
            let wide = |values: &[i32]| values.iter().map(|&value| f64::from_bits((value as u64).wrapping_mul(0x1_0001))).collect::<Vec<_>>();
            prop_assert_eq!(first_difference(&wide(&old), &wide(&new)), at.min(old.len()));
            let narrow = |values: &[i32]| values.iter().map(|&value| value as u8).collect::<Vec<_>>();
            let expected = if bit < 8 { at.min(old.len()) } else { old.len() };
            prop_assert_eq!(first_difference(&narrow(&old), &narrow(&new)), expected);
        }
    }

    #[test]
    fn zeros_differ_by_sign_and_lengths_may_differ() {
        assert_eq!(first_difference(&[0.0, 1.0], &[-0.0, 1.0]), 0);
        assert_eq!(first_difference(&[1u16, 2, 3], &[1, 2]), 2);
        assert_eq!(first_difference(&[1u64], &[1, 2]), 1);
        assert_eq!(first_difference(&[true, false], &[true, true]), 1);
        assert_eq!(String::count_same(&["a".to_owned()], b"a"), 0, "texts have no image");
    }
}
