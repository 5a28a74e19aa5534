//! Constraining facets (XSD 1.0 part 2, 4.3).

use deltasoap_core::QName;

/// The facets that one restriction gives; those of its base hold beside them. Bounds are kept as
/// they are written: their meaning depends on the type.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facets {
    /// Units of length: characters, bytes, or items of a list.
    pub length: Option<u64>,
    /// As `length`.
    pub min_length: Option<u64>,
    /// As `length`.
    pub max_length: Option<u64>,
    /// Regular expressions of XML Schema; a value must match one of them.
    pub patterns: Vec<Box<str>>,
    /// The values allowed; empty for no restriction.
    pub enumeration: Vec<Enumerated>,
    /// What happens to white space.
    pub white_space: Option<WhiteSpace>,
    /// Least value.
    pub min_inclusive: Option<Box<str>>,
    /// Greatest value.
    pub max_inclusive: Option<Box<str>>,
    /// Values are greater.
    pub min_exclusive: Option<Box<str>>,
    /// Values are less.
    pub max_exclusive: Option<Box<str>>,
    /// Most decimal digits.
    pub total_digits: Option<u64>,
    /// Most decimal digits behind the point.
    pub fraction_digits: Option<u64>,
}

/// One of the values that a type enumerates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enumerated {
    /// The value as it is written.
    pub value: Box<str>,
    /// The name that it stands for, if it has a prefix that is declared where it is written.
    pub name: Option<QName>,
    /// What it means.
    pub documentation: Option<Box<str>>,
}

/// The facet `whiteSpace`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhiteSpace {
    /// White space is kept.
    Preserve,
    /// Tabs and line ends become spaces.
    Replace,
    /// Runs of white space become one space, and those at the ends vanish.
    Collapse,
}
