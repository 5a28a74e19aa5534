//! Import errors and notes, with their positions.
//!
//! A description that is not well-formed, violates the standards or is not available is an error. A
//! reference to nothing is none in XML Schema as long as nothing depends on its meaning (part 1,
//! 5.3), and real descriptions have many: they become notes, and anything is accepted in their
//! place. Two cases are errors nevertheless: a missing base type or group, and anything that is
//! missing because a document could not be loaded, since the meaning of a schema must not depend on
//! the network. `Importer::strict` makes errors of all of them.

use crate::CompiledFault;
use crate::document::ns;
use crate::fetch::FetchError;
use deltasoap_core::QName;
use deltasoap_xml::XmlErrorKind;
use std::fmt;

/// An import error: what failed, and at which line of which document.
#[derive(Debug, Clone, PartialEq)]
pub struct Error(Box<Inner>);

#[derive(Debug, Clone, PartialEq)]
struct Inner {
    kind: ErrorKind,
    position: Option<Position>,
}

/// A position in a document, for messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// Path or URL of the document.
    pub document: String,
    /// Line, from 1; 0 stands for the whole document.
    pub line: u32,
    /// Column, from 1, in bytes of UTF-8.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.document),
            line => write!(f, "{}:{line}:{}", self.document, self.column),
        }
    }
}

/// Kind of an import error.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The document is not well-formed or exceeds a limit of the XML reader.
    Xml(XmlErrorKind),
    /// The document is unavailable.
    Fetch(FetchError),
    /// The document is neither a WSDL 1.1 document nor an XML schema.
    OtherDocument {
        /// Name of its root element.
        root: QName,
    },
    /// The standards do not allow this.
    Invalid(String),
    /// The standards allow this, but this library does not import it.
    NotSupported(String),
    /// A reference to something that no document defines.
    Undefined {
        /// Kind of the missing definition, such as "type".
        what: &'static str,
        /// Its name.
        name: QName,
        /// Why it may be missing: a document of its namespace that is unavailable.
        cause: Option<String>,
    },
    /// Two different definitions of one name.
    Duplicate {
        /// Kind of the definition, such as "type".
        what: &'static str,
        /// Its name.
        name: QName,
        /// Position of the first definition.
        first: Position,
    },
    /// A limit of [`Limits`](crate::Limits) is exceeded.
    Limit {
        /// Name of the field of `Limits`.
        name: &'static str,
        /// Its value.
        limit: u64,
    },
    /// A compiled import cannot be read.
    Compiled(CompiledFault),
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, position: Option<Position>) -> Self {
        Error(Box::new(Inner { kind, position }))
    }

    /// Returns what is wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Returns the position; `None` if there is no document.
    pub fn position(&self) -> Option<&Position> {
        self.0.position.as_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.position {
            Some(position) => write!(f, "{position}: {}", self.0.kind),
            None => self.0.kind.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorKind::Xml(kind) => kind.fmt(f),
            ErrorKind::Fetch(error) => error.fmt(f),
            ErrorKind::OtherDocument { root } if root.namespace == ns::WSDL20 => {
                f.write_str("a WSDL 2.0 document; only WSDL 1.1 is supported")
            }
            ErrorKind::OtherDocument { root } => {
                write!(f, "neither a WSDL 1.1 document nor an XML schema: the root element is <{root}>")
            }
            ErrorKind::Invalid(what) => f.write_str(what),
            ErrorKind::NotSupported(what) => write!(f, "not supported: {what}"),
            ErrorKind::Undefined { what, name, .. } if name.local.contains(':') => {
                write!(f, "{what} {name} is not defined: its prefix is not declared")
            }
            ErrorKind::Undefined { what, name, cause: None } => {
                write!(f, "{what} {name} is not defined in any document that was loaded")
            }
            ErrorKind::Undefined { what, name, cause: Some(cause) } => {
                write!(f, "{what} {name} is not defined in any document that was loaded ({cause})")
            }
            ErrorKind::Duplicate { what, name, first } => {
                write!(f, "{what} {name} is defined twice, with different content; the first definition is at {first}")
            }
            ErrorKind::Limit { name, limit } => write!(f, "the limit `{name}` of {limit} is exceeded"),
            ErrorKind::Compiled(fault) => fault.fmt(f),
        }
    }
}

/// Something that the import skipped or read more leniently than the standards do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Kind of the note.
    pub kind: NoteKind,
    /// The message.
    pub text: String,
    /// Position of what the note is about.
    pub position: Position,
}

/// Kind of a [`Note`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteKind {
    /// A reference to something that no document defines. Anything is accepted in its place (XSD
    /// 1.0 part 1, 5.3); a missing base type or group adds nothing.
    Missing,
    /// Something that is not imported and that nothing imported needs.
    Skipped,
    /// Something that the standards do not allow but whose meaning is clear.
    Tolerated,
    /// A document that could not be loaded. As far as is known, no loaded document needs it.
    Unloaded,
    /// Something in a schema that XML Schema does not allow, or that makes every value invalid, so
    /// that its meaning is uncertain. The note says how it is read.
    Invalid,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.position, self.text)
    }
}
