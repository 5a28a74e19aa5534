//! Canonical XML: the one form that all documents with the same content have, which is what
//! signatures are computed over.
//!
//! A [`Canonicalizer`] takes the events of a [`Reader`] for one element and writes the canonical
//! form of that element. It holds no tree and no more of the document than the events do, so a
//! message is canonicalized while it arrives. Sources: Canonical XML 1.0 and 1.1, Exclusive XML
//! Canonicalization 1.0 (W3C).
//!
//! ```text
//! events ── Canonicalizer ── bytes ── hash
//!               │
//!               ├── rendered   declarations that the output has so far
//!               └── known      start tags whose canonical form is the tag itself
//! ```
//!
//! Most content of a message already is in canonical form: tags without attributes and text without
//! special characters. [`Canonicalizer::pass`] finds such content by comparing bytes, and hands out
//! slices of the document. It decides nothing: it stops before anything else, and the reader
//! continues there.

mod method;
mod pass;
mod tag;

pub use method::Method;
pub use tag::is_relative;

use crate::reader::Aside;
use crate::reader::{PrefixId, SpellingId};
use crate::{Buffer, Escape, Event, Feed, Instructions, Limits, NsId, Reader, Stop, Window, XmlError};
use pass::Known;
use std::borrow::Cow;
use std::fmt;

/// Output is handed out in pieces of about this many bytes.
const PIECE: usize = 8 << 10;

/// Receives canonical bytes, in pieces.
pub type Sink<'s> = dyn FnMut(&[u8]) + 's;

/// Writes the canonical form of one element, from the events of a reader.
///
/// ```
/// use deltasoap_xml::c14n::{Canonicalizer, Method};
/// use deltasoap_xml::{Event, Instructions, Limits, Reader, Window};
///
/// let mut reader = Reader::new(Limits::default(), Instructions::Refuse);
/// let mut window = Window::whole(b"<a xmlns='urn:a' xmlns:b='urn:b'><b:c y='2' x='1'/></a>");
/// assert_eq!(reader.next(&mut window), Ok(Event::Start));
///
/// let (mut canonical, mut out) = (Canonicalizer::new(Method::exclusive()), Vec::new());
/// let mut sink = |piece: &[u8]| out.extend_from_slice(piece);
/// loop {
///     let event = reader.next(&mut window).expect("well-formed");
///     canonical.event(event, &reader, &mut sink)?;
///     if canonical.is_done() {
///         break;
///     }
/// }
/// assert_eq!(out, br#"<b:c xmlns:b="urn:b" x="1" y="2"></b:c>"#);
/// # Ok::<(), deltasoap_xml::c14n::C14nError>(())
/// ```
#[derive(Debug)]
pub struct Canonicalizer {
    method: Method,
    /// Declarations in the output whose elements are open, innermost last.
    rendered: Vec<(PrefixId, NsId)>,
    /// Elements of the output that are open: their names, and the number of declarations around
    /// them.
    open: Vec<(SpellingId, usize)>,
    /// True once the element was written to its end.
    is_done: bool,
    /// True if the last event was a start tag.
    is_after_start_tag: bool,
    out: Buffer,
    scratch: tag::Scratch,
    known: Known,
}

impl Canonicalizer {
    /// Creates a canonicalizer for one element.
    pub fn new(method: Method) -> Self {
        Canonicalizer {
            method,
            rendered: Vec::new(),
            open: Vec::new(),
            is_done: false,
            is_after_start_tag: false,
            out: Buffer::new(),
            scratch: tag::Scratch::default(),
            known: Known::default(),
        }
    }

    /// Prepares for another element, of the same document or another. Keeps memory, and what it
    /// knows about the tags of this reader.
    pub fn reset(&mut self, method: Method) {
        self.method = method;
        self.rendered.clear();
        self.open.clear();
        self.out.clear();
        self.scratch.clear();
        (self.is_done, self.is_after_start_tag) = (false, false);
    }

