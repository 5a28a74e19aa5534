//! Values of one of several types, told by `xsi:type` (XSD 1.0 part 1, 2.6.1): a type and those derived from it.
//!
//! What the element's type is, is markup: the start tag decides which variant is read. So a variant is entered on the tag
//! that named it, and differential decoding needs nothing more, for an equal tag means an equal variant.

use crate::content::Content;
use crate::decode::{Cursor, Step, undeclared_type};
use crate::encode::Encoder;
use crate::schema::{QName, Use};
use crate::{ErrorKind, ns};

/// An enum whose variants are a type and those derived from it. Implemented by the derive macro (`#[soap(derived)]`).
pub trait Derived: Content {
    /// The names of the variants' types, in order.
    const NAMES: &'static [QName];
    /// The variant of elements that name no type; `None` if the type is abstract.
    const BASE: Option<usize>;
    /// The variant that takes elements of all other types, as trees.
    const OTHER: Option<usize>;

    /// Which variant the value is.
    fn variant(&self) -> usize;

    /// Makes the value a vacant one of a variant.
    fn vacate(&mut self, variant: usize);

    /// Reads the variant's content.
    ///
    /// # Errors
    /// As [`Content::decode`].
    fn decode_variant(&mut self, cursor: &mut Cursor<'_>) -> Step;

    /// Writes the variant's content.
    fn encode_variant(&self, encoder: &mut Encoder);
}

/// In the variant, whose own routine has a frame above.
const CONTENT: u8 = 1;

/// Reads the content of an element whose start tag tells its type; see [`Content::decode`].
///
/// # Errors
/// When the type is none of the variants, or the variant's content is at fault.
pub fn decode<T: Derived>(target: &mut T, cursor: &mut Cursor<'_>) -> Step {
    let (me, fresh) = cursor.enter();
    if fresh && !cursor.is_seeking() {
        let variant = named_variant::<T>(cursor)?;
        let stays = target.variant() == variant && T::OTHER != Some(variant) && cursor.go_over(me);
        if !stays {
            target.vacate(variant);
        }
    }
    cursor.frame(me).state = CONTENT;
    target.decode_variant(cursor)?;
    cursor.leave(me);
    Ok(())
}

/// Writes the variant, with `xsi:type` where it is not the one that goes without.
pub fn encode<T: Derived>(value: &T, encoder: &mut Encoder) {
    let variant = value.variant();
    // In SOAP encoding every type is written, and a tree has its attributes.
    let is_told = encoder.encoding() == Use::Encoded || Some(variant) == T::OTHER || Some(variant) == T::BASE;
    if !is_told && let Some(name) = T::NAMES.get(variant) {
        encoder.qname_attribute(&QName::new(ns::XSI, "type"), name, "");
    }
    value.encode_variant(encoder);
}

/// The variant that the element just opened is of.
fn named_variant<T: Derived>(cursor: &Cursor<'_>) -> Step<usize> {
    let (reader, names) = (cursor.reader(), cursor.names());
    let mut attributes = (0..reader.attribute_count()).map(|index| reader.attribute(index));
    let Some((_, text)) = attributes.find(|(name, _)| names.is(*name, ns::XSI, "type")) else {
        return T::BASE.or(T::OTHER).ok_or_else(|| unknown(cursor, "no xsi:type"));
    };
    let Some((namespace, local)) = reader.resolve(text.trim_ascii()) else { return Err(undeclared_type(cursor, text)) };
    let named = T::NAMES.iter().position(|name| name.is(namespace, &local)).filter(|named| Some(*named) != T::OTHER);
    named.or(T::OTHER).ok_or_else(|| unknown(cursor, text))
}

#[cold]
fn unknown(cursor: &Cursor<'_>, found: &str) -> crate::decode::Stop {
    let expected = "an xsi:type that names one of the types derived from the element's".to_owned();
    cursor.error_at_tag(ErrorKind::Type { found: found.to_owned(), expected })
}
