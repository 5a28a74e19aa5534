//! Errors in a document, and their positions.

use std::fmt;

/// An error in a document, with its byte offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XmlError {
    /// What is wrong.
    pub kind: XmlErrorKind,
    /// Absolute offset of the error, in bytes of the document as received (in any encoding): the
    /// first byte of the invalid character, reference or tag. It does not depend on how the
    /// document was split into chunks.
    pub offset: u64,
}

/// What is wrong with a document. "XML" is XML 1.0, fifth edition; "Namespaces" is Namespaces in
/// XML 1.0, third edition.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum XmlErrorKind {
    /// The document ends too early.
    UnexpectedEnd,
    /// Bytes that are not well-formed in the document's encoding.
    Encoding,
    /// A limit of [`Limits`](crate::Limits) is exceeded.
    Limit {
        /// The name of the field of `Limits`.
        name: &'static str,
        /// Its value.
        limit: u64,
    },
    /// A character that the grammar does not allow here.
    Expected {
        /// What the grammar requires, as in "`=` after an attribute name".
        expected: &'static str,
        /// The character found in its place.
        found: char,
    },
    /// A character that is not allowed in any XML document (XML 2.2).
    ForbiddenCharacter(char),
    /// A character reference to something that is not an XML character (XML 4.1).
    CharacterReference {
        /// The reference without `&` and `;`, as in `#0`.
        reference: String,
    },
    /// A reference to an entity other than the five predefined ones (XML 4.1).
    UndeclaredEntity {
        /// The name of the entity.
        name: String,
    },
    /// A document type declaration; SOAP allows none (SOAP 1.1 section 3; SOAP 1.2 part 1, section
    /// 5).
    Doctype,
    /// A processing instruction; SOAP allows none.
    Instruction {
        /// Its target.
        target: String,
    },
    /// An XML declaration that is not at the very start, or another spelling of `xml` as a target
    /// (XML 2.6, 2.8).
    MisplacedDeclaration,
    /// An XML version other than 1.x (XML 2.8).
    Version {
        /// The version declared.
        found: String,
    },
    /// The declared encoding is not the one in use, or is not supported (XML 4.3.3).
    DeclaredEncoding {
        /// The declared encoding.
        declared: String,
        /// The encoding in use.
        actual: &'static str,
    },
    /// UTF-16 with neither a byte order mark nor an encoding declaration (XML 4.3.3).
    MissingByteOrderMark,
    /// `]]>` in character data (XML 2.4).
    CdataEnd,
    /// `--` inside a comment (XML 2.5).
    CommentHyphens,
    /// `<` in an attribute value (XML 3.1).
    LessThanInAttribute,
    /// A duplicate attribute, by name or by namespace and local name (XML 3.1, Namespaces 6.3).
    DuplicateAttribute {
        /// The name of the second one, as written.
        name: String,
    },
    /// An end tag whose name differs from its start tag's (XML 3).
    EndTag {
        /// The name of the innermost open element.
        expected: String,
        /// The name in the end tag.
        found: String,
    },
    /// An end tag where no element is open.
    UnopenedEndTag,
    /// Character data before the root element.
    TextOutsideRoot {
        /// Its first character.
        found: char,
    },
    /// Character data after the root element, where only white space and comments are allowed (XML
    /// 2.8).
    TextAfterRoot {
        /// Its first character.
        found: char,
    },
    /// A second root element.
    SecondRoot,
    /// A prefix that no declaration in scope binds (Namespaces 5).
    UndeclaredPrefix {
        /// The prefix.
        prefix: String,
    },
    /// A name that is not a qualified name: it has an extra or misplaced colon (Namespaces 4).
    QualifiedName {
        /// The name.
        name: String,
    },
    /// A declaration that binds `xml` or `xmlns`, or their namespaces to another prefix (Namespaces
    /// 3).
    ReservedNamespace {
        /// The prefix that the declaration binds; empty for the default namespace.
        prefix: String,
    },
    /// A declaration that binds a prefix to the empty string (Namespaces 5).
    EmptyNamespace {
        /// The prefix.
        prefix: String,
    },
}