    /// Sets a reader up to report what the method needs. Call it before the document begins.
    pub fn prepare(&self, reader: &mut Reader) {
        // Processing instructions are part of the form without comments too.
        if self.method.has_comments() || reader.allows_instructions() {
            reader.keep_asides();
        }
    }

    /// Takes a start tag before the element to be written. Only inclusive canonicalization needs
    /// it, for attributes like `xml:lang` of the elements around the one to be written. Either all
    /// start tags before it are given, or those of the elements around it.
    pub fn around(&mut self, reader: &Reader) {
        if !self.method.is_exclusive() {
            self.scratch.note_around(reader);
        }
    }

    /// Takes an attribute of the XML namespace from an element around the one to be written, as
    /// [`around`](Self::around) does: its local name and value. Outer elements come first, and
    /// before all calls of `around`.
    pub fn inherit(&mut self, local: &str, value: &str) {
        if !self.method.is_exclusive() {
            self.scratch.inherit(0, local, value);
        }
    }

    /// Takes the next event of the element, its start tag first.
    ///
    /// # Errors
    /// Returns an error if the element has no canonical form.
    pub fn event(&mut self, event: Event<'_>, reader: &Reader, sink: &mut Sink<'_>) -> Result<(), C14nError> {
        if self.is_done {
            return Ok(());
        }
        self.before_event(reader);
        self.is_after_start_tag = event == Event::Start;
        match event {
            Event::Start => self.start(reader)?,
            Event::Text(text) => self.out.push_text(text, Escape::Text),
            Event::Char(c) => self.out.push_text(c.encode_utf8(&mut [0; 4]), Escape::Text),
            Event::End => self.end(reader),
            Event::Done => {}
        }
        if self.is_done || self.out.len() >= PIECE {
            self.flush(sink);
        }
        Ok(())
    }

    /// Takes the start tag of an element within the one to be written, which is left out with its
    /// content: writes only the comments and processing instructions before it.
    pub fn omit(&mut self, reader: &Reader) {
        if !self.is_done {
            self.before_event(reader);
        }
    }

    /// Returns true if the element was written to its end.
    pub fn is_done(&self) -> bool {
        self.is_done
    }

    fn end(&mut self, reader: &Reader) {
        let Some((name, around)) = self.open.pop() else { return };
        self.out.push(b"</");
        self.out.push(reader.spelling(name).as_bytes());
        self.out.push(b">");
        self.rendered.truncate(around);
        self.is_done = self.open.is_empty();
    }

    /// Writes the comments and processing instructions between the last event and the one before.
    fn before_event(&mut self, reader: &Reader) {
        if !self.open.is_empty() {
            let has_comments = self.method.has_comments();
            reader.asides().iter().filter(|aside| has_comments || aside.target.is_some()).for_each(|it| self.aside(it));
        }
    }

    /// Writes a comment or a processing instruction.
    fn aside(&mut self, aside: &Aside) {
        let text = with_line_feeds(&aside.text);
        match &aside.target {
            None => {
                self.out.push(b"<!--");
                self.out.push(text.as_bytes());
                self.out.push(b"-->");
            }
            Some(target) => {
                let data = text.trim_start_matches([' ', '\t', '\n']);
                self.out.push(b"<?");
                self.out.push(target.as_bytes());
                self.out.push(if data.is_empty() { b"" } else { b" " });
                self.out.push(data.as_bytes());
                self.out.push(b"?>");
            }
        }
    }

    fn flush(&mut self, sink: &mut Sink<'_>) {
        if !self.out.is_empty() {
            sink(self.out.as_slice());
            self.out.clear();
        }
    }
}

/// Normalizes line ends (XML 1.0, section 2.11).
fn with_line_feeds(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n").into() } else { text.into() }
}

/// The reason why a document or element has no canonical form.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum C14nError {
    /// The document is not well-formed.
    Xml(Box<XmlError>),
    /// A namespace is a relative URI, which has no canonical form (Canonical XML 1.0, section 1.3).
    RelativeNamespace(String),
    /// An `xml:base` outside the element applies to it. Canonical XML 1.1 would have to join the
    /// two URIs, which is not supported.
    InheritedBase,
}

