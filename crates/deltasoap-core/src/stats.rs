//! Counters of what a decoder or an encoder did.

/// Counters since the engine was made. They only grow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Messages read or written whole.
    pub messages: u64,
    /// Bytes received or written.
    pub bytes: u64,
    /// Array items that took the shortcut for flat items.
    pub flat_items: u64,
    /// Leaves whose text was found in a [hint](crate::Hint), and so was not parsed.
    pub hinted_leaves: u64,
    /// [Deviations](crate::decode::Deviation) from the schema that were accepted. Attributes of XML
    /// Schema and SOAP, and identifiers of SOAP encoding, are none. Items of an array whose markup
    /// is that of the item before are not looked at one by one, nor what is equal to the message
    /// before.
    pub deviations: u64,
}
