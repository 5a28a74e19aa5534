//! Identity constraints (XSD 1.0 part 1, 3.11): what must be unique within an element, and what
//! refers to such.

use deltasoap_core::QName;

/// A `unique`, `key` or `keyref` of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityConstraint {
    /// Its name.
    pub name: QName,
    /// What it asks for.
    pub kind: ConstraintKind,
    /// Leads to the elements that it is about; any of these paths.
    pub selector: Vec<Path>,
    /// Lead from each of those to the values; any of the paths of each.
    pub fields: Vec<Vec<Path>>,
}

/// What an identity constraint asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConstraintKind {
    /// No two elements with all values have the same ones.
    Unique,
    /// As `Unique`, and every element has all values.
    Key,
    /// The values are those of an element that the constraint with this name is about.
    KeyRef(QName),
}

/// A path of the subset of XPath that identity constraints have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// True if it begins at any depth: `.//`.
    pub is_deep: bool,
    /// Child elements, one level after the other; none for the element itself.
    pub steps: Vec<NameTest>,
    /// An attribute of the last one.
    pub attribute: Option<NameTest>,
}

/// Which names a step of a path takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NameTest {
    /// All: `*`.
    Any,
    /// All of a namespace: `p:*`.
    In(Box<str>),
    /// This one.
    Name(QName),
}

impl NameTest {
    /// True if it takes this name.
    pub fn takes(&self, name: &QName) -> bool {
        match self {
            NameTest::Any => true,
            NameTest::In(namespace) => **namespace == *name.namespace,
            NameTest::Name(own) => own == name,
        }
    }
}
