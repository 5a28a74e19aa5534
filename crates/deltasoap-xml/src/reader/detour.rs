//! Bookmarks, and elements read at another place than their own: for references between elements.
//!
//! A [`Bookmark`] is the reader's place after a start tag. An [`Enclosing`] holds the declarations
//! in scope around an element: with it the element's bytes can be read in place of another element
//! and keep their meaning. Both are valid only for the reader that made them, until it is
//! [`reset`](Reader::reset).

use super::attribute::Attributes;
use super::scope::{HiddenDeclarations, PrefixId, SavedBindings};
use super::tag::Open;
use super::{Bound, DocumentPart, OpenToken, Reader};
use crate::name::{NameId, NsId, ScopeId};
use std::sync::Arc;

/// The reader's state after a start tag.
#[derive(Debug)]
pub struct Bookmark {
    open: Vec<Open>,
    scopes: SavedBindings,
    tag: Attributes,
    tag_offset: u64,
    last: NameId,
    empty: bool,
}

/// The declarations in scope around an element; shared by its siblings.
#[derive(Debug, Clone)]
pub struct Enclosing {
    scope: ScopeId,
    bound: Arc<[Bound]>,
}

impl Enclosing {
    /// Returns the number of declarations.
    pub fn declarations(&self) -> usize {
        self.bound.len()
    }

    /// Returns true if these are the declarations of an element whose content has this scope.
    pub fn is(&self, scope: ScopeId) -> bool {
        self.scope == scope
    }
}

/// The scope in which a [detour](Reader::detour) began.
#[derive(Debug)]
pub struct Detour {
    scope: ScopeId,
    /// The declarations of that scope; `None` if the detour leads to a place with the same
    /// declarations.
    aside: Option<HiddenDeclarations>,
}

impl Reader {
    /// Returns a bookmark of the place after the start tag just read.
    pub fn bookmark(&self) -> Bookmark {
        Bookmark {
            open: self.open.clone(),
            scopes: self.scopes.bookmark(),
            tag: self.tag.copied(),
            tag_offset: self.tag_offset,
            last: self.last,
            empty: self.empty,
        }
    }

    /// Returns to the place after a start tag. The next window begins there.
    pub fn go_back(&mut self, bookmark: Bookmark) {
        let Bookmark { open, scopes, tag, tag_offset, last, empty } = bookmark;
        (self.open, self.tag_offset, self.last, self.empty) = (open, tag_offset, last, empty);
        self.tag.put_back(tag);
        self.scopes.go_back(scopes);
        self.place = DocumentPart::Content;
        self.inside = OpenToken::Nothing;
        self.resume = None;
    }

    /// Returns the scope around the innermost open element.
    pub fn outer_scope(&self) -> ScopeId {
        self.open.iter().rev().nth(1).map_or(ScopeId::EMPTY, |open| open.scope)
    }

    /// Returns the declarations in scope around the innermost open element. Takes time quadratic in
    /// their number.
    pub fn enclosing(&self) -> Enclosing {
        let own = self.open.last().map_or(0, |open| open.bindings);
        let no_default = Bound { prefix: PrefixId::EMPTY, namespace: NsId::NONE };
        let outer = self.scopes.bound_from(0).into_iter().take(own);
        Enclosing { scope: self.outer_scope(), bound: std::iter::once(no_default).chain(outer).collect() }
    }

    /// Replaces the declarations in scope for the next child of the innermost open element. The
    /// child's bytes must have been read once at their own place, so that every prefix in them is
    /// declared.
    pub fn detour(&mut self, to: &Enclosing) -> Detour {
        let scope = self.scope();
        if to.is(scope) {
            return Detour { scope, aside: None };
        }
        let aside = Some(self.scopes.set_aside());
        to.bound.iter().for_each(|bound| self.scopes.rebind(*bound));
        self.set_scope(to.scope);
        Detour { scope, aside }
    }

    /// Restores the declarations that were in scope before; the child must have been read to its
    /// end.
    pub fn end_detour(&mut self, detour: Detour) {
        if let Some(aside) = detour.aside {
            self.scopes.put_back(aside);
        }
        self.set_scope(detour.scope);
    }

    fn set_scope(&mut self, scope: ScopeId) {
        if let Some(open) = self.open.last_mut() {
            open.scope = scope;
        }
    }
}
