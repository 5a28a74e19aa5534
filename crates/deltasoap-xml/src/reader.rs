//! The pull reader: checks well-formedness, namespaces, attributes and end tags, and returns one
//! event at a time from a window of bytes.
//!
//! Everything is checked in document order, and nothing is checked ahead of the current token.
//! Therefore neither events nor errors depend on how a document is split into windows. The reader
//! keeps no position: a caller who knows the bytes of a whole element may move [`Window::pos`] past
//! it while [`Reader::is_between_tokens`]. The one position kept, that of a token cut by the
//! window's end, is a hint that is dropped when it does not apply.

pub(crate) mod token_error;

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
use crate::{Limits, NameId, Names, NsId, ScopeId, XmlError, XmlErrorKind};
use attribute::Attributes;
use resume::Resume;
use scope::Scopes;
pub(crate) use scope::{PrefixId, UNBOUND};
pub(crate) use spelling::SpellingId;
use spelling::Spellings;
use std::sync::atomic::{AtomicU64, Ordering};
use token_error::{TokenError, fault, over_limit};

pub use detour::{Bookmark, Detour, Enclosing};
pub use known::KnownTag;
pub use stacks::Bound;
pub use tag::Open;

/// A window on the document: the bytes available. `pos` advances as events are read.
#[derive(Debug, Clone, Copy)]
pub struct Window<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// Index of the first byte not yet consumed.
    pub pos: usize,
    /// Absolute offset of `bytes[0]` in the document (in UTF-8; the byte order mark of a UTF-8
    /// document counts).
    pub base: u64,
    /// True if no byte follows this window in the document.
    pub last: bool,
    /// The encoding that the document was received in; a declared encoding is checked against it.
    pub encoding: Detected,
    /// A position in the document (in UTF-8, as `base`) that an error may have to report after its
    /// bytes are gone. Set by a step that asks [`Feed`](crate::Feed) for more bytes; kept in later
    /// windows until it is set again.
    pub mark: Option<u64>,
    /// Set by a step that wants no more windows: see [`Feed::is_halted`](crate::Feed::is_halted).
    pub halted: bool,
}

impl<'a> Window<'a> {
    /// Creates a window on a whole document in UTF-8 without a byte order mark.
    pub fn whole(bytes: &'a [u8]) -> Self {
        Window { bytes, pos: 0, base: 0, last: true, encoding: Detected::default(), mark: None, halted: false }
    }
}

/// The reason why reading stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The window ends inside a token: call again with the bytes from `pos` on, followed by more.
    Pending,
    /// The document is invalid.
    Error(Box<XmlError>),
}

/// An event. Comments, the XML declaration and (where they are allowed) processing instructions are
/// checked and skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// A start tag; see [`Reader::name`] and [`Reader::attribute`] for its content. An
    /// empty-element tag gives `Start`, then `End`.
    Start,
    /// An end tag.
    End,
    /// A piece of character data, never empty, with normalised line ends; long text comes in
    /// several pieces.
    Text(&'a str),
    /// A character from a reference, or a normalised line end.
    Char(char),
    /// The end of a well-formed document. Returned again by every further call.
    Done,
}

/// How processing instructions are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Instructions {
    /// Refuse them, as SOAP requires (SOAP 1.1 section 3; SOAP 1.2 part 1, section 5).
    #[default]
    Refuse,
    /// Check and skip them (schemas, conformance tests).
    Skip,
}

/// The pull reader. It owns names, scopes and open elements; the caller owns the bytes.
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
    /// Unique in the process.
    id: u64,
    /// Number of times that names were forgotten.
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
    /// The current start tag.
    tag: Attributes,
    tag_offset: u64,
    /// The last element closed.
    last: NameId,
    place: DocumentPart,
    inside: OpenToken,
    /// True if the start tag just read was an empty-element tag, so that its `End` is due.
    empty: bool,
    resume: Option<Resume>,
    /// Comments and processing instructions, if they are kept.
    asides: Option<Asides>,
}

/// The comments and processing instructions before an event.
#[derive(Debug, Default)]
struct Asides {
    list: Vec<Aside>,
    /// True once the event was returned.
    is_complete: bool,
}

/// A comment or a processing instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Aside {
    /// The target of the instruction; `None` for a comment.
    pub(crate) target: Option<String>,
    /// The text of the comment, or everything after the target. Line ends are as in the document.
    pub(crate) text: String,
}

