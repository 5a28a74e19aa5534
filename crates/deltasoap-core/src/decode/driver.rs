//! The driver: feeds windows to the outermost routine until the message is complete.

use super::differential::Differential;
use super::differential::leaf::{Advance, Chunk, Image};
use super::flat::Hinting;
use super::references::resolve;
use super::state::TreeCounts;
use super::{Cursor, Deviation, State, Step, Stop, Tolerance};
use crate::content::{Content, Typed};
use crate::schema::{QName, View};
use crate::{Error, ErrorKind, Hint, Stats};
use bytes::Bytes;
use deltasoap_xml::{Encoding, Feed, Limits, Window};
use std::cell::RefCell;

/// Options of a [`Decoder`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DecodeOptions {
    /// Limits on a message.
    pub limits: Limits,
    /// What is accepted beyond the schema.
    pub tolerance: Tolerance,
    /// How messages that resemble the previous one are decoded.
    pub differential: Differential,
}

/// The outermost routine: reads a whole document, including its end.
pub trait Root {
    /// Starts reading, or continues where the last call paused.
    ///
    /// # Errors
    /// [`Stop::Pending`] when the window is used up, else the error found.
    fn decode(&mut self, cursor: &mut Cursor<'_>) -> Step;
}

/// Decodes one document at a time, in chunks of any size.
#[derive(Debug)]
pub struct Decoder {
    feed: Feed,
    /// In a place of its own, since decoders move: through queues of streams and through futures.
    state: Box<State>,
    /// The operation's bytes, if they are kept for comparison.
    image: Image,
    /// Number of bytes received.
    received: u64,
}

impl Decoder {
    /// Creates a decoder with these options.
    pub fn new(options: DecodeOptions) -> Self {
        Decoder {
            feed: Feed::new(options.limits),
            state: Box::new(State::new(options)),
            image: Image::default(),
            received: 0,
        }
    }

    /// Like [`new`](Self::new), but this decoder learns nothing from the items it reads: every item
    /// goes through the general routines. It gives the same results, only slower. Tests use it as a
    /// reference that shares no learned markup with the decoder under test.
    pub fn without_shortcuts(options: DecodeOptions) -> Self {
        let mut decoder = Self::new(options);
        decoder.state.without_shortcuts();
        decoder
    }

    /// Prepares for another document. Must be called after each document, complete or failed.
    pub fn reset(&mut self) {
        self.feed.reset();
        self.state.reset();
        self.image = self.state.session.spare.take().map_or_else(Image::default, Image::emptied);
        self.received = 0;
    }

    /// Sets the encoding of the next document, used if the document does not declare one: see
    /// [`Feed::set_encoding`]. Must be called after [`reset`](Self::reset), which clears it, and
    /// before the first chunk.
    pub fn set_encoding(&mut self, encoding: Encoding) {
        self.feed.set_encoding(encoding);
    }

    /// Gives the decoder lists that were sent and that the next document may repeat: numbers are
    /// looked up among them first. The hint applies to the next document that is read to its end,
    /// and never changes a result. For documents that are compared with the previous one, it is
    /// used for the parts read in regular mode.
    pub fn set_hint(&mut self, hint: Option<Hint>) {
        self.state.hinting = hint.and_then(|hint| Hinting::new(hint, &self.state.limits));
    }

    /// Tells the decoder that nothing read so far is kept: the items were [taken
    /// out](super::take_finished) of the value. The limits on the length of a message and on the
    /// nodes of its trees count from here, so that a document of any length can be read in bounded
    /// memory.
    ///
    /// The limits keep counting while other content can grow: while bytes are kept because later
    /// elements may refer to them, and in a message that has come back to a list after another
    /// element, as is possible where elements may come in any order. They also keep counting after
    /// many [new names](deltasoap_xml::Reader::has_few_new_names), since names and namespaces are
    /// kept to the end of the document. Otherwise a sender that declares another namespace in each
    /// item could fill the memory.
    pub fn restart_limits(&mut self) {
        let State { reader, references, comes_back, trees, .. } = &mut *self.state;
        let is_held = *comes_back || references.is_keeping() || references.is_waiting() || !reader.has_few_new_names();
        if !is_held {
            self.feed.restart_message_limit();
            trees.taken = TreeCounts::default();
        }
    }

