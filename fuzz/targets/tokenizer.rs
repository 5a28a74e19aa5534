//! A document in one piece, byte by byte, and in random chunks: the events and the error must be
//! the same. A document in UTF-8 must also give the same result in another parser, as in the
//! crate's own tests.
//!
//! The last four bytes of an input choose the chunks and the limits; the rest is the document. An
//! input that ends like a document is a whole document, with default limits, so documents can be
//! seeds without changes.

#![no_main]

#[path = "../../crates/deltasoap-xml/tests/common/mod.rs"]
mod common;

use common::{Recorder, oracle};
use deltasoap_xml::{Event, Feed, Instructions, Limits, Reader, Stop, Window, XmlError};
use libfuzzer_sys::fuzz_target;

/// The result of a document, one line per event, with pieces of text joined.
type Outcome = (String, Option<XmlError>);

fuzz_target!(|input: &[u8]| {
    let (document, [seed, small, which, size]) = split(input);
    let limits = limits(which, usize::from(size));
    let instructions = if small % 2 == 0 { Instructions::Refuse } else { Instructions::Skip };
    let whole = outcome(std::iter::once(document), limits, instructions);
    assert_eq!(outcome(document.chunks(1), limits, instructions), whole, "byte by byte");
    assert_eq!(outcome(Cuts { rest: document, state: u32::from(seed) + 1, small }, limits, instructions), whole, "cut");
    if let Ok(text) = std::str::from_utf8(document)
        && oracle::is_comparable(text)
    {
        let mut recorder = Recorder::new(Limits::NONE, Instructions::Skip);
        oracle::compare(text, &recorder.record(std::iter::once(document)));
    }
});

fn split(input: &[u8]) -> (&[u8], [u8; 4]) {
    match input.split_last_chunk() {
        Some((document, control)) if !matches!(control[3], b'>' | b'\n') => (document, *control),
        _ => (input, [1, 7, 15, 0]),
    }
}

/// Chunks of pseudo-random lengths.
struct Cuts<'a> {
    rest: &'a [u8],
    state: u32,
    small: u8,
}

impl<'a> Iterator for Cuts<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        self.state = self.state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let length = (self.state >> 16) as usize % (usize::from(self.small) + 2);
        let (chunk, rest) = self.rest.split_at(length.min(self.rest.len()));
        let is_over = self.rest.is_empty();
        self.rest = rest;
        (!is_over).then_some(chunk)
    }
}

/// Returns the default limits, or limits one of which is small enough to be reached.
fn limits(which: u8, size: usize) -> Limits {
    let default = Limits::default();
    match which % 16 {
        0 => Limits { depth: size, ..default },
        1 => Limits { attributes: size, ..default },
        2 => Limits { attribute_value: size, ..default },
        3 => Limits { name: size, ..default },
        4 => Limits { text: size, ..default },
        5 => Limits { markup: size, ..default },
        6 => Limits { message: size as u64, ..default },
        _ => default,
    }
}

fn outcome<'a>(chunks: impl Iterator<Item = &'a [u8]>, limits: Limits, instructions: Instructions) -> Outcome {
    let (mut reader, mut feed) = (Reader::new(limits, instructions), Feed::new(limits));
    let mut events = String::new();
    let error = read(chunks, &mut feed, |window| step(&mut reader, &mut events, window)).err();
    (events, error.map(|error| *error))
}

fn read<'a>(
    chunks: impl Iterator<Item = &'a [u8]>,
    feed: &mut Feed,
    mut step: impl FnMut(&mut Window<'_>) -> Result<(), Option<Box<XmlError>>>,
) -> Result<(), Box<XmlError>> {
    for chunk in chunks {
        feed.push(chunk, &mut step)?;
    }
    feed.finish(&mut step)
}

fn step(reader: &mut Reader, events: &mut String, window: &mut Window<'_>) -> Result<(), Option<Box<XmlError>>> {
    loop {
        match reader.next(window) {
            Ok(Event::Start) => start(reader, events),
            Ok(Event::End) => events.push_str("\0end"),
            Ok(Event::Text(piece)) => events.push_str(piece),
            Ok(Event::Char(c)) => events.push(c),
            Ok(Event::Done) => return Ok(()),
            Err(Stop::Pending) => return Err(None),
            Err(Stop::Error(error)) => return Err(Some(error)),
        }
    }
}

fn start(reader: &Reader, events: &mut String) {
    let names = reader.names();
    *events += &format!("\0start {{{}}}{}", names.namespace(reader.name()), names.local(reader.name()));
    for index in 0..reader.attribute_count() {
        let (name, value) = reader.attribute(index);
        *events += &format!("\0{{{}}}{}={value}", names.namespace(name), names.local(name));
    }
    *events += &format!("\0{:?}\0", reader.scope());
}
