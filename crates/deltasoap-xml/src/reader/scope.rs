//! Prefixes and what they are bound to: constant-time lookup by prefix id, an undo log for the ends
//! of elements, and hash-consed scopes.
//!
//! `bindings[p]` is what prefix `p` is bound to now. A declaration writes the old binding to a log,
//! and the end of the element that declared it plays the log back. Every set of declarations in
//! scope has an id, interned by (id of the parent's set, the tag's own declarations): the same tag
//! under the same parent has the same set, in this document and in the next. The table of sets is
//! bounded; sets beyond get ids that are never given again.

use super::Bound;
use super::fail::{Fail, fault};
use crate::interner::{Held, Interner};
use crate::name::{NsId, ScopeId};
use crate::{Names, XmlErrorKind};

const XML_URI: &str = "http://www.w3.org/XML/1998/namespace";
const XMLNS_URI: &str = "http://www.w3.org/2000/xmlns/";

/// Most scopes and most bytes of declarations kept; cleared at the next document once reached.
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
}

/// The binding of a prefix that is not bound.
pub(crate) const UNBOUND: NsId = NsId(u32::MAX);

/// All prefixes of a document, their bindings, and the scopes of all documents.
#[derive(Debug)]
pub(crate) struct Scopes {
    prefixes: Interner,
    /// By prefix id; as long as `prefixes`.
    bindings: Vec<NsId>,
    /// Bindings to go back to, oldest first.
    undo: Vec<(PrefixId, NsId)>,
    /// Declarations under a parent scope; `ids[i]` is the id of table entry `i`.
    table: Interner,
    ids: Vec<ScopeId>,
    /// Every id given is below it.
    next: u64,
    /// Scratch: the declarations of the tag at hand, as the table's key.
    key: String,
}

/// Declarations that are out of scope for a while.
#[derive(Debug)]
pub(super) struct SetAside {
    undo: Vec<(PrefixId, NsId)>,
    /// What the prefix of each was bound to.
    bound: Vec<NsId>,
}

/// The bindings at some place.
#[derive(Debug)]
pub(super) struct Bookmarked {
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

    /// Makes ready for another document.
    pub(crate) fn reset(&mut self) {
        self.unbind(0);
        if self.is_full() {
            self.table.truncate(0);
            self.ids.clear();
        }
    }

    /// Forgets the prefixes that documents brought; nothing may be bound.
    pub(crate) fn forget_prefixes(&mut self) {
        self.unbind(0);
        self.prefixes.truncate(3);
        self.bindings.truncate(3);
    }

    /// The prefixes; scopes have a bound of their own.
    pub(crate) fn held(&self) -> Held {
        self.prefixes.held()
    }

    /// The id of a prefix; new ones are unbound.
    pub(crate) fn prefix(&mut self, prefix: &str) -> PrefixId {
        let id = self.prefixes.intern(0, prefix);
        if id as usize == self.bindings.len() {
            self.bindings.push(UNBOUND);
        }
        PrefixId(id)
    }

    /// What a prefix is bound to, or [`UNBOUND`].
    #[inline]
    pub(crate) fn binding(&self, prefix: PrefixId) -> NsId {
        self.bindings[prefix.0 as usize]
    }

    /// The prefix itself.
    pub(crate) fn text(&self, prefix: PrefixId) -> &str {
        self.prefixes.text(prefix.0)
    }

    /// What a prefix given as text is bound to.
    pub(crate) fn lookup(&self, prefix: &str) -> Option<NsId> {
        let id = self.prefixes.find(0, prefix.as_bytes())?;
        Some(self.binding(PrefixId(id))).filter(|&binding| binding != UNBOUND)
    }

    /// Every prefix that is bound, but for `xml`, and what to.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, NsId)> {
        let ids = (0..self.bindings.len() as u32).map(PrefixId).filter(|&id| id != PrefixId::XML);
        let bound = ids.map(|id| (id, self.binding(id))).filter(|&(_, binding)| binding != UNBOUND);
        bound.map(|(id, binding)| (self.text(id), binding))
    }

    /// Where the undo log stands, for [`unbind`](Self::unbind).
    #[inline]
    pub(crate) fn mark(&self) -> usize {
        self.undo.len()
    }

    /// The declarations since `mark`. Takes time with the square of their number.
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

    /// All declarations, oldest first. Takes time with the number of all prefixes that were met.
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

    /// Makes a declaration that was made before.
    pub(super) fn rebind(&mut self, Bound { prefix, namespace }: Bound) {
        let slot = &mut self.bindings[prefix.0 as usize];
        self.undo.push((prefix, *slot));
        *slot = namespace;
    }

    /// Takes all declarations out of scope, to be put back.
    pub(super) fn set_aside(&mut self) -> SetAside {
        let bound = self.undo.iter().map(|&(prefix, _)| self.binding(prefix)).collect();
        let undo = std::mem::take(&mut self.undo);
        undo.iter().rev().for_each(|&(prefix, before)| self.bindings[prefix.0 as usize] = before);
        SetAside { undo, bound }
    }

    /// Puts declarations back in scope in place of those made since.
    pub(super) fn put_back(&mut self, SetAside { undo, bound }: SetAside) {
        self.unbind(0);
        undo.iter().zip(bound).for_each(|(&(prefix, _), bound)| self.bindings[prefix.0 as usize] = bound);
        self.undo = undo;
    }

    /// The bindings as they are.
    pub(super) fn bookmark(&self) -> Bookmarked {
        Bookmarked { bindings: self.bindings.clone(), undo: self.undo.clone() }
    }

    /// Goes back to bindings as they were; prefixes met since are unbound.
    pub(super) fn go_back(&mut self, bookmarked: Bookmarked) {
        let prefixes = self.bindings.len();
        (self.bindings, self.undo) = (bookmarked.bindings, bookmarked.undo);
        self.bindings.resize(prefixes, UNBOUND);
    }

    /// Takes back all declarations since `mark`.
    #[inline]
    pub(crate) fn unbind(&mut self, mark: usize) {
        for (prefix, binding) in self.undo.drain(mark..).rev() {
            self.bindings[prefix.0 as usize] = binding;
        }
    }

    /// Declares a prefix, or the default namespace, up to the matching [`unbind`](Self::unbind).
    ///
    /// # Errors
    /// When Namespaces in XML 1.0 forbids the declaration; the fault is put at `at`.
    pub(crate) fn bind(&mut self, prefix: PrefixId, uri: &str, names: &mut Names, at: usize) -> Result<(), Fail> {
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

    /// The scope of a tag with these declarations under `parent`.
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
