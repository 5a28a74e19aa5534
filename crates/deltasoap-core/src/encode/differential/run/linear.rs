//! Writes items one after the other and notes their positions in the table. Used for a whole run
//! the first time. It costs little more than writing them without a table.

use super::Form;
use crate::encode::flat::{FlatSink, Item};
use crate::schema::View;
use deltasoap_xml::lexical::Lexical;
use deltasoap_xml::{Buffer, Escape};

/// Writes leaves in exact widths.
#[derive(Debug)]
pub(super) struct Linear<'a> {
    out: &'a mut Buffer,
    form: &'a Form,
    column: usize,
    positions: std::slice::IterMut<'a, u32>,
    images: &'a mut [u8],
}

impl<'a> Linear<'a> {
    /// Creates a writer for a table with room for exactly the items to come.
    pub(super) fn new(out: &'a mut Buffer, form: &'a Form, positions: &'a mut [u32], images: &'a mut [u8]) -> Self {
        Linear { out, form, column: 0, positions: positions.iter_mut(), images }
    }

    /// Writes items, from the first leaf of the first one to the last leaf of the last one.
    #[inline(always)]
    pub(super) fn write<T: Item>(&mut self, items: &[T], view: View<'_>) {
        for (index, item) in items.iter().enumerate() {
            self.column = 0;
            if index > 0 {
                self.form.shape.turn.push_to(self.out);
            }
            item.write_flat(self, view);
        }
    }
}

impl FlatSink for Linear<'_> {
    #[inline(always)]
    fn leaf<T: Lexical>(&mut self, value: &T) {
        if self.column > 0 {
            self.form.shape.between[self.column - 1].push_to(self.out);
        }
        self.column += 1;
        if let Some(position) = self.positions.next() {
            *position = self.out.len() as u32;
        }
        let image = T::IMAGE.bytes();
        if image > 0
            && let Some((first, rest)) = std::mem::take(&mut self.images).split_at_mut_checked(image)
        {
            first.copy_from_slice(&value.image()[..image]);
            self.images = rest;
        }
        value.format(self.out, Escape::Text);
    }
}
