//! Counters of a decoder or an encoder.

/// Counters since the engine was created. They only grow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Number of complete messages read or written.
    pub messages: u64,
    /// Number of bytes received or written.
    pub bytes: u64,
    /// Number of array items that took the shortcut for flat items.
    pub flat_items: u64,
    /// Number of leaves whose text was found in a [hint](crate::Hint) and therefore not parsed.
    pub hinted_leaves: u64,
    /// Number of accepted [deviations](crate::decode::Deviation) from the schema. Attributes of XML
    /// Schema and SOAP, and identifiers of SOAP encoding, do not count. Array items with the same
    /// markup as the previous item are not inspected one by one, nor is content that is equal to
    /// the previous message.
    pub deviations: u64,
}
