//! The place where a message is cut in two, for items to stand between.

use crate::encode::Encoder;
use crate::schema::{ElementRef, Field, View};
use crate::{Error, ErrorKind, Typed};

/// What an encoder is to note about streamed lists, and what it found.
#[derive(Debug, Default)]
pub(crate) struct Splits {
    has_items: bool,
    /// Number of items are to come, if that is known.
    size: Option<usize>,
    first: Option<Box<Split>>,
    has_more: bool,
}

/// A place for items.
#[derive(Debug)]
pub(super) struct Split {
    /// Bytes before it.
    pub(super) at: usize,
    /// How items are named.
    pub(super) field: Field,
    /// Writes items as if they stood there: it has the declarations in scope, and no bytes.
    pub(super) encoder: Encoder,
}

impl Splits {
    /// For so many items.
    pub(super) fn new(has_items: bool, size: Option<usize>) -> Self {
        Splits { has_items, size, ..Splits::default() }
    }

    /// As at the start.
    pub(in crate::encode) fn emptied(self) -> Self {
        Splits::new(self.has_items, self.size)
    }

    /// Returns the place, if there is one and only one, and it is for items of a type.
    pub(super) fn only<T: Typed>(self) -> Result<Split, Error> {
        let fault = |what| Err(Error::at(ErrorKind::Unwritable(what), 0));
        match self.first {
            None => fault("the body has no streamed list"),
            Some(_) if self.has_more => fault("the body has more than one streamed list"),
            Some(split) if !is_same(split.field.element, T::REFERENCE) => {
                fault("the body's streamed list is of items of another type")
            }
            Some(split) => Ok(*split),
        }
    }
}

/// Returns true if two static descriptions are the same one, or look the same: those of generic
/// types can be there twice.
fn is_same(a: ElementRef, b: ElementRef) -> bool {
    a == b || View::of_static(a).element == View::of_static(b).element
}

/// Returns the number of items there are going to be in a list that holds some: all, if only those
/// are written; `None` if nobody knows.
pub(super) fn size_with(held: usize, encoder: &Encoder) -> Option<usize> {
    match &encoder.splits {
        None => Some(held),
        Some(splits) if splits.has_items => splits.size?.checked_add(held),
        Some(_) => Some(held),
    }
}

/// Notes that a streamed list stands here, if that is asked for. What it holds itself is written.
pub(super) fn note(encoder: &mut Encoder, field: &Field) {
    let Some(splits) = &encoder.splits else { return };
    if splits.has_items {
        encoder.open_end();
    }
    let split = Split { at: encoder.len(), field: field.clone(), encoder: encoder.fork() };
    let Some(splits) = &mut encoder.splits else { return };
    splits.has_more = splits.first.is_some();
    splits.first.get_or_insert_with(|| Box::new(split));
}
