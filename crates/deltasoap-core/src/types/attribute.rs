//! Attribute values: simple types, required or optional.

use crate::decode::Names;
use crate::encode::Encoder;
use crate::lexical::LexicalError;
use crate::schema::{Builtin, ElementRef, QName};
use crate::{Lexical, Typed};

/// The value of an attribute as a field of its element.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the value of an attribute",
    note = "an attribute's value is of a simple type, or an `Option` of one"
)]
pub trait AttributeValue: Sized {
    /// True for `use="required"`.
    const REQUIRED: bool;
    /// A reference to the description of the simple type.
    const REFERENCE: ElementRef;

    /// Returns the value of an absent attribute.
    fn vacant() -> Self;

    /// Parses the attribute's text. `names` resolves prefixed names in it.
    ///
    /// # Errors
    /// Returns an error if the text is not of the type.
    fn read(&mut self, text: &str, names: Names<'_>) -> Result<(), LexicalError>;

    /// Writes the attribute on the element just opened, if it has a value.
    fn write(&self, encoder: &mut Encoder, name: &QName);
}

impl<T: Typed + Lexical> AttributeValue for T {
    const REQUIRED: bool = true;
    const REFERENCE: ElementRef = <T as Typed>::REFERENCE;

    fn vacant() -> Self {
        <T as Lexical>::vacant()
    }

    fn read(&mut self, text: &str, _: Names<'_>) -> Result<(), LexicalError> {
        *self = T::parse(text)?;
        Ok(())
    }

    fn write(&self, encoder: &mut Encoder, name: &QName) {
        encoder.attribute_value(name, self);
    }
}

impl<T: AttributeValue> AttributeValue for Option<T> {
    const REQUIRED: bool = false;
    const REFERENCE: ElementRef = T::REFERENCE;

    fn vacant() -> Self {
        None
    }

    fn read(&mut self, text: &str, names: Names<'_>) -> Result<(), LexicalError> {
        let mut value = T::vacant();
        value.read(text, names)?;
        *self = Some(value);
        Ok(())
    }

    fn write(&self, encoder: &mut Encoder, name: &QName) {
        if let Some(value) = self {
            value.write(encoder, name);
        }
    }
}

/// The expanded name, with its prefix resolved. Writing declares a prefix for it on the element.
impl AttributeValue for QName {
    const REQUIRED: bool = true;
    const REFERENCE: ElementRef = <QName as Typed>::REFERENCE;

    fn vacant() -> Self {
        QName::default()
    }

    fn read(&mut self, text: &str, names: Names<'_>) -> Result<(), LexicalError> {
        let error = LexicalError { expected: Builtin::QName.local(), reason: "not a name" };
        *self = names(text.trim_ascii()).ok_or(error)?;
        Ok(())
    }

    fn write(&self, encoder: &mut Encoder, name: &QName) {
        encoder.qname_attribute(name, self, "");
    }
}
