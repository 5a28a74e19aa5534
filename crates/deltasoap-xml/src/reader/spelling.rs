//! Names as documents spell them: each distinct spelling is checked, split and resolved once.
//!
//! A tag's name costs one hash lookup: the entry of the spelling caches the last namespace of its
//! prefix and the resulting interned name. While the prefix is bound to the same namespace, that
//! name is the answer. The entry also holds the number of the last tag that had it as an attribute,
//! so that finding a duplicate is cheap for any number of attributes.

use super::scope::{PrefixId, Scopes, UNBOUND};
use super::token_error::{TokenError, fault};
use crate::chars;
use crate::interner::{Held, Interner};
use crate::name::{NameId, NsId};
use crate::{Names, XmlErrorKind};

/// An interned spelling: `prefix:local` or `local`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SpellingId(u32);

/// The cached information about a spelling.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spelling {
    pub(crate) prefix: PrefixId,
    /// Index at which the local part starts.
    local: usize,
    /// The prefix that an attribute of this name declares.
    pub(crate) declares: Option<PrefixId>,
    /// `name` is the name of the spelling in this namespace; [`UNBOUND`] if not yet known.
    namespace: NsId,
    name: NameId,
    /// The last tag that had an attribute of this spelling.
    tag: u64,
}

/// The spellings of the documents so far.
#[derive(Debug)]
pub(crate) struct Spellings {
    texts: Interner,
    /// By id; has the length of `texts`.
    entries: Vec<Spelling>,
    /// The last spelling seen for each [`slot`]: most names are found here, without hashing.
    recent: [u32; SLOTS],
}

const SLOTS: usize = 64;

/// A cheap hash of a name, which must not be empty.
#[inline]
fn slot(name: &[u8]) -> usize {
    let ends = usize::from(name[0]) + 5 * usize::from(name[name.len() - 1]);
    (ends + 11 * name.len()) % SLOTS
}

impl Default for Spellings {
    fn default() -> Self {
        Spellings { texts: Interner::default(), entries: Vec::new(), recent: [0; SLOTS] }
    }
}

impl Spellings {
    /// Returns the number of spellings.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn held(&self) -> Held {
        self.texts.held()
    }

    pub(crate) fn clear(&mut self) {
        self.texts.truncate(0);
        self.entries.clear();
    }

    /// Interns a spelling that is a `Name` of XML, found at index `at` of the window.
    ///
    /// # Errors
    /// If it is not a qualified name.
    #[inline]
    pub(crate) fn intern(&mut self, name: &[u8], scopes: &mut Scopes, at: usize) -> Result<SpellingId, TokenError> {
        let recent = self.recent[slot(name)];
        if (recent as usize) < self.entries.len() && self.texts.text(recent).as_bytes() == name {
            return Ok(SpellingId(recent));
        }
        self.look_up(name, scopes, at)
    }

    fn look_up(&mut self, name: &[u8], scopes: &mut Scopes, at: usize) -> Result<SpellingId, TokenError> {
        let id = match self.texts.find(0, name) {
            Some(id) => SpellingId(id),
            None => self.insert(name, scopes, at)?,
        };
        self.recent[slot(name)] = id.0;
        Ok(id)
    }

    #[inline]
    pub(crate) fn text(&self, id: SpellingId) -> &str {
        self.texts.text(id.0)
    }

    #[inline]
    pub(crate) fn get(&self, id: SpellingId) -> &Spelling {
        &self.entries[id.0 as usize]
    }

    /// Records that tag number `tag` has an attribute of this spelling; returns false if it had one
    /// already.
    #[inline]
    pub(crate) fn stamp(&mut self, id: SpellingId, tag: u64) -> bool {
        std::mem::replace(&mut self.entries[id.0 as usize].tag, tag) != tag
    }

    /// Returns the name of a spelling in a namespace.
    #[inline]
    pub(crate) fn name(&mut self, id: SpellingId, namespace: NsId, names: &mut Names) -> NameId {
        let entry = &mut self.entries[id.0 as usize];
        if entry.namespace != namespace {
            entry.namespace = namespace;
            entry.name = names.intern_in(namespace, &self.texts.text(id.0)[entry.local..]);
        }
        entry.name
    }

    fn insert(&mut self, name: &[u8], scopes: &mut Scopes, at: usize) -> Result<SpellingId, TokenError> {
        let text = std::str::from_utf8(name).map_err(|_| fault(at, XmlErrorKind::Encoding))?;
        let (prefix, local) = split(text).ok_or_else(|| not_qualified(text, at))?;
        let declares = match (prefix, local) {
            ("", "xmlns") => Some(PrefixId::EMPTY),
            ("xmlns", prefix) => Some(scopes.prefix(prefix)),
            _ => None,
        };
        self.entries.push(Spelling {
            prefix: scopes.prefix(prefix),
            local: text.len() - local.len(),
            declares,
            namespace: UNBOUND,
            name: Names::NOTHING,
            tag: 0,
        });
        Ok(SpellingId(self.texts.intern(0, text)))
    }
}

/// Splits a qualified name into prefix (empty for none) and local part.
pub(crate) fn split(name: &str) -> Option<(&str, &str)> {
    match name.split_once(':') {
        None => Some(("", name)),
        Some((prefix, local)) => (chars::is_ncname(prefix) && chars::is_ncname(local)).then_some((prefix, local)),
    }
}

#[cold]
fn not_qualified(name: &str, at: usize) -> TokenError {
    fault(at, XmlErrorKind::QualifiedName { name: name.to_owned() })
}
