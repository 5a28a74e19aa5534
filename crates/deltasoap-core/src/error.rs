//! Message errors: what is wrong, where, and which side caused it.
//!
//! An [`Error`] is one pointer wide and cold. It is created where the problem is found. Its path is
//! added once, at the top, from the stack of open elements, which is still in place.
//!
//! Offsets count received, content-decoded bytes, in any encoding. `Fault::from_error` makes the
//! matching fault.

use deltasoap_xml::lexical::LexicalError;
use deltasoap_xml::{Located, XmlError, XmlErrorKind};
use std::fmt;

/// An error in reading a message or in writing a value.
#[derive(Clone, PartialEq)]
pub struct Error(Box<Fields>);

#[derive(Clone, PartialEq)]
struct Fields {
    kind: ErrorKind,
    offset: u64,
    path: String,
}

/// The kind of an [`Error`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The document is not well-formed, uses XML that SOAP does not allow, or exceeds a limit.
    Xml(XmlErrorKind),
    /// Text that is not in the lexical space of its type.
    Lexical(LexicalError),
    /// An element that the schema does not allow at this position.
    UnexpectedElement {
        /// The element found.
        found: String,
        /// The expected content, in human-readable form.
        expected: String,
    },
    /// A required element is missing.
    MissingElement {
        /// The name of the expected element; names in angle brackets if it is one of several.
        expected: String,
        /// An element that was skipped as unknown, although it has the local name of the expected
        /// one: only the namespaces differ.
        skipped: Option<String>,
    },
    /// A value that the type's facets do not allow.
    UnexpectedValue {
        /// The value found.
        found: String,
        /// What was expected.
        expected: String,
    },
    /// A required attribute is missing.
    MissingAttribute {
        /// The attribute that was expected.
        expected: String,
    },
    /// Character data where only elements are allowed.
    UnexpectedText,
    /// `xsi:nil` on an element that cannot be nil, or content in a nil element.
    Nil(&'static str),
    /// An `xsi:type` that cannot be resolved or does not fit the declared type.
    Type {
        /// The attribute's value.
        found: String,
        /// What was expected.
        expected: String,
    },
    /// A malformed `SOAP-ENC:arrayType`.
    ArrayType(String),
    /// A malformed SOAP 1.2 `arraySize`.
    ArraySize(String),
    /// A SOAP array whose form differs from the declared one and cannot be converted: `[][2]`,
    /// where each row is an array of its own, for `[,]`, or `[2,3]` for `[][]`.
    ArrayForm {
        /// The form in the message, such as `[][]`.
        found: String,
        /// The declared form.
        declared: String,
        /// The reason why the array cannot be read.
        reason: &'static str,
    },
    /// A reference (`href`, `ref`) without a target in the message, or a circular reference where
    /// the types allow none.
    Reference(String),
    /// The root element is an `Envelope` in a namespace that is not a version of SOAP.
    VersionMismatch(String),
    /// The structure of the envelope is invalid.
    Envelope(&'static str),
    /// No operation has this body element.
    UnknownOperation(String),
    /// A `mustUnderstand` header block that was not understood.
    MustUnderstand(String),
    /// A limit of the engine was exceeded.
    Limit {
        /// The limit's name in [`Limits`](crate::Limits).
        name: &'static str,
        /// The value of the limit.
        limit: u64,
    },
    /// A value that cannot be represented in XML, found while writing.
    Unwritable(&'static str),
    /// Any other error that a caller reports through this type.
    Other(String),
}

/// The side that caused an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The sender of the message: a Client (1.1) or Sender (1.2) fault.
    Sender,
    /// The side that processes the message: a Server (1.1) or Receiver (1.2) fault.
    Receiver,
}

impl Error {
    /// Creates an error at byte `offset` of the received (content-decoded) message.
    #[cold]
    pub fn at(kind: ErrorKind, offset: u64) -> Self {
        Error(Box::new(Fields { kind, offset, path: String::new() }))
    }

    /// Returns what is wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Returns the byte offset in the message as received and content-decoded (also for UTF-16).
    pub fn offset(&self) -> u64 {
        self.0.offset
    }

    /// Returns the path of element names, such as `/Envelope/Body/sendInts/item[17]`; empty outside
    /// the root.
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// Returns the side that caused the error.
    pub fn blame(&self) -> Blame {
        match self.0.kind {
            ErrorKind::Unwritable(_) => Blame::Receiver,
            _ => Blame::Sender,
        }
    }

    /// Returns the line and column of the error in the UTF-8 message it came from. Both count from
    /// 1; columns count characters.
    pub fn line_and_column(&self, message: &[u8]) -> (usize, usize) {
        let upto = &message[..message.len().min(self.0.offset as usize)];
        let line_start = upto.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        let lines = upto.iter().filter(|&&b| b == b'\n').count();
        let columns = upto[line_start..].iter().filter(|&&b| b & 0xC0 != 0x80).count();
        (lines + 1, columns + 1)
    }

    pub(crate) fn moved_to(mut self, offset: u64) -> Self {
        self.0.offset = offset;
        self
    }

    pub(crate) fn set_path(&mut self, path: String) {
        if self.0.path.is_empty() {
            self.0.path = path;
        }
    }
}

impl From<Box<XmlError>> for Error {
    fn from(error: Box<XmlError>) -> Self {
        Error::at(ErrorKind::Xml(error.kind), error.offset)
    }
}

impl Located for Error {
    fn offset_mut(&mut self) -> &mut u64 {
        &mut self.0.offset
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.kind)?;
        if !self.0.path.is_empty() {
            write!(f, ", in {}", self.0.path)?;
        }
        write!(f, ", at byte {}", self.0.offset)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("offset", &self.0.offset)
            .field("path", &self.0.path)
            .finish()
    }
}

