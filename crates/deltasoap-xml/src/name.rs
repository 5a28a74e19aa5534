//! Namespaces and names: interned URIs, interned expanded names (QNames), and the set of declarations in scope.

/// An interned namespace URI. [`NsId::NONE`] is "no namespace".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NsId(pub(crate) u32);

impl NsId {
    /// No namespace.
    pub const NONE: NsId = NsId(0);
}

/// An interned expanded name: namespace URI and local part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NameId(pub(crate) u32);

/// An interned set of in-scope namespace declarations: two equal ids have equal prefix bindings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScopeId(pub(crate) u32);

/// The table of interned names of one reader.
#[derive(Debug, Default)]
pub struct Names {}

impl Names {
    /// Namespace URI of a name; empty for none.
    pub fn namespace(&self, name: NameId) -> &str {
        let _ = name;
        todo!()
    }
    /// Local part of a name.
    pub fn local(&self, name: NameId) -> &str {
        let _ = name;
        todo!()
    }
    /// True if the name is `{namespace}local`.
    pub fn is(&self, name: NameId, namespace: &str, local: &str) -> bool {
        self.local(name) == local && self.namespace(name) == namespace
    }
    /// Interns a name.
    pub fn intern(&mut self, namespace: &str, local: &str) -> NameId {
        let _ = (namespace, local);
        todo!()
    }
}
