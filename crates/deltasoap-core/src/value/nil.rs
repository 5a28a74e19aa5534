//! Nil elements that have attributes. An element that is nil has no content, but its attributes (XSD 1.0 part 1, 3.3.4, clause 3.2); so they
//! are kept where the schema has a place for them. So is the type that the message chose, as an expanded name: a prefix means nothing
//! elsewhere.

use super::Value;
use crate::decode::complex::is_content;
use crate::decode::{Cursor, Step, undeclared_type};
use crate::encode::Encoder;
use crate::schema::Element;
use crate::{QName, ns};
use deltasoap_xml::lexical::is_ncname;
use std::collections::BTreeMap;

const NO_NAME: &str = "an xsi:type that is no name of the form {namespace}local";
const OTHER_ATTRIBUTE: &str = "an attribute beside xsi:nil that the element may not have";

/// The value of the nil element that was just opened.
pub(super) fn read(cursor: &mut Cursor<'_>, element: &Element) -> Step<Value> {
    let mut attributes = BTreeMap::new();
    for index in 0..cursor.reader().attribute_count() {
        let (name, text) = cursor.reader().attribute(index);
        let names = cursor.names();
        let (name, text) = (QName::owned(names.namespace(name), names.local(name)), text.to_owned());
        if is_type(&name, element) {
            let named =
                cursor.reader().resolve(text.trim_ascii()).map(|(namespace, local)| QName::owned(namespace, local));
            attributes.insert(name, named.ok_or_else(|| undeclared_type(cursor, &text))?.to_string());
        } else if element.takes_beside_nil(&name) && is_content(cursor, index) {
            attributes.insert(name, text);
        }
    }
    Ok(if attributes.is_empty() { Value::Nil } else { Value::NilWith(Box::new(attributes)) })
}

/// True for the name of the type, where the message chooses it.
fn is_type(name: &QName, element: &Element) -> bool {
    matches!(element, Element::Any | Element::Open(_)) && name.is(ns::XSI, "type")
}

/// Writes the attributes of a nil element.
pub(super) fn write(attributes: &BTreeMap<QName, String>, encoder: &mut Encoder, element: &Element) {
    encoder.nil();
    for (name, text) in attributes {
        if is_type(name, element) {
            match expanded(text) {
                Some(named) => encoder.qname_attribute(name, &named, ""),
                None => return encoder.fail(NO_NAME),
            }
            continue;
        }
        if !element.takes_beside_nil(name) {
            return encoder.fail(OTHER_ATTRIBUTE);
        }
        encoder.attribute(name, text);
    }
}

/// A name as [`QName`] shows it.
fn expanded(text: &str) -> Option<QName> {
    let (namespace, local) = match text.strip_prefix('{') {
        Some(rest) => rest.rsplit_once('}')?,
        None => ("", text),
    };
    is_ncname(local).then(|| QName::owned(namespace, local))
}