impl fmt::Display for C14nError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            C14nError::Xml(error) => error.fmt(f),
            C14nError::RelativeNamespace(uri) => {
                write!(f, "the namespace {uri:?} is a relative URI, so the document has no canonical form")
            }
            C14nError::InheritedBase => {
                f.write_str("an `xml:base` around the element applies to it, which is not supported")
            }
        }
    }
}

impl std::error::Error for C14nError {}

impl From<Box<XmlError>> for C14nError {
    fn from(error: Box<XmlError>) -> Self {
        C14nError::Xml(error)
    }
}

/// Returns the canonical form of a whole document, in any [`Encoding`](crate::Encoding).
///
/// ```
/// use deltasoap_xml::Limits;
/// use deltasoap_xml::c14n::{Method, canonicalize};
///
/// let document = b"<?xml version='1.0'?><a  b = 'x&#9;y'><!-- note --><c/>&gt;</a>";
/// let canonical = canonicalize(document, Limits::default(), &Method::exclusive())?;
/// assert_eq!(canonical, br#"<a b="x&#x9;y"><c></c>&gt;</a>"#);
/// # Ok::<(), deltasoap_xml::c14n::C14nError>(())
/// ```
///
/// # Errors
/// Returns an error if the document is not well-formed or has no canonical form.
pub fn canonicalize(document: &[u8], limits: Limits, method: &Method) -> Result<Vec<u8>, C14nError> {
    let mut whole = Whole::new(method.clone(), limits);
    let mut feed = Feed::new(limits);
    feed.push(document, |window| whole.step(window)).map_err(C14nError::Xml)?;
    feed.finish(|window| whole.step(window)).map_err(C14nError::Xml)?;
    whole.error.map_or(Ok(whole.out), Err)
}

/// The canonicalization of a whole document.
struct Whole {
    reader: Reader,
    canonical: Canonicalizer,
    out: Vec<u8>,
    error: Option<C14nError>,
}

impl Whole {
    fn new(method: Method, limits: Limits) -> Self {
        let canonical = Canonicalizer::new(method);
        let mut reader = Reader::new(limits, Instructions::Skip);
        canonical.prepare(&mut reader);
        Whole { reader, canonical, out: Vec::new(), error: None }
    }

    fn step(&mut self, window: &mut Window<'_>) -> Result<(), Option<Box<XmlError>>> {
        loop {
            self.canonical.pass(&mut self.reader, window, &mut |piece| self.out.extend_from_slice(piece));
            match self.reader.next(window) {
                Ok(Event::Done) => {
                    self.epilog();
                    return Ok(());
                }
                Ok(event) => self.event(event),
                Err(Stop::Pending) => return Err(None),
                Err(Stop::Error(error)) => return Err(Some(error)),
            }
        }
    }

    fn event(&mut self, event: Event<'_>) {
        if self.canonical.open.is_empty() {
            self.outside(b"", b"\n");
        }
        let out = &mut self.out;
        let taken = self.canonical.event(event, &self.reader, &mut |piece| out.extend_from_slice(piece));
        if let Err(error) = taken {
            self.error.get_or_insert(error);
        }
    }

    fn epilog(&mut self) {
        self.outside(b"\n", b"");
        self.canonical.flush(&mut |piece| self.out.extend_from_slice(piece));
    }

    /// Writes the comments and processing instructions outside the root element.
    fn outside(&mut self, before: &[u8], after: &[u8]) {
        let Whole { reader, canonical, .. } = self;
        let has_comments = canonical.method.has_comments();
        for aside in reader.asides().iter().filter(|aside| has_comments || aside.target.is_some()) {
            canonical.out.push(before);
            canonical.aside(aside);
            canonical.out.push(after);
        }
    }
}

#[cfg(test)]
mod tests;