impl std::error::Error for Error {}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorKind::Xml(kind) => write!(f, "{kind}"),
            ErrorKind::Lexical(error) => write!(f, "{error}"),
            ErrorKind::UnexpectedElement { found, expected } => {
                write!(f, "unexpected element <{found}>, expected {expected}")
            }
            ErrorKind::MissingElement { expected, skipped } => write_missing(f, expected, skipped.as_deref()),
            ErrorKind::MissingAttribute { expected } => write!(f, "missing attribute {expected}"),
            ErrorKind::UnexpectedValue { found, expected } => write!(f, "value {found:?}, expected {expected}"),
            ErrorKind::UnexpectedText => f.write_str("character data where only elements are allowed"),
            ErrorKind::Nil(why) => write!(f, "xsi:nil: {why}"),
            ErrorKind::Type { found, expected } => write!(f, "xsi:type {found:?}, expected {expected}"),
            ErrorKind::ArrayType(found) => write!(f, "malformed arrayType {found:?}, expected type[size]"),
            ErrorKind::ArraySize(found) => {
                write!(
                    f,
                    "malformed arraySize {found:?}, expected sizes separated by spaces, of which the first may be *"
                )
            }
            ErrorKind::ArrayForm { found, declared, reason } => {
                write!(f, "an array of form {found} where {declared} is declared: {reason}")
            }
            ErrorKind::Reference(what) => write!(f, "reference {what}"),
            ErrorKind::VersionMismatch(found) => {
                write!(f, "envelope namespace {found:?} is neither SOAP 1.1 nor SOAP 1.2")
            }
            ErrorKind::Envelope(why) => f.write_str(why),
            ErrorKind::UnknownOperation(name) => write!(f, "no operation has the body element <{name}>"),
            ErrorKind::MustUnderstand(name) => write!(f, "header <{name}> must be understood and is not"),
            ErrorKind::Limit { name, limit } => write!(f, "the limit `{name}` of {limit} is exceeded"),
            ErrorKind::Unwritable(what) => f.write_str(what),
            ErrorKind::Other(what) => f.write_str(what),
        }
    }
}

fn write_missing(f: &mut fmt::Formatter<'_>, expected: &str, skipped: Option<&str>) -> fmt::Result {
    match expected.contains('<') {
        true => write!(f, "missing element: {expected}")?,
        false => write!(f, "missing element <{expected}>")?,
    }
    let Some(skipped) = skipped else { return Ok(()) };
    let remedy = match (skipped.starts_with('{'), expected.contains('{')) {
        (true, false) => "declare the elements of the type as qualified",
        (false, true) => "declare the elements of the type as unqualified",
        _ => "declare the type with that namespace",
    };
    write!(f, "; <{skipped}> was skipped for its namespace: {remedy}, or correct the sender")
}
