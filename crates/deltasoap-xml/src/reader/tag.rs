//! Start tags and end tags.
//!
//! A start tag is read straight into the attribute arena. Nothing else changes before the tag's `>`
//! is reached, so that a tag cut by the window's end can simply be read again. Errors of names and
//! namespaces are reported last, since a declaration may come after the prefixes that it binds.

use super::Reader;
use super::attribute::{Attribute, Declaration};
use super::scope::{PrefixId, UNBOUND};
use super::spelling::SpellingId;
use super::token_error::{TokenError, fault, over_limit};
use crate::chars::{NAME, NAME_START, WHITE, decode, expected, floor_boundary, has, is_name_char, is_name_start};
use crate::name::{NameId, NsId, ScopeId};
use crate::{Names, XmlErrorKind};

/// An element whose end tag has not been read yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Open {
    pub(crate) spelling: SpellingId,
    pub(crate) name: NameId,
    pub(crate) scope: ScopeId,
    /// The length of the undo log of the bindings before the start tag.
    pub(super) bindings: usize,
    /// Bytes of character data so far.
    pub(crate) text: usize,
}

impl Reader {
    /// Reads the start tag whose `<` is at `at`; returns the index after its `>`.
    pub(super) fn start_tag(&mut self, bytes: &[u8], at: usize) -> Result<usize, TokenError> {
        if self.open.len() >= self.limits.depth {
            return Err(over_limit(at, "depth", self.limits.depth));
        }
        self.tag.clear();
        let name_end = scan_name(bytes, at + 1, self.limits.name, "a name after `<`")?;
        let spelling = self.spellings.intern(&bytes[at + 1..name_end], &mut self.scopes, at + 1)?;
        let (end, empty) = self.attributes(bytes, name_end)?;
        self.enter(spelling, at + 1)?;
        self.empty = empty;
        Ok(end)
    }

    /// Reads the attributes from the end of the tag's name on; returns the index after the tag, and
    /// whether it is an empty-element tag.
    fn attributes(&mut self, bytes: &[u8], mut at: usize) -> Result<(usize, bool), TokenError> {
        loop {
            let spaced = at;
            at = skip_white(bytes, at);
            match bytes.get(at) {
                None => return Err(TokenError::Incomplete),
                Some(b'>') => return Ok((at + 1, false)),
                Some(b'/') => return Ok((expect(bytes, at + 1, b'>', "`>` after `/` in a tag")?, true)),
                Some(_) if at == spaced => return Err(expected(bytes, at, "white space, `/>` or `>` in a start tag")),
                Some(_) => at = self.attribute_at(bytes, at)?,
            }
        }
    }

    /// Reads the attribute whose name is at `at`; returns the index after it.
    fn attribute_at(&mut self, bytes: &[u8], at: usize) -> Result<usize, TokenError> {
        let name_end = scan_name(bytes, at, self.limits.name, "an attribute, `/>` or `>`")?;
        if self.tag.len() >= self.limits.attributes {
            return Err(over_limit(at, "attributes", self.limits.attributes));
        }
        let spelling = self.spellings.intern(&bytes[at..name_end], &mut self.scopes, at)?;
        if !self.spellings.stamp(spelling, self.tag.tag) {
            return Err(self.duplicate(spelling, at));
        }
        let equals = skip_white(bytes, name_end);
        let after_equals = expect(bytes, equals, b'=', "`=` after an attribute's name")?;
        let (value, end) = self.tag.value(bytes, skip_white(bytes, after_equals), &self.limits)?;
        match self.spellings.get(spelling).declares {
            Some(prefix) => self.tag.declarations.push(Declaration { prefix, at, value }),
            None => self.tag.attributes.push(Attribute { spelling, name: Names::NOTHING, at, value }),
        }
        Ok(end)
    }

    /// Opens the element of a start tag that has been read: resolves its declarations, its name,
    /// and the names of its attributes.
    fn enter(&mut self, spelling: SpellingId, at: usize) -> Result<(), TokenError> {
        let bindings = self.scopes.mark();
        let mut scope = self.scope();
        if !self.tag.declarations.is_empty() {
            scope = self.declare(scope)?;
        }
        let name = self.element_name(spelling, at)?;
        self.name_attributes()?;
        self.open.push(Open { spelling, name, scope, bindings, text: 0 });
        Ok(())
    }

    fn declare(&mut self, parent: ScopeId) -> Result<ScopeId, TokenError> {
        for declaration in &self.tag.declarations {
            let uri = &self.tag.values[declaration.value.clone()];
            self.scopes.bind(declaration.prefix, uri, &mut self.names, declaration.at)?;
        }
        let values = &self.tag.values;
        let declarations = self.tag.declarations.iter().map(|d| (d.prefix, &values[d.value.clone()]));
        Ok(self.scopes.scope(parent, declarations))
    }

