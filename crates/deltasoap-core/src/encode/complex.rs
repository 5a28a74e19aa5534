//! Complex elements: type, attributes, fields or text.

use super::Encoder;
use crate::Lexical;
use crate::schema::{ComplexElement, Field, View};

/// A value with fields, as used by the writing routine. Implemented by the derive macro and by
/// dynamic records.
pub trait EncodeFields {
    /// Writes all occurrences of a field, including their elements.
    fn encode_field(&self, index: usize, encoder: &mut Encoder, field: &Field, view: View<'_>);

    /// Writes an attribute, if it has a value.
    fn encode_attribute(&self, index: usize, encoder: &mut Encoder, complex: &ComplexElement) {
        let _ = (index, encoder, complex);
    }

    /// Writes the attributes that the schema does not name, if it allows any.
    fn encode_others(&self, encoder: &mut Encoder, complex: &ComplexElement) {
        let _ = (encoder, complex);
    }
}

/// Text of an element with attributes: simple values, and [`Binary`](crate::Binary).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the text of an element",
    note = "text is of a simple type: a built-in one, an enumeration, a union, or a tuple struct of one of these"
)]
pub trait Text {
    /// Writes the text; the start tag is still open.
    fn encode_text(&self, encoder: &mut Encoder);
}

impl<T: Lexical> Text for T {
    fn encode_text(&self, encoder: &mut Encoder) {
        encoder.leaf(self);
    }
}

/// Writes the content of a complex element whose start tag is still open.
pub fn encode<T: EncodeFields + ?Sized>(value: &T, encoder: &mut Encoder, view: View<'_>) {
    encode_attributes(value, encoder, view);
    encoder.note_media_type(None);
    encode_inline(value, encoder, view);
}

/// Writes the content of an element with simple content: attributes, then text.
pub fn encode_text<T: EncodeFields + ?Sized>(value: &T, text: &impl Text, encoder: &mut Encoder, view: View<'_>) {
    encode_attributes(value, encoder, view);
    text.encode_text(encoder);
    encoder.note_media_type(None);
}

pub(crate) fn encode_attributes<T: EncodeFields + ?Sized>(value: &T, encoder: &mut Encoder, view: View<'_>) {
    let Some(complex) = view.complex() else { unreachable!("a complex routine with another schema class") };
    encoder.type_attribute(Some(&complex.name));
    for index in 0..complex.attributes.len() {
        value.encode_attribute(index, encoder, complex);
    }
    value.encode_others(encoder, complex);
}

/// Writes only the fields, for a group without an element of its own.
pub fn encode_inline<T: EncodeFields + ?Sized>(value: &T, encoder: &mut Encoder, view: View<'_>) {
    let Some(complex) = view.complex() else { unreachable!("a complex routine with another schema class") };
    for (index, field) in complex.fields.iter().enumerate() {
        value.encode_field(index, encoder, field, view.follow(field.element));
    }
}
