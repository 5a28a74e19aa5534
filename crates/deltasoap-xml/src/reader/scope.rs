//! Prefixes and their bindings: constant-time lookup by prefix id, an undo log for the ends of
//! elements, and hash-consed scopes.
//!
//! `bindings[p]` is the current binding of prefix `p`. A declaration writes the old binding to a
//! log, and the end of the declaring element restores it from the log. Every set of declarations in
//! scope has an id, interned by (id of the parent's set, the tag's own declarations): the same tag
//! under the same parent has the same set, in this document and in the next. The table of sets is
//! bounded; sets beyond the bound get ids that are never reused.

use super::Bound;
use super::token_error::{TokenError, fault};
use crate::interner::{Held, Interner};
use crate::name::{NsId, ScopeId};
use crate::{Names, XmlErrorKind};

const XML_URI: &str = "http://www.w3.org/XML/1998/namespace";
const XMLNS_URI: &str = "http://www.w3.org/2000/xmlns/";

/// Maximum number of scopes and of bytes of declarations kept; once reached, the table is cleared
/// at the next document.
const SCOPES: usize = 4096;
const SCOPE_BYTES: usize = 1 << 20;

/// An interned prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PrefixId(u32);

impl PrefixId {
    /// No prefix; as a declaration, the default namespace.
    pub(crate) const EMPTY: PrefixId = PrefixId(0);
    const XML: PrefixId = PrefixId(1);
    pub(crate) const XMLNS: PrefixId = PrefixId(2);

    /// Returns true for `xml` and `xmlns`, which need no declaration.
    pub(crate) fn is_reserved(self) -> bool {
        self == Self::XML || self == Self::XMLNS
    }
}

/// The binding of a prefix that is not bound.
pub(crate) const UNBOUND: NsId = NsId(u32::MAX);

/// All prefixes of a document, their bindings, and the scopes of all documents.
#[derive(Debug)]
pub(crate) struct Scopes {
    prefixes: Interner,
    /// By prefix id; has the length of `prefixes`.
    bindings: Vec<NsId>,
    /// Bindings to restore, oldest first.
    undo: Vec<(PrefixId, NsId)>,
    /// Declarations under a parent scope; `ids[i]` is the id of table entry `i`.
    table: Interner,
    ids: Vec<ScopeId>,
    /// Every id given is less than this.
    next: u64,
    /// Scratch: the declarations of the current tag, as the table's key.
    key: String,
}

/// Declarations that are temporarily out of scope.
#[derive(Debug)]
pub(super) struct HiddenDeclarations {
    undo: Vec<(PrefixId, NsId)>,
    /// The binding of the prefix of each.
    bound: Vec<NsId>,
}

/// The bindings at some place in a document.
#[derive(Debug)]
pub(super) struct SavedBindings {
    bindings: Vec<NsId>,
    undo: Vec<(PrefixId, NsId)>,
}

impl Scopes {
    pub(crate) fn new(names: &mut Names) -> Self {
        let mut prefixes = Interner::default();
        for prefix in ["", "xml", "xmlns"] {
            prefixes.intern(0, prefix);
        }
        Scopes {
            prefixes,
            bindings: vec![NsId::NONE, names.intern_namespace(XML_URI), UNBOUND],
            undo: Vec::new(),
            table: Interner::default(),
            ids: Vec::new(),
            next: 1,
            key: String::new(),
        }
    }

    /// Prepares for another document.
    pub(crate) fn reset(&mut self) {
        self.unbind(0);
        if self.is_full() {
            self.table.truncate(0);
            self.ids.clear();
        }
    }

    /// Forgets the prefixes that documents introduced, and all bindings.
    pub(crate) fn forget_prefixes(&mut self) {
        self.unbind(0);
        self.prefixes.truncate(3);
        self.bindings.truncate(3);
    }

    /// Counts the prefixes; scopes have a limit of their own.
    pub(crate) fn held(&self) -> Held {
        self.prefixes.held()
    }

    /// Returns the id of a prefix; new ones are unbound.
    pub(crate) fn prefix(&mut self, prefix: &str) -> PrefixId {
        let id = self.prefixes.intern(0, prefix);
        if id as usize == self.bindings.len() {
            self.bindings.push(UNBOUND);
        }
        PrefixId(id)
    }

    /// Returns the binding of a prefix, or [`UNBOUND`].
    #[inline]
    pub(crate) fn binding(&self, prefix: PrefixId) -> NsId {
        self.bindings[prefix.0 as usize]
    }

    /// Returns the prefix itself.
    pub(crate) fn text(&self, prefix: PrefixId) -> &str {
        self.prefixes.text(prefix.0)
    }

    /// Returns the binding of a prefix given as text.
    pub(crate) fn lookup(&self, prefix: &str) -> Option<NsId> {
        let id = self.prefixes.find(0, prefix.as_bytes())?;
        Some(self.binding(PrefixId(id))).filter(|&binding| binding != UNBOUND)
    }

    /// Returns the id of a prefix that was seen.
    pub(crate) fn find(&self, prefix: &str) -> Option<PrefixId> {
        self.prefixes.find(0, prefix.as_bytes()).map(PrefixId)
    }

    /// Returns every prefix that was seen.
    pub(crate) fn ids(&self) -> impl Iterator<Item = PrefixId> {
        (0..self.bindings.len() as u32).map(PrefixId)
    }

