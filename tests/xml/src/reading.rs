//! Our reader's result for a document: the tree in the form of `parsers.py`, or an error.

use deltasoap_xml::{Event, Feed, Instructions, Limits, NameId, Reader, Stop, Window, XmlError};
use fastrand::Rng;

/// A tree, or an error.
pub type Outcome = Result<String, XmlError>;

/// A reader and a feed that record the tree. Instructions are allowed and there are no limits:
/// other parsers do not know what SOAP forbids, and have other limits.
pub struct Reading {
    reader: Reader,
    feed: Feed,
}

impl Reading {
    pub fn new() -> Self {
        Reading { reader: Reader::new(Limits::NONE, Instructions::Skip), feed: Feed::new(Limits::NONE) }
    }

    /// Reads a document in one piece and in pieces of random sizes; `Err` if the results differ.
    pub fn read(&mut self, document: &[u8], random: &mut Rng) -> Result<Outcome, [Outcome; 2]> {
        let whole = self.outcome([document].into_iter());
        let most = random.choice([1, 2, 7, 64, 1000]).unwrap_or(1);
        let cut = self.outcome(Pieces { rest: document, most, random });
        if whole == cut { Ok(whole) } else { Err([whole, cut]) }
    }

    fn outcome<'a>(&mut self, chunks: impl Iterator<Item = &'a [u8]>) -> Outcome {
        self.reader.reset();
        self.feed.reset();
        let mut tree = String::new();
        match self.chunks(chunks, &mut tree) {
            Ok(()) => Ok(tree),
            Err(error) => Err(*error),
        }
    }

    fn chunks<'a>(&mut self, chunks: impl Iterator<Item = &'a [u8]>, tree: &mut String) -> Result<(), Box<XmlError>> {
        let Reading { reader, feed } = self;
        for chunk in chunks {
            feed.push(chunk, |window| step(reader, tree, window))?;
        }
        feed.finish(|window| step(reader, tree, window))
    }
}

/// Pieces of 1 to `most` bytes.
struct Pieces<'a, 'r> {
    rest: &'a [u8],
    most: usize,
    random: &'r mut Rng,
}

impl<'a> Iterator for Pieces<'a, '_> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let length = self.random.usize(1..=self.most).min(self.rest.len());
        let (piece, rest) = self.rest.split_at(length);
        self.rest = rest;
        (!piece.is_empty()).then_some(piece)
    }
}

fn step(reader: &mut Reader, tree: &mut String, window: &mut Window<'_>) -> Result<(), Option<Box<XmlError>>> {
    loop {
        match reader.next(window) {
            Ok(Event::Start) => start(reader, tree),
            Ok(Event::End) => tree.push('\u{5}'),
            Ok(Event::Text(text)) => tree.push_str(text),
            Ok(Event::Char(c)) => tree.push(c),
            Ok(Event::Done) => return Ok(()),
            Err(Stop::Pending) => return Err(None),
            Err(Stop::Error(error)) => return Err(Some(error)),
        }
    }
}

fn start(reader: &Reader, tree: &mut String) {
    let attribute = |index| {
        let (name, value) = reader.attribute(index);
        (shown(reader, name), value)
    };
    let mut attributes: Vec<_> = (0..reader.attribute_count()).map(attribute).collect();
    attributes.sort_unstable();
    tree.push('\u{1}');
    tree.push_str(&shown(reader, reader.name()));
    for (name, value) in attributes {
        tree.extend(["\u{2}", &name, "\u{3}", value]);
    }
    tree.push('\u{4}');
}

fn shown(reader: &Reader, name: NameId) -> String {
    let (namespace, local) = (reader.names().namespace(name), reader.names().local(name));
    if namespace.is_empty() { local.to_owned() } else { format!("{namespace}\u{6}{local}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_has_names_attributes_and_text() {
        let read = |document: &[u8]| Reading::new().read(document, &mut Rng::with_seed(1)).unwrap();
        let tree = read(b"<p:a xmlns:p='u' z='1' p:b='2'>x<!-- -->y<c/></p:a>").unwrap();
        assert_eq!(tree, "\u{1}u\u{6}a\u{2}u\u{6}b\u{3}2\u{2}z\u{3}1\u{4}xy\u{1}c\u{4}\u{5}\u{5}");
        assert_eq!(read(b"<a>").unwrap_err().offset, 3);
    }
}
