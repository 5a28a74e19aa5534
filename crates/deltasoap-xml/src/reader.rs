//! The pull reader: well-formedness, namespaces, attributes, end-tag matching, one event at a time from a window
//! of bytes.

use crate::{Limits, NameId, Names, ScopeId, XmlError};

/// The bytes at hand: a window on the document. `pos` moves forward as events are read.
#[derive(Debug, Clone, Copy)]
pub struct Window<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// The first byte not yet consumed.
    pub pos: usize,
    /// Absolute offset of `bytes[0]` in the document (in UTF-8).
    pub base: u64,
    /// True when no byte follows this window in the document.
    pub last: bool,
}

/// Why reading stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The window ends inside a token: come back with the bytes from `pos` on and more behind them.
    Pending,
    /// The document is at fault.
    Error(Box<XmlError>),
}

/// What the reader found. Comments, the XML declaration and (where they are allowed) processing instructions are
/// checked and passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// A start tag; details from [`Reader::name`], [`Reader::attributes`]. An empty-element tag gives `Start`, then `End`.
    Start,
    /// An end tag.
    End,
    /// A piece of character data, never empty, line ends normalised; long text comes in several pieces.
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
#[derive(Debug)]
pub struct Reader {}

impl Reader {
    /// A reader for one document at a time.
    pub fn new(limits: Limits, instructions: Instructions) -> Self {
        let _ = (limits, instructions);
        todo!()
    }
    /// Makes ready for another document; keeps memory and the names interned before the first document.
    pub fn reset(&mut self) {
        todo!()
    }
    /// Reads the next event.
    ///
    /// # Errors
    /// `Stop::Pending` if the window ends inside a token and is not the last; `Stop::Error` for a fault.
    pub fn next<'w>(&mut self, window: &mut Window<'w>) -> Result<Event<'w>, Stop> {
        let _ = window;
        todo!()
    }
    /// Name of the element that the last `Start` opened (or of the innermost open element).
    pub fn name(&self) -> NameId {
        todo!()
    }
    /// Number of attributes of the last `Start`, without namespace declarations.
    pub fn attribute_count(&self) -> usize {
        todo!()
    }
    /// Name and normalised value of attribute `index` of the last `Start`.
    pub fn attribute(&self, index: usize) -> (NameId, &str) {
        let _ = index;
        todo!()
    }
    /// Offset in the document (UTF-8) of the `<` of the last `Start` or `End`.
    pub fn tag_offset(&self) -> u64 {
        todo!()
    }
    /// True if the last `Start` declared namespaces.
    pub fn tag_has_declarations(&self) -> bool {
        todo!()
    }
    /// Number of open elements.
    pub fn depth(&self) -> usize {
        todo!()
    }
    /// The set of declarations in scope.
    pub fn scope(&self) -> ScopeId {
        todo!()
    }
    /// Resolves a `prefix:local` in element content or an attribute value against the declarations in scope; an
    /// unprefixed name takes the default namespace. `None` for an undeclared prefix or a bad name.
    pub fn resolve(&self, text: &str) -> Option<(&str, String)> {
        let _ = text;
        todo!()
    }
    /// The prefixes in scope and their namespaces; `""` for the default namespace; without `xml`.
    pub fn bindings(&self) -> impl Iterator<Item = (&str, &str)> {
        std::iter::empty()
    }
    /// The table of names.
    pub fn names(&self) -> &Names {
        todo!()
    }
    /// Raw name (with prefix) of open element `level`, 0 for the root.
    pub fn open_name(&self, level: usize) -> &str {
        let _ = level;
        todo!()
    }
}
