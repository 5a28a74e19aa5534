//! Expanded names: a namespace URI and a local part.
//!
//! Many elements of trees and values have the same name. So the parts of a name are static, short
//! or shared: copying a name allocates no memory, and a decoder creates each name once.

use compact_str::CompactString;
use deltasoap_xml::lexical;
use std::borrow::{Borrow, Cow};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// An expanded name (Namespaces in XML 1.0, section 2.1).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct QName {
    /// Namespace URI; empty for no namespace.
    pub namespace: NamePart,
    /// Local part.
    pub local: NamePart,
}

impl QName {
    /// Creates a name from static parts, usable in `static` schemas.
    pub const fn new(namespace: &'static str, local: &'static str) -> Self {
        QName { namespace: NamePart::from_static(namespace), local: NamePart::from_static(local) }
    }

    /// Creates a name from owned or borrowed parts.
    pub fn owned(namespace: impl Into<NamePart>, local: impl Into<NamePart>) -> Self {
        QName { namespace: namespace.into(), local: local.into() }
    }

    /// Parses `{namespace}local`, or `local`, as written by [`Display`](fmt::Display); `None` for
    /// anything else.
    pub fn from_expanded(text: &str) -> Option<Self> {
        let (namespace, local) = text.strip_prefix('{').map_or(Some(("", text)), |rest| rest.rsplit_once('}'))?;
        lexical::QName::expanded(namespace, local).map(|_| QName::owned(namespace, local))
    }

    /// Returns `{namespace}local`, with braces even without a namespace. Text in messages never has
    /// this form.
    pub fn to_expanded(&self) -> String {
        format!("{{{}}}{}", self.namespace, self.local)
    }

    /// Returns true if this name and another one, both static, are the same. Unlike `==`, it can be
    /// used at compile time.
    ///
    /// # Panics
    /// Panics if a name is not static.
    pub const fn equals_static(&self, other: &QName) -> bool {
        is_same(&self.namespace, &other.namespace) && is_same(&self.local, &other.local)
    }

    /// Returns true if this is `{namespace}local`.
    pub fn is(&self, namespace: &str, local: &str) -> bool {
        self.local == *local && self.namespace == *namespace
    }
}

impl fmt::Display for QName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            f.write_str(&self.local)
        } else {
            write!(f, "{{{}}}{}", self.namespace, self.local)
        }
    }
}

const fn is_same(one: &NamePart, other: &NamePart) -> bool {
    let (Some(one), Some(other)) = (one.as_static(), other.as_static()) else { panic!("a name that is not static") };
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut index = 0;
    while index < one.len() && index < other.len() && one[index] == other[index] {
        index += 1;
    }
    index == one.len() && index == other.len()
}

/// The namespace or the local part of a name: a `str` that is cheap to copy.
///
/// ```
/// use deltasoap_core::schema::NamePart;
///
/// let part = NamePart::from("item");
/// assert_eq!(part.clone(), NamePart::from_static("item"));
/// assert_eq!(part.len(), 4);
/// ```
#[derive(Clone)]
pub struct NamePart(Repr);

/// Maximum length in bytes of a short part.
const SHORT: usize = size_of::<CompactString>();

#[derive(Clone)]
enum Repr {
    /// Text of a static schema.
    Static(&'static str),
    /// Text short enough to be stored inline.
    Short(CompactString),
    /// Text shared by all copies of a name.
    Long(Arc<str>),
}

impl NamePart {
    /// Creates a part from a static string.
    pub const fn from_static(text: &'static str) -> Self {
        NamePart(Repr::Static(text))
    }

    /// Returns the part as a string slice.
    #[inline]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Repr::Static(text) => text,
            Repr::Short(text) => text,
            Repr::Long(text) => text,
        }
    }

    /// Returns the string if it is static.
    pub(super) const fn as_static(&self) -> Option<&'static str> {
        match self.0 {
            Repr::Static(text) => Some(text),
            _ => None,
        }
    }
}

impl Default for NamePart {
    fn default() -> Self {
        NamePart::from_static("")
    }
}

impl Deref for NamePart {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for NamePart {
    fn as_ref(&self) -> &str {
        self
    }
}

impl Borrow<str> for NamePart {
    fn borrow(&self) -> &str {
        self
    }
}

impl From<&str> for NamePart {
    /// Copies the string.
    fn from(text: &str) -> Self {
        NamePart(match text.len() {
            0 => Repr::Static(""),
            // A `CompactString` stores this length inline.
            1..=SHORT => Repr::Short(text.into()),
            _ => Repr::Long(text.into()),
        })
    }
}

impl From<&String> for NamePart {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

impl From<String> for NamePart {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<&NamePart> for NamePart {
    fn from(part: &NamePart) -> Self {
        part.clone()
    }
}

impl From<Cow<'_, str>> for NamePart {
    fn from(text: Cow<'_, str>) -> Self {
        (*text).into()
    }
}

impl From<NamePart> for String {
    fn from(part: NamePart) -> Self {
        part.as_str().to_owned()
    }
}

impl PartialEq for NamePart {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        let (one, other) = (self.as_str(), other.as_str());
        std::ptr::eq(one, other) || one == other
    }
}

impl Eq for NamePart {}

impl PartialEq<str> for NamePart {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for NamePart {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl PartialEq<String> for NamePart {
    fn eq(&self, other: &String) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<NamePart> for String {
    fn eq(&self, other: &NamePart) -> bool {
        self == other.as_str()
    }
}

impl PartialOrd for NamePart {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for NamePart {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other)
    }
}

impl Hash for NamePart {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Debug for NamePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for NamePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn static_names_are_compared_by_namespace_and_local_part() {
        const NAME: QName = QName::new("urn:a", "b");
        for (other, expected) in [
            (QName::new("urn:a", "b"), true),
            (QName::new("urn:a", "bc"), false),
            (QName::new("urn:a", ""), false),
            (QName::new("urn:b", "b"), false),
            (QName::new("", "b"), false),
        ] {
            assert_eq!(NAME.equals_static(&other), expected, "{other}");
        }
    }
}