    /// Takes the next chunk of the document and reads as much of it as possible.
    ///
    /// # Errors
    /// The first error in document order. After an error the decoder must be
    /// [`reset`](Self::reset).
    pub fn push(&mut self, root: &mut impl Root, chunk: &[u8]) -> Result<(), Error> {
        self.take(root, Chunk::Lent(chunk))
    }

    /// Like [`push`](Self::push), for a chunk that can be kept without a copy: differential
    /// decoding compares the next message with the received buffers themselves.
    ///
    /// # Errors
    /// See [`push`](Self::push).
    pub fn push_bytes(&mut self, root: &mut impl Root, chunk: Bytes) -> Result<(), Error> {
        self.take(root, Chunk::Shared(&chunk))
    }

    /// Marks the end of the document.
    ///
    /// # Errors
    /// The first error in document order, which may be an unexpected end.
    pub fn finish(&mut self, root: &mut impl Root) -> Result<(), Error> {
        self.state.session.is_ending = true;
        self.state.session.clock.resume();
        self.follow(root)?;
        self.conclude(root)?;
        while self.feed.is_halted() {
            self.follow(root)?;
            self.conclude(root)?;
        }
        resolve(root, &mut self.state, self.received)?;
        self.state.session.keep(&mut self.image);
        self.state.stats.messages += 1;
        self.state.hinting = None;
        Ok(())
    }

    /// Reads what the routines have left for the message's end.
    fn conclude(&mut self, root: &mut impl Root) -> Result<(), Error> {
        let Decoder { feed, state, .. } = self;
        feed.finish(|window| step(root, state, window))
    }

    fn take(&mut self, root: &mut impl Root, chunk: Chunk<'_>) -> Result<(), Error> {
        let Decoder { feed, state, image, received } = self;
        let (start, bytes) = (*received, chunk.as_slice());
        *received += bytes.len() as u64;
        state.stats.bytes += bytes.len() as u64;
        state.session.clock.resume();
        let was_kept = state.session.is_kept();
        if was_kept {
            image.push(start, chunk);
        }
        feed.push(bytes, |window| step(root, state, window))?;
        if !was_kept && state.session.has_begun() {
            image.push(start, chunk);
        }
        self.follow(root)?;
        self.state.session.clock.pause();
        Ok(())
    }

    /// Fast mode: compares the received bytes, and continues in regular mode where they differ.
    fn follow(&mut self, root: &mut impl Root) -> Result<(), Error> {
        let Decoder { feed, state, image, received } = self;
        while feed.is_halted() {
            state.session.is_ending |= *received > state.limits.message;
            let Advance::Seek(position) = state.session.advance(image, state.limits.message) else { return Ok(()) };
            state.go_back();
            feed.seek(position);
            for piece in image.from(position) {
                feed.push(piece, |window| step(root, state, window))?;
            }
        }
        Ok(())
    }

    /// Reads a whole document in one piece.
    ///
    /// # Errors
    /// See [`push`](Self::push) and [`finish`](Self::finish).
    pub fn decode(&mut self, root: &mut impl Root, document: &[u8]) -> Result<(), Error> {
        self.reset();
        self.push(root, document)?;
        self.finish(root)
    }

    /// Like [`decode`](Self::decode), for a document that can be kept without a copy.
    ///
    /// # Errors
    /// See [`push`](Self::push) and [`finish`](Self::finish).
    pub fn decode_bytes(&mut self, root: &mut impl Root, document: Bytes) -> Result<(), Error> {
        self.reset();
        self.push_bytes(root, document)?;
        self.finish(root)
    }