/// The part of the document that comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DocumentPart {
    /// The very start: an XML declaration is allowed only here.
    Start,
    /// Before the root element.
    Prolog,
    /// In the root element.
    Content,
    /// After the root element.
    Epilog,
}

/// The piecewise token that has begun and not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OpenToken {
    Nothing,
    Comment,
    CData,
    Instruction,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(0);

/// Maximum number of names, and of spellings of names, kept from one document to the next; also the
/// maximum for [`Reader::has_few_new_names`].
const NAMES_KEPT: usize = 1 << 12;
/// Maximum number of bytes of names and namespaces kept.
const NAME_BYTES_KEPT: usize = 1 << 18;

impl Reader {
    /// Creates a reader for one document at a time.
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
            place: DocumentPart::Start,
            inside: OpenToken::Nothing,
            empty: false,
            resume: None,
            asides: None,
        };
        reader.before = reader.held();
        reader
    }

    /// Prepares for another document, also after an error. Keeps memory, scope ids, and names,
    /// since documents of one sender use the same names again. Once there are more than 4096 names,
    /// only those interned before the first document stay.
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
        self.place = DocumentPart::Start;
        self.inside = OpenToken::Nothing;
        self.empty = false;
        self.resume = None;
        self.asides = self.asides.take().map(|_| Asides::default());
    }

    /// Keeps the comments and processing instructions before an event until the next one is read.
    pub(crate) fn keep_asides(&mut self) {
        self.asides.get_or_insert_default();
    }

    /// Returns true if processing instructions are allowed.
    pub(crate) fn allows_instructions(&self) -> bool {
        self.instructions == Instructions::Skip
    }

    /// Returns true if comments or processing instructions were read, and the event after them not
    /// yet.
    pub(crate) fn has_asides_alone(&self) -> bool {
        self.asides.as_ref().is_some_and(|asides| !asides.is_complete && !asides.list.is_empty())
    }

    /// Returns the comments and processing instructions directly before the last event.
    pub(crate) fn asides(&self) -> &[Aside] {
        self.asides.as_ref().map_or(&[], |asides| &asides.list)
    }

    /// Returns to a place in the content of an open element, so that `depth` elements are open:
    /// closes the others without their end tags and abandons any unfinished token. With 0 the place
    /// is before the root element. The caller decides where the next window begins.
    ///
    /// # Panics
    /// If `depth` is greater than [`depth`](Self::depth).
    pub fn cut(&mut self, depth: usize) {
        assert!(depth <= self.open.len(), "no such open element");
        while self.open.len() > depth {
            self.leave();
        }
        self.forget_text();
        self.place = if depth == 0 { DocumentPart::Prolog } else { DocumentPart::Content };
        self.inside = OpenToken::Nothing;
        self.empty = false;
        self.resume = None;
    }

    /// Forgets the names that documents introduced, and everything that refers to them.
    fn forget_names(&mut self) {
        self.forgotten += 1;
        if let Some(mark) = self.kept.take() {
            self.names.forget(mark);
        }
        self.scopes.forget_prefixes();
        self.spellings.clear();
        self.tag.forget_names();
    }

    /// Returns true while the document has introduced few names: at most 4096 new elements and
    /// attributes, spellings of names, prefixes and namespaces in total, of 256 KiB together. They
    /// are kept to the end of the document, even where nothing else of it is.
    pub fn has_few_new_names(&self) -> bool {
        let new = self.held().beyond(self.before);
        new.keys <= NAMES_KEPT && new.bytes <= NAME_BYTES_KEPT
    }

    /// Counts everything interned except scopes, which have a limit of their own.
    fn held(&self) -> Held {
        self.names.held() + self.spellings.held() + self.scopes.held()
    }

    /// Reads the next event.
    ///
    /// # Errors
    /// `Stop::Pending` if the window ends inside a token and is not the last: the next window must
    /// continue at `window.pos`, and everything before it is no longer needed. `Stop::Error` if the
    /// document is invalid; the reader then needs a [`reset`](Self::reset).
    #[inline]
    pub fn next<'w>(&mut self, window: &mut Window<'w>) -> Result<Event<'w>, Stop> {
        if self.asides.is_some() {
            self.forget_asides();
        }
        if self.empty {
            self.empty = false;
            return Ok(self.end());
        }
        match self.advance(window) {
            Ok(event) => Ok(event),
            Err(fail) => {
                if let Some(asides) = &mut self.asides {
                    asides.is_complete = false;
                }
                self.stop(window, fail)
            }
        }
    }

    /// Forgets the comments and processing instructions before the last event.
    #[cold]
    fn forget_asides(&mut self) {
        if let Some(asides) = &mut self.asides {
            if asides.is_complete {
                asides.list.clear();
            }
            asides.is_complete = true;
        }
    }

    /// Returns the name of the element that the last `Start` opened (or of the innermost open
    /// element). After the root's `End` it is the root's name.
    pub fn name(&self) -> NameId {
        self.open.last().map_or(self.last, |open| open.name)
    }

    /// Returns the name of the element that the last `End` closed.
    pub fn closed_name(&self) -> NameId {
        self.last
    }

    /// Returns the number of attributes of the last `Start`, without namespace declarations.
    pub fn attribute_count(&self) -> usize {
        self.tag.attributes.len()
    }

    /// Returns the name and normalised value of attribute `index` of the last `Start`, in tag
    /// order.
    ///
    /// # Panics
    /// If `index` is not less than [`attribute_count`](Self::attribute_count).
    pub fn attribute(&self, index: usize) -> (NameId, &str) {
        let attribute = &self.tag.attributes[index];
        (attribute.name, &self.tag.values[attribute.value.clone()])
    }

    /// Returns the namespace declarations of the last `Start` in tag order: prefix (empty for the
    /// default namespace) and URI.
    pub fn declarations(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        let values = &self.tag.values;
        self.tag.declarations.iter().map(|d| (self.scopes.text(d.prefix), &values[d.value.clone()]))
    }

    /// Returns the offset in the document (UTF-8) of the `<` of the last `Start` or `End`.
    pub fn tag_offset(&self) -> u64 {
        self.tag_offset
    }

    /// Returns true if the last `Start` declared namespaces.
    pub fn tag_has_declarations(&self) -> bool {
        !self.tag.declarations.is_empty()
    }

    /// Returns true if the last `Start` was an empty-element tag and its `End` is the next event.
    pub fn tag_is_empty(&self) -> bool {
        self.empty
    }

    /// Returns true if the reader is in the content of an element and between two tokens, so that
    /// the bytes at `window.pos` mean what they would mean directly after a tag. False inside
    /// comments, CDATA sections and processing instructions, before the `End` of an empty-element
    /// tag, and outside the root element.
    #[inline]
    pub fn is_between_tokens(&self) -> bool {
        self.place == DocumentPart::Content && self.inside == OpenToken::Nothing && !self.empty
    }

    /// Resets the count for the limit `text` in the innermost open element: for callers that do not
    /// keep its character data.
    #[inline]
    pub fn forget_text(&mut self) {
        if let Some(open) = self.open.last_mut() {
            open.text = 0;
        }
    }

    /// Returns an id that is unique in the process: ids that [`scope`](Self::scope) returns are
    /// meaningful only within one reader.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns the number of open elements.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// Returns the set of declarations in scope.
    #[inline]
    pub fn scope(&self) -> ScopeId {
        self.open.last().map_or(ScopeId::EMPTY, |open| open.scope)
    }

    /// Returns the namespace that a prefix is bound to here (for the empty prefix the default
    /// namespace, empty for none).
    pub fn namespace_of(&self, prefix: &str) -> Option<&str> {
        self.scopes.lookup(prefix).map(|namespace| self.names.uri(namespace))
    }

    /// Resolves a `prefix:local` in element content or an attribute value against the declarations
    /// in scope; an unprefixed name takes the default namespace. `None` for an undeclared prefix or
    /// an invalid name; surrounding white space makes the name invalid.
    pub fn resolve(&self, text: &str) -> Option<(&str, String)> {
        let (prefix, local) = spelling::split(text)?;
        if !crate::chars::is_ncname(local) {
            return None;
        }
        Some((self.namespace_of(prefix)?, local.to_owned()))
    }

    /// Returns the prefixes in scope and their namespaces, in no order: `""` for the default
    /// namespace; without `xml`.
    pub fn bindings(&self) -> impl Iterator<Item = (&str, &str)> {
        let bound = self.scopes.all().map(|(prefix, namespace)| (prefix, self.names.uri(namespace)));
        bound.filter(|(_, uri)| !uri.is_empty())
    }

    /// Returns the number of declarations made by the open elements, including hidden ones.
    pub fn declarations_in_scope(&self) -> usize {
        self.scopes.mark()
    }

    /// Returns all declarations made by the open elements, including hidden ones, in document
    /// order: the number of elements around the declaring element, the prefix (empty for the
    /// default namespace), and the namespace (empty for none).
    pub fn declared(&self) -> impl Iterator<Item = (usize, &str, &str)> {
        let all = self.scopes.declared().into_iter().enumerate();
        all.map(|(index, bound)| {
            let depth = self.open.partition_point(|open| open.bindings <= index) - 1;
            (depth, self.scopes.text(bound.prefix), self.names.uri(bound.namespace))
        })
    }

    /// Returns the scope of each open element, the root's first. The scopes identify the same
    /// information as [`declared`](Self::declared), at no cost, but only for this reader.
    pub fn scopes(&self) -> impl Iterator<Item = ScopeId> {
        self.open.iter().map(|open| open.scope)
    }

    /// Returns the table of names.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Returns the table of names for interning. Names interned before the first document stay for
    /// good; [`reset`](Self::reset) may forget others.
    pub fn names_mut(&mut self) -> &mut Names {
        &mut self.names
    }

    /// Returns the raw name (with prefix) of open element `level`, 0 for the root.
    ///
    /// # Panics
    /// If `level` is not less than [`depth`](Self::depth).
    pub fn open_name(&self, level: usize) -> &str {
        self.spellings.text(self.open[level].spelling)
    }

    /// Returns the name of open element `level`, 0 for the root.
    ///
    /// # Panics
    /// If `level` is not less than [`depth`](Self::depth).
    pub fn open_name_id(&self, level: usize) -> NameId {
        self.open[level].name
    }

    /// Returns the spelling of the last start tag's name.
    pub(crate) fn tag_spelling(&self) -> SpellingId {
        self.open.last().map(|open| open.spelling).unwrap_or_default()
    }

    /// Returns the spelling of the name of attribute `index` of the last `Start`.
    pub(crate) fn attribute_spelling(&self, index: usize) -> SpellingId {
        self.tag.attributes[index].spelling
    }

    /// Returns a name with its prefix.
    #[inline]
    pub(crate) fn spelling(&self, spelling: SpellingId) -> &str {
        self.spellings.text(spelling)
    }

    /// Returns the prefix of a name.
    #[inline]
    pub(crate) fn prefix_of(&self, spelling: SpellingId) -> PrefixId {
        self.spellings.get(spelling).prefix
    }

    /// Returns the namespace that a prefix is bound to, or [`UNBOUND`].
    #[inline]
    pub(crate) fn binding(&self, prefix: PrefixId) -> NsId {
        self.scopes.binding(prefix)
    }

    pub(crate) fn prefix_text(&self, prefix: PrefixId) -> &str {
        self.scopes.text(prefix)
    }

    /// Returns the id of a prefix that a document has used.
    pub(crate) fn find_prefix(&self, prefix: &str) -> Option<PrefixId> {
        self.scopes.find(prefix)
    }

    /// Returns every prefix that documents have used.
    pub(crate) fn prefixes(&self) -> impl Iterator<Item = PrefixId> {
        self.scopes.ids()
    }

    /// Returns the prefixes that the last `Start` declares, in tag order.
    pub(crate) fn declared_prefixes(&self) -> impl Iterator<Item = PrefixId> {
        self.tag.declarations.iter().map(|declaration| declaration.prefix)
    }

    /// Returns true if the limit on depth allows another element.
    #[inline]
    pub(crate) fn may_open(&self) -> bool {
        self.open.len() < self.limits.depth
    }

    /// Reads tokens up to the next event.
    #[inline]
    fn advance<'w>(&mut self, window: &mut Window<'w>) -> Result<Event<'w>, TokenError> {
        loop {
            let event = match self.inside {
                OpenToken::Nothing if self.place == DocumentPart::Content => self.content(window)?,
                OpenToken::Nothing => self.outside(window)?,
                OpenToken::CData => self.cdata(window)?,
                OpenToken::Comment => self.comment(window).map(|()| None)?,
                OpenToken::Instruction => self.instruction_data(window).map(|()| None)?,
            };
            if let Some(event) = event {
                return Ok(event);
            }
        }
    }

    #[inline]
    fn content<'w>(&mut self, window: &mut Window<'w>) -> Result<Option<Event<'w>>, TokenError> {
        if self.resume.is_some() {
            self.check_resume(window)?;
        }
        match window.bytes.get(window.pos) {
            None => Err(TokenError::Incomplete),
            Some(b'<') => self.markup(window),
            Some(_) => self.text(window).map(Some),
        }
    }

    fn outside<'w>(&mut self, window: &mut Window<'w>) -> Result<Option<Event<'w>>, TokenError> {
        self.check_resume(window)?;
        if self.place == DocumentPart::Start {
            return self.start(window).map(|()| None);
        }
        window.pos = tag::skip_white(window.bytes, window.pos);
        match window.bytes.get(window.pos) {
            None if window.last && self.place == DocumentPart::Epilog => Ok(Some(Event::Done)),
            None => Err(TokenError::Incomplete),
            Some(b'<') => self.markup(window),
            Some(_) => Err(self.text_outside(window)),
        }
    }

    fn start(&mut self, window: &mut Window<'_>) -> Result<(), TokenError> {
        self.kept.get_or_insert(self.names.mark());
        if declaration::is_present(window)? {
            let encoding = window.encoding;
            window.pos = self.bounded(window, |_, bytes, at| declaration::read(bytes, at, encoding))?;
        } else {
            declaration::without_encoding(window.encoding, window.pos)?;
        }
        self.place = DocumentPart::Prolog;
        Ok(())
    }

    /// Reads the markup that starts with the `<` at the window's position.
    #[inline]
    fn markup<'w>(&mut self, window: &mut Window<'w>) -> Result<Option<Event<'w>>, TokenError> {
        match window.bytes.get(window.pos + 1) {
            None => Err(TokenError::Incomplete),
            Some(b'/') => {
                let end = self.bounded(window, Self::end_tag)?;
                self.tag_offset = window.base + window.pos as u64;
                window.pos = end;
                Ok(Some(self.end()))
            }
            Some(b'!') => self.declaration_like(window).map(|()| None),
            Some(b'?') => self.instruction(window).map(|()| None),
            Some(_) if self.place == DocumentPart::Epilog => Err(fault(window.pos, XmlErrorKind::SecondRoot)),
            Some(_) => {
                let end = self.bounded(window, Self::start_tag)?;
                self.tag_offset = window.base + window.pos as u64;
                window.pos = end;
                self.place = DocumentPart::Content;
                Ok(Some(Event::Start))
            }
        }
    }

    fn end(&mut self) -> Event<'static> {
        self.leave();
        if self.open.is_empty() {
            self.place = DocumentPart::Epilog;
        }
        Event::End
    }

    /// Reads a token of at most `limits.markup` bytes at the window's position.
    #[inline]
    fn bounded(
        &mut self,
        window: &Window<'_>,
        read: impl FnOnce(&mut Self, &[u8], usize) -> Result<usize, TokenError>,
    ) -> Result<usize, TokenError> {
        let bound = window.bytes.len().min(window.pos.saturating_add(self.limits.markup));
        match read(self, &window.bytes[..bound], window.pos) {
            Err(TokenError::Incomplete) if bound < window.bytes.len() => {
                Err(over_limit(floor_boundary(window.bytes, bound), "markup", self.limits.markup))
            }
            end => end,
        }
    }

    #[cold]
    fn text_outside(&self, window: &Window<'_>) -> TokenError {
        match expected(window.bytes, window.pos, "") {
            TokenError::Fault { at, kind } => match *kind {
                XmlErrorKind::Expected { found, .. } => fault(at, self.stray_text(found)),
                kind => fault(at, kind),
            },
            fail => fail,
        }
    }

    /// Returns the error for character data outside the root element.
    fn stray_text(&self, found: char) -> XmlErrorKind {
        match self.place {
            DocumentPart::Epilog => XmlErrorKind::TextAfterRoot { found },
            _ => XmlErrorKind::TextOutsideRoot { found },
        }
    }

    /// Converts a failure to the result that the caller sees.
    #[cold]
    fn stop<'w>(&mut self, window: &Window<'w>, fail: TokenError) -> Result<Event<'w>, Stop> {
        let (at, kind) = match fail {
            TokenError::Incomplete if !window.last => {
                self.remember(window);
                return Err(Stop::Pending);
            }
            TokenError::Incomplete => match unfinished_tail(&window.bytes[window.pos..]) {
                Some(at) => (window.pos + at, XmlErrorKind::Encoding),
                None => (window.bytes.len(), XmlErrorKind::UnexpectedEnd),
            },
            TokenError::Fault { at, kind } => (at, *kind),
        };
        Err(Stop::Error(Box::new(XmlError { kind, offset: window.base + at as u64 })))
    }
}
