//! Namespace prefixes and their namespaces.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Prefixes and their namespaces, shared between trees that have the same bindings. Most elements
/// have none.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Bindings(Option<Arc<[(String, String)]>>);

impl Bindings {
    /// Returns true if both share one list, or are empty.
    pub(crate) fn is_same(&self, other: &Bindings) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        }
    }
}

impl Deref for Bindings {
    type Target = [(String, String)];

    fn deref(&self) -> &Self::Target {
        self.0.as_deref().unwrap_or_default()
    }
}

impl From<Vec<(String, String)>> for Bindings {
    fn from(bindings: Vec<(String, String)>) -> Self {
        Bindings(if bindings.is_empty() { None } else { Some(bindings.into()) })
    }
}

impl<const N: usize> From<[(String, String); N]> for Bindings {
    fn from(bindings: [(String, String); N]) -> Self {
        Vec::from(bindings).into()
    }
}

impl FromIterator<(String, String)> for Bindings {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(bindings: I) -> Self {
        Vec::from_iter(bindings).into()
    }
}

impl fmt::Debug for Bindings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&**self).finish()
    }
}

/// Converts a binding to owned strings.
pub(crate) fn owned((prefix, namespace): (&str, &str)) -> (String, String) {
    (prefix.to_owned(), namespace.to_owned())
}
