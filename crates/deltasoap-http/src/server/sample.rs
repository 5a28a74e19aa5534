//! Sample requests that the form on the service's page offers for editing, made from an operation's
//! schema.

use super::operation::Operation;
use deltasoap_core::schema::{Element, ElementRef, SimpleElement, Use, View};
use deltasoap_core::soap::{Envelope, Version};
use deltasoap_core::{Binary, Buffer, Typed};

/// Returns a request of an operation with sample values; `None` if its type has none, or they
/// cannot be written.
pub(crate) fn request(operation: &Operation, version: Version, default: Use) -> Option<String> {
    let (name, value, view) = operation.sampled()?;
    let encoding = operation.own_encoding().unwrap_or(default);
    let written =
        Envelope::element(name, &value, view).version(version).encoding(encoding).write(Buffer::new()).ok()?;
    String::from_utf8(written.into_vec()).ok()
}

/// Returns true if binary data of an operation's messages may be in separate parts.
pub(crate) fn has_parts(operation: &Operation) -> bool {
    let method = operation.method();
    [Some(method.request), method.response].into_iter().flatten().any(holds_binary)
}

/// Returns true if the content contains a [`Binary`] or [`Packed`](deltasoap_core::Packed)
/// anywhere.
fn holds_binary(reference: ElementRef) -> bool {
    let (mut seen, mut ahead) = (Vec::new(), vec![View::from_static(reference)]);
    while let Some(view) = ahead.pop() {
        if seen.iter().any(|&known| std::ptr::eq(known, view.element)) {
            continue;
        }
        seen.push(view.element);
        let is_packed = matches!(view.element, Element::Simple(SimpleElement { packed: Some(_), .. }));
        if is_packed || std::ptr::eq(view.element, Binary::element()) {
            return true;
        }
        if let Some(complex) = view.complex() {
            ahead.extend(complex.fields.iter().map(|field| view.follow(field.element)));
            ahead.extend(complex.text.map(|text| view.follow(text)));
        }
        ahead.extend(view.array().map(|array| view.follow(array.item)));
    }
    false
}
