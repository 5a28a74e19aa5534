//! Values of one of several types, identified by `xsi:type` (XSD 1.0 part 1, 2.6.1): a type and
//! those derived from it.
//!
//! The element's type is part of the markup: the start tag decides which variant is read. So a
//! variant is entered at the tag that named it, and differential decoding needs nothing more, since
//! an equal tag means an equal variant.

use crate::content::{Content, Typed};
use crate::decode::{Cursor, Step, undeclared_type};
use crate::encode::Encoder;
use crate::schema::{QName, Use};
use crate::{ErrorKind, ns};

/// An enum whose variants are a type and the types derived from it. Implemented by the derive macro
/// (`#[soap(derived)]`).
pub trait Derived: Content {
    /// The names of the variants' types, in order.
    const NAMES: &'static [QName];
    /// The variant for elements without `xsi:type`; `None` if the type is abstract.
    const BASE: Option<usize>;
    /// The variant for elements of all other types, kept as trees.
    const OTHER: Option<usize>;

    /// Returns the index of the value's variant.
    fn variant(&self) -> usize;

    /// Replaces the value with a vacant one of a variant.
    fn vacate(&mut self, variant: usize);

    /// Returns the variant's value.
    fn content(&self) -> &dyn OneType;

    /// Returns the variant's value for decoding.
    fn content_mut(&mut self) -> &mut dyn OneType;
}

/// The value of a variant of any type.
pub trait OneType {
    /// See [`Content::decode`].
    ///
    /// # Errors
    /// Same as [`Content::decode`].
    fn decode(&mut self, cursor: &mut Cursor<'_>) -> Step;

    /// See [`Content::encode`].
    fn encode(&self, encoder: &mut Encoder);
}

impl<T: Typed> OneType for T {
    fn decode(&mut self, cursor: &mut Cursor<'_>) -> Step {
        T::decode(self, cursor, T::view())
    }

    fn encode(&self, encoder: &mut Encoder) {
        T::encode(self, encoder, T::view());
    }
}

/// Returns the name of a variant's type.
///
/// # Panics
/// Panics if decoding does not [replace](Content::REPLACES) values of the type: such a type is not
/// a struct.
pub const fn name<T: Typed>() -> QName {
    assert!(T::REPLACES, "a derived type is a struct");
    T::TYPE_NAME
}

/// Inside the variant, whose routine has the next frame.
const CONTENT: u8 = 1;

/// Reads the content of an element whose start tag identifies its type; see [`Content::decode`].
///
/// # Errors
/// Returns an error if the type is none of the variants, or the variant's content is invalid.
pub fn decode<T: Derived>(target: &mut T, cursor: &mut Cursor<'_>) -> Step {
    decode_one_of(target, &Types::new::<T>(), cursor)
}

/// Writes the variant, with `xsi:type` unless it is the [base](Derived::BASE).
pub fn encode<T: Derived>(value: &T, encoder: &mut Encoder) {
    write_type(value.variant(), &Types::new::<T>(), encoder);
    value.content().encode(encoder);
}

/// A type and the types derived from it; see [`Derived`].
struct Types {
    names: &'static [QName],
    base: Option<usize>,
    other: Option<usize>,
}

impl Types {
    fn new<T: Derived>() -> Self {
        Types { names: T::NAMES, base: T::BASE, other: T::OTHER }
    }
}

/// [`Derived`] as an object: there are many hierarchies, and all share one routine.
trait OneOf {
    fn variant(&self) -> usize;

    fn vacate(&mut self, variant: usize);

    fn content_mut(&mut self) -> &mut dyn OneType;
}

impl<T: Derived> OneOf for T {
    fn variant(&self) -> usize {
        T::variant(self)
    }

    fn vacate(&mut self, variant: usize) {
        T::vacate(self, variant);
    }

    fn content_mut(&mut self) -> &mut dyn OneType {
        T::content_mut(self)
    }
}

fn decode_one_of(target: &mut dyn OneOf, types: &Types, cursor: &mut Cursor<'_>) -> Step {
    let (me, fresh) = cursor.enter();
    if fresh && !cursor.is_seeking() {
        let variant = named_variant(types, cursor)?;
        let stays = target.variant() == variant && types.other != Some(variant) && cursor.go_over(me);
        if !stays {
            target.vacate(variant);
        }
    }
    cursor.frame(me).state = CONTENT;
    target.content_mut().decode(cursor)?;
    cursor.leave(me);
    Ok(())
}

fn write_type(variant: usize, types: &Types, encoder: &mut Encoder) {
    // A tree has its own attributes.
    if Some(variant) == types.other || Some(variant) == types.base {
        return;
    }
    if encoder.encoding() == Use::Encoded {
        // The content writes its type, even as the body's own element, whose name does not identify
        // the type.
        encoder.set_type_written(true);
    } else if let Some(name) = types.names.get(variant) {
        encoder.qname_attribute(&QName::new(ns::XSI, "type"), name, "");
    }
}

/// Returns the variant of the element just opened.
fn named_variant(types: &Types, cursor: &Cursor<'_>) -> Step<usize> {
    let (reader, names) = (cursor.reader(), cursor.names());
    let mut attributes = (0..reader.attribute_count()).map(|index| reader.attribute(index));
    let Some((_, text)) = attributes.find(|(name, _)| names.is(*name, ns::XSI, "type")) else {
        return types.base.or(types.other).ok_or_else(|| unknown(cursor, "no xsi:type"));
    };
    let Some((namespace, local)) = reader.resolve(text.trim_ascii()) else { return Err(undeclared_type(cursor, text)) };
    let named = types.names.iter().position(|name| name.is(namespace, &local));
    let named = named.filter(|named| Some(*named) != types.other);
    named.or(types.other).ok_or_else(|| unknown(cursor, text))
}

#[cold]
fn unknown(cursor: &Cursor<'_>, found: &str) -> crate::decode::Stop {
    let expected = "an xsi:type that names one of the types derived from the element's".to_owned();
    cursor.error_at_tag(ErrorKind::Type { found: found.to_owned(), expected })
}
