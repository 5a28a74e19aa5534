//! All limits on the resources that a document can use, each with a name and a default.
//!
//! A limit is exceeded at the first character that does not fit. The error has that character's
//! position and names the limit ([`XmlErrorKind::Limit`](crate::XmlErrorKind::Limit)). All limits
//! but `message` are measured in UTF-8, whatever the encoding of the document.

/// Limits on one document. A document that exceeds one is refused with an error that names the
/// limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Elements open at the same time. Default 100. Values are as deep as their messages, and
    /// reading, comparing and dropping them uses stack space for every level: raise it with care,
    /// and stay far below the thousands.
    pub depth: usize,
    /// Attributes of one start tag, including namespace declarations. Default 500.
    pub attributes: usize,
    /// Bytes of one attribute value between its quotes, before references are resolved. Default 64
    /// KiB.
    pub attribute_value: usize,
    /// Bytes of one name, including the prefix, and of one reference between `&` and `;`. Default 1
    /// KiB.
    pub name: usize,
    /// Bytes of character data that the reader delivers directly inside one element, excluding its
    /// child elements; references and CDATA sections count as what they stand for. Default 128 MiB.
    pub text: usize,
    /// Bytes of one tag or of the XML declaration, and therefore of what is kept of a token that is
    /// split between two chunks. Comments, CDATA sections and processing instructions are read
    /// piece by piece and have no limit of their own. Default 1 MiB.
    pub markup: usize,
    /// Bytes of the whole message as received. Default 1 GiB, 64 MiB for servers
    /// ([`Limits::server`]); `u64::MAX` means no limit. Enforced by [`Feed`](crate::Feed).
    pub message: u64,
    /// Header blocks in one message. Default 1000. This limit and the following are enforced by the
    /// SOAP engine, not by the reader.
    pub headers: usize,
    /// Dimensions in an `arrayType`. Default 16.
    pub dimensions: usize,
    /// Prefixes that the trees (header blocks, fault details, `xsd:anyType`) of one message inherit
    /// from the elements around them; trees in the same scope count once. Default 65,536.
    pub inherited_bindings: usize,
    /// Declarations in scope where a tree is kept: writing the tree takes time for each of them at
    /// every element. Default 512. The limit also applies around elements that references point to.
    pub bindings_in_scope: usize,
    /// Elements, attributes and declarations of trees (header blocks, fault details,
    /// `xsd:anyType`), counted separately for the header and the body of a message. A tree takes
    /// about 110 bytes of memory for each of them, the same for each text, and the bytes of the
    /// texts. Default 1,000,000.
    pub tree_nodes: usize,
    /// Bytes of elements that are read because references (`href`, `ref`) point to them, in
    /// addition to the length of the message: elements referred to many times are read many times.
    /// Default 16 MiB.
    pub referred: u64,
    /// Items that a message omits from its arrays (`position`, `offset`), plus rows without items:
    /// memory is allocated for them. Default 65,536.
    pub omitted_items: usize,
}

impl Limits {
    /// Returns the defaults for servers, which read untrusted messages: as
    /// [`default`](Self::default), with messages of up to 64 MiB.
    pub fn server() -> Self {
        Limits { message: 64 << 20, ..Self::default() }
    }

    /// No limits: for trusted documents.
    pub const NONE: Limits = Limits {
        depth: usize::MAX,
        attributes: usize::MAX,
        attribute_value: usize::MAX,
        name: usize::MAX,
        text: usize::MAX,
        markup: usize::MAX,
        message: u64::MAX,
        headers: usize::MAX,
        dimensions: usize::MAX,
        inherited_bindings: usize::MAX,
        bindings_in_scope: usize::MAX,
        tree_nodes: usize::MAX,
        referred: u64::MAX,
        omitted_items: usize::MAX,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            depth: 100,
            attributes: 500,
            attribute_value: 64 << 10,
            name: 1 << 10,
            text: 128 << 20,
            markup: 1 << 20,
            message: 1 << 30,
            headers: 1000,
            dimensions: 16,
            inherited_bindings: 1 << 16,
            bindings_in_scope: 512,
            tree_nodes: 1_000_000,
            referred: 16 << 20,
            omitted_items: 1 << 16,
        }
    }
}
