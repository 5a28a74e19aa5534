//! Canonical forms of any document: its form is its own form, has the same content, and does not
//! depend on how the document arrives. Comments can only be added to a form without them, and an
//! element has the same exclusive form in the document and in the document's form.
//!
//! The last byte of an input chooses the method and the element; the rest is the document. An input
//! that ends like a document is a whole document.

#![no_main]

#[path = "../../tests/xml/src/walk.rs"]
mod walk;

use deltasoap_xml::c14n::{Method, canonicalize};
use deltasoap_xml::{Event, Limits, Reader};
use libfuzzer_sys::fuzz_target;
use walk::{Form, Walk, count_elements, read};

fuzz_target!(|input: &[u8]| {
    let (document, control) = match input.split_last() {
        Some((&control, document)) if !matches!(control, b'>' | b'\n') => (document, control),
        _ => (input, 0),
    };
    let method = method(control);
    let form = canonicalize(document, Limits::default(), &method);
    assert_eq!(in_pieces(document, 0, &method, false), in_pieces(document, 0, &method, true), "passed content");
    let Ok(form) = form else { return };
    assert_eq!(content(&form), content(document), "the content changed");
    assert_eq!(canonicalize(&form, Limits::NONE, &method).as_ref(), Ok(&form), "the form of the form");
    let plain = canonicalize(document, Limits::default(), &method.clone().without_comments());
    let commented = canonicalize(document, Limits::default(), &method.clone().with_comments());
    let removed = canonicalize(&commented.expect("a form"), Limits::NONE, &method.clone().without_comments());
    assert_eq!(removed, plain, "without comments");
    if method.is_exclusive() {
        let element = usize::from(control >> 4);
        let of_element = in_pieces(document, element, &method, true);
        assert_eq!(in_pieces(&form, element, &method, true), of_element, "an element");
    }
});

fn method(control: u8) -> Method {
    let method = match control % 4 {
        0 => Method::exclusive(),
        1 => Method::exclusive().inclusive_prefixes(["#default", "a", "p", "soap"]),
        2 => Method::inclusive(),
        _ => Method::inclusive_11(),
    };
    if control & 4 == 0 { method } else { method.with_comments() }
}

/// Returns the form of an element; of the root element, if there are not as many. The document
/// comes in pieces; with `pass`, content that is its own form is passed by comparing bytes,
/// otherwise the document is in one piece.
fn in_pieces(document: &[u8], element: usize, method: &Method, pass: bool) -> Form {
    let element = if element < count_elements(document)? { element } else { 0 };
    let size = if pass { 1 + document.len() % 13 } else { document.len().max(1) };
    Walk::new(element, method, pass).run(document.chunks(size))
}

/// Returns names, attributes and text.
fn content(document: &[u8]) -> String {
    let mut content = String::new();
    read(document, |event, reader| match event {
        Event::Start => content += &start(reader),
        Event::End => content.push('\u{5}'),
        Event::Text(text) => content.push_str(text),
        Event::Char(c) => content.push(c),
        Event::Done => {}
    })
    .expect("well-formed");
    content
}

fn start(reader: &Reader) -> String {
    let names = reader.names();
    let attribute = |index| {
        let (name, value) = reader.attribute(index);
        format!("\u{2}{{{}}}{}\u{3}{value}", names.namespace(name), names.local(name))
    };
    let mut attributes: Vec<_> = (0..reader.attribute_count()).map(attribute).collect();
    attributes.sort_unstable();
    format!("\u{1}{{{}}}{}{}\u{4}", names.namespace(reader.name()), names.local(reader.name()), attributes.concat())
}
