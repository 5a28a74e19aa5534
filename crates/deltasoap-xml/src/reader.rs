//! The pull reader: well-formedness, namespaces, attributes, end-tag matching, one event at a time
//! from a window of bytes.
//!
//! Everything is checked in the order in which it stands in the document, and nothing is checked
//! ahead of the token at hand; so neither events nor errors depend on how a document is cut into
//! windows. The reader keeps no position: a caller who knows a whole element's bytes may move
//! [`Window::pos`] over it while [`Reader::is_between_tokens`]. The one position kept, of a token
//! cut by the window's end, is a hint that is dropped when it does not fit.

pub(crate) mod fail;

mod attribute;
mod declaration;
mod detour;
mod known;
mod markup;
mod reference;
mod resume;
mod scope;
mod spelling;
mod stacks;
mod tag;
mod text;

use crate::chars::{expected, floor_boundary, unfinished_tail};
use crate::feed::Detected;
use crate::interner::Held;
use crate::name::NamesMark;
use crate::{Limits, NameId, Names, ScopeId, XmlError, XmlErrorKind};
use attribute::Attributes;
use fail::{Fail, fault, over};
use resume::Resume;
use scope::Scopes;
use spelling::Spellings;
use std::sync::atomic::{AtomicU64, Ordering};

pub use detour::{Bookmark, Detour, Enclosing};
pub use known::KnownTag;
pub use stacks::Bound;
pub use tag::Open;

/// The bytes at hand: a window on the document. `pos` moves forward as events are read.
#[derive(Debug, Clone, Copy)]
pub struct Window<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// The first byte not yet consumed.
    pub pos: usize,
    /// Absolute offset of `bytes[0]` in the document (in UTF-8; the byte order mark of a UTF-8
    /// document counts).
    pub base: u64,
    /// True when no byte follows this window in the document.
    pub last: bool,
    /// The encoding that the document was received in; the declared one is checked against it.
    pub encoding: Detected,
    /// A place in the document (in UTF-8, as `base`) that an error may have to name when its bytes
    /// are gone. Set by a step that asks [`Feed`](crate::Feed) for more bytes; the same in later
    /// windows until it is set again.
    pub mark: Option<u64>,
    /// Set by a step that wants no more windows: see [`Feed::is_halted`](crate::Feed::is_halted).
    pub halted: bool,
}

impl<'a> Window<'a> {
    /// A window on a whole document in UTF-8 without a byte order mark.
    pub fn whole(bytes: &'a [u8]) -> Self {
        Window { bytes, pos: 0, base: 0, last: true, encoding: Detected::default(), mark: None, halted: false }
    }
}

/// Why reading stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The window ends inside a token: come back with the bytes from `pos` on and more behind them.
    Pending,
    /// The document is at fault.
    Error(Box<XmlError>),
}

/// What the reader found. Comments, the XML declaration and (where they are allowed) processing
/// instructions are checked and passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// A start tag; details from [`Reader::name`], [`Reader::attribute`]. An empty-element tag
    /// gives `Start`, then `End`.
    Start,
    /// An end tag.
    End,
    /// A piece of character data, never empty, line ends normalised; long text comes in several
    /// pieces.
    Text(&'a str),
    /// A character from a reference, or a normalised line end.
    Char(char),
    /// The document has ended, well-formed. Given again on every further call.
    Done,
}

/// What to do with processing instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Instructions {
    /// Refuse them, as SOAP demands (SOAP 1.1 section 3; SOAP 1.2 part 1, section 5).
    #[default]
    Refuse,
    /// Check them and pass over them (schemas, conformance tests).
    Skip,
}

