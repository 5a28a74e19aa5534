//! Every bound on what a document may ask of the reader, in one place, each with a name and a default.

/// Bounds on one document. A document beyond a bound is refused with an error that names the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Open elements at one time. Default 100.
    pub depth: usize,
    /// Attributes on one start tag, namespace declarations included. Default 500.
    pub attributes: usize,
    /// Bytes of one attribute value as received. Default 64 KiB.
    pub attribute_value: usize,
    /// Bytes of one name, prefix included. Default 1 KiB.
    pub name: usize,
    /// Bytes of one element's character data, in UTF-8. Default 128 MiB.
    pub text: usize,
    /// Bytes of one piece of markup (a tag, a comment, the XML declaration) as received. Default 1 MiB.
    pub markup: usize,
    /// Bytes of the whole message as received. Default 64 MiB; `u64::MAX` for none.
    pub message: u64,
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
            message: 64 << 20,
        }
    }
}
