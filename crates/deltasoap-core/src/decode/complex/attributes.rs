//! The attributes of a complex element.

use super::DecodeFields;
use crate::ErrorKind;
use crate::decode::simple::fault;
use crate::decode::{Cursor, Step, nil_attribute, other_attribute};
use crate::schema::{Attribute, ComplexElement, QName, View, is_markup};

/// Reads the attributes of the element just opened. Absent ones have their defaults.
pub(crate) fn read_attributes<T: DecodeFields>(
    target: &mut T,
    cursor: &mut Cursor<'_>,
    complex: &ComplexElement,
    view: View<'_>,
) -> Step {
    nil_attribute(cursor)?.reject(cursor)?;
    // A start tag may be read again.
    if complex.any_attribute {
        target.vacate_attributes();
    }
    for index in 0..cursor.reader().attribute_count() {
        let (name, text) = cursor.reader().attribute(index);
        let names = cursor.names();
        let known = complex.attributes.iter().position(|a| names.is(name, &a.name.namespace, &a.name.local));
        match known {
            Some(known) => take(target, cursor, known, text, (complex, view))?,
            None if complex.any_attribute && is_content(cursor, index) => take_other(target, cursor, index),
            None => other_attribute(cursor, index)?,
        }
    }
    complex.attributes.iter().enumerate().try_for_each(|it| complete(target, cursor, it, (complex, view)))
}

/// True for attributes that are no markup, no references, and no ids of elements that are read once more.
pub(crate) fn is_content(cursor: &mut Cursor<'_>, index: usize) -> bool {
    let (name, text) = cursor.reader().attribute(index);
    let names = cursor.names();
    let is_reference = names.is(name, "", "href") && text.starts_with('#');
    !is_markup(names.namespace(name)) && !is_reference && !cursor.is_known_id(index)
}

/// An attribute that the schema does not name, where it allows any.
fn take_other<T: DecodeFields>(target: &mut T, cursor: &Cursor<'_>, index: usize) {
    let (name, text) = cursor.reader().attribute(index);
    let names = cursor.names();
    target.other_attribute(QName::owned(names.namespace(name), names.local(name)), text);
}

fn take<T: DecodeFields>(
    target: &mut T,
    cursor: &Cursor<'_>,
    index: usize,
    text: &str,
    (complex, view): (&ComplexElement, View<'_>),
) -> Step {
    target.attribute(index, text).map_err(|error| {
        let element = view.follow(complex.attributes[index].element).element;
        cursor.error_at_tag(fault(element, text, error))
    })
}

/// An attribute that may be absent.
fn complete<T: DecodeFields>(
    target: &mut T,
    cursor: &Cursor<'_>,
    (index, attribute): (usize, &Attribute),
    of: (&ComplexElement, View<'_>),
) -> Step {
    match &attribute.default {
        _ if !attribute.required && attribute.default.is_none() => Ok(()),
        _ if is_there(cursor, attribute) => Ok(()),
        Some(text) if !attribute.required => take(target, cursor, index, text, of),
        _ => Err(cursor.error_at_tag(ErrorKind::MissingAttribute { expected: attribute.name.to_string() })),
    }
}

fn is_there(cursor: &Cursor<'_>, attribute: &Attribute) -> bool {
    let (reader, names) = (cursor.reader(), cursor.names());
    (0..reader.attribute_count())
        .any(|index| names.is(reader.attribute(index).0, &attribute.name.namespace, &attribute.name.local))
}