/// The pull reader. It owns names, scopes and open elements; the bytes stay with the caller.
///
/// ```
/// use deltasoap_xml::{Event, Instructions, Limits, Reader, Window};
///
/// let mut reader = Reader::new(Limits::default(), Instructions::Refuse);
/// let mut window = Window::whole(b"<a x='1'>text</a>");
/// assert_eq!(reader.next(&mut window), Ok(Event::Start));
/// assert_eq!(reader.names().local(reader.name()), "a");
/// assert_eq!(reader.attribute(0).1, "1");
/// assert_eq!(reader.next(&mut window), Ok(Event::Text("text")));
/// assert_eq!(reader.next(&mut window), Ok(Event::End));
/// assert_eq!(reader.next(&mut window), Ok(Event::Done));
/// ```
#[derive(Debug)]
pub struct Reader {
    /// Unlike that of any other reader in the process.
    id: u64,
    /// How often names were forgotten.
    forgotten: u64,
    limits: Limits,
    instructions: Instructions,
    names: Names,
    /// Names to keep at the next reset; set when a document begins.
    kept: Option<NamesMark>,
    scopes: Scopes,
    spellings: Spellings,
    /// What was interned before this document.
    before: Held,
    /// Open elements, the root first.
    open: Vec<Open>,
    /// The start tag at hand.
    tag: Attributes,
    tag_offset: u64,
    /// The last element closed.
    last: NameId,
    place: Place,
    inside: Inside,
    /// The start tag just read was an empty-element tag: its `End` is due.
    empty: bool,
    resume: Option<Resume>,
}

/// Which part of the document comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The very start: only here can an XML declaration stand.
    Start,
    /// Before the root element.
    Prolog,
    /// In the root element.
    Content,
    /// Behind the root element.
    Epilog,
}

/// Which piecewise token has begun and not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    Nothing,
    Comment,
    CData,
    Instruction,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(0);

/// Most names, and most spellings of names, kept from one document to the next; and what are few
/// new names in one document.
const NAMES_KEPT: usize = 1 << 12;
/// Most bytes of names and namespaces kept.
const NAME_BYTES_KEPT: usize = 1 << 18;

impl Reader {
    /// A reader for one document at a time.
    pub fn new(limits: Limits, instructions: Instructions) -> Self {
        let mut names = Names::default();
        let mut reader = Reader {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            forgotten: 0,
            limits,
            instructions,
            scopes: Scopes::new(&mut names),
            names,
            kept: None,
            spellings: Spellings::default(),
            before: Held::default(),
            open: Vec::new(),
            tag: Attributes::default(),
            tag_offset: 0,
            last: Names::NOTHING,
            place: Place::Start,
            inside: Inside::Nothing,
            empty: false,
            resume: None,
        };
        reader.before = reader.held();
        reader
    }

    /// Makes ready for another document, also after an error. Keeps memory, scope ids, and names:
    /// documents of one sender use the same ones again. Once there are more than 4096 names, only
    /// those interned before the first document stay.
    pub fn reset(&mut self) {
        let is_large = self.names.len().max(self.spellings.len()) > NAMES_KEPT || self.names.bytes() > NAME_BYTES_KEPT;
        if is_large {
            self.forget_names();
        }
        self.before = self.held();
        self.scopes.reset();
        self.open.clear();
        self.tag.clear();
        self.tag_offset = 0;
        self.last = Names::NOTHING;
        self.place = Place::Start;
        self.inside = Inside::Nothing;
        self.empty = false;
        self.resume = None;
    }

    /// Goes back to a place in the content of an open element, of which there are then `depth`:
    /// closes the others without their end tags and leaves whatever token was begun. With 0 it is a
    /// place in front of the root element. The next window begins wherever the caller says.
    ///
    /// # Panics
    /// If `depth` is greater than [`depth`](Self::depth).
    pub fn cut(&mut self, depth: usize) {
        assert!(depth <= self.open.len(), "no such open element");
        while self.open.len() > depth {
            self.leave();
        }
        self.forget_text();
        self.place = if depth == 0 { Place::Prolog } else { Place::Content };
        self.inside = Inside::Nothing;
        self.empty = false;
        self.resume = None;
    }

    /// Forgets the names that documents brought, and all that points to them.
    fn forget_names(&mut self) {
        self.forgotten += 1;
        if let Some(mark) = self.kept.take() {
            self.names.forget(mark);
        }
        self.scopes.forget_prefixes();
        self.spellings.clear();
        self.tag.forget_names();
    }

