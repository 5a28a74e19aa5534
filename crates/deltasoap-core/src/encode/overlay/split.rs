//! The position at which a message is split, with items to be written between the two parts.

use crate::encode::Encoder;
use crate::schema::{ElementRef, Field, View};
use crate::{Error, ErrorKind};

/// Streamed lists that an encoder notes, and those it found.
#[derive(Debug, Default)]
pub(crate) struct Splits {
    has_items: bool,
    /// The number of items to come, if known.
    size: Option<usize>,
    /// The address of the list in a dynamic message; `None` if types say which list is streamed.
    address: Option<usize>,
    first: Option<Box<Split>>,
    has_more: bool,
}

/// A position for items.
#[derive(Debug)]
pub(super) struct Split {
    /// Number of bytes before it.
    pub(super) at: usize,
    /// The name of the items.
    pub(super) field: Field,
    /// Writes items as if at that position: it has the declarations in scope, and no bytes.
    pub(super) encoder: Encoder,
}

impl Splits {
    /// Creates the state for noting lists.
    pub(super) fn new(has_items: bool, size: Option<usize>, address: Option<usize>) -> Self {
        Splits { has_items, size, address, ..Splits::default() }
    }

    /// Resets the state.
    pub(in crate::encode) fn emptied(self) -> Self {
        Splits::new(self.has_items, self.size, self.address)
    }

    /// Returns the position, if there is exactly one, for items of a static type or of any.
    pub(super) fn only(self, item: Option<ElementRef>) -> Result<Split, Error> {
        let fault = |what| Err(Error::at(ErrorKind::Unwritable(what), 0));
        match self.first {
            None => fault("the body has no streamed list"),
            Some(_) if self.has_more => fault("the body has more than one streamed list"),
            Some(split) if item.is_some_and(|item| !is_same(split.field.element, item)) => {
                fault("the items of the body's streamed list have another type")
            }
            Some(split) => Ok(*split),
        }
    }
}

/// Returns true if two static descriptions are identical or equal: those of generic types can exist
/// twice.
fn is_same(a: ElementRef, b: ElementRef) -> bool {
    a == b || View::from_static(a).element == View::from_static(b).element
}

/// Returns true if the further items of this dynamic list are written by an overlay.
#[cfg(feature = "values")]
#[inline]
pub(crate) fn is_at<T>(encoder: &Encoder, list: &T) -> bool {
    let address = encoder.splits.as_ref().and_then(|splits| splits.address);
    address.is_some_and(|address| address == std::ptr::from_ref(list).addr())
}

/// Returns the final number of items in a list that holds `held` items itself; `None` if unknown.
pub(super) fn size_with(held: usize, encoder: &Encoder) -> Option<usize> {
    match &encoder.splits {
        None => Some(held),
        Some(splits) if splits.has_items => splits.size?.checked_add(held),
        Some(_) => Some(held),
    }
}

/// Notes a streamed list at the current position, if requested. The items that it holds itself are
/// written.
pub(crate) fn note(encoder: &mut Encoder, field: &Field) {
    let Some(splits) = &encoder.splits else { return };
    if splits.has_items {
        encoder.open_end();
    }
    let split = Split { at: encoder.len(), field: field.clone(), encoder: encoder.fork() };
    let Some(splits) = &mut encoder.splits else { return };
    splits.has_more = splits.first.is_some();
    splits.first.get_or_insert_with(|| Box::new(split));
}
