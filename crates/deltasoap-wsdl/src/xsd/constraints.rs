//! Identity constraints (XSD 1.0 part 1, 3.11): values that must be unique within an element, and
//! references to them.

use deltasoap_core::QName;

/// A `unique`, `key` or `keyref` of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityConstraint {
    /// Its name.
    pub name: QName,
    /// Its kind.
    pub kind: ConstraintKind,
    /// Selects the constrained elements; any of these paths.
    pub selector: Vec<Path>,
    /// Select the values of each constrained element; any of the paths of each field.
    pub fields: Vec<Vec<Path>>,
}

/// Kind of an identity constraint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConstraintKind {
    /// No two elements that have all values have the same values.
    Unique,
    /// Like `Unique`, and every element has all values.
    Key,
    /// The values are equal to those of an element that the constraint with this name selects.
    KeyRef(QName),
}

/// A path in the XPath subset of identity constraints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// True if it starts at any depth: `.//`.
    pub is_deep: bool,
    /// Child elements, one per level; empty for the element itself.
    pub steps: Vec<NameTest>,
    /// An attribute of the last element.
    pub attribute: Option<NameTest>,
}

/// The names that match a step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NameTest {
    /// All: `*`.
    Any,
    /// All names in a namespace: `p:*`.
    In(Box<str>),
    /// This name.
    Name(QName),
}

impl NameTest {
    /// Returns true if the name matches.
    pub fn takes(&self, name: &QName) -> bool {
        match self {
            NameTest::Any => true,
            NameTest::In(namespace) => **namespace == *name.namespace,
            NameTest::Name(own) => own == name,
        }
    }
}
