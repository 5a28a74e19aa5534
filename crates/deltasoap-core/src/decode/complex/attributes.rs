//! The attributes of a complex element.

use super::DecodeFields;
use crate::ErrorKind;
use crate::decode::{Cursor, Step, nil_attribute, other_attribute};
use crate::schema::{Attribute, ComplexElement};

/// Reads the attributes of the element just opened.
pub(crate) fn read_attributes<T: DecodeFields>(
    target: &mut T,
    cursor: &mut Cursor<'_>,
    complex: &ComplexElement,
) -> Step {
    nil_attribute(cursor)?.reject(cursor)?;
    for index in 0..cursor.reader().attribute_count() {
        let (name, text) = cursor.reader().attribute(index);
        let names = cursor.names();
        let known = complex.attributes.iter().position(|a| names.is(name, &a.name.namespace, &a.name.local));
        if let Some(known) = known {
            let result = target.attribute(known, text);
            result.map_err(|error| cursor.error_at_tag(ErrorKind::Lexical(error)))?;
        } else {
            other_attribute(cursor, index)?;
        }
    }
    require_attributes(cursor, &complex.attributes)
}

fn require_attributes(cursor: &Cursor<'_>, attributes: &[Attribute]) -> Step {
    let (reader, names) = (cursor.reader(), cursor.names());
    let is_there = |attribute: &Attribute| {
        (0..reader.attribute_count())
            .any(|index| names.is(reader.attribute(index).0, &attribute.name.namespace, &attribute.name.local))
    };
    match attributes.iter().find(|attribute| attribute.required && !is_there(attribute)) {
        None => Ok(()),
        Some(missing) => Err(cursor.error_at_tag(ErrorKind::MissingAttribute { expected: missing.name.to_string() })),
    }
}
