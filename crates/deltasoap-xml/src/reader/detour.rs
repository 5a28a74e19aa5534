//! Places to come back to, and elements read elsewhere than where they stand: for references
//! between elements.
//!
//! A [`Bookmark`] is the reader's place behind a start tag. An [`Enclosing`] is what is in scope
//! around an element: with it the element's bytes can be read in the place of another, and mean
//! what they mean where they stand. Both mean something to the reader that made them, and until it
//! is [`reset`](Reader::reset).

use super::attribute::Attributes;
use super::scope::{Bookmarked, PrefixId, SetAside};
use super::tag::Open;
use super::{Bound, Inside, Place, Reader};
use crate::name::{NameId, NsId, ScopeId};
use std::sync::Arc;

/// The place behind a start tag.
#[derive(Debug)]
pub struct Bookmark {
    open: Vec<Open>,
    scopes: Bookmarked,
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
    /// Number of declarations.
    pub fn declarations(&self) -> usize {
        self.bound.len()
    }

    /// True if they are those of an element whose content has this scope.
    pub fn is(&self, scope: ScopeId) -> bool {
        self.scope == scope
    }
}

/// The scope that a [detour](Reader::detour) was begun in.
#[derive(Debug)]
pub struct Detour {
    scope: ScopeId,
    /// The declarations there, unless the detour leads to a place with the same.
    aside: Option<SetAside>,
}

impl Reader {
    /// The place behind the start tag just read.
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

    /// Goes back behind a start tag. The next window begins there.
    pub fn go_back(&mut self, bookmark: Bookmark) {
        let Bookmark { open, scopes, tag, tag_offset, last, empty } = bookmark;
        (self.open, self.tag_offset, self.last, self.empty) = (open, tag_offset, last, empty);
        self.tag.put_back(tag);
        self.scopes.go_back(scopes);
        self.place = Place::Content;
        self.inside = Inside::Nothing;
        self.resume = None;
    }

    /// The scope around the innermost open element.
    pub fn outer_scope(&self) -> ScopeId {
        self.open.iter().rev().nth(1).map_or(ScopeId::EMPTY, |open| open.scope)
    }

    /// The declarations in scope around the innermost open element. Takes time with the square of
    /// their number.
    pub fn enclosing(&self) -> Enclosing {
        let own = self.open.last().map_or(0, |open| open.bindings);
        let no_default = Bound { prefix: PrefixId::EMPTY, namespace: NsId::NONE };
        let outer = self.scopes.bound_from(0).into_iter().take(own);
        Enclosing { scope: self.outer_scope(), bound: std::iter::once(no_default).chain(outer).collect() }
    }

    /// Puts other declarations in scope for the next child of the innermost open element, and none
    /// but these. Its bytes must have been read where they stand, so that every prefix in them is
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

    /// Puts the declarations back in scope that were before; the child must have been read to its
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