    /// True while the document has brought few names: at most 4096 elements and attributes,
    /// spellings of names, prefixes and namespaces in all that were not known before, of 256 KiB
    /// together. They are kept to the end of the document, even where nothing else of it is.
    pub fn has_few_new_names(&self) -> bool {
        let new = self.held().beyond(self.before);
        new.keys <= NAMES_KEPT && new.bytes <= NAME_BYTES_KEPT
    }

    /// All that is interned but scopes, whose number is bounded.
    fn held(&self) -> Held {
        self.names.held() + self.spellings.held() + self.scopes.held()
    }

    /// Reads the next event.
    ///
    /// # Errors
    /// `Stop::Pending` if the window ends inside a token and is not the last: `window.pos` is then
    /// where the next window must go on, and everything before it is done with. `Stop::Error` for a
    /// fault; the reader then needs a [`reset`](Self::reset).
    #[inline]
    pub fn next<'w>(&mut self, window: &mut Window<'w>) -> Result<Event<'w>, Stop> {
        if self.empty {
            self.empty = false;
            return Ok(self.end());
        }
        match self.advance(window) {
            Ok(event) => Ok(event),
            Err(fail) => self.stop(window, fail),
        }
    }

    /// Name of the element that the last `Start` opened (or of the innermost open element). After
    /// the root's `End` it is the root's name.
    pub fn name(&self) -> NameId {
        self.open.last().map_or(self.last, |open| open.name)
    }

    /// Name of the element that the last `End` closed.
    pub fn closed_name(&self) -> NameId {
        self.last
    }

    /// Number of attributes of the last `Start`, without namespace declarations.
    pub fn attribute_count(&self) -> usize {
        self.tag.attributes.len()
    }

    /// Name and normalised value of attribute `index` of the last `Start`, in the order of the tag.
    ///
    /// # Panics
    /// If `index` is not below [`attribute_count`](Self::attribute_count).
    pub fn attribute(&self, index: usize) -> (NameId, &str) {
        let attribute = &self.tag.attributes[index];
        (attribute.name, &self.tag.values[attribute.value.clone()])
    }

    /// The namespace declarations of the last `Start` in the order of the tag: prefix (empty for
    /// the default namespace) and URI.
    pub fn declarations(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        let values = &self.tag.values;
        self.tag.declarations.iter().map(|d| (self.scopes.text(d.prefix), &values[d.value.clone()]))
    }

    /// Offset in the document (UTF-8) of the `<` of the last `Start` or `End`.
    pub fn tag_offset(&self) -> u64 {
        self.tag_offset
    }

    /// True if the last `Start` declared namespaces.
    pub fn tag_has_declarations(&self) -> bool {
        !self.tag.declarations.is_empty()
    }

    /// True if the last `Start` was of an empty-element tag and its `End` is the next event.
    pub fn tag_is_empty(&self) -> bool {
        self.empty
    }

    /// True if the reader stands in the content of an element and between two tokens, so that the
    /// bytes at `window.pos` mean what they would mean directly behind a tag. False inside
    /// comments, CDATA sections and processing instructions, before the `End` of an empty-element
    /// tag, and outside the root element.
    #[inline]
    pub fn is_between_tokens(&self) -> bool {
        self.place == Place::Content && self.inside == Inside::Nothing && !self.empty
    }

    /// Takes the character data read so far in the innermost open element off the limit `text`: for
    /// callers who keep none of it.
    #[inline]
    pub fn forget_text(&mut self) {
        if let Some(open) = self.open.last_mut() {
            open.text = 0;
        }
    }

    /// Tells the reader from all others in the process: what [`scope`](Self::scope) gives has a
    /// meaning within one reader only.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Number of open elements.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// The set of declarations in scope.
    #[inline]
    pub fn scope(&self) -> ScopeId {
        self.open.last().map_or(ScopeId::EMPTY, |open| open.scope)
    }

    /// The namespace that a prefix is bound to here (the empty prefix: the default namespace, empty
    /// for none).
    pub fn namespace_of(&self, prefix: &str) -> Option<&str> {
        self.scopes.lookup(prefix).map(|namespace| self.names.uri(namespace))
    }

    /// Resolves a `prefix:local` in element content or an attribute value against the declarations
    /// in scope; an unprefixed name takes the default namespace. `None` for an undeclared prefix or
    /// a bad name; white space around the name makes it a bad one.
    pub fn resolve(&self, text: &str) -> Option<(&str, String)> {
        let (prefix, local) = spelling::split(text)?;
        if !crate::chars::is_ncname(local) {
            return None;
        }
        Some((self.namespace_of(prefix)?, local.to_owned()))
    }

    /// The prefixes in scope and their namespaces, in no order: `""` for the default namespace;
    /// without `xml`.
    pub fn bindings(&self) -> impl Iterator<Item = (&str, &str)> {
        let bound = self.scopes.all().map(|(prefix, namespace)| (prefix, self.names.uri(namespace)));
        bound.filter(|(_, uri)| !uri.is_empty())
    }

    /// Number of declarations made by the open elements, those hidden by others included.
    pub fn declarations_in_scope(&self) -> usize {
        self.scopes.mark()
    }

    /// All declarations that the open elements have made, those hidden by others included, in
    /// document order: the number of elements around the one that made it, the prefix (empty for
    /// the default namespace), and the namespace (empty for none).
    pub fn declared(&self) -> impl Iterator<Item = (usize, &str, &str)> {
        let all = self.scopes.declared().into_iter().enumerate();
        all.map(|(index, bound)| {
            let depth = self.open.partition_point(|open| open.bindings <= index) - 1;
            (depth, self.scopes.text(bound.prefix), self.names.uri(bound.namespace))
        })
    }

    /// The scope of each open element, the root's first. They tell the same as
    /// [`declared`](Self::declared) to the reader alone, at once.
    pub fn scopes(&self) -> impl Iterator<Item = ScopeId> {
        self.open.iter().map(|open| open.scope)
    }

    /// The table of names.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The table of names, to intern some. Those interned before the first document stay for good;
    /// others may be forgotten by [`reset`](Self::reset).
    pub fn names_mut(&mut self) -> &mut Names {
        &mut self.names
    }

    /// Raw name (with prefix) of open element `level`, 0 for the root.
    ///
    /// # Panics
    /// If `level` is not below [`depth`](Self::depth).
    pub fn open_name(&self, level: usize) -> &str {
        self.spellings.text(self.open[level].spelling)
    }

    /// Name of open element `level`, 0 for the root.
    ///
    /// # Panics
    /// If `level` is not below [`depth`](Self::depth).
    pub fn open_name_id(&self, level: usize) -> NameId {
        self.open[level].name
    }

    /// Reads tokens up to the next event.
    #[inline]
    fn advance<'w>(&mut self, window: &mut Window<'w>) -> Result<Event<'w>, Fail> {
        loop {
            let event = match self.inside {
                Inside::Nothing if self.place == Place::Content => self.content(window)?,
                Inside::Nothing => self.outside(window)?,
                Inside::CData => self.cdata(window)?,
                Inside::Comment => self.comment(window).map(|()| None)?,
                Inside::Instruction => self.instruction_data(window).map(|()| None)?,
            };
            if let Some(event) = event {
                return Ok(event);
            }
        }
    }

    #[inline]
    fn content<'w>(&mut self, window: &mut Window<'w>) -> Result<Option<Event<'w>>, Fail> {
        if self.resume.is_some() {
            self.check_resume(window)?;
        }
        match window.bytes.get(window.pos) {
            None => Err(Fail::RunOut),
            Some(b'<') => self.markup(window),
            Some(_) => self.text(window).map(Some),
        }
    }

    fn outside<'w>(&mut self, window: &mut Window<'w>) -> Result<Option<Event<'w>>, Fail> {
        self.check_resume(window)?;
        if self.place == Place::Start {
            return self.start(window).map(|()| None);
        }
        window.pos = tag::skip_white(window.bytes, window.pos);
        match window.bytes.get(window.pos) {
            None if window.last && self.place == Place::Epilog => Ok(Some(Event::Done)),
            None => Err(Fail::RunOut),
            Some(b'<') => self.markup(window),
            Some(_) => Err(self.text_outside(window)),
        }
    }

    fn start(&mut self, window: &mut Window<'_>) -> Result<(), Fail> {
        self.kept.get_or_insert(self.names.mark());
        if declaration::is_present(window)? {
            let encoding = window.encoding;
            window.pos = self.bounded(window, |_, bytes, at| declaration::read(bytes, at, encoding))?;
        } else {
            declaration::without_encoding(window.encoding, window.pos)?;
        }
        self.place = Place::Prolog;
        Ok(())
    }

    /// Reads what starts with the `<` at the window's position.
    #[inline]
    fn markup<'w>(&mut self, window: &mut Window<'w>) -> Result<Option<Event<'w>>, Fail> {
        match window.bytes.get(window.pos + 1) {
            None => Err(Fail::RunOut),
            Some(b'/') => {
                let end = self.bounded(window, Self::end_tag)?;
                self.tag_offset = window.base + window.pos as u64;
                window.pos = end;
                Ok(Some(self.end()))
            }
            Some(b'!') => self.declaration_like(window).map(|()| None),
            Some(b'?') => self.instruction(window).map(|()| None),
            Some(_) if self.place == Place::Epilog => Err(fault(window.pos, XmlErrorKind::SecondRoot)),
            Some(_) => {
                let end = self.bounded(window, Self::start_tag)?;
                self.tag_offset = window.base + window.pos as u64;
                window.pos = end;
                self.place = Place::Content;
                Ok(Some(Event::Start))
            }
        }
    }

    fn end(&mut self) -> Event<'static> {
        self.leave();
        if self.open.is_empty() {
            self.place = Place::Epilog;
        }
        Event::End
    }

    /// Reads a token of no more than `limits.markup` bytes at the window's position.
    #[inline]
    fn bounded(
        &mut self,
        window: &Window<'_>,
        read: impl FnOnce(&mut Self, &[u8], usize) -> Result<usize, Fail>,
    ) -> Result<usize, Fail> {
        let bound = window.bytes.len().min(window.pos.saturating_add(self.limits.markup));
        match read(self, &window.bytes[..bound], window.pos) {
            Err(Fail::RunOut) if bound < window.bytes.len() => {
                Err(over(floor_boundary(window.bytes, bound), "markup", self.limits.markup))
            }
            end => end,
        }
    }

    #[cold]
    fn text_outside(&self, window: &Window<'_>) -> Fail {
        match expected(window.bytes, window.pos, "") {
            Fail::Fault { at, kind } => match *kind {
                XmlErrorKind::Expected { found, .. } => fault(at, self.stray_text(found)),
                kind => fault(at, kind),
            },
            fail => fail,
        }
    }

    /// The fault of character data outside the root element.
    fn stray_text(&self, found: char) -> XmlErrorKind {
        match self.place {
            Place::Epilog => XmlErrorKind::TextBehindRoot { found },
            _ => XmlErrorKind::TextOutsideRoot { found },
        }
    }

    /// Turns a failure into what the caller sees.
    #[cold]
    fn stop<'w>(&mut self, window: &Window<'w>, fail: Fail) -> Result<Event<'w>, Stop> {
        let (at, kind) = match fail {
            Fail::RunOut if !window.last => {
                self.remember(window);
                return Err(Stop::Pending);
            }
            Fail::RunOut => match unfinished_tail(&window.bytes[window.pos..]) {
                Some(at) => (window.pos + at, XmlErrorKind::Encoding),
                None => (window.bytes.len(), XmlErrorKind::UnexpectedEnd),
            },
            Fail::Fault { at, kind } => (at, *kind),
        };
        Err(Stop::Error(Box::new(XmlError { kind, offset: window.base + at as u64 })))
    }
}