    /// Returns the deviations of the current or last document from its schema, in document order:
    /// at most 100 different ones.
    pub fn deviations(&self) -> &[Deviation] {
        self.state.tolerated.deviations()
    }

    /// Returns the counters so far, over all documents.
    pub fn stats(&self) -> &Stats {
        self.state.stats()
    }
}

thread_local! {
    /// The decoder used by functions that read a single document. It keeps tables of names, and
    /// buffers.
    static SPARE: RefCell<Option<Box<Decoder>>> = const { RefCell::new(None) };
}

/// Reads a single document. The decoder has read other documents on this thread, so that names need
/// not be learned again. It keeps none of their values, except how the last envelope began.
///
/// # Errors
/// The first error in document order.
pub(crate) fn decode_once(root: &mut impl Root, document: &[u8]) -> Result<(), Error> {
    // Unavailable while the thread ends: destructors may read documents too.
    let spare = SPARE.try_with(|spare| spare.try_borrow_mut().ok()?.take()).ok().flatten();
    let mut decoder = spare.unwrap_or_else(|| Box::new(Decoder::new(DecodeOptions::default())));
    let result = decoder.decode(root, document);
    decoder.forget();
    let _ = SPARE.try_with(|spare| spare.try_borrow_mut().map(|mut spare| *spare = Some(decoder)));
    result
}

impl Decoder {
    /// Forgets the last document, except for names.
    fn forget(&mut self) {
        self.reset();
        (self.image, self.state.session.spare) = Default::default();
    }
}

/// Calls the routines as long as the window allows, alternating with the checkpoint policy if one
/// is active.
fn step(root: &mut impl Root, state: &mut State, window: &mut Window<'_>) -> Result<(), Option<Error>> {
    loop {
        state.references.keep(window);
        if state.references.is_waiting() {
            window.pos = window.bytes.len();
            return Err(None);
        }
        let cut = prepare(state, window).ok_or(None)?;
        let is_whole = cut == window.bytes.len();
        let part = Window { bytes: &window.bytes[..cut], last: window.last && is_whole, ..*window };
        let mut cursor = Cursor::new(part, state);
        let result = root.decode(&mut cursor);
        window.pos = cursor.pos();
        match result {
            Ok(()) => return Ok(()),
            Err(Stop::Error(mut error)) => {
                error.set_path(state.path());
                return Err(Some(error));
            }
            Err(Stop::Switch) if !state.hooks.is_busy() => {
                window.halted = true;
                return Err(None);
            }
            Err(_) if state.references.is_waiting() => {}
            Err(stop) if !goes_on(state, window, cut, stop == Stop::Switch) => {
                window.mark = state.mark();
                return Err(None);
            }
            Err(_) => {}
        }
    }
}

/// Returns the end of the routines' window; `None` if they are not to be called.
fn prepare(state: &mut State, window: &mut Window<'_>) -> Option<usize> {
    let Some(mut policy) = state.hooks.policy.take() else { return Some(window.bytes.len()) };
    let is_ready = policy.advance(state, window);
    // A window that ends before its position would never be used up.
    let cut = policy.cut(window).clamp(window.pos, window.bytes.len());
    state.hooks.policy = Some(policy);
    is_ready.then_some(cut)
}

/// Called when the routines have paused. Returns true if they can continue with the available
/// bytes.
fn goes_on(state: &mut State, window: &Window<'_>, cut: usize, at_watch: bool) -> bool {
    let Some(mut policy) = state.hooks.policy.take() else { return cut < window.bytes.len() };
    let goes_on = policy.paused(state, window, cut, at_watch);
    state.hooks.policy = Some(policy);
    goes_on
}

/// Reads a document whose root element is `name` with content of type `T`.
///
/// # Errors
/// The first error in document order.
///
/// ```
/// use deltasoap_core::{QName, decode::from_slice};
///
/// let answer: i32 = from_slice(b"<answer>42</answer>", &QName::new("", "answer"))?;
/// assert_eq!(answer, 42);
/// # Ok::<(), deltasoap_core::Error>(())
/// ```
pub fn from_slice<T: Typed>(document: &[u8], name: &QName) -> Result<T, Error> {
    read_element(document, name, T::view())
}

/// Reads a document whose root element is `name`, with content described by a schema built at run
/// time.
///
/// # Errors
/// The first error in document order.
///
/// ```
/// use deltasoap_core::schema::{Builtin, Element, Schema, SimpleElement};
/// use deltasoap_core::{QName, Simple, Value, decode::value_from_slice};
///
/// let mut schema = Schema::new();
/// let int = SimpleElement { name: Builtin::Int.name(), base: Builtin::Int, enumeration: Default::default(), default: None, packed: None };
/// let int = schema.add(Element::Simple(int));
/// let answer = value_from_slice(b"<answer>42</answer>", &QName::new("", "answer"), schema.view(int))?;
/// assert_eq!(answer, Value::Simple(Simple::Int(42)));
/// # Ok::<(), deltasoap_core::Error>(())
/// ```
#[cfg(feature = "values")]
pub fn value_from_slice(document: &[u8], name: &QName, view: View<'_>) -> Result<crate::Value, Error> {
    read_element(document, name, view)
}

fn read_element<T: Content>(document: &[u8], name: &QName, view: View<'_>) -> Result<T, Error> {
    let mut root = ElementRoot { name: Some(name), ..ElementRoot::new(view) };
    decode_once(&mut root, document)?;
    Ok(root.value)
}

/// One element as a whole document.
///
/// ```
/// use deltasoap_core::decode::{DecodeOptions, Decoder, ElementRoot};
/// use deltasoap_core::Typed;
///
/// let mut root = ElementRoot::<f64>::new(f64::view());
/// let mut decoder = Decoder::new(DecodeOptions::default());
/// for chunk in ["<x>1.", "5</", "x>"] {
///     decoder.push(&mut root, chunk.as_bytes())?;
/// }
/// decoder.finish(&mut root)?;
/// assert_eq!(root.value, 1.5);
/// # Ok::<(), deltasoap_core::Error>(())
/// ```
#[derive(Debug)]
pub struct ElementRoot<'a, T> {
    /// The element's content; vacant until it is read.
    pub value: T,
    view: View<'a>,
    /// The name that the element must have; `None` for any.
    name: Option<&'a QName>,
}

