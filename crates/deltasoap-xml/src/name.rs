//! Namespaces and names: interned URIs, interned expanded names (QNames), and the set of
//! declarations in scope.

use crate::interner::{Held, Interner};

/// An interned namespace URI. [`NsId::NONE`] is "no namespace".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NsId(pub(crate) u32);

impl NsId {
    /// No namespace.
    pub const NONE: NsId = NsId(0);

    /// Returns the index of the namespace, less than the number of namespaces in the table.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An interned expanded name: namespace URI and local part. Within one table, equal ids mean equal
/// names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NameId(pub(crate) u32);

impl NameId {
    /// Returns the index of the name, less than the number of names in the table.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An interned set of in-scope namespace declarations. Two equal ids of one reader have equal
/// prefix bindings, also across documents. (The reverse does not hold: equal bindings can have
/// several ids.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScopeId(pub(crate) u64);

impl ScopeId {
    /// Nothing declared: only the prefix `xml` is bound.
    pub const EMPTY: ScopeId = ScopeId(0);
}

/// The table of interned names of one reader.
///
/// ```
/// let mut names = deltasoap_xml::Names::default();
/// let name = names.intern("urn:a", "item");
/// assert_eq!(name, names.intern("urn:a", "item"));
/// assert_eq!((names.namespace(name), names.local(name)), ("urn:a", "item"));
/// assert_eq!((names.find("urn:a", "item"), names.find("urn:b", "item")), (Some(name), None));
/// ```
#[derive(Debug)]
pub struct Names {
    namespaces: Interner,
    /// Local parts; the owner of each is its namespace.
    names: Interner,
}

/// The size of a [`Names`] table to restore later.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamesMark {
    namespaces: usize,
    names: usize,
}

impl Default for Names {
    fn default() -> Self {
        let mut names = Names { namespaces: Interner::default(), names: Interner::default() };
        names.intern("", "");
        names
    }
}

impl Names {
    /// The empty name in no namespace, used as a placeholder.
    pub(crate) const NOTHING: NameId = NameId(0);

    /// Returns the namespace URI of a name; empty for none.
    pub fn namespace(&self, name: NameId) -> &str {
        self.uri(self.namespace_id(name))
    }

    /// Returns the namespace of a name.
    #[inline]
    pub fn namespace_id(&self, name: NameId) -> NsId {
        NsId(self.names.owner(name.0) as u32)
    }

    /// Returns the local part of a name.
    #[inline]
    pub fn local(&self, name: NameId) -> &str {
        self.names.text(name.0)
    }

    /// Returns the URI of a namespace; empty for none.
    pub fn uri(&self, namespace: NsId) -> &str {
        self.namespaces.text(namespace.0)
    }

    /// Returns true if the name is `{namespace}local`.
    pub fn is(&self, name: NameId, namespace: &str, local: &str) -> bool {
        self.local(name) == local && self.namespace(name) == namespace
    }

    /// Interns a name.
    pub fn intern(&mut self, namespace: &str, local: &str) -> NameId {
        let namespace = self.intern_namespace(namespace);
        self.intern_in(namespace, local)
    }

    /// Returns the id of a name if it is interned.
    pub fn find(&self, namespace: &str, local: &str) -> Option<NameId> {
        let namespace = self.namespaces.find(0, namespace.as_bytes())?;
        self.names.find(u64::from(namespace), local.as_bytes()).map(NameId)
    }

    /// Interns a namespace URI.
    pub fn intern_namespace(&mut self, uri: &str) -> NsId {
        NsId(self.namespaces.intern(0, uri))
    }

    /// Interns a name in an interned namespace.
    #[inline]
    pub(crate) fn intern_in(&mut self, namespace: NsId, local: &str) -> NameId {
        NameId(self.names.intern(u64::from(namespace.0), local))
    }

    /// Returns the number of names: every id is less than it.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns the total bytes of all names and namespaces.
    pub(crate) fn bytes(&self) -> usize {
        self.namespaces.bytes() + self.names.bytes()
    }

    /// Returns the number and bytes of all names and namespaces.
    pub(crate) fn held(&self) -> Held {
        self.namespaces.held() + self.names.held()
    }

    pub(crate) fn mark(&self) -> NamesMark {
        NamesMark { namespaces: self.namespaces.len(), names: self.names.len() }
    }

    /// Forgets the names interned since `mark`.
    pub(crate) fn forget(&mut self, mark: NamesMark) {
        self.namespaces.truncate(mark.namespaces);
        self.names.truncate(mark.names);
    }
}
