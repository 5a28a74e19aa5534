//! Nil elements with attributes. A nil element has no content, but it has attributes (XSD 1.0 part
//! 1, 3.3.4, clause 3.2). They are kept if the schema has a place for them, and so is a type chosen
//! by the message. Names are stored expanded, since a prefix has no meaning elsewhere.

use super::{Simple, Value};
use crate::decode::Names;
use crate::decode::complex::is_content;
use crate::decode::{Cursor, Step, named_type};
use crate::encode::Encoder;
use crate::schema::{Element, View};
use crate::{QName, ns};
use std::collections::BTreeMap;

const XSI_TYPE: QName = QName::new(ns::XSI, "type");
const NO_NAME: &str = "an xsi:type that is not a name of the form {namespace}local";
const OTHER_ATTRIBUTE: &str = "an attribute beside xsi:nil that the element does not allow";

/// Reads the nil element that was just opened.
pub(super) fn read(cursor: &mut Cursor<'_>, view: View<'_>) -> Step<Value> {
    let mut attributes = BTreeMap::new();
    let type_name = if is_type(&XSI_TYPE, view.element) { named_type(cursor)? } else { None };
    let content = content(view, type_name.as_ref());
    for index in 0..cursor.reader().attribute_count() {
        let (reader, names) = (cursor.reader(), cursor.names());
        let (name, text) = reader.attribute(index);
        let name = QName::owned(names.namespace(name), names.local(name));
        if is_type(&name, view.element) || !view.element.takes_beside_nil(&name) {
            continue;
        }
        let resolve =
            |text: &str| reader.resolve(text.trim_ascii()).map(|(namespace, local)| QName::owned(namespace, local));
        let text =
            parse_names(&name, text, content, &resolve).map_or_else(|| text.to_owned(), |names| names.to_string());
        if is_content(cursor, index) {
            attributes.insert(name, text);
        }
    }
    attributes.extend(type_name.map(|name| (XSI_TYPE, name.to_string())));
    Ok(if attributes.is_empty() { Value::Nil } else { Value::NilWith(Box::new(attributes)) })
}

/// Returns the description of the content that the element would have.
fn content<'s>(view: View<'s>, type_name: Option<&QName>) -> View<'s> {
    match view.element {
        Element::Open(open) => {
            let chosen = type_name.and_then(|name| open.named(name)).or(open.base);
            chosen.map_or(view, |content| view.follow(content))
        }
        _ => view,
    }
}

/// Parses the value of a declared attribute that holds names.
fn parse_names(name: &QName, text: &str, view: View<'_>, names: Names<'_>) -> Option<Simple> {
    let declared = view.complex()?.attributes.iter().find(|attribute| attribute.name == *name)?;
    Simple::holding_names(view.follow(declared.element), text, names)
}

/// Returns true for `xsi:type` on an element whose type is chosen by the message.
fn is_type(name: &QName, element: &Element) -> bool {
    matches!(element, Element::Any | Element::Open(_)) && name.is(ns::XSI, "type")
}

/// Writes the attributes of a nil element.
pub(super) fn write(attributes: &BTreeMap<QName, String>, encoder: &mut Encoder, view: View<'_>) {
    encoder.nil();
    let content = content(view, attributes.get(&XSI_TYPE).and_then(|text| QName::from_expanded(text)).as_ref());
    for (name, text) in attributes {
        if is_type(name, view.element) {
            match QName::from_expanded(text) {
                Some(named) => encoder.qname_attribute(name, &named, ""),
                None => return encoder.fail(NO_NAME),
            }
            continue;
        }
        if !view.element.takes_beside_nil(name) {
            return encoder.fail(OTHER_ATTRIBUTE);
        }
        match parse_names(name, text, content, &QName::from_expanded) {
            Some(names) => names.attribute(encoder, name),
            None => encoder.attribute(name, text),
        }
    }
}