impl<'a, T: Content> ElementRoot<'a, T> {
    /// Creates a root element of any name.
    pub fn new(view: View<'a>) -> Self {
        ElementRoot { value: T::vacant(view), view, name: None }
    }

    fn open(&self, cursor: &mut Cursor<'_>) -> Step {
        cursor.next_tag()?;
        match self.name {
            Some(name) if !cursor.names().is(cursor.name(), &name.namespace, &name.local) => {
                let (found, expected) = (cursor.found_name(), format!("<{name}>"));
                Err(cursor.error_at_tag(ErrorKind::UnexpectedElement { found, expected }))
            }
            _ => Ok(()),
        }
    }
}

/// Inside the root element; state 0 is before it.
const CONTENT: u8 = 1;
/// After the root element.
const AFTER: u8 = 2;

impl<T: Content> Root for ElementRoot<'_, T> {
    fn decode(&mut self, cursor: &mut Cursor<'_>) -> Step {
        let (me, _) = cursor.enter();
        if cursor.frame(me).state == 0 {
            self.open(cursor)?;
            cursor.frame(me).state = CONTENT;
        }
        if cursor.frame(me).state == CONTENT {
            self.value.decode(cursor, self.view)?;
            cursor.frame(me).state = AFTER;
        }
        cursor.next_tag()?;
        Ok(())
    }
}
