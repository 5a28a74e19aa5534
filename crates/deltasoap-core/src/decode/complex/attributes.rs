//! The attributes of a complex element.

use super::DecodeFields;
use crate::ErrorKind;
use crate::decode::predicted::Attributes;
use crate::decode::simple::fault;
use crate::decode::{Cursor, DeviationKind, Step, Tolerance, nil_attribute, other_attribute};
use crate::schema::{Attribute, ComplexElement, QName, View, is_markup};
use deltasoap_xml::Reader;
use deltasoap_xml::lexical::{self, Lexical};

/// Reads the attributes of the element just opened. Absent ones have their defaults.
pub(crate) fn read_attributes<T: DecodeFields + ?Sized>(
    target: &mut T,
    cursor: &mut Cursor<'_>,
    complex: &ComplexElement,
    view: View<'_>,
) -> Step {
    if complex.any_attribute {
        return read_any_attributes(target, cursor, complex, view);
    }
    if cursor.reader().attribute_count() == 0 && complex.attributes.is_empty() {
        return Ok(());
    }
    let offset = cursor.reader().tag_offset();
    if let Some(attributes) = cursor.state.expected.shapes.attributes(offset) {
        return take_predicted(target, cursor, attributes, (complex, view));
    }
    let deviations = cursor.state().stats.deviations;
    read_each(target, cursor, complex, view)?;
    // Unknown attributes are reported each time.
    if cursor.state().stats.deviations == deviations {
        cursor.learn_attributes(|reader| Attributes { known: known_attributes(reader, complex) });
    }
    Ok(())
}

/// Like [`read_attributes`], for types that keep attributes beyond those of the schema.
fn read_any_attributes<T: DecodeFields + ?Sized>(
    target: &mut T,
    cursor: &mut Cursor<'_>,
    complex: &ComplexElement,
    view: View<'_>,
) -> Step {
    // A start tag may be read again.
    target.vacate_attributes();
    read_each(target, cursor, complex, view)
}

fn read_each<T: DecodeFields + ?Sized>(
    target: &mut T,
    cursor: &mut Cursor<'_>,
    complex: &ComplexElement,
    view: View<'_>,
) -> Step {
    let is_nil = nil_attribute(cursor)?;
    if is_nil.0 && cursor.tolerance() >= Tolerance::Unknown && complex.can_be_empty() {
        let name = cursor.name();
        cursor.report_attribute(DeviationKind::Nil, name);
    } else {
        is_nil.reject(cursor)?;
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

/// Returns the attributes of the schema in the order in which they are read: first those that are
/// present, then those with defaults.
fn known_attributes(reader: &Reader, complex: &ComplexElement) -> Box<[(usize, Option<usize>)]> {
    let find = |index: usize| {
        let (name, names) = (reader.attribute(index).0, reader.names());
        let is_it = |known: &Attribute| names.is(name, &known.name.namespace, &known.name.local);
        complex.attributes.iter().position(is_it).map(|known| (known, Some(index)))
    };
    let there: Vec<_> = (0..reader.attribute_count()).filter_map(find).collect();
    let is_absent = |index: &usize| there.iter().all(|(known, _)| known != index);
    let has_default = |index: &usize| complex.attributes[*index].default.is_some();
    let defaults = (0..complex.attributes.len()).filter(is_absent).filter(has_default).map(|index| (index, None));
    there.iter().copied().chain(defaults).collect()
}

/// Takes the attributes of a tag that was read before.
fn take_predicted<T: DecodeFields + ?Sized>(
    target: &mut T,
    cursor: &Cursor<'_>,
    attributes: &Attributes,
    of: (&ComplexElement, View<'_>),
) -> Step {
    attributes.known.iter().try_for_each(|&(index, place)| {
        let default = || of.0.attributes[index].default.as_deref().unwrap_or_default();
        match place {
            Some(place) => take(target, cursor, index, cursor.reader().attribute(place).1, of),
            None => take_default(target, cursor, index, default(), of),
        }
    })
}

/// Returns true for attributes that are not markup, references, or ids of elements that are read
/// again.
pub(crate) fn is_content(cursor: &mut Cursor<'_>, index: usize) -> bool {
    let (name, text) = cursor.reader().attribute(index);
    let names = cursor.names();
    let is_reference = names.is(name, "", "href") && text.starts_with('#');
    !is_markup(names.namespace(name)) && !is_reference && !cursor.is_known_id(index)
}

/// Takes an attribute that the schema does not name, for types that allow any.
fn take_other<T: DecodeFields + ?Sized>(target: &mut T, cursor: &Cursor<'_>, index: usize) {
    let (name, text) = cursor.reader().attribute(index);
    let names = cursor.names();
    target.other_attribute(QName::owned(names.namespace(name), names.local(name)), text);
}

/// Takes an attribute of the message.
fn take<T: DecodeFields + ?Sized>(
    target: &mut T,
    cursor: &Cursor<'_>,
    index: usize,
    text: &str,
    of: (&ComplexElement, View<'_>),
) -> Step {
    let element = of.1.follow(of.0.attributes[index].element).element;
    let name = |text: &str| {
        lexical::QName::parse(text).ok()?;
        cursor.reader().resolve(text.trim_ascii()).map(|(namespace, local)| QName::owned(namespace, local))
    };
    target.attribute(index, text, &name).map_err(|error| {
        let is_undeclared = element.is_name() && lexical::QName::parse(text).is_ok() && name(text).is_none();
        let expected = || "a name whose prefix is declared".to_owned();
        cursor.error_at_tag(match is_undeclared {
            true => ErrorKind::UnexpectedValue { found: text.to_owned(), expected: expected() },
            false => fault(element, text, error),
        })
    })
}

/// Takes the default as the schema writes it, with names in expanded form.
fn take_default<T: DecodeFields + ?Sized>(
    target: &mut T,
    cursor: &Cursor<'_>,
    index: usize,
    text: &str,
    (complex, view): (&ComplexElement, View<'_>),
) -> Step {
    target.attribute(index, text, &QName::from_expanded).map_err(|error| {
        let element = view.follow(complex.attributes[index].element).element;
        cursor.error_at_tag(fault(element, text, error))
    })
}

/// Takes the default of an absent attribute, or reports it as missing.
fn complete<T: DecodeFields + ?Sized>(
    target: &mut T,
    cursor: &Cursor<'_>,
    (index, attribute): (usize, &Attribute),
    of: (&ComplexElement, View<'_>),
) -> Step {
    match &attribute.default {
        _ if !attribute.required && attribute.default.is_none() => Ok(()),
        _ if is_there(cursor, attribute) => Ok(()),
        Some(text) if !attribute.required => take_default(target, cursor, index, text, of),
        _ => Err(cursor.error_at_tag(ErrorKind::MissingAttribute { expected: attribute.name.to_string() })),
    }
}

fn is_there(cursor: &Cursor<'_>, attribute: &Attribute) -> bool {
    let (reader, names) = (cursor.reader(), cursor.names());
    (0..reader.attribute_count())
        .any(|index| names.is(reader.attribute(index).0, &attribute.name.namespace, &attribute.name.local))
}
