//! Reading as zeep reads: what is unknown or out of order is an error; what is missing, or a text
//! that its type does not allow, is `None`.
//!
//! A message is first read by its schema. If that fails, it is read once more by a relaxed copy of
//! the schema, whose simple types are all text and whose attributes are all optional. The texts are
//! then converted by the types of the original.

use crate::contract::Model;
use deltasoap_core::decode::{Decoder, ElementRoot};
use deltasoap_core::schema::{Attribute, Builtin, Element, ElementRef, EnumerationValues, Schema, SimpleElement};
use deltasoap_core::{DecodeOptions, Deviation, DeviationKind, Error, Tolerance, Value};

/// Reads an element of any name.
///
/// # Errors
/// If the message has elements that the schema does not have there, or is not well-formed.
pub(crate) fn decode(model: &Model, content: ElementRef, document: &[u8]) -> Result<Value, Error> {
    let refused = match decode_with(model.schema(), content, document, Tolerance::Strict) {
        Ok((value, _)) => return Ok(value),
        Err(error) => error,
    };
    let is_refused = |it: &Deviation| {
        matches!(it.kind, DeviationKind::UnknownElement | DeviationKind::Namesake | DeviationKind::Order)
    };
    match decode_with(model.relaxed(), content, document, Tolerance::AnyOrder) {
        Ok((value, deviations)) if !deviations.iter().any(is_refused) => Ok(value),
        _ => Err(refused),
    }
}

/// Reads an element of any name by a schema.
///
/// # Errors
/// If the message does not match the schema.
pub(crate) fn decode_with(
    schema: &Schema,
    content: ElementRef,
    document: &[u8],
    tolerance: Tolerance,
) -> Result<(Value, Vec<Deviation>), Error> {
    let mut decoder = Decoder::new(DecodeOptions { tolerance, ..DecodeOptions::default() });
    let mut root = ElementRoot::<Value>::new(schema.view(content));
    decoder.decode(&mut root, document)?;
    Ok((root.value, decoder.deviations().to_vec()))
}

/// Returns the copy of a schema that accepts any text. References stay the same.
pub(crate) fn relaxed(schema: &Schema) -> Schema {
    schema.elements().iter().map(relaxed_element).collect::<Vec<_>>().into()
}

fn relaxed_element(element: &Element) -> Element {
    match element {
        // Names need the prefixes of the message.
        element if element.is_name() => element.clone(),
        Element::Simple(simple) => Element::Simple(SimpleElement {
            base: Builtin::String,
            enumeration: EnumerationValues::ANY,
            packed: None,
            ..simple.clone()
        }),
        Element::Complex(complex) => {
            let attributes = complex.attributes.iter();
            let optional = attributes.map(|attribute| Attribute { required: false, ..attribute.clone() });
            let mut complex = complex.clone();
            complex.attributes = optional.collect::<Vec<_>>().into();
            Element::Complex(complex)
        }
        other => other.clone(),
    }
}