impl fmt::Display for XmlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.kind, self.offset)
    }
}

impl std::error::Error for XmlError {}

/// Returns true if documents in this encoding are supported.
fn is_supported(encoding: &str) -> bool {
    let name = encoding.to_ascii_uppercase();
    name.starts_with("UTF")
        || ["ASCII", "US-ASCII", "ISO-10646-UCS-2"].contains(&&*name)
        || crate::Encoding::single_byte(encoding.as_bytes()).is_some()
}

impl fmt::Display for XmlErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use XmlErrorKind::*;
        match self {
            UnexpectedEnd => write!(f, "the document ends too early"),
            Encoding => write!(f, "bytes that are not well-formed in the document's encoding"),
            Limit { name, limit } => write!(f, "the limit `{name}` of {limit} is exceeded"),
            Expected { expected, found } => write!(f, "expected {expected}, found {}", DisplayChar(*found)),
            ForbiddenCharacter(found) => write!(f, "{} is not allowed in XML", DisplayChar(*found)),
            CharacterReference { reference } => write!(f, "`&{reference};` is not an XML character"),
            UndeclaredEntity { name } => write!(f, "undeclared entity `&{name};`"),
            Doctype => write!(f, "a document type declaration is not allowed in SOAP"),
            Instruction { target } => write!(f, "processing instruction `{target}`: none is allowed in SOAP"),
            MisplacedDeclaration => write!(f, "an XML declaration is only allowed at the very start"),
            Version { found } => write!(f, "expected XML version 1.0, found `{found}`"),
            DeclaredEncoding { declared, .. } if !is_supported(declared) => {
                write!(f, "the encoding `{declared}` is not supported; use UTF-8 or UTF-16")
            }
            DeclaredEncoding { declared, actual } => {
                write!(f, "the declaration says encoding `{declared}`, but the document is in {actual}")
            }
            MissingByteOrderMark => write!(f, "UTF-16 without a byte order mark and without an encoding declaration"),
            CdataEnd => write!(f, "`]]>` in character data"),
            CommentHyphens => write!(f, "`--` inside a comment"),
            LessThanInAttribute => write!(f, "`<` in an attribute value"),
            DuplicateAttribute { name } => write!(f, "attribute `{name}` appears twice"),
            EndTag { expected, found } => write!(f, "expected end tag `</{expected}>`, found `</{found}>`"),
            UnopenedEndTag => write!(f, "an end tag where no element is open"),
            TextOutsideRoot { found } => write!(f, "expected the root element, found {}", DisplayChar(*found)),
            TextAfterRoot { found } => {
                write!(f, "only white space and comments may follow the root element, found {}", DisplayChar(*found))
            }
            SecondRoot => write!(f, "a second root element"),
            UndeclaredPrefix { prefix } => write!(f, "undeclared namespace prefix `{prefix}`"),
            QualifiedName { name } => write!(f, "`{name}` is not a qualified name"),
            ReservedNamespace { prefix } if prefix.is_empty() => {
                write!(f, "a reserved namespace cannot be the default namespace")
            }
            ReservedNamespace { prefix } => {
                write!(f, "prefix `{prefix}` conflicts with the reserved names `xml`, `xmlns`")
            }
            EmptyNamespace { prefix } => write!(f, "prefix `{prefix}` bound to the empty string"),
        }
    }
}

/// A character as error messages show it: itself if it is printable, otherwise its code point.
struct DisplayChar(char);

impl fmt::Display for DisplayChar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ' ' => write!(f, "a space"),
            '\n' => write!(f, "a line feed"),
            '\r' => write!(f, "a carriage return"),
            '\t' => write!(f, "a tab"),
            '`' => write!(f, "a backtick"),
            c if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') => write!(f, "U+{:04X}", u32::from(c)),
            c => write!(f, "`{c}`"),
        }
    }
}
