//! Reads a document, and canonicalizes one element of it. The fuzz target for canonical forms has
//! this too.

use deltasoap_xml::c14n::{C14nError, Canonicalizer, Method};
use deltasoap_xml::{Event, Feed, Instructions, Limits, Reader, Stop, Window, XmlError};

/// A canonical form, or the reason why there is none.
pub type Form = Result<Vec<u8>, C14nError>;

/// Returns the number of elements of a document.
///
/// # Errors
/// Returns an error if the document is not well-formed.
pub fn count_elements(document: &[u8]) -> Result<usize, Box<XmlError>> {
    let mut count = 0;
    read(document, |event, _| count += usize::from(event == Event::Start))?;
    Ok(count)
}

/// Reads a document.
///
/// # Errors
/// Returns an error if the document is not well-formed.
pub fn read(document: &[u8], mut take: impl FnMut(Event<'_>, &Reader)) -> Result<(), Box<XmlError>> {
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

/// The canonicalization of one element of a document.
pub struct Walk {
    reader: Reader,
    canonicalizer: Canonicalizer,
    /// Number of start tags before that of the element.
    before: usize,
    is_begun: bool,
    passes: bool,
    out: Vec<u8>,
    error: Option<C14nError>,
}

impl Walk {
    /// Begins with the element of a number, in document order. With `passes`, content that is its
    /// own form is passed by comparing bytes.
    pub fn new(element: usize, method: &Method, passes: bool) -> Self {
        let mut reader = Reader::new(Limits::NONE, Instructions::Skip);
        let canonicalizer = Canonicalizer::new(method.clone());
        canonicalizer.prepare(&mut reader);
        Walk { reader, canonicalizer, before: element, is_begun: false, passes, out: Vec::new(), error: None }
    }

    /// Returns the form of the element, of a document that arrives in pieces.
    ///
    /// # Errors
    /// Returns an error if there is none.
    pub fn run<'a>(mut self, pieces: impl Iterator<Item = &'a [u8]>) -> Form {
        let mut feed = Feed::new(Limits::NONE);
        for piece in pieces {
            feed.push(piece, |window| self.step(window))?;
        }
        feed.finish(|window| self.step(window))?;
        self.error.map_or(Ok(self.out), Err)
    }

    fn step(&mut self, window: &mut Window<'_>) -> Result<(), Option<Box<XmlError>>> {
        let Walk { reader, canonicalizer, before, is_begun, passes, out, error } = self;
        let mut sink = |piece: &[u8]| out.extend_from_slice(piece);
        loop {
            if *passes && !canonicalizer.is_done() {
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
