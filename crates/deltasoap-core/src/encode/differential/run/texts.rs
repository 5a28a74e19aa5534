//! Lookup of values by their texts in a run.

use super::form::Column;
use super::{Form, RunChunk, width};
use crate::template::{COMPARED, is_same};
use deltasoap_xml::lexical::Lexical;

/// Consecutive leaves of a chunk, starting at an item.
#[derive(Debug, Clone)]
pub(crate) struct Texts<'c> {
    form: &'c Form,
    bytes: &'c [u8],
    positions: &'c [u32],
    /// The position that a leaf after the last would have.
    end: usize,
    lens: &'c [u16],
    images: &'c [u8],
    /// The remaining columns of the current item.
    columns: std::slice::Iter<'c, Column>,
    leaf: usize,
    image: usize,
}

/// The result of comparing a text with a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextMatch<T> {
    /// The leaf has this text. Holds the value and the length of the text in bytes.
    Same(T, usize),
    /// The leaf has another text.
    Other,
    /// Unknown: the leaf has another type, or a type that is parsed as fast as texts are compared.
    Unknown,
}

impl RunChunk {
    /// Returns the leaves starting at an item.
    pub(crate) fn texts(&self, item: usize) -> Texts<'_> {
        Texts {
            form: &self.form,
            bytes: self.bytes.as_slice(),
            positions: &self.positions,
            end: self.end(),
            lens: &self.lens,
            images: &self.images,
            columns: self.form.columns.iter(),
            leaf: item * self.form.columns.len(),
            image: item * self.form.image,
        }
    }
}

impl Texts<'_> {
    /// Begins an item, the next one if all leaves of the last were passed. Returns false if there
    /// is none.
    #[inline(always)]
    pub(crate) fn begin(&mut self) -> bool {
        self.columns = self.form.columns.iter();
        self.leaf < self.positions.len()
    }

    /// Searches for an item of `leaves` leaves whose first one has the text at the start of
    /// `bytes`, before a tag. Returns its distance, at most `reach`. Looks at the current item
    /// first, then farther and farther away.
    pub(crate) fn find(&self, leaves: usize, bytes: &[u8], reach: isize) -> Option<isize> {
        let column = self.form.columns.first().filter(|_| self.form.columns.len() == leaves)?;
        let mut places = std::iter::once(0).chain((1..=reach).flat_map(|by| [by, -by]));
        places.find(|by| {
            let leaf = self.leaf.checked_add_signed(by * leaves as isize);
            let text = leaf.and_then(|leaf| self.text(leaf, column.gap));
            text.is_some_and(|(text, len)| is_same(text, bytes, len + 1))
        })
    }

    /// Compares the text at the start of `bytes`, before a tag, with that of the current leaf, and
    /// passes the leaf.
    #[inline(always)]
    pub(crate) fn next<T: Lexical>(&mut self, bytes: &[u8]) -> TextMatch<T> {
        let (leaf, image) = (self.leaf, self.image);
        let Some(column) = self.columns.next() else { return TextMatch::Unknown };
        self.leaf += 1;
        self.image += column.image.bytes();
        if !T::IMAGE.is_float() || column.image != T::IMAGE {
            return TextMatch::Unknown;
        }
        match self.text(leaf, column.gap) {
            Some((text, len)) if is_same(text, bytes, len + 1) => {
                self.value(image).map_or(TextMatch::Other, |value| TextMatch::Same(value, len))
            }
            _ => TextMatch::Other,
        }
    }

    /// Returns the bytes from a leaf's text on, and the length of the text, which is followed by a
    /// `<`.
    #[inline(always)]
    fn text(&self, leaf: usize, gap: usize) -> Option<(&[u8], usize)> {
        let start = *self.positions.get(leaf)? as usize;
        let len = match self.lens.get(leaf) {
            Some(&len) => usize::from(len),
            None => width(self.positions, self.end, leaf, gap),
        };
        (len < COMPARED).then_some((self.bytes.get(start..)?, len))
    }

    #[inline(always)]
    fn value<T: Lexical>(&self, image: usize) -> Option<T> {
        let bytes = T::IMAGE.bytes();
        let mut bits = [0; 8];
        bits[..bytes].copy_from_slice(self.images.get(image..image + bytes)?);
        T::from_image(bits)
    }
}