    /// Returns every bound prefix except `xml`, with its binding.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, NsId)> {
        let ids = (0..self.bindings.len() as u32).map(PrefixId).filter(|&id| id != PrefixId::XML);
        let bound = ids.map(|id| (id, self.binding(id))).filter(|&(_, binding)| binding != UNBOUND);
        bound.map(|(id, binding)| (self.text(id), binding))
    }

    /// Returns the length of the undo log, for [`unbind`](Self::unbind).
    #[inline]
    pub(crate) fn mark(&self) -> usize {
        self.undo.len()
    }

    /// Returns the declarations since `mark`. Takes time quadratic in their number.
    pub(super) fn bound_from(&self, mark: usize) -> Vec<Bound> {
        let undo = &self.undo[mark..];
        let namespace = |index: usize, prefix| {
            let hidden_by = undo[index + 1..].iter().find(|(later, _)| *later == prefix);
            hidden_by.map_or(self.binding(prefix), |(_, before)| *before)
        };
        let bound =
            |(index, &(prefix, _)): (usize, &(PrefixId, NsId))| Bound { prefix, namespace: namespace(index, prefix) };
        undo.iter().enumerate().map(bound).collect()
    }

    /// Returns all declarations, oldest first. Takes time linear in the number of all prefixes
    /// seen.
    pub(super) fn declared(&self) -> Vec<Bound> {
        let mut now = self.bindings.clone();
        let bound = |&(prefix, before): &(PrefixId, NsId)| {
            let namespace = std::mem::replace(&mut now[prefix.0 as usize], before);
            Bound { prefix, namespace }
        };
        let mut declared: Vec<Bound> = self.undo.iter().rev().map(bound).collect();
        declared.reverse();
        declared
    }

    /// Repeats an earlier declaration.
    pub(super) fn rebind(&mut self, Bound { prefix, namespace }: Bound) {
        let slot = &mut self.bindings[prefix.0 as usize];
        self.undo.push((prefix, *slot));
        *slot = namespace;
    }

    /// Takes all declarations out of scope, to be restored later.
    pub(super) fn set_aside(&mut self) -> HiddenDeclarations {
        let bound = self.undo.iter().map(|&(prefix, _)| self.binding(prefix)).collect();
        let undo = std::mem::take(&mut self.undo);
        undo.iter().rev().for_each(|&(prefix, before)| self.bindings[prefix.0 as usize] = before);
        HiddenDeclarations { undo, bound }
    }

    /// Restores declarations in place of those made since.
    pub(super) fn put_back(&mut self, HiddenDeclarations { undo, bound }: HiddenDeclarations) {
        self.unbind(0);
        undo.iter().zip(bound).for_each(|(&(prefix, _), bound)| self.bindings[prefix.0 as usize] = bound);
        self.undo = undo;
    }

    /// Returns the current bindings.
    pub(super) fn bookmark(&self) -> SavedBindings {
        SavedBindings { bindings: self.bindings.clone(), undo: self.undo.clone() }
    }

    /// Restores earlier bindings; prefixes seen since are unbound.
    pub(super) fn go_back(&mut self, bookmarked: SavedBindings) {
        let prefixes = self.bindings.len();
        (self.bindings, self.undo) = (bookmarked.bindings, bookmarked.undo);
        self.bindings.resize(prefixes, UNBOUND);
    }

    /// Undoes all declarations since `mark`.
    #[inline]
    pub(crate) fn unbind(&mut self, mark: usize) {
        for (prefix, binding) in self.undo.drain(mark..).rev() {
            self.bindings[prefix.0 as usize] = binding;
        }
    }

    /// Declares a prefix, or the default namespace, up to the matching [`unbind`](Self::unbind).
    ///
    /// # Errors
    /// If Namespaces in XML 1.0 forbids the declaration; the error has index `at`.
    pub(crate) fn bind(&mut self, prefix: PrefixId, uri: &str, names: &mut Names, at: usize) -> Result<(), TokenError> {
        self.check(prefix, uri).map_err(|kind| fault(at, kind))?;
        let slot = &mut self.bindings[prefix.0 as usize];
        self.undo.push((prefix, *slot));
        *slot = names.intern_namespace(uri);
        Ok(())
    }

    fn check(&self, prefix: PrefixId, uri: &str) -> Result<(), XmlErrorKind> {
        let reserved = match prefix {
            PrefixId::XML => uri != XML_URI,
            PrefixId::XMLNS => true,
            _ => uri == XML_URI || uri == XMLNS_URI,
        };
        let prefix_text = || self.text(prefix).to_owned();
        if reserved {
            return Err(XmlErrorKind::ReservedNamespace { prefix: prefix_text() });
        }
        if uri.is_empty() && prefix != PrefixId::EMPTY {
            return Err(XmlErrorKind::EmptyNamespace { prefix: prefix_text() });
        }
        Ok(())
    }

    /// Returns the scope of a tag with these declarations under `parent`.
    pub(crate) fn scope<'a>(
        &mut self,
        parent: ScopeId,
        declarations: impl Iterator<Item = (PrefixId, &'a str)>,
    ) -> ScopeId {
        self.key.clear();
        for (prefix, uri) in declarations {
            self.key.push_str(self.prefixes.text(prefix.0));
            self.key.push('\0'); // in no XML document, so the key is unambiguous
            self.key.push_str(uri);
            self.key.push('\0');
        }
        self.intern(parent)
    }

    fn intern(&mut self, parent: ScopeId) -> ScopeId {
        if let Some(entry) = self.table.find(parent.0, self.key.as_bytes()) {
            return self.ids[entry as usize];
        }
        let id = ScopeId(self.next);
        self.next += 1;
        if !self.is_full() && self.key.len() <= SCOPE_BYTES {
            self.table.intern(parent.0, &self.key);
            self.ids.push(id);
        }
        id
    }

    fn is_full(&self) -> bool {
        self.ids.len() >= SCOPES || self.table.bytes() >= SCOPE_BYTES
    }
}
