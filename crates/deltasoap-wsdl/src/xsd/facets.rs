//! Constraining facets (XSD 1.0 part 2, 4.3).

use deltasoap_core::QName;

/// The facets of one restriction; those of its base apply as well. Bounds are kept as written:
/// their meaning depends on the type.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facets {
    /// Length: characters, bytes or list items.
    pub length: Option<u64>,
    /// In the unit of `length`.
    pub min_length: Option<u64>,
    /// In the unit of `length`.
    pub max_length: Option<u64>,
    /// Regular expressions of XML Schema; a value must match one of them.
    pub patterns: Vec<Box<str>>,
    /// The allowed values; empty for no restriction.
    pub enumeration: Vec<Enumerated>,
    /// White space handling.
    pub white_space: Option<WhiteSpace>,
    /// Minimum value.
    pub min_inclusive: Option<Box<str>>,
    /// Maximum value.
    pub max_inclusive: Option<Box<str>>,
    /// Lower bound, exclusive.
    pub min_exclusive: Option<Box<str>>,
    /// Upper bound, exclusive.
    pub max_exclusive: Option<Box<str>>,
    /// Maximum number of decimal digits.
    pub total_digits: Option<u64>,
    /// Maximum number of decimal digits after the point.
    pub fraction_digits: Option<u64>,
}

/// A value in an enumeration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enumerated {
    /// The value as written.
    pub value: Box<str>,
    /// The qualified name that the value stands for, if its prefix is declared at that place.
    pub name: Option<QName>,
    /// Its documentation.
    pub documentation: Option<Box<str>>,
}

/// The facet `whiteSpace`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhiteSpace {
    /// White space is kept.
    Preserve,
    /// Tabs and line ends become spaces.
    Replace,
    /// Runs of white space become one space; leading and trailing white space is removed.
    Collapse,
}
