//! Types that compile small: their fields are trait objects, and their routines are compiled once.
//!
//! By default the routines are compiled for each type, with the types of all fields known. That is
//! fast, but costs compile time for every type. A *compact* type (`#[soap(compact)]`) instead
//! provides its fields by position ([`Fields`]), each as an object ([`Slot`]). One copy of the
//! routines, in this crate, reads and writes all such types. The messages are the same.
//!
//! | | by default | compact |
//! |---|---|---|
//! | routine of a struct | one for each type | one for all, over [`Fields`] |
//! | a field | a `match` for each question | one `match`, then a call of its [`Slot`] |
//! | lists of the type | a loop for [flat](crate::decode::flat) items | one item after the other |
//! | lists of numbers in it | a loop for flat items | the same |
//!
//! Compact enumerations are lists of texts, and compact hierarchies of derived types provide the
//! value of the variant as an object. Only code that moves values is still compiled for each type:
//! a place in an `Option` or a `Vec`, the vacant value, two accessors.
//!
//! Constants select this code (`Shortcuts::COMPACT`, `Occurs::LIST`), because the compiler does not
//! instantiate a branch that a constant rules out. Each such branch calls a function: written in
//! place, its body would be instantiated anyway.
//!
//! The tests of the derive macro's types and the random streams of messages run over both kinds
//! (`crates/deltasoap/tests/support`).

use super::{Content, ListShortcuts, Occurs};
use crate::AttributeValue;
use crate::decode::Names;
use crate::decode::complex as read;
use crate::decode::flat::{Patch, Run};
use crate::decode::items::{decode_one, still_there};
use crate::decode::{Cursor, DecodeFields, Leaf, Step};
use crate::encode::complex as write;
use crate::encode::{EncodeFields, Encoder};
use crate::schema::{Attribute, ComplexElement, Compositor, Element, Field, QName, View};
use deltasoap_xml::lexical::LexicalError;
use std::borrow::Cow;

/// A value whose fields are accessed by their position in the description.
pub trait Fields {
    /// Returns the value of a child element.
    fn element(&self, place: usize) -> Option<&dyn Slot>;

    /// Returns the value of a child element for decoding.
    fn element_mut(&mut self, place: usize) -> Option<&mut dyn Slot>;

    /// Returns the value of an attribute.
    fn attribute(&self, place: usize) -> Option<&dyn AttributeSlot> {
        let _ = place;
        None
    }

    /// Returns the value of an attribute for decoding.
    fn attribute_mut(&mut self, place: usize) -> Option<&mut dyn AttributeSlot> {
        let _ = place;
        None
    }
}

