//! SOAP arrays.

use super::{Encoder, flat};
use crate::content::Content;
use crate::ns;
use crate::schema::{Field, QName, Use, View};

/// Writes the content of a SOAP array whose start tag still stands open. `arrayType` is always written: it is what
/// makes an array of an element (SOAP 1.1, section 5.4.2).
pub fn encode<T: Content>(items: &[T], encoder: &mut Encoder, view: View<'_>) {
    let Some(array) = view.array() else { unreachable!("an array routine with another schema class") };
    if encoder.encoding() == Use::Encoded {
        encoder.type_attribute(Some(&array.name));
    }
    let size = format!("[{}]", items.len());
    encoder.qname_attribute(&QName::new(ns::SOAP11_ENCODING, "arrayType"), &array.item_type, &size);
    let field = Field {
        name: array.item_name.clone(),
        element: array.item,
        min: 0,
        max: None,
        nillable: array.nillable,
        inline: false,
    };
    flat::encode_items(items, encoder, &field, view.follow(array.item));
}