    fn element_name(&mut self, spelling: SpellingId, at: usize) -> Result<NameId, TokenError> {
        let namespace = self.scopes.binding(self.spellings.get(spelling).prefix);
        self.name_in(spelling, namespace, at)
    }

    fn name_attributes(&mut self) -> Result<(), TokenError> {
        for index in 0..self.tag.attributes.len() {
            let Attribute { spelling, at, .. } = self.tag.attributes[index];
            let prefix = self.spellings.get(spelling).prefix;
            let name = if prefix == PrefixId::EMPTY {
                self.name_in(spelling, NsId::NONE, at)?
            } else {
                self.prefixed_attribute(spelling, prefix, at)?
            };
            self.tag.attributes[index].name = name;
        }
        Ok(())
    }

    /// Resolves an attribute with a prefix. Two of these can have the same expanded name; an
    /// attribute without a prefix cannot share its name.
    fn prefixed_attribute(&mut self, spelling: SpellingId, prefix: PrefixId, at: usize) -> Result<NameId, TokenError> {
        let name = self.name_in(spelling, self.scopes.binding(prefix), at)?;
        if !self.tag.stamp(name, &self.names) {
            return Err(self.duplicate(spelling, at));
        }
        Ok(name)
    }

    #[inline]
    fn name_in(&mut self, spelling: SpellingId, namespace: NsId, at: usize) -> Result<NameId, TokenError> {
        if namespace == UNBOUND {
            let prefix = self.scopes.text(self.spellings.get(spelling).prefix).to_owned();
            return Err(fault(at, XmlErrorKind::UndeclaredPrefix { prefix }));
        }
        Ok(self.spellings.name(spelling, namespace, &mut self.names))
    }

    #[cold]
    fn duplicate(&self, spelling: SpellingId, at: usize) -> TokenError {
        fault(at, XmlErrorKind::DuplicateAttribute { name: self.spellings.text(spelling).to_owned() })
    }

    /// Reads the end tag whose `<` is at `at`; returns the index after its `>`.
    pub(super) fn end_tag(&mut self, bytes: &[u8], at: usize) -> Result<usize, TokenError> {
        let Some(open) = self.open.last() else { return Err(fault(at, XmlErrorKind::UnopenedEndTag)) };
        let name = self.spellings.text(open.spelling).as_bytes();
        let rest = bytes.get(at + 2..).unwrap_or_default();
        if rest.len() > name.len() && rest.starts_with(name) && rest[name.len()] == b'>' {
            return Ok(at + 3 + name.len());
        }
        let end = scan_name(bytes, at + 2, self.limits.name, "a name after `</`")?;
        if bytes[at + 2..end] != *name {
            return Err(self.other_name(&bytes[at + 2..end], open.spelling, at + 2));
        }
        expect(bytes, skip_white(bytes, end), b'>', "`>` at the end of an end tag")
    }

    #[cold]
    fn other_name(&self, found: &[u8], open: SpellingId, at: usize) -> TokenError {
        let expected = self.spellings.text(open).to_owned();
        fault(at, XmlErrorKind::EndTag { expected, found: String::from_utf8_lossy(found).into_owned() })
    }

    /// Closes the innermost open element.
    pub(super) fn leave(&mut self) {
        if let Some(open) = self.open.pop() {
            self.last = open.name;
            self.scopes.unbind(open.bindings);
        }
    }
}

/// Returns the index after the `Name` (XML 2.3) at `at`.
pub(super) fn scan_name(bytes: &[u8], at: usize, limit: usize, what: &'static str) -> Result<usize, TokenError> {
    let first = *bytes.get(at).ok_or(TokenError::Incomplete)?;
    let mut end = at;
    if first < 0x80 {
        if !has(first, NAME_START) {
            return Err(expected(bytes, at, what));
        }
    } else if !is_name_start(decode(bytes, at)?) {
        return Err(expected(bytes, at, what));
    }
    loop {
        while bytes.get(end).is_some_and(|&b| has(b, NAME)) {
            end += 1;
        }
        if end - at > limit {
            return Err(over_limit(floor_boundary(bytes, at + limit), "name", limit));
        }
        match bytes.get(end) {
            None => return Err(TokenError::Incomplete),
            Some(0..0x80) => return Ok(end),
            Some(_) => match decode(bytes, end)? {
                c if is_name_char(c) => end += c.len_utf8(),
                _ => return Ok(end),
            },
        }
    }
}

/// Returns the index of the first byte from `at` on that is not white space.
#[inline]
pub(super) fn skip_white(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|&b| has(b, WHITE)) {
        at += 1;
    }
    at
}

/// Returns the index after the byte `wanted`, which must be at `at`.
#[inline]
pub(super) fn expect(bytes: &[u8], at: usize, wanted: u8, what: &'static str) -> Result<usize, TokenError> {
    match bytes.get(at) {
        Some(&found) if found == wanted => Ok(at + 1),
        None => Err(TokenError::Incomplete),
        Some(_) => Err(expected(bytes, at, what)),
    }
}
