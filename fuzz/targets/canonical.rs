//! Canonical forms of any document: its form is its own form, has the same content, and does not
//! depend on how the document arrives. Comments can only be added to a form without them, and an
//! element has the same exclusive form in the document and in the document's form.
//!
//! The last byte of an input chooses the method and the element; the rest is the document. An input
//! that ends like a document is a whole document.

#![no_main]

use deltasoap_xml::c14n::{C14nError, Canonicalizer, Method, canonicalize};
use deltasoap_xml::{Event, Feed, Instructions, Limits, Reader, Stop, Window, XmlError};
use libfuzzer_sys::fuzz_target;

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

/// Returns the form of an element; of the root element, if there are not as many. The document comes
/// in pieces; with `pass`, content that is its own form is passed by comparing bytes, otherwise
/// the document is in one piece.
fn in_pieces(document: &[u8], element: usize, method: &Method, pass: bool) -> Result<Vec<u8>, C14nError> {
    let count = count(document)?;
    let mut reader = Reader::new(Limits::NONE, Instructions::Skip);
    let canonicalizer = Canonicalizer::new(method.clone());
    canonicalizer.prepare(&mut reader);
    let before = if element < count { element } else { 0 };
    let mut walk = Walk { reader, canonicalizer, before, is_begun: false, pass, out: Vec::new(), error: None };
    let mut feed = Feed::new(Limits::NONE);
    let size = if pass { 1 + document.len() % 13 } else { document.len().max(1) };
    for piece in document.chunks(size) {
        feed.push(piece, |window| walk.step(window))?;
    }
    feed.finish(|window| walk.step(window))?;
    walk.error.map_or(Ok(walk.out), Err)
}

struct Walk {
    reader: Reader,
    canonicalizer: Canonicalizer,
    /// Number of start tags before that of the element.
    before: usize,
    is_begun: bool,
    pass: bool,
    out: Vec<u8>,
    error: Option<C14nError>,
}

impl Walk {
    fn step(&mut self, window: &mut Window<'_>) -> Result<(), Option<Box<XmlError>>> {
        let Walk { reader, canonicalizer, before, is_begun, pass, out, error } = self;
        let mut sink = |piece: &[u8]| out.extend_from_slice(piece);
        loop {
            if *pass && !canonicalizer.is_done() {
                canonicalizer.pass(reader, window, &mut sink);
            }
            let event = match reader.next(window) {
                Ok(Event::Done) => return Ok(()),
                Ok(event) => event,
                Err(Stop::Pending) => return Err(None),
                Err(Stop::Error(error)) => return Err(Some(error)),
            };
            if event == Event::Start && !*is_begun {
                *is_begun = *before == 0;
                if !*is_begun {
                    *before -= 1;
                    canonicalizer.around(reader);
                }
            }
            if *is_begun && error.is_none() {
                *error = canonicalizer.event(event, reader, &mut sink).err();
            }
        }
    }
}

/// Returns the number of elements.
fn count(document: &[u8]) -> Result<usize, C14nError> {
    let mut count = 0;
    read(document, |event, _| count += usize::from(event == Event::Start))?;
    Ok(count)
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

fn read(document: &[u8], mut take: impl FnMut(Event<'_>, &Reader)) -> Result<(), Box<XmlError>> {
    let (mut reader, mut feed) = (Reader::new(Limits::NONE, Instructions::Skip), Feed::new(Limits::NONE));
    let mut step = |window: &mut Window<'_>| {
        loop {
            match reader.next(window) {
                Ok(Event::Done) => return Ok(()),
                Ok(event) => take(event, &reader),
                Err(Stop::Pending) => return Err(None),
                Err(Stop::Error(error)) => return Err(Some(error)),
            }
        }
    };
    feed.push(document, &mut step)?;
    feed.finish(&mut step)
}