/// The value of a child element of any type: [`Occurs`] as an object.
pub trait Slot {
    /// See [`Occurs::open`].
    fn open(&mut self, place: usize, view: View<'_>) -> usize;

    /// See [`Occurs::keep`].
    fn keep(&mut self, count: usize, view: View<'_>);

    /// See [`Occurs::is_absent`].
    fn is_absent(&self) -> Option<bool>;

    /// See [`Occurs::decode`].
    ///
    /// # Errors
    /// Same as [`Occurs::decode`].
    fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step;

    /// See [`ListShortcuts::scan_leaf`].
    fn scan_leaf(&mut self, leaf: &mut Leaf<'_>, view: View<'_>) -> Option<()>;

    /// See [`Occurs::encode`].
    fn encode(&self, encoder: &mut Encoder, field: &Field, view: View<'_>);

    /// Returns the value as a list, if it is one.
    fn list(&self) -> Option<&dyn ListSlot>;

    /// Returns the value as a list for decoding, if it is one.
    fn list_mut(&mut self) -> Option<&mut dyn ListSlot>;
}

/// Operations that only lists have.
pub trait ListSlot {
    /// See [`Occurs::splice`].
    fn splice(&mut self, place: usize, removed: usize, inserted: usize, view: View<'_>) -> usize;

    /// See [`ListShortcuts::run`].
    fn run(&mut self, cursor: &mut Cursor<'_>, field: &Field, view: View<'_>) -> Run;

    /// See [`ListShortcuts::patch`].
    fn patch(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Patch;

    /// See [`ListShortcuts::item_leaves`].
    fn item_leaves(&self, view: View<'_>) -> Option<usize>;
}

impl<T: Occurs + ListShortcuts> Slot for T {
    fn open(&mut self, place: usize, view: View<'_>) -> usize {
        T::open(self, place, view)
    }

    fn keep(&mut self, count: usize, view: View<'_>) {
        T::keep(self, count, view);
    }

    fn is_absent(&self) -> Option<bool> {
        T::is_absent(self)
    }

    fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        T::decode(self, cursor, view)
    }

    fn scan_leaf(&mut self, leaf: &mut Leaf<'_>, view: View<'_>) -> Option<()> {
        T::scan_leaf(self, leaf, view)
    }

    fn encode(&self, encoder: &mut Encoder, field: &Field, view: View<'_>) {
        T::encode(self, encoder, field, view);
    }

    fn list(&self) -> Option<&dyn ListSlot> {
        if T::LIST { Some(self) } else { None }
    }

    fn list_mut(&mut self) -> Option<&mut dyn ListSlot> {
        if T::LIST { Some(self) } else { None }
    }
}

impl<T: Occurs + ListShortcuts> ListSlot for T {
    fn splice(&mut self, place: usize, removed: usize, inserted: usize, view: View<'_>) -> usize {
        T::splice(self, place, removed, inserted, view)
    }

    fn run(&mut self, cursor: &mut Cursor<'_>, field: &Field, view: View<'_>) -> Run {
        T::run(self, cursor, field, view)
    }

    fn patch(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Patch {
        T::patch(self, cursor, view)
    }

    fn item_leaves(&self, view: View<'_>) -> Option<usize> {
        T::item_leaves(view)
    }
}

/// A list of compact items of any type.
pub(crate) trait Items {
    fn len(&self) -> usize;

    fn truncate(&mut self, len: usize);

    fn swap(&mut self, a: usize, b: usize);

    /// Adds a vacant item at the end.
    fn push(&mut self, view: View<'_>);

    /// Reads an item's content.
    fn decode(&mut self, place: usize, cursor: &mut Cursor<'_>, view: View<'_>) -> Step;

    fn encode(&self, place: usize, encoder: &mut Encoder, view: View<'_>);

    fn encode_inline(&self, place: usize, encoder: &mut Encoder, view: View<'_>);
}

impl<T: Content> Items for Vec<T> {
    fn len(&self) -> usize {
        self.len()
    }

    fn truncate(&mut self, len: usize) {
        self.truncate(len);
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.as_mut_slice().swap(a, b);
    }

    fn push(&mut self, view: View<'_>) {
        self.push(T::vacant(view));
    }

    fn decode(&mut self, place: usize, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        decode_one(&mut self[place], cursor, view)
    }

    fn encode(&self, place: usize, encoder: &mut Encoder, view: View<'_>) {
        self[place].encode(encoder, view);
    }

    fn encode_inline(&self, place: usize, encoder: &mut Encoder, view: View<'_>) {
        self[place].encode_inline(encoder, view);
    }
}

/// Reads the last opened item.
pub(crate) fn decode_item(items: &mut dyn Items, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
    items.decode(still_there(cursor.place(), items.len()), cursor, view)
}

/// See [`Occurs::open`], for items whose type is [replaced](Content::REPLACES) by decoding.
pub(crate) fn open_item(items: &mut dyn Items, place: usize, view: View<'_>) -> usize {
    if place < items.len() {
        return place;
    }
    items.push(view);
    items.len() - 1
}

/// See [`Occurs::splice`]. Returns the number of items that were moved.
pub(crate) fn splice_items(
    items: &mut dyn Items,
    place: usize,
    removed: usize,
    inserted: usize,
    view: View<'_>,
) -> usize {
    let start = place.min(items.len());
    let end = start.saturating_add(removed).min(items.len());
    let moved = items.len() - end;
    (0..moved).for_each(|index| items.swap(start + index, end + index));
    items.truncate(start + moved);
    if inserted > 0 {
        (0..inserted).for_each(|_| items.push(view));
        reverse(items, start, start + moved + inserted);
        reverse(items, start, start + inserted);
        reverse(items, start + inserted, start + moved + inserted);
    }
    moved
}

/// Reverses a part of a list.
fn reverse(items: &mut dyn Items, start: usize, end: usize) {
    (0..(end - start) / 2).for_each(|distance| items.swap(start + distance, end - 1 - distance));
}

/// Writes every item as an element with the field's name.
pub(crate) fn encode_items(items: &dyn Items, encoder: &mut Encoder, field: &Field, view: View<'_>) {
    for place in 0..items.len() {
        if field.inline {
            items.encode_inline(place, encoder, view);
            continue;
        }
        if encoder.is_full() {
            return;
        }
        encoder.start(&field.name);
        items.encode(place, encoder, view);
        encoder.end();
    }
}

/// The value of an attribute of any type: [`AttributeValue`] as an object.
pub trait AttributeSlot {
    /// See [`AttributeValue::vacant`].
    fn vacate(&mut self);

    /// See [`AttributeValue::read`].
    ///
    /// # Errors
    /// Same as [`AttributeValue::read`].
    fn read(&mut self, text: &str, names: Names<'_>) -> Result<(), LexicalError>;

    /// See [`AttributeValue::write`].
    fn write(&self, encoder: &mut Encoder, name: &QName);
}

impl<T: AttributeValue> AttributeSlot for T {
    fn vacate(&mut self) {
        *self = T::vacant();
    }

    fn read(&mut self, text: &str, names: Names<'_>) -> Result<(), LexicalError> {
        T::read(self, text, names)
    }

    fn write(&self, encoder: &mut Encoder, name: &QName) {
        T::write(self, encoder, name);
    }
}

/// Returns the value of a field that does not occur.
pub fn vacant<T: Occurs>() -> T {
    T::absent()
}

/// Returns the description of a child element of this type.
pub const fn field<T: Occurs>(namespace: &'static str, local: &'static str) -> Field {
    Field {
        name: QName::new(namespace, local),
        element: T::REFERENCE,
        min: T::MIN,
        max: T::MAX,
        nillable: T::NILLABLE,
        inline: false,
    }
}

/// Like [`field`], for an element that may be nil wherever it may be absent.
pub const fn nillable_field<T: Occurs>(namespace: &'static str, local: &'static str) -> Field {
    let mut field = field::<T>(namespace, local);
    field.nillable = T::NILLABLE || T::NIL_IS_ABSENT;
    field
}

/// Returns the description of a complex type with these child elements and attributes.
pub const fn complex(
    name: QName,
    compositor: Compositor,
    fields: &'static [Field],
    attributes: &'static [Attribute],
) -> Element {
    Element::Complex(ComplexElement {
        name,
        compositor,
        fields: Cow::Borrowed(fields),
        attributes: Cow::Borrowed(attributes),
        text: None,
        open: false,
        any_attribute: false,
        choices: Cow::Borrowed(&[]),
    })
}

/// Reads the content of an element; see [`complex::decode`](read::decode).
///
/// # Errors
/// Same as [`complex::decode`](read::decode).
pub fn decode(fields: &mut dyn Fields, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
    read::decode(&mut Objects(fields), cursor, view)
}

/// Writes the content of an element; see [`complex::encode`](write::encode).
pub fn encode(fields: &dyn Fields, encoder: &mut Encoder, view: View<'_>) {
    write::encode(&ObjectsRef(fields), encoder, view);
}

/// Reads the content of a type that handles its fields itself: choices, groups, and types that
/// contain them.
///
/// # Errors
/// Same as [`complex::decode`](read::decode).
pub fn decode_any(fields: &mut dyn DecodeFields, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
    read::decode(fields, cursor, view)
}

/// Writes the content of a type that handles its fields itself.
pub fn encode_any(fields: &dyn EncodeFields, encoder: &mut Encoder, view: View<'_>) {
    write::encode(fields, encoder, view);
}

/// Like [`encode_any`], for a group without an element of its own; see
/// [`complex::encode_inline`](write::encode_inline).
pub fn encode_any_inline(fields: &dyn EncodeFields, encoder: &mut Encoder, view: View<'_>) {
    write::encode_inline(fields, encoder, view);
}

/// The only type that the decoding routines are instantiated with.
struct Objects<'f>(&'f mut dyn Fields);

impl Objects<'_> {
    fn list(&mut self, field: usize) -> Option<&mut dyn ListSlot> {
        self.0.element_mut(field)?.list_mut()
    }
}

impl DecodeFields for Objects<'_> {
    fn open(&mut self, field: usize, place: usize, view: View<'_>) -> usize {
        self.0.element_mut(field).map_or(0, |slot| slot.open(place, view))
    }

    fn splice(&mut self, field: usize, place: usize, removed: usize, inserted: usize, view: View<'_>) -> usize {
        self.list(field).map_or(0, |list| list.splice(place, removed, inserted, view))
    }

    fn keep(&mut self, field: usize, count: usize, view: View<'_>) {
        if let Some(slot) = self.0.element_mut(field) {
            slot.keep(count, view);
        }
    }

    fn is_absent(&self, field: usize) -> Option<bool> {
        self.0.element(field)?.is_absent()
    }

    fn decode_field(&mut self, field: usize, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        self.0.element_mut(field).map_or(Ok(()), |slot| slot.decode(cursor, view))
    }

    fn run(&mut self, field: usize, cursor: &mut Cursor<'_>, decl: &Field, view: View<'_>) -> Run {
        self.list(field).map_or(Run::Items(0), |list| list.run(cursor, decl, view))
    }

    fn patch(&mut self, field: usize, cursor: &mut Cursor<'_>, view: View<'_>) -> Patch {
        let other = Patch::Other { field: 0, count: 0 };
        self.list(field).map_or(other, |list| list.patch(cursor, view))
    }

    fn item_leaves(&self, field: usize, view: View<'_>) -> Option<usize> {
        self.0.element(field)?.list()?.item_leaves(view)
    }

    #[inline]
    fn scan_leaf(&mut self, field: usize, leaf: &mut Leaf<'_>, view: View<'_>) -> Option<()> {
        self.0.element_mut(field)?.scan_leaf(leaf, view)
    }

    fn vacate(&mut self, view: View<'_>) {
        let Some(complex) = view.complex() else { unreachable!("a complex routine with another schema class") };
        for (place, field) in complex.fields.iter().enumerate() {
            self.keep(place, 0, view.follow(field.element));
        }
        self.vacate_attributes();
    }

    fn vacate_attributes(&mut self) {
        let mut place = 0;
        while let Some(slot) = self.0.attribute_mut(place) {
            slot.vacate();
            place += 1;
        }
    }

    fn attribute(&mut self, index: usize, text: &str, names: Names<'_>) -> Result<(), LexicalError> {
        self.0.attribute_mut(index).map_or(Ok(()), |slot| slot.read(text, names))
    }
}

/// The only type that the encoding routines are instantiated with.
struct ObjectsRef<'f>(&'f dyn Fields);

impl EncodeFields for ObjectsRef<'_> {
    fn encode_field(&self, index: usize, encoder: &mut Encoder, field: &Field, view: View<'_>) {
        if let Some(slot) = self.0.element(index) {
            slot.encode(encoder, field, view);
        }
    }

    fn encode_attribute(&self, index: usize, encoder: &mut Encoder, complex: &ComplexElement) {
        if let Some(slot) = self.0.attribute(index) {
            slot.write(encoder, &complex.attributes[index].name);
        }
    }
}
