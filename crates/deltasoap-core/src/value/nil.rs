//! Nil elements that have attributes. An element that is nil has no content, but its attributes (XSD 1.0 part 1, 3.3.4, clause 3.2); so they
//! are kept where the schema has a place for them.

use super::Value;
use crate::QName;
use crate::decode::Cursor;
use crate::decode::complex::is_content;
use crate::encode::Encoder;
use crate::schema::Element;
use std::collections::BTreeMap;

const OTHER_ATTRIBUTE: &str = "an attribute beside xsi:nil that the element may not have";

/// The value of the nil element that was just opened.
pub(super) fn read(cursor: &mut Cursor<'_>, element: &Element) -> Value {
    let mut attributes = BTreeMap::new();
    for index in 0..cursor.reader().attribute_count() {
        let (name, text) = cursor.reader().attribute(index);
        let names = cursor.names();
        let (name, text) = (QName::owned(names.namespace(name), names.local(name)), text.to_owned());
        if element.takes_beside_nil(&name) && is_content(cursor, index) {
            attributes.insert(name, text);
        }
    }
    if attributes.is_empty() { Value::Nil } else { Value::NilWith(Box::new(attributes)) }
}

/// Writes the attributes of a nil element.
pub(super) fn write(attributes: &BTreeMap<QName, String>, encoder: &mut Encoder, element: &Element) {
    encoder.nil();
    for (name, text) in attributes {
        if !element.takes_beside_nil(name) {
            return encoder.fail(OTHER_ATTRIBUTE);
        }
        encoder.attribute(name, text);
    }
}
