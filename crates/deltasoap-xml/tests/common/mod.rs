//! Reads documents in all kinds of chunks and compares the results.

#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod oracle;

use deltasoap_xml::{Encoding, Event, Feed, Instructions, Limits, NameId, Reader, Stop, Window, XmlError};

/// One owned event; consecutive pieces of text are merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    Start(String, Vec<(String, String)>),
    Text(String),
    End,
    Done,
}

/// The events up to the end or the error.
pub type Outcome = (Vec<Piece>, Option<XmlError>);

/// A reader and a feed that record their events.
pub struct Recorder {
    pub reader: Reader,
    pub feed: Feed,
    pieces: Vec<Piece>,
}

impl Recorder {
    pub fn new(limits: Limits, instructions: Instructions) -> Self {
        Recorder { reader: Reader::new(limits, instructions), feed: Feed::new(limits), pieces: Vec::new() }
    }

    /// Reads a document that arrives in the given chunks.
    pub fn record<'a>(&mut self, chunks: impl Iterator<Item = &'a [u8]>) -> Outcome {
        self.record_with_encoding(None, chunks)
    }

    /// Like `record`, with an encoding given outside the document.
    pub fn record_with_encoding<'a>(
        &mut self,
        external: Option<Encoding>,
        chunks: impl Iterator<Item = &'a [u8]>,
    ) -> Outcome {
        self.reader.reset();
        self.feed.reset();
        if let Some(encoding) = external {
            self.feed.set_encoding(encoding);
        }
        self.pieces.clear();
        let error = self.chunks(chunks).err().map(|error| *error);
        (std::mem::take(&mut self.pieces), error)
    }

    fn chunks<'a>(&mut self, chunks: impl Iterator<Item = &'a [u8]>) -> Result<(), Box<XmlError>> {
        let Recorder { reader, feed, pieces } = self;
        for chunk in chunks {
            feed.push(chunk, |window| step(reader, pieces, window))?;
        }
        feed.finish(|window| step(reader, pieces, window))
    }
}

fn step(reader: &mut Reader, pieces: &mut Vec<Piece>, window: &mut Window<'_>) -> Result<(), Option<Box<XmlError>>> {
    loop {
        match reader.next(window) {
            Ok(Event::Start) => pieces.push(start(reader)),
            Ok(Event::End) => pieces.push(Piece::End),
            Ok(Event::Text(piece)) => text(pieces, piece),
            Ok(Event::Char(c)) => text(pieces, c.encode_utf8(&mut [0; 4])),
            Ok(Event::Done) => {
                pieces.push(Piece::Done);
                return Ok(());
            }
            Err(Stop::Pending) => return Err(None),
            Err(Stop::Error(error)) => return Err(Some(error)),
        }
    }
}

fn start(reader: &Reader) -> Piece {
    let show = |name: NameId| match (reader.names().namespace(name), reader.names().local(name)) {
        ("", local) => local.to_owned(),
        (namespace, local) => format!("{{{namespace}}}{local}"),
    };
    let attribute = |index| {
        let (name, value) = reader.attribute(index);
        (show(name), value.to_owned())
    };
    Piece::Start(show(reader.name()), (0..reader.attribute_count()).map(attribute).collect())
}

fn text(pieces: &mut Vec<Piece>, piece: &str) {
    assert!(!piece.is_empty());
    match pieces.last_mut() {
        Some(Piece::Text(text)) => text.push_str(piece),
        _ => pieces.push(Piece::Text(piece.to_owned())),
    }
}

/// Reads a document in one piece and byte by byte, and asserts equal results.
pub fn read(document: &[u8], limits: Limits, instructions: Instructions) -> Outcome {
    let mut recorder = Recorder::new(limits, instructions);
    let whole = recorder.record(std::iter::once(document));
    let bytes = recorder.record(document.chunks(1));
    assert_eq!(whole, bytes, "in one piece and byte by byte: {}", String::from_utf8_lossy(document));
    whole
}

/// Formats events in short: `<name attribute=value`, text, `>`, separated by bars.
pub fn shown((pieces, error): &Outcome) -> String {
    let mut shown: Vec<String> = pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Start(name, attributes) => {
                let attributes: String = attributes.iter().map(|(name, value)| format!(" {name}={value}")).collect();
                Some(format!("<{name}{attributes}"))
            }
            Piece::Text(text) => Some(text.clone()),
            Piece::End => Some(">".to_owned()),
            Piece::Done => None,
        })
        .collect();
    shown.extend(error.iter().map(ToString::to_string));
    shown.join("|")
}
