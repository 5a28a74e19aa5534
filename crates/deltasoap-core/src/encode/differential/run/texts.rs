//! The texts of a run and the values that they stand for, to be looked up.

use super::form::Column;
use super::{Form, RunChunk, width};
use crate::template::{COMPARED, is_same};
use deltasoap_xml::lexical::Lexical;

/// Leaves of a chunk, one after the other from some item on.
#[derive(Debug, Clone)]
pub(crate) struct Texts<'c> {
    form: &'c Form,
    bytes: &'c [u8],
    positions: &'c [u32],
    /// Where a leaf after the last would begin.
    end: usize,
    lens: &'c [u16],
    images: &'c [u8],
    /// Those of the item at hand that are still to come.
    columns: std::slice::Iter<'c, Column>,
    leaf: usize,
    image: usize,
}

/// A leaf, as a text that may be its own finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found<T> {
    /// It has this text; the value, and the bytes of the text.
    Same(T, usize),
    /// It has another text.
    Other,
    /// Nothing can be told, as it is of another type, or one that is parsed as fast as texts are
    /// compared.
    Nothing,
}

impl RunChunk {
    /// Returns the leaves from an item on.
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
    /// Begins an item, the next one if all leaves of the last have been passed; false if there is
    /// none.
    #[inline(always)]
    pub(crate) fn begin(&mut self) -> bool {
        self.columns = self.form.columns.iter();
        self.leaf < self.positions.len()
    }

    /// How much further on, `reach` at most, there is an item of so many leaves whose first one has
    /// the text that `bytes` begin with, before a tag. Looks at the item at hand first, then
    /// farther and farther away.
    pub(crate) fn find(&self, leaves: usize, bytes: &[u8], reach: isize) -> Option<isize> {
        let column = self.form.columns.first().filter(|_| self.form.columns.len() == leaves)?;
        let mut places = std::iter::once(0).chain((1..=reach).flat_map(|by| [by, -by]));
        places.find(|by| {
            let leaf = self.leaf.checked_add_signed(by * leaves as isize);
            let text = leaf.and_then(|leaf| self.text(leaf, column.gap));
            text.is_some_and(|(text, len)| is_same(text, bytes, len + 1))
        })
    }

    /// Compares the text that `bytes` begin with, before a tag, with that of the leaf at hand,
    /// and passes it.
    #[inline(always)]
    pub(crate) fn next<T: Lexical>(&mut self, bytes: &[u8]) -> Found<T> {
        let (leaf, image) = (self.leaf, self.image);
        let Some(column) = self.columns.next() else { return Found::Nothing };
        self.leaf += 1;
        self.image += column.image.bytes();
        if !T::IMAGE.is_float() || column.image != T::IMAGE {
            return Found::Nothing;
        }
        match self.text(leaf, column.gap) {
            Some((text, len)) if is_same(text, bytes, len + 1) => {
                self.value(image).map_or(Found::Other, |value| Found::Same(value, len))
            }
            _ => Found::Other,
        }
    }

    /// Returns a leaf's text, with all that follows, and its length. A `<` is after it.
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
